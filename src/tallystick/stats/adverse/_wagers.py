"""Compiled part of the certified means: capital that bets on adjusted labels, without replacement.

A gambler who believes in a larger mean θ bets at the fair price of each draw; the ends are the
means that the capital refutes. Labels are on [0, 1].
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

__all__ = ["certified_ends"]

_compile = numba.njit(cache=True, nogil=True, error_model="numpy")

RISK = 0.75
"""No bet can lose more than this share of the capital on one label."""
ROUNDING = 1e-12
"""A price this far below 0 is 0 but for rounding."""
HALVINGS = 40
"""Steps of bisection: ends are good to 1e-12 and always err outwards."""


def _stakes(x: NDArray[np.float64], log: float, horizon: int) -> NDArray[np.float64]:
    """Return one stake per label, made from the labels before it (I11); horizon 0 is anytime."""
    stakes = np.empty(len(x))
    total, scatter = 0.5, 0.25
    for i in range(len(x)):
        t = i + 1
        time = float(horizon) if horizon > 0 else t * math.log(1.0 + t)
        stakes[i] = math.sqrt(2.0 * log * t / (scatter * time))
        total += x[i]
        scatter += (x[i] - total / (t + 1)) ** 2
    return stakes


stakes_of: Any = _compile(_stakes)


def _refuted(
    theta: float,
    y: NDArray[np.float64],
    x: NDArray[np.float64],
    reach: NDArray[np.float64],
    stakes: NDArray[np.float64],
    population: int,
    threshold: float,
) -> bool:
    """Say whether a gambler on larger values ever reaches the threshold against the mean θ."""
    capital, left = 1.0, population * theta
    for i in range(len(y)):
        price = left / (population - i)
        if price < -ROUNDING:  # no labels on [0, 1] can have so small a mean
            return True
        stake = stakes[i]
        if stake * (price + reach[i]) > RISK:  # the adjusted label is at least -reach
            stake = RISK / (price + reach[i])
        capital *= 1.0 + stake * (x[i] - price)
        if capital >= threshold:
            return True
        left -= y[i]
    return False


refuted: Any = _compile(_refuted)


def _lower_end(
    y: NDArray[np.float64],
    x: NDArray[np.float64],
    reach: NDArray[np.float64],
    population: int,
    threshold: float,
    anytime: bool,
) -> float:
    """Return the largest refuted mean that logic allows; infinite if all of them are refuted."""
    n, seen = len(y), float(y.sum())
    stakes = stakes_of(x, math.log(threshold), 0 if anytime else n)
    low, high = seen / population, 1.0 - (n - seen) / population
    if not refuted(low, y, x, reach, stakes, population, threshold):
        return low
    if refuted(high, y, x, reach, stakes, population, threshold):
        return math.inf
    # Capital falls as θ grows, also where the stake is cut, so no grid is needed.
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if refuted(middle, y, x, reach, stakes, population, threshold):
            low = middle
        else:
            high = middle
    return low


lower_end: Any = _compile(_lower_end)


def _certified_ends(
    y: NDArray[np.float64],
    x: NDArray[np.float64],
    below: NDArray[np.float64],
    above: NDArray[np.float64],
    population: int,
    threshold: float,
    anytime: bool,
) -> tuple[float, float]:
    """Return both ends; the upper one is one minus the lower end of the reflected labels."""
    low = lower_end(y, x, below, population, threshold, anytime)
    high = 1.0 - lower_end(1.0 - y, 1.0 - x, above, population, threshold, anytime)
    return low, high


certified_ends: Any = _compile(_certified_ends)
