"""All pairs of columns on the same items, in one table: full truth, few labels, or all known.

One engine for every way in which scores can be known. Right or wrong on every item:
:mod:`~tallystick.stats.two_accuracies`. Scores: Student's t. The truth of some items only:
:mod:`~tallystick.stats.few_labels`. Clusters: :mod:`~tallystick.stats.clusters`. Skewed
scores: :mod:`~tallystick.stats.skewed`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt
from scipy import special

from tallystick._rng import Rng, as_rng
from tallystick.stats.clusters import sign_flip_pairs
from tallystick.stats.exact_tails import whole
from tallystick.stats.few_labels import FewLabels, Rows, fit
from tallystick.stats.intervals import Bounds, Intervals, clopper_pearson, pseudo_t
from tallystick.stats.maxt import adjusted_by_draws, holm, pairwise_max_t, upper_quantile
from tallystick.stats.two_accuracies import discordance, exact_score, paired_test, tango

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]

MOST_CELLS = 20_000_000_000
"""Pairs times draws of max-T, about a minute of work."""
FREE = "the mean of this many items is nearly normal (no bounds were declared for the scores)"
"""What every interval for unbounded scores rests on."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PairTable:
    """Every pair of models: how far apart, how surely, alone and among all pairs.

    Parameters
    ----------
    first, second
        Positions of the two models; pairs are listed as ``numpy.triu_indices`` lists them.
    difference
        Score of the first minus that of the second; NaN where labels are missing.
    first_only, second_only
        Items on which only one of the two is right; NaN for scores that are not 0 or 1.
    spread
        What the difference varies by on a single item (cluster, weighted item), its root mean
        square.
    intervals
        For each difference, alone.
    simultaneous
        For all differences at once.
    p_value, adjusted_p
        Of "both are equally good": of this pair alone, and among all pairs.
    adjustment
        How p-values were adjusted.
    holds_below
        New clusters: each verdict holds unless one more cluster favours the other model by this
        much; None elsewhere.
    ratio, ratio_intervals
        The typical ratio first/second, where that is compared instead of the mean.
    measured
        Pairs tested by plain t beside others that need pseudo-items; None where all are tested
        alike.
    unsettled
        Why no difference of means is given; empty where it is.
    """

    first: npt.NDArray[np.intp]
    second: npt.NDArray[np.intp]
    difference: Floats
    first_only: Floats
    second_only: Floats
    spread: Floats
    intervals: Intervals
    simultaneous: Intervals
    p_value: Floats
    adjusted_p: Floats
    adjustment: str
    holds_below: Floats | None = None
    ratio: Floats | None = None
    ratio_intervals: Intervals | None = None
    measured: npt.NDArray[np.bool_] | None = None
    unsettled: str = ""

    def told(self, alpha: float) -> npt.NDArray[np.bool_]:
        """Return which pairs are told apart: by the test, and by exact intervals as well."""
        told, ends = self.adjusted_p <= alpha, self.simultaneous
        exact = ends.guarantee == "exact" and not self.unsettled
        return np.asarray(told & ((ends.low > 0) | (ends.high < 0)) if exact else told)

    def agreed(self, alpha: float) -> PairTable:
        """Return the table with intervals that say what the tests beside them say."""
        if self.unsettled:
            return self
        own, joint = (
            agreeing(ends, self.difference, p, alpha)
            for ends, p in ((self.intervals, self.p_value), (self.simultaneous, self.adjusted_p))
        )
        # Of one pair, "all pairs at once" is the pair itself: one difference has one interval.
        return replace(self, intervals=own, simultaneous=own if self.first.size == 1 else joint)


