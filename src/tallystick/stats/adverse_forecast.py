"""How many labels would be enough: width at M labels, labels for a width, labels to settle a pair.

Forecasts are rough. When the method was designed, forecasts from 20-50 labels were .77 to 1.36 of
the actual width in 80 % of cases. So every answer is a range of two digits, and never more than
there are items.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError
from tallystick.results import Interval
from tallystick.stats.adverse_binary import (
    PSEUDO,
    Ends,
    Population,
    check_population,
    check_within,
    fill_unlabelled,
)
from tallystick.stats.anytime import betting
from tallystick.stats.bets import Wagers, stakes_before
from tallystick.stats.exact_tails import open_unit, positive, whole
from tallystick.stats.intervals import Bounds, Floats, Vector, as_counts, clopper_pearson
from tallystick.stats.urns import hypergeometric, hypergeometric_strata

HALVINGS = 60
PSEUDO_TEST = 1.5
"""Added to the squares of the test of pairs (AL10): exact ties at 90 % passes then stay below the
level.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelRange:
    """About how many labels in all are needed, as a range of two digits.

    Parameters
    ----------
    low, high
        The range; at most *items*. *high* is None if no number of labels is sure to be enough.
    items
        How many items there are to label.
    """

    low: int
    high: int | None
    items: int

    def __str__(self) -> str:
        if self.high is None:
            return f"at least {self.low:,} of {self.items:,}"
        return f"{self.low:,} to {self.high:,} of {self.items:,}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    r"""What is needed in order to forecast the width of an interval.

    .. math:: \text{width}(M) \approx 2 z \sqrt{V \Bigl(\frac1M - \frac1N\Bigr)} + \frac AM
              \tag{AL13}

    For new items :math:`V/M + B/N` stands under the root.

    Parameters
    ----------
    variance
        V of one label.
    pull
        A: what the adverse fraction of a label adds.
    items
        N.
    fraction
        Share of all labels that fall among these N items; below 1 for a subgroup.
    between
        B, for new items; None for these items.
    spread
        Least and greatest ratio of forecast to actual width that were usual when measured.
    """

    variance: float
    pull: float
    items: int
    fraction: float = 1.0
    between: float | None = None
    spread: tuple[float, float] = (0.77, 1.36)

    @property
    def most(self) -> int:
        """The most labels that can be bought: one per item, in the subgroup and outside it."""
        return math.ceil(self.items / self.fraction - 1e-9)

    def width(self, labels: float, *, alpha: float = 0.05) -> float:
        """Forecast the width of the interval from *labels* labels in all (AL13)."""
        from scipy.special import ndtri

        positive(labels=labels)
        open_unit(alpha=alpha)
        inside = labels * self.fraction
        if self.between is None:
            doubt = self.variance * max(0.0, 1 / inside - 1 / self.items)
        else:
            doubt = self.variance / inside + self.between / self.items
        return float(2 * ndtri(1 - alpha / 2) * math.sqrt(doubt) + self.pull / inside)

    def labels_for(self, width: float, *, alpha: float = 0.05) -> float | None:
        """Solve (AL13) for the number of labels; None means "not with these items"."""
        positive(width=width)
        if self.width(self.most, alpha=alpha) > width:
            return None
        low, high = 0.0, float(self.most)
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            if self.width(middle, alpha=alpha) > width:
                low = middle
            else:
                high = middle
        return high

    def settles(self, difference: float, *, alpha: float = 0.05, power: float = 0.8) -> float:
        r"""Return how many labels make the test of pairs (AL10) see a difference with this power.

        .. math:: M |\Delta| = z_{1-\alpha/2} \sqrt{\varphi M (V + \Delta^2) + M^2 B/N + 1.5}
                  + z_{power} \sqrt{\varphi M V + M^2 B/N}   \tag{AL20}

        with :math:`\varphi = 1 - M/N` for these items, and 1 for new ones. All N items where no
        smaller number does it: they settle a question about these items, and not always one about
        new ones.

        >>> outlook = Outlook(variance=0.3, pull=0.0, items=1000)
        >>> round(outlook.settles(0.1), 1), outlook.settles(0.0)
        (197.5, 1000.0)
        """
        from scipy.special import ndtri

        open_unit(alpha=alpha, power=power)
        level, sure, gap = float(ndtri(1 - alpha / 2)), float(ndtri(power)), abs(difference)

        def seen(labels: float) -> bool:
            left = 1 - labels / self.items if self.between is None else 1.0
            doubt = left * labels * self.variance + labels**2 * (self.between or 0.0) / self.items
            tested = doubt + left * labels * gap**2 + PSEUDO_TEST
            return labels * gap >= level * math.sqrt(tested) + sure * math.sqrt(doubt)  # (AL20)

        low, high = 0.0, float(self.items)
        if not seen(high):
            return high
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            low, high = (low, middle) if seen(middle) else (middle, high)
        return high

    def needed(self, width: float, *, alpha: float = 0.05) -> LabelRange:
        """Return the usual range of labels for a width.

        The forecast width may be wrong by the factors in *spread*; the range is the labels for the
        width at either of them. Labelling every item always answers a question about these items.

        Examples
        --------
        >>> print(share_outlook([400, 600], [12, 18], [2, 17]).needed(0.10))
        81 to 220 of 1,000
        """
        ends = [self.labels_for(width * factor, alpha=alpha) for factor in self.spread[::-1]]
        at_most = float(self.most) if self.between is None else None
        low = ends[0] if ends[0] is not None else self.most
        high = ends[1] if ends[1] is not None else at_most
        return label_range(low, high, self.most)


def share_outlook(
    sizes: Vector, labelled: Vector, passes: Vector, *, population: Population = "these"
) -> Outlook:
    r"""Sum up a pilot with pass/fail labels, for forecasts of :func:`adverse_share`.

    :math:`V = \sum_h W_h \tilde p_h (1 - \tilde p_h)`, :math:`\tilde p = (x + ¼)/(k + ½)`, and
    :math:`A = .35 \sum_h \sqrt{W_h}`.

    Parameters
    ----------
    sizes, labelled, passes
        :math:`N_h, k_h, x_h` per stratum.
    population
        ``these`` items, or ``new`` items like them.

    Examples
    --------
    >>> outlook = share_outlook([28, 80], [10, 20], [3, 19])
    >>> round(outlook.width(60), 4), round(outlook.labels_for(0.10), 1)
    (0.1135, 66.7)
    """
    check_population(population)
    x, k = as_counts(passes, labelled, names=("passes", "labelled"))
    k, n = as_counts(k, sizes, names=("labelled", "sizes"))
    if n.ndim != 1 or x.shape != n.shape or n.sum() < 1:
        raise InputError(f"sizes must be one row of strata with at least 1 item, got {n.tolist()}")
    weights, rate = n / n.sum(), pilot_rate(x, k)
    between = None
    if population == "new":
        share = np.divide(x, k, out=np.zeros_like(x), where=k > 0)
        filled = fill_unlabelled(n[None], share[None], k[None])[0]
        between = float(np.nansum(weights * (filled - np.nansum(weights * filled)) ** 2))
    return Outlook(
        variance=float((weights * rate * (1 - rate)).sum()),
        pull=float(PSEUDO * np.sqrt(weights).sum()),
        items=int(n.sum()),
        between=between,
    )


def labels_to_settle(
    difference: float,
    interval: Interval | tuple[float, float],
    outlook: Outlook,
    *,
    alpha: float = 0.05,
    power: float = 0.8,
) -> LabelRange:
    r"""Say how many labels in all would probably settle which of two systems is better (AL20).

    The range runs from the end of the interval that is farther from 0 to the nearer one. If the
    interval holds 0, the systems may be equal, and no number of labels is sure to settle it.

    Parameters
    ----------
    difference, interval
        The estimated difference and its interval.
    outlook
        Of one pair of labels, from :func:`mean_outlook`.
    alpha, power
        Level and power of the test.

    Examples
    --------
    >>> pair = Outlook(variance=0.3, pull=0.0, items=1000)
    >>> print(labels_to_settle(0.1, (0.05, 0.15), pair))
    100 to 490 of 1,000
    >>> print(labels_to_settle(0.1, (-0.05, 0.15), pair))
    at least 100 of 1,000
    """
    low, high = interval
    if not low <= difference <= high:
        raise InputError(f"difference must lie in its interval, got {difference} and {interval}")
    far, near = max(abs(low), abs(high)), min(abs(low), abs(high))
    best = outlook.settles(far, alpha=alpha, power=power)
    holds_zero = low <= 0 <= high
    worst = None if holds_zero else outlook.settles(near, alpha=alpha, power=power)
    return label_range(best, worst, outlook.items)


def settle_at(
    difference: float, variance: float, items: int, *, alpha: float = 0.05, power: float = 0.8
) -> float:
    r"""Return how many labels tell a value from a claim that lies Δ away; all N for Δ = 0.

    .. math:: M(\Delta) = \frac{q V}{\Delta^2 + q V/N}, \qquad
              q = (z_{1-\alpha/2} + z_{power})^2.   \tag{AL14}

    >>> round(settle_at(0.1, 0.3, 1000), 1)
    190.6
    """
    from scipy.special import ndtri

    open_unit(alpha=alpha, power=power)
    positive(variance=variance)
    whole(1, items=items)
    q = float(ndtri(1 - alpha / 2) + ndtri(power)) ** 2
    return q * variance / (difference**2 + q * variance / items)


def pilot_rate(x: Floats, k: Floats) -> Floats:
    """Return p̃ = (x + ¼)/(k + ½), a pass rate that is never 0 or 1."""
    return (x + 0.25) / (k + 0.5)


def label_range(low: float, high: float | None, items: int) -> LabelRange:
    """Round a range outwards to two digits and keep it within the items.

    >>> print(label_range(78.4, 216.2, 1000), "|", label_range(3.2, None, 50))
    78 to 220 of 1,000 | at least 3 of 50
    """
    top = None if high is None else min(items, _two_digits(high, up=True))
    return LabelRange(low=min(items, max(1, _two_digits(low, up=False))), high=top, items=items)


def _two_digits(value: float, *, up: bool) -> int:
    step = 10 ** max(0, math.floor(math.log10(max(value, 1.0))) - 1)
    rounded = math.ceil(value / step - 1e-9) if up else math.floor(value / step + 1e-9)
    return int(rounded * step)


# Exact intervals for the same questions: coverage is at least nominal, always.
#
# Shares invert hypergeometric tests in two strata. Means and differences bet against each possible
# value, without replacement, on labels that are adjusted by what earlier labels taught.


SHRINKAGE = 16.0
"""Labels' worth of shrinkage of the predictable slope towards 0."""
METHOD = "betting with a control variate"
RISK = 0.75
"""No bet can lose more than this share of the capital on one label."""
ROUNDING = 1e-12
"""A price this far below 0 is 0 but for rounding."""
CERTIFIED_HALVINGS = 40
"""Steps of bisection: ends are good to 1e-12 and always err outwards."""


