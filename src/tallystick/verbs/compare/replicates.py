"""Several runs per item: pass@k and pass^k as scores, and how much runs and items vary.

Item values are scores in [0, 1], compared on new items like any bounded score; their intervals are
those of docs/theory/compare.md, *Several runs per item*. Beside them stands the interval for new
runs of these items, and what more runs could still buy.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tallystick.errors import InputError, NotIdentifiable
from tallystick.results import Interval, Unknown
from tallystick.stats.power import runs_per_item, variance_parts
from tallystick.stats.replicates import item_values, new_items, new_items_difference, these_items
from tallystick.verbs.compare.question import PassMetric
from tallystick.verbs.compare.result import NOT_TOLD, CompareResult, ModelRow, PairRow, Replicates
from tallystick.verbs.compare.verdict import purchase, spoken

if TYPE_CHECKING:
    from tallystick.verbs.compare.board import Board
    from tallystick.verbs.compare.question import Settings


def pass_board(board: Board, passes: PassMetric) -> Board:
    """Return the board with pass@k (or pass^k) of each item as its score.

    Examples
    --------
    >>> from tallystick.verbs.compare.board import Board
    >>> board = Board(
    ...     names=("a",), scores=np.array([[0.3]]), right=np.array([[3.0]]), runs=np.array([[10.0]])
    ... )
    >>> pass_board(board, PassMetric("pass@k", 5)).scores.round(4).tolist()
    [[0.9167]]
    """
    if board.right is None or board.runs is None:
        raise InputError(
            f"{passes} needs several runs per item with scores of 0 and 1: give logs with epochs,"
            " or name the items and the column that numbers the runs (--item, --replicate)"
        )
    columns = [
        item_values(board.right[:, j], board.runs[:, j], k=passes.k, kind=passes.kind)
        for j in range(len(board.names))
    ]
    return replace(board, scores=np.stack(columns, axis=1))


def with_replicates(result: CompareResult, board: Board, settings: Settings) -> CompareResult:
    """Add what several runs per item say; a board with one run per item is left as it is."""
    if board.runs is None or board.runs.max() < 2:
        return result
    found = replace(result, replicates=_variances(result, board))
    plain = board.clusters is None and board.weights is None
    if board.right is not None and plain:
        found = replace(
            found,
            models=tuple(_model(row, board, settings) for row in found.models),
            pairs=_pairs(found, board, settings),
            estimand=settings.passes.kind if settings.passes else found.estimand,
        )
        found = _still_apart(found)
    text = purchase(found)
    if text is not None:
        found = replace(found, assumptions=(*found.assumptions, text))
    return spoken(found)


def _model(row: ModelRow, board: Board, settings: Settings) -> ModelRow:
    """Return the row with the interval for new items, and that for new runs of these items."""
    j = board.place(row.name)
    over_items = new_items(board.scores[:, j], alpha=settings.alpha)
    passes = settings.passes or PassMetric("pass@k", 1)
    assert board.right is not None
    assert board.runs is not None
    runs: Interval | Unknown
    try:
        over_runs = these_items(
            board.right[:, j],
            board.runs[:, j],
            k=passes.k,
            kind=passes.kind,
            alpha=settings.alpha,
        )
        runs = _interval(over_runs.low, over_runs.high, settings, "new runs")
    except NotIdentifiable as error:
        runs = Unknown(str(error))
    return replace(
        row,
        interval=_interval(over_items.low, over_items.high, settings, "adverse likelihood"),
        runs_interval=runs,
    )


def _pairs(result: CompareResult, board: Board, settings: Settings) -> tuple[PairRow, ...]:
    """Return the pairs with their own intervals for new items."""
    rows = []
    for row in result.pairs:
        a, b = (board.scores[:, board.place(name)] for name in (row.a, row.b))
        found = new_items_difference(a, b, alpha=settings.alpha)
        own = _interval(found.low, found.high, settings, "adverse likelihood")
        rows.append(replace(row, interval=own))
    return tuple(rows)


def _still_apart(result: CompareResult) -> CompareResult:
    """Two models are told apart only if the interval that is printed says so too."""
    [first, *rest] = result.pairs
    if rest or first.verdict == NOT_TOLD or isinstance(first.interval, Unknown):
        return result
    if 0 not in first.interval:
        return result
    names = tuple(row.name for row in result.models)
    return replace(
        result,
        decision="undecided",
        pairs=(replace(first, verdict=NOT_TOLD),),
        contenders=names,
        tiers=(names,),
        models=tuple(replace(row, rank_interval=(1, 2)) for row in result.models),
    )


def _variances(result: CompareResult, board: Board) -> Replicates:
    """Split the variance of the two best models' difference into runs and items."""
    assert board.runs is not None
    runs = board.runs
    fewest, most = int(runs.min()), int(runs.max())
    why = "variance over runs needs at least two runs of every item, with scores of 0 and 1"
    if board.right is None or fewest < 2:
        unknown = Unknown(why)
        return Replicates(fewest, most, unknown, unknown, unknown, unknown)
    a, b = (board.place(row.name) for row in result.models[:2])
    parts = variance_parts(board.right[:, a], runs[:, a], against=(board.right[:, b], runs[:, b]))
    best: float | Unknown = Unknown("prices were not given (--prices ITEM,RUN)")
    if board.prices is not None:
        best = runs_per_item(parts, item_price=board.prices[0], run_price=board.prices[1])
    return Replicates(fewest, most, parts.within, parts.between, float(np.sqrt(parts.floor)), best)


def _interval(low: float, high: float, settings: Settings, method: str) -> Interval:
    return Interval(low, high, level=1 - settings.alpha, guarantee="approximate", method=method)
