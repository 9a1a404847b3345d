"""In which units a score is shown: per cent for pass rates, the grades' own scale for numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tallystick.results import (
    Interval,
    number_interval,
    percent,
    percent_interval,
    points,
    points_interval,
    shown_difference,
)

__all__ = ["Units"]


@dataclass(frozen=True)
class Units:
    """From [0, 1], where everything is computed, to the scale of the grades.

    >>> units = Units((1.0, 5.0))
    >>> units.value(0.75), units.size(0.25), units.score(4.0)
    (4.0, 1.0, '4.00')
    """

    scale: tuple[float, float] | None

    @property
    def share(self) -> bool:
        """Whether scores are shares."""
        return self.scale is None or self.scale == (0.0, 1.0)

    @property
    def width(self) -> float:
        """How long the scale is."""
        return 1.0 if self.scale is None else self.scale[1] - self.scale[0]

    @property
    def decimals(self) -> int:
        """How many decimals a number without an interval is written with."""
        return 2 if self.width < 20 else 1 if self.width < 1000 else 0

    def value(self, x: float) -> float:
        """Return a score on the scale."""
        return x if self.scale is None else self.scale[0] + self.width * x

    def size(self, x: float) -> float:
        """Return a difference on the scale."""
        return x * self.width

    def interval(self, interval: Interval) -> Interval:
        """Return the interval of a score on the scale."""
        return replace(interval, low=self.value(interval.low), high=self.value(interval.high))

    def sizes(self, interval: Interval) -> Interval:
        """Return the interval of a difference on the scale."""
        return replace(interval, low=self.size(interval.low), high=self.size(interval.high))

    def score(self, value: float, interval: Interval | None = None) -> str:
        """Write a score of the result."""
        if interval is None:
            return percent(value) if self.share else f"{value:.{self.decimals}f}"
        return (percent_interval if self.share else number_interval)(value, interval)

    def difference(self, value: float, interval: Interval | None = None) -> str:
        """Write a difference of the result with its sign."""
        if interval is None:
            return points(value) if self.share else f"{value:+.{self.decimals}f}".replace("-", "−")
        if self.share:
            return points_interval(value, interval)
        return number_interval(value, interval, sign=True)

    def lead(self, first: float, second: float) -> str:
        """Write how far one score is ahead of another, such that all three agree as shown."""
        if self.share:
            return shown_difference(first, second, sign=False)
        return f"{first - second:.{self.decimals}f}"
