"""The answer: from a board or its moments to ranks, pairs and a verdict."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from tallystick._rng import Rng, as_rng, seed_of
from tallystick.compare.assemble import assemble, finish
from tallystick.compare.board import Board
from tallystick.compare.clusters import (
    cluster_errors,
    pairs_of_new_clusters,
    pairs_of_same_clusters,
    with_floor,
)
from tallystick.compare.detectable import detectable_by_errors, detectable_by_items
from tallystick.compare.guarantees import guarantees
from tallystick.compare.pairing import (
    FREE,
    Bounds,
    affordable_draws,
    is_binary,
    is_flat,
    pairs_of_items,
)
from tallystick.compare.partial import pairs_with_blanks
from tallystick.compare.result import CompareResult
from tallystick.compare.settings import Settings
from tallystick.compare.verdicts import SampleSize
from tallystick.errors import InputError
from tallystick.results import Unknown
from tallystick.stats.intervals import Intervals, clopper_pearson, pseudo_t

if TYPE_CHECKING:
    from tallystick.tally import Moments

__all__ = ["leaderboard", "rank"]

Floats = npt.NDArray[np.float64]

FEW_CLUSTERS = 30
"""Degrees of freedom below which the reader is warned."""


def rank(board: Board, *, settings: Settings | None = None, rng: Rng = 0) -> CompareResult:
    """Rank the models of a board.

    Parameters
    ----------
    board
        The scores.
    settings
        Level, bounds, population.
    rng
        Seed of the draws.

    Examples
    --------
    >>> board = Board.of({"old": [1, 0, 0, 0] * 50, "new": [1, 1, 0, 1] * 50})
    >>> rank(board).contenders
    ('new',)
    """
    chosen = settings or Settings()
    if board.answers is not None:
        return _with_blanks(board, chosen)
    _check_bounds(board, chosen.bounds)
    if board.clusters is not None or board.weights is not None:
        return _clustered(board, chosen)
    result = leaderboard(board.moments(), settings=chosen, rng=rng)
    return finish(result, board)


def leaderboard(
    moments: Moments, *, settings: Settings | None = None, rng: Rng = 0
) -> CompareResult:
    """Rank models from the moments of their scores alone: counted on any engine, merged from any
    shards.

    Moments by cluster (``Moments.of(…, by=…)``) answer for new clusters if the settings say so; for
    new items of the same clusters the board itself is needed (:func:`rank`).

    Examples
    --------
    >>> from tallystick.tally import Moments
    >>> moments = Moments.of({"a": [1, 1, 1, 1, 0] * 40, "b": [1, 1, 1, 0, 0] * 40, "c": [0, 1, 0, 0, 1] * 40})
    >>> [(row.name, row.rank_interval) for row in leaderboard(moments).models]
    [('a', (1, 1)), ('b', (2, 2)), ('c', (3, 3))]
    """
    chosen = settings or Settings()
    names, n = moments.names, int(moments.n)
    _check_size(names, n)
    if chosen.population == "clusters":
        if not moments.groups:
            raise InputError("population 'clusters' needs clusters: name the column (--cluster)")
        binary = is_binary(moments)
        bounds = chosen.bounds or ((0.0, 1.0) if binary else None)
        return _new_clusters(
            names,
            moments.group_counts,
            moments.group_sums,
            n=n,
            bounds=bounds,
            settings=chosen,
            unit="cluster",
        )
    if moments.weighted:
        raise InputError("weighted items are compared from the board itself: use compare.evaluate")
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
    assumptions = ["items are independent draws from the population that the answer is about"]
    assumptions += [FREE] if free else []
    costs = guarantees(moments, table, bounds=chosen.bounds, alpha=chosen.alpha)
    if len(names) > 2:
        times = "" if draws == chosen.draws else f" ({draws:,} for so many pairs)"
        fewer = ", ".join(f"{row.name} tells {row.pairs:,} pairs apart" for row in costs[:-1])
        assumptions.append(
            f"pairs: step-down max-T, whose normal draws{times} hold the family-wise error for many"
            f" items; with less assumed, {fewer}"
        )
    found = assemble(
        names,
        table,
        scores,
        means,
        n=n,
        settings=chosen,
        population="new items",
        detectable=detectable_by_items(table, n, len(names), binary, chosen),
        assumptions=assumptions,
        warnings=_flat_models(names, flat, binary) + _undeclared(moments, free),
        seed=seed_of(rng),
    )
    return replace(found, guarantees=costs)


def _clustered(board: Board, settings: Settings) -> CompareResult:
    moments = board.moments()
    n = board.n
    _check_size(board.names, n)
    in_unit = bool(np.isin(board.scores, (0.0, 1.0)).all())
    bounds = settings.bounds or ((0.0, 1.0) if in_unit else None)
    if board.weights is not None and (board.clusters is None or settings.population == "items"):
        if board.clusters is not None:
            raise InputError(
                "weights with clusters answer for new clusters only: ask for them (--population"
                " clusters)"
            )
        sums = board.weights[:, None] * board.scores
        used = board.weights > 0
        result = _new_clusters(
            board.names,
            board.weights[used],
            sums[used],
            n=n,
            bounds=bounds,
            settings=settings,
            unit="weighted item",
        )
    elif settings.population == "clusters":
        result = _new_clusters(
            board.names,
            moments.group_counts,
            moments.group_sums,
            n=n,
            bounds=bounds,
            settings=settings,
            unit="cluster",
        )
    else:
        table = pairs_of_same_clusters(board, bounds=bounds, alpha=settings.alpha)
        means = board.scores.mean(axis=0)
        scores = _same_cluster_scores(board, bounds, settings.alpha)
        result = assemble(
            board.names,
            table,
            scores,
            means,
            n=n,
            settings=settings,
            population="new items of these clusters",
            detectable=detectable_by_errors(table, settings, len(board.names)),
            assumptions=[
                "items are independent draws within each cluster; the clusters and their shares"
                " stay the same"
            ],
            warnings=[],
            seed=None,
            sample=SampleSize(n, "items", of_means=True),
        )
    return finish(result, board)


def _new_clusters(
    names: tuple[str, ...],
    counts: Floats,
    sums: Floats,
    *,
    n: int,
    bounds: Bounds | None,
    settings: Settings,
    unit: str,
) -> CompareResult:
    table = pairs_of_new_clusters(counts, sums, bounds=bounds, alpha=settings.alpha)
    means, errors, freedom = cluster_errors(counts, sums)
    errors = with_floor(errors, counts, sums, bounds)
    half = float(stdtrit(freedom, 1 - settings.alpha / 2)) * errors
    low, high = bounds or (-np.inf, np.inf)
    ends = np.clip(means - half, low, high), np.clip(means + half, low, high)
    method = "cr2"
    scores = Intervals(*ends, level=1 - settings.alpha, guarantee="approximate", method=method)
    warnings = []
    if freedom < FEW_CLUSTERS:
        warnings.append(
            f"the {len(counts)} {unit}s are worth {freedom:.1f} degrees of freedom (unequal sizes"
            " count for less): intervals and p-values are approximate, at .92 to .96 for nominal"
            " .95 in simulations"
        )
    return assemble(
        names,
        table,
        scores,
        means,
        n=n,
        settings=settings,
        population=f"new {unit}s",
        detectable=detectable_by_errors(table, settings, len(names)),
        assumptions=[f"{unit}s are independent draws from the population that the answer is about"],
        warnings=warnings,
        seed=None,
        sample=SampleSize(len(counts), f"{unit}s", of_means=True),
    )


def _with_blanks(board: Board, settings: Settings) -> CompareResult:
    _check_size(board.names, board.n)
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
    assumptions = ["items are independent draws from the population that the answer is about"]
    assumptions += (
        ["nothing on the blank labels"]
        if settings.blanks == "any"
        else ["blanks were left out at random"]
    )
    result = assemble(
        board.names,
        table,
        scores,
        right / board.n,
        n=board.n,
        settings=settings,
        population="new items",
        detectable=Unknown("labels are missing: see needed"),
        assumptions=assumptions,
        warnings=[f"{blank} of {board.n} items have no true label"],
        seed=None,
        hidden=f"{blank} of {board.n} true labels are blank",
        board=board,
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


def _same_cluster_scores(board: Board, bounds: Bounds | None, alpha: float) -> Intervals:
    """Score each model against one that always scores 0: the pair's interval is that of the
    mean.
    """
    zero = Board(
        names=(*board.names, "\0"),
        scores=np.hstack([board.scores, np.zeros((board.n, 1))]),
        clusters=board.clusters,
    )
    table = pairs_of_same_clusters(zero, bounds=bounds, alpha=alpha)
    against = table.second == len(board.names)
    low, high = table.intervals.low[against], table.intervals.high[against]
    if bounds is not None:
        low, high = np.clip(low, *bounds), np.clip(high, *bounds)
    return Intervals(low, high, level=1 - alpha, guarantee="approximate", method="stratified")


def _check_bounds(board: Board, bounds: Bounds | None) -> None:
    if bounds is None:
        return
    outside = (board.scores < bounds[0]) | (board.scores > bounds[1])
    if outside.any():
        row, column = (int(i[0]) for i in np.nonzero(outside))
        item = f"item {board.items[row]!r}" if board.items is not None else f"row {row + 1}"
        raise InputError(
            f"{item}: the score {board.scores[row, column]:g} of {board.names[column]!r} is outside"
            f" the bounds [{bounds[0]:g}, {bounds[1]:g}]: widen the bounds or correct the score"
        )


def _check_size(names: tuple[str, ...], n: int) -> None:
    if len(names) < 2:
        raise InputError(
            f"compare needs at least two models, got {list(names)}: name another column or file"
        )
    if n < 2:
        raise InputError(f"compare needs at least two items that all models answered, got {n}")


def _flat_models(names: tuple[str, ...], flat: npt.NDArray[np.bool_], binary: bool) -> list[str]:
    found = [name for name, one in zip(names, flat, strict=True) if one]
    if not found:
        return []
    shown = ", ".join(found[:5]) + (f" and {len(found) - 5} more" if len(found) > 5 else "")
    why = "all right or all wrong" if binary else "the same score on every item: is it a score?"
    return [f"{shown}: {why}"]


def _undeclared(moments: Moments, free: bool) -> list[str]:
    """Say that bounds would help where scores look as if they had some: a mean square above the
    mean breaks [0, 1].
    """
    sums, squares = moments.sums, np.diag(moments.products)
    if not free or (sums < 0).any() or (squares > sums).any():
        return []
    return [
        "scores look like shares in [0, 1]: if they are, declare it (--bounds 0,1) and need no"
        " normal assumption"
    ]
