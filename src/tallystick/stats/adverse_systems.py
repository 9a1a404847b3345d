"""Several systems, labelled on the same items: the order that the labels prove.

Each system s has labels :math:`y_{is}` and a consensus :math:`c_{is}`; both are turned into
adjusted labels :math:`u_{is}` with its own slope (AL5). Labels are never pooled over systems.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tallystick._rng import Rng, as_rng
from tallystick.errors import InputError
from tallystick.results import Interval, Unknown
from tallystick.stats.adverse_binary import (
    AdverseEstimate,
    Ends,
    Population,
    adjust,
    check_population,
)
from tallystick.stats.adverse_ends import Spread
from tallystick.stats.adverse_forecast import PSEUDO_TEST
from tallystick.stats.adverse_numbers import SCORES
from tallystick.stats.exact_tails import open_unit, whole
from tallystick.stats.intervals import Floats, Intervals, Numbers, Vector
from tallystick.stats.maxt import step_down as step_down_counts

PSEUDO_INTERVAL = 2.0
"""Added to the squares of a simultaneous interval, so that it cannot collapse."""
FEWEST = 3
"""The intervals have m - 2 degrees of freedom."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SystemPairs:
    """Every pair of systems, in the order (0, 1), (0, 2), (1, 2) for three.

    Parameters
    ----------
    first, second
        Positions of the two systems.
    difference
        Mean adjusted label of the first minus that of the second.
    statistic
        T, positive if the first is ahead.
    p_value, adjusted_p
        Of this pair alone, and by step-down max-T over all pairs. The orders with an adjusted
        p-value of at most α are all right with probability 1 - α.
    interval
        Simultaneous intervals: all of them hold at once.
    quantile
        The multiplier q of the simultaneous intervals.
    """

    first: npt.NDArray[np.intp]
    second: npt.NDArray[np.intp]
    difference: Floats
    statistic: Floats
    p_value: Floats
    adjusted_p: Floats
    interval: Intervals
    quantile: float


def compare_systems(
    labels: Vector,
    consensus: Vector,
    every: Vector,
    *,
    counts: Vector | None = None,
    rng: Rng,
    population: Population = "these",
    alpha: float = 0.05,
    draws: int = 10_000,
) -> SystemPairs:
    r"""Tell systems apart, with the error over all pairs held, from m items labelled for all.

    With D the differences of adjusted labels and :math:`\varphi = 1 - m/N`,

    .. math:: T_{ab} = \frac{\sum D}{\sqrt{\varphi \sum D^2 + 1.5}}.   \tag{AL10}

    How large the largest :math:`|T|` gets by chance is seen in draws from
    :math:`N(0, \mathrm{cov}\, u)`, recomputed over the pairs that are not yet told apart (step-down
    max-T, as in :mod:`tallystick.stats.maxt`). No adjusted p-value is below the pair's own. The
    simultaneous intervals are

    .. math:: \bar D \mp q \sqrt{\frac{(SS + 2) \varphi}{m (m - 2)}}, \qquad
              SS = \sum (D - \bar D)^2,   \tag{AL11}

    with q the :math:`1 - \alpha` quantile of :math:`\max |Z_{ab}| / \sqrt{\chi^2_{m-2}/(m-2)}`, and
    at least Student's quantile of a single pair; clipped to [-1, 1]. Approximate. When the 1.5 was
    chosen, a wrong order was claimed in at most .046 of runs on exact ties.

    Once every item is labelled, any difference is certain: its p-value is 0.

    For ``new`` items :math:`\varphi = 1`, and the variance of :math:`b_a c_a - b_b c_b` over the N
    items, times :math:`m^2/N`, is added to the squares. This form is derived, not measured.

    Parameters
    ----------
    labels, consensus
        y and c on the labelled items, items x systems, on [0, 1].
    every
        c on all N items, items x systems.
    counts
        How many items each row of *every* stands for; one each by default.
    rng
        Seed or generator.
    population
        ``these`` items, or ``new`` items like them.
    alpha
        One minus the level.
    draws
        Gaussian draws.

    Examples
    --------
    Three systems, no help from judges, 24 of 40 items labelled:

    >>> rows = [[1, 1, 0], [1, 0, 0], [1, 1, 1], [1, 1, 0], [1, 0, 0], [1, 1, 0]] * 4
    >>> found = compare_systems(rows, np.zeros((24, 3)), np.zeros((40, 3)), rng=0)
    >>> found.difference.round(3).tolist(), found.adjusted_p.round(2).tolist()
    ([0.333, 0.833, 0.5], [0.0, 0.0, 0.0])
    """
    open_unit(alpha=alpha)
    whole(1, draws=draws)
    check_population(population)
    y, c, all_c = _matrices(labels, consensus, every)
    times = np.ones(len(all_c)) if counts is None else np.asarray(counts, dtype=np.float64)
    m, n = len(y), int(times.sum())
    if m > n:
        raise InputError(f"labels: need at most the {n} items of every, got {m}")
    values, slopes = _adjusted(y, c, all_c, times)
    return _tests(
        values,
        chance=_chance(all_c * slopes, times) / n
        if population == "new"
        else np.zeros((y.shape[1],) * 2),
        correction=1 - m / n if population == "these" else 1.0,
        generator=as_rng(rng),
        alpha=alpha,
        draws=draws,
    )


