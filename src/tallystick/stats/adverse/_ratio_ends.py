"""Compiled part of recall and F1: ends of a ratio of two sums over cells."""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

__all__ = ["ratio_end"]

_compile = numba.njit(cache=True, nogil=True, error_model="numpy")

LOWEST, HIGHEST = -10.0, 25.0
"""Where ln |μ| is looked for."""
INNER, OUTER = 48, 44
"""Steps of bisection for μ and for the ratio."""


def _rate(tilt: float, seen: float, size: float) -> float:
    """Return the root in [0, 1] of tilt p² - (n + tilt) p + s = 0; *tilt* is μω, of either sign."""
    slope = size + tilt
    # slope² - 4 tilt s, written so that it cannot turn negative when s is at most n.
    if tilt >= 0.0:
        root = math.sqrt((tilt - size) ** 2 + 4.0 * tilt * (size - seen))
    else:
        root = math.sqrt(slope * slope - 4.0 * tilt * seen)
    if slope >= 0.0:
        below = slope + root
        return 2.0 * seen / below if below > 0.0 else 0.0
    return (slope - root) / (2.0 * tilt)


rate: Any = _compile(_rate)


def _drop(
    theta: float,
    sign: float,
    constant: float,
    weight: NDArray[np.float64],
    factor: NDArray[np.float64],
    seen: NDArray[np.float64],
    size: NDArray[np.float64],
) -> float:
    """Return 2(ℓ(p̃) - ℓ(p(μ))) at the ratio θ; *sign* is 1 for the lower end and -1 for the upper.

    μ solves Σ ω p(μ) = θ C, ω = W (A - θ). At μ = 0 the sum is on the far side of θ C.
    """
    low, high = LOWEST, HIGHEST
    for _ in range(INNER):
        middle = 0.5 * (low + high)
        mu, total = sign * math.exp(middle), -theta * constant
        for s in range(len(weight)):
            omega = weight[s] * (factor[s] - theta)
            total += omega * rate(mu * omega, seen[s], size[s])
        if sign * total > 0.0:
            low = middle
        else:
            high = middle

    mu, lost = sign * math.exp(high), 0.0
    for s in range(len(weight)):
        p = rate(mu * weight[s] * (factor[s] - theta), seen[s], size[s])
        missed = size[s] - seen[s]
        # A rate of 0 or 1 with labels against it has likelihood 0.
        if seen[s] > 0.0:
            lost += seen[s] * math.log(seen[s] / size[s] / p) if p > 0.0 else math.inf
        if missed > 0.0:
            lost += missed * math.log(missed / size[s] / (1.0 - p)) if p < 1.0 else math.inf
    return 2.0 * lost


drop: Any = _compile(_drop)


def _ratio_end(
    weight: NDArray[np.float64],
    factor: NDArray[np.float64],
    seen: NDArray[np.float64],
    size: NDArray[np.float64],
    constant: float,
    bar: float,
    upper: bool,
) -> float:
    """Return the ratio θ, on one side of its estimate, at which the statistic is the bar."""
    top, bottom = 0.0, constant
    for s in range(len(weight)):
        top += weight[s] * factor[s] * seen[s] / size[s]
        bottom += weight[s] * seen[s] / size[s]
    if bottom <= 0.0:  # no label of the class, not even an adverse one: nothing is refuted
        return 1.0 if upper else 0.0

    # Far from the estimate the statistic is large; bisect between there and the estimate.
    inside, outside = top / bottom, 1.0 if upper else 0.0
    sign = -1.0 if upper else 1.0
    for _ in range(OUTER):
        middle = 0.5 * (inside + outside)
        if drop(middle, sign, constant, weight, factor, seen, size) < bar:
            inside = middle
        else:
            outside = middle
    return outside


ratio_end: Any = _compile(_ratio_end)
