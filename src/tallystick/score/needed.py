"""How many more human grades would be enough: for a precision per system, and to settle a pair."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from tallystick.results import Unknown
from tallystick.score.board import FIRST, SystemBoard
from tallystick.score.outputs import Outputs
from tallystick.score.system_pair import SystemPair
from tallystick.score.systems import System
from tallystick.stats.adverse import LabelRange, labels_to_settle
from tallystick.stats.adverse.forecast import label_range

__all__ = [
    "FirstGrades",
    "SettlePlan",
    "first_grades",
    "for_precision",
    "pair_range",
    "settle_plan",
]

FORECAST = (0.77, 1.36)
"""Usual ratios of forecast to actual width, so of forecast to actual spread."""

CERTIFIED = 1.5
"""Width of certified intervals against the default's."""


@dataclass(frozen=True, kw_only=True)
class FirstGrades:
    """The first outputs to grade, where too few are graded for a forecast.

    Parameters
    ----------
    items
        How many outputs of each system should have a grade.
    grades
        How many of these have none yet.
    shared
        Whether they are to be on the same items for every system.
    begun
        Whether some of them have a grade already.
    short
        Whether some system has fewer outputs than *items*.
    """

    items: int
    grades: int
    shared: bool
    begun: bool
    short: bool = False


@dataclass(frozen=True, kw_only=True)
class SettlePlan:
    """What to grade more for the two systems of a pair.

    Parameters
    ----------
    items
        Items that get a grade of both.
    grades, low, high
        Outputs to grade for that: the best guess and what is plausible. Outputs that have a grade
        are not counted.
    most
        How many items there are.
    enough
        False where all of them may not be enough.
    """

    items: int
    grades: int
    low: int
    high: int
    most: int
    enough: bool


def first_grades(outputs: Outputs, board: SystemBoard | None) -> FirstGrades | None:
    """Return the first outputs to grade; None where enough of them have a grade.

    *board* holds the outputs of all systems. Where items are not known, or the systems were run on
    different ones, every system gets grades of its own.
    """
    systems = range(len(outputs.systems))
    sizes = [outputs.counts[outputs.of(s)].sum() for s in systems]
    graded = [outputs.counts[outputs.of(s) & outputs.known].sum() for s in systems]

    items = min(FIRST, round(min(sizes)))
    missing = None if board is None else board.ungraded(systems, items)
    shared = missing is not None
    if missing is None:
        items = min(FIRST, round(max(sizes)))
        missing = round(
            sum(max(0.0, min(items, n) - k) for n, k in zip(sizes, graded, strict=True))
        )
    if not missing:
        return None
    begun = missing < items * len(sizes) if shared else any(graded)
    short = not shared and min(sizes) < items
    return FirstGrades(items=items, grades=missing, shared=shared, begun=begun, short=short)


def for_precision(system: System, half: float, alpha: float) -> LabelRange | Unknown:
    """Return how many human grades a system needs in all for a half-width."""
    if system.outlook is None:
        return Unknown("too few human grades, or a target mix: nothing can be forecast")
    return system.outlook.needed(2 * half, alpha=alpha)


def pair_range(pair: SystemPair, alpha: float) -> LabelRange | Unknown:
    """Return how many common items settle a pair (AL20), from one end of its interval to the
    other.
    """
    if pair.outlook is None:
        return Unknown("the two systems have too few human grades on the same items to forecast")
    low, high = min(pair.interval.low, pair.difference), max(pair.interval.high, pair.difference)
    return labels_to_settle(pair.difference, (low, high), pair.outlook, alpha=alpha)


def settle_plan(
    pair: SystemPair,
    alpha: float,
    ungraded: Callable[[int], int | None],
    *,
    certified: bool = False,
) -> SettlePlan | None:
    """Return what would settle a pair if its difference is what it looks like (AL20).

    The plausible range comes from how wrong forecasts of a spread usually are. None where nothing
    can be forecast: no common labels, no difference at all, or nothing left to grade. *certified*
    intervals are about half as wide again.

    Parameters
    ----------
    pair, alpha
        The pair and its level.
    ungraded
        How many outputs have to be graded until so many items have a grade of both systems.
    certified
        Whether the intervals are certified.
    """
    if pair.outlook is None or pair.difference == 0:
        return None
    wider = CERTIFIED**2 if certified else 1.0
    most = pair.outlook.items
    sizes = [
        replace(pair.outlook, variance=pair.outlook.variance * wider * factor).settles(
            pair.difference, alpha=alpha
        )
        for factor in (FORECAST[0] ** 2, 1.0, FORECAST[1] ** 2)
    ]
    # What was graded did not settle it, so a forecast of fewer labels than that is not believed.
    least = 1.1 * pair.common
    sizes = [max(size, min(least, most)) for size in sizes]
    # With 95 % of all items graded the pair is as good as known, settled or not.
    enough = sizes[1] < 0.95 * most

    spread = label_range(sizes[0], sizes[2], most)
    guess = label_range(sizes[1], sizes[1], most).high or most
    items = [max(n, pair.common + 1) for n in (spread.low, guess, spread.high or most)]
    low, grades, high = (ungraded(min(n, most)) for n in items)
    if not low or not grades or not high:
        return None
    more = min(items[1], most) - pair.common
    return SettlePlan(items=more, grades=grades, low=low, high=high, most=most, enough=enough)
