"""The kinds of chart.

To add a kind, write a `Kind` and add it to `KINDS`. A `tallystick.results.Figure` of that
kind can then be drawn, saved and put on a page.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from tallystick.errors import InputError, unknown
from tallystick.report.svg import (
    ChartPart,
    Drawing,
    Mark,
    Panels,
    Tick,
    TintedCell,
    TintedTable,
    Track,
    Tracks,
)
from tallystick.results import Figure, Interval, Unit, estimate_texts, shorten, value_text
from tallystick.results.numbers import number


def kind_of(figure: Figure) -> Kind:
    """Return how *figure* is drawn.

    >>> kind_of(Figure("forest", "f", {}, {})).words
    'Chart of estimates with intervals'
    >>> kind_of(Figure("pie", "p", {}, {}))
    Traceback (most recent call last):
    tallystick.errors.InputError: there is no kind 'pie': there are forest, bands, matrix, rounds, curve
    """
    if figure.kind not in KINDS:
        raise InputError(unknown("kind", figure.kind, KINDS))
    return KINDS[figure.kind]


# What the report has to know of one kind of chart.


@dataclass(frozen=True)
class Kind:
    """One kind of chart.

    Parameters
    ----------
    name
        What a Figure calls it.
    words
        What it is, for readers who cannot see it.
    draw
        Turns a figure into marks, which pages and files then write in their own way.
    key
        Explains in words the marks that no axis and no label names.
    thin
        Returns the part of a figure that is drawn, and a sentence if that is not all of it.
    """

    name: str
    words: str
    draw: Callable[[Figure], Drawing]
    key: Callable[[Figure], list[str]]
    thin: Callable[[Figure], tuple[Figure, str]]


# A forest: one row per name, its estimate a dot, its interval a line, the numbers beside them.


MOST_NAMES = 60
"""How many rows of a forest are drawn."""

_LOW, _NOTED, _TALL, _TIGHT = 34.0, 42.0, 58.0, 26.0
"""Height of a row: alone, with a note under its name, with a ring above its line, and among rows of
the same name."""
_NUMBERS = ("x", "low", "high", "mark")


def forest(figure: Figure) -> Tracks:
    """Draw *figure*; the order of the rows is the figure's."""
    rows = _rows(figure)
    ringed = "mark" in figure.roles and is_numeric(figure, "mark")
    values = numbers(figure, _NUMBERS if ringed else _NUMBERS[:-1])
    whole = bool(values) and all(value == int(value) for value in values)
    along = axis(values, unit=figure.unit, whole=whole)

    # A name that stands for several groups is written once, above them.
    names = [row["name"] for row in rows]
    several = len(groups_of(figure)) > 1 and len(set(names)) < len(names)
    if several:
        order = {name: place for place, name in enumerate(dict.fromkeys(names))}
        rows = sorted(rows, key=lambda row: order[row["name"]])
        names = [row["name"] for row in rows]
    tracks: list[Track] = []
    for place, row in enumerate(rows):
        name, group = row["name"], row.get("group", "")
        if several and (not place or names[place - 1] != row["name"]):
            tracks.append(Track(name=name, heading=True, height=_TIGHT))
        alone = _NOTED if group else _LOW
        height = _TALL if ringed else _TIGHT if several else alone
        marks = _marks(figure, row, along, height=height)
        texts = _texts(figure, row)
        tracks.append(
            Track(
                name=group if several else name,
                note="" if several else group,
                marks=marks,
                height=height,
                value=texts[0],
                interval=texts[1],
            )
        )
    heads = (
        title(figure, "group") if several else title(figure, "name"),
        title(figure, "x"),
        _interval_head(figure),
    )
    return Tracks(heads=heads, tracks=tuple(tracks), ticks=along.marks())


def _rows(figure: Figure) -> list[dict[str, Any]]:
    """Return one mapping per row, role to cell."""
    columns = {role: figure.columns[name] for role, name in figure.roles.items()}
    return [
        {role: _cell(role, values[i]) for role, values in columns.items()}
        for i in range(figure.size)
    ]


def _cell(role: str, value: Any) -> Any:
    if role in ("name", "group"):
        return shorten(str(value), NAME)
    plain = plain_cell(value)
    return None if role in _NUMBERS and isinstance(plain, str) else plain


def _interval_head(figure: Figure) -> str:
    if "low" not in figure.roles or not numbers(figure, ["low", "high"]):
        return ""
    return shorten(figure.labels["low"]) if "low" in figure.labels else "interval"