def agreeing(ends: Intervals, difference: Floats, p_value: Floats, alpha: float) -> Intervals:
    """Make intervals of differences and the tests beside them tell one story.

    Not told apart: the interval holds 0. Told apart by a test that is sharper than the interval, by
    step-down or by counting: its nearer end is 0 ([HH94]_). What is known stays, and exact and
    anytime intervals are made no shorter.

    >>> ends = Intervals(np.array([-0.1, 0.01]), np.array([0.3, 0.2]), level=0.95)
    >>> found = agreeing(ends, np.array([0.1, 0.1]), np.array([0.04, 0.06]), 0.05)
    >>> found.low.round(6).tolist(), found.high.tolist()
    ([0.0, -0.0], [0.3, 0.2])
    """
    told, low, high = p_value <= alpha, ends.low, ends.high
    beyond = np.minimum(1e-9, 1e-6 * (high - low))  # 0 itself lies inside, or outside
    if ends.guarantee not in ("exact", "anytime"):
        low = np.where(told & (difference > 0), np.maximum(low, beyond), low)
        high = np.where(told & (difference < 0), np.minimum(high, -beyond), high)
    open_ = ~told & (ends.low < ends.high)
    low = np.where(open_, np.minimum(low, -beyond), low)
    return replace(ends, low=low, high=np.where(open_, np.maximum(high, beyond), high))


def pair_table(
    pairs: tuple[Places, Places],
    difference: Floats,
    ends: tuple[Intervals, Intervals],
    p_value: Floats,
    adjusted: tuple[str, Floats],
    *,
    counts: tuple[Floats, Floats] | None = None,
    spread: Floats | None = None,
) -> PairTable:
    """Return a table; one pair alone needs no adjustment.

    Parameters
    ----------
    pairs
        Positions of the two models of each.
    difference, p_value
        One per pair.
    ends
        The intervals of each pair alone, and of all at once.
    adjusted
        How p-values were adjusted, and the adjusted ones.
    counts, spread
        As in :class:`PairTable`; by default not known.
    """
    unknown = np.full(difference.size, np.nan)
    first_only, second_only = counts or (unknown, unknown)
    alone = difference.size == 1
    return PairTable(
        first=pairs[0],
        second=pairs[1],
        difference=difference,
        first_only=first_only,
        second_only=second_only,
        spread=unknown if spread is None else spread,
        intervals=ends[0],
        simultaneous=ends[1],
        p_value=p_value,
        adjusted_p=p_value if alone else adjusted[1],
        adjustment="none: one pair" if alone else adjusted[0],
    )


class ScoreSums(Protocol):
    """Sums and products of scores over items, however they were counted."""

    @property
    def n(self) -> int | float:
        """Items."""

    @property
    def exact(self) -> bool:
        """Whether all scores are whole numbers, summed without rounding."""

    @property
    def weighted(self) -> bool:
        """Whether items have weights."""

    @property
    def sums(self) -> Floats:
        """One per model."""

    @property
    def products(self) -> Floats:
        """Models x models."""

    @property
    def centred(self) -> Floats:
        """The products about the means."""


def is_binary(moments: ScoreSums) -> bool:
    r"""Say whether every score is 0 or 1: whole numbers whose squares sum to what they sum to.

    For whole scores :math:`x^2 \ge x`, with equality at 0 and 1 only.
    """
    return (
        moments.exact
        and not moments.weighted
        and bool(np.array_equal(np.diag(moments.products), moments.sums))
    )


