r"""How often each judge is right, overall and per class, from labels that were drawn for anything.

Inside a stratum every item is equally likely to be drawn, so inside a *cell* (stratum x vote) too.
The labels of a cell therefore stand for all its items, whatever question they were drawn for.

*Overall.* The value is 1 where the judge's vote is the truth; the interval is the stratified
adverse likelihood on the judge's cells, for the items on which it voted.

*Per class l.* The value is 1 where the truth is l. With A the expected number of such items among
those that the judge calls l and C among the others, the judge finds A/(A + C) of them. The reaches
of A and C are those of the same interval before rounding, put together by the ratio (I9) and (P2).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick.errors import InputError
from tallystick.results import Interval, Unknown
from tallystick.sampling.labels.consensus import Floats, Ints
from tallystick.sampling.labels.planned_share import planned_shares
from tallystick.sampling.labels.strata import LabelStrata

__all__ = ["ClassRecall", "JudgeAccuracy", "judge_accuracies"]

METHOD = "stratified adverse likelihood"


@dataclass(frozen=True, kw_only=True)
class ClassRecall:
    """How much of one class a judge finds.

    Parameters
    ----------
    estimate
        A/(A + C), or the reason why the labels do not say.
    interval
        Approximate; where the labels do not say, what logic leaves.
    labelled
        How many labelled items of the class the judge voted on.
    """

    estimate: float | Unknown
    interval: Interval
    labelled: int


@dataclass(frozen=True, kw_only=True)
class JudgeAccuracy:
    """How often one judge is right on the items of the population on which it voted.

    Parameters
    ----------
    estimate, interval
        The share of right votes, or the reason why it is not known.
    items, labelled
        On how many items the judge voted, and how many of these are labelled.
    recall
        One entry per class.
    """

    estimate: float | Unknown
    interval: Interval
    items: int
    labelled: int
    recall: tuple[ClassRecall, ...]


def judge_accuracies(
    strata: LabelStrata,
    votes: ArrayLike,
    items: ArrayLike,
    labels: ArrayLike,
    *,
    alpha: float = 0.05,
) -> tuple[JudgeAccuracy, ...]:
    r"""Return the accuracy of each judge on these items, overall and per class.

    Parameters
    ----------
    strata
        The strata that the labelled items were drawn from.
    votes
        Items x judges of class codes, -1 where a judge gave no vote.
    items, labels
        The labelled items of the population, and the true class of each.
    alpha
        One minus the level.

    Examples
    --------
    >>> from tallystick.sampling.labels.strata import vote_strata
    >>> rng = np.random.default_rng(3)
    >>> truth = (rng.random(600) < 0.5).astype(int)
    >>> votes = np.where(rng.random((600, 3)) < [0.9, 0.8, 0.7], truth[:, None], 1 - truth[:, None])
    >>> drawn = rng.choice(600, 120, replace=False)
    >>> found = judge_accuracies(vote_strata(votes), votes, drawn, truth[drawn])
    >>> print(*(judge.interval for judge in found), sep="\n")
    [0.813, 0.908] (95 %, approximate)
    [0.768, 0.863] (95 %, approximate)
    [0.643, 0.740] (95 %, approximate)
    """
    table = np.asarray(votes)
    drawn, truth = np.asarray(items, dtype=np.int64), np.asarray(labels, dtype=np.int64)
    n_classes = strata.guess.shape[1]
    if table.ndim != 2 or table.shape[0] != strata.of.size:
        raise InputError(f"votes must be {strata.of.size} items x judges, got shape {table.shape}")
    if table.min() < -1 or table.max() >= n_classes:
        raise InputError(f"votes must be in -1..{n_classes - 1}, got {table.min()}..{table.max()}")
    if drawn.shape != truth.shape or np.unique(drawn).size != drawn.size:
        raise InputError("items must be distinct, with one label each")
    if drawn.size and (strata.of[drawn] < 0).any():
        raise InputError("items outside the population have labels: count them apart")
    if drawn.size and not (truth.min() >= 0 and truth.max() < n_classes):
        raise InputError(f"labels must be class codes in 0..{n_classes - 1}")
    return tuple(
        _judge(strata, table[:, j].astype(np.int64), drawn, truth, alpha)
        for j in range(table.shape[1])
    )


def _judge(
    strata: LabelStrata, vote: Ints, drawn: Ints, truth: Ints, alpha: float
) -> JudgeAccuracy:
    n_classes = strata.guess.shape[1]
    shape = (len(strata), n_classes)
    voted = (vote >= 0) & (strata.of >= 0)
    sizes = _count(strata.of[voted].astype(np.int64), vote[voted], shape)
    if not sizes.any():
        raise InputError("a judge has no vote on any item of the population: leave it out")

    read = voted[drawn]
    items, true = drawn[read], truth[read]
    cell = strata.of[items].astype(np.int64), vote[items]
    labelled = _count(*cell, shape)
    right = _count(cell[0][true == cell[1]], cell[1][true == cell[1]], shape)
    found = planned_shares(sizes.ravel(), labelled.ravel(), right.ravel(), alpha=alpha)
    recall = []
    for label in range(n_classes):
        hits = _count(cell[0][true == label], cell[1][true == label], shape)
        recall.append(_recall(sizes, labelled, hits, label, alpha))

    estimate: float | Unknown = Unknown("no item that this judge voted on is labelled")
    if items.size:
        estimate = float(found.estimate[0])
    interval = Interval(float(found.low[0]), float(found.high[0]), level=1 - alpha, method=METHOD)
    return JudgeAccuracy(
        estimate=estimate,
        interval=interval,
        items=int(sizes.sum()),
        labelled=int(items.size),
        recall=tuple(recall),
    )


def _recall(sizes: Floats, labelled: Floats, hits: Floats, label: int, alpha: float) -> ClassRecall:
    from tallystick.stats.intervals import mover_ratio

    # Inside: cells whose vote is the class. Every other vote of a stratum is one cell outside.
    sides = []
    for part in (sizes, labelled, hits):
        inside = part[:, label]
        sides.append((inside, part.sum(axis=1) - inside))
    (n_in, n_out), (k_in, k_out), (x_in, x_out) = sides
    seen = int(hits.sum())
    sure, open_in, open_out = x_in.sum(), (n_in - k_in).sum(), (n_out - k_out).sum()
    most = sure + open_in + x_out.sum()
    logic = (
        float(sure / (seen + open_out)) if seen + open_out else 0.0,
        float((sure + open_in) / most) if most else 1.0,
    )

    unread = [bool(n.sum() and not k.sum()) for n, k in ((n_in, k_in), (n_out, k_out))]
    if not seen or any(unread):
        reason = "no item of this class is labelled"
        if seen:
            reason = f"no item with {'this' if unread[0] else 'another'} vote is labelled"
        interval = Interval(*logic, level=1 - alpha, method=METHOD)
        return ClassRecall(estimate=Unknown(reason), interval=interval, labelled=seen)

    A, a_reach = _expected(n_in, k_in, x_in, alpha)
    C, c_reach = _expected(n_out, k_out, x_out, alpha)
    low, high = mover_ratio(A, C, top_reach=a_reach, bottom_reach=c_reach)  # (I9)
    ends = (float(r / (1 + r)) if np.isfinite(r) else 1.0 for r in (low, high))
    half = float(1 / (2 * (A + C)))
    down, up = (end + sign * half for end, sign in zip(ends, (-1, 1), strict=True))  # (P2)
    down, up = max(down, logic[0]), min(up, logic[1])
    estimate = float(np.clip(A / (A + C), down, up))
    interval = Interval(down, up, level=1 - alpha, method=METHOD)
    return ClassRecall(estimate=estimate, interval=interval, labelled=seen)


def _expected(
    sizes: Floats, labelled: Floats, hits: Floats, alpha: float
) -> tuple[Floats, tuple[Floats, Floats]]:
    """Return the expected hits of one side, and the squared reaches of their interval."""
    total = sizes.sum()
    if not total:
        nothing = np.zeros(())
        return nothing, (nothing, nothing)
    found = planned_shares(sizes, labelled, hits, alpha=alpha)
    down = total * max(found.estimate[0] - found.raw_low[0], 0.0)
    up = total * max(found.raw_high[0] - found.estimate[0], 0.0)
    return np.asarray(total * found.estimate[0]), (np.asarray(down**2), np.asarray(up**2))


def _count(stratum: NDArray[np.int64], vote: NDArray[np.int64], shape: tuple[int, int]) -> Floats:
    flat = np.bincount(stratum * shape[1] + vote, minlength=shape[0] * shape[1])
    return flat.reshape(shape).astype(np.float64)
