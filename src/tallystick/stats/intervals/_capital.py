"""Compiled part of :mod:`tallystick.stats.intervals.betting`: capital that bets against a mean.
Values lie in [0, 1].

Everything is written for the *lower* end, the largest mean that a gambler on larger values has
refuted; the upper end is the lower end of the reflected values 1 - x.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

__all__ = ["lower_ends", "lower_path"]

_compile = numba.njit(cache=True, nogil=True, error_model="numpy")

TRUNCATION = 0.5
"""No bet risks more than this share of the capital on one value."""
HALVINGS = 24
"""Steps of bisection: ends are good to 6e-8 of the range, and always err outwards."""
RUIN = 1e-300
"""Capital below this is given up. A gambler who stops betting still plays fair, so the ends only
widen by it."""


def _bets(x: NDArray[np.float64], log: float, horizon: int) -> NDArray[np.float64]:
    """Return one bet a value, made from the values before it (I11); horizon 0 spreads the bets over
    all time.
    """
    bets = np.empty(len(x))
    total, scatter = 0.5, 0.25
    for i in range(len(x)):
        t = i + 1
        time = horizon if horizon > 0 else t * math.log(1.0 + t)
        bets[i] = math.sqrt(2.0 * log * t / (scatter * time))
        total += x[i]
        scatter += (x[i] - total / (t + 1)) ** 2
    return bets


bets_of: Any = _compile(_bets)


def _prices(
    x: NDArray[np.float64], population: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return slope and offset of the fair price of each draw: if the mean of all is m, it is slope
    m - offset.

    Without replacement it is the mean of what is still in the urn; from an endless supply
    (population 0) it is m.
    """
    slope, offset = np.ones(len(x)), np.zeros(len(x))
    if population > 0:
        seen = 0.0
        for i in range(len(x)):
            slope[i], offset[i] = population / (population - i), seen / (population - i)
            seen += x[i]
    return slope, offset


prices_of: Any = _compile(_prices)


def _refuted(
    x: NDArray[np.float64],
    bets: NDArray[np.float64],
    slope: NDArray[np.float64],
    offset: NDArray[np.float64],
    threshold: float,
    mean: float,
) -> bool:
    """Say whether the capital (I10) against *mean* ever reaches the threshold."""
    capital = 1.0
    for i in range(len(x)):
        mu = slope[i] * mean - offset[i]
        if mu < 0.0:
            return True
        bet = bets[i]
        if bet * mu > TRUNCATION:
            bet = TRUNCATION / mu
        capital *= 1.0 + bet * (x[i] - mu)
        if capital >= threshold:
            return True
        if capital < RUIN:
            return False
    return False


refuted: Any = _compile(_refuted)


def _lower_end(
    x: NDArray[np.float64],
    bets: NDArray[np.float64],
    slope: NDArray[np.float64],
    offset: NDArray[np.float64],
    threshold: float,
    low: float,
    high: float,
) -> float:
    """Bisect for the largest refuted mean in [low, high]; capital falls as the mean grows, so no
    grid is needed.

    Infinite if all of them are refuted.
    """
    if not refuted(x, bets, slope, offset, threshold, low):
        return low
    if refuted(x, bets, slope, offset, threshold, high):
        return math.inf
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if refuted(x, bets, slope, offset, threshold, middle):
            low = middle
        else:
            high = middle
    return low


lower_end: Any = _compile(_lower_end)


def _lower_ends(
    rows: NDArray[np.float64], threshold: float, population: int, anytime: bool
) -> NDArray[np.float64]:
    """Return the lower end of every row at its last value."""
    ends = np.empty(len(rows))
    n = rows.shape[1]
    for row in range(len(rows)):
        x = rows[row]
        bets = bets_of(x, math.log(threshold), 0 if anytime else n)
        slope, offset = prices_of(x, population)
        low, high = 0.0, 1.0
        if population > 0:  # what logic allows: the values not seen lie in [0, 1]
            low, high = x.sum() / population, 1.0 - (n - x.sum()) / population
        ends[row] = lower_end(x, bets, slope, offset, threshold, low, high)
    return ends


lower_ends: Any = _compile(_lower_ends)


def _lower_path(x: NDArray[np.float64], threshold: float, population: int) -> NDArray[np.float64]:
    """Return the lower end after each value; it never falls."""
    ends = np.empty(len(x))
    bets = bets_of(x, math.log(threshold), 0)
    slope, offset = prices_of(x, population)
    low, total = 0.0, 0.0
    for i in range(len(x)):
        n = i + 1
        total += x[i]
        high = 1.0
        if population > 0:
            low, high = max(low, total / population), 1.0 - (n - total) / population
        if low < high:
            low = lower_end(x[:n], bets[:n], slope[:n], offset[:n], threshold, low, high)
        ends[i] = low
    return ends


lower_path: Any = _compile(_lower_path)
