"""How the judges' consensus is spread over all N items: all that the formulas need of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tallystick.errors import InputError
from tallystick.stats.intervals.array import Floats, Vector

__all__ = ["Spread"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Size, mean, variance and range of the consensus over all items.

    A million items reduce to these five numbers, so they can be counted in any engine.

    Parameters
    ----------
    n
        Number of items, labelled or not.
    mean
        Mean consensus.
    variance
        Mean squared deviation from that mean, divided by n.
    low, high
        Smallest and largest consensus.
    """

    n: int
    mean: float
    variance: float
    low: float
    high: float

    def __post_init__(self) -> None:
        if self.n < 1:
            raise InputError(f"n must be at least 1 item, got {self.n!r}")
        if not self.low <= self.mean <= self.high or not self.variance >= 0:  # also catches NaN
            raise InputError(
                "a spread needs low <= mean <= high and variance >= 0, "
                f"got low {self.low!r}, mean {self.mean!r}, high {self.high!r}, "
                f"variance {self.variance!r}"
            )

    @classmethod
    def of(cls, values: Vector, counts: Vector | None = None) -> Spread:
        """Sum up the consensus of all items, or of distinct values with their counts.

        Examples
        --------
        >>> Spread.of([0, 0.5, 1, 0.5])
        Spread(n=4, mean=0.5, variance=0.125, low=0.0, high=1.0)
        >>> Spread.of([0, 0.5, 1], [1, 2, 1]) == Spread.of([0, 0.5, 1, 0.5])
        True
        """
        c = np.asarray(values, dtype=np.float64)
        times = np.ones_like(c) if counts is None else np.asarray(counts, dtype=np.float64)
        if c.ndim != 1 or c.shape != times.shape or not c.size or not np.isfinite(c).all():
            raise InputError(
                "values must be one sequence of finite numbers, with one count each if any, "
                f"got shapes {c.shape} and {times.shape}"
            )
        if (times < 0).any() or (times != np.floor(times)).any() or times.sum() < 1:
            raise InputError("counts must be whole numbers of at least 0, and not all 0")
        return _summed(c[times > 0], times[times > 0])

    @classmethod
    def constant(cls, n: int) -> Spread:
        """Return the spread of a consensus that says nothing: labels alone."""
        return cls(n=n, mean=0.0, variance=0.0, low=0.0, high=0.0)

    @property
    def reach(self) -> float:
        """How far the consensus of one item can lie from the mean."""
        return max(self.high - self.mean, self.mean - self.low)


def _summed(c: Floats, times: Floats) -> Spread:
    n, low, high = int(times.sum()), float(c.min()), float(c.max())
    if low == high:  # equal values must have variance 0, not what rounding leaves of it
        return Spread(n=n, mean=low, variance=0.0, low=low, high=high)
    mean = float(np.clip((times * c).sum() / n, low, high))
    return Spread(
        n=n, mean=mean, variance=float((times * (c - mean) ** 2).sum() / n), low=low, high=high
    )
