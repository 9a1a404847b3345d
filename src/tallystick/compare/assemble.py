"""Put an answer together: ranks, rows of pairs, the verdict, and what was learnt of each item."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from tallystick.compare.needed import SampleSize, exact_interval, needed_for
from tallystick.compare.result import (
    MOST_DRAWN,
    MOST_PAIRS,
    NOT_TOLD,
    CompareResult,
    Estimand,
    ItemLocator,
    ModelRow,
    PairRow,
)
from tallystick.compare.verdict import spoken, with_left_out
from tallystick.compare.verdict_notes import unlisted_pairs, without_spread, would_be_seen
from tallystick.results import Interval, PatternTable, Unknown
from tallystick.stats.ranks import Ranks, ranks

if TYPE_CHECKING:
    from tallystick.compare.board import Board
    from tallystick.compare.pairing import PairTable
    from tallystick.compare.settings import Settings
    from tallystick.stats.intervals import Intervals

__all__ = ["Findings", "assemble", "finish"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, kw_only=True)
class Findings:
    """What the mathematics found, before it is put into words.

    Parameters
    ----------
    names
        The models, in the order of the table.
    table
        All pairs.
    scores, means
        The interval and the score of each model.
    n
        Items.
    settings
        What was asked.
    population, estimand, unit
        As in the result.
    detectable
        The smallest difference that would be seen.
    assumptions, warnings
        Sentences.
    seed
        Of everything drawn.
    hidden
        Why no score can be given; empty if it can.
    board
        The board, where labels are missing.
    sample
        What was drawn; the items by default.
    clusters, item_means
        How many clusters there are, and the scores over items, where clusters are the sample.
    """

    names: tuple[str, ...]
    table: PairTable
    scores: Intervals
    means: Floats
    n: int
    settings: Settings
    population: str
    detectable: float | Unknown
    assumptions: list[str]
    warnings: list[str]
    seed: int | None
    hidden: str = ""
    board: Board | None = None
    sample: SampleSize | None = None
    estimand: Estimand = "mean"
    unit: Literal["share", "number"] = "share"
    clusters: int = 0
    item_means: Floats | None = None


def assemble(found: Findings) -> CompareResult:
    """Return the result: models from best to worst, their ranks, all pairs and the verdict."""
    names, table, settings = found.names, found.table, found.settings
    order = np.argsort(-settings.sign * found.means, kind="stable")
    told = table.adjusted_p <= settings.alpha
    alone = exact_interval(table, 0, found.n, settings, found.board) if len(names) == 2 else None
    # One statement: two models are told apart only if the interval that is printed says so too.
    if alone is not None and table.holds_below is None and not table.unsettled:
        told = told & (0 not in alone)
    lead = settings.sign * _lead(found)
    ranked = ranks(table.first, table.second, np.where(told, np.sign(lead), 0), order)
    pairs = _pair_rows(found, order, told, alone)
    models = _model_rows(found, order, ranked)

    contenders, tiers = ranked.named(names)
    decided = len(contenders) == 1
    a, b = sorted(order[:2].tolist())
    first_two = a * (2 * len(names) - a - 1) // 2 + b - a - 1  # as numpy.triu_indices lists them
    sample = found.sample or SampleSize(found.n, share=found.unit == "share")
    needed = (
        None
        if decided
        else needed_for(pairs[0], table, first_two, sample, len(names), settings, found.board)
    )
    spread = float(found.means.max() - found.means.min())
    detectable = found.detectable
    assumptions = list(found.assumptions)
    if len(names) > 2 and not isinstance(detectable, Unknown):
        assumptions.append(would_be_seen(detectable, settings.power, found.unit))
    result = CompareResult(
        verdict="pending",
        decision="decided" if decided else "undecided",
        needed=needed,
        n_items=found.n,
        assumptions=tuple(assumptions),
        warnings=(
            *found.warnings,
            *without_spread(names, table),
            *unlisted_pairs(len(pairs), table.first.size),
        ),
        seed=found.seed,
        models=models,
        pairs=pairs,
        contenders=contenders,
        tiers=tiers,
        detectable_difference=detectable,
        separable=(
            detectable
            if isinstance(detectable, Unknown)
            else min(len(names), 1 + int(spread / detectable))
        ),
        guarantees=(),
        population=found.population,
        adjustment=table.adjustment,
        alpha=settings.alpha,
        metric=str(settings.passes) if settings.passes else settings.metric,
        better=settings.better,
        estimand=found.estimand,
        unit=found.unit,
        pairs_told=int(told.sum()),
        pairs_total=int(table.first.size),
        clusters=found.clusters,
    )
    return spoken(result)


def _lead(found: Findings) -> Floats:
    """Return who is ahead in each pair, in the sense of what is compared."""
    table = found.table
    if table.unsettled and table.ratio is None:
        return np.asarray(table.first_only - table.second_only)
    return np.asarray(found.means[table.first] - found.means[table.second])


def _model_rows(
    found: Findings, order: npt.NDArray[np.intp], ranked: Ranks
) -> tuple[ModelRow, ...]:
    items = found.item_means
    return tuple(
        ModelRow(
            found.names[j],
            Unknown(found.hidden) if found.hidden else float(found.means[j]),
            found.scores[int(j)],
            (int(ranked.low[j]), int(ranked.high[j])),
            item_score=None if items is None else float(items[j]),
        )
        for j in order
    )


def _pair_rows(
    found: Findings,
    order: npt.NDArray[np.intp],
    told: npt.NDArray[np.bool_],
    alone: Interval | None,
) -> tuple[PairRow, ...]:
    """Return the pairs from the top of the board down, each with the better model first; *alone* if
    there is one.
    """
    names, table = found.names, found.table
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
    return tuple(_pair_row(found, i, bool(upside[i]), bool(told[i]), alone) for i in listed)


def _pair_row(found: Findings, i: int, upside: bool, told: bool, alone: Interval | None) -> PairRow:
    names, table, settings = found.names, found.table, found.settings
    sign = 1.0 if upside else -1.0
    a, b = (table.first[i], table.second[i]) if upside else (table.second[i], table.first[i])
    only = (table.first_only[i], table.second_only[i])
    # "Only a" counts items on which a is better: for signs and a lower score, the smaller ones.
    if upside == (settings.sign > 0 or not table.unsettled):
        a_only, b_only = only
    else:
        b_only, a_only = only
    difference = sign * float(table.difference[i])
    hidden = Unknown(table.unsettled or "some disagreements have no true label")
    own: Interval | Unknown = _turned(alone or table.intervals[i], sign)
    # Of one pair, "all pairs at once" is the pair itself: one difference has one interval.
    one_pair = table.first.size == 1
    joint: Interval | Unknown = own if one_pair else _turned(table.simultaneous[i], sign)
    return PairRow(
        a=names[a],
        b=names[b],
        difference=hidden if np.isnan(difference) else difference,
        interval=hidden if table.unsettled else own,
        simultaneous=hidden if table.unsettled else joint,
        a_only=_count(a_only),
        b_only=_count(b_only),
        p_value=float(table.p_value[i]),
        adjusted_p=float(table.adjusted_p[i]),
        verdict=f"{names[a]} is better" if told else NOT_TOLD,
        holds_below=None if table.holds_below is None else float(table.holds_below[i]),
        ratio=None if table.ratio is None else float(table.ratio[i] ** sign),
        ratio_interval=_inverted(table, i, upside),
    )


def _inverted(table: PairTable, i: int, upside: bool) -> Interval | None:
    """Return the interval of the ratio a/b."""
    if table.ratio_intervals is None:
        return None
    held = table.ratio_intervals[i]
    if upside:
        return held
    low = 0.0 if np.isinf(held.high) else 1 / held.high
    return replace(held, low=low, high=np.inf if held.low == 0 else 1 / held.low)


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
    result = with_left_out(result, board.left_out)
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