def _tests(
    values: Floats,
    *,
    chance: Floats,
    correction: float,
    generator: np.random.Generator,
    alpha: float,
    draws: int,
) -> SystemPairs:
    """Test all pairs of columns of u; *chance* is what new items add to the covariance of means."""
    from scipy.special import ndtr, stdtrit

    m, k = values.shape
    first, second = np.triu_indices(k, 1)
    squares, centred, lead = _sums(values)
    extra = chance[first, first] + chance[second, second] - 2 * chance[first, second]
    statistic = lead / np.sqrt(correction * squares + m**2 * extra + PSEUDO_TEST)  # (AL10)
    p_value = np.minimum(1.0, 2 * ndtr(-np.abs(statistic)))

    # Westfall and Young's step-down: a pair that is told apart no longer counts against the others.
    # The draws are those of max-T; only the statistic, with its pseudo-item, is ours.
    covariance = _chance(values) * correction + m * chance
    order = np.argsort(np.abs(statistic), kind="stable")
    reached, largest = step_down_counts(
        covariance, first[order], second[order], np.abs(statistic)[order], draws, generator
    )
    stepped = np.maximum((1 + reached) / (1 + draws), p_value[order])
    adjusted = np.empty(order.size)
    adjusted[order] = np.maximum.accumulate(stepped[::-1])[::-1]
    if correction == 0:  # every item is labelled: what differs, differs for certain
        p_value = adjusted = np.where(np.abs(lead) > 1e-9 * m, 0.0, 1.0)

    # Intervals need the spread of each pair, so their quantile is that of the largest |t|.
    freedom = m - 2
    student = largest / np.sqrt(generator.chisquare(freedom, size=draws) / freedom)
    rank = min(draws, int(np.ceil((1 - alpha) * (draws + 1))))
    quantile = max(
        float(np.partition(student, rank - 1)[rank - 1]), float(stdtrit(freedom, 1 - alpha / 2))
    )
    difference = lead / m
    half = quantile * np.sqrt((centred + PSEUDO_INTERVAL) * correction / (m * freedom) + extra)
    return SystemPairs(
        first=first,
        second=second,
        difference=difference,
        statistic=statistic,
        p_value=p_value,
        adjusted_p=adjusted,
        interval=Intervals(
            np.clip(difference - half, -1.0, 1.0),
            np.clip(difference + half, -1.0, 1.0),
            level=1 - alpha,
            method="adjusted labels, simultaneous",
        ),
        quantile=quantile,
    )


def _sums(values: Floats) -> tuple[Floats, Floats, Floats]:
    """Return Σ D², Σ(D - D̄)² and Σ D of every pair of columns."""
    first, second = np.triu_indices(values.shape[1], 1)
    lead = values.sum(axis=0)[first] - values.sum(axis=0)[second]
    centred = _of_pairs(_chance(values) * len(values))
    return centred + lead**2 / len(values), centred, lead


def _chance(values: Floats, counts: Floats | None = None) -> Floats:
    """Return the covariance of the columns, divided by the number of rows."""
    if counts is None:
        off = values - values.mean(axis=0)
        return np.asarray(off.T @ off / len(values))
    off = values - counts @ values / counts.sum()
    return np.asarray(off.T @ (counts[:, None] * off) / counts.sum())