def _texts(figure: Figure, row: Mapping[str, Any]) -> tuple[str, str]:
    """Return the estimate and its interval as they are written beside the track."""
    return estimate_texts(row.get("x"), _ends(row), figure.unit)


def _ends(row: Mapping[str, Any]) -> Interval | None:
    low, high = row.get("low"), row.get("high")
    return None if low is None or high is None else Interval(min(low, high), max(low, high))


def _marks(
    figure: Figure, row: Mapping[str, Any], along: Axis, *, height: float
) -> tuple[Mark, ...]:
    """Return the marks of one row: grid, zero, interval, dot and ring."""
    ringed = height == _TALL
    y = 40.0 if ringed else height / 2
    marks = [_upright(tick.place, height, "grid") for tick in along.marks()]
    if along.low < 0 < along.high:
        marks.append(_upright(along.place(0.0), height, "zero"))

    point, ring = row.get("x"), row.get("mark") if ringed else None
    low, high = row.get("low"), row.get("high")
    hover = " ".join(part for part in (row["name"], *_texts(figure, row)) if part)
    if point is not None and ring is not None:
        ends = ((along.place(ring), 17.0), (along.place(point), y))
        marks.append(Mark(shape="line", look="link", points=ends))
    if low is not None and high is not None:
        ends = ((along.place(low), y), (along.place(high), y))
        marks.append(Mark(shape="line", look="bar", points=ends, hover=hover))
    if point is not None:
        look = "dot" if row.get("settled", True) else "dot open"
        at = ((along.place(point), y),)
        marks.append(Mark(shape="circle", look=look, points=at, radius=6.0, hover=hover))
    if ring is not None:
        off = low is not None and high is not None and not low <= ring <= high
        words = f"{title(figure, 'mark')} {estimate_texts(ring, _ends(row), figure.unit)[0]}"
        look, at = "ring off" if off else "ring", ((along.place(ring), 17.0),)
        marks.append(Mark(shape="circle", look=look, points=at, radius=5.0, hover=words))
    return tuple(marks)


def _upright(place: float, height: float, look: str) -> Mark:
    return Mark(shape="line", look=look, points=((place, 0.0), (place, height)))


def _key(figure: Figure) -> list[str]:
    words = mark_words(figure)
    if "settled" in figure.roles:
        known = {bool(value) for value in figure.columns[figure.roles["settled"]]}
        words += ["filled dot: settled", "open dot: not settled"] if False in known else []
    return words


def _thin(figure: Figure) -> tuple[Figure, str]:
    n = figure.size
    if n <= MOST_NAMES:
        return figure, ""
    return figure.rows(range(MOST_NAMES)), _first(MOST_NAMES, n)


def _first(shown: int, n: int) -> str:
    return f"the first {shown} of {n:,} are drawn"


# What bands, rounds and curves share: values along an axis, in one small plot per group.


MOST_POINTS = 2000
"""How many points of all lines are drawn."""
MOST_PANELS = 12
"""How many groups are drawn."""

_ALONE, _SMALL = 220.0, 130.0
"""Height of one plot alone, and of one among several."""
_MOST_DOTS = 40
"""Beyond this many points, dots and uprights would run into one another."""
_VALUES = ("y", "low", "high", "outer_low", "outer_high")

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


