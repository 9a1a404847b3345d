"""Many intervals at once: the array form of :class:`tallystick.results.Interval`.

One rule holds for the whole subpackage: scalars in, an ``Interval`` out; arrays in, ``Intervals``
out, in the shape to which the arguments broadcast. What takes rows (of values, of strata) gives one
interval a row; one sequence is one row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError
from tallystick.results import Guarantee, Interval

__all__ = ["Floats", "Intervals", "Numbers", "Vector", "as_counts", "pack"]

Floats: TypeAlias = NDArray[np.float64]
Vector: TypeAlias = NDArray[np.number[Any] | np.bool_] | Sequence[float] | Sequence[Sequence[float]]
"""An array of real numbers, or what NumPy makes one of."""
Numbers: TypeAlias = float | Vector


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """Ranges for many unknown numbers, made in one way and with one promise.

    Parameters
    ----------
    low, high
        The ends, arrays of one shape, ``low <= high`` everywhere; they are copied and made
        read-only.
    level, guarantee, assumption, method
        As in :class:`tallystick.results.Interval`, the same for all.

    Examples
    --------
    >>> found = Intervals([0.1, 0.4], [0.3, 0.9], level=0.95, guarantee="exact", method="example")
    >>> len(found), found.width.round(2).tolist()
    (2, [0.2, 0.5])
    >>> print(found[1])
    [0.400, 0.900] (95 %, exact)
    >>> found.covers([0.2, 0.2]).tolist()
    [True, False]
    """

    low: Floats
    high: Floats
    level: float = 0.95
    guarantee: Guarantee = "approximate"
    assumption: str | None = None
    method: str = ""

    def __post_init__(self) -> None:
        low, high = np.array(self.low, dtype=np.float64), np.array(self.high, dtype=np.float64)
        if low.shape != high.shape or low.ndim == 0:
            raise InputError(
                f"low and high are arrays of one shape, got shapes {low.shape} and {high.shape}"
            )
        wrong = np.argwhere(~(low <= high))  # also catches NaN
        if len(wrong):
            at = tuple(int(i) for i in wrong[0])
            raise InputError(f"an interval needs low <= high, got [{low[at]}, {high[at]}] at {at}")
        self._one(0.0, 0.0)  # level, guarantee and assumption are held to Interval's own rules
        for name, end in (("low", low), ("high", high)):
            end.flags.writeable = False
            object.__setattr__(self, name, end)

    def _one(self, low: float, high: float) -> Interval:
        return Interval(
            low,
            high,
            level=self.level,
            guarantee=self.guarantee,
            assumption=self.assumption,
            method=self.method,
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of both arrays of ends."""
        return self.low.shape

    @property
    def width(self) -> Floats:
        """Distance between the ends."""
        return self.high - self.low

    def covers(self, truth: Numbers) -> NDArray[np.bool_]:
        """Say which intervals contain *truth*, a number or an array of this shape."""
        value = np.asarray(truth, dtype=np.float64)
        return (self.low <= value) & (value <= self.high)

    def __len__(self) -> int:
        return len(self.low)

    def __getitem__(self, index: int | tuple[int, ...]) -> Interval:
        low = self.low[index]
        if np.ndim(low):
            raise InputError(
                f"index {index!r} names several of {self.shape} intervals: give one number per axis"
            )
        return self._one(float(low), float(self.high[index]))

    def __iter__(self) -> Iterator[Interval]:
        return (
            self._one(low, high) for low, high in zip(self.low.flat, self.high.flat, strict=True)
        )


def pack(
    low: Floats,
    high: Floats,
    *,
    alpha: float,
    guarantee: Guarantee,
    method: str,
    assumption: str | None = None,
) -> Interval | Intervals:
    """Return an ``Interval`` for 0-dimensional ends, ``Intervals`` for all others: the rule of this
    subpackage.
    """
    if np.ndim(low):
        return Intervals(low, high, 1 - alpha, guarantee, assumption, method)
    return Interval(float(low), float(high), 1 - alpha, guarantee, assumption, method)


def as_counts(
    part: Numbers, whole: Numbers, *, names: tuple[str, str], integer: bool = True
) -> tuple[Floats, Floats]:
    """Broadcast two counts against each other and refuse what cannot be *part* of *whole*.

    >>> as_counts(3, 2, names=("successes", "trials"))
    Traceback (most recent call last):
    tallystick.errors.InputError: successes must be between 0 and trials, got 3.0 of 2.0
    """
    x, n = np.broadcast_arrays(
        np.asarray(part, dtype=np.float64), np.asarray(whole, dtype=np.float64)
    )
    for name, values in zip(names, (x, n), strict=True):
        if not np.isfinite(values).all():
            raise InputError(f"{name} must be finite, got {values[~np.isfinite(values)].flat[0]}")
        if integer and (values != np.floor(values)).any():
            raise InputError(
                f"{name} must be whole numbers, got {values[values != np.floor(values)].flat[0]}"
            )
    outside = (x < 0) | (x > n)
    if outside.any():
        raise InputError(
            f"{names[0]} must be between 0 and {names[1]}, got {x[outside].flat[0]} of"
            f" {n[outside].flat[0]}"
        )
    return x, n
