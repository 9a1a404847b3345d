"""The answer: from a board or its moments to ranks, pairs and a verdict."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri, stdtrit

from tallystick._rng import Rng, as_rng, seed_of
from tallystick.errors import InputError, NotIdentifiable
from tallystick.results import GateEstimate, Interval, Unknown
from tallystick.results.numbers import count
from tallystick.stats.anytime import betting
from tallystick.stats.cluster_pairs import (
    cluster_intervals,
    pairs_of_new_clusters,
    sign_flip_table,
)
from tallystick.stats.clusters import fewest_clusters
from tallystick.stats.intervals import Intervals, clopper_pearson, pseudo_t
from tallystick.stats.pairs import (
    FREE,
    Bounds,
    PairTable,
    accuracy_intervals,
    affordable_draws,
    is_binary,
    is_flat,
    known_pairs,
    pairs_of_items,
)
from tallystick.stats.power import detectable_difference, range_critical
from tallystick.stats.signs import sign_p_value
from tallystick.stats.skewed import FEWEST, RARE, skewed_board
from tallystick.verbs.compare.board import Board
from tallystick.verbs.compare.labels import rank_by_labels
from tallystick.verbs.compare.question import (
    Settings,
    check_bounds,
    check_size,
    score_range,
    unit_of,
)
from tallystick.verbs.compare.replicates import pass_board, with_replicates
from tallystick.verbs.compare.result import (
    MOST_DRAWN,
    ClusterRow,
    CompareResult,
    ModelRow,
    PairRow,
    SampleSize,
    pair_interval,
)
from tallystick.verbs.compare.verdict import (
    INDEPENDENT,
    SHARES,
    Findings,
    assemble,
    cluster_assumptions,
    few_and_skewed,
    finish,
    flat_models,
    on_answered,
    shown_levels,
    spoken,
    undeclared_bounds,
)

if TYPE_CHECKING:
    from tallystick.table import Moments

Floats = npt.NDArray[np.float64]

MOST_ROWS = 2_000
"""Rows from which on a pseudo-item changes nothing."""
MEASURED = "differences by paired t: at least half of the rows differ, so none is rare and far away"
PSEUDO = "differences by paired t with one pseudo-item, half at each end of the range"


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
    if board.gold is not None:
        return rank_by_labels(board, chosen, rng)
    if chosen.passes is not None:
        board = pass_board(board, chosen.passes)
        chosen = replace(chosen, bounds=(0.0, 1.0))
    check_bounds(board, chosen.bounds)
    binary = board.right is not None or bool(np.isin(board.scores, (0.0, 1.0)).all())
    bounds = score_range(board.scores, chosen, binary=binary)
    taken = bounds is not None and chosen.bounds is None and not binary

    if chosen.population == "these":
        result = _these(board, chosen, unit_of(bounds))
    elif board.clusters is not None or board.weights is not None:
        result = rank_clustered(board, chosen, bounds, rng)
    elif bounds is None:
        result = _unbounded(board, chosen)
    else:
        within = replace(chosen, bounds=bounds)
        result = _independent(board.moments(), within, rng, measured=are_measured(board.scores))
    if taken:
        result = replace(result, assumptions=(*result.assumptions, SHARES))
    return finish(with_replicates(_with_signs(result, board, chosen), board, chosen), board)


def are_measured(scores: Floats) -> bool:
    """Say whether scores are measurements that hardly ever tie, such as accuracies on folds.

    Plain t needs no pseudo-item then: what could be rare and far away would have been seen as a
    spread.

    >>> are_measured(np.array([[0.81, 0.8], [0.79, 0.78], [0.83, 0.8], [0.8, 0.8]] * 2))
    True
    >>> are_measured(np.array([[1.0, 1.0], [0.5, 0.5], [1.0, 0.0], [0.0, 0.0]] * 2))
    False
    """
    # From so many rows or models on a pseudo-item hardly counts, or takes long to look for.
    if len(scores) > MOST_ROWS or scores.shape[1] > MOST_DRAWN or len(scores) < 3:
        return False
    columns = [scores[:, j] for j in range(scores.shape[1])]
    return max(float((a == b).mean()) for a, b in combinations(columns, 2)) <= 0.5


def _with_signs(result: CompareResult, board: Board, settings: Settings) -> CompareResult:
    """Put the exact sign test beside the mean of few rows: folds, seeds or data sets."""
    plain = board.clusters is None and board.weights is None and board.runs is None
    binary = bool(np.isin(board.scores, (0.0, 1.0)).all())
    if binary or not plain or board.n >= FEWEST or settings.population == "these":
        return result
    pairs = []
    for row in result.pairs:
        gap = settings.sign * (
            board.scores[:, board.place(row.a)] - board.scores[:, board.place(row.b)]
        )
        for_a, for_b = int((gap > 0).sum()), int((gap < 0).sum())
        pairs.append(replace(row, signs=(for_a, for_b, sign_p_value(for_a, for_b))))
    return spoken(replace(result, pairs=tuple(pairs)))


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
    >>> from tallystick.table import Moments
    >>> moments = Moments.of({"a": [1, 1, 1, 1, 0] * 40, "b": [1, 1, 1, 0, 0] * 40, "c": [0, 1, 0, 0, 1] * 40})
    >>> [(row.name, row.rank_interval) for row in leaderboard(moments).models]
    [('a', (1, 1)), ('b', (2, 2)), ('c', (3, 3))]
    """
    chosen = settings or Settings()
    names, n = moments.names, int(moments.n)
    check_size(names, n)
    binary = is_binary(moments)
    bounds = chosen.bounds or ((0.0, 1.0) if binary else None)
    if chosen.population == "these":
        return _of_known(names, moments.means, n, chosen, unit_of(bounds))
    if moments.groups:
        sample = cluster_sample(moments)
        return rank_new_clusters(names, sample, n=n, bounds=bounds, settings=chosen, rng=rng)
    if moments.weighted:
        raise InputError("weighted items are compared from the board itself: use compare.evaluate")
    return _independent(moments, chosen, rng)


