"""One number at many levels: what a p-value that inverts an interval asks for, step after step.

Everything that does not depend on the level is computed once, and many levels are one call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tallystick.stats.adverse.adjust import Adjusted
from tallystick.stats.adverse.binary import share_ends, share_rows
from tallystick.stats.adverse.certified import CertifiedRows, certified_share
from tallystick.stats.adverse.inclusion import weighted_strata
from tallystick.stats.adverse.numbers import SCORES, mean_ends, one_row
from tallystick.stats.adverse.population import Population, check_population
from tallystick.stats.adverse.spread import Spread
from tallystick.stats.intervals import betting
from tallystick.stats.intervals.array import Floats, Vector

__all__ = [
    "LevelEnds",
    "Levels",
    "certified_mean_levels",
    "certified_share_levels",
    "exact_levels",
    "mean_levels",
    "share_levels",
]

LevelEnds: TypeAlias = tuple[Floats, Floats, Floats]
"""Estimate, lower and upper end, one entry per level."""
Levels: TypeAlias = Callable[[Floats], LevelEnds]
"""Given one α per entry, the estimate and the ends at each."""


def share_levels(
    sizes: Vector,
    labelled: Vector,
    passes: Vector,
    *,
    weighted: tuple[Vector, npt.ArrayLike, Vector] | None = None,
    population: Population = "these",
) -> Levels:
    """Return :func:`adverse_share` of one problem as a function of α.

    Parameters
    ----------
    sizes, labelled, passes
        :math:`N_h, k_h, x_h` per stratum.
    weighted
        The arguments *passed*, *stratum* and *inclusion* of :func:`adverse_share_weighted`, if
        labels were drawn with known probabilities. None: at random.
    population
        As in :func:`adverse_share`.

    Examples
    --------
    >>> _, low, high = share_levels([28, 80], [10, 20], [3, 19])(np.array([0.05, 0.5]))
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.657, 0.731], [0.87, 0.815])
    """
    check_population(population)
    counts = (np.asarray(part, dtype=np.float64)[None] for part in (sizes, labelled, passes))
    n, k, x = share_rows(*counts)
    share = np.divide(x, k, out=np.zeros_like(x), where=k > 0)
    effective = k
    if weighted is not None:
        found = weighted_strata(*weighted, strata=n.shape[1])
        k, x = found.labelled[None], found.passes[None]
        share, effective = found.share[None], found.effective[None]

    def at(alpha: Floats) -> LevelEnds:
        row = np.zeros(alpha.size, np.intp)
        estimate, (low, high) = share_ends(
            (n[row], k[row], x[row]), share[row], effective[row], population=population, alpha=alpha
        )
        return estimate, low, high

    return at


def mean_levels(
    labels: Vector,
    consensus: Vector,
    every: Spread | Vector,
    *,
    inclusion: Vector | None = None,
    population: Population = "these",
) -> Levels:
    """Return :func:`adverse_mean` of one problem as a function of α.

    Parameters
    ----------
    labels, consensus, every, inclusion, population
        As in :func:`adverse_mean`.

    Examples
    --------
    >>> every = np.arange(40) / 39
    >>> at = mean_levels([1, 0.75, 0.5, 1, 0.25, 0.75], every[[35, 30, 16, 37, 12, 24]], every)
    >>> at(np.array([0.05, 0.5]))[1].round(3).tolist()
    [0.388, 0.569]
    """
    check_population(population)
    y, w, adjusted, spread = one_row(labels, consensus, every, inclusion)

    def at(alpha: Floats) -> LevelEnds:
        row = np.zeros(alpha.size, np.intp)
        rows = Adjusted(
            values=adjusted.values[row],
            slope=adjusted.slope[row],
            low=adjusted.low[row],
            high=adjusted.high[row],
            leverage=adjusted.leverage[row],
        )
        estimate, (low, high) = mean_ends(y[row], w[row], rows, spread, SCORES, population, alpha)
        return estimate, low, high

    return at


def certified_share_levels(
    sizes: Vector, labelled: Vector, passes: Vector, *, population: Population = "these"
) -> Levels:
    """Return :func:`certified_share` as a function of α; the middle stands for an estimate.

    Parameters
    ----------
    sizes, labelled, passes, population
        As in :func:`certified_share`.

    Examples
    --------
    >>> _, low, high = certified_share_levels([28, 80], [10, 20], [3, 19])(np.array([0.05, 0.5]))
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.639, 0.731], [0.87, 0.815])
    """

    def at(alpha: Floats) -> LevelEnds:
        found = [
            certified_share(sizes, labelled, passes, population=population, alpha=float(level))
            for level in alpha
        ]
        return _around(np.array([one.low for one in found]), np.array([one.high for one in found]))

    return at


def certified_mean_levels(
    labels: Vector,
    consensus: Vector,
    every: Vector,
    *,
    population: Population = "these",
    anytime: bool = False,
) -> Levels:
    """Return :func:`certified_mean` as a function of α; the middle stands for an estimate.

    Parameters
    ----------
    labels, consensus, every, population, anytime
        As in :func:`certified_mean`.

    Examples
    --------
    >>> every = np.arange(40) / 39
    >>> at = certified_mean_levels([1, 0.75, 0.5, 1], every[[35, 30, 16, 37]], every)
    >>> at(np.array([0.05, 0.5]))[1].round(3).tolist()
    [0.271, 0.511]
    """
    check_population(population)
    y, c = (np.asarray(part, dtype=np.float64) for part in (labels, consensus))
    if population == "new":

        def new(alpha: Floats) -> LevelEnds:
            found = [betting(y, alpha=float(level), anytime=anytime)[0] for level in alpha]
            ends = (np.array([getattr(one, end) for one in found]) for end in ("low", "high"))
            return _around(*ends)

        return new
    rows = CertifiedRows.of(y[None], c[None], [every], anytime=anytime)
    return lambda alpha: _around(*rows.take(np.zeros(alpha.size, np.intp)).ends(alpha))


def _around(low: Floats, high: Floats) -> LevelEnds:
    return (low + high) / 2, low, high


def exact_levels(approximate: Levels, exact: Levels) -> Levels:
    """Return the estimates of *approximate* with exact intervals, moved inside where they must.

    Parameters
    ----------
    approximate
        Where the estimates come from.
    exact
        Where the intervals come from.

    Examples
    --------
    >>> at = exact_levels(share_levels([9], [9], [9]), share_levels([9], [3], [1]))
    >>> [round(float(part[0]), 3) for part in at(np.array([0.05]))]
    [0.778, 0.111, 0.778]
    """

    def at(alpha: Floats) -> LevelEnds:
        _, low, high = exact(alpha)
        return np.clip(approximate(alpha)[0], low, high), low, high

    return at
