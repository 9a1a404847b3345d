"""What is said: one sentence with its number and its doubt, and what would settle the rest."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

import numpy as np

from tallystick.compare.exact_pair import exact_score
from tallystick.compare.partial import Disagreement, disagreements, labels_needed, partial_interval
from tallystick.results import Decision, Interval, Needed, Unknown
from tallystick.stats.power import leaderboard_items

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tallystick.compare.board import Board
    from tallystick.compare.pairing import PairTable
    from tallystick.compare.result import ModelRow, PairRow
    from tallystick.compare.settings import Settings

__all__ = ["exact_interval", "say"]

MOST_NAMED = 5


def exact_interval(table: PairTable, i: int, n: int, settings: Settings, board: Board | None) -> Interval:
    """Return the exact interval of pair *i* where there is one, else the one in the table."""
    if isnan(table.first_only[i]):
        return table.intervals[i]
    if board is not None and board.answers is not None:
        counts = _disagreement(board, i)
        few = counts.labelled < 2
        return partial_interval(counts, alpha=settings.alpha, blanks="any" if few else settings.blanks)
    return exact_score(int(table.first_only[i]), int(table.second_only[i]), n, alpha=settings.alpha)


def say(
    models: Sequence[ModelRow],
    pairs: Sequence[PairRow],
    table: PairTable,
    found: tuple[tuple[str, ...], tuple[tuple[str, ...], ...]],
    *,
    n: int,
    settings: Settings,
    board: Board | None,
) -> tuple[str, Decision, Needed | None]:
    """Return verdict, decision and what is needed."""
    top = pairs[0]
    contenders, tiers = found
    decided = len(contenders) == 1
    needed = None if decided else _needed(top, table, n, len(models), settings, board)
    if len(models) == 2:
        return _of_two(top, n, decided), "decided" if decided else "undecided", needed
    told = int(np.sum(table.adjusted_p <= settings.alpha))
    leader = models[0]
    score = "" if isinstance(leader.score, Unknown) else f" with {leader.score:.3f} {leader.interval}"
    if decided:
        head = f"{contenders[0]} is the best of {len(models)} models{score}"
    else:
        named = ", ".join(contenders[:MOST_NAMED]) + (
            f" and {len(contenders) - MOST_NAMED} more" if len(contenders) > MOST_NAMED else ""
        )
        head = f"{leader.name} leads{score}, but any of {len(contenders)} may be the best ({named})"
    cut = "1 tier" if len(tiers) == 1 else f"{len(tiers)} tiers"
    tail = f"{told:,} of {table.first.size:,} pairs are told apart on {n:,} items ({cut}, {table.adjustment})"
    return f"{head}; {tail}.", "decided" if decided else "undecided", needed


def _of_two(top: PairRow, n: int, decided: bool) -> str:
    p = "p < 0.0001" if top.p_value < 1e-4 else f"p = {top.p_value:.4f}"
    if isinstance(top.difference, Unknown):
        known = f"{top.a} minus {top.b} lies in {top.interval}"
        return f"{top.a} beats {top.b}: {known} on {n:,} items, {p}." if decided else f"Not told apart: {known}, {p}."
    if decided:
        return f"{top.a} beats {top.b} by {top.difference:.3f} {top.interval} on {n:,} items, {p}."
    return (
        f"{top.a} and {top.b} are not told apart: {top.a} is ahead by {top.difference:.3f} {top.interval} "
        f"on {n:,} items, {p}."
    )


def _needed(top: PairRow, table: PairTable, n: int, k: int, settings: Settings, board: Board | None) -> Needed | None:
    """Say about how many more items (or labels) would tell the first two apart, if they differ as observed."""
    if board is not None and board.answers is not None:
        names = board.names
        i = next(
            i
            for i, pair in enumerate(zip(table.first, table.second, strict=True))
            if {names[pair[0]], names[pair[1]]} == {top.a, top.b}
        )
        counts = _disagreement(board, i)
        if counts.blank:
            more = labels_needed(counts, blanks=settings.blanks, alpha=settings.alpha, power=settings.power)
            return Needed(more, f"labels on items where {top.a} and {top.b} disagree")
    if isinstance(top.difference, Unknown) or isinstance(top.a_only, Unknown) or isinstance(top.b_only, Unknown):
        return Needed(None, "items (or clusters)")
    lead, apart = top.difference, (top.a_only + top.b_only) / n
    if lead <= 0:
        return Needed(None, f"items: on these {top.a} and {top.b} are equal")
    goal = leaderboard_items(lead, k, apart, alpha=settings.alpha, power=settings.power)
    return Needed(max(1, goal - n), f"items, if {top.a} stays {lead:.3f} ahead of {top.b}")


def _disagreement(board: Board, i: int) -> Disagreement:
    counts = disagreements(board)
    return Disagreement(items=board.n, **{name: int(values[i]) for name, values in counts.items()})
