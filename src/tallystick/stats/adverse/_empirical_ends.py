"""Compiled part of the adverse empirical likelihood: lower ends, many rows at once.

Only the lower end is written, for distances d >= 0 from the least value that a label could have.
The upper end takes distances from the greatest value.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

__all__ = ["least_means"]

_compile = numba.njit(cache=True, nogil=True, error_model="numpy")

LOWEST, HIGHEST = -14.0, 30.0
"""Where ln γ is looked for."""
HALVINGS = 46
"""Steps of bisection: ln γ is good to 6e-13."""


def _drop(
    gamma: float,
    distance: NDArray[np.float64],
    weight: NDArray[np.float64],
    pseudo: float,
    size: float,
) -> float:
    """Return 2(n ln(s/n) - Σ w ln q), the empirical likelihood ratio at the multiplier γ."""
    kept, logs = pseudo, 0.0
    for i in range(len(distance)):
        tilt = 1.0 + gamma * distance[i]
        kept += weight[i] / tilt
        logs += weight[i] * math.log(tilt)
    return 2.0 * (size * math.log(kept / size) + logs)


drop: Any = _compile(_drop)


def _least_mean(
    distance: NDArray[np.float64], weight: NDArray[np.float64], pseudo: float, bar: float
) -> float:
    """Return the least mean distance that the labels, and *pseudo* of a label at 0, leave open."""
    size = pseudo + weight.sum()
    if distance.max() <= 0.0:
        return 0.0

    # The statistic grows with γ, so its crossing of the bar is found by halving.
    low, high = LOWEST, HIGHEST
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if drop(math.exp(middle), distance, weight, pseudo, size) < bar:
            low = middle
        else:
            high = middle

    gamma, kept, total = math.exp(high), pseudo, 0.0
    for i in range(len(distance)):
        q = weight[i] / (1.0 + gamma * distance[i])
        kept += q
        total += q * distance[i]
    return total / kept


least_mean: Any = _compile(_least_mean)


def _least_means(
    distances: NDArray[np.float64], weights: NDArray[np.float64], pseudo: float, bar: float
) -> NDArray[np.float64]:
    """Return the least mean distance of every row."""
    ends = np.empty(len(distances))
    for row in range(len(distances)):
        ends[row] = least_mean(distances[row], weights[row], pseudo, bar)
    return ends


least_means: Any = _compile(_least_means)
