"""Put an answer together: ranks, rows of pairs, the verdict, and what was learnt of each item."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tallystick.compare.result import (
    MOST_DRAWN,
    MOST_PAIRS,
    NOT_TOLD,
    CompareResult,
    ItemLocator,
    ModelRow,
    PairRow,
)
from tallystick.compare.verdicts import SampleSize, exact_interval, say
from tallystick.results import Interval, PatternTable, Unknown
from tallystick.stats.ranks import ranks

if TYPE_CHECKING:
    from tallystick.compare.board import Board
    from tallystick.compare.pairing import PairTable
    from tallystick.compare.settings import Settings
    from tallystick.stats.intervals import Intervals

__all__ = ["assemble", "finish"]

Floats = npt.NDArray[np.float64]


def assemble(
    names: tuple[str, ...],
    table: PairTable,
    scores: Intervals,
    means: Floats,
    *,
    n: int,
    settings: Settings,
    population: str,
    detectable: float | Unknown,
    assumptions: list[str],
    warnings: list[str],
    seed: int | None,
    hidden: str = "",
    board: Board | None = None,
    sample: SampleSize | None = None,
) -> CompareResult:
    """Put ranks, pairs and verdict together; *hidden* says why no score can be given."""
    alpha = settings.alpha
    order = np.argsort(-means, kind="stable")
    told = table.adjusted_p <= alpha
    alone = exact_interval(table, 0, n, settings, board) if len(names) == 2 else None
    # one statement: what is told apart is told apart by the interval that is printed too
    if alone is not None:
        told = told & (0 not in alone)
    lead = means[table.first] - means[table.second]
    found = ranks(table.first, table.second, np.where(told, np.sign(lead), 0), order)
    pairs = _pair_rows(names, table, order, told, alone)
    models = tuple(
        ModelRow(
            names[j],
            Unknown(hidden) if hidden else float(means[j]),
            scores[int(j)],
            (int(found.low[j]), int(found.high[j])),
        )
        for j in order
    )
    a, b = sorted(order[:2].tolist())
    verdict, decision, needed = say(
        models,
        pairs,
        table,
        found.named(names),
        n=n,
        settings=settings,
        board=board,
        first_two=a * (2 * len(names) - a - 1) // 2 + b - a - 1,  # as numpy.triu_indices lists them
        sample=sample or SampleSize(n),
    )
    if len(names) > 2 and not isinstance(detectable, Unknown):
        verdict = (
            f"{verdict[:-1]}; differences from {detectable:.3g} on would be seen (power"
            f" {settings.power:g})."
        )
    spread = float(means.max() - means.min())
    separable: int | Unknown = (
        detectable
        if isinstance(detectable, Unknown)
        else min(len(names), 1 + int(spread / detectable))
    )
    return CompareResult(
        verdict=verdict,
        decision=decision,
        needed=needed,
        n_items=n,
        assumptions=tuple(assumptions),
        warnings=(
            *warnings,
            *_without_spread(names, table),
            *_unlisted(len(pairs), table.first.size),
        ),
        seed=seed,
        models=models,
        pairs=pairs,
        contenders=found.named(names)[0],
        tiers=found.named(names)[1],
        detectable_difference=detectable,
        separable=separable,
        guarantees=(),
        population=population,
        adjustment=table.adjustment,
        alpha=alpha,
    )


def _pair_rows(
    names: tuple[str, ...],
    table: PairTable,
    order: npt.NDArray[np.intp],
    told: npt.NDArray[np.bool_],
    alone: Interval | None,
) -> tuple[PairRow, ...]:
    """Return the pairs from the top of the board down, each with the better model first; *alone* if
    there is one.
    """
    place = np.empty(len(names), np.intp)
    place[order] = np.arange(len(names))
    upside = place[table.first] < place[table.second]
    best, worst = (
        np.minimum(place[table.first], place[table.second]),
        np.maximum(place[table.first], place[table.second]),
    )
    listed = np.lexsort((worst, best))
    if listed.size > MOST_PAIRS:
        listed = listed[((best == 0) | (worst - best == 1) | (worst < MOST_DRAWN))[listed]]
    rows = []
    for i in listed.tolist():
        sign = 1.0 if upside[i] else -1.0
        a, b = (table.first[i], table.second[i]) if upside[i] else (table.second[i], table.first[i])
        only = (
            (table.first_only[i], table.second_only[i])
            if upside[i]
            else (table.second_only[i], table.first_only[i])
        )
        difference = sign * float(table.difference[i])
        rows.append(
            PairRow(
                a=names[a],
                b=names[b],
                difference=(
                    Unknown("some disagreements have no true label")
                    if np.isnan(difference)
                    else difference
                ),
                interval=_turned(alone or table.intervals[i], sign),
                simultaneous=_turned(table.simultaneous[i], sign),
                a_only=_count(only[0]),
                b_only=_count(only[1]),
                p_value=float(table.p_value[i]),
                adjusted_p=float(table.adjusted_p[i]),
                verdict=f"{names[a]} is better" if told[i] else NOT_TOLD,
            )
        )
    return tuple(rows)


def _without_spread(names: tuple[str, ...], table: PairTable) -> list[str]:
    """Name a pair of which nothing can be said: unbounded scores that differ by the same amount
    throughout.
    """
    [found] = np.nonzero(np.isinf(table.intervals.high))
    if not found.size:
        return []
    a, b = names[table.first[found[0]]], names[table.second[found[0]]]
    more = f" (and {found.size - 1} pairs more)" if found.size > 1 else ""
    return [
        f"{a} and {b}{more} differ by the same amount throughout, so nothing says how much that"
        " varies: declare the range of scores (--bounds LO,HI)"
    ]


def _unlisted(listed: int, pairs: int) -> list[str]:
    if listed == pairs:
        return []
    return [
        f"{listed:,} of {pairs:,} pairs are listed: those of the leader, of neighbours and among"
        f" the first {MOST_DRAWN}; all count in the verdict, the ranks and the tiers"
    ]


def _turned(interval: Interval, sign: float) -> Interval:
    return interval if sign > 0 else replace(interval, low=-interval.high, high=-interval.low)


def _count(value: float) -> int | Unknown:
    return (
        Unknown("scores are not 0 or 1, or are counted by cluster")
        if np.isnan(value)
        else int(value)
    )


def finish(result: CompareResult, board: Board) -> CompareResult:
    """Add what was said while reading, and what was learnt of each item."""
    result = replace(result, warnings=(*board.notes, *result.warnings))
    if board.rows is None:
        return result
    known = board.known
    columns: dict[str, list[Any]] = {
        "mean_score": [
            float(score) if ok else None
            for score, ok in zip(board.scores.mean(axis=1), known, strict=True)
        ]
    }
    if board.answers is not None:
        places = [board.place(name) for name in result.contenders]
        places = places if len(places) > 1 else [board.place(row.name) for row in result.models[:2]]
        apart = (board.answers[:, places] != board.answers[:, places[:1]]).any(axis=1)
        columns["label_next"] = (apart & ~known).tolist()
    return replace(result, learnt=PatternTable(ItemLocator(board.rows), columns))