def certified_share(
    sizes: Vector,
    labelled: Vector,
    passes: Vector,
    *,
    population: Population = "these",
    alpha: float = 0.05,
) -> Interval:
    r"""Bound how many items pass, for certain, from labels in the judges' strata.

    Two strata go through :func:`hypergeometric_strata`, one through :func:`hypergeometric`. Of
    three bins the middle one always joins the upper one, before labels are seen. For new items the
    labels alone count (:func:`clopper_pearson`), which needs independent draws. Exact.

    Parameters
    ----------
    sizes, labelled, passes
        :math:`N_h, k_h, x_h` in the order of the consensus, lowest first; at most three strata.
    population, alpha
        As in :func:`adverse_share`.

    Examples
    --------
    >>> print(certified_share([28, 80], [10, 20], [3, 19]))
    [0.639, 0.870] (95 %, exact)
    >>> print(certified_share([20, 8, 80], [7, 3, 20], [1, 2, 19]))
    [0.630, 0.870] (95 %, exact)
    """
    check_population(population)
    x, k = as_counts(passes, labelled, names=("passes", "labelled"))
    k, n = as_counts(k, sizes, names=("labelled", "sizes"))
    if n.ndim != 1 or x.shape != n.shape or not 1 <= n.size <= 3:
        raise InputError(f"sizes must hold one to three strata, got shape {n.shape}")
    if population == "new":
        return clopper_pearson(float(x.sum()), float(k.sum()), alpha=alpha)
    if n.size == 3:
        n, k, x = (np.array([part[0], part[1] + part[2]]) for part in (n, k, x))
    used = n > 0
    if not used.any():
        raise InputError("sizes must add up to at least 1 item")
    if used.sum() == 1:
        only = int(np.flatnonzero(used)[0])
        return hypergeometric(float(x[only]), float(k[only]), float(n[only]), alpha=alpha)
    return hypergeometric_strata(x, k, n, alpha=alpha)[0]


