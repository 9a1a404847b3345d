r"""The mean of pass/fail labels, sharpened by judges: the stratified adverse likelihood.

Judges sort all N items into strata before any label is seen (:mod:`.strata`). In stratum h there
are :math:`N_h` items, :math:`k_h` labels and :math:`x_h` passes; :math:`W_h = N_h/N`,
:math:`\hat p_h = x_h/k_h`. A label on one of few items is worth more, so it counts as
:math:`k^*_h = k_h (N_h - 1)/(N_h - k_h)` labels (:math:`10^7` once the stratum is fully labelled).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError
from tallystick.results import Guarantee, Interval, Unknown
from tallystick.stats.adverse_ends import lower_ends
from tallystick.stats.exact_tails import open_unit
from tallystick.stats.intervals import Bounds, Floats, Intervals, Vector, as_counts

PSEUDO = 0.35
"""The fraction of one more label, at the worst value, that each end sees."""
ALONE = 0.5
"""The same where one stratum holds everything: two ends share less than with several strata."""
METHOD = "stratified adverse likelihood"


def adverse_share(
    sizes: Vector,
    labelled: Vector,
    passes: Vector,
    *,
    population: Population = "these",
    alpha: float = 0.05,
) -> AdverseEstimate:
    r"""Estimate how many items pass, from few labels and the judges' strata.

    Each end is a likelihood-ratio bound that first sees a fraction of one more label at the worst
    value. For the lower end these are fails:

    .. math:: a_h = a \sqrt{W_h}, \qquad
              a = \max\left(.35, \; \frac{.5}{(\sum_h \sqrt{W_h})^2}\right), \qquad s_h = k^*_h \hat p_h, \quad n_h = k^*_h + a_h, \quad
              \ell(p) = \sum_h s_h \ln p_h + (n_h - s_h) \ln(1 - p_h), \quad
              \tilde p_h = s_h/n_h,   \tag{AL1}

    .. math:: L = \sum_h W_h p_h(\mu), \qquad p_h(\mu) = \frac{2 s_h}{\mu W_h + n_h +
              \sqrt{(\mu W_h + n_h)^2 - 4 \mu W_h s_h}}, \qquad
              2 (\ell(\tilde p) - \ell(p(\mu))) = z_{1-\alpha/2}^2.   \tag{AL2}

    The upper end is one minus the lower end of the fails. For *these* items both ends are rounded
    outwards to whole items and clipped to what logic allows, :math:`[x/N, (x + N - m)/N]`. For
    *new* items :math:`k^*_h = k_h`, nothing is rounded, and

    .. math:: L \leftarrow \hat p - \sqrt{(\hat p - L)^2 + z^2 B/N}, \qquad
              B = \sum_h W_h (\hat p_h - \hat p)^2,   \tag{AL3}

    with U alike, clipped to [0, 1]. The estimate is :math:`\hat p = \sum_h W_h \hat p_h`; a stratum
    without labels takes the size-weighted mean of the labelled ones. Approximate, whatever the
    judges' errors, if the labelled items were drawn at random.

    We deviate from methods/score.md in a: it has .35 throughout. With one stratum that left 4.9 %
    for the samples without a pass, and up to 3.6 % for the other end at the same rate, so that
    coverage fell to .912 at six labels. With .5 it is at least .928, by enumeration
    (``docs/benchmarks/score.md``). The second term is below .35, and nothing changes,
    where the smaller of two strata holds at least 4.9 % of the items.

    Parameters
    ----------
    sizes, labelled, passes
        :math:`N_h, k_h, x_h` per stratum, whole numbers. Empty strata are skipped.
    population
        ``these`` items, or ``new`` items like them.
    alpha
        One minus the level.

    Returns
    -------
    AdverseEstimate
        With ``labels_only`` the same interval from one stratum.

    Examples
    --------
    Judges pass 80 of 108 outputs. People agree with 19 of 20 of these, and pass 3 of 10 others.

    >>> found = adverse_share([28, 80], [10, 20], [3, 19])
    >>> print(found, "worth", round(found.worth))
    0.7815 [0.657, 0.870] (95 %, approximate) worth 54
    >>> print(adverse_share([28, 80], [10, 20], [3, 19], population="new").interval)
    [0.628, 0.893] (95 %, approximate)
    """
    n, k, x = (
        np.atleast_1d(np.asarray(part, dtype=np.float64)) for part in (sizes, labelled, passes)
    )
    if n.ndim != 1:
        raise InputError(
            f"sizes must be one row of strata, got shape {n.shape}: use adverse_shares"
        )
    return adverse_shares(n[None], k[None], x[None], population=population, alpha=alpha)[0]


def adverse_shares(
    sizes: Vector,
    labelled: Vector,
    passes: Vector,
    *,
    population: Population = "these",
    alpha: float = 0.05,
) -> AdverseEstimates:
    """Estimate many shares at once: :func:`adverse_share`, with one problem per row.

    Parameters
    ----------
    sizes, labelled, passes
        Rows of strata, all of one shape. A row with fewer strata is filled up with empty ones.
    population, alpha
        As in :func:`adverse_share`.

    Returns
    -------
    AdverseEstimates
        One entry per row. A row without labels has no estimate, and its interval is [0, 1].

    Examples
    --------
    >>> found = adverse_shares([[28, 80], [0, 108]], [[10, 20], [0, 30]], [[3, 19], [0, 22]])
    >>> found.interval.low.round(4).tolist(), found.interval.high.round(4).tolist()
    ([0.6574, 0.5741], [0.8704, 0.8611])
    """
    n, k, x = share_rows(sizes, labelled, passes)
    share = np.divide(x, k, out=np.zeros_like(x), where=k > 0)
    alone = k.sum(axis=1), x.sum(axis=1)
    one = np.divide(alone[1], alone[0], out=np.zeros_like(alone[1]), where=alone[0] > 0)
    return _estimates(
        (n, k, x), (share, k), (one[:, None], alone[0][:, None]), population=population, alpha=alpha
    )


def pseudo_label(weights: Floats) -> Floats:
    """Return the factor a of (AL1) for each row of strata, from their weights.

    Examples
    --------
    >>> pseudo_label(np.array([[1.0, 0.0], [0.97, 0.03], [0.5, 0.5]])).round(3).tolist()
    [0.5, 0.373, 0.35]
    """
    return np.asarray(np.maximum(PSEUDO, ALONE / np.sqrt(weights).sum(axis=1) ** 2))


def raw_share_ends(
    sizes: Floats,
    effective: Floats,
    share: Floats,
    *,
    alpha: float | Floats = 0.05,
    pseudo: float | None = None,
) -> Ends:
    r"""Return both ends (AL2) as they come, neither rounded nor clipped: the kernel for simulation.

    Parameters
    ----------
    sizes, effective, share
        :math:`N_h, k^*_h, \hat p_h`, rows of strata. See :func:`effective_labels` for
        :math:`k^*_h`; a share without labels does not matter.
    alpha
        One minus the level, one for all rows or one per row.
    pseudo
        The factor a of (AL1); by default that of :func:`pseudo_label`.

    Examples
    --------
    >>> low, high = raw_share_ends(np.array([[108.0]]), np.array([[41.15]]), np.array([[22 / 30]]))
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([0.5782], [0.8535])
    """
    weights = sizes / sizes.sum(axis=1, keepdims=True)
    bar = normal_bar(alpha, len(weights))
    a = pseudo_label(weights) if pseudo is None else np.full(len(weights), pseudo)
    low = lower_ends(weights, effective, share, a, bar)
    return low, 1 - lower_ends(weights, effective, 1 - share, a, bar)


def share_ends(
    counts: tuple[Floats, Floats, Floats],
    share: Floats,
    effective: Floats,
    *,
    population: Population,
    alpha: float | Floats,
) -> tuple[Floats, Ends]:
    """Return the estimate and the finished ends of every row, each at its own level if need be.

    Parameters
    ----------
    counts
        :math:`N_h, k_h, x_h`, rows of strata.
    share, effective
        The pass rates and the labels they are worth.
    population, alpha
        As in :func:`adverse_share`; *alpha* may be one per row.
    """
    n, k, x = counts
    items = n.sum(axis=1)
    star = effective_labels(n, effective, k == n, population)
    filled = fill_unlabelled(n, share, k)
    estimate = (n * filled).sum(axis=1) / items
    raw = raw_share_ends(n, np.where(k > 0, star, 0.0), share, alpha=alpha)
    if population == "these":
        return _on_these(estimate, raw, items, k.sum(axis=1), x.sum(axis=1))
    between = np.nansum(n * (filled - estimate[:, None]) ** 2, axis=1) / items
    ends = widen_for_new(estimate, raw, between / items, alpha=alpha, bounds=(0, 1))
    return estimate, ends


def _estimates(
    counts: tuple[Floats, Floats, Floats],
    strata: tuple[Floats, Floats],
    alone: tuple[Floats, Floats],
    *,
    population: Population,
    alpha: float,
) -> AdverseEstimates:
    """Put the two intervals of every row together: with the strata, and with one stratum.

    *strata* and *alone* hold the pass rates and the labels they are worth.
    """
    check_population(population)
    merged = tuple(part.sum(axis=1, keepdims=True) for part in counts)
    sides = [
        share_ends(part, *rates, population=population, alpha=alpha)
        for part, rates in ((counts, strata), ((merged[0], merged[1], merged[2]), alone))
    ]
    (estimate, ends), (_, ends_alone) = sides
    return AdverseEstimates.of(
        estimate,
        ends,
        ends_alone,
        n_labels=merged[1][:, 0].astype(np.int64),
        alpha=alpha,
        method=METHOD,
    )


def _on_these(
    estimate: Floats, raw: Ends, items: Floats, labels: Floats, right: Floats
) -> tuple[Floats, Ends]:
    """Round outwards to whole items, then clip to what the labels leave possible."""
    # The upper end is rounded through the fails, so that passes and fails are exact mirrors.
    low = np.floor(items * raw[0]) / items
    high = (items - np.floor(items * (1 - raw[1]))) / items
    least, most = right / items, (right + items - labels) / items
    return np.clip(estimate, least, most), (np.clip(low, least, most), np.clip(high, least, most))


def share_rows(sizes: Vector, labelled: Vector, passes: Vector) -> tuple[Floats, Floats, Floats]:
    """Return the counts as rows of strata of one shape; refuse what cannot be counts."""
    x, k = as_counts(passes, labelled, names=("passes", "labelled"))
    k, n = as_counts(k, sizes, names=("labelled", "sizes"))
    if n.ndim != 2 or x.shape != n.shape or not n.size:
        raise InputError(
            "sizes, labelled and passes must be rows of strata of one shape, "
            f"got shapes {np.shape(sizes)}, {np.shape(labelled)} and {np.shape(passes)}"
        )
    if (n.sum(axis=1) < 1).any():
        raise InputError("sizes: a row has no items at all: leave that row out")
    return n, k, x


def check_within(labels: Floats, bounds: Bounds) -> None:
    """Raise ``InputError`` for a label outside its bounds."""
    outside = ~((labels >= bounds[0]) & (labels <= bounds[1]))  # also catches NaN
    if outside.any():
        raise InputError(
            f"labels must lie in {bounds!r}, got {labels[outside].flat[0]}: rescale them first"
        )


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
    bins are dropped: if 90 % of the items share the top value, two bins are left.

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
    if times.shape != c.shape or (times < 0).any() or times.sum() <= 0:
        raise InputError(
            f"counts must be one number of at least 0 per value, not all 0, got shape {times.shape}"
        )
    _, where = np.unique(c, return_inverse=True)
    mass = np.bincount(where, weights=times)
    # Whole counts are compared as 3(2F + f) against 2N, so that a middle on a cut is seen exactly.
    doubled = 3 * (2 * np.cumsum(mass) - mass)
    bins = np.minimum(2, doubled // (2 * times.sum())).astype(np.int64)  # (AL8)
    _, codes = np.unique(bins, return_inverse=True)
    return np.asarray(codes[where], dtype=np.int64)


def _finite(consensus: Vector) -> Floats:
    c = np.asarray(consensus, dtype=np.float64)
    if c.ndim != 1 or not np.isfinite(c).all():
        raise InputError(
            f"consensus must be one sequence of finite numbers, got shape {c.shape}: "
            "leave out items that no judge graded"
        )
    return c


# What the labels of a stratum count for, and what a stratum without labels is given.


EVERYTHING = 1e7
"""Effective labels in a stratum that is fully labelled: nothing is left to doubt there."""


def effective_labels(
    sizes: Floats, effective: Floats, complete: NDArray[np.bool_], population: Population
) -> Floats:
    """Return k*: what the labels of a stratum count for, given how many items they were drawn from.

    *effective* are the labels, or their Kish size; *complete* says where every item is labelled.
    """
    if population == "new":
        return effective
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


def normal_bar(alpha: float | Floats, rows: int) -> Floats:
    """Return z² of the normal law for every row, at one level for all of them or one for each.

    >>> normal_bar(0.05, 2).round(2).tolist()
    [3.84, 3.84]
    """
    from scipy.special import ndtri

    open_unit(alpha=alpha)
    return np.broadcast_to(ndtri(1 - np.asarray(alpha) / 2) ** 2, (rows,))


def widen_for_new(
    estimate: Floats,
    raw: Ends,
    chance: Floats,
    *,
    alpha: float | Floats,
    bounds: tuple[float, float],
) -> Ends:
    """Add the doubt (AL3) that these items were drawn from many; *chance* is B/N."""
    extra = normal_bar(alpha, estimate.size) * chance
    low = estimate - np.sqrt((estimate - raw[0]) ** 2 + extra)  # (AL3)
    high = estimate + np.sqrt((raw[1] - estimate) ** 2 + extra)
    # Without any label there is no estimate to widen from, and nothing is ruled out.
    low, high = np.where(np.isnan(low), bounds[0], low), np.where(np.isnan(high), bounds[1], high)
    return np.clip(low, *bounds), np.clip(high, *bounds)


# What every adverse likelihood returns: an estimate, its interval, and what the judges added.


@dataclass(frozen=True, kw_only=True)
class AdverseEstimate:
    """One number learnt from labels and judges.

    Parameters
    ----------
    estimate
        The number, or why there is none.
    interval
        Its interval.
    labels_only
        The interval of the same kind from the labels alone, without the judges.
    n_labels
        How many labels were used.
    worth
        How many labels alone would give an interval as narrow as *interval*.
    """

    estimate: float | Unknown
    interval: Interval
    labels_only: Interval
    n_labels: int
    worth: float

    def __str__(self) -> str:
        number = self.estimate if isinstance(self.estimate, Unknown) else f"{self.estimate:.4f}"
        return f"{number} {self.interval}"


@dataclass(frozen=True, kw_only=True, eq=False)
class AdverseEstimates:
    """Many numbers of one kind, one entry per row of the input.

    Parameters
    ----------
    estimate
        The numbers; NaN where a row has no labels.
    interval, labels_only
        Their intervals, with the judges and without.
    n_labels
        Labels per row.
    worth
        What these labels are worth, as in :class:`AdverseEstimate`.
    """

    estimate: Floats
    interval: Intervals
    labels_only: Intervals
    n_labels: NDArray[np.int64]
    worth: Floats

    @classmethod
    def of(
        cls,
        estimate: Floats,
        ends: Ends,
        alone: Ends,
        *,
        n_labels: NDArray[np.int64],
        alpha: float,
        method: str,
        guarantee: Guarantee = "approximate",
    ) -> AdverseEstimates:
        """Pack the arrays that a method computed, and add what the labels are worth."""
        interval, labels_only = (
            Intervals(low, high, 1 - alpha, guarantee, None, method) for low, high in (ends, alone)
        )
        worth = labels_worth(n_labels, labels_only.width, interval.width)
        return cls(
            estimate=estimate,
            interval=interval,
            labels_only=labels_only,
            n_labels=n_labels,
            worth=worth,
        )

    def __len__(self) -> int:
        return len(self.estimate)

    def __getitem__(self, row: int) -> AdverseEstimate:
        value = float(self.estimate[row])
        return AdverseEstimate(
            estimate=Unknown("there are no labels") if np.isnan(value) else value,
            interval=self.interval[row],
            labels_only=self.labels_only[row],
            n_labels=int(self.n_labels[row]),
            worth=float(self.worth[row]),
        )

    def __iter__(self) -> Iterator[AdverseEstimate]:
        return (self[row] for row in range(len(self)))


def labels_worth(labels: NDArray[np.int64], alone: Floats, width: Floats) -> Floats:
    r"""Return how many labels alone would have given the same width.

    Widths fall with the square root of the number of labels, so

    .. math:: \text{worth} = m \left(\frac{\text{width of the labels alone}}{\text{width}}\right)^2.

    Once every item is labelled both widths are 0 and the labels are worth what they are.

    >>> labels_worth(np.array([30, 40]), np.array([0.3, 0.0]), np.array([0.15, 0.0])).tolist()
    [120.0, 40.0]
    """
    ratio = np.divide(alone, width, out=np.ones_like(width), where=width > 0)
    return np.asarray(labels * ratio**2, dtype=np.float64)
