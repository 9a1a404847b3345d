"""The answer: from a board or its moments to ranks, pairs and a verdict."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tallystick._rng import as_rng, seed_of
from tallystick.errors import InputError
from tallystick.results import Unknown
from tallystick.stats.clusters import fewest_clusters
from tallystick.stats.intervals import Intervals, pseudo_t
from tallystick.stats.pairs import (
    FREE,
    accuracy_intervals,
    affordable_draws,
    empirical_bernstein,
    fit_scores,
    is_binary,
    is_flat,
    known_pairs,
    mean_intervals,
    pairs_of_fit,
    pairs_of_items,
    sign_flip_table,
    t_intervals,
)
from tallystick.stats.signs import sign_p_value
from tallystick.stats.skewed import FEWEST, RARE, skewed_board
from tallystick.table import Moments
from tallystick.verbs.compare.board import Board, are_measured, check_bounds, check_size, pass_board
from tallystick.verbs.compare.question import CompareQuestion, score_range
from tallystick.verbs.compare.result import CompareResult
from tallystick.verbs.compare.verdict import (
    INDEPENDENT,
    Findings,
    assemble,
    cluster_assumptions,
    few_and_skewed,
    finish,
    flat_models,
    spoken,
)

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

SHARES = (
    "scores are shares between 0 and 1: they reach an end of that range and never leave it (give"
    " --bounds if they can)"
)
PAIRED_T = (
    "differences by paired t, with one pseudo-item, half at each end of the range, where few rows"
    " differ: there a rare one far away may not have shown"
)
BERNSTEIN = "differences by the empirical Bernstein inequality, whatever the law of the scores"


def rank(board: Board, question: CompareQuestion | None = None) -> CompareResult:
    """Rank the models of a board.

    Examples
    --------
    >>> board = Board.of({"old": [1, 0, 0, 0] * 50, "new": [1, 1, 0, 1] * 50})
    >>> rank(board).contenders
    ('new',)
    """
    asked = question or CompareQuestion()
    if board.gold is not None:
        from tallystick.verbs.compare.labels import rank_by_labels  # which needs this module

        return finish(rank_by_labels(board, asked), board)
    if asked.passes is not None:
        board = pass_board(board, asked.passes)
        asked = replace(asked, bounds=(0.0, 1.0))
    check_bounds(board, asked)
    check_size(board.names, board.n)
    binary = board.right is not None or _right_or_wrong(board)
    bounds = score_range(board.scores, asked, binary=binary)
    within = replace(asked, bounds=bounds)

    if asked.population == "these":
        result = _these(board, within)
    elif board.clusters is not None:
        result = _new_clusters(board.moments(), within)
    elif board.weights is not None or (board.right is not None and not _right_or_wrong(board)):
        result = _fitted(board, within)
    elif bounds is None:
        result = _unbounded(board.names, board.scores, board.n, asked)
    else:
        measured = None if binary else are_measured(board.scores)
        result = _independent(board.moments(), within, measured=measured)
    if bounds is not None and asked.bounds is None and not binary:
        result = replace(result, assumptions=(*result.assumptions, SHARES))
    few = board.independent and board.runs is None and board.n < FEWEST
    if few and not binary and asked.population != "these":
        result = _with_signs(result, board, asked)
    if asked.passes is not None:
        result = replace(result, estimand=asked.passes.kind)
    return finish(result, board)


def _right_or_wrong(board: Board) -> bool:
    """Say whether every score is 0 or 1."""
    return bool(np.isin(board.scores, (0.0, 1.0)).all())


def leaderboard(moments: Moments, question: CompareQuestion | None = None) -> CompareResult:
    """Rank models from the moments of their scores alone: counted on any engine, merged from any
    shards.

    Unbounded scores get Student's t here, with its assumption named: their skewness is not in the
    moments, so :func:`rank` does better.

    Examples
    --------
    >>> from tallystick.table import Moments
    >>> moments = Moments.of({"a": [1, 1, 1, 1, 0] * 40, "b": [1, 1, 1, 0, 0] * 40, "c": [0, 1, 0, 0, 1] * 40})
    >>> [(row.name, row.rank_interval) for row in leaderboard(moments).models]
    [('a', (1, 1)), ('b', (2, 2)), ('c', (3, 3))]
    """
    asked = question or CompareQuestion()
    names, n = moments.names, int(moments.n)
    check_size(names, n)
    bounds = asked.bounds or ((0.0, 1.0) if is_binary(moments) else None)
    within = replace(asked, bounds=bounds)
    if asked.population == "these":
        return _of_known(names, moments.means, n, within)
    return _independent(moments, within)


# One function for each way in which scores can be known. In each the question holds the bounds.


def _these(board: Board, question: CompareQuestion) -> CompareResult:
    """Rank models on these very items, of which everything is known."""
    if board.runs is not None and board.runs.max() > 1:
        raise InputError(
            "items were run several times, and new runs of these items would differ: leave out"
            " --population these"
        )
    means = np.average(board.scores, axis=0, weights=board.weights)
    return _of_known(board.names, means, board.n, question)


def _of_known(
    names: tuple[str, ...], means: Floats, n: int, question: CompareQuestion
) -> CompareResult:
    exact = Intervals(means, means, level=1 - question.alpha, guarantee="exact", method="logic")
    return assemble(
        Findings(
            names=names,
            table=known_pairs(means, n, alpha=question.alpha),
            scores=exact,
            means=means,
            n=n,
            question=question,
            population="these",
            detectable=Unknown("every score is known: there is nothing to detect"),
        )
    )


def _independent(
    moments: Moments, question: CompareQuestion, *, measured: Bools | None = None
) -> CompareResult:
    """Rank models on independent items: max-T over all pairs."""
    names, n, alpha = moments.names, int(moments.n), question.alpha
    draws = affordable_draws(len(names), question.draws)
    binary = is_binary(moments)
    free = not binary and question.bounds is None
    table = pairs_of_items(
        moments,
        bounds=question.bounds,
        alpha=alpha,
        rng=as_rng(question.seed),
        draws=draws,
        certified=question.certified,
        measured=measured,
    )
    means, products = moments.means, moments.products
    every = measured is not None and bool(measured.all())
    variance = np.diag(moments.centred) / max(n - 1, 1)
    flat = is_flat(variance, 0.0, np.diag(products) / n)
    if binary:
        scores = accuracy_intervals(moments.sums, n, alpha=alpha, certified=question.certified)
    else:
        scores = _mean_intervals(means, variance, n, flat, question, plain=every or free)

    assumptions = [INDEPENDENT.format("items")]
    if not binary:
        bounded = BERNSTEIN if question.certified else PAIRED_T
        assumptions.append(FREE if free else bounded)
    return assemble(
        Findings(
            names=names,
            table=table,
            scores=scores,
            means=means,
            n=n,
            question=question,
            assumptions=assumptions,
            warnings=flat_models(names, flat),
            seed=seed_of(question.seed),
        )
    )


def _unbounded(
    names: tuple[str, ...],
    x: Floats,
    n: int,
    question: CompareQuestion,
    item_means: Floats | None = None,
) -> CompareResult:
    """Rank models by an unbounded score: the mean where the sample settles it, else the typical
    ratio or the signs.

    *x* holds the scores of items, or means of clusters where *item_means* are given beside.
    """
    clustered = item_means is not None
    unit = "clusters" if clustered else "items"
    found = skewed_board(x, alpha=question.alpha, unit=unit)
    # Only rounding: a mean of runs is off by a few of the smallest steps between two numbers.
    flat = np.ptp(x, axis=0) <= 8 * np.spacing(np.abs(x).max(axis=0))
    assumptions = [INDEPENDENT.format("items")]
    if clustered:
        assumptions = cluster_assumptions(len(x), bounded=False)
    if found.shown != "signs" and len(x) >= FEWEST:
        assumptions.append(RARE.format(max(2, -(-len(x) // 3)), unit))
    warnings = [] if clustered else flat_models(names, flat)
    return assemble(
        Findings(
            names=names,
            table=found.table,
            scores=found.intervals,
            means=found.levels,
            n=n,
            question=question,
            assumptions=assumptions,
            warnings=[*warnings, *few_and_skewed(len(x), found.needed, unit)],
            estimand="cluster mean" if clustered and found.shown == "mean" else found.shown,
            sample=unit,
            size=len(x),
            item_means=item_means,
        )
    )


def _mean_intervals(
    means: Floats,
    variance: Floats,
    n: int,
    flat: Bools,
    question: CompareQuestion,
    *,
    plain: bool,
) -> Intervals:
    """Bound means of scores: Student's t, with a pseudo-item unless it is *plain*."""
    alpha, bounds = question.alpha, question.bounds
    if bounds is None:
        return t_intervals(means, variance, n, alpha, flat)
    if question.certified:
        middle, half_width = sum(bounds) / 2, (bounds[1] - bounds[0]) / 2
        ends, _ = empirical_bernstein(means - middle, variance, n, half_width, alpha)
        return replace(ends, low=ends.low + middle, high=ends.high + middle)
    if not plain:
        return pseudo_t(means, variance, n, alpha=alpha, bounds=bounds)
    free = t_intervals(means, variance, n, alpha, flat)
    low, high = (np.clip(end, *bounds) for end in (free.low, free.high))
    return replace(free, low=low, high=high, guarantee="approximate", assumption=None)


