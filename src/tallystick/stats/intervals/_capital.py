"""Lower ends of :mod:`tallystick.stats.intervals.betting`: the largest mean that a gambler on
larger values has refuted. Values lie in [0, 1].

The upper end is the lower end of the reflected values 1 - x.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tallystick.stats.intervals.array import Floats
from tallystick.stats.wealth import Wagers, stakes_before

__all__ = ["lower_ends", "lower_path"]

TRUNCATION = 0.5
"""No bet risks more than this share of the capital on one value."""
HALVINGS = 24
"""Steps of bisection: ends are good to 6e-8 of the range, and always err outwards."""
CLOSE = 1e-9
"""How far outwards an end of a path is moved, which is farther than it can be off."""
STEPS = 100


def lower_ends(rows: Floats, threshold: float, population: int, anytime: bool) -> Floats:
    """Return the lower end of every row at its last value."""
    wagers = _wagers(rows, threshold, population, anytime=anytime)
    low, high = _logic(rows.sum(axis=1), rows.shape[1], population)
    return wagers.last_refuted(np.full(len(rows), threshold), low, high, HALVINGS)


def lower_path(x: Floats, threshold: float, population: int) -> Floats:
    """Return the lower end after each value; it never falls, and errs outwards by *CLOSE*."""
    wagers = _wagers(x[None], threshold, population, anytime=True)
    stakes, slope, offset = wagers.stakes[0], wagers.slope[0], wagers.offset[0]
    least, most = _logic(np.cumsum(x), np.arange(1, x.size + 1), population)
    bar, ends, low = math.log(threshold), np.empty(x.size), 0.0

    def money(mean: float, n: int) -> tuple[float, float]:
        """Return ln K (I10) after n values, and how fast it falls as the mean grows."""
        price = slope[:n] * mean - offset[:n]
        over = stakes[:n] * price > TRUNCATION
        with np.errstate(divide="ignore", invalid="ignore"):
            factor = 1.0 + np.where(over, TRUNCATION / price, stakes[:n]) * (x[:n] - price)
            moves = np.where(over, TRUNCATION * x[:n] / price**2, stakes[:n])
        return float(np.log(factor).sum()), float((slope[:n] * moves / factor).sum())

    for i in range(x.size):
        low = max(low, float(least[i]))
        # What earlier capital has refuted stays so: the last one alone can move the end.
        if low < most[i] and money(low, i + 1)[0] >= bar:
            low = _moved(partial(money, n=i + 1), bar, low, float(most[i]))
        ends[i] = low
    return ends


def _moved(
    money: Callable[[float], tuple[float, float]], bar: float, low: float, high: float
) -> float:
    """Return where the capital falls below the bar, from below; infinite if not up to *high*.

    It moves little from one value to the next, so a few of Newton's steps from *low* are enough.
    """
    if money(high)[0] >= bar:
        return math.inf
    left, right, mean = low, high, low
    for _ in range(STEPS):
        capital, falls = money(mean)
        left, right = (mean, right) if capital >= bar else (left, mean)
        step = mean + (capital - bar) / falls if falls > 0 else math.inf
        step = step if left <= step <= right else 0.5 * (left + right)
        if abs(step - mean) <= CLOSE / 10:
            break
        mean = step
    return max(low, step - CLOSE)


def _wagers(rows: Floats, threshold: float, population: int, *, anytime: bool) -> Wagers:
    """Return the gamblers on larger values, with the fair price of each draw.

    Without replacement it is the mean of what is still in the urn; from an endless supply
    (population 0) it is the mean.
    """
    slope, offset = np.ones_like(rows), np.zeros_like(rows)
    if population > 0:
        left = population - np.arange(rows.shape[1])
        slope = np.broadcast_to(population / left, rows.shape)
        offset = (np.cumsum(rows, axis=1) - rows) / left
    nothing = np.zeros_like(rows)
    return Wagers(
        x=rows,
        stakes=stakes_before(rows, np.full(len(rows), math.log(threshold)), anytime=anytime),
        slope=slope,
        offset=offset,
        reach=nothing,
        floor=nothing,
        cut=TRUNCATION,
    )


def _logic(total: Floats, n: int | NDArray[np.int64], population: int) -> tuple[Floats, Floats]:
    """Return what logic allows: the values not seen lie in [0, 1]."""
    if not population:
        return np.zeros_like(total), np.ones_like(total)
    return total / population, 1.0 - (n - total) / population
