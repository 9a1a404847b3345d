"""What is said: one sentence with its number and its doubt, and what would settle the rest."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf, isnan, sqrt
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from tallystick.compare.exact_pair import across_zero, exact_score
from tallystick.compare.partial import Disagreement, disagreements, labels_needed, partial_interval
from tallystick.results import Decision, Interval, Needed, Unknown
from tallystick.stats.power import leaderboard_items, range_critical

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tallystick.compare.board import Board
    from tallystick.compare.pairing import PairTable
    from tallystick.compare.result import ModelRow, PairRow
    from tallystick.compare.settings import Settings

__all__ = ["SampleSize", "exact_interval", "say"]

MOST_NAMED = 5


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
    """

    size: int
    unit: str = "items"
    of_means: bool = False

    def error(self, spread: float) -> float:
        """Return the standard error that belongs to the spread of a pair."""
        return spread if self.of_means else spread / sqrt(self.size)


def exact_interval(
    table: PairTable, i: int, n: int, settings: Settings, board: Board | None
) -> Interval:
    """Return the exact interval of pair *i* where there is one, else the one in the table.

    It holds 0 where the test of the pair does not tell the two apart.
    """
    if isnan(table.first_only[i]):
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


def say(
    models: Sequence[ModelRow],
    pairs: Sequence[PairRow],
    table: PairTable,
    found: tuple[tuple[str, ...], tuple[tuple[str, ...], ...]],
    *,
    n: int,
    settings: Settings,
    board: Board | None,
    first_two: int,
    sample: SampleSize,
) -> tuple[str, Decision, Needed | None]:
    """Return verdict, decision and what is needed; *first_two* is the place of the two best models
    in *table*.
    """
    top = pairs[0]
    contenders, tiers = found
    decided = len(contenders) == 1
    needed = (
        None if decided else _needed(top, table, first_two, sample, len(models), settings, board)
    )
    if len(models) == 2:
        return _of_two(top, n, decided), "decided" if decided else "undecided", needed
    told = int(np.sum(table.adjusted_p <= settings.alpha))
    leader = models[0]
    score = (
        "" if isinstance(leader.score, Unknown) else f" with {leader.score:.3f} {leader.interval}"
    )
    if decided:
        head = f"{contenders[0]} is the best of {len(models)} models{score}"
    else:
        named = ", ".join(contenders[:MOST_NAMED]) + (
            f" and {len(contenders) - MOST_NAMED} more" if len(contenders) > MOST_NAMED else ""
        )
        head = f"{leader.name} leads{score}, but any of {len(contenders)} may be the best ({named})"
    cut = "1 tier" if len(tiers) == 1 else f"{len(tiers)} tiers"
    tail = (
        f"{told:,} of {table.first.size:,} pairs are told apart on {n:,} items ({cut},"
        f" {table.adjustment})"
    )
    return f"{head}; {tail}.", "decided" if decided else "undecided", needed


def _of_two(top: PairRow, n: int, decided: bool) -> str:
    p = "p < 0.0001" if top.p_value < 1e-4 else f"p = {top.p_value:.4f}"
    if isinstance(top.difference, Unknown):
        known = f"{top.a} minus {top.b} lies in {top.interval}"
        return (
            f"{top.a} beats {top.b}: {known} on {n:,} items, {p}."
            if decided
            else f"Not told apart: {known}, {p}."
        )
    if decided:
        return f"{top.a} beats {top.b} by {top.difference:.3f} {top.interval} on {n:,} items, {p}."
    ahead = (
        f"{top.a} is ahead by {top.difference:.3f}"
        if top.difference
        else "they score the same, a difference of 0"
    )
    return f"{top.a} and {top.b} are not told apart: {ahead} {top.interval} on {n:,} items, {p}."


def _needed(
    top: PairRow,
    table: PairTable,
    i: int,
    sample: SampleSize,
    k: int,
    settings: Settings,
    board: Board | None,
) -> Needed | None:
    """Say about how many more items (or labels) would tell the first two apart, if they differ as
    observed.
    """
    if board is not None and board.answers is not None:
        counts = _disagreement(board, i)
        if counts.blank:
            return _labels_or_items(top, counts, k, settings)
    if isinstance(top.difference, Unknown) or top.difference <= 0:
        return Needed(None, f"{sample.unit}: on these {top.a} and {top.b} are equal")
    lead = top.difference
    if not isinstance(top.a_only, Unknown) and not isinstance(top.b_only, Unknown):
        apart = (top.a_only + top.b_only) / sample.size
        goal = leaderboard_items(lead, k, apart, alpha=settings.alpha, power=settings.power)
    else:
        error = sample.error(float(table.spread[i]))
        if not 0 < error < inf:
            return Needed(None, f"{sample.unit}, of which nothing says yet how much they vary")
        critical = range_critical(k, settings.alpha) + float(ndtri(settings.power))
        goal = ceil(sample.size * (critical * error / lead) ** 2)
    return Needed(
        max(1, goal - sample.size), f"{sample.unit}, if {top.a} stays {lead:.3f} ahead of {top.b}"
    )


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
    # the share for which a labelled disagreement stands
    each = counts.apart / counts.labelled / counts.items
    goal = leaderboard_items(
        abs(won - lost) * each, k, (won + lost) * each, alpha=alpha, power=power
    )
    return Needed(max(1, goal - counts.items), of)


def _disagreement(board: Board, i: int) -> Disagreement:
    counts = disagreements(board)
    return Disagreement(items=board.n, **{name: int(values[i]) for name, values in counts.items()})
