"""How far raters agree beyond chance: raw agreement, Cohen, Fleiss, Gwet, Krippendorff, with
jackknife intervals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from tallystick.results import Interval, Unknown
from tallystick.stats.exact_tails import columns_of, one_per, open_unit, positive, whole, within
from tallystick.stats.intervals import clopper_pearson, pseudo_t

# What an agreement statistic returns.


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """One agreement statistic, for these items and for new ones.

    Parameters
    ----------
    name
        What was computed, for instance ``fleiss-kappa`` or ``krippendorff-alpha (ordinal)``.
    estimate
        The exact number for the given items, or why there is none.
    interval
        A range for the same number on new items of the same kind, or why there is none.
    n_items
        Items with at least two ratings: only they say anything about agreement.
    n_raters
        Raters.
    second_commonest
        Ratings of the second commonest label. Below about 5 items a chance-corrected statistic is
        hardly determined: show raw agreement and AC1 beside it.
    """

    name: str
    estimate: float | Unknown
    interval: Interval | Unknown
    n_items: int
    n_raters: int
    second_commonest: int


# Ratings as arrays: the checked input of every agreement statistic.


FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Ratings:
    """Rating patterns with the number of items that show each, checked.

    Parameters
    ----------
    codes
        Patterns x raters: the code of the label, -1 where the rater gave none.
    counts
        How many items show each pattern (whole numbers).
    n_labels
        Size of the label set, at least 2.
    """

    codes: IntArray
    counts: FloatArray
    n_labels: int

    @property
    def n_raters(self) -> int:
        """Number of raters."""
        return int(self.codes.shape[1])

    @cached_property
    def table(self) -> FloatArray:
        """Patterns x labels: how many raters gave each label."""
        n_patterns, n_labels = self.codes.shape[0], self.n_labels
        pattern, rater = np.nonzero(self.codes >= 0)
        cells = pattern * n_labels + self.codes[pattern, rater]
        flat = np.bincount(cells, minlength=n_patterns * n_labels)
        return flat.reshape(n_patterns, n_labels).astype(np.float64)

    def rated(self, at_least: int) -> Ratings:
        """Return the patterns with at least this many ratings."""
        keep = (self.codes >= 0).sum(axis=1) >= at_least
        return Ratings(codes=self.codes[keep], counts=self.counts[keep], n_labels=self.n_labels)


def as_ratings(
    codes: npt.ArrayLike, counts: npt.ArrayLike | None = None, *, n_labels: int | None = None
) -> Ratings:
    """Check arrays and return them as Ratings.

    Parameters
    ----------
    codes
        Items or patterns x raters of label codes; -1 is a missing rating.
    counts
        Items that show each pattern; by default every row is one item.
    n_labels
        Size of the label set; by default the largest code plus 1, and at least 2.

    Examples
    --------
    >>> as_ratings([[0, 1], [1, -1]]).table
    array([[1., 1.],
           [0., 1.]])
    >>> as_ratings([[0, 2]], n_labels=2)
    Traceback (most recent call last):
    tallystick.errors.InputError: codes must be in [-1, 1], got 2
    """
    table = np.asarray(codes)
    columns_of(2, codes=table)
    whole(-1, codes=table)
    table = table.astype(np.int64)
    weights = np.ones(table.shape[0]) if counts is None else np.asarray(counts, dtype=np.float64)
    one_per("row", len(table), counts=weights)
    whole(0, counts=weights)
    # The jackknife adds one item with the second commonest label, so there must be one.
    size = max(2, int(table.max(initial=-1)) + 1) if n_labels is None else n_labels
    whole(2, n_labels=size)
    within((-1, size - 1), codes=table)

    # Rows without an item or without a rating say nothing and only cost time.
    used = (weights > 0) & (table >= 0).any(axis=1)
    return Ratings(codes=table[used], counts=weights[used], n_labels=size)


# Raw agreement: how often raters give the same label, with no correction for chance.


NO_PAIR = "no item has ratings by two raters"


def raw_agreement(
    codes: npt.ArrayLike,
    counts: npt.ArrayLike | None = None,
    *,
    n_labels: int | None = None,
    level: float = 0.95,
) -> Agreement:
    r"""Return how often two raters of an item give the same label.

    With :math:`r_{ik}` ratings of label k among the :math:`r_i` of item i,

    .. math:: p_a = \text{mean over items with } r_i \ge 2 \text{ of }
              \frac{\sum_k r_{ik}(r_{ik} - 1)}{r_i (r_i - 1)}   \tag{G2}

    For two raters it is a share of items, and the interval is exact (Clopper-Pearson); for more
    raters it is the jackknife hull (G1).

    Parameters
    ----------
    codes, counts, n_labels
        As in :func:`~tallystick.stats.agreement.as_ratings`.
    level
        Coverage of the interval for new items.

    Examples
    --------
    >>> raw_agreement([[0, 0], [1, 1], [0, 1], [1, -1]]).estimate
    0.6666666666666666
    """
    ratings = as_ratings(codes, counts, n_labels=n_labels).rated(2)
    found = _of_labels("raw agreement", ratings, _raw, level)
    if isinstance(found.estimate, Unknown) or isinstance(found.interval, Unknown):
        return found
    if (ratings.table.sum(axis=1) == 2).all():
        right = round(found.estimate * found.n_items)
        interval = clopper_pearson(right, found.n_items, alpha=1 - level)
    else:
        interval = replace(found.interval, low=max(found.interval.low, 0.0))
    return replace(found, interval=interval)


def pair_shares(table: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return, per row, the share of agreeing pairs of raters (0 without a pair) and 1 if any pair.

    >>> pair_shares(np.array([[2.0, 1.0], [1.0, 0.0]]))
    (array([0.33333333, 0.        ]), array([1., 0.]))
    """
    size = table.sum(axis=1)
    has_pair = size >= 2
    pairs = np.where(has_pair, size * (size - 1), 1.0)
    agreeing = np.einsum("ik,ik->i", table, table) - size
    return np.where(has_pair, agreeing / pairs, 0.0), has_pair.astype(np.float64)