def _new_clusters(moments: Moments, question: CompareQuestion) -> CompareResult:
    """Rank models on new clusters, each of which counts once; too few of them show nothing."""
    counts, names, n = moments.group_counts, moments.names, int(moments.n)
    clusters, bounds, alpha = len(counts), question.bounds, question.alpha
    if clusters < (least := max(2, fewest_clusters(alpha))):
        raise InputError(
            f"{clusters} clusters cannot show which model is better on new clusters: that takes at"
            f" least {least}, and {max(12, 2 * least)} to be useful. For these items alone add"
            " --population these; --by COLUMN lists the scores of each cluster"
        )
    means = np.asarray(moments.group_sums / counts[:, None])
    item_means = np.asarray(moments.group_sums.sum(axis=0) / counts.sum())
    if bounds is None:
        return _unbounded(names, means, n, question, item_means)
    table = sign_flip_table(means, bounds=bounds, alpha=alpha, rng=question.seed)
    return assemble(
        Findings(
            names=names,
            table=table,
            scores=mean_intervals(fit_scores(means, bounds=bounds), bounds=bounds, alpha=alpha),
            means=means.mean(axis=0),
            n=n,
            question=question,
            assumptions=cluster_assumptions(clusters, bounded=True),
            seed=seed_of(question.seed),
            sample="clusters",
            estimand="cluster mean",
            size=clusters,
            item_means=item_means,
        )
    )