def certified_mean(
    labels: Vector,
    consensus: Vector,
    every: Vector,
    *,
    population: Population = "these",
    alpha: float = 0.05,
) -> Interval:
    r"""Bound a mean score on [0, 1], for certain, with the judges as a control variate.

    Labels come in random order. Before label i the slope :math:`b = S_{cy}/(S_{cc} + 16 v)` of the
    earlier labels is known, and so is the mean :math:`\bar c_i` of the consensus over the items not
    yet drawn. If the mean of all N is θ, then

    .. math:: x_i = y_i - b (c_i - \bar c_i), \qquad
              m_i = \frac{N\theta - \sum_{j<i} y_j}{N - i + 1}, \qquad
              E[x_i \mid \text{past}] = m_i,   \tag{AL12}

    whatever b is, so bets on :math:`x_i` at the price :math:`m_i` are fair. Stakes are those of
    (I11), cut at :math:`.75/(m_i + t_{lo})` and :math:`.75/(1 - m_i + t_{hi})`, where t is the
    farthest reach of :math:`b (c - \bar c_i)` *over the items not yet drawn*. The capital is then
    a non-negative martingale, and θ is refuted once it reaches :math:`2/\alpha`. Exact for a number
    of labels fixed beforehand. New items: betting on the labels alone.

    Parameters
    ----------
    labels, consensus
        y and c on the labelled items, **in the order in which they were drawn**, or shuffled with a
        seed.
    every
        c on all N items; each labelled item's c must be among them.
    population, alpha
        As in :func:`adverse_mean`.

    Examples
    --------
    >>> every = np.arange(40) / 39
    >>> chosen = [35, 30, 16, 37, 12, 24, 33, 21]
    >>> print(certified_mean([1, 0.75, 0.5, 1, 0.25, 0.75, 1, 0.5], every[chosen], every))
    [0.385, 0.918] (95 %, exact)
    """
    return _bet(labels, consensus, every, (0.0, 1.0), population, alpha)


