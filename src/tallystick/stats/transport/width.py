"""How wide bounds can be, judging by what z leaves open."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from tallystick.errors import InputError
from tallystick.stats.transport.marginals import FloatArray, as_laws, as_weights

__all__ = ["entropy_width"]


def entropy_width(
    q: ArrayLike, p: ArrayLike, *, weights: ArrayLike | None = None, spread: float = 1.0
) -> float:
    r"""Bound U - L for every cost that varies by at most *spread*, from the marginals alone.

    .. math:: U - L \;\le\; s \sqrt{2 \min\bigl(H(X \mid Z), H(Y \mid Z)\bigr)}

    with conditional entropies in nats: [MP23]_, Theorem A.1, which has :math:`2\lVert g
    \rVert_\infty` in the place of the spread s = max g - min g. A constant added to g moves both
    ends alike, so the smaller s serves; and U - L never exceeds s. Where a closed form exists it
    gives the width itself: this explains it (knowing z well enough makes bounds short) and holds
    for costs not yet chosen.

    Parameters
    ----------
    q
        Law of the atoms given z, shape (patterns, atoms).
    p
        P(Y | z), shape (patterns, labels).
    weights
        Shares or counts of the patterns.
    spread
        max g - min g; 1 for accuracy.

    Examples
    --------
    >>> round(entropy_width([[0.5, 0.5]], [[0.99, 0.01]]), 3)
    0.335
    >>> from tallystick.stats.transport import agreement
    >>> low, high = agreement([[0.5, 0.5]], [[0.99, 0.01]]).mean()
    >>> round(high - low, 3)
    0.02
    """
    q, p = as_laws(q, name="q"), as_laws(p, name="p")
    if len(q) != len(p):
        raise InputError(f"q and p must have one row per pattern, got {len(q)} and {len(p)} rows")
    if not 0 <= spread < math.inf:
        raise InputError(f"spread must be finite and not negative, got {spread!r}")
    share = as_weights(weights, len(p))
    left_open = min(float(share @ _entropy(q)), float(share @ _entropy(p)))
    return spread * min(1.0, math.sqrt(2 * left_open))


def _entropy(laws: FloatArray) -> FloatArray:
    return np.asarray(-(laws * np.log(np.where(laws > 0, laws, 1))).sum(axis=1))
