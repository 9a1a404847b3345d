"""Rank models whose items come in clusters, or carry weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtrit

from tallystick._rng import Rng, seed_of
from tallystick.compare.assemble import Findings, assemble
from tallystick.compare.board import Board
from tallystick.compare.clusters import (
    cluster_errors,
    pairs_of_new_clusters,
    pairs_of_same_clusters,
    with_floor,
)
from tallystick.compare.detectable import detectable_by_errors, detectable_by_items
from tallystick.compare.needed import SampleSize
from tallystick.compare.new_clusters import (
    ClusterSample,
    cluster_score_intervals,
    sign_flip_table,
)
from tallystick.compare.pairing import Bounds
from tallystick.compare.result import ClusterRow, CompareResult, ModelRow, PairRow
from tallystick.compare.score_range import check_size, unit_of
from tallystick.compare.settings import Settings
from tallystick.compare.skewed import RARE, skewed_board
from tallystick.compare.verdict import spoken
from tallystick.compare.verdict_notes import cluster_assumptions
from tallystick.errors import InputError
from tallystick.results import Unknown
from tallystick.stats.clusters import fewest_clusters
from tallystick.stats.intervals import Intervals

if TYPE_CHECKING:
    from tallystick.tally import Moments

__all__ = ["cluster_sample", "rank_clustered", "rank_new_clusters"]

FEW_WEIGHTED = 30
"""Degrees of freedom of weighted items below which the reader is warned."""


def cluster_sample(moments: Moments) -> ClusterSample:
    """Return the clusters of moments that were counted by cluster."""
    return ClusterSample(
        names=tuple(str(name) for name in moments.groups),
        counts=moments.group_counts,
        sums=moments.group_sums,
    )


def rank_clustered(
    board: Board, settings: Settings, bounds: Bounds | None, rng: Rng
) -> CompareResult:
    """Rank the models of a board with clusters or weights, for the population that was asked."""
    check_size(board.names, board.n)
    if board.clusters is None:
        return _weighted_items(board, settings, bounds)
    if settings.population == "items":
        if board.weights is not None:
            raise InputError(
                "weights with clusters answer for new clusters only: leave out --population items"
            )
        return _same_clusters(board, settings, bounds)
    sample = cluster_sample(board.moments())
    return rank_new_clusters(
        board.names, sample, n=board.n, bounds=bounds, settings=settings, rng=rng
    )


def rank_new_clusters(
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
            sample=SampleSize(
                clusters, "clusters", of_means=True, share=unit_of(bounds) == "share"
            ),
            unit=unit_of(bounds),
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
        unit=unit_of(bounds),
        clusters=len(rows),
        per_cluster=rows,
    )
    return spoken(result)


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
            sample=SampleSize(board.n, "items", of_means=True, share=unit_of(bounds) == "share"),
            unit=unit_of(bounds),
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
                len(counts), "weighted items", of_means=True, share=unit_of(bounds) == "share"
            ),
            unit=unit_of(bounds),
        )
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
