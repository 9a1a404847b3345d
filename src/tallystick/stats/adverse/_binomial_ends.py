"""Compiled part of the stratified adverse likelihood: lower ends, many rows at once.

Only the lower end is written. The upper end is one minus the lower end of the fails.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

__all__ = ["lower_ends"]

_compile = numba.njit(cache=True, nogil=True, error_model="numpy")

LOWEST, HIGHEST = -10.0, 25.0
"""Where ln μ is looked for."""
HALVINGS = 48
"""Steps of bisection: ln μ is good to 1e-13, so an end is good to about as many digits."""


def _rate(tilt: float, seen: float, size: float) -> float:
    """Return p(μ) of one stratum: *tilt* is μW, *seen* the passes s, *size* the labels n."""
    # (tilt + n)² - 4 tilt s, written as a sum of squares so that it cannot turn negative.
    root = math.sqrt((tilt - size) ** 2 + 4.0 * tilt * (size - seen))
    return 2.0 * seen / (tilt + size + root)


rate: Any = _compile(_rate)


def _drop(
    mu: float, weight: NDArray[np.float64], seen: NDArray[np.float64], size: NDArray[np.float64]
) -> float:
    """Return 2(ℓ(p̃) - ℓ(p(μ))), the likelihood ratio statistic at the multiplier μ."""
    total = 0.0
    for h in range(len(weight)):
        if weight[h] > 0.0 and seen[h] > 0.0:  # without passes p̃ = p(μ) = 0: nothing is lost
            p = rate(mu * weight[h], seen[h], size[h])
            best, missed = seen[h] / size[h], size[h] - seen[h]
            total += seen[h] * math.log(best / p)
            total += missed * math.log((missed / size[h]) / (1.0 - p))
    return 2.0 * total


drop: Any = _compile(_drop)


def _lower_ends(
    weights: NDArray[np.float64],
    sizes: NDArray[np.float64],
    shares: NDArray[np.float64],
    pseudo: NDArray[np.float64],
    bar: float,
) -> NDArray[np.float64]:
    """Return L for every row of strata.

    *weights* are W, *sizes* the effective labels k*, *shares* the pass rates p̂; *pseudo* is the
    factor a of (AL1) in each row, and *bar* the z² that the statistic has to reach.
    """
    rows, strata = weights.shape
    ends = np.empty(rows)
    seen, size = np.empty(strata), np.empty(strata)
    for row in range(rows):
        weight = weights[row]
        for h in range(strata):
            seen[h] = sizes[row, h] * shares[row, h]
            size[h] = sizes[row, h] + pseudo[row] * math.sqrt(weight[h])  # (AL1): a_h more fails

        # The statistic grows with μ, so its crossing of the bar is found by halving.
        low, high = LOWEST, HIGHEST
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            if drop(math.exp(middle), weight, seen, size) < bar:
                low = middle
            else:
                high = middle

        mu, end = math.exp(high), 0.0
        for h in range(strata):
            if weight[h] > 0.0:
                end += weight[h] * rate(mu * weight[h], seen[h], size[h])
        ends[row] = end
    return ends


lower_ends: Any = _compile(_lower_ends)
