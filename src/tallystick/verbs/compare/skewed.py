"""All pairs of models by an unbounded score: the mean where the sample settles it.

Latency, cost and tokens are skewed, and a mean of few of them is not settled. (K4) says from how
many items on it is; otherwise all pairs are compared by their typical ratio, or, with zeros or
negative scores, by how often each is larger. One estimand serves the whole board, so that its
ranks speak of one thing. docs/theory/compare.md, *Skewed scores*.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, inf
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError, NotIdentifiable
from tallystick.results import Interval, Unknown
from tallystick.stats.exact_tails import binomial_up_to
from tallystick.stats.intervals import Intervals
from tallystick.stats.maxt import holm
from tallystick.stats.power import runs_per_item, variance_parts
from tallystick.stats.replicates import item_values, new_items, new_items_difference, these_items
from tallystick.stats.signs import sign_p_value
from tallystick.stats.skewed import FEWEST, Shown, hull_ends, mean_rule
from tallystick.verbs.compare.pairs import PairTable
from tallystick.verbs.compare.question import PassMetric
from tallystick.verbs.compare.result import NOT_TOLD, CompareResult, ModelRow, PairRow, Replicates
from tallystick.verbs.compare.verdict import purchase, spoken

if TYPE_CHECKING:
    from tallystick.verbs.compare.board import Board
    from tallystick.verbs.compare.question import Settings

Floats = npt.NDArray[np.float64]

RARE = "nothing rarer than 1 in {:,} {} moves the mean"
"""What every summary of an unbounded score assumes of what did not occur."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SkewedBoard:
    """What may be said of models by an unbounded score.

    Parameters
    ----------
    shown
        ``mean``, ``ratio`` or ``signs``: what is compared.
    table
        All pairs.
    levels
        What ranks the models: their means, geometric means or medians.
    intervals
        For each of these.
    needed
        (K4): the items from which the means of every pair can be relied on.
    """

    shown: Shown
    table: PairTable
    levels: Floats
    intervals: Intervals
    needed: float


def skewed_board(scores: Floats, *, alpha: float = 0.05, unit: str = "items") -> SkewedBoard:
    """Compare all pairs of columns of *scores* by the summary that the sample supports.

    Parameters
    ----------
    scores
        Items (or cluster means) x models, unbounded.
    alpha
        One minus the level; pairs are adjusted by Holm.
    unit
        What a row is, for the assumption.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.lognormal(0, [1.5, 0.5], (40, 2))
    >>> found = skewed_board(scores)
    >>> found.shown, found.table.ratio.round(2).tolist()
    ('ratio', [1.01])
    """
    x = np.asarray(scores, dtype=float)
    if x.ndim != 2 or len(x) < 2:
        raise InputError(f"scores must be at least two rows x models, got shape {x.shape}")
    first, second = np.triu_indices(x.shape[1], 1)
    needed = max(mean_rule(x[:, a], x[:, b]).needed for a, b in zip(first, second, strict=True))
    shown: Shown = "mean" if len(x) >= needed else "ratio" if x.min() > 0 else "signs"
    if shown == "signs":
        return _by_signs(x, first, second, alpha, needed)
    y = x if shown == "mean" else np.log(x)
    rare = RARE.format(max(2, ceil(len(x) / 3)), unit)
    return _by_hull(x, y, first, second, alpha, needed, rare)


def _by_hull(
    x: Floats,
    y: Floats,
    first: npt.NDArray[np.intp],
    second: npt.NDArray[np.intp],
    alpha: float,
    needed: float,
    rare: str,
) -> SkewedBoard:
    """Compare by the hull of t and Hall, on the scores or on their logarithms."""
    of_ratio = y is not x
    gaps = (y[:, first] - y[:, second]).T
    alone = _ends(gaps, alpha, rare)
    joint = _ends(gaps, alpha / first.size, rare, level=1 - alpha)
    own = hull_ends(gaps, alpha=alpha)
    # All differences equal: nothing says how much they vary, so nothing is told apart.
    p_value = np.where(np.isnan(own.p_value), 1.0, own.p_value)
    # Measured from the first item: 1e18 + 1, 1e18 + 2, … vary, though little beside their size.
    base = y[0]
    levels, score_ends = (
        base + (y - base).mean(axis=0),
        _shifted(_ends((y - base).T, alpha, rare), base),
    )
    unknown = np.full(first.size, np.nan)
    free = np.full(first.size, inf)
    no_mean = Intervals(-free, free, level=1 - alpha, guarantee="approximate", method="none")
    table = PairTable(
        first=first,
        second=second,
        difference=unknown if of_ratio else np.asarray(own.mean),
        first_only=unknown,
        second_only=unknown,
        spread=np.asarray(gaps.std(axis=1, ddof=1)),
        intervals=no_mean if of_ratio else alone,
        simultaneous=no_mean if of_ratio else joint,
        p_value=p_value,
        adjusted_p=p_value if first.size == 1 else holm(p_value),
        adjustment="none: one pair" if first.size == 1 else "Holm",
        ratio=np.exp(own.mean) if of_ratio else None,
        ratio_intervals=_exp(joint if first.size > 1 else alone) if of_ratio else None,
        unsettled=_why(needed, len(x)) if of_ratio else "",
    )
    return SkewedBoard(
        shown="ratio" if of_ratio else "mean",
        table=table,
        levels=np.exp(levels) if of_ratio else levels,
        intervals=_exp(score_ends) if of_ratio else score_ends,
        needed=needed,
    )


