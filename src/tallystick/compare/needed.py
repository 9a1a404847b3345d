"""What would settle an open comparison: about how many more items, clusters or labels."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf, isnan, sqrt
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr, ndtri

from tallystick.compare.exact_pair import across_zero, exact_score
from tallystick.compare.pairing import bounded_p_value
from tallystick.compare.partial import Disagreement, disagreements, labels_needed, partial_interval
from tallystick.results import Interval, Needed, Unknown
from tallystick.results.numbers import number, points
from tallystick.stats.power import exact_paired_items, leaderboard_items, range_critical
from tallystick.stats.smallest import smallest

if TYPE_CHECKING:
    from tallystick.compare.board import Board
    from tallystick.compare.pairing import PairTable
    from tallystick.compare.result import PairRow
    from tallystick.compare.settings import Settings

__all__ = ["SampleSize", "exact_interval", "needed_for"]

MOST_EXACT = 10_000
"""Items up to which the power of the exact test is worked out."""
MOST_FORECAST = 10**10
"""Items from which on a forecast is no help: nobody has as many."""


@dataclass(frozen=True, slots=True)
class SampleSize:
    """What was drawn from the population: how many of what.

    Parameters
    ----------
    size, unit
        For instance 500 items, or 20 clusters.
    of_means
        Whether the spreads of the pairs are standard errors of the whole sample already, not of one
        item.
    share
        Whether scores are rates, so that a difference is written in points.
    """

    size: int
    unit: str = "items"
    of_means: bool = False
    share: bool = True

    def error(self, spread: float) -> float:
        """Return the standard error that belongs to the spread of a pair."""
        return spread if self.of_means else spread / sqrt(self.size)


def exact_interval(
    table: PairTable, i: int, n: int, settings: Settings, board: Board | None
) -> Interval:
    """Return the exact interval of pair *i* where there is one, else the one in the table.

    It holds 0 where the test of the pair does not tell the two apart.
    """
    if isnan(table.first_only[i]) or table.unsettled:
        return table.intervals[i]
    if board is not None and board.answers is not None:
        counts = _disagreement(board, i)
        few = counts.labelled < 2
        found = partial_interval(
            counts, alpha=settings.alpha, blanks="any" if few else settings.blanks
        )
    else:
        found = exact_score(
            int(table.first_only[i]), int(table.second_only[i]), n, alpha=settings.alpha
        )
    return found if table.p_value[i] <= settings.alpha else across_zero(found)


def needed_for(
    top: PairRow,
    table: PairTable,
    i: int,
    sample: SampleSize,
    k: int,
    settings: Settings,
    board: Board | None,
) -> Needed | None:
    """Say about how many more items (or labels) would tell the first two apart.

    The forecast takes the difference and the spread as they were observed, and asks the test that
    tells models apart here. Where that has no closed form, its interval is taken to shrink with the
    root of the sample.

    Parameters
    ----------
    top
        The two best models.
    table, i
        All pairs, and which of them *top* is.
    sample
        What was drawn.
    k
        Models.
    settings, board
        What was asked, and the board where labels are missing.
    """
    if board is not None and board.answers is not None:
        counts = _disagreement(board, i)
        if counts.blank:
            return _labels_or_items(top, counts, k, settings)
    if table.unsettled:
        return Needed(None, f"{sample.unit}: {table.unsettled}")
    # Means of runs that are equal differ by rounding.
    spread = float(table.spread[i])
    least = 0.0 if isnan(spread) else 1e-12 * spread
    if isinstance(top.difference, Unknown) or settings.sign * top.difference <= least:
        return Needed(None, f"{sample.unit}: on these {top.a} and {top.b} are equal")
    lead = abs(top.difference)
    error = sample.error(spread)
    goal: float
    if not isinstance(top.a_only, Unknown) and not isinstance(top.b_only, Unknown):
        goal = _right_or_wrong(lead, (top.a_only + top.b_only) / sample.size, k, settings)
    elif not 0 < error < inf:
        return Needed(None, f"{sample.unit}, of which nothing says yet how much they vary")
    elif settings.bounds is not None and not sample.of_means:
        goal = _bounded(lead, spread, sample.size, k, settings)
    else:
        ends = (table.intervals if k == 2 else table.simultaneous)[i]
        reach = lead - max(ends.low, -ends.high) + float(ndtri(settings.power)) * error
        goal = sample.size * (reach / lead) ** 2
    shown = points(lead, sign=False) if sample.share else number(lead)
    # A forecast that says "enough by now" of what is still open forecasts nothing.
    more = ceil(goal) - sample.size if sample.size < goal < MOST_FORECAST else None
    return Needed(more, f"{sample.unit}, if {top.a} stays {shown} ahead of {top.b}")


def _right_or_wrong(lead: float, apart: float, k: int, settings: Settings) -> int:
    """Return the items at which all pairs and the exact test of this pair tell the two apart."""
    alpha, power = settings.alpha, settings.power
    goal = leaderboard_items(lead, k, apart, alpha=alpha, power=power)
    # Beyond, the exact test needs the same number to within a few per cent, and takes a while.
    if goal > MOST_EXACT:
        return goal
    return max(goal, exact_paired_items(lead, apart, alpha=alpha, power=power))


def _bounded(lead: float, spread: float, size: int, k: int, settings: Settings) -> float:
    """Return the items at which the t test with a pseudo-item tells two bounded scores apart."""
    low, high = settings.bounds or (0.0, 1.0)
    level = 2 * float(ndtr(-range_critical(k, settings.alpha)))
    short = float(ndtri(settings.power)) * spread
    if (short / lead) ** 2 > MOST_FORECAST:
        return inf

    def told(n: int) -> bool:
        # The difference that is reached with this power, by the test in use.
        seen = lead - short / sqrt(n)
        p_value = bounded_p_value(np.array([seen]), np.array([spread**2]), n, high - low)
        return seen > 0 and float(p_value[0]) <= level

    return smallest(told, start=size + 1)


def _labels_or_items(top: PairRow, counts: Disagreement, k: int, settings: Settings) -> Needed:
    """Say how many blank labels would decide it, or how many more items if the blanks alone would
    not.
    """
    alpha, power = settings.alpha, settings.power
    more = labels_needed(
        counts, blanks=settings.blanks, pairs=k * (k - 1) // 2, alpha=alpha, power=power
    )
    if more is not None:
        return Needed(more, f"labels on items where {top.a} and {top.b} disagree")
    of = (
        f"items, labelled where {top.a} and {top.b} disagree: the blank labels of these alone would"
        " not decide it"
    )
    won, lost = counts.first_only, counts.second_only
    if won == lost:
        return Needed(None, of)
    # The share for which a labelled disagreement stands.
    each = counts.apart / counts.labelled / counts.items
    goal = _right_or_wrong(abs(won - lost) * each, (won + lost) * each, k, settings)
    return Needed(max(1, goal - counts.items), of)


def _disagreement(board: Board, i: int) -> Disagreement:
    counts = disagreements(board)
    return Disagreement(items=board.n, **{name: int(values[i]) for name, values in counts.items()})
