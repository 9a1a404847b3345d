r"""The share of ones among these items, whenever you stop and whatever you saw on the way.

The draws of `draws` give values :math:`Z_t` whose expectation is the share (W3). Two gamblers bet
against every share m at once, one on larger and one on smaller shares, with

.. math:: \lambda = \min\Big(\frac{1.25\,w}{\hat\sigma^2}, \frac{.75}{m - low}\Big)   \tag{W6}

where w is the half-width that is wanted: the best bet against a share that far off. What either has
refuted at :math:`2/\alpha`, at any time so far, is outside the interval. Each factor falls as m
grows, also where the bet is cut, so the ends are found by bisection.

*w is fixed before the first draw and stands in the journal.* An interval whose old bets are
computed again with a new w is not valid.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick.errors import InputError
from tallystick.results import Interval, Unknown
from tallystick.sampling.label_accuracies import Floats, Ints
from tallystick.sampling.label_means import (
    Apart,
    Steps,
    capital,
    expected_growth,
    last_refuted,
    mirrored,
    moments_before,
    sign_bets,
)
from tallystick.sampling.label_strata import LabelStrata
from tallystick.sampling.label_task import LabelTask, Measure, Read, measured
from tallystick.stats.adverse_binary import METHOD as BINARY_METHOD
from tallystick.stats.adverse_binary import effective_labels, fill_unlabelled, raw_share_ends
from tallystick.stats.adverse_numbers import adverse_stratified_mean
from tallystick.stats.intervals import Vector

SMALLEST_LEAD = 0.03
"""A verdict bets as if the share were at least this far from the limit."""


def anytime_share(steps: Steps, *, alpha: float = 0.05, skipped: Steps | None = None) -> Interval:
    """Bound the mean of all items at any stopping time, under any way of choosing when to stop.

    Parameters
    ----------
    steps
        What the draws gave, from `rectified_steps`, in draw order.
    alpha
        One minus the level.
    skipped
        If items were skipped: the same draws with each skip at the largest value. *steps* then has
        them at the smallest, and the two ends come from one each.

    Returns
    -------
    Interval
        The intersection over all times so far. It never grows.

    Examples
    --------
    >>> from tallystick.sampling.label_accuracies import DrawJournal
    >>> from tallystick.sampling.label_strata import draw_batch
    >>> from tallystick.sampling.label_means import rectified_steps
    >>> from tallystick.sampling.label_strata import score_strata
    >>> strata = score_strata([0.2] * 100 + [0.9] * 400)
    >>> start = DrawJournal.empty(strata.sizes)
    >>> journal = draw_batch(strata, start, size=150, spread=[1, 1], rng=2)
    >>> values = (journal.item >= 100).astype(float)
    >>> print(anytime_share(rectified_steps(journal, values, strata.guess[:, 1])))
    [0.759, 0.817] (95 %, anytime)
    """
    upper = steps if skipped is None else skipped
    low, high = _ends(steps, upper, alpha)
    return Interval(
        low, high, level=1 - alpha, guarantee="anytime", method="betting on rectified draws"
    )


@dataclass(frozen=True, kw_only=True)
class ShareVerdict:
    """Evidence that the share lies above or below one limit, valid at any stopping time.

    Parameters
    ----------
    verdict
        ``above``, ``below``, or None while neither is settled.
    above, below
        The e-values now: how many times the stake a fair game would have paid.
    peak_above, peak_below
        Their largest values so far, which the verdict rests on.
    growth
        What one more label is expected to add to the log of the larger e-value; `verdict_forecast`
        turns it into labels.
    """

    verdict: Literal["above", "below"] | None
    above: float
    below: float
    peak_above: float
    peak_below: float
    growth: float


def share_verdict(
    steps: Steps, limit: float, *, alpha: float = 0.05, skipped: Steps | None = None
) -> ShareVerdict:
    """Say whether the mean of all items lies above or below *limit*, at any stopping time.

    The bets of (W5) depend on the limit, so they test this limit and no other: they can not be
    turned into an interval. A wrong verdict has probability at most alpha/2, and at most alpha if
    the share equals the limit.

    Parameters
    ----------
    steps, alpha, skipped
        As in `anytime_share`.
    limit
        The value in question, fixed before the first draw. Outside the range of values the verdict
        is certain, as it can be for what items counted apart leave of a limit.

    Examples
    --------
    >>> z = np.full(60, 0.95)
    >>> steps = Steps(z=z, low=z - 1, high=z + 1, values=z, items=500)
    >>> share_verdict(steps, 0.8).verdict
    'above'
    """
    _check(alpha)
    if not isfinite(limit):
        raise InputError(f"limit must be a number, got {limit!r}")
    upper = steps if skipped is None else skipped
    options = {"start": (steps.floor + steps.ceiling) / 2, "least": SMALLEST_LEAD, "timid": 1.0}
    up, _ = sign_bets(steps.z, limit, **options)
    _, down = sign_bets(upper.z, limit, **options)
    mirror = mirrored(upper, down)
    rise = capital(steps.z, steps.low, up, limit)
    fall = capital(mirror.z, mirror.low, mirror.bets, 1 - limit)

    # What logic settles needs no bet: the values that are left can not reach the limit any more.
    above = np.inf if steps.logical[0] > limit else float(rise[-1]) if rise.size else 1.0
    below = np.inf if upper.logical[1] < limit else float(fall[-1]) if fall.size else 1.0
    peaks = max(above, float(rise.max(initial=1.0))), max(below, float(fall.max(initial=1.0)))
    verdict: Literal["above", "below"] | None = None
    if max(peaks) >= 2 / alpha:
        verdict = "above" if peaks[0] >= peaks[1] else "below"
    return ShareVerdict(
        verdict=verdict,
        above=above,
        below=below,
        peak_above=peaks[0],
        peak_below=peaks[1],
        growth=expected_growth(steps.z, limit, start=options["start"]),
    )


def _ends(lower: Steps, upper: Steps, alpha: float) -> tuple[float, float]:
    _check(alpha)
    least, most = lower.logical[0], upper.logical[1]
    start = lower.floor, lower.ceiling
    low = last_refuted(lower.z, lower.low, _bets(lower), 2 / alpha, *start)
    mirror = mirrored(upper, _bets(upper))
    high = 1 - last_refuted(
        mirror.z, mirror.low, mirror.bets, 2 / alpha, 1 - start[1], 1 - start[0]
    )
    low, high = max(low, least), min(high, most)

    # Both ends can pass each other, with probability at most alpha; then a point is left.
    if low > high:
        low = high = float(
            np.clip((low + high) / 2 if np.isfinite(low + high) else least, least, most)
        )
    return low, high


def _bets(steps: Steps) -> Floats:
    variance = moments_before(steps.z, start=(steps.floor + steps.ceiling) / 2)[1][:-1]
    return np.asarray(1.25 * steps.half_width / variance)  # (W6), cut where it is used


def _check(alpha: float) -> None:
    if not 0 < alpha < 1:
        raise InputError(f"alpha must be in (0, 1), got {alpha!r}")


# The share of ones at a planned stop: the adverse likelihood on the engine's strata.
#
# The mathematics is :mod:`tallystick.stats.adverse_binary` (AL1, AL2). This file only adds what a
# labelling session needs besides: values that are fractions (two readers who disagree count one
# half, grades lie between 0 and 1), and items that were skipped, which count as the least value for
# the low end and as the largest for the high end.


@dataclass(frozen=True, kw_only=True, eq=False)
class PlannedShare:
    """One row per question: the estimate, the interval, and its ends before rounding to items."""

    estimate: Floats
    low: Floats
    high: Floats
    raw_low: Floats
    raw_high: Floats

    def interval(self, row: int = 0, *, alpha: float = 0.05) -> Interval:
        """Return the interval of one row."""
        return Interval(
            float(self.low[row]), float(self.high[row]), level=1 - alpha, method=BINARY_METHOD
        )


def planned_share(
    sizes: ArrayLike, labelled: ArrayLike, low: ArrayLike, high: ArrayLike, *, alpha: float = 0.05
) -> PlannedShare:
    """Bound the mean value where some items were skipped, counting each skip both ways.

    Parameters
    ----------
    sizes, labelled
        N_h and k_h per stratum; a skipped item counts as labelled.
    low, high
        The sums of the values in each stratum, with skips at 0 and with skips at 1.
    alpha
        One minus the level.

    Examples
    --------
    >>> found = planned_share([100], [20], [15.0], [16.0])
    >>> print(found.interval())
    [0.540, 0.930] (95 %, approximate)
    """
    least = planned_shares(sizes, labelled, low, alpha=alpha)
    most = planned_shares(sizes, labelled, high, alpha=alpha)
    return PlannedShare(
        estimate=(least.estimate + most.estimate) / 2,
        low=least.low,
        high=most.high,
        raw_low=least.raw_low,
        raw_high=most.raw_high,
    )


def planned_shares(
    sizes: ArrayLike, labelled: ArrayLike, total: ArrayLike, *, alpha: float = 0.05
) -> PlannedShare:
    """Bound the share of ones among all items of strata, from labels drawn at random inside each.

    Parameters
    ----------
    sizes, labelled, total
        N_h, k_h and the sum of the labelled values; strata along the last axis, any number of rows.
        Values may be fractions in [0, 1]. A stratum of size 0 is skipped.
    alpha
        One minus the level.

    Examples
    --------
    >>> found = planned_shares([28, 80], [10, 20], [3, 19])
    >>> [float(end[0].round(4)) for end in (found.estimate, found.low, found.high)]
    [0.7815, 0.6574, 0.8704]
    """
    n, k, x = (
        np.atleast_2d(np.asarray(part, dtype=np.float64)) for part in (sizes, labelled, total)
    )
    n, k, x = (np.array(part) for part in np.broadcast_arrays(n, k, x))
    if not ((x >= 0) & (x <= k + 1e-9) & (k <= n)).all() or (n.sum(axis=-1) < 1).any():
        raise InputError(
            "counts must satisfy 0 <= total <= labelled <= sizes, with at least one item"
        )
    items, labels, right = (part.sum(axis=-1) for part in (n, k, x))

    # A stratum without labels takes the mean of the strata that have some, by their sizes.
    share = np.clip(np.divide(x, k, out=np.zeros(n.shape), where=k > 0), 0.0, 1.0)
    estimate = (n * fill_unlabelled(n, share, k)).sum(axis=-1) / items
    star = np.where(k > 0, effective_labels(n, k, k == n, "these"), 0.0)
    raw_low, raw_high = raw_share_ends(n, star, share, alpha=alpha)  # (AL2)

    # Outwards to whole items: the truth is a whole number of them (or of halves, if values are).
    least, most = right / items, (right + items - labels) / items
    low = np.floor(items * raw_low) / items
    high = (items - np.floor(items * (1 - raw_high))) / items
    return PlannedShare(
        estimate=np.clip(estimate, least, most),
        low=np.clip(low, least, most),
        high=np.clip(high, least, most),
        raw_low=raw_low,
        raw_high=raw_high,
    )


# The mean of a session's values at a planned stop, each skip counted both ways.
#
# Passes and fails are counted, and the interval is that of a share (`planned_share`). Grades and
# the differences of two systems take more values, and have the likelihood of these values (AL19).


def planned_mean(
    sizes: Vector,
    stratum: Ints,
    values: tuple[Floats, Floats],
    *,
    bounds: tuple[float, float] = (0.0, 1.0),
    counted: bool = True,
    alpha: float = 0.05,
) -> tuple[float, Interval]:
    """Return the estimate and the interval of the mean over all units of the strata.

    Parameters
    ----------
    sizes
        How many units each stratum has.
    stratum
        The stratum of each draw that was read.
    values
        The value of each draw, with skips at the least and at the largest value.
    bounds
        The least and the largest value.
    counted
        Whether a value is one of two, pass or fail. False for grades and differences.
    alpha
        One minus the level.

    Examples
    --------
    Twenty of 100 items were labelled: four in five passed.

    >>> passed = np.array([1.0] * 16 + [0.0] * 4)
    >>> estimate, interval = planned_mean([100], np.zeros(20, int), (passed, passed))
    >>> print(round(estimate, 2), interval)
    0.8 [0.600, 0.930] (95 %, approximate)
    """
    if counted:
        count = np.size(sizes)
        labelled = np.bincount(stratum, minlength=count)
        sums = [np.bincount(stratum, weights=part, minlength=count) for part in values]
        share = planned_share(sizes, labelled, *sums, alpha=alpha)
        return float(share.estimate[0]), share.interval(alpha=alpha)
    low = adverse_stratified_mean(values[0], stratum, sizes, bounds=bounds, alpha=alpha)
    high = low
    if not np.array_equal(*values):
        high = adverse_stratified_mean(values[1], stratum, sizes, bounds=bounds, alpha=alpha)
    ends = low.interval
    interval = Interval(
        ends.low, high.interval.high, ends.level, ends.guarantee, ends.assumption, ends.method
    )
    return (low.estimate + high.estimate) / 2, interval


# One number of a session at a planned stop: the adverse likelihood on the cells of a measure.


GAP = (-1.0, 1.0)
"""The values of a difference of two labels."""


def apart_of(known: Read, measure: Measure, task: LabelTask) -> Apart:
    """Return what labels that are counted apart add to the mean of a measure."""
    total = float(measured(known, measure)[0].sum()) if known.n else 0.0
    return Apart(known=known.n, total=total, sampled=task.strata.n_items)


def planned_measure(
    task: LabelTask, read: Read, measure: Measure, apart: Apart, *, alpha: float = 0.05
) -> tuple[float | Unknown, Interval | Unknown]:
    """Return the estimate and the interval of a planned stop, on the cells of the measure.

    Parameters
    ----------
    task, measure
        What is asked, and which of its numbers is wanted.
    read
        The answers that may be read.
    apart
        Labels that are known and no part of the sample.
    alpha
        One minus the level.
    """
    values = measured(read, measure)
    drawn = measure.cells(task.strata, read.units)
    if not (drawn >= 0).any():
        reason = Unknown(f"no item that counts for {measure.name} is labelled yet")
        return reason, reason
    sizes = measure.cell_sizes(task.strata)
    inside = drawn >= 0
    # Differences and grades take more than two values, so their own likelihood is narrower.
    gap = measure.bounds == GAP
    floor, span = (0.0, 1.0) if gap else (measure.bounds[0], float(np.ptp(measure.bounds)))
    low, high = ((part[inside] - floor) / span for part in values)
    estimate, interval = planned_mean(
        sizes,
        drawn[inside],
        (low, high),
        bounds=GAP if gap else (0.0, 1.0),
        counted=not gap and task.scale is None,
        alpha=alpha,
    )

    # Units outside the cells have value 0, so the mean over all drawn units is a part of it.
    part = float(sizes.sum()) / task.strata.n_items

    def over_all(mean: float) -> float:
        return measure.shown(apart.whole(part * (floor + span * mean)))

    ends = sorted((over_all(interval.low), over_all(interval.high)))
    shown = Interval(ends[0], ends[1], level=interval.level, method=interval.method)
    return over_all(estimate), shown


# How often each judge is right, overall and per class, from labels that were drawn for anything.
#
# Inside a stratum every item is equally likely to be drawn, so inside a *cell* (stratum x vote)
# too.
# The labels of a cell therefore stand for all its items, whatever question they were drawn for.
#
# *Overall.* The value is 1 where the judge's vote is the truth; the interval is the stratified
# adverse likelihood on the judge's cells, for the items on which it voted.
#
# *Per class l.* The value is 1 where the truth is l. With A the expected number of such items
# among
# those that the judge calls l and C among the others, the judge finds A/(A + C) of them. The
# reaches
# of A and C are those of the same interval before rounding, put together by the ratio (I9) and
# (P2).


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
    >>> from tallystick.sampling.label_strata import vote_strata
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
