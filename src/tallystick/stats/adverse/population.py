"""Which items a mean is about: these very items, or new items like them, and what that costs."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from tallystick.errors import InputError
from tallystick.stats.intervals.array import Floats
from tallystick.stats.ranges import open_unit

__all__ = ["Population", "check_population", "normal_bar", "widen_for_new"]

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