def _bet(
    labels: Vector,
    consensus: Vector,
    every: Vector,
    bounds: Bounds,
    population: Population,
    alpha: float,
) -> Interval:
    open_unit(alpha=alpha)
    y, c = (np.asarray(part, dtype=np.float64) for part in (labels, consensus))
    if population == "new" and y.ndim == 1:
        check_within(y, bounds)
        return betting(y, alpha=alpha, bounds=bounds)[0]
    check_population(population)
    if y.ndim != 1 or y.shape != c.shape:
        raise InputError(
            "labels and consensus must be two sequences of one length, got shapes "
            f"{y.shape} and {c.shape}"
        )
    rows = CertifiedRows.of(y[None], c[None], [every], bounds=bounds)
    low, high = rows.ends(np.array([alpha]))
    return Interval(float(low[0]), float(high[0]), 1 - alpha, "exact", None, METHOD)


@dataclass(frozen=True, kw_only=True, eq=False)
class CertifiedRows:
    """Labels of many means with their control variates: everything that no level changes.

    Parameters
    ----------
    labels, adjusted, below, above
        Rows x labels, on [0, 1]: y, x of (AL12), and how far x could have lain below 0 and above 1.
    items
        N.
    bounds
        The range of the labels as they came.
    """

    labels: Floats
    adjusted: Floats
    below: Floats
    above: Floats
    items: int
    bounds: Bounds

    @classmethod
    def of(
        cls,
        labels: Floats,
        consensus: Floats,
        every: Sequence[Vector],
        *,
        bounds: Bounds = (0.0, 1.0),
    ) -> CertifiedRows:
        """Adjust the labels of every row by what earlier labels of that row taught.

        Parameters
        ----------
        labels, consensus
            Rows of y and c, in the order in which they were drawn.
        every
            c on all N items, per row.
        bounds
            Range of the labels.

        Examples
        --------
        >>> every = np.arange(40) / 39
        >>> y, c = np.array([[1, 0.75, 0.5, 1.0]]), every[[[35, 30, 16, 37]]]
        >>> low, high = CertifiedRows.of(y, c, [every]).ends(np.array([0.05]))
        >>> low.round(3).tolist(), high.round(3).tolist()
        ([0.271], [0.981])
        """
        population = [np.asarray(part, dtype=np.float64) for part in every]
        n = population[0].size
        if any(part.shape != (n,) for part in population) or not 1 <= labels.shape[1] <= n:
            raise InputError(
                f"labels must be from 1 to the {n} items of every, which holds one consensus per "
                f"item, got {labels.shape[1]} labels"
            )
        check_within(labels, bounds)

        # Differences are brought to [0, 1]; the slope stays if the consensus is scaled too.
        scale = bounds[1] - bounds[0]
        unit = (labels - bounds[0]) / scale
        rows = [
            _control(y, c / scale, all_c / scale)
            for y, c, all_c in zip(unit, consensus, population, strict=True)
        ]
        x, below, above = (np.stack(part) for part in zip(*rows, strict=True))
        return cls(
            labels=unit,
            adjusted=x,
            below=below,
            above=above,
            items=n,
            bounds=(float(bounds[0]), float(bounds[1])),
        )

    def take(self, rows: NDArray[np.intp]) -> CertifiedRows:
        """Return some rows, in any order and as often as they are named."""
        parts = ("labels", "adjusted", "below", "above")
        return replace(self, **{name: getattr(self, name)[rows] for name in parts})

    def ends(self, alpha: Floats) -> Ends:
        """Return both ends of every row, each at its own level."""
        threshold = 2 / alpha
        low = self._lower(self.labels, self.adjusted, self.below, threshold)
        high = 1 - self._lower(1 - self.labels, 1 - self.adjusted, self.above, threshold)

        # Both gamblers together can refute every mean, by chance: then only logic is claimed.
        seen, m = self.labels.sum(axis=1), self.labels.shape[1]
        least = seen / self.items
        most = np.maximum(least, 1 - (m - seen) / self.items)
        nothing = low > high + 1e-9
        low, high = np.where(nothing, least, low), np.where(nothing, most, high)
        low, high = np.minimum(low, high), np.maximum(low, high)
        start, scale = self.bounds[0], self.bounds[1] - self.bounds[0]
        return start + scale * np.maximum(least, low), start + scale * np.minimum(most, high)

    def _lower(self, y: Floats, x: Floats, reach: Floats, threshold: Floats) -> Floats:
        """Return the largest refuted mean that logic allows; infinite if all are refuted."""
        left = self.items - np.arange(y.shape[1])
        wagers = Wagers(
            x=x,
            stakes=stakes_before(x, np.log(threshold)),
            slope=np.broadcast_to(self.items / left, x.shape),
            offset=(np.cumsum(y, axis=1) - y) / left,
            reach=reach,
            floor=np.full(x.shape, -ROUNDING),
            cut=RISK,
        )
        seen = y.sum(axis=1)
        low, high = seen / self.items, 1.0 - (y.shape[1] - seen) / self.items
        return wagers.last_refuted(threshold, low, high, CERTIFIED_HALVINGS)