def _raw(table: FloatArray, counts: FloatArray, minus: FloatArray) -> FloatArray:
    share, has_pair = pair_shares(table)
    minus_share, minus_pair = pair_shares(minus)
    return np.asarray((counts @ share - minus_share) / (counts @ has_pair - minus_pair))  # (G2)


# Cohen's kappa, plain and weighted: agreement of two raters beyond chance.


KappaWeights: TypeAlias = Literal["nominal", "linear", "quadratic"]


def cohen_kappa(
    codes: npt.ArrayLike,
    counts: npt.ArrayLike | None = None,
    *,
    n_labels: int | None = None,
    weights: KappaWeights = "nominal",
    level: float = 0.95,
) -> Agreement:
    r"""Return how far two raters agree beyond chance, if chance knows each rater's label shares.

    With :math:`o_{ab}` the share of items on which the first rater gives a and the second b, and
    :math:`d_{ab}` the cost of that (1 off the diagonal, :math:`|a-b|` or :math:`(a-b)^2`),

    .. math:: \kappa = 1 - \frac{\sum_{ab} d_{ab}\, o_{ab}}
                                {\sum_{ab} d_{ab}\, o_{a\cdot}\, o_{\cdot b}}   \tag{G5}

    J. Cohen, *Weighted kappa*, Psychological Bulletin 70 (1968). Only items that both raters rated
    count.

    Parameters
    ----------
    codes
        Items or patterns x two raters; -1 is a missing rating.
    counts, n_labels
        As in :func:`~tallystick.stats.agreement.as_ratings`.
    weights
        ``nominal`` for labels without order; ``linear`` or ``quadratic`` for grades in the order
        of their codes.
    level
        Coverage of the interval (G1) for new items.

    Examples
    --------
    >>> found = cohen_kappa([[0, 0]] * 6 + [[1, 1]] * 6)
    >>> found.estimate
    1.0
    >>> print(found.interval)
    [0.512, 1.000] (95%, approximate)
    """
    ratings = _of_two(codes, counts, n_labels)
    size = ratings.n_labels

    # Items are cells (a, b) of the joint table, numbered from 1 so that a row of zeros is no item.
    cells, where = np.unique(ratings.codes @ [size, 1], return_inverse=True)
    tally = np.bincount(where.ravel(), weights=ratings.counts).astype(np.float64)
    pairs = np.column_stack(np.divmod(cells, size)).astype(np.float64) + 1
    first, second = two_commonest(ratings.counts @ ratings.table)
    forms = ((first, second), (second, second), (second, first))  # (a), (b), (c)
    return _agreement(
        "cohen-kappa" if weights == "nominal" else f"cohen-kappa ({weights})",
        ratings,
        (pairs, tally),
        lambda: [np.array(form, dtype=np.float64) + 1 for form in forms],
        partial(_cohen, cost=_cost(size, weights)),
        level,
        undefined="both raters always gave the same one label, so agreement is certain",
    )


