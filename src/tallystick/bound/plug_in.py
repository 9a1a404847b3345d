r"""The plug-in of the paper: sharp bounds of the observed shares, with its interval. To be shown,
not to be trusted.

With many patterns it collapses: the best potentials of few rows fit their noise, so the upper end
is too low and the lower one too high (Jensen). The forward dual has no such bias.
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from tallystick.bound.blocks import FloatArray, known_rows
from tallystick.bound.forward import Evidence, ForwardRun, ends_of
from tallystick.bound.metrics import Summary
from tallystick.stats.transport import Side

__all__ = ["independent", "plug_in", "plug_in_interval"]


def plug_in(evidence: Evidence, wanted: Summary, side: Side) -> tuple[FloatArray, FloatArray]:
    r"""Return an end of the observed shares and its standard error by [MP23]_, Theorem 2.4 and
    Corollary 3.1.

    The corollary is corrected: the denominator of F1 is squared, and the parts of P(h = c) and P(Y
    = c) are in it. The label model is taken for known.
    """
    counts = np.asarray(evidence.counts, dtype=np.float64)
    if evidence.p is None:
        raise TypeError("the plug-in needs P(Y | z)")
    known = known_rows(evidence.p)[..., None].astype(np.float64)
    p = np.where(known > 0, evidence.p, 0.0)
    q = counts / np.maximum(counts.sum(axis=-1, keepdims=True), 1)
    run = ForwardRun(evidence.counts * 0, counts[None], None, p, q[None], known)
    bare = Evidence(counts=evidence.counts, p=evidence.p, bins=evidence.bins)
    return ends_of(run, wanted, side, bare)


def plug_in_interval(
    evidence: Evidence, wanted: Summary, *, alpha: float
) -> tuple[FloatArray, FloatArray]:
    """Return [L - z s, U + z s], the interval that the paper draws: (2.7) at both ends."""
    z = NormalDist().inv_cdf(1 - alpha / 2)
    low, low_error = plug_in(evidence, wanted, "lower")
    high, high_error = plug_in(evidence, wanted, "upper")
    return low - z * low_error, high + z * high_error


def independent(evidence: Evidence, wanted: Summary) -> FloatArray:
    """Return the metric if prediction and label are independent given z: one point inside the
    bounds.

    Patterns of which nothing is known are left out; NaN where the metric does not exist.
    """
    if evidence.p is None:
        raise TypeError("the estimate under independence needs P(Y | z)")
    known = known_rows(evidence.p)
    p = np.where(known[..., None], evidence.p, 0.0)
    counts = np.asarray(evidence.counts, dtype=np.float64) * known[:, None]
    n = np.maximum(counts.sum(axis=(-2, -1)), 1e-300)[..., None]
    t = (counts * p).sum(axis=-2) / n
    y = (counts.sum(axis=-1, keepdims=True) * p).sum(axis=-2) / n
    return wanted.slopes(t, counts.sum(axis=-2) / n, y).value