def _by_signs(
    x: Floats,
    first: npt.NDArray[np.intp],
    second: npt.NDArray[np.intp],
    alpha: float,
    needed: float,
) -> SkewedBoard:
    """Compare by how often each model is larger, with the exact sign test."""
    larger = (x[:, first] > x[:, second]).sum(axis=0).astype(float)
    smaller = (x[:, first] < x[:, second]).sum(axis=0).astype(float)
    p_value = np.array([sign_p_value(int(b), int(c)) for b, c in zip(larger, smaller, strict=True)])
    free = np.full(first.size, inf)
    none = Intervals(-free, free, level=1 - alpha, guarantee="approximate", method="none")
    table = PairTable(
        first=first,
        second=second,
        difference=np.full(first.size, np.nan),
        first_only=larger,
        second_only=smaller,
        spread=np.full(first.size, np.nan),
        intervals=none,
        simultaneous=none,
        p_value=p_value,
        adjusted_p=p_value if first.size == 1 else holm(p_value),
        adjustment="none: one pair" if first.size == 1 else "Holm",
        unsettled=_why(needed, len(x)),
    )
    levels, ends = median_intervals(x, alpha=alpha)
    return SkewedBoard(shown="signs", table=table, levels=levels, intervals=ends, needed=needed)


def median_intervals(scores: Floats, *, alpha: float = 0.05) -> tuple[Floats, Intervals]:
    """Return the median of each column with its exact interval between two order statistics.

    Examples
    --------
    >>> levels, ends = median_intervals(np.arange(20.0)[:, None])
    >>> levels.tolist(), ends.low.tolist(), ends.high.tolist()
    ([9.5], [5.0], [14.0])
    """
    ordered = np.sort(scores, axis=0)
    n = len(ordered)
    ranks = np.arange(n // 2)
    tail = np.asarray(binomial_up_to(ranks, np.full(ranks.size, n), 0.5))
    # The lower end is the (d+1)-th smallest for the largest d with P(Bin(n, ½) ≤ d) ≤ α/2.
    inside = np.flatnonzero(tail <= alpha / 2)
    if inside.size:
        cut = int(inside[-1])
        low, high = ordered[cut], ordered[n - 1 - cut]
    else:
        low, high = np.full(ordered.shape[1], -inf), np.full(ordered.shape[1], inf)
    ends = Intervals(low, high, level=1 - alpha, guarantee="exact", method="median")
    return np.asarray(np.median(ordered, axis=0)), ends


def _ends(rows: Floats, alpha: float, rare: str, *, level: float | None = None) -> Intervals:
    found = hull_ends(rows, alpha=alpha)
    low = np.where(np.isnan(found.low), -inf, found.low)
    high = np.where(np.isnan(found.high), inf, found.high)
    return Intervals(
        low,
        high,
        level=1 - alpha if level is None else level,
        guarantee="under",
        assumption=rare,
        method="hull",
    )


def _shifted(found: Intervals, by: Floats) -> Intervals:
    return replace(found, low=found.low + by, high=found.high + by)


def _exp(found: Intervals) -> Intervals:
    return Intervals(
        np.exp(found.low),
        np.exp(found.high),
        level=found.level,
        guarantee=found.guarantee,
        assumption=found.assumption,
        method="hull of logarithms",
    )


def _why(needed: float, n: int) -> str:
    why = f"the mean is not settled by {n:,} items"
    # (K4) asks for this many of any score, skewed or not.
    if needed <= FEWEST:
        return f"{why}: that takes at least {FEWEST}"
    return f"{why}: scores this skewed need about {ceil(needed):,}"


# Several runs per item: pass@k and pass^k as scores, and how much runs and items vary.
#
# Item values are scores in [0, 1], compared on new items like any bounded score; their intervals
# are those of docs/theory/compare.md, *Several runs per item*. Beside them stands the interval for
# new runs of these items, and what more runs could still buy.


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
