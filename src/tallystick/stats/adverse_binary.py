r"""Means of labels drawn by strata: adverse likelihoods of shares and of numbers.

Items are sorted into strata before any label is seen. In stratum h there are :math:`N_h` items,
:math:`k_h` labels and :math:`x_h` passes; :math:`W_h = N_h/N`, :math:`\hat p_h = x_h/k_h`. A label on
one of few items is worth more, so it counts as :math:`k^*_h = k_h (N_h - 1)/(N_h - k_h)` labels
(:math:`10^7` once the stratum is fully labelled). Sessions of the second version, and those that
ask which of two is better, draw by strata; any other question of a mean is for
`tallystick.stats.few_labels`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from tallystick.errors import InputError
from tallystick.results import Interval
from tallystick.stats.bets import crossing
from tallystick.stats.exact_tails import finite, one_per, open_unit, within
from tallystick.stats.intervals import Bounds, Floats, Vector, as_counts

PSEUDO = 0.35
"""The fraction of one more label, at the worst value, that each end sees."""
ALONE = 0.5
"""The same where one stratum holds everything: two ends share less than with several strata."""
METHOD = "stratified adverse likelihood"


# Which items a mean is about: these very items, or new items like them, and what that costs.


Ends: TypeAlias = tuple[Floats, Floats]
"""Lower and upper ends of many intervals."""
Population: TypeAlias = Literal["these", "new"]
"""``these``: the N items in the table. ``new``: the source from which these N were drawn."""


def check_population(population: Population) -> Population:
    """Return *population*, or raise ``InputError`` if it is neither word.

    >>> check_population("these")
    'these'
    >>> check_population("all")
    Traceback (most recent call last):
    tallystick.errors.InputError: population must be 'these' or 'new', got 'all'
    """
    if population not in ("these", "new"):
        raise InputError(f"population must be 'these' or 'new', got {population!r}")
    return population


# What the labels of a stratum count for, and what a stratum without labels is given.


EVERYTHING = 1e7
"""Effective labels in a stratum that is fully labelled: nothing is left to doubt there."""


def effective_labels(sizes: Floats, effective: Floats, complete: NDArray[np.bool_]) -> Floats:
    """Return k*: what the labels of a stratum count for, given how many items they were drawn from.

    *effective* are the labels, or their Kish size; *complete* says where every item is labelled.
    """
    left = np.where(complete, 1.0, sizes - effective)
    return np.where(complete & (sizes > 0), EVERYTHING, effective * (sizes - 1) / left)


def fill_unlabelled(sizes: Floats, share: Floats, labels: Floats) -> Floats:
    """Give each stratum without labels the size-weighted mean share of the labelled ones.

    NaN where a row has no labels at all.
    """
    known = np.where(labels > 0, sizes, 0.0)
    total = known.sum(axis=1, keepdims=True)
    mean = np.divide(
        (known * share).sum(axis=1, keepdims=True),
        total,
        out=np.full_like(total, np.nan),
        where=total > 0,
    )
    return np.where(labels > 0, share, mean)


# The mean of labels on a known range: passes, scores on [0, 1], differences of two systems.


PSEUDOS: dict[Bounds, float] = {(0.0, 1.0): PSEUDO, (-1.0, 1.0): 0.25}
"""The fraction of one more label, at the worst value, that each end sees."""
STRATIFIED = "stratified adverse empirical likelihood"


@dataclass(frozen=True, kw_only=True)
class StratifiedMean:
    """A mean over the items of all strata, and its interval."""

    estimate: float
    interval: Interval


def adverse_mean(
    labels: Vector,
    stratum: npt.ArrayLike,
    sizes: Vector,
    *,
    bounds: Bounds = (0.0, 1.0),
    pass_fail: bool = False,
    alpha: float = 0.05,
) -> StratifiedMean:
    r"""Estimate the mean of these items from labels that were drawn at random inside each stratum.

    Stratum h holds :math:`N_h` items, :math:`W_h = N_h/N`, and :math:`k_h` labels :math:`y_{hi}` of
    weight :math:`w_h = (N_h - 1)/(N_h - k_h)`. The lower end sees the fraction
    :math:`a_h = a \sqrt{W_h}` of one more label at the least value :math:`y_{lo}` in each stratum
    (a = .35 for scores, 1/4 for differences). With :math:`d_{hi} = y_{hi} - y_{lo}` and
    :math:`n_h = k_h w_h + a_h`,

    .. math:: p_{hi} = \frac{w_h}{\nu_h + \mu W_h d_{hi}}, \qquad
              \frac{a_h}{\nu_h} + \sum_i p_{hi} = 1, \qquad
              2 \sum_h \Bigl(a_h \ln \frac{\nu_h}{n_h} +
              w_h \sum_i \ln \frac{\nu_h + \mu W_h d_{hi}}{n_h}\Bigr) = z_{1-\alpha/2}^2, \qquad
              L = y_{lo} + \sum_h W_h \sum_i p_{hi} d_{hi}.   \tag{AL19}

    The upper end is mirrored. Both are then widened by (AL7), with the largest
    :math:`k_h/(N_h - k_h)` of a stratum that is not fully labelled, and clipped to what logic
    allows. The estimate is :math:`\sum_h W_h \bar y_h`; a stratum without labels takes the mean of
    the others. Approximate: its coverage after adaptive draws is measured
    (``docs/benchmarks/score.md``).

    Passes and fails are labels 1 and 0. (AL19) is then a likelihood-ratio bound of shares,

    .. math:: a = \max\left(.35, \; \frac{.5}{(\sum_h \sqrt{W_h})^2}\right), \qquad
              \ell(p) = \sum_h s_h \ln p_h + (n_h - s_h) \ln(1 - p_h), \qquad
              2 (\ell(\tilde p) - \ell(p(\mu))) = z_{1-\alpha/2}^2,   \tag{AL2}

    whose ends are rounded outwards to whole items instead. We deviate from methods/score.md in a:
    it has .35 throughout. With one stratum that left 4.9% for the samples without a pass, and up to
    3.6% for the other end at the same rate, so that coverage fell to .912 at six labels. With .5 it
    is at least .928, by enumeration (``docs/benchmarks/score.md``).

    Parameters
    ----------
    labels, stratum
        The value of every label, and the position of its stratum in *sizes*.
    sizes
        :math:`N_h` per stratum; an empty stratum is skipped.
    bounds
        (0, 1) for scores, (-1, 1) for differences.
    pass_fail
        Whether labels are passes and fails; readers who disagree for good may count one half.
    alpha
        One minus the level.

    Examples
    --------
    Fifty items were labelled for two systems; the first was better on eight and worse on two.

    >>> gaps = [1] * 7 + [0] * 18 + [1] + [0] * 22 + [-1] * 2
    >>> found = adverse_mean(gaps, [0] * 25 + [1] * 25, [200, 300], bounds=(-1, 1))
    >>> print(round(found.estimate, 3), found.interval)
    0.088 [-0.030, 0.205] (95%, approximate)
    >>> passed = [1] * 3 + [0] * 7 + [1] * 19 + [0]
    >>> print(adverse_mean(passed, [0] * 10 + [1] * 20, [28, 80], pass_fail=True).interval)
    [0.657, 0.870] (95%, approximate)
    """
    from scipy.special import ndtri

    open_unit(alpha=alpha)
    limits = (float(bounds[0]), float(bounds[1]))
    y, h, n = _checked(labels, stratum, sizes)
    within(limits, labels=y)
    k, sums = (np.bincount(h, part, n.size).astype(np.float64) for part in (None, y))
    items, m = float(n.sum()), y.size

    mean = np.divide(sums, k, out=np.zeros(n.size), where=k > 0)
    filled = fill_unlabelled(n[None], mean[None], k[None])[0]
    least, most = ((sums.sum() + (items - m) * bound) / items for bound in limits)
    estimate = float(np.clip((n * filled).sum() / items, least, most))

    share, pseudo = n / items, PSEUDOS[limits]
    each = np.divide(effective_labels(n, k, k == n), k, out=np.zeros(n.size), where=k > 0)
    weight = each[h]
    if pass_fail:
        # Halves count as half a pass and half a fail.
        pseudo = max(PSEUDO, ALONE / float(np.sqrt(share).sum()) ** 2)
        y, h = np.repeat([1.0, 0.0], n.size), np.tile(np.arange(n.size), 2)
        weight = np.concatenate([each * sums, each * (k - sums)])
    bar = float(ndtri(1 - alpha / 2)) ** 2
    low = limits[0] + least_mean(y - limits[0], h, weight, share, pseudo, bar)
    high = limits[1] - least_mean(limits[1] - y, h, weight, share, pseudo, bar)

    if pass_fail:
        # The upper end is rounded through the fails, so that passes and fails are exact mirrors.
        low, high = np.floor(items * low) / items, (items - np.floor(items * (1 - high))) / items
    else:
        left = (k > 0) & (k < n)
        nearly = float(np.min([1.0, np.max(k[left] / (n - k)[left], initial=0.0)]))
        gross = nearly * (limits[1] - limits[0]) / items  # (AL7)
        low, high = low - gross, high + gross
    low, high = (float(np.clip(end, least, most)) for end in (low, high))
    method = METHOD if pass_fail else STRATIFIED
    return StratifiedMean(
        estimate=min(max(estimate, low), high),
        interval=Interval(low, high, 1 - alpha, "approximate", None, method),
    )


def _checked(
    labels: Vector, stratum: npt.ArrayLike, sizes: Vector
) -> tuple[Floats, npt.NDArray[np.int64], Floats]:
    y, n = (np.asarray(part, dtype=np.float64) for part in (labels, sizes))
    h = np.asarray(stratum, dtype=np.int64)
    one_per("label", max(1, y.size), labels=y, stratum=h)
    within((0, n.size - 1), stratum=h)
    as_counts(np.bincount(h, minlength=n.size), n, names=("labels", "sizes"))
    return y, h, n


LOWEST, HIGHEST = -12.0, 30.0
"""Where ln μ is looked for."""
STEPS, CLOSE = 100, 1e-14
"""The most steps of Newton for ν, and the relative step at which it has arrived."""


def least_mean(
    distance: Floats,
    stratum: npt.NDArray[np.int64],
    weight: Floats,
    share: Floats,
    pseudo: float,
    bar: float,
) -> float:
    r"""Return the least mean distance that the labels of the strata leave open (AL19).

    The statistic D is a rising function of :math:`t = \ln \mu`. With :math:`τ_h = μ W_h`, the mean
    distance :math:`m_h = \sum_i p_{hi} d_{hi}` and sums of :math:`p_{hi}^2 / w_h`,

    .. math:: \frac{dD}{dt} = 2 \sum_h τ_h \Bigl(m_h - \frac{\sum_i d_{hi} p_{hi}^2/w_h}
              {a_h/ν_h^2 + \sum_i p_{hi}^2/w_h}\Bigr).

    Parameters
    ----------
    distance, stratum, weight
        The distance of each label from the least value, its stratum, and what it counts for.
    share
        W, per stratum. One without labels may lie at the least value: it adds nothing.
    pseudo
        The fraction a of (AL19).
    bar
        The z² that the statistic has to reach.
    """
    # Equal labels are one entry: most grades and differences take few values.
    there = weight > 0
    rows, where = np.unique(
        np.column_stack([stratum[there], distance[there]]), axis=0, return_inverse=True
    )
    d, weight = rows[:, 1], np.bincount(where.ravel(), weight[there]).astype(np.float64)
    used, at, lengths = np.unique(rows[:, 0].astype(np.intp), return_index=True, return_counts=True)

    def total(part: Floats) -> Floats:
        """Add up the labels of each stratum."""
        return np.add.reduceat(part, at)

    share, added = share[used], pseudo * np.sqrt(share[used])
    size = added + total(weight)
    middle = total(weight * d) / size

    def bottom(tilt: Floats) -> tuple[Floats, Floats]:
        """Return ν of every stratum, and ν + τ d of every label.

        The mass falls in ν and is convex, so Newton's steps from a point on its left approach ν
        from there and never pass it.
        """
        nu = np.maximum(added, size - tilt * middle)
        lifted = np.repeat(tilt, lengths) * d
        for _ in range(STEPS):
            under = np.repeat(nu, lengths) + lifted
            part = weight / under
            step = (added / nu + total(part) - 1.0) / (added / nu**2 + total(part / under))
            nu = nu + step
            if (np.abs(step) <= CLOSE * nu).all():
                break
        return nu, np.repeat(nu, lengths) + lifted

    def statistic(t: Floats) -> tuple[Floats, Floats]:
        tilt = np.exp(t) * share
        nu, under = bottom(tilt)
        part = weight / under
        lost = added * np.log(nu / size) + total(weight * np.log(under / np.repeat(size, lengths)))
        drop = 2.0 * lost.sum()
        part_d = part * d / under
        slope = tilt * (total(part * d) - total(part_d) / (added / nu**2 + total(part / under)))
        return np.array([np.log(drop) - np.log(bar)]), np.array([2.0 * slope.sum() / drop])

    # For small μ the statistic is μ² times the variance of the mean of labels.
    spread = np.maximum(total(weight * d**2) / size - middle**2, 0.0)
    with np.errstate(divide="ignore"):
        guess = 0.5 * (np.log(bar) - np.log((share**2 * spread / size).sum()))
    found = crossing(statistic, np.array([np.nan_to_num(guess)]), LOWEST, HIGHEST)
    _, under = bottom(np.exp(found) * share)
    return float((share * total(weight * d / under)).sum())


# Strata from the judges' consensus, made before any label is seen.


Codes: TypeAlias = NDArray[np.int64]
"""The position of each item's stratum, from 0."""


