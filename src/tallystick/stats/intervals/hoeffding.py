"""Hoeffding's interval for the mean of bounded values: needs the mean and the count only."""

from __future__ import annotations

from typing import overload

import numpy as np

from tallystick.errors import InputError
from tallystick.results import Interval
from tallystick.stats.intervals.array import Intervals, Numbers, Vector, pack
from tallystick.stats.intervals.bounds import Bounds, as_unit, from_unit
from tallystick.stats.intervals.side import Side, split_alpha

__all__ = ["hoeffding"]


@overload
def hoeffding(
    mean: float, n: float, *, alpha: float = ..., side: Side = ..., bounds: Bounds = ...
) -> Interval: ...
@overload
def hoeffding(
    mean: Vector, n: Numbers, *, alpha: float = ..., side: Side = ..., bounds: Bounds = ...
) -> Intervals: ...
def hoeffding(
    mean: Numbers,
    n: Numbers,
    *,
    alpha: float = 0.05,
    side: Side = "two",
    bounds: Bounds = (0.0, 1.0),
) -> Interval | Intervals:
    r"""Bound a mean for certain, when the values lie in *bounds* and nothing else is known.

    .. math:: \bar x \mp (b - a) \sqrt{\ln(1/\delta) / (2n)}   \tag{I5}

    with :math:`\delta = \alpha/2` at each end, clipped to the bounds [DD]_, Theorem 2. Exact for
    independent values, and for draws without replacement; wide, because it prepares for the largest
    variance that the bounds allow.

    Parameters
    ----------
    mean, n
        The mean of n values, n at least 1.
    alpha, side
        As in :func:`clopper_pearson`.
    bounds
        Between what the values must lie, whatever was seen.

    Examples
    --------
    >>> print(hoeffding(0.8, 100))
    [0.664, 0.936] (95 %, exact)
    """
    at_ends = split_alpha(alpha, side)
    centre, size = np.broadcast_arrays(
        as_unit(mean, bounds, name="mean"), np.asarray(n, dtype=np.float64)
    )
    if not (size >= 1).all():
        raise InputError(f"n must be at least 1, got {size.min()}")
    # (I5)
    down, up = (
        np.sqrt(-np.log(at) / (2 * size)) if at else np.full_like(size, np.inf) for at in at_ends
    )
    low, high = (from_unit(np.clip(end, 0.0, 1.0), bounds) for end in (centre - down, centre + up))
    return pack(low, high, alpha=alpha, guarantee="exact", method="hoeffding")