def affordable_draws(models: int, draws: int) -> int:
    """Return how often max-T draws: as asked, or less often for thousands of models, but not below
    1000 times.

    >>> affordable_draws(200, 10_000), affordable_draws(5000, 10_000), affordable_draws(5000, 500)
    (10000, 1600, 500)
    """
    pairs = models * (models - 1) // 2
    return min(draws, max(1000, MOST_CELLS // pairs))


def pairs_of_items(
    moments: ScoreSums,
    *,
    bounds: Bounds | None,
    alpha: float,
    rng: Rng,
    draws: int,
    certified: bool = False,
    measured: npt.NDArray[np.bool_] | None = None,
) -> PairTable:
    r"""Compare all pairs on independent items.

    0/1 scores: Tango's interval and `paired_test`. Scores in *bounds*: Student's t with half a
    pseudo-item at each end of the range of the difference, so that a rare difference that did not
    occur is not ruled out; *measured* pairs, enough of which differ, need none; *certified*: the
    empirical Bernstein inequality, which is always wider. Scores without bounds: Student's t, with
    its assumption named. Pairs are adjusted by step-down max-T
    (:mod:`tallystick.stats.maxt`); no adjusted p-value is below the pair's own.
    """
    n = int(moments.n)
    sums, products = moments.sums, moments.products
    binary = is_binary(moments)
    limit = 1.0 if binary else np.inf if bounds is None else bounds[1] - bounds[0]
    plain = np.isinf(limit) if binary or measured is None else measured | np.isinf(limit)
    width = np.where(plain, 0.0, limit)
    tests = pairwise_max_t(sums, products, n, rng=rng, alpha=alpha, draws=draws, width=width)
    first, second = tests.first, tests.second
    variance = np.maximum(0.0, _of_pairs(moments.centred, first, second)) / max(n - 1, 1)
    own, square = np.diag(moments.centred) / max(n - 1, 1), np.diag(products) / n
    flat = is_flat(variance, own[first] + own[second], square[first] + square[second])
    joint = Intervals(
        np.where(flat & plain, -np.inf, tests.low),
        np.where(flat & plain, np.inf, tests.high),
        level=1 - alpha,
        guarantee="under" if np.isinf(limit) else "approximate",
        assumption=FREE if np.isinf(limit) else None,
        method="max-t",
    )
    joint, how, adjusted, counts = _within(joint, limit), "step-down max-T", tests.adjusted_p, None
    if binary:
        counts = discordance(sums, products, n)
        alone, p_value = _of_counts(*counts, n, alpha, certified)
    elif certified and np.isfinite(limit):
        alone, p_value = empirical_bernstein(tests.difference, variance, n, limit, alpha)
        each, _ = empirical_bernstein(tests.difference, variance, n, limit, alpha / first.size)
        joint, how, adjusted = replace(each, level=1 - alpha), "Holm", holm(p_value)
    else:
        alone, p_value = _of_scores(tests.difference, variance, n, width, alpha, flat)
        if np.isfinite(limit):
            alone = _within(replace(alone, guarantee="approximate", assumption=None), limit)
        if measured is not None and measured.any():
            # Student's t of all pairs at once: few rows reach farther than a normal law allows.
            # Pairs with a pseudo-item are put on the scale of the others by their own p-values.
            bar = -special.stdtrit(n - 1, np.maximum(p_value, 1e-300) / 2)
            covariance, generator = moments.centred / n, as_rng(rng)
            adjusted, largest = adjusted_by_draws(
                covariance, (first, second), bar, p_value, draws, generator, freedom=n - 1
            )
            half = upper_quantile(largest, alpha) * np.where(flat, np.inf, np.sqrt(variance / n))
            low = np.where(measured, tests.difference - half, joint.low)
            high = np.where(measured, tests.difference + half, joint.high)
            joint = _within(replace(joint, low=low, high=high), limit)
    # The draws are those of a normal law; what is told apart must be told apart by its own test
    # too.
    adjusted = np.maximum(adjusted, p_value)
    table = pair_table(
        (first, second),
        tests.difference,
        (alone, joint),
        p_value,
        (how, adjusted),
        counts=counts,
        spread=np.sqrt(variance),
    )
    return table if certified else replace(table, measured=measured)


def known_pairs(means: Floats, n: float, *, alpha: float) -> PairTable:
    """Compare all pairs on these very items, every score of which is known: nothing is in doubt.

    Examples
    --------
    >>> known_pairs(np.array([0.5, 0.5, 0.4]), 10, alpha=0.05).adjusted_p.tolist()
    [1.0, 0.0, 0.0]
    """
    first, second = np.triu_indices(means.size, 1)
    # Means of runs that are equal differ by rounding.
    gap = means[first] - means[second]
    gap = np.where(np.abs(gap) <= 1e-12 * np.abs(means).max(), 0.0, gap)
    return _certain(first, second, gap, gap, gap, alpha)


def _certain(
    first: Places, second: Places, difference: Floats, low: Floats, high: Floats, alpha: float
) -> PairTable:
    """Return pairs of which logic says the range: apart if it leaves out 0, and not otherwise."""
    p_value = np.where((low > 0) | (high < 0), 0.0, 1.0)
    ends = Intervals(low, high, level=1 - alpha, guarantee="exact", method="logic")
    found = pair_table((first, second), difference, (ends, ends), p_value, ("", p_value))
    return replace(found, adjustment="none: these items")


def accuracy_intervals(
    right: npt.ArrayLike, n: npt.ArrayLike, *, alpha: float, certified: bool = False
) -> Intervals:
    """Bound accuracies on new items from counts: the rule of few labels, every item labelled.

    Examples
    --------
    >>> print(accuracy_intervals([27], 30, alpha=0.05)[0])
    [0.744, 0.977] (95%, approximate)
    """
    right, n = np.asarray(right, dtype=float), np.asarray(n, dtype=float)
    if certified:
        return clopper_pearson(right, n, alpha=alpha)
    counts = np.stack([right, n - right], axis=1).ravel()
    some = counts > 0
    rows = Rows(
        y=np.tile([1.0, 0.0], right.size)[some],
        grades=np.empty((int(some.sum()), 0)),
        system=np.repeat(np.arange(right.size), 2)[some],
        count=counts[some],
    )
    return fit(rows, pass_fail=True, population="new").means(alpha=alpha).interval


@dataclass(frozen=True, eq=False)
class Disagreements:
    """On how many items each pair of columns differs, and what the labels there say.

    Pairs are listed as ``numpy.triu_indices`` lists them.

    Parameters
    ----------
    n
        All items.
    apart, labelled
        Items on which the two give different answers; those of them with a true label.
    first_only, second_only
        Of these, on how many only the first, only the second is right.
    """

    n: int
    apart: Floats
    labelled: Floats
    first_only: Floats
    second_only: Floats

    @property
    def blank(self) -> Floats:
        """Disagreements without a label."""
        return self.apart - self.labelled

    @classmethod
    def of(cls, codes: npt.NDArray[np.integer], truth: npt.NDArray[np.integer]) -> Disagreements:
        """Count them: items x columns, and the true code of each item, below 0 where unknown.

        >>> codes = np.array([[0, 0], [0, 1], [1, 0], [0, 1]])
        >>> found = Disagreements.of(codes, np.array([0, 0, -1, -1]))
        >>> found.apart.tolist(), found.labelled.tolist(), found.first_only.tolist()
        ([3.0], [1.0], [1.0])
        """
        known = truth >= 0
        right = (codes == truth[:, None]) & known[:, None]
        parts: list[list[Floats]] = [[], [], [], []]
        for j in range(codes.shape[1] - 1):
            differ = codes[:, j : j + 1] != codes[:, j + 1 :]
            mine, theirs = right[:, j : j + 1], right[:, j + 1 :]
            cells = (differ, differ & known[:, None], mine & ~theirs, ~mine & theirs)
            for part, cell in zip(parts, cells, strict=True):
                part.append(cell.sum(axis=0).astype(float))
        return cls(len(codes), *(np.concatenate(part) for part in parts))


def pairs_of_few_labels(
    found: FewLabels, counts: Disagreements, *, alpha: float, rng: Rng, certified: bool = False
) -> PairTable:
    """Compare all pairs by the labels of items drawn at random.

    A pair all of whose disagreements are labelled is known: on these items exactly, and on new ones
    as from a full truth.
    """
    new = found.population == "new"
    sure = pairs_whatever_the_blanks(counts, alpha=alpha, new=new, certified=certified)
    if not counts.blank.any():
        return sure
    known = (counts.blank == 0) & new  # of these items the fit knows it as well
    fitted = pairs_of_fit(found, alpha=alpha, rng=rng)

    def either(some: Floats, other: Floats) -> Floats:
        return np.where(known, some, other)

    def ends(some: Intervals, other: Intervals) -> Intervals:
        return replace(other, low=either(some.low, other.low), high=either(some.high, other.high))

    return replace(
        fitted,
        difference=either(sure.difference, fitted.difference),
        first_only=counts.first_only,
        second_only=counts.second_only,
        intervals=ends(sure.intervals, fitted.intervals),
        simultaneous=ends(sure.simultaneous, fitted.simultaneous),
        p_value=either(sure.p_value, fitted.p_value),
        adjusted_p=either(sure.adjusted_p, fitted.adjusted_p),
    )


def pairs_of_fit(found: FewLabels, *, alpha: float, rng: Rng, width: float = 1.0) -> PairTable:
    """Compare all pairs by the estimator of few labels; *width* is that of the range of scores,
    which the fit has as 1.
    """
    all_pairs = found.pairs(rng=rng, alpha=alpha)
    first, second = all_pairs.first, all_pairs.second
    own = found.difference(first, second, alpha=alpha).interval
    joint = own if first.size == 1 else all_pairs.interval
    ends = [replace(one, low=width * one.low, high=width * one.high) for one in (own, joint)]
    return pair_table(
        (first, second),
        width * all_pairs.difference,
        (ends[0], ends[1]),
        all_pairs.p_value,
        (f"few labels, {all_pairs.method}", all_pairs.adjusted_p),
    )


def fit_scores(
    scores: Floats, *, bounds: Bounds, weights: Floats | None = None, pass_fail: bool = False
) -> FewLabels:
    """Fit scores in *bounds*, items x models, all of them known: an answer for new items.

    Examples
    --------
    >>> scores = np.array([[1.0, 0.0], [0.5, 0.5], [1.0, 0.5], [0.0, 0.0]] * 5)
    >>> print(fit_scores(scores, bounds=(0, 1)).means().interval[0])
    [0.402, 0.820] (95%, approximate)
    """
    items, models = scores.shape
    rows = Rows(
        y=((scores - bounds[0]) / (bounds[1] - bounds[0])).T.ravel(),
        grades=np.empty((scores.size, 0)),
        system=np.repeat(np.arange(models), items),
        item=np.tile(np.arange(items), models),
        weight=None if weights is None else np.tile(weights, models),
    )
    return fit(rows, pass_fail=pass_fail, population="new")


def mean_intervals(found: FewLabels, *, bounds: Bounds, alpha: float) -> Intervals:
    """Return the intervals of the scores of a fit, in their own range."""
    ends, (low, high) = found.means(alpha=alpha).interval, bounds
    return replace(ends, low=low + (high - low) * ends.low, high=low + (high - low) * ends.high)


def pairs_whatever_the_blanks(
    counts: Disagreements, *, alpha: float, new: bool, certified: bool = False
) -> PairTable:
    """Compare all pairs where nothing is known of how labels were chosen.

    All blank disagreements go to the second for the lower end and to the first for the upper one,
    so what is told apart is told apart whatever they are. On *new* items the counts are then those
    of a full truth: `paired_test`, Tango's ends, and the exact ones for a single pair if
    *certified*.

    Examples
    --------
    >>> counts = Disagreements(10, *(np.array([x]) for x in (4.0, 4.0, 3.0, 1.0)))
    >>> print(pairs_whatever_the_blanks(counts, alpha=0.05, new=False).intervals[0])
    [0.200, 0.200] (95%, exact)
    """
    b, c, u, n = counts.first_only, counts.second_only, counts.blank, counts.n
    first, second = np.triu_indices(round((1 + np.sqrt(1 + 8 * b.size)) / 2), 1)
    difference = np.where(u == 0, (b - c) / n, np.nan)
    if not new:
        table = _certain(first, second, difference, (b - c - u) / n, (b - c + u) / n, alpha)
        return replace(table, first_only=b, second_only=c)

    worst = paired_test(
        b + np.where(b < c, u, 0.0), c + np.where(b > c, u, 0.0), n, certified=certified
    )
    p_value = np.where(np.abs(b - c) > u, worst, 1.0)
    alone = first.size == 1
    own = _ends_of_blanks(counts, alpha, exact=alone and certified)
    joint = own if alone else _ends_of_blanks(counts, alpha / b.size)
    return pair_table(
        (first, second),
        difference,
        (own, replace(joint, level=1 - alpha)),
        p_value,
        ("Holm", holm(p_value)),
        counts=(b, c),
        spread=np.sqrt((b + c) / n),
    )


def _ends_of_blanks(counts: Disagreements, alpha: float, *, exact: bool = False) -> Intervals:
    b, c, u, n = counts.first_only, counts.second_only, counts.blank, counts.n
    low, high = _count_ends(b, c + u, n, alpha, exact), _count_ends(b + u, c, n, alpha, exact)
    return replace(low, low=np.minimum(low.low, high.high), high=high.high)


def _of_counts(
    b: Floats, c: Floats, n: int, alpha: float, certified: bool
) -> tuple[Intervals, Floats]:
    """Return the intervals and p-values of counts; what many pairs share is worked out once."""
    codes, where = np.unique(b * (n + 1) + c, return_inverse=True)
    first_only, second_only = np.divmod(codes, n + 1)
    found = _count_ends(first_only, second_only, n, alpha, certified and b.size == 1)
    p_value = paired_test(first_only, second_only, n, certified=certified)
    return replace(found, low=found.low[where], high=found.high[where]), p_value[where]


def _count_ends(b: Floats, c: Floats, n: int, alpha: float, exact: bool) -> Intervals:
    """Return Tango's interval, or the exact one of a single pair."""
    if not exact:
        return tango(b, c, n, alpha=alpha)
    found = exact_score(int(b[0]), int(c[0]), n, alpha=alpha)
    low, high = (np.array([end]) for end in found)
    return Intervals(low, high, level=1 - alpha, guarantee="exact", method=found.method)


def _within(found: Intervals, limit: float) -> Intervals:
    return replace(
        found, low=np.clip(found.low, -limit, limit), high=np.clip(found.high, -limit, limit)
    )


def is_flat(
    variance: npt.ArrayLike, own: npt.ArrayLike, square: npt.ArrayLike
) -> npt.NDArray[np.bool_]:
    """Say where a score or a difference does not vary but by rounding.

    Without bounds for the scores nothing can then be said of it: a t interval would have no width,
    its p-value be 0.

    Parameters
    ----------
    variance
        Of what is asked about.
    own, square
        The variance and the mean square of the scores that it comes from, which say how large
        rounding is.

    Examples
    --------
    >>> is_flat([0.0, 1e-18, 1e-6], 0.1, 1.0).tolist()
    [True, True, False]
    """
    return np.asarray(np.asarray(variance) <= 1e-13 * np.asarray(own) + 1e-20 * np.asarray(square))


def _of_scores(
    difference: Floats,
    variance: Floats,
    n: int,
    width: Floats,
    alpha: float,
    flat: npt.NDArray[np.bool_],
) -> tuple[Intervals, Floats]:
    """Return t intervals and the p-values that go with them, with pseudo-items where there is a
    *width*.
    """
    whole(2, items=n)
    free = t_intervals(difference, variance, n, alpha, flat)
    error = np.where(flat, np.inf, np.sqrt(variance / n))
    p_value, limit = t_p_value(difference, error, n - 1), float(width.max())
    if not limit:
        return free, p_value
    bounded = pseudo_t(difference, variance, n, alpha=alpha, bounds=(-limit, limit))
    low, high = (
        np.where(width > 0, one, other)
        for one, other in ((bounded.low, free.low), (bounded.high, free.high))
    )
    bounded_p = bounded_p_value(difference, variance, n, limit)
    return replace(bounded, low=low, high=high), np.where(width > 0, bounded_p, p_value)


def t_intervals(
    mean: Floats, variance: Floats, n: int, alpha: float, flat: npt.NDArray[np.bool_]
) -> Intervals:
    """Return Student's intervals; without ends where all values are alike (*flat*)."""
    error = np.where(flat, np.inf, np.sqrt(variance / n))
    half = float(special.stdtrit(n - 1, 1 - alpha / 2)) * error
    ends = mean - half, mean + half
    return Intervals(*ends, level=1 - alpha, guarantee="under", assumption=FREE, method="t")


def empirical_bernstein(
    difference: Floats, variance: Floats, n: int, width: float, alpha: float
) -> tuple[Intervals, Floats]:
    r"""Bound differences of scores at most *width* apart, whatever their law, with p-values.

    .. math:: |\bar D - δ| \le \sqrt{\frac{2 V L}{n}} + \frac{7 \cdot 2w \, L}{3 (n - 1)}, \qquad
              L = \ln(4/α)   \tag{C5}

    A. Maurer and M. Pontil (2009), *Empirical Bernstein bounds*, Theorem 4, at both ends.

    >>> ends, p_value = empirical_bernstein(np.array([0.3]), np.array([0.04]), 200, 1.0, 0.05)
    >>> print(ends[0], p_value.round(4))
    [0.155, 0.445] (95%, exact) [0.0002]
    """
    root, steep = np.sqrt(2 * variance / n), 14 * width / (3 * (n - 1))
    needed = np.log(4 / alpha)
    half = root * np.sqrt(needed) + steep * needed  # (C5)
    # The largest L at which the interval leaves out 0.
    gap = np.abs(difference)
    reached = ((np.sqrt(root**2 + 4 * steep * gap) - root) / (2 * steep)) ** 2
    ends = Intervals(
        np.clip(difference - half, -width, width),
        np.clip(difference + half, -width, width),
        level=1 - alpha,
        guarantee="exact",
        method="empirical-bernstein",
    )
    return ends, np.minimum(1.0, 4 * np.exp(-reached))


def bounded_p_value(difference: Floats, variance: Floats, n: int, width: float) -> Floats:
    """Return the p-values that go with the intervals of `pseudo_t`, for scores that are *width*
    apart at most.
    """
    size, squares = n + 1, variance * (n - 1) + n * difference**2 + width**2
    centre = n * difference / size
    error = np.sqrt((squares - size * centre**2) / (size - 1) / size)  # as in pseudo_t (I7)
    return t_p_value(centre, error, n - 1)


def t_p_value(difference: Floats, error: Floats, freedom: float) -> Floats:
    """Return two-sided p-values of Student's test; 1 where the error is infinite, that is
    unknown.
    """
    return np.asarray(2 * special.stdtr(freedom, -np.abs(difference) / error))


def _of_pairs(matrix: Floats, first: npt.NDArray[np.intp], second: npt.NDArray[np.intp]) -> Floats:
    diagonal = np.diag(matrix)
    return np.asarray(diagonal[first] + diagonal[second] - 2 * matrix[first, second])


# New clusters: sign-flips of bounded scores.


def sign_flip_table(means: Floats, *, bounds: Bounds, rng: Rng, alpha: float = 0.05) -> PairTable:
    """Compare all pairs of bounded scores on new clusters, with the family-wise error held.

    The joint interval of a pair that says nothing (the whole range) is replaced by its own, and
    the table says so in the method of the intervals.

    Parameters
    ----------
    means
        Mean score in each cluster, clusters x models: every cluster counts once.
    bounds, rng, alpha
        Between what scores lie; seed of the subsets; one minus the level.

    Examples
    --------
    >>> means = np.array([(.9, .7), (.8, .75), (.95, .6), (.7, .65), (.85, .8), (.9, .6)])
    >>> table = sign_flip_table(means, bounds=(0, 1), rng=0)
    >>> table.difference.round(4).tolist(), table.p_value.round(4).tolist()
    ([0.1667], [0.125])
    """
    found = sign_flip_pairs(means, width=bounds[1] - bounds[0], rng=rng, alpha=alpha)
    one_at_a_time = "one at a time" if found.vacuous.any() else "simultaneous"

    def ends(low: Floats, high: Floats, method: str) -> Intervals:
        return Intervals(low, high, level=1 - alpha, guarantee="approximate", method=method)

    own = ends(found.low, found.high, "sign-flip")
    joint = ends(
        np.where(found.vacuous, found.low, found.joint_low),
        np.where(found.vacuous, found.high, found.joint_high),
        f"sign-flip, {one_at_a_time}",
    )
    gaps = means[:, found.first] - means[:, found.second]
    table = pair_table(
        (found.first, found.second),
        found.difference,
        (own, joint),
        found.p_value,
        ("step-down sign-flips", found.adjusted_p),
        spread=np.asarray(gaps.std(axis=0, ddof=1)),
    )
    return replace(table, holds_below=found.holds_below)
