"""One pair of systems: its difference, interval and p-value, which have to tell one story."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from tallystick.errors import InputError
from tallystick.results import Interval, Unknown
from tallystick.score.systems import System
from tallystick.stats.adverse import AdverseEstimate

__all__ = [
    "HALVINGS",
    "SMALLEST",
    "SystemPair",
    "agreeing",
    "crossed",
    "inverted",
    "number_of",
    "score_of",
]

SMALLEST = 1e-6
"""No p-value from an inverted interval is looked for below this."""
HALVINGS = 24


@dataclass(frozen=True, kw_only=True)
class SystemPair:
    """Two systems, by position: how much better the first is.

    *variance* is that of one pair of labels, for forecasts; None where there is none. *items* are
    those that could be graded for both. *decided* is 1 or -1 where a labelling session has settled
    who is better by its own rule, 0 where it has not, and None where the test decides.
    """

    first: int
    second: int
    difference: float
    interval: Interval
    p_value: float
    adjusted_p: float
    variance: float | None
    common: int
    items: int
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


def inverted(interval: Callable[[float], Interval], *, halvings: int = HALVINGS) -> float:
    """Return the p-value that an interval implies: the least α at which it excludes 0."""
    if crossed(interval(1 - 1e-9)):
        return 1.0
    if not crossed(interval(SMALLEST)):
        return SMALLEST
    low, high = math.log(SMALLEST), 0.0
    for _ in range(halvings):
        middle = (low + high) / 2
        if crossed(interval(math.exp(middle))):
            low = middle
        else:
            high = middle
    return math.exp(high)


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