def _of_pairs(matrix: Floats) -> Floats:
    first, second = np.triu_indices(len(matrix), 1)
    diagonal = np.diag(matrix)
    return np.maximum(0.0, diagonal[first] + diagonal[second] - 2 * matrix[first, second])


def _adjusted(y: Floats, c: Floats, every: Floats, counts: Floats) -> tuple[Floats, Floats]:
    """Return the adjusted labels of every system, each with its own slope, and the slopes."""
    values, slopes = np.empty_like(y), np.empty(y.shape[1])
    ones = np.ones((1, len(y)))
    for s in range(y.shape[1]):
        found = adjust(
            y[None, :, s],
            c[None, :, s],
            Spread.of(every[:, s], counts),
            bounds=SCORES,
            weights=ones,
        )
        values[:, s], slopes[s] = found.values[0], found.slope[0]
    return values, slopes


def _matrices(labels: Vector, consensus: Vector, every: Vector) -> tuple[Floats, Floats, Floats]:
    y, c, all_c = (np.asarray(part, dtype=np.float64) for part in (labels, consensus, every))
    if y.ndim != 2 or c.shape != y.shape or all_c.ndim != 2 or all_c.shape[1] != y.shape[1]:
        raise InputError(
            "labels, consensus and every must be items x systems, "
            f"got shapes {y.shape}, {c.shape} and {all_c.shape}"
        )
    if y.shape[1] < 2:
        raise InputError("labels: there is one system only: use adverse_mean for it")
    if len(y) < FEWEST:
        raise InputError(f"labels: need at least {FEWEST} items, got {len(y)}")
    return y, c, all_c


# Two systems labelled on different items, or on partly common ones.


PAIR_FEWEST = 5
"""Fewer common items than this do not show a correlation: the worst one is assumed."""
METHOD = "adverse likelihood, MOVER"


@dataclass(frozen=True, kw_only=True)
class CommonItems:
    """Items on which both systems were labelled.

    Parameters
    ----------
    count
        How many there are.
    correlation
        Correlation of the two systems' labels on them; -1 if there are fewer than five.
    """

    count: int
    correlation: float

    @classmethod
    def of(cls, first: Vector, second: Vector) -> CommonItems:
        """Measure the correlation of two systems' labels on their common items.

        Labels of one system that are all equal have no correlation with anything: it is 0.

        Examples
        --------
        >>> common = CommonItems.of([1, 1, 0, 0, 1, 0], [0, 1, 1, 1, 0, 1])
        >>> common.count, round(common.correlation, 4)
        (6, -0.7071)
        >>> CommonItems.of([1, 0], [1, 0])
        CommonItems(count=2, correlation=-1.0)
        """
        a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
        if a.ndim != 1 or a.shape != b.shape:
            raise InputError(
                "first and second must hold one label per common item, "
                f"got shapes {a.shape} and {b.shape}"
            )
        if a.size < PAIR_FEWEST:
            return cls(count=a.size, correlation=-1.0)
        if np.ptp(a) == 0 or np.ptp(b) == 0:
            return cls(count=a.size, correlation=0.0)
        return cls(count=a.size, correlation=float(np.corrcoef(a, b)[0, 1]))


def mover_reach(
    first: Numbers, second: Numbers, *, shared: Numbers, correlation: Numbers
) -> Floats:
    r"""Return how far a difference reaches to one side, from the reaches of its two parts.

    .. math:: \sqrt{a^2 + b^2 + 2 \max(0, -r) \frac{m_c}{\sqrt{m_A m_B}}\, a b}   \tag{AL9}

    A negative correlation on common items widens the difference; a positive one would narrow it,
    and is not used.

    Parameters
    ----------
    first, second
        The reaches a and b.
    shared
        :math:`m_c/\sqrt{m_A m_B}`: common items against the labels of both systems.
    correlation
        r.

    Examples
    --------
    >>> round(float(mover_reach(0.10, 0.08, shared=0.5, correlation=-0.5)), 4)
    0.1428
    >>> round(float(mover_reach(0.10, 0.08, shared=0.5, correlation=0.3)), 4)
    0.1281
    """
    a, b, r = (np.asarray(part, dtype=np.float64) for part in (first, second, correlation))
    return np.asarray(np.sqrt(a**2 + b**2 + 2 * np.maximum(0.0, -r) * shared * a * b))  # (AL9)


