"""What bands, rounds and curves share: values along an axis, in one small plot per group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tallystick.report.axis import Axis, axis
from tallystick.report.drawing import Mark, Panel, Panels, Tick
from tallystick.report.shorten import shorten
from tallystick.report.words import (
    NAME,
    group_words,
    groups_of,
    is_numeric,
    mark_words,
    numbers,
    outer_words,
    plain_cell,
    title,
)
from tallystick.results import Figure, Interval, estimate_texts, value_text

__all__ = ["MOST_PANELS", "MOST_POINTS", "lines", "lines_key", "thin_lines"]

MOST_POINTS = 2000
"""How many points of all lines are drawn."""
MOST_PANELS = 12
"""How many groups are drawn."""

_ALONE, _SMALL = 220.0, 130.0
"""Height of one plot alone, and of one among several."""
_MOST_DOTS = 40
"""Beyond this many points, dots and uprights would run into one another."""
_VALUES = ("y", "low", "high", "outer_low", "outer_high", "mark")

_Row = dict[str, Any]


@dataclass(frozen=True)
class _Frame:
    """Both axes, the height of a plot, and whether x counts something."""

    across: Axis | None
    words: tuple[str, ...]
    up: Axis
    height: float
    whole: bool

    def x(self, value: Any) -> float:
        if self.across is not None:
            return self.across.place(float(value))
        return (self.words.index(str(value)) + 0.5) / len(self.words)

    def y(self, value: float) -> float:
        return self.height * (1 - self.up.place(value))


def lines(figure: Figure, *, whole: bool = False) -> Panels:
    """Draw *figure*: a band or uprights for the range, a line, and rings for marks.

    Parameters
    ----------
    figure
        What to draw.
    whole
        Whether x counts something, so that it has whole ticks and every value has its dot.
    """
    rows = [
        {role: plain_cell(figure.columns[name][i]) for role, name in figure.roles.items()}
        for i in range(figure.size)
    ]
    groups = groups_of(figure)
    of = [shorten(str(row.get("group", "")), NAME) for row in rows]
    parts = [[row for row, name in zip(rows, of, strict=True) if name == one] for one in groups]
    if len(parts) < 2:
        parts = [rows]

    numeric = is_numeric(figure, "x")
    words = () if numeric else tuple(dict.fromkeys(str(row["x"]) for row in rows))
    across = (
        axis(numbers(figure, ["x"]), whole=whole, most=4 if len(parts) > 1 else 8, wide=not whole)
        if numeric
        else None
    )
    up = axis(numbers(figure, _VALUES), unit=figure.unit, most=4, wide=figure.unit == "number")
    frame = _Frame(across, words, up, _SMALL if len(parts) > 1 else _ALONE, whole)

    named = groups if len(groups) > 1 else [""]
    return Panels(
        panels=tuple(
            Panel(
                title=name,
                value=_last(figure, part) if whole else "",
                marks=_marks(figure, part, frame),
                height=frame.height,
            )
            for name, part in zip(named, parts, strict=True)
        ),
        across=_ticks(frame),
        up=tuple(
            Tick(place=frame.y(value), text=tick.text, strong=tick.strong)
            for value, tick in zip(up.ticks, up.marks(), strict=True)
        ),
        x_title=title(figure, "x"),
    )


def _ticks(frame: _Frame) -> tuple[Tick, ...]:
    if frame.across is not None:
        return frame.across.marks()
    step = -(-len(frame.words) // 8)
    return tuple(Tick(place=frame.x(word), text=shorten(word, 16)) for word in frame.words[::step])


def _last(figure: Figure, part: Sequence[_Row]) -> str:
    """Return the last value of a line, to be written beside its name."""
    known = [row["y"] for row in part if row.get("y") is not None]
    return value_text(known[-1], figure.unit) if known else ""


def _marks(figure: Figure, part: Sequence[_Row], frame: _Frame) -> tuple[Mark, ...]:
    marks = [
        Mark(shape="line", look="grid", points=((0.0, frame.y(v)), (1.0, frame.y(v))))
        for v in frame.up.ticks
    ]
    part = [row for row in part if row.get("x") is not None]
    dotted = len(part) <= _MOST_DOTS
    for low, high, look in (("outer_low", "outer_high", "pale"), ("low", "high", "band")):
        known = [row for row in part if None not in (row.get(low), row.get(high))]
        if frame.whole and dotted and look == "band":
            marks += [_whisker(row, frame, low, high) for row in known]
        elif len(known) == 1:
            marks.append(_whisker(known[0], frame, low, high))
        elif known:
            there = [(frame.x(row["x"]), frame.y(row[high])) for row in known]
            back = [(frame.x(row["x"]), frame.y(row[low])) for row in reversed(known)]
            marks.append(Mark(shape="area", look=look, points=(*there, *back)))

    line = [row for row in part if row.get("y") is not None]
    if len(line) > 1:
        points = tuple((frame.x(row["x"]), frame.y(row["y"])) for row in line)
        marks.append(Mark(shape="path", look="level", points=points))
    shown = line if dotted else []
    marks += [_dot(figure, row, frame, "pt", row["y"]) for row in shown]
    marks += [
        _dot(figure, row, frame, "ring", row["mark"])
        for row in part
        if isinstance(row.get("mark"), int | float)
    ]
    if not line and dotted:  # a band without a line still shows its values under the pointer
        edge = [row for row in part if None not in (row.get("low"), row.get("high"))]
        marks += [
            _dot(figure, row, frame, "edge", row[end]) for row in edge for end in ("low", "high")
        ]
    marks += [
        Mark(shape="text", look="", points=((frame.x(row["x"]), 10.0),), text=str(row["text"]))
        for row in part
        if row.get("text")
    ]
    return tuple(marks)


def _whisker(row: _Row, frame: _Frame, low: str, high: str) -> Mark:
    x = frame.x(row["x"])
    ends = ((x, frame.y(row[low])), (x, frame.y(row[high])))
    return Mark(shape="line", look="whisker", points=ends)


def _dot(figure: Figure, row: _Row, frame: _Frame, look: str, value: float) -> Mark:
    low, high = row.get("low"), row.get("high")
    ends = None if low is None or high is None else Interval(min(low, high), max(low, high))
    estimate, interval = estimate_texts(value, ends, figure.unit)
    estimate = estimate if look != "edge" else ""
    hover = f"{title(figure, 'x')} {_plain(row['x'])}: {estimate} {interval}"
    radius = {"pt": 3.0, "ring": 5.0, "edge": 2.0}[look]
    at = ((frame.x(row["x"]), frame.y(value)),)
    return Mark(shape="circle", look=look, points=at, radius=radius, hover=" ".join(hover.split()))


def _plain(x: Any) -> str:
    return value_text(float(x)) if isinstance(x, int | float) else str(x)


def lines_key(figure: Figure, *, line: bool = False) -> list[str]:
    """Explain bands, groups and rings; with *line*, also the line inside a band."""
    words = outer_words(figure, thin="pale band", thick="band")
    if line and {"y", "low"} <= set(figure.roles) and "y" not in figure.labels:
        words.append(f"line: {title(figure, 'y')}")
    return [*words, *group_words(figure), *mark_words(figure)]


def thin_lines(figure: Figure) -> tuple[Figure, str]:
    """Keep the first groups, and one point in every so many."""
    notes = []
    groups = groups_of(figure)
    if len(groups) > MOST_PANELS:
        kept = set(groups[:MOST_PANELS])
        cells = figure.columns[figure.roles["group"]]
        places = [i for i, cell in enumerate(cells) if shorten(str(cell), NAME) in kept]
        notes.append(f"the first {MOST_PANELS} of {len(groups):,} are drawn")
        figure = figure.rows(places)

    n = figure.size
    step = max(1, -(-n // MOST_POINTS))
    if step > 1:
        figure = figure.rows(range(0, n, step))
        notes.append(f"one in {step:,} of {n:,} points is drawn")
    return figure, "; ".join(notes)
