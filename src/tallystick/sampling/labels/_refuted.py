"""Which means the capital has refuted: a compiled bisection."""

from __future__ import annotations

import math
from typing import Any

import numba

from tallystick.sampling.labels.bets import CUT, SLACK
from tallystick.sampling.labels.consensus import Floats

__all__ = ["last_refuted"]

HALVINGS = 40
"""Steps of bisection: an end is good to 1e-12 of the range, and errs outwards."""

_compile = numba.njit(cache=True, nogil=True, error_model="numpy")


def _refuted(z: Floats, low: Floats, bets: Floats, threshold: float, m: float) -> bool:
    """Say whether the capital against m ever reaches the threshold."""
    money = 1.0
    for t in range(len(z)):
        risk = m - low[t]
        if risk < -SLACK:
            return True
        bet = bets[t]
        if bet * risk > CUT:
            bet = CUT / risk
        money *= 1.0 + bet * (z[t] - m)
        if money >= threshold:
            return True
    return False


refuted: Any = _compile(_refuted)


def _last_refuted(
    z: Floats, low: Floats, bets: Floats, threshold: float, left: float, right: float
) -> float:
    """Bisect for the largest refuted m in [left, right]; *left* if none is, infinite if all are."""
    if not refuted(z, low, bets, threshold, left):
        return left
    if refuted(z, low, bets, threshold, right):
        return math.inf
    for _ in range(HALVINGS):
        middle = 0.5 * (left + right)
        if refuted(z, low, bets, threshold, middle):
            left = middle
        else:
            right = middle
    return left


last_refuted: Any = _compile(_last_refuted)