def difference_ends(
    first: tuple[Numbers, Numbers, Numbers],
    second: tuple[Numbers, Numbers, Numbers],
    *,
    shared: Numbers,
    correlation: Numbers,
) -> Ends:
    """Return both ends of a difference from the estimate, the lower and the upper end of each part.

    Parameters
    ----------
    first, second
        Estimate, lower and upper end: numbers, or arrays of many pairs.
    shared, correlation
        As in :func:`mover_reach`.

    Examples
    --------
    >>> low, high = difference_ends((0.8, 0.7, 0.9), (0.5, 0.4, 0.6), shared=0.0, correlation=0.0)
    >>> round(float(low), 3), round(float(high), 3)
    (0.159, 0.441)
    """
    (a, low_a, high_a), (b, low_b, high_b) = (
        tuple(np.asarray(part, dtype=np.float64) for part in side) for side in (first, second)
    )

    def reach(one: Floats, two: Floats) -> Floats:
        # An estimate from the strata can lie outside the interval from the labels alone.
        one, two = np.maximum(0.0, one), np.maximum(0.0, two)
        return mover_reach(one, two, shared=shared, correlation=correlation)

    low = np.maximum(-1.0, a - b - reach(a - low_a, high_b - b))
    return low, np.minimum(1.0, a - b + reach(high_a - a, b - low_b))


def difference_of_estimates(
    first: AdverseEstimate, second: AdverseEstimate, *, common: CommonItems | None = None
) -> AdverseEstimate:
    r"""Estimate how much better one system is than another, from one estimate of each.

    For systems labelled on different items, or on partly common ones. The ends are

    .. math:: \hat\Delta - R(\hat p_A - L_A, U_B - \hat p_B), \qquad
              \hat\Delta + R(U_A - \hat p_A, \hat p_B - L_B),

    R being the reach (AL9), clipped to [-1, 1]. Approximate. Where all labels are on the same
    items, use :func:`adverse_difference`, which sees what the two systems have in common.

    Parameters
    ----------
    first, second
        Estimates of two shares or means on [0, 1], at one level.
    common
        The items labelled for both systems. None: there are none.

    Returns
    -------
    AdverseEstimate
        Its ``n_labels`` counts the labels of both systems, and its ``labels_only`` is the
        difference of the two labels-only intervals, from the same estimates.

    Examples
    --------
    >>> from tallystick.stats.adverse_binary import adverse_share
    >>> a = adverse_share([28, 80], [10, 20], [3, 19])
    >>> b = adverse_share([58, 50], [16, 14], [4, 11])
    >>> print(difference_of_estimates(a, b))
    0.2835 [0.096, 0.447] (95 %, approximate)
    """
    a, b = first.estimate, second.estimate
    if isinstance(a, Unknown) or isinstance(b, Unknown):
        raise InputError("first and second must both have an estimate: label some items of each")
    if first.interval.level != second.interval.level:
        raise InputError(
            "first and second must have one level, "
            f"got {first.interval.level} and {second.interval.level}"
        )
    shared, correlation = 0.0, 0.0
    if common is not None:
        if common.count > min(first.n_labels, second.n_labels):
            raise InputError(
                f"common: {common.count} common items are more than the {first.n_labels} and "
                f"{second.n_labels} labels of the two systems"
            )
        shared = common.count / math.sqrt(first.n_labels * second.n_labels)
        correlation = common.correlation

    def ends(one: Interval, two: Interval) -> Interval:
        low, high = difference_ends(
            (a, one.low, one.high), (b, two.low, two.high), shared=shared, correlation=correlation
        )
        return Interval(float(low), float(high), one.level, "approximate", None, METHOD)

    interval = ends(first.interval, second.interval)
    labels_only = ends(first.labels_only, second.labels_only)
    labels = first.n_labels + second.n_labels
    ratio = labels_only.width / interval.width if interval.width > 0 else 1.0
    return AdverseEstimate(
        estimate=a - b,
        interval=interval,
        labels_only=labels_only,
        n_labels=labels,
        worth=labels * ratio**2,
    )
