"""Student's interval with half a pseudo-item at each bound: short, and it never collapses."""

from __future__ import annotations

from typing import overload

import numpy as np

from tallystick.results import Interval
from tallystick.stats.intervals.array import Intervals, Numbers, Vector, pack
from tallystick.stats.intervals.bounds import Bounds, from_unit
from tallystick.stats.intervals.empirical_bernstein import as_moments
from tallystick.stats.intervals.side import Side, split_alpha

__all__ = ["pseudo_t"]


@overload
def pseudo_t(
    mean: float,
    variance: float,
    n: float,
    *,
    alpha: float = ...,
    side: Side = ...,
    bounds: Bounds = ...,
) -> Interval: ...
@overload
def pseudo_t(
    mean: Vector,
    variance: Numbers,
    n: Numbers,
    *,
    alpha: float = ...,
    side: Side = ...,
    bounds: Bounds = ...,
) -> Intervals: ...
def pseudo_t(
    mean: Numbers,
    variance: Numbers,
    n: Numbers,
    *,
    alpha: float = 0.05,
    side: Side = "two",
    bounds: Bounds = (0.0, 1.0),
) -> Interval | Intervals:
    r"""Bound the mean of bounded values approximately, also when some values are rare and far away.

    Half an item is added at each bound. On the scale from -1 to 1, with :math:`\nu = n + 1`,

    .. math:: m = \frac{\sum x}{\nu}, \qquad v = \frac{\sum x^2 + 1 - \nu m^2}{\nu - 1}, \qquad
              m \mp t_{n-1} \sqrt{v/\nu}.   \tag{I7}

    Clipped to the bounds. Approximate; where few values differ from the rest, the plain t interval
    can cover a third (``docs/coverage/pseudo-t.md``).

    Parameters
    ----------
    mean, variance, n
        Sample mean, sample variance with divisor n - 1, and count, n at least 2.
    alpha, side, bounds
        As in :func:`hoeffding`.

    Examples
    --------
    Fifty paired differences of scores, all zero: the plain t interval would be the point 0.

    >>> print(pseudo_t(0.0, 0.0, 50, bounds=(-1, 1)))
    [-0.040, 0.040] (95 %, approximate)
    """
    from scipy.special import stdtrit

    unit, spread, n_items = as_moments(mean, variance, n, bounds)
    centre, nu = 2 * unit - 1, n_items + 1
    squares = 4 * spread * (n_items - 1) + n_items * centre**2
    m = n_items * centre / nu
    v = (squares + 1 - nu * m**2) / (nu - 1)  # (I7)
    at_low, at_high = split_alpha(alpha, side)
    half = stdtrit(n_items - 1, 1 - max(at_low, at_high)) * np.sqrt(v / nu)
    low = m - half if at_low else np.full_like(m, -1.0)
    high = m + half if at_high else np.full_like(m, 1.0)
    low, high = (from_unit((np.clip(end, -1.0, 1.0) + 1) / 2, bounds) for end in (low, high))
    return pack(low, high, alpha=alpha, guarantee="approximate", method="pseudo-t")