def _of_two(codes: npt.ArrayLike, counts: npt.ArrayLike | None, n_labels: int | None) -> Ratings:
    """Return the items that both of two raters rated."""
    ratings = as_ratings(codes, counts, n_labels=n_labels)
    columns_of(2, most=2, codes=ratings.codes)
    return ratings.rated(2)


def _cost(size: int, weights: KappaWeights) -> FloatArray:
    step = np.abs(np.subtract.outer(np.arange(size), np.arange(size))).astype(np.float64)
    if weights == "nominal":
        return np.minimum(step, 1.0)
    return step if weights == "linear" else step**2


def _cohen(
    pairs: FloatArray, counts: FloatArray, minus: FloatArray, *, cost: FloatArray
) -> FloatArray:
    size = cost.shape[0]
    a, b = pairs.astype(np.int64).T - 1
    rows = np.bincount(a, weights=counts, minlength=size)
    columns = np.bincount(b, weights=counts, minlength=size)
    observed, by_first, by_second = float(counts @ cost[a, b]), cost @ columns, rows @ cost

    # Less one item (x, y): each sum changes by one entry, so that no table is built anew.
    taken = minus[:, 0] > 0
    x, y = np.where(taken[:, None], minus.astype(np.int64) - 1, 0).T
    own = taken * cost[x, y]
    expected = rows @ by_first - taken * (by_first[x] + by_second[y]) + own
    n = counts.sum() - taken

    defined = expected > 1e-9  # whole counts times costs: nothing lies between 0 and 1
    ratio = n * (observed - own) / np.where(defined, expected, 1.0)
    return np.where(defined, 1 - ratio, np.nan)  # (G5)


# Fleiss' kappa: agreement of several raters beyond chance, chance from all raters together.


def fleiss_kappa(
    codes: npt.ArrayLike,
    counts: npt.ArrayLike | None = None,
    *,
    n_labels: int | None = None,
    level: float = 0.95,
) -> Agreement:
    r"""Return how far several raters agree beyond chance, if chance knows only the label shares.

    With :math:`p_a` of (G2) and :math:`\pi_k` the mean over items of the share of label k,

    .. math:: \kappa = \frac{p_a - p_e}{1 - p_e}, \qquad p_e = \sum_k \pi_k^2   \tag{G3}

    With complete ratings this is Fleiss' formula. With missing ratings every item counts alike,
    as in K. L. Gwet, *Handbook of Inter-Rater Reliability*: an item with one rating adds to
    :math:`\pi`, not to :math:`p_a`.

    Parameters
    ----------
    codes, counts, n_labels
        As in :func:`~tallystick.stats.agreement.as_ratings`.
    level
        Coverage of the interval (G1) for new items.

    Examples
    --------
    >>> found = fleiss_kappa([[0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [0, 0, 0]])
    >>> round(found.estimate, 4)
    0.7321
    >>> fleiss_kappa([[0, 0], [0, 0]]).estimate
    Unknown(reason='only one label was given, so agreement by chance is certain')
    """
    return _of_labels("fleiss-kappa", as_ratings(codes, counts, n_labels=n_labels), _fleiss, level)


