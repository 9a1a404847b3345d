"""One pair of systems: its difference, interval and p-value, which have to tell one story."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError
from tallystick.results import Interval, Unknown
from tallystick.score.outputs import Floats
from tallystick.score.systems import System
from tallystick.stats.adverse import AdverseEstimate, Outlook

__all__ = [
    "SMALLEST",
    "Places",
    "SystemPair",
    "agreeing",
    "crossed",
    "inverted",
    "number_of",
    "score_of",
]

Places: TypeAlias = NDArray[np.intp]

SMALLEST = 1e-6
"""No p-value from an inverted interval is looked for below this."""
HALVINGS = 24


@dataclass(frozen=True, kw_only=True)
class SystemPair:
    """Two systems, by position: how much better the first is.

    *outlook* is that of one pair of labels, for forecasts; None where there is none. *decided* is 1
    or -1 where a labelling session has settled who is better by its own rule, 0 where it has not,
    and None where the test decides.
    """

    first: int
    second: int
    difference: float
    interval: Interval
    p_value: float
    adjusted_p: float
    outlook: Outlook | None
    common: int
    decided: int | None = None


def crossed(interval: Interval) -> bool:
    """Return whether an interval leaves the sign of a difference open."""
    return interval.low <= 0 <= interval.high


def agreeing(
    interval: Interval, difference: float, tested: float, p: float, alpha: float
) -> Interval:
    """Make the interval and the test tell one story.

    Not settled: the interval holds 0. Settled by step-down while the simultaneous interval, which
    takes no step down, still holds 0: its nearer end is 0 ([HH94]_).
    """
    settled = p <= alpha and difference * tested > 0
    if not settled:
        return replace(interval, low=min(interval.low, 0.0), high=max(interval.high, 0.0))
    if difference > 0:
        return replace(interval, low=max(interval.low, 0.0))
    return replace(interval, high=min(interval.high, 0.0))


def inverted(
    holds: Callable[[Places, Floats], NDArray[np.bool_]], rows: int, *, halvings: int = HALVINGS
) -> list[float]:
    """Return the p-values that intervals imply: for each the least α at which it excludes 0.

    All rows are halved together, so that each step is one question for all of them.

    Parameters
    ----------
    holds
        Given some rows and one α for each, whether their intervals hold 0.
    rows
        How many there are.
    halvings
        Steps of bisection in ln α.

    Examples
    --------
    >>> least = np.array([0.03, 0.0, 2.0])
    >>> found = inverted(lambda rows, alpha: alpha < least[rows], 3)
    >>> [round(p, 6) for p in found]
    [0.03, 1e-06, 1.0]
    """
    every = np.arange(rows)
    p_values = np.where(holds(every, np.full(rows, 1 - 1e-9)), 1.0, SMALLEST)
    left = every[p_values < 1.0]
    if left.size:  # an interval of no rows at all is not asked for
        left = left[holds(left, np.full(left.size, SMALLEST))]
    low, high = np.full(left.size, math.log(SMALLEST)), np.zeros(left.size)
    for _ in range(halvings if left.size else 0):
        middle = (low + high) / 2
        inside = holds(left, np.exp(middle))
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    p_values[left] = np.exp(high)
    return [float(p) for p in p_values]


def score_of(system: System) -> float:
    """Return the score of a system that has one."""
    if system.score is None:
        raise InputError(f"{system.name!r} has no human grades")
    return system.score


def number_of(found: AdverseEstimate) -> float:
    """Return an estimate that is known."""
    if isinstance(found.estimate, Unknown):
        raise InputError(str(found.estimate))
    return found.estimate
