"""How many more human grades would be enough: for a precision per system, and to settle a pair."""

from __future__ import annotations

from dataclasses import dataclass

from tallystick.results import Unknown
from tallystick.score.system_pair import SystemPair
from tallystick.score.systems import System
from tallystick.stats.adverse import LabelRange, labels_to_settle
from tallystick.stats.adverse.forecast import label_range, settle_at

__all__ = ["SettlePlan", "for_precision", "pair_range", "settle_plan"]

FORECAST = (0.77, 1.36)
"""Usual ratios of forecast to actual width, so of forecast to actual spread."""

CERTIFIED = 1.5
"""Width of certified intervals against the default's."""


@dataclass(frozen=True)
class SettlePlan:
    """Items to grade for both systems of a pair, in all: the best guess and what is plausible.

    *most* is how many items there are. *enough* is False where all of them may not be enough.
    """

    items: int
    low: int
    high: int
    most: int
    enough: bool


def for_precision(system: System, half: float, alpha: float) -> LabelRange | Unknown:
    """Return how many human grades a system needs in all for a half-width."""
    if system.outlook is None:
        return Unknown("too few human grades, or a target mix: nothing can be forecast")
    return system.outlook.needed(2 * half, alpha=alpha)


def pair_range(pair: SystemPair, alpha: float) -> LabelRange | Unknown:
    """Return how many common items settle a pair (AL14), from one end of its interval to the
    other.
    """
    if pair.variance is None or not pair.items:
        return Unknown("the two systems have too few human grades on the same items to forecast")
    low, high = min(pair.interval.low, pair.difference), max(pair.interval.high, pair.difference)
    return labels_to_settle(pair.difference, (low, high), pair.variance, pair.items, alpha=alpha)


def settle_plan(pair: SystemPair, alpha: float, *, certified: bool = False) -> SettlePlan | None:
    """Return how many items would settle a pair if its difference is what it looks like (AL14).

    The plausible range comes from how wrong forecasts of a spread usually are. None where nothing
    can be forecast: no common labels, or no difference at all. *certified* intervals are about half
    as wide again.
    """
    if pair.variance is None or not pair.items or pair.difference == 0:
        return None
    variance = pair.variance * (CERTIFIED**2 if certified else 1.0)
    sizes = [
        settle_at(abs(pair.difference), variance * factor, pair.items, alpha=alpha, power=0.8)
        for factor in (FORECAST[0] ** 2, 1.0, FORECAST[1] ** 2)
    ]
    # What was graded did not settle it, so a forecast of fewer labels than that is not believed.
    least = 1.1 * pair.common
    sizes = [max(size, min(least, pair.items)) for size in sizes]
    spread = label_range(sizes[0], sizes[2], pair.items)
    guess = label_range(sizes[1], sizes[1], pair.items)
    # With 95 % of all items graded the pair is as good as known, settled or not.
    enough = sizes[1] < 0.95 * pair.items
    return SettlePlan(
        guess.high or pair.items, spread.low, spread.high or pair.items, pair.items, enough
    )
