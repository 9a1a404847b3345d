"""Exact intervals from labels: coverage is at least nominal, always; and ranges of labels in words.

Shares invert hypergeometric tests in two strata. Means and differences bet against each possible
value, without replacement, on labels that are adjusted by what earlier labels taught.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError
from tallystick.results import Interval
from tallystick.stats.adverse_binary import Ends, Population, check_population
from tallystick.stats.anytime import betting_ends
from tallystick.stats.bets import Wagers, stakes_before
from tallystick.stats.exact_tails import within
from tallystick.stats.intervals import Bounds, Floats, Vector, as_counts, clopper_pearson
from tallystick.stats.urns import hypergeometric, hypergeometric_strata

SHRINKAGE = 16.0
"""Labels' worth of shrinkage of the predictable slope towards 0."""
METHOD = "betting with a control variate"
RISK = 0.75
"""No bet can lose more than this share of the capital on one label."""
ROUNDING = 1e-12
"""A price this far below 0 is 0 but for rounding."""
CERTIFIED_HALVINGS = 40
"""Steps of bisection: ends are good to 1e-12 and always err outwards."""


Levels: TypeAlias = Callable[[Floats], Ends]
"""Given one α per entry, both ends at each: a p-value that inverts an interval asks at many."""


def certified_shares(
    sizes: Vector, labelled: Vector, passes: Vector, *, population: Population = "these"
) -> Levels:
    r"""Bound how many items pass, for certain, from labels in the judges' strata, as a function of
    α.

    Two strata go through :func:`hypergeometric_strata`, one through :func:`hypergeometric`. Of
    three bins the middle one always joins the upper one, before labels are seen. For new items the
    labels alone count (:func:`clopper_pearson`), which needs independent draws. Exact.

    Parameters
    ----------
    sizes, labelled, passes
        :math:`N_h, k_h, x_h` in the order of the consensus, lowest first; at most three strata.
    population
        ``these`` items, or ``new`` ones like them.

    Examples
    --------
    >>> low, high = certified_shares([28, 80], [10, 20], [3, 19])(np.array([0.05, 0.5]))
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.639, 0.731], [0.87, 0.815])
    """
    check_population(population)
    x, k = as_counts(passes, labelled, names=("passes", "labelled"))
    k, n = as_counts(k, sizes, names=("labelled", "sizes"))
    if n.size == 3:
        n, k, x = (np.array([part[0], part[1] + part[2]]) for part in (n, k, x))
    n, k, x = (part[n > 0] for part in (n, k, x))
    if n.size not in (1, 2):
        raise InputError("sizes must hold one to three strata with at least 1 item")

    def one(alpha: float) -> Interval:
        if population == "new":
            return clopper_pearson(float(x.sum()), float(k.sum()), alpha=alpha)
        if n.size == 1:
            return hypergeometric(float(x[0]), float(k[0]), float(n[0]), alpha=alpha)
        return hypergeometric_strata(x, k, n, alpha=alpha)[0]

    def at(alpha: Floats) -> Ends:
        low, high = np.array([tuple(one(level)) for level in alpha.tolist()]).T
        return low, high

    return at


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
        within(bounds, labels=labels)
        # Differences are brought to [0, 1]; the slope stays if the consensus is scaled too.
        scale = bounds[1] - bounds[0]
        unit = (labels - bounds[0]) / scale
        rows = [
            _control(y, c / scale, np.asarray(all_c) / scale)
            for y, c, all_c in zip(unit, consensus, every, strict=True)
        ]
        x, below, above = (np.stack(part) for part in zip(*rows, strict=True))
        return cls(
            labels=unit, adjusted=x, below=below, above=above, items=len(every[0]), bounds=bounds
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
    if (values[where] != c).any() or (np.bincount(where, minlength=counts.size) > counts).any():
        raise InputError("consensus must be that of items drawn from every, each at most once")

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
        left[at] -= 1
        total -= c[i]
    return means, highest, lowest


def certified_mean(
    labels: Vector,
    consensus: Vector,
    every: Vector,
    *,
    population: Population = "these",
) -> Levels:
    r"""Bound a mean score on [0, 1], for certain, with the judges as a control variate, as a
    function of α.

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
    population
        ``these`` items, or ``new`` ones like them.

    Examples
    --------
    >>> every = np.arange(40) / 39
    >>> chosen = [35, 30, 16, 37, 12, 24, 33, 21]
    >>> at = certified_mean([1, 0.75, 0.5, 1, 0.25, 0.75, 1, 0.5], every[chosen], every)
    >>> [end.round(3).tolist() for end in at(np.array([0.05, 0.5]))]
    [[0.385, 0.538], [0.918, 0.823]]
    """
    check_population(population)
    y, c = (np.asarray(part, dtype=np.float64) for part in (labels, consensus))
    if population == "new":
        return lambda alpha: betting_ends(np.tile(y, (alpha.size, 1)), alpha)
    rows = CertifiedRows.of(y[None], c[None], [every])
    return lambda alpha: rows.take(np.zeros(alpha.size, np.intp)).ends(alpha)


# About how many labels in all, as a range of two digits.


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
