"""A range for an unknown number, together with the guarantee it carries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from tallystick.errors import InputError

__all__ = ["Guarantee", "Interval"]

Guarantee: TypeAlias = Literal["exact", "anytime", "approximate", "under"]


@dataclass(frozen=True, slots=True)
class Interval:
    """A range for an unknown number, together with the guarantee it carries.

    Parameters
    ----------
    low, high
        The ends, with ``low <= high``. An end may be infinite but never NaN.
    level
        Nominal coverage, for instance 0.95.
    guarantee
        ``exact`` (coverage is always at least nominal), ``anytime`` (the same at any stopping
        time), ``approximate``, or ``under`` (valid only under *assumption*).
    assumption
        What an ``under`` interval assumes; None for the other three.
    method
        Short name of the method that made it.

    Examples
    --------
    >>> interval = Interval(0.61, 0.74, level=0.95, guarantee="exact", method="clopper-pearson")
    >>> 0.7 in interval
    True
    >>> print(interval)
    [0.610, 0.740] (95 %, exact)
    """

    low: float
    high: float
    level: float = 0.95
    guarantee: Guarantee = "approximate"
    assumption: str | None = None
    method: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "low", float(self.low))
        object.__setattr__(self, "high", float(self.high))

        if not self.low <= self.high:  # also catches NaN
            raise InputError(f"an interval needs low <= high, got [{self.low!r}, {self.high!r}]")
        if not 0 < self.level < 1:
            raise InputError(f"level must be in (0, 1), got {self.level!r}")
        if self.guarantee not in get_args(Guarantee):
            raise InputError(
                f"guarantee must be one of {get_args(Guarantee)}, got {self.guarantee!r}"
            )
        if (self.guarantee == "under") != (self.assumption is not None):
            raise InputError(
                "guarantee 'under' needs an assumption and no other guarantee takes one, "
                f"got {self.guarantee!r} with {self.assumption!r}"
            )

    @property
    def width(self) -> float:
        """Distance between the ends."""
        return self.high - self.low

    @property
    def promise(self) -> str:
        """The guarantee in words: ``exact``, ``anytime``, ``approximate`` or ``under …``."""
        return f"under {self.assumption}" if self.assumption else self.guarantee

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def __iter__(self) -> Iterator[float]:
        return iter((self.low, self.high))

    def __str__(self) -> str:
        return f"[{self.low:.3f}, {self.high:.3f}] ({100 * self.level:g} %, {self.promise})"