def agreement_and_shares(
    table: FloatArray, counts: FloatArray, minus: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return (G2) and the label shares (rows x labels) on all items less each row of *minus*."""
    items = counts.sum() - (minus.sum(axis=1) > 0)
    labels = (counts @ _label_shares(table) - _label_shares(minus)) / items[:, None]
    return _raw(table, counts, minus), labels


def _label_shares(table: FloatArray) -> FloatArray:
    size = table.sum(axis=1, keepdims=True)
    return np.asarray(table / np.where(size > 0, size, 1.0))


def _fleiss(table: FloatArray, counts: FloatArray, minus: FloatArray) -> FloatArray:
    agreement, labels = agreement_and_shares(table, counts, minus)
    chance = np.einsum("ik,ik->i", labels, labels)
    room = 1 - chance
    defined = room > 1e-12  # chance agreement of 1 leaves no room to agree beyond it
    return np.where(defined, (agreement - chance) / np.where(defined, room, 1.0), np.nan)  # (G3)


# Gwet's AC1: agreement beyond chance that stays steady when one label is rare.


def gwet_ac1(
    codes: npt.ArrayLike,
    counts: npt.ArrayLike | None = None,
    *,
    n_labels: int | None = None,
    level: float = 0.95,
) -> Agreement:
    r"""Return how far raters agree beyond chance, where chance is the share of hard items.

    With :math:`p_a` of (G2), the label shares :math:`\pi_k` of (G3) and K labels,

    .. math:: AC_1 = \frac{p_a - p_e}{1 - p_e}, \qquad
              p_e = \frac{1}{K - 1} \sum_k \pi_k (1 - \pi_k)   \tag{G4}

    K. L. Gwet, *Computing inter-rater reliability and its variance in the presence of high
    agreement*, British Journal of Mathematical and Statistical Psychology 61 (2008). K is the
    size of the label set, labels that nobody gave included. Chance is never above one half, so
    AC1 is always defined.

    Parameters
    ----------
    codes, counts, n_labels
        As in :func:`~tallystick.stats.agreement.as_ratings`.
    level
        Coverage of the interval (G1) for new items.

    Examples
    --------
    Ten items, always the same label: kappa is undefined, AC1 is not.

    >>> found = gwet_ac1([[0, 0]] * 10)
    >>> found.estimate
    1.0
    >>> print(found.interval)
    [0.677, 1.000] (95%, approximate)
    """
    return _of_labels("gwet-ac1", as_ratings(codes, counts, n_labels=n_labels), _ac1, level)


def _ac1(table: FloatArray, counts: FloatArray, minus: FloatArray) -> FloatArray:
    agreement, labels = agreement_and_shares(table, counts, minus)
    chance = (labels * (1 - labels)).sum(axis=1) / (labels.shape[1] - 1)
    return np.asarray((agreement - chance) / (1 - chance))  # (G4)


# Krippendorff's alpha: reliability of several raters for labels or for grades in order.


Metric: TypeAlias = Literal["nominal", "ordinal"]


def krippendorff_alpha(
    codes: npt.ArrayLike,
    counts: npt.ArrayLike | None = None,
    *,
    metric: Metric = "nominal",
    n_labels: int | None = None,
    level: float = 0.95,
) -> Agreement:
    r"""Return one minus the ratio of observed to expected disagreement.

    Every pair of ratings of an item with :math:`m \ge 2` ratings counts :math:`1/(m - 1)`, which
    gives the coincidences :math:`o_{ck}`, their margins :math:`n_c` and :math:`n = \sum_c n_c`:

    .. math:: \alpha = 1 - (n - 1) \frac{\sum_{ck} o_{ck}\, \delta^2_{ck}}
                                        {\sum_{ck} n_c n_k\, \delta^2_{ck}}   \tag{G6}

    with :math:`\delta^2 = 1[c \ne k]` (nominal) or the squared difference of the mid-ranks
    :math:`\sum_{g<c} n_g + n_c/2` (ordinal). K. Krippendorff, *Content Analysis*. Items with one
    rating do not count.

    Parameters
    ----------
    codes, counts, n_labels
        As in :func:`~tallystick.stats.agreement.as_ratings`; for ``ordinal`` the codes must be
        in the order of the grades.
    metric
        What a disagreement costs.
    level
        Coverage of the interval (G1) for new items.

    Examples
    --------
    >>> codes = [[0, 0, 0], [0, 0, 1], [1, 1, 1], [1, -1, 1], [2, 2, 1], [2, 2, 2]]
    >>> round(krippendorff_alpha(codes).estimate, 4)
    0.6632
    >>> round(krippendorff_alpha(codes, metric="ordinal").estimate, 4)
    0.8118
    """
    ratings = as_ratings(codes, counts, n_labels=n_labels).rated(2)
    statistic = _nominal if metric == "nominal" else _ordinal
    return _of_labels(f"krippendorff-alpha ({metric})", ratings, statistic, level)


def _nominal(table: FloatArray, counts: FloatArray, minus: FloatArray) -> FloatArray:
    margins = counts @ table - minus
    observed = counts @ _unlike_pairs(table) - _unlike_pairs(minus)
    n = margins.sum(axis=1)
    return _alpha(observed, n**2 - (margins**2).sum(axis=1), n)


def _unlike_pairs(table: FloatArray) -> FloatArray:
    """Return, per item, the coincidences of two different labels."""
    size = table.sum(axis=1)
    return np.asarray((size**2 - (table**2).sum(axis=1)) / np.maximum(size - 1, 1.0))


def _ordinal(table: FloatArray, counts: FloatArray, minus: FloatArray) -> FloatArray:
    margins = counts @ table - minus
    n = margins.sum(axis=1)
    ranks = np.cumsum(margins, axis=1) - margins / 2  # mid-ranks, which change with every item left
    ranks -= n[:, None] / 2

    # With ranks x, Σ o_ck (x_c - x_k)² = 2 (Σ n_c x_c² - x'o x). The coincidences without an item
    # are those of all items less its own, so one K x K matrix serves every row of *minus*.
    size = table.sum(axis=1)
    weight = counts / np.maximum(size - 1, 1.0)
    coincidences = (table * weight[:, None]).T @ table - np.diag(weight @ table)
    own = (minus * ranks).sum(axis=1) ** 2 - (minus * ranks**2).sum(axis=1)
    own /= np.maximum(minus.sum(axis=1) - 1, 1.0)
    product = np.einsum("ic,ic->i", ranks @ coincidences, ranks) - own
    squares = (margins * ranks**2).sum(axis=1)
    observed = 2 * (squares - product)

    expected = 2 * (n * squares - (margins * ranks).sum(axis=1) ** 2)
    return _alpha(observed, expected, n)


def _alpha(observed: FloatArray, expected: FloatArray, n: FloatArray) -> FloatArray:
    defined = expected > 1e-9 * np.maximum(n, 1.0)
    ratio = (n - 1) * observed / np.where(defined, expected, 1.0)
    return np.where(defined, 1 - ratio, np.nan)  # (G6)


# Grades on a scale: which of two raters grades higher.


def mean_bias(
    codes: npt.ArrayLike,
    counts: npt.ArrayLike | None = None,
    *,
    values: npt.ArrayLike | None = None,
    n_labels: int | None = None,
    level: float = 0.95,
) -> Agreement:
    r"""Return how much higher the first rater grades than the second, on average.

    .. math:: b = \text{mean over items of } x_{i1} - x_{i2}   \tag{G7}

    The interval is Student's with half an item at each end of the scale of differences (I7), so it
    does not collapse when the raters always agree.

    Parameters
    ----------
    codes
        Items or patterns x two raters; -1 is a missing grade.
    counts, n_labels
        As in :func:`~tallystick.stats.agreement.as_ratings`.
    values
        Numbers that the codes stand for; by default the codes themselves.
    level
        Coverage of the interval for new items.

    Examples
    --------
    >>> found = mean_bias([[3, 2], [4, 4], [2, 1], [3, 3]] * 10, n_labels=5)
    >>> found.estimate
    0.5
    >>> print(found.interval)
    [0.232, 0.744] (95%, approximate)
    """
    ratings = _of_two(codes, counts, n_labels)
    scale = np.arange(ratings.n_labels) if values is None else np.asarray(values, dtype=np.float64)
    one_per("label", ratings.n_labels, values=scale)
    bound = float(np.ptp(scale))
    positive(range_of_values=bound)

    n = float(ratings.counts.sum())
    mean: float | Unknown = Unknown(NO_PAIR)
    interval: Interval | Unknown = Unknown(NO_PAIR if not n else "one item has no spread")
    if n:
        difference = scale[ratings.codes[:, 0]] - scale[ratings.codes[:, 1]]
        mean = float(ratings.counts @ difference) / n  # (G7)
        if n > 1:
            variance = float(ratings.counts @ (difference - mean) ** 2) / (n - 1)
            interval = pseudo_t(mean, variance, n, alpha=1 - level, bounds=(-bound, bound))
    return _described("mean bias", ratings, mean, interval)


# The interval of every agreement statistic: jackknife-t with one more item, three times.
#
# The plain jackknife collapses when all raters agree or a label was never seen. So one item is
# added before the jackknife, in three forms:
#
# (a) the raters alternate between the commonest and the second commonest label,
# (b) all raters give the second commonest label,
# (c) as (a), with the two labels exchanged.
#
# With :math:`N = n + 1` items, :math:`\hat\theta` the statistic on all of them and
# :math:`\hat\theta_{-i}` without item i,
#
# .. math:: \hat\theta \pm t_{N-1}\, s, \qquad
#           s^2 = \frac{N-1}{N} \sum_i \bigl(\hat\theta_{-i} - \bar\theta\bigr)^2   \tag{G1}
#
# The interval is the hull of the three, cut to [-1, 1]. Where chance agreement is 1, the statistic
# is taken as 1 inside the jackknife. Measured coverage at 95%, mean and worst of 25 populations:
# .991 and .961 with 10 items, .974 and .954 with 50, .964 and .944 with 200.


Statistic: TypeAlias = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]
"""``statistic(items, counts, minus)``: one value per row of *minus*, on all items less that row.

A row of zeros removes nothing. NaN where the statistic is not defined.
"""


def _described(
    name: str, ratings: Ratings, estimate: float | Unknown, interval: Interval | Unknown
) -> Agreement:
    """Return a statistic with the counts that stand beside it."""
    totals = ratings.counts @ ratings.table
    return Agreement(
        name=name,
        estimate=estimate,
        interval=interval,
        n_items=int(ratings.rated(2).counts.sum()),
        n_raters=ratings.n_raters,
        second_commonest=int(totals[two_commonest(totals)[1]]),
    )


def _agreement(
    name: str,
    ratings: Ratings,
    items: tuple[FloatArray, FloatArray],
    extras: Callable[[], list[FloatArray]],
    statistic: Statistic,
    level: float,
    *,
    undefined: str,
) -> Agreement:
    """Return a statistic of rows with counts and its interval, or why there is none."""
    if not ratings.rated(2).counts.sum():
        return _described(name, ratings, Unknown(NO_PAIR), Unknown(NO_PAIR))
    rows, counts = items
    value = float(statistic(rows, counts, np.zeros((1, rows.shape[1])))[0])
    estimate = Unknown(undefined) if np.isnan(value) else value
    interval = jackknife_hull(rows, counts, extras(), statistic, level=level)
    return _described(name, ratings, estimate, interval)


def _of_labels(name: str, ratings: Ratings, statistic: Statistic, level: float) -> Agreement:
    """Return a statistic of the numbers of raters that gave each label."""
    return _agreement(
        name,
        ratings,
        (ratings.table, ratings.counts),
        lambda: extra_items(ratings),
        statistic,
        level,
        undefined="only one label was given, so agreement by chance is certain",
    )


def jackknife_hull(
    items: FloatArray,
    counts: FloatArray,
    extras: Sequence[FloatArray],
    statistic: Statistic,
    *,
    level: float = 0.95,
) -> Interval:
    """Return the hull of (G1) over the *extras*, each added to the items on its own.

    Items of one row have the same leave-one-out value, so the cost is that of the rows given, not
    of the items they stand for.

    Examples
    --------
    The share of agreement, 20 of 20, with one more item that agrees or does not. A row holds
    (1, agrees):

    >>> def share(items, counts, minus):
    ...     left = counts @ items - minus
    ...     return left[:, 1] / left[:, 0]
    >>> items, extras = np.array([[1.0, 1.0]]), [np.array([1.0, 0.0]), np.array([1.0, 1.0])]
    >>> print(jackknife_hull(items, np.array([20.0]), extras, share))
    [0.853, 1.000] (95%, approximate)
    """
    open_unit(level=level)
    from scipy.special import stdtrit

    quantile = float(stdtrit(counts.sum(), (1 + level) / 2))  # N - 1 = n degrees of freedom
    lows, highs = [], []
    for extra in extras:
        rows = np.vstack((items, extra))
        weights = np.append(counts, 1.0)
        n = weights.sum()

        # Undefined means that chance agreement is 1; every rater then agrees with every other.
        minus = np.vstack((np.zeros(rows.shape[1]), rows))
        values = np.nan_to_num(statistic(rows, weights, minus), nan=1.0)
        centre, without = float(values[0]), values[1:]

        mean = float(weights @ without) / n
        error = np.sqrt((n - 1) / n * float(weights @ (without - mean) ** 2))  # (G1)
        lows.append(centre - quantile * error)
        highs.append(centre + quantile * error)
    low, high = np.clip((min(lows), max(highs)), -1.0, 1.0)
    return Interval(float(low), float(high), level=level, method="jackknife-t hull")


def two_commonest(totals: FloatArray) -> tuple[int, int]:
    """Return the commonest and the second commonest label; ties go to the first label.

    >>> two_commonest(np.array([0.0, 5.0, 0.0]))
    (1, 0)
    """
    order = np.argsort(-totals, kind="stable")
    return int(order[0]), int(order[1])


def extra_items(ratings: Ratings) -> list[FloatArray]:
    """Return the items (a), (b) and (c) as counts over labels.

    They carry as many ratings as an average item: with complete ratings one per rater. In a
    sparse table an item rated by every rater would outweigh all real ones.
    """
    table, counts = ratings.table, ratings.counts
    first, second = two_commonest(counts @ table)
    size = table.sum(axis=1)
    several = size >= 2
    m = int(np.rint((counts * size)[several].sum() / counts[several].sum()))
    more, fewer = (m + 1) // 2, m // 2

    extras = [np.zeros(ratings.n_labels) for _ in range(3)]
    extras[0][[first, second]] = more, fewer  # (a)
    extras[1][second] = m  # (b)
    extras[2][[second, first]] = more, fewer  # (c)
    return extras