def _these(board: Board, settings: Settings, unit: Literal["share", "number"]) -> CompareResult:
    """Rank models on these very items, of which everything is known."""
    check_size(board.names, board.n)
    if board.runs is not None and board.runs.max() > 1:
        raise InputError(
            "items were run several times, and new runs of these items would differ: leave out"
            " --population these; the interval for new runs of these items is given beside"
        )
    means = np.average(board.scores, axis=0, weights=board.weights)
    return _of_known(board.names, means, board.n, settings, unit)


def _of_known(
    names: tuple[str, ...],
    means: Floats,
    n: int,
    settings: Settings,
    unit: Literal["share", "number"],
) -> CompareResult:
    exact = Intervals(means, means, level=1 - settings.alpha, guarantee="exact", method="logic")
    return assemble(
        Findings(
            names=names,
            table=known_pairs(means, n, alpha=settings.alpha),
            scores=exact,
            means=means,
            n=n,
            settings=settings,
            population="these",
            detectable=Unknown("every score is known: there is nothing to detect"),
            assumptions=[],
            warnings=[],
            seed=None,
            unit=unit,
        )
    )


def _independent(
    moments: Moments, chosen: Settings, rng: Rng, *, measured: bool = False
) -> CompareResult:
    """Rank models on independent items: max-T over all pairs."""
    names, n = moments.names, int(moments.n)
    check_size(names, n)
    draws = affordable_draws(len(names), chosen.draws)
    table = pairs_of_items(
        moments,
        bounds=chosen.bounds,
        alpha=chosen.alpha,
        rng=as_rng(rng),
        draws=draws,
        certified=chosen.certified,
        measured=measured,
    )
    binary = is_binary(moments)
    means = moments.means
    variance = np.diag(moments.centred) / max(n - 1, 1)
    flat = is_flat(variance, 0.0, np.diag(moments.products) / n)
    free = not binary and chosen.bounds is None
    if binary:
        scores = accuracy_intervals(moments.sums, n, alpha=chosen.alpha, certified=chosen.certified)
    else:
        scores = _mean_intervals(means, variance, n, flat, chosen, measured=measured or free)
    assumptions = [INDEPENDENT, *([FREE] if free else [])]
    if not binary and not free:
        assumptions.append(MEASURED if measured else PSEUDO)
    if len(names) > 2:
        times = "" if draws == chosen.draws else f" ({draws:,} for so many pairs)"
        assumptions.append(
            f"pairs: step-down max-T, whose normal draws{times} hold the family-wise error for many"
            " items"
        )
    unit = "share" if binary else unit_of(chosen.bounds)
    return assemble(
        Findings(
            names=names,
            table=table,
            scores=scores,
            means=means,
            n=n,
            settings=chosen,
            population="new",
            detectable=detectable_by_items(table, n, len(names), binary, chosen),
            assumptions=assumptions,
            warnings=flat_models(names, flat, binary),
            seed=seed_of(rng),
            unit=unit,
        )
    )


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
            population="new",
            detectable=detectable,
            assumptions=[
                INDEPENDENT,
                *([] if found.shown == "signs" or board.n < FEWEST else [rare]),
                *shown_levels(found.shown),
            ],
            warnings=[
                *flat_models(board.names, flat, False),
                *undeclared_bounds(board.scores),
                *few_and_skewed(board.n, found.needed, "rows"),
            ],
            seed=None,
            unit="number",
            estimand=found.shown,
        )
    )


