r"""The share of ones at a planned stop: the adverse likelihood on the engine's strata.

The mathematics is :mod:`tallystick.stats.adverse.binary` (AL1, AL2). This file only adds what a
labelling session needs besides: values that are fractions (two readers who disagree count one
half, grades lie between 0 and 1), and items that were skipped, which count as the least value for
the low end and as the largest for the high end.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tallystick.errors import InputError
from tallystick.results import Interval
from tallystick.sampling.labels.consensus import Floats
from tallystick.stats.adverse.binary import METHOD, raw_share_ends
from tallystick.stats.adverse.stratum import effective_labels, fill_unlabelled

__all__ = ["PlannedShare", "planned_share", "planned_shares"]


@dataclass(frozen=True, kw_only=True, eq=False)
class PlannedShare:
    """One row per question: the estimate, the interval, and its ends before rounding to items."""

    estimate: Floats
    low: Floats
    high: Floats
    raw_low: Floats
    raw_high: Floats

    def interval(self, row: int = 0, *, alpha: float = 0.05) -> Interval:
        """Return the interval of one row."""
        return Interval(float(self.low[row]), float(self.high[row]), level=1 - alpha, method=METHOD)


def planned_share(
    sizes: ArrayLike, labelled: ArrayLike, low: ArrayLike, high: ArrayLike, *, alpha: float = 0.05
) -> PlannedShare:
    """Bound the mean value where some items were skipped, counting each skip both ways.

    Parameters
    ----------
    sizes, labelled
        N_h and k_h per stratum; a skipped item counts as labelled.
    low, high
        The sums of the values in each stratum, with skips at 0 and with skips at 1.
    alpha
        One minus the level.

    Examples
    --------
    >>> found = planned_share([100], [20], [15.0], [16.0])
    >>> print(found.interval())
    [0.540, 0.930] (95 %, approximate)
    """
    least = planned_shares(sizes, labelled, low, alpha=alpha)
    most = planned_shares(sizes, labelled, high, alpha=alpha)
    return PlannedShare(
        estimate=(least.estimate + most.estimate) / 2,
        low=least.low,
        high=most.high,
        raw_low=least.raw_low,
        raw_high=most.raw_high,
    )


def planned_shares(
    sizes: ArrayLike, labelled: ArrayLike, total: ArrayLike, *, alpha: float = 0.05
) -> PlannedShare:
    """Bound the share of ones among all items of strata, from labels drawn at random inside each.

    Parameters
    ----------
    sizes, labelled, total
        N_h, k_h and the sum of the labelled values; strata along the last axis, any number of rows.
        Values may be fractions in [0, 1]. A stratum of size 0 is skipped.
    alpha
        One minus the level.

    Examples
    --------
    >>> found = planned_shares([28, 80], [10, 20], [3, 19])
    >>> [float(end[0].round(4)) for end in (found.estimate, found.low, found.high)]
    [0.7815, 0.6574, 0.8704]
    """
    n, k, x = (
        np.atleast_2d(np.asarray(part, dtype=np.float64)) for part in (sizes, labelled, total)
    )
    n, k, x = (np.array(part) for part in np.broadcast_arrays(n, k, x))
    if not ((x >= 0) & (x <= k + 1e-9) & (k <= n)).all() or (n.sum(axis=-1) < 1).any():
        raise InputError(
            "counts must satisfy 0 <= total <= labelled <= sizes, with at least one item"
        )
    items, labels, right = (part.sum(axis=-1) for part in (n, k, x))

    # A stratum without labels takes the mean of the strata that have some, by their sizes.
    share = np.clip(np.divide(x, k, out=np.zeros(n.shape), where=k > 0), 0.0, 1.0)
    estimate = (n * fill_unlabelled(n, share, k)).sum(axis=-1) / items
    star = np.where(k > 0, effective_labels(n, k, k == n, "these"), 0.0)
    raw_low, raw_high = raw_share_ends(n, star, share, alpha=alpha)  # (AL2)

    # Outwards to whole items: the truth is a whole number of them (or of halves, if values are).
    least, most = right / items, (right + items - labels) / items
    low = np.floor(items * raw_low) / items
    high = (items - np.floor(items * (1 - raw_high))) / items
    return PlannedShare(
        estimate=np.clip(estimate, least, most),
        low=np.clip(low, least, most),
        high=np.clip(high, least, most),
        raw_low=raw_low,
        raw_high=raw_high,
    )
