r"""The stratified adverse likelihood for a share. TO BE REPLACED AT MERGE by stats/adverse/binary.

A private stand-in, so that this package works before that module exists: nothing else here knows
the formula, and every caller goes through `adverse_share`.

An approximate interval for the share of ones among these items: a likelihood-ratio interval at
:math:`z^2` where each end first sees :math:`a_h = .35 \sqrt{W_h}` of one more label per stratum at
the worst value. With :math:`k^*_h = k_h (N_h - 1)/(N_h - k_h)`,
:math:`s_h = k^*_h \hat p_h`, :math:`n_h = k^*_h + a_h`, the lower end is

.. math:: L = \sum_h W_h p_h(\mu), \qquad p_h(\mu) =
          \frac{2 s_h}{\mu W_h + n_h + \sqrt{(\mu W_h + n_h)^2 - 4 \mu W_h s_h}}   \tag{W2}

at the :math:`\mu` where :math:`2(\ell(\tilde p) - \ell(p(\mu))) = z^2`; the upper end is one minus
the lower end of the zeros. Both are rounded outwards to whole items and clipped to what the labels
leave possible.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from numpy.typing import ArrayLike

from tallystick.errors import InputError
from tallystick.sampling.labels.consensus import Floats

__all__ = ["AdverseShare", "adverse_share"]

_compile = numba.njit(cache=True, nogil=True, error_model="numpy")

PART = 0.35
"""How much of one more label each end sees at the worst value, times the root of the weight."""
EXHAUSTED = 1e7
"""The effective size of a stratum that is labelled completely."""


@dataclass(frozen=True, kw_only=True, eq=False)
class AdverseShare:
    """One row per question: the estimate, the interval, and its ends before rounding to items."""

    estimate: Floats
    low: Floats
    high: Floats
    raw_low: Floats
    raw_high: Floats


def adverse_share(
    sizes: ArrayLike, labelled: ArrayLike, ones: ArrayLike, *, alpha: float = 0.05
) -> AdverseShare:
    """Bound the share of ones among all items of strata, from labels drawn at random inside each.

    Parameters
    ----------
    sizes, labelled, ones
        N_h, k_h and the sum of the labelled values; strata along the last axis, any number of rows.
        Values may be fractions in [0, 1]. A stratum of size 0 is skipped.
    alpha
        One minus the level.

    Examples
    --------
    >>> found = adverse_share([28, 80], [10, 20], [3, 19])
    >>> [float(end[0].round(4)) for end in (found.estimate, found.low, found.high)]
    [0.7815, 0.6574, 0.8704]
    """
    from scipy.special import ndtri

    if not 0 < alpha < 1:
        raise InputError(f"alpha must be in (0, 1), got {alpha!r}")
    n, k, x = (
        np.atleast_2d(np.asarray(part, dtype=np.float64)) for part in (sizes, labelled, ones)
    )
    n, k, x = np.broadcast_arrays(n, k, x)
    if not ((x >= 0) & (x <= k) & (k <= n)).all() or (n.sum(axis=-1) < 1).any():
        raise InputError(
            "counts must satisfy 0 <= ones <= labelled <= sizes, with at least one item"
        )
    total, labels, right = (part.sum(axis=-1) for part in (n, k, x))

    # A stratum without labels takes the mean of the strata that have some, by their sizes.
    share = np.divide(x, k, out=np.zeros(n.shape), where=k > 0)
    seen = np.where(k > 0, n, 0.0)
    known = seen.sum(axis=-1)
    nothing = np.full(total.shape, np.nan)
    pooled = np.divide((seen * share).sum(axis=-1), known, out=nothing, where=known > 0)
    estimate = (n * np.where(k > 0, share, pooled[:, None])).sum(axis=-1) / total

    size = np.divide(k * (n - 1), n - k, out=np.full(n.shape, EXHAUSTED), where=n > k)
    z2 = float(ndtri(1 - alpha / 2)) ** 2
    weight = n / total[:, None]
    raw_low = lower_ends(size * share, size, weight, z2)
    raw_high = 1 - lower_ends(size * np.where(k > 0, 1 - share, 0.0), size, weight, z2)

    # Outwards to whole items: the truth is a whole number of them (or of halves, if values are).
    least, most = right / total, (right + total - labels) / total
    low = np.clip(np.floor(total * raw_low) / total, least, most)
    high = np.clip(np.ceil(total * raw_high) / total, least, most)
    return AdverseShare(
        estimate=np.clip(estimate, least, most),
        low=low,
        high=high,
        raw_low=raw_low,
        raw_high=raw_high,
    )


def _lower_ends(s: Floats, size: Floats, weight: Floats, z2: float) -> Floats:
    """Return (W2) of each row by bisection in the logarithm of mu."""
    ends = np.empty(s.shape[0])
    for row in range(s.shape[0]):
        left, right = -10.0, 25.0
        low = 0.0
        for _ in range(60):
            middle = 0.5 * (left + right)
            mu = np.exp(middle)
            ratio = 0.0
            low = 0.0
            for h in range(s.shape[1]):
                w = weight[row, h]
                if w <= 0.0 or s[row, h] <= 0.0:
                    continue  # a stratum without ones stays at 0, whatever mu is
                one, n = s[row, h], size[row, h] + PART * np.sqrt(w)
                b = mu * w + n
                p = 2.0 * one / (b + np.sqrt(b * b - 4.0 * mu * w * one))
                best = one / n
                ratio += 2.0 * (
                    one * np.log(best / p) + (n - one) * np.log((1.0 - best) / (1.0 - p))
                )
                low += w * p
            if ratio < z2:
                left = middle
            else:
                right = middle
        ends[row] = low
    return ends


lower_ends: Any = _compile(_lower_ends)