def _mean_intervals(
    means: Floats,
    variance: Floats,
    n: int,
    flat: npt.NDArray[np.bool_],
    settings: Settings,
    *,
    measured: bool,
) -> Intervals:
    """Bound means of scores: Student's t, with a pseudo-item unless they are measured."""
    if not measured and settings.bounds is not None:
        return pseudo_t(means, variance, n, alpha=settings.alpha, bounds=settings.bounds)
    half = float(stdtrit(n - 1, 1 - settings.alpha / 2)) * np.where(
        flat, np.inf, np.sqrt(variance / n)
    )
    low, high = settings.bounds or (-np.inf, np.inf)
    free = settings.bounds is None
    return Intervals(
        np.clip(means - half, low, high),
        np.clip(means + half, low, high),
        level=1 - settings.alpha,
        guarantee="under" if free else "approximate",
        assumption=FREE if free else None,
        method="t",
    )


# Rank models whose items come in clusters, or carry weights.


FEW_WEIGHTED = 30
"""Degrees of freedom of weighted items below which the reader is warned."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ClusterSample:
    """The clusters that were seen: their names, items (or their weight), and sums of scores,
    clusters x models.
    """

    names: tuple[str, ...]
    counts: Floats
    sums: Floats

    @property
    def means(self) -> Floats:
        """Mean score in each cluster, clusters x models."""
        return np.asarray(self.sums / self.counts[:, None])

    @property
    def item_means(self) -> Floats:
        """Mean score over all items, however they are spread over the clusters."""
        return np.asarray(self.sums.sum(axis=0) / self.counts.sum())


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
    """Rank the models of a board with clusters or weights."""
    check_size(board.names, board.n)
    if board.clusters is None:
        return _weighted_items(board, settings, bounds)
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
    """Rank models on new clusters, each of which counts once; too few of them show nothing."""
    clusters = len(sample.counts)
    if clusters < fewest_clusters(settings.alpha):
        return _too_few(names, sample, n=n, bounds=bounds, settings=settings)
    if bounds is None:
        return _unbounded_clusters(names, sample, n=n, settings=settings)
    means, alpha = sample.means, settings.alpha
    table = sign_flip_table(means, bounds=bounds, alpha=alpha, rng=rng)
    scores, ends, _ = cluster_intervals(
        np.ones(clusters), means, bounds=bounds, alpha=alpha, method="t over clusters"
    )
    return assemble(
        Findings(
            names=names,
            table=table,
            scores=ends,
            means=scores,
            n=n,
            settings=settings,
            population="new",
            detectable=detectable_by_errors(table, settings, len(names)),
            assumptions=cluster_assumptions(clusters, bounded=True),
            warnings=[],
            seed=seed_of(rng),
            sample=SampleSize(
                clusters, "clusters", of_means=True, share=unit_of(bounds) == "share"
            ),
            unit=unit_of(bounds),
            estimand="cluster mean",
            clusters=clusters,
            item_means=sample.item_means,
        )
    )


def _unbounded_clusters(
    names: tuple[str, ...], sample: ClusterSample, *, n: int, settings: Settings
) -> CompareResult:
    """Compare cluster means of an unbounded score: clusters are then the sample of (K4)."""
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
            population="new",
            detectable=detectable,
            assumptions=[*cluster_assumptions(clusters, bounded=False), rare],
            warnings=few_and_skewed(clusters, found.needed, "clusters"),
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
    held = sample.means.mean(axis=0)
    least = fewest_clusters(settings.alpha)
    why = Unknown(f"{len(sample.counts)} clusters are too few: at least {least} are needed")
    order = np.argsort(-settings.sign * held, kind="stable")
    models = tuple(
        ModelRow(names[j], float(held[j]), why, why, float(sample.item_means[j])) for j in order
    )
    pairs = tuple(
        PairRow(
            names[a],
            names[b],
            float(held[a] - held[b]),
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
        assumptions=tuple(cluster_assumptions(len(rows), bounded=False)),
        models=models,
        pairs=pairs,
        contenders=tuple(names[j] for j in order),
        tiers=(tuple(names[j] for j in order),),
        detectable_difference=why,
        separable=why,
        population="new",
        sample="clusters",
        adjustment="none",
        alpha=settings.alpha,
        metric=settings.metric,
        better=settings.better,
        estimand="cluster mean",
        unit=unit_of(bounds),
        clusters=len(rows),
        per_cluster=rows,
    )
    return spoken(result)


def _weighted_items(board: Board, settings: Settings, bounds: Bounds | None) -> CompareResult:
    """Rank models on weighted items: each item is a cluster of one, with CR2."""
    assert board.weights is not None
    used = board.weights > 0
    counts, sums = board.weights[used], (board.weights[:, None] * board.scores)[used]
    table = pairs_of_new_clusters(counts, sums, bounds=bounds, alpha=settings.alpha)
    means, ends, freedom = cluster_intervals(counts, sums, bounds=bounds, alpha=settings.alpha)
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
            scores=ends,
            means=means,
            n=board.n,
            settings=settings,
            population="new",
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


# What this benchmark can show: the smallest difference between two of its models that it would
# notice.


def detectable_by_items(
    table: PairTable, n: int, k: int, binary: bool, settings: Settings
) -> float | Unknown:
    """Return what n items can show of a typical pair: the one with the median disagreement, or
    spread.
    """
    if not binary:
        return _normal_detectable(float(np.median(table.spread)) / float(np.sqrt(n)), k, settings)
    disagreement = float(np.median((table.first_only + table.second_only) / n))
    if disagreement == 0:
        return Unknown("the models never disagree, so nothing says what could be detected")
    try:
        return detectable_difference(
            n, disagreement, models=k, alpha=settings.alpha, power=settings.power
        )
    except NotIdentifiable as error:
        return Unknown(str(error))


def detectable_by_errors(table: PairTable, settings: Settings, k: int) -> float | Unknown:
    """Return the same from the standard errors of the pairs, where items are not independent."""
    return _normal_detectable(float(np.median(table.spread)), k, settings)


def _normal_detectable(error: float, k: int, settings: Settings) -> float | Unknown:
    if error == 0 or np.isinf(error):
        return Unknown("no pair varies from item to item, so nothing says what could be detected")
    found = (range_critical(k, settings.alpha) + float(ndtri(settings.power))) * error
    if settings.bounds is not None and found > settings.bounds[1] - settings.bounds[0]:
        return Unknown(
            "so few items would not show even the largest difference that the bounds allow"
        )
    return found


# The number a gate compares with its bar: exact where that is possible, else with its assumption
# named.


NEVER_TRUE = "if no answer is a wrong answer, add --never-true ''"
"""The way out where missing answers leave something open."""


def gate_estimate(
    board: Board,
    left: str,
    right: str | None,
    *,
    offset: float = 0.0,
    settings: Settings | None = None,
    rng: Rng = 0,
) -> GateEstimate:
    """Return ``left - right``, or the score of *left*, bounded as surely as the scores allow.

    The interval is the one that :func:`rank` gives for the two, so that a gate and a verdict never
    contradict each other; scores in declared bounds are bounded by betting, exactly, in an order
    drawn with *rng*. Unknown where too few clusters or too skewed scores allow none.

    Where scores are too skewed for their mean to be settled, ``new <= old`` is checked by what the
    verdict compares: the typical ratio with 1, or on how many of the differing items *left* is
    higher with one half. A gate with an *offset*, or on one score, is about means: it stays open.

    Where models gave no answer, the interval is also worked out with every missing score at the end
    of its range that speaks against *left*, and at the other end.

    Examples
    --------
    >>> board = Board.of({"old": [1, 0, 0, 1] * 50, "new": [1, 1, 0, 1] * 50})
    >>> gate_estimate(board, "new", "old").estimate
    0.25
    """
    chosen = settings or Settings()
    found = _estimate(board, left, right, offset, chosen, rng)
    if not board.left_out:
        return found
    named = [name for name in (left, right) if name is not None]
    found = replace(found, where=on_answered(board.n, len(board.names)), way_out=NEVER_TRUE)
    ends = score_range(board.scores, chosen, binary=board.right is not None)
    if board.whole is None or ends is None:
        unknown = Unknown("nothing says what the missing answers are worth")
        some = f"{count(board.left_out)} items have no answer of every model"
        return replace(found, extremes=(GateEstimate(unknown, unknown),), missing=some)

    # The missing scores of *left* at one end and those of the others at the other, and vice versa.
    extremes = tuple(
        _estimate(_filled(board.whole, left, fill, chosen), left, right, offset, chosen, rng)
        for fill in (ends, ends[::-1])
    )
    lacks = np.isnan(board.whole.of_models(named).scores)
    silent = [name for j, name in enumerate(named) if lacks[:, j].any()]
    missing = (
        f"{count(int(lacks.any(axis=1).sum()))} of {count(board.whole.n)} items have no answer of"
        f" {' or '.join(silent or board.names)}"
    )
    return replace(found, extremes=extremes, missing=missing)


def _estimate(
    board: Board, left: str, right: str | None, offset: float, chosen: Settings, rng: Rng
) -> GateEstimate:
    """Return the same of a board without a missing answer."""
    other = _without_mean(board, left, right, offset, chosen, rng)
    if other is not None:
        return other
    places = [board.place(name) for name in (left, right) if name is not None]
    ends = score_range(board.scores[:, places], chosen, binary=board.right is not None)
    within = ends
    if ends is not None and right is not None:
        within = (ends[0] - ends[1], ends[1] - ends[0])
    estimate, interval = _measured(board, left, right, chosen, rng)
    return GateEstimate(estimate, interval, unit_of(ends), within=within)


def _filled(board: Board, left: str, fill: tuple[float, float], chosen: Settings) -> Board:
    """Return the board with the first score of *fill* where *left* has none, and the second where
    another model has none.
    """
    scores = np.where([name == left for name in board.names], *fill)
    filled = np.where(np.isnan(board.scores), scores, board.scores)
    if board.runs is None:
        return replace(board, scores=filled)
    # As many runs as pass@k asks for, all of them right or all wrong.
    runs = np.where(board.runs > 0, board.runs, 1 if chosen.passes is None else chosen.passes.k)
    right = None if board.right is None else np.where(board.runs > 0, board.right, runs * scores)
    return replace(board, scores=filled, runs=runs, right=right)


def _without_mean(
    board: Board, left: str, right: str | None, offset: float, chosen: Settings, rng: Rng
) -> GateEstimate | None:
    """Return what is compared instead of the mean; None where the mean is settled."""
    places = [board.place(name) for name in (left, right) if name is not None]
    if _plain(board, board.scores[:, places], chosen, rng) is not None or len(board.names) < 2:
        return None
    names = [left, right] if right is not None else list(board.names)
    result = rank(board.of_models(names), settings=chosen, rng=rng)
    if result.estimand not in ("ratio", "signs"):
        return None
    pair = result.pairs[0]
    if right is None or offset:
        return GateEstimate(pair.difference, pair.interval, "number")
    if result.estimand == "ratio" and pair.ratio is not None and pair.ratio_interval is not None:
        ratio, held = pair.ratio, pair.ratio_interval
        if pair.a != left:
            ratio, held = 1 / ratio, replace(held, low=1 / held.high, high=1 / held.low)
        return GateEstimate(ratio, held, "number", "typical ratio", 1.0)

    # With zeros or negative scores only the signs are left: the exact sign test, as an interval.
    x = board.scores[:, places]
    higher, lower = int((x[:, 0] > x[:, 1]).sum()), int((x[:, 0] < x[:, 1]).sum())
    if not higher + lower:
        return GateEstimate(pair.difference, pair.interval, "number")
    interval = clopper_pearson(higher, higher + lower, alpha=chosen.alpha)
    what = f"{left} is higher on this share of the items that differ:"
    return GateEstimate(higher / (higher + lower), interval, "share", what, 0.5)


def _measured(
    board: Board, left: str, right: str | None, chosen: Settings, rng: Rng
) -> tuple[float | Unknown, Interval | Unknown]:
    places = [board.place(name) for name in (left, right) if name is not None]
    exact = _plain(board, board.scores[:, places], chosen, rng)
    return exact or _evaluated(board, left, right, chosen, rng)


def _plain(
    board: Board, x: npt.NDArray[np.float64], chosen: Settings, rng: Rng
) -> tuple[float, Interval] | None:
    """Return the answer for independent items of which one or two columns matter; None where there
    is none.
    """
    apart = board.clusters is not None or board.weights is not None or board.gold is not None
    if apart or chosen.population == "these":
        return None
    alone = x.shape[1] == 1
    values = x[:, 0] if alone else x[:, 0] - x[:, 1]
    estimate = float(values.mean())

    if np.isin(x, (0.0, 1.0)).all():
        if alone:
            right, sure = [int(x.sum())], chosen.certified
            return estimate, accuracy_intervals(right, board.n, alpha=chosen.alpha, certified=sure)[
                0
            ]
        wins, losses = int((values > 0).sum()), int((values < 0).sum())
        return estimate, pair_interval(wins, losses, board.n, chosen)
    if chosen.bounds is not None:
        low, high = chosen.bounds
        bounds = (low, high) if alone else (low - high, high - low)
        shuffled = as_rng(rng).permutation(values)
        return estimate, betting(shuffled, alpha=chosen.alpha, bounds=bounds)[0]
    return None


def _evaluated(
    board: Board, left: str, right: str | None, chosen: Settings, rng: Rng
) -> tuple[float | Unknown, Interval | Unknown]:
    """Return what the comparison itself says of the model, or of the two."""
    if right is None:
        result = rank(board, settings=chosen, rng=rng)
        model = next(row for row in result.models if row.name == left)
        return model.score, model.interval

    pair = rank(board.of_models([left, right]), settings=chosen, rng=rng).pairs[0]
    if pair.a == left:
        return pair.difference, pair.interval
    held = pair.interval
    turned = held if isinstance(held, Unknown) else replace(held, low=-held.high, high=-held.low)
    return (pair.difference if isinstance(pair.difference, Unknown) else -pair.difference), turned