def _control(y: Floats, c: Floats, every: Floats) -> tuple[Floats, Floats, Floats]:
    """Return adjusted labels (AL12) and how far each could have lain below 0 and above 1."""
    slopes = _slopes(y, c, every)
    means, highest, lowest = _remaining(c, every)
    adjusted = y - slopes * (c - means)
    top, bottom = slopes * (highest - means), slopes * (lowest - means)
    below = np.maximum(0.0, np.maximum(top, bottom))
    above = np.maximum(0.0, np.maximum(-top, -bottom))
    return adjusted, below, above


def _slopes(y: Floats, c: Floats, every: Floats) -> Floats:
    """Return the slope before each label, from the labels before it."""
    variance = float(every.var()) if every.min() < every.max() else 0.0
    slopes = np.zeros(len(y))
    if variance == 0:
        return slopes
    # Running means and sums of products (Welford), so that no large sums are subtracted.
    mean_c = mean_y = s_cc = s_cy = 0.0
    for i in range(len(y) - 1):
        off = c[i] - mean_c
        mean_c += off / (i + 1)
        s_cc += off * (c[i] - mean_c)
        mean_y += (y[i] - mean_y) / (i + 1)
        s_cy += off * (y[i] - mean_y)
        slopes[i + 1] = s_cy / (s_cc + SHRINKAGE * variance)
    return slopes


def _remaining(c: Floats, every: Floats) -> tuple[Floats, Floats, Floats]:
    """Return mean, greatest and least consensus of the items not yet drawn, before each draw."""
    values, counts = np.unique(every, return_counts=True)
    where: NDArray[np.intp] = np.minimum(np.searchsorted(values, c), values.size - 1)
    if (values[where] != c).any():
        missing = c[values[where] != c][0]
        raise InputError(f"consensus: {missing} is not among the consensus of every item")

    left, total = counts.astype(np.int64), float(every.sum())
    means, highest, lowest = (np.empty(len(c)) for _ in range(3))
    bottom, top = 0, values.size - 1
    for i, at in enumerate(where):
        while left[bottom] == 0:
            bottom += 1
        while left[top] == 0:
            top -= 1
        means[i] = total / (every.size - i)
        lowest[i], highest[i] = values[bottom], values[top]
        if left[at] == 0:
            raise InputError(f"consensus: {c[i]} is drawn more often than it occurs in every")
        left[at] -= 1
        total -= c[i]
    return means, highest, lowest
