"""Values between known bounds, brought to the scale from 0 to 1 and back."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np

from tallystick.errors import InputError
from tallystick.stats.intervals.array import Floats, Numbers

__all__ = ["Bounds", "as_unit", "check_bounds", "from_unit"]

Bounds: TypeAlias = tuple[float, float]

_ROUNDING = 1e-9
"""How far outside its bounds, in units of their width, a mean may lie by rounding alone; it is then
moved onto them."""


def check_bounds(bounds: Bounds) -> Bounds:
    """Return the bounds if they enclose anything.

    >>> check_bounds((1, 1))
    Traceback (most recent call last):
    tallystick.errors.InputError: bounds must be two finite numbers, the lower one first, got (1, 1)
    """
    low, high = bounds
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise InputError(f"bounds must be two finite numbers, the lower one first, got {bounds!r}")
    return low, high


def as_unit(values: Numbers, bounds: Bounds, *, name: str) -> Floats:
    """Bring *values* from their bounds to [0, 1]; refuse what lies outside.

    >>> as_unit([-1, 0, 1], (-1, 1), name="values")
    array([0. , 0.5, 1. ])
    """
    low, high = check_bounds(bounds)
    unit = (np.asarray(values, dtype=np.float64) - low) / (high - low)
    outside = ~((unit >= -_ROUNDING) & (unit <= 1 + _ROUNDING))  # also catches NaN
    if outside.any():
        raise InputError(
            f"{name} must lie in the bounds {bounds!r}, got {np.asarray(values)[outside].flat[0]}"
        )
    return np.clip(unit, 0.0, 1.0)


def from_unit(values: Floats, bounds: Bounds) -> Floats:
    """Bring values from [0, 1] back to their bounds, the two ends exactly.

    >>> from_unit(np.array([0.0, 0.5, 1.0]), (-1, 1))
    array([-1.,  0.,  1.])
    """
    low, high = bounds
    return np.where(values == 1.0, high, low + (high - low) * values)