def _fitted(board: Board, question: CompareQuestion) -> CompareResult:
    """Rank models by the estimator of few labels with every label there: weighted items, and items
    that were run several times.
    """
    bounds, alpha, weighted = question.bounds, question.alpha, board.weights is not None
    if bounds is None:
        raise InputError("weighted scores need a range: declare it (--bounds LO,HI)")
    weights = np.ones(board.n) if board.weights is None else board.weights
    x, weights = board.scores[weights > 0], weights[weights > 0]
    found = fit_scores(x, bounds=bounds, weights=weights, pass_fail=_right_or_wrong(board))
    table = pairs_of_fit(found, alpha=alpha, rng=question.seed, width=bounds[1] - bounds[0])

    # What the forecast of more items rests on: how much an item moves each difference.
    share = (weights / weights.sum())[:, None]
    means = (share * x).sum(axis=0)
    off = x[:, table.first] - x[:, table.second] - (means[table.first] - means[table.second])
    spread = np.sqrt(len(x) * ((share * off) ** 2).sum(axis=0))
    scores = mean_intervals(found, bounds=bounds, alpha=alpha)
    drawn = "weighted items" if weighted else "items"
    return assemble(
        Findings(
            names=board.names,
            table=replace(table, spread=spread),
            scores=scores,
            means=means,
            n=board.n,
            question=question,
            assumptions=[INDEPENDENT.format(drawn)],
            sample=drawn,
            size=len(x),
        )
    )


def _with_signs(result: CompareResult, board: Board, question: CompareQuestion) -> CompareResult:
    """Put the exact sign test beside the mean of few rows: folds, seeds or data sets."""
    pairs = []
    for row in result.pairs:
        a, b = (board.scores[:, board.place(name)] for name in (row.a, row.b))
        for_a, for_b = (int((question.sign * gap > 0).sum()) for gap in (a - b, b - a))
        pairs.append(replace(row, signs=(for_a, for_b, sign_p_value(for_a, for_b))))
    return spoken(replace(result, pairs=tuple(pairs)))