_TIE = 1e-9
"""A consensus this near 1/2 is a tie: no digit of a fitted posterior should tell items apart."""


def vote_strata(consensus: Vector) -> Codes:
    """Split items by what the judges' consensus says: 0 if c < 1/2, 1 at a tie, 2 if c > 1/2.

    Two judges often tie. With ties among the fails, the score of the passes and that of the fails
    of one table would not add up to one: swapping the two words has to swap the strata.

    Parameters
    ----------
    consensus
        Probability of a pass per item, from votes only.

    Examples
    --------
    >>> vote_strata([0.2, 0.5, 0.9]).tolist()
    [0, 1, 2]
    """
    c = _finite(consensus)
    return np.where(np.abs(c - 0.5) <= _TIE, 1, np.where(c > 0.5, 2, 0)).astype(np.int64)


def graded_strata(consensus: Vector, counts: Vector | None = None) -> Codes:
    r"""Split items with a graded consensus into three bins of nearly equal mass.

    The cuts are the 1/3 and 2/3 quantiles of c, and equal values stay together. A value whose mass
    straddles a cut goes where the middle of its mass lies: with :math:`F` the share of items below
    c and f the share equal to it, the bin is

    .. math:: \min(2, \lfloor 3 (F + f/2) \rfloor),   \tag{AL8}

    so that reversing the scale reverses the bins (unless a middle lies exactly on a cut). Empty
    bins are dropped: if 90% of the items share the top value, two bins are left.

    Parameters
    ----------
    consensus
        Mean grade per item, or distinct values.
    counts
        How many items have each value, if values are given once. None: one each.

    Returns
    -------
    Codes
        0, 1 and 2 from the lowest grades to the highest, fewer if bins are empty.

    Examples
    --------
    >>> graded_strata([0.1, 0.9, 0.5, 0.4, 0.8, 0.2]).tolist()
    [0, 2, 1, 1, 2, 0]
    >>> graded_strata([0.5, 1.0], counts=[10, 90]).tolist()
    [0, 1]
    """
    c = _finite(consensus)
    times = np.ones_like(c) if counts is None else np.asarray(counts, dtype=np.float64)
    one_per("value", c.size, counts=times)
    _, where = np.unique(c, return_inverse=True)
    mass = np.bincount(where, weights=times)
    # Whole counts are compared as 3(2F + f) against 2N, so that a middle on a cut is seen exactly.
    doubled = 3 * (2 * np.cumsum(mass) - mass)
    bins = np.minimum(2, doubled // (2 * times.sum())).astype(np.int64)  # (AL8)
    _, codes = np.unique(bins, return_inverse=True)
    return np.asarray(codes[where], dtype=np.int64)


def _finite(consensus: Vector) -> Floats:
    c = np.asarray(consensus, dtype=np.float64)
    finite(consensus=c)
    return c
