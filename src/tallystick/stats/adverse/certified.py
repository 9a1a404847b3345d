r"""Exact intervals for the same questions: coverage is at least nominal, always.

Shares invert hypergeometric tests in two strata. Means and differences bet against each possible
value, without replacement, on labels that are adjusted by what earlier labels taught.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError
from tallystick.results import Interval
from tallystick.stats.adverse.adjust import check_within
from tallystick.stats.adverse.population import Population, check_population
from tallystick.stats.intervals import (
    betting,
    clopper_pearson,
    hypergeometric,
    hypergeometric_strata,
)
from tallystick.stats.intervals.array import Floats, Vector, as_counts
from tallystick.stats.intervals.bounds import Bounds
from tallystick.stats.ranges import open_unit

__all__ = ["certified_difference", "certified_mean", "certified_share"]

SHRINKAGE = 16.0
"""Labels' worth of shrinkage of the predictable slope towards 0."""
METHOD = "betting with a control variate"


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
    anytime: bool = False,
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
    of labels fixed beforehand; *anytime* holds at any stopping time. New items: betting on the
    labels alone.

    Parameters
    ----------
    labels, consensus
        y and c on the labelled items, **in the order in which they were drawn**, or shuffled with a
        seed.
    every
        c on all N items; each labelled item's c must be among them.
    population, alpha
        As in :func:`adverse_mean`.
    anytime
        Whether the number of labels was decided while looking at them.

    Examples
    --------
    >>> every = np.arange(40) / 39
    >>> chosen = [35, 30, 16, 37, 12, 24, 33, 21]
    >>> print(certified_mean([1, 0.75, 0.5, 1, 0.25, 0.75, 1, 0.5], every[chosen], every))
    [0.385, 0.918] (95 %, exact)
    """
    return _bet(labels, consensus, every, (0.0, 1.0), population, anytime, alpha)


def certified_difference(
    labels: Vector,
    consensus: Vector,
    every: Vector,
    *,
    population: Population = "these",
    anytime: bool = False,
    alpha: float = 0.05,
) -> Interval:
    """Bound a mean difference on [-1, 1], for certain: :func:`certified_mean` on (D + 1)/2.

    Parameters
    ----------
    labels, consensus, every
        As in :func:`certified_mean`, with D in place of y and d in place of c.
    population, anytime, alpha
        As in :func:`certified_mean`.

    Examples
    --------
    >>> print(certified_difference(np.zeros(20), np.zeros(20), np.zeros(200)))
    [-0.206, 0.206] (95 %, exact)
    """
    return _bet(labels, consensus, every, (-1.0, 1.0), population, anytime, alpha)


def _bet(
    labels: Vector,
    consensus: Vector,
    every: Vector,
    bounds: Bounds,
    population: Population,
    anytime: bool,
    alpha: float,
) -> Interval:
    from tallystick.stats.adverse._wagers import certified_ends

    open_unit(alpha=alpha)
    check_population(population)
    y, c, all_c = (np.asarray(part, dtype=np.float64) for part in (labels, consensus, every))
    if y.ndim != 1 or y.shape != c.shape or all_c.ndim != 1 or not 1 <= y.size <= all_c.size:
        raise InputError(
            "labels and consensus must be two sequences of one length, from 1 to the "
            f"{all_c.size} items of every, got shapes {y.shape} and {c.shape}"
        )
    check_within(y, bounds)
    if population == "new":
        return betting(y, alpha=alpha, bounds=bounds, anytime=anytime)[0]

    # Differences are brought to [0, 1]; the slope does not change if the consensus is scaled too.
    scale = bounds[1] - bounds[0]
    unit = (y - bounds[0]) / scale
    x, below, above = _control(unit, c / scale, all_c / scale)
    low, high = certified_ends(unit, x, below, above, all_c.size, 2 / alpha, anytime)

    # Both gamblers together can refute every mean, by chance: then nothing but logic is claimed.
    n, seen = all_c.size, unit.sum()
    least, most = seen / n, max(seen / n, 1 - (y.size - seen) / n)
    if low > high + 1e-9:
        low, high = least, most
    low, high = max(least, min(low, high)), min(most, max(low, high))
    return Interval(
        bounds[0] + scale * low,
        bounds[0] + scale * high,
        1 - alpha,
        "anytime" if anytime else "exact",
        None,
        METHOD,
    )


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