def lines(figure: Figure) -> Panels:
    """Draw *figure*: a band or uprights for the range, and a line."""
    # There is no round 1.5: x has whole ticks, and every value has its own upright.
    whole = figure.kind == "rounds"
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
            ChartPart(
                title=name,
                value=_last(figure, part) if whole else "",
                marks=_lines_marks(figure, part, frame),
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


def _lines_marks(figure: Figure, part: Sequence[_Row], frame: _Frame) -> tuple[Mark, ...]:
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
    marks += [_dot(figure, row, frame) for row in line if dotted]
    return tuple(marks)


def _whisker(row: _Row, frame: _Frame, low: str, high: str) -> Mark:
    x = frame.x(row["x"])
    ends = ((x, frame.y(row[low])), (x, frame.y(row[high])))
    return Mark(shape="line", look="whisker", points=ends)


def _dot(figure: Figure, row: _Row, frame: _Frame) -> Mark:
    texts = estimate_texts(row["y"], _ends(row), figure.unit)
    hover = " ".join((f"{title(figure, 'x')} {_plain(row['x'])}:", *texts)).strip()
    at = ((frame.x(row["x"]), frame.y(row["y"])),)
    return Mark(shape="circle", look="pt", points=at, radius=3.0, hover=hover)


def _plain(x: Any) -> str:
    return value_text(float(x)) if isinstance(x, int | float) else str(x)


def lines_key(figure: Figure) -> list[str]:
    """Explain bands, the line inside them, and groups."""
    words = outer_words(figure)
    if figure.kind != "curve" and {"y", "low"} <= set(figure.roles) and "y" not in figure.labels:
        words.append(f"line: {title(figure, 'y')}")
    return [*words, *group_words(figure)]


def thin_lines(figure: Figure) -> tuple[Figure, str]:
    """Keep the first groups, and one point in every so many."""
    notes = []
    groups = groups_of(figure)
    if len(groups) > MOST_PANELS:
        kept = set(groups[:MOST_PANELS])
        cells = figure.columns[figure.roles["group"]]
        places = [i for i, cell in enumerate(cells) if shorten(str(cell), NAME) in kept]
        notes.append(_first(MOST_PANELS, len(groups)))
        figure = figure.rows(places)

    n = figure.size
    step = max(1, -(-n // MOST_POINTS))
    if step > 1:
        figure = figure.rows(range(0, n, step))
        notes.append(f"one in {step:,} of {n:,} points is drawn")
    return figure, "; ".join(notes)


# A table of signed numbers: blue above zero, orange below, the interval under its number.


MOST_SIDE = 30
"""How many rows and columns of a matrix are drawn."""

_MOST_WRITTEN = 12
"""Beyond this many columns the intervals are shown under the pointer only."""
_TINTS = 5


def matrix(figure: Figure) -> TintedTable:
    """Draw *figure*; columns with the names of the rows are in the order of the rows."""
    columns = {role: figure.columns[name] for role, name in figure.roles.items()}
    rows = list(dict.fromkeys(map(str, columns["row"])))
    across = list(dict.fromkeys(map(str, columns["column"])))
    across = rows if set(rows) == set(across) else across
    sizes = [abs(value) for value in map(_number, columns["value"]) if value is not None]
    largest = max(sizes, default=0.0) or 1.0

    made: dict[tuple[str, str], TintedCell] = {}
    for i in range(figure.size):
        cell = {role: plain_cell(values[i]) for role, values in columns.items()}
        place = str(columns["row"][i]), str(columns["column"][i])
        made[place] = _matrix_cell(figure, cell, largest, written=len(across) <= _MOST_WRITTEN)
    return TintedTable(
        corner=title(figure, "row"),
        across=title(figure, "column"),
        columns=tuple(shorten(name, NAME) for name in across),
        rows=tuple(
            (shorten(row, NAME), tuple(made.get((row, column)) for column in across))
            for row in rows
        ),
    )


def _matrix_cell(
    figure: Figure, cell: dict[str, Any], largest: float, *, written: bool
) -> TintedCell:
    value, low, high = (_number(cell.get(role)) for role in ("value", "low", "high"))
    known = _ends({"low": low, "high": high})
    text, ends = estimate_texts(value, known, figure.unit)
    # a mark that says nothing leaves the cell without colour: the number proves nothing
    proved = "mark" not in figure.roles or bool(cell["mark"])
    tint = round(_TINTS * (value or 0.0) / largest) if proved else 0
    hover = " ".join((f"{cell['row']}, {cell['column']}:", text, ends)).strip()
    return TintedCell(text=text, under=ends if written else "", tint=tint, hover=hover)


def _number(value: Any) -> float | None:
    known = isinstance(value, int | float) and value - value == 0
    return float(value) if known else None


def _matrix_key(figure: Figure) -> list[str]:
    words = ["blue: above zero, orange: below", *group_words(figure)]
    if "mark" in figure.roles:
        marks = {str(plain_cell(value) or "") for value in figure.columns[figure.roles["mark"]]}
        words += (
            [f"no colour: not {shorten(max(marks))}"] if len(marks) == 2 and "" in marks else []
        )
    return words


def _matrix_thin(figure: Figure) -> tuple[Figure, str]:
    """Keep the corner of the first rows and columns."""
    sides = [figure.columns[figure.roles[role]] for role in ("row", "column")]
    rows, columns = (list(dict.fromkeys(side)) for side in sides)
    if max(len(rows), len(columns)) <= MOST_SIDE:
        return figure, ""

    shown = set(rows[:MOST_SIDE]), set(columns[:MOST_SIDE])
    kept = [
        i
        for i, (row, column) in enumerate(zip(*sides, strict=True))
        if row in shown[0] and column in shown[1]
    ]
    return figure.rows(kept), _first(MOST_SIDE, max(len(rows), len(columns)))


KINDS = {
    kind.name: kind
    for kind in (
        Kind("forest", "Chart of estimates with intervals", forest, _key, _thin),
        Kind("bands", "Chart of a range along an axis", lines, lines_key, thin_lines),
        Kind("matrix", "Table of signed numbers", matrix, _matrix_key, _matrix_thin),
        Kind("rounds", "Chart by round", lines, lines_key, thin_lines),
        Kind("curve", "Line chart", lines, lines_key, thin_lines),
    )
}
"""Every kind by its name."""

# What a figure says in words: names of axes and groups, and explanations of its marks.


NAME = 72
"""The most signs of a name in a picture."""


def plain_cell(value: Any) -> Any:
    """Return a cell as JSON has it: gaps as None, text on one harmless line."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and value - value != 0:  # NaN and infinity are gaps
        return None
    return shorten(value, NAME) if isinstance(value, str) else value


def title(figure: Figure, role: str) -> str:
    """Return what the axis of *role* is called."""
    return shorten(figure.labels.get(role, figure.roles.get(role, "").replace("_", " ")))


def numbers(figure: Figure, roles: Iterable[str]) -> list[float]:
    """Return the finite numbers in the columns of *roles*."""
    cells = [
        plain_cell(v)
        for role in roles
        if role in figure.roles
        for v in figure.columns[figure.roles[role]]
    ]
    return [
        float(value)
        for value in cells
        if isinstance(value, int | float) and not isinstance(value, bool)
    ]


def is_numeric(figure: Figure, role: str) -> bool:
    """Return whether the column of *role* holds numbers and gaps only."""
    cells = [plain_cell(value) for value in figure.columns[figure.roles[role]]]
    return all(isinstance(cell, int | float) for cell in cells if cell is not None)


def groups_of(figure: Figure) -> list[str]:
    """Return the names of the groups, in the order of the data."""
    cells = figure.columns[figure.roles["group"]] if "group" in figure.roles else ()
    return list(dict.fromkeys(shorten(str(name), NAME) for name in dict.fromkeys(cells)))


def outer_words(figure: Figure) -> list[str]:
    """Explain the outer range, a pale band, and then also the inner one."""
    if "outer_low" not in figure.roles or not numbers(figure, ["outer_low", "outer_high"]):
        return []
    words = [f"pale band: {_range_words(figure, 'outer_low', 'outer_high')}"]
    if numbers(figure, ["low", "high"]):
        words.append(f"band: {_range_words(figure, 'low', 'high')}")
    return words


def group_words(figure: Figure) -> list[str]:
    """Name a group that is alone, since it has no legend."""
    groups = groups_of(figure)
    return [f"{title(figure, 'group')}: {groups[0]}"] if len(groups) == 1 else []


def mark_words(figure: Figure) -> list[str]:
    """Explain marks that are numbers, which are drawn as rings."""
    rings = "mark" in figure.roles and is_numeric(figure, "mark")
    shown = rings and bool(numbers(figure, ["mark"]))
    return [f"ring: {title(figure, 'mark')}"] if shown else []


def _range_words(figure: Figure, low: str, high: str) -> str:
    """Name a range by its two ends, unless one label names it."""
    if low in figure.labels:
        return shorten(figure.labels[low])
    first, last = title(figure, low), title(figure, high)
    stem = first.removesuffix("low").strip()
    return (stem or "interval") if last == f"{stem} high".strip() else f"{first} to {last}"


# The axis of a chart: where a number lies on it, and which round numbers are written.


@dataclass(frozen=True)
class Axis:
    """A range of numbers, drawn from 0 to 1."""

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

    if high - low <= 1e-9 * max(abs(low), abs(high)):  # ticks have ten digits
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
    ('20%', '−40', '2,000')
    """
    if unit == "share":
        return f"{number(100 * value)}%"
    if unit == "points":
        return number(100 * value, sign=True)
    return number(value)


def is_even(values: Sequence[float]) -> bool:
    """Return whether sorted values are a count: most steps between them are equally long.

    >>> is_even([1, 2, 3, 4, 200]), is_even([1, 10, 100, 1000])
    (True, False)
    """
    steps = [round(b - a, 9) for a, b in pairwise(values)]
    return len(steps) > 2 and max(map(steps.count, set(steps))) > len(steps) / 2
