"""The axis of a chart: where a number lies on it, and which round numbers are written."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from tallystick.report.drawing import Tick
from tallystick.results import Unit
from tallystick.results.numbers import MINUS, number

__all__ = ["Axis", "axis", "is_even", "tick_text"]


@dataclass(frozen=True)
class Axis:
    """A range of numbers, drawn from 0 to 1; the *log* one has equal room for equal ratios."""

    low: float
    high: float
    ticks: tuple[float, ...]
    unit: Unit = "number"
    log: bool = False

    def place(self, value: float) -> float:
        """Return where *value* lies, 0 at the low end and 1 at the high end."""
        low, high = self._on(self.low), self._on(self.high)
        return min(1.0, max(0.0, (self._on(value) - low) / (high - low)))

    def marks(self, *, room: float = 1.0) -> tuple[Tick, ...]:
        """Return the ticks over *room*."""
        return tuple(
            Tick(
                place=room * self.place(value),
                text=tick_text(value, self.unit),
                strong=self.unit == "points" and value == 0,
            )
            for value in self.ticks
        )

    def _on(self, value: float) -> float:
        return math.log10(value) if self.log else value


def axis(
    values: Sequence[float],
    *,
    unit: Unit = "number",
    most: int = 6,
    whole: bool = False,
    wide: bool = False,
) -> Axis:
    """Return an axis with round ends that holds all *values*.

    Parameters
    ----------
    values
        Finite numbers; none is allowed.
    unit
        What they are: shares stay within 0 and 1.
    most
        About how many ticks there is room for.
    whole
        Whether they count something, so that no tick is a fraction.
    wide
        Whether positive numbers over two uneven decades (sizes, prices) get equal room per ratio.

    Examples
    --------
    >>> axis([0.262, 0.984], unit="share").ticks
    (0.2, 0.4, 0.6, 0.8, 1.0)
    >>> axis([1, 3], whole=True).ticks
    (1.0, 2.0, 3.0)
    >>> axis([3, 40_000], wide=True).ticks
    (1.0, 10.0, 100.0, 1000.0, 10000.0, 100000.0)
    """
    sizes = sorted(set(values)) or [0.0, 1.0]
    low, high = sizes[0], sizes[-1]
    if wide and low > 0 and high >= 100 * low and not is_even(sizes):
        ends = math.floor(math.log10(low)), math.ceil(math.log10(high))
        every = max(1, -(-(ends[1] - ends[0]) // most))
        ticks = tuple(10.0**k for k in range(ends[0], ends[1] + 1, every))
        return Axis(10.0 ** ends[0], 10.0 ** ends[1], ticks, unit, log=True)

    if high == low:
        room = abs(low) * 0.1 or 1.0
        if unit in ("share", "points"):
            room = 0.05
        low, high = low - room, high + room
        if unit == "share":
            low, high = max(0.0, low), min(1.0, high)
    step = _step(low, high, most, whole=whole or unit == "count")
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple(_clean(k * step) for k in range(first, last + 1))
    return Axis(ticks[0], ticks[-1], ticks, unit)


def _step(low: float, high: float, most: int, *, whole: bool) -> float:
    """Return the smallest round step that leaves at most *most* gaps."""
    rough = (high - low) / max(1, most)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * size for size in (1, 2, 2.5, 5, 10) if power * size >= rough * 0.999)
    return max(1.0, math.ceil(step)) if whole else step


def _clean(value: float) -> float:
    """Return 0.6 for 0.6000000000000001."""
    return float(f"{value:.10g}") + 0.0


def tick_text(value: float, unit: Unit) -> str:
    r"""Return the words at a tick, as short as they can be.

    >>> tick_text(0.2, "share"), tick_text(-0.4, "points"), tick_text(2000, "count")
    ('20\xa0%', '−40', '2,000')
    """
    if unit == "share":
        return f"{number(100 * value)}\u00a0%"
    if unit == "points":
        return number(100 * value, sign=True)
    return number(value, minus=MINUS)


def is_even(values: Sequence[float]) -> bool:
    """Return whether sorted values are a count: most steps between them are equally long.

    >>> is_even([1, 2, 3, 4, 200]), is_even([1, 10, 100, 1000])
    (True, False)
    """
    steps = [round(b - a, 9) for a, b in pairwise(values)]
    return len(steps) > 2 and max(map(steps.count, set(steps))) > len(steps) / 2
