"""The answer: from a board or its moments to ranks, pairs and a verdict."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from tallystick._rng import Rng, as_rng, seed_of
from tallystick.compare.assemble import Findings, assemble, finish
from tallystick.compare.board import Board
from tallystick.compare.detectable import detectable_by_items
from tallystick.compare.guarantees import guarantees
from tallystick.compare.pairing import (
    FREE,
    affordable_draws,
    is_binary,
    is_flat,
    pairs_of_items,
)
from tallystick.compare.partial import pairs_with_blanks
from tallystick.compare.rank_clusters import cluster_sample, rank_clustered, rank_new_clusters
from tallystick.compare.replicates import pass_board, with_replicates
from tallystick.compare.result import CompareResult
from tallystick.compare.score_range import (
    check_bounds,
    check_size,
    score_range,
    unit_of,
)
from tallystick.compare.settings import Settings
from tallystick.compare.skewed import RARE, skewed_board
from tallystick.compare.verdict_notes import (
    INDEPENDENT,
    SHARES,
    flat_models,
    no_true_label,
    shown_levels,
    undeclared_bounds,
)
from tallystick.errors import InputError
from tallystick.results import Unknown
from tallystick.stats.intervals import Intervals, clopper_pearson, pseudo_t

if TYPE_CHECKING:
    from tallystick.tally import Moments

__all__ = ["leaderboard", "rank"]

Floats = npt.NDArray[np.float64]


def rank(board: Board, *, settings: Settings | None = None, rng: Rng = 0) -> CompareResult:
    """Rank the models of a board.

    Parameters
    ----------
    board
        The scores.
    settings
        Level, bounds, population, direction.
    rng
        Seed of the draws.

    Examples
    --------
    >>> board = Board.of({"old": [1, 0, 0, 0] * 50, "new": [1, 1, 0, 1] * 50})
    >>> rank(board).contenders
    ('new',)
    """
    chosen = settings or Settings()
    if chosen.population == "clusters" and board.clusters is None:
        raise InputError("population 'clusters' needs clusters: name the column (--cluster)")
    if board.answers is not None:
        return _with_blanks(board, chosen)
    if chosen.passes is not None:
        board = pass_board(board, chosen.passes)
        chosen = replace(chosen, bounds=(0.0, 1.0))
    check_bounds(board, chosen.bounds)
    binary = board.right is not None or bool(np.isin(board.scores, (0.0, 1.0)).all())
    bounds = score_range(board.scores, chosen, binary=binary)
    taken = bounds is not None and chosen.bounds is None and not binary

    if board.clusters is not None or board.weights is not None:
        result = rank_clustered(board, chosen, bounds, rng)
    elif bounds is None:
        result = _unbounded(board, chosen)
    else:
        result = leaderboard(board.moments(), settings=replace(chosen, bounds=bounds), rng=rng)
    if taken:
        result = replace(result, assumptions=(*result.assumptions, SHARES))
    return finish(with_replicates(result, board, chosen), board)


def leaderboard(
    moments: Moments, *, settings: Settings | None = None, rng: Rng = 0
) -> CompareResult:
    """Rank models from the moments of their scores alone: counted on any engine, merged from any
    shards.

    Moments by cluster (``Moments.of(…, by=…)``) answer for new clusters; for new items of the same
    clusters the board itself is needed (:func:`rank`). Unbounded scores get Student's t here, with
    its assumption named: their skewness is not in the moments, so :func:`rank` does better.

    Examples
    --------
    >>> from tallystick.tally import Moments
    >>> moments = Moments.of({"a": [1, 1, 1, 1, 0] * 40, "b": [1, 1, 1, 0, 0] * 40, "c": [0, 1, 0, 0, 1] * 40})
    >>> [(row.name, row.rank_interval) for row in leaderboard(moments).models]
    [('a', (1, 1)), ('b', (2, 2)), ('c', (3, 3))]
    """
    chosen = settings or Settings()
    names, n = moments.names, int(moments.n)
    check_size(names, n)
    if chosen.population == "clusters" and not moments.groups:
        raise InputError("population 'clusters' needs clusters: name the column (--cluster)")
    if moments.groups and chosen.population != "items":
        binary = is_binary(moments)
        return rank_new_clusters(
            names,
            cluster_sample(moments),
            n=n,
            bounds=chosen.bounds or ((0.0, 1.0) if binary else None),
            settings=chosen,
            rng=rng,
        )
    if moments.weighted:
        raise InputError("weighted items are compared from the board itself: use compare.evaluate")
    return _independent(moments, chosen, rng)


def _independent(moments: Moments, chosen: Settings, rng: Rng) -> CompareResult:
    """Rank models on independent items: max-T over all pairs."""
    names, n = moments.names, int(moments.n)
    draws = affordable_draws(len(names), chosen.draws)
    table = pairs_of_items(
        moments,
        bounds=chosen.bounds,
        alpha=chosen.alpha,
        rng=as_rng(rng),
        draws=draws,
        mid_p=chosen.mid_p,
    )
    binary = is_binary(moments)
    means = moments.means
    variance = np.diag(moments.centred) / max(n - 1, 1)
    flat = is_flat(variance, 0.0, np.diag(moments.products) / n)
    scores = _score_intervals(moments.sums, means, variance, n, binary, flat, chosen)
    free = not binary and chosen.bounds is None
    assumptions = [INDEPENDENT, *([FREE] if free else [])]
    costs = guarantees(moments, table, bounds=chosen.bounds, alpha=chosen.alpha)
    if len(names) > 2:
        times = "" if draws == chosen.draws else f" ({draws:,} for so many pairs)"
        fewer = ", ".join(f"{row.name} tells {row.pairs:,} pairs apart" for row in costs[:-1])
        assumptions.append(
            f"pairs: step-down max-T, whose normal draws{times} hold the family-wise error for many"
            f" items; with less assumed, {fewer}"
        )
    unit = "share" if binary else unit_of(chosen.bounds)
    found = assemble(
        Findings(
            names=names,
            table=table,
            scores=scores,
            means=means,
            n=n,
            settings=chosen,
            population="new items",
            detectable=detectable_by_items(table, n, len(names), binary, chosen),
            assumptions=assumptions,
            warnings=flat_models(names, flat, binary),
            seed=seed_of(rng),
            unit=unit,
        )
    )
    return replace(found, guarantees=costs)


def _unbounded(board: Board, chosen: Settings) -> CompareResult:
    """Rank models by an unbounded score: the mean where the sample settles it, else the typical
    ratio or the signs.
    """
    check_size(board.names, board.n)
    found = skewed_board(board.scores, alpha=chosen.alpha)
    # Only rounding: a mean of runs is off by a few of the smallest steps between two numbers.
    flat = np.ptp(board.scores, axis=0) <= 8 * np.spacing(np.abs(board.scores).max(axis=0))
    rare = RARE.format(max(2, -(-board.n // 3)), "items")
    k = len(board.names)
    detectable: float | Unknown = (
        detectable_by_items(found.table, board.n, k, False, chosen)
        if found.shown == "mean"
        else Unknown(found.table.unsettled)
    )
    return assemble(
        Findings(
            names=board.names,
            table=found.table,
            scores=found.intervals,
            means=found.levels,
            n=board.n,
            settings=chosen,
            population="new items",
            detectable=detectable,
            assumptions=[
                INDEPENDENT,
                *([] if found.shown == "signs" else [rare]),
                *shown_levels(found.shown),
            ],
            warnings=flat_models(board.names, flat, False) + undeclared_bounds(board.scores),
            seed=None,
            unit="number",
            estimand=found.shown,
        )
    )


def _with_blanks(board: Board, settings: Settings) -> CompareResult:
    check_size(board.names, board.n)
    if board.clusters is not None or board.weights is not None:
        raise InputError(
            "clusters and weights need every true label: fill in the blanks, or compare without"
            " them"
        )
    table = pairs_with_blanks(board, alpha=settings.alpha, blanks=settings.blanks)
    known = board.known
    right, blank = board.scores[known].sum(axis=0), int((~known).sum())
    low = clopper_pearson(right, board.n, alpha=settings.alpha).low
    high = clopper_pearson(right + blank, board.n, alpha=settings.alpha).high
    scores = Intervals(
        low, high, level=1 - settings.alpha, guarantee="exact", method="clopper-pearson with blanks"
    )
    blanks = (
        "nothing on the blank labels"
        if settings.blanks == "any"
        else "blanks were left out at random"
    )
    result = assemble(
        Findings(
            names=board.names,
            table=table,
            scores=scores,
            means=right / board.n,
            n=board.n,
            settings=settings,
            population="new items",
            detectable=Unknown("labels are missing: see needed"),
            assumptions=[INDEPENDENT, blanks],
            warnings=[f"{blank} of {board.n} items have no true label"],
            seed=None,
            hidden=no_true_label(blank, board.n),
            board=board,
        )
    )
    return finish(result, board)


def _score_intervals(
    sums: Floats,
    means: Floats,
    variance: Floats,
    n: int,
    binary: bool,
    flat: npt.NDArray[np.bool_],
    settings: Settings,
) -> Intervals:
    if binary:
        return clopper_pearson(sums, n, alpha=settings.alpha)
    if settings.bounds is not None:
        return pseudo_t(means, variance, n, alpha=settings.alpha, bounds=settings.bounds)
    half = float(stdtrit(n - 1, 1 - settings.alpha / 2)) * np.where(
        flat, np.inf, np.sqrt(variance / n)
    )
    ends = means - half, means + half
    return Intervals(
        *ends, level=1 - settings.alpha, guarantee="under", assumption=FREE, method="t"
    )
