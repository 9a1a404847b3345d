"""The answer: from a board or its moments to ranks, pairs and a verdict."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from tallystick._rng import Rng, as_rng, seed_of
from tallystick.compare.assemble import Findings, assemble, finish
from tallystick.compare.board import Board
from tallystick.compare.clusters import (
    cluster_errors,
    pairs_of_new_clusters,
    pairs_of_same_clusters,
    with_floor,
)
from tallystick.compare.detectable import detectable_by_errors, detectable_by_items
from tallystick.compare.guarantees import guarantees
from tallystick.compare.needed import SampleSize
from tallystick.compare.new_clusters import (
    ClusterSample,
    cluster_score_intervals,
    sign_flip_table,
)
from tallystick.compare.pairing import (
    FREE,
    Bounds,
    affordable_draws,
    is_binary,
    is_flat,
    pairs_of_items,
)
from tallystick.compare.partial import pairs_with_blanks
from tallystick.compare.replicates import pass_board, with_replicates
from tallystick.compare.result import ClusterRow, CompareResult, ModelRow, PairRow
from tallystick.compare.settings import Settings
from tallystick.compare.skewed import RARE, skewed_board
from tallystick.compare.verdict import (
    INDEPENDENT,
    SHARES,
    cluster_assumptions,
    flat_models,
    no_true_label,
    shown_levels,
    undeclared_bounds,
    verdict_of,
)
from tallystick.errors import InputError
from tallystick.results import Unknown
from tallystick.stats.clusters import fewest_clusters
from tallystick.stats.intervals import Intervals, clopper_pearson, pseudo_t

if TYPE_CHECKING:
    from tallystick.tally import Moments

__all__ = ["leaderboard", "rank"]

Floats = npt.NDArray[np.float64]

FEW_WEIGHTED = 30
"""Degrees of freedom of weighted items below which the reader is warned."""


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
    _check_bounds(board, chosen.bounds)
    bounds = chosen.bounds or _known_bounds(board)
    taken = bounds is None and _are_shares(board, chosen)
    bounds = (0.0, 1.0) if taken else bounds

    if board.clusters is not None or board.weights is not None:
        result = _clustered(board, chosen, bounds, rng)
    elif bounds is None:
        result = _unbounded(board, chosen)
    else:
        result = leaderboard(board.moments(), settings=replace(chosen, bounds=bounds), rng=rng)
    if taken:
        result = replace(result, assumptions=(*result.assumptions, SHARES))
    return finish(with_replicates(result, board, chosen), board)


def _are_shares(board: Board, settings: Settings) -> bool:
    """Say whether undeclared scores are shares: they reach 0 or 1 and never leave that range.

    A measurement such as a latency in seconds is not one, whatever its values.
    """
    x = board.scores
    if settings.better == "lower" or x.min() < 0 or x.max() > 1:
        return False
    return bool(x.min() == 0 or x.max() == 1)


def _known_bounds(board: Board) -> Bounds | None:
    """Return (0, 1) for right/wrong scores, also where runs of an item were averaged."""
    if board.right is not None or bool(np.isin(board.scores, (0.0, 1.0)).all()):
        return (0.0, 1.0)
    return None


def _unit(bounds: Bounds | None) -> Literal["share", "number"]:
    return "share" if bounds == (0.0, 1.0) else "number"


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
    _check_size(names, n)
    if chosen.population == "clusters" and not moments.groups:
        raise InputError("population 'clusters' needs clusters: name the column (--cluster)")
    if moments.groups and chosen.population != "items":
        binary = is_binary(moments)
        return _new_clusters(
            names,
            _sample(moments),
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
    unit = "share" if binary else _unit(chosen.bounds)
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
    _check_size(board.names, board.n)
    found = skewed_board(board.scores, alpha=chosen.alpha)
    flat = np.ptp(board.scores, axis=0) <= 1e-12 * np.abs(board.scores).max(axis=0)
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


def _sample(moments: Moments) -> ClusterSample:
    return ClusterSample(
        names=tuple(str(name) for name in moments.groups),
        counts=moments.group_counts,
        sums=moments.group_sums,
    )


def _clustered(board: Board, settings: Settings, bounds: Bounds | None, rng: Rng) -> CompareResult:
    _check_size(board.names, board.n)
    if board.clusters is None:
        return _weighted_items(board, settings, bounds)
    if settings.population == "items":
        if board.weights is not None:
            raise InputError(
                "weights with clusters answer for new clusters only: leave out --population items"
            )
        return _same_clusters(board, settings, bounds)
    sample = _sample(board.moments())
    return _new_clusters(board.names, sample, n=board.n, bounds=bounds, settings=settings, rng=rng)


def _new_clusters(
    names: tuple[str, ...],
    sample: ClusterSample,
    *,
    n: int,
    bounds: Bounds | None,
    settings: Settings,
    rng: Rng,
) -> CompareResult:
    """Rank models on new clusters; too few of them show nothing."""
    clusters = len(sample.counts)
    if clusters < fewest_clusters(settings.alpha):
        return _too_few(names, sample, n=n, bounds=bounds, settings=settings)
    equal = settings.cluster_weight == "equal"
    if bounds is None:
        return _unbounded_clusters(names, sample, n=n, settings=settings)
    table = sign_flip_table(sample, bounds=bounds, settings=settings, rng=rng)
    return assemble(
        Findings(
            names=names,
            table=table,
            scores=cluster_score_intervals(sample, bounds=bounds, settings=settings),
            means=sample.values(settings).scores,
            n=n,
            settings=settings,
            population="new clusters",
            detectable=detectable_by_errors(table, settings, len(names)),
            assumptions=cluster_assumptions(clusters, settings, bounded=True),
            warnings=[],
            seed=seed_of(rng),
            sample=SampleSize(clusters, "clusters", of_means=True, share=_unit(bounds) == "share"),
            unit=_unit(bounds),
            estimand="cluster mean" if equal else "mean",
            clusters=clusters,
            item_means=sample.item_means if equal else None,
        )
    )


def _unbounded_clusters(
    names: tuple[str, ...], sample: ClusterSample, *, n: int, settings: Settings
) -> CompareResult:
    """Compare cluster means of an unbounded score: clusters are then the sample of (K4)."""
    if settings.cluster_weight != "equal":
        raise InputError(
            "unbounded scores are compared by cluster means: leave out --cluster-weight items, or"
            " declare the range of scores (--bounds LO,HI)"
        )
    clusters = len(sample.counts)
    found = skewed_board(sample.means, alpha=settings.alpha, unit="clusters")
    detectable: float | Unknown = (
        detectable_by_items(found.table, clusters, len(names), False, settings)
        if found.shown == "mean"
        else Unknown(found.table.unsettled)
    )
    rare = RARE.format(max(2, -(-clusters // 3)), "clusters")
    return assemble(
        Findings(
            names=names,
            table=found.table,
            scores=found.intervals,
            means=found.levels,
            n=n,
            settings=settings,
            population="new clusters",
            detectable=detectable,
            assumptions=[*cluster_assumptions(clusters, settings, bounded=False), rare],
            warnings=[],
            seed=None,
            sample=SampleSize(clusters, "clusters", share=False),
            unit="number",
            estimand="cluster mean" if found.shown == "mean" else found.shown,
            clusters=clusters,
            item_means=sample.item_means,
        )
    )


def _too_few(
    names: tuple[str, ...],
    sample: ClusterSample,
    *,
    n: int,
    bounds: Bounds | None,
    settings: Settings,
) -> CompareResult:
    """Say that so few clusters show nothing about new ones, and list what they show of these."""
    held = sample.values(settings)
    least = fewest_clusters(settings.alpha)
    why = Unknown(f"{len(sample.counts)} clusters are too few: at least {least} are needed")
    order = np.argsort(-settings.sign * held.scores, kind="stable")
    models = tuple(
        ModelRow(names[j], float(held.scores[j]), why, why, float(sample.item_means[j]))
        for j in order
    )
    pairs = tuple(
        PairRow(
            names[a],
            names[b],
            float(held.scores[a] - held.scores[b]),
            why,
            why,
            why,
            why,
            why,
            why,
            "not told apart",
        )
        for i, a in enumerate(order)
        for b in order[i + 1 :]
    )
    rows = tuple(
        ClusterRow(name, float(count), {names[j]: float(mean[j]) for j in range(len(names))})
        for name, count, mean in zip(sample.names, sample.counts, sample.means, strict=True)
    )
    result = CompareResult(
        verdict="pending",
        decision="unknowable",
        n_items=n,
        assumptions=tuple(cluster_assumptions(len(rows), settings, bounded=False)),
        models=models,
        pairs=pairs,
        contenders=tuple(names[j] for j in order),
        tiers=(tuple(names[j] for j in order),),
        detectable_difference=why,
        separable=why,
        guarantees=(),
        population="new clusters",
        adjustment="none",
        alpha=settings.alpha,
        metric=settings.metric,
        better=settings.better,
        estimand="cluster mean" if settings.cluster_weight == "equal" else "mean",
        unit=_unit(bounds),
        clusters=len(rows),
        per_cluster=rows,
    )
    return replace(result, verdict=verdict_of(result))


def _same_clusters(board: Board, settings: Settings, bounds: Bounds | None) -> CompareResult:
    """Rank models on new items of these clusters."""
    table = pairs_of_same_clusters(board, bounds=bounds, alpha=settings.alpha)
    return assemble(
        Findings(
            names=board.names,
            table=table,
            scores=_same_cluster_scores(board, bounds, settings.alpha),
            means=board.scores.mean(axis=0),
            n=board.n,
            settings=settings,
            population="new items of these clusters",
            detectable=detectable_by_errors(table, settings, len(board.names)),
            assumptions=[
                "items are independent draws within each cluster; the clusters and their shares"
                " stay the same"
            ],
            warnings=[],
            seed=None,
            sample=SampleSize(board.n, "items", of_means=True, share=_unit(bounds) == "share"),
            unit=_unit(bounds),
        )
    )


def _weighted_items(board: Board, settings: Settings, bounds: Bounds | None) -> CompareResult:
    """Rank models on weighted items: each item is a cluster of one, with CR2."""
    assert board.weights is not None
    used = board.weights > 0
    counts, sums = board.weights[used], (board.weights[:, None] * board.scores)[used]
    table = pairs_of_new_clusters(counts, sums, bounds=bounds, alpha=settings.alpha)
    means, errors, freedom = cluster_errors(counts, sums)
    errors = with_floor(errors, counts, sums, bounds)
    half = float(stdtrit(freedom, 1 - settings.alpha / 2)) * errors
    low, high = bounds or (-np.inf, np.inf)
    warnings = []
    if freedom < FEW_WEIGHTED:
        warnings.append(
            f"the {len(counts)} weighted items are worth {freedom:.1f} degrees of freedom (unequal"
            " weights count for less): intervals and p-values are approximate, at .92 to .96 for"
            " nominal .95 in simulations"
        )
    return assemble(
        Findings(
            names=board.names,
            table=table,
            scores=Intervals(
                np.clip(means - half, low, high),
                np.clip(means + half, low, high),
                level=1 - settings.alpha,
                guarantee="approximate",
                method="cr2",
            ),
            means=means,
            n=board.n,
            settings=settings,
            population="new weighted items",
            detectable=detectable_by_errors(table, settings, len(board.names)),
            assumptions=[
                "weighted items are independent draws from the population that the answer is about"
            ],
            warnings=warnings,
            seed=None,
            sample=SampleSize(
                len(counts), "weighted items", of_means=True, share=_unit(bounds) == "share"
            ),
            unit=_unit(bounds),
        )
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
