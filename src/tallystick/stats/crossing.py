"""Where rising functions cross a bar: many at once, by Newton's steps inside a bracket."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Floats", "crossing"]

Floats: TypeAlias = NDArray[np.float64]
Rising: TypeAlias = Callable[[Floats], tuple[Floats, Floats]]
"""Values and slopes at one point per row; a value is below 0 on the left of the crossing."""

STEPS = 100
"""The most steps. Newton takes about six; if it never helped, halving would need 60."""
CLOSE = 1e-9
"""The last step. Newton's error is squared by it, so what is left is about 1e-16."""
SAME = 1e-13
"""A bracket this narrow is a point."""


def crossing(rising: Rising, start: Floats, low: float, high: float) -> Floats:
    """Return where each row's function crosses 0 between *low* and *high*.

    The end of the bracket if it does not cross there. Each value narrows the bracket, and a step of
    Newton that would leave it is replaced by its middle.

    Parameters
    ----------
    rising
        Values and slopes of all rows at one point each. What is not finite is halved, and NaN is
        taken for a value on the left of the crossing.
    start
        A first guess per row.
    low, high
        The bracket.

    Examples
    --------
    >>> def cube(x): return x**3 - np.array([8.0, 27.0]), 3 * x**2
    >>> crossing(cube, np.array([9.0, 0.1]), 0.0, 10.0).round(12).tolist()
    [2.0, 3.0]
    >>> crossing(cube, np.array([1.0, 1.0]), 0.0, 2.5).round(12).tolist()
    [2.0, 2.5]
    """
    left, right = np.full(start.shape, low), np.full(start.shape, high)
    at, moved = np.clip(start, low, high), np.full(start.shape, np.inf)
    tried = np.zeros((2, *start.shape), np.bool_)  # whether the ends themselves were looked at
    done = np.zeros(start.shape, np.bool_)
    for _ in range(STEPS):
        with np.errstate(all="ignore"):
            value, slope = rising(at)
            below = ~(value >= 0.0)  # also a logarithm of what rounding made negative
            left, right = np.where(below, at, left), np.where(below, right, at)
            step = np.clip(at - value / slope, low, high)
            near = np.abs(step - at) <= CLOSE
            # A step that is not half of the last one may be one of many to and fro.
            fine = (step > left) & (step < right) & (np.abs(step - at) <= 0.5 * moved)

        # Beyond an end, that end is tried once: the crossing may lie there, or not exist.
        tried |= np.stack([at == low, at == high])
        fine |= near | ((step == low) & ~tried[0]) | ((step == high) & ~tried[1])
        step = np.where(fine, step, 0.5 * (left + right))
        moved, at = np.abs(step - at), np.where(done, at, step)
        # What has arrived stays: rounding must not send it off again.
        done |= near | (moved <= SAME)
        if done.all():
            break
    return at
