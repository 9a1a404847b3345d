"""A forest: one row per name, its estimate a dot, its interval a line, the numbers beside them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tallystick.report.axis import Axis, axis
from tallystick.report.drawing import Mark, Track, Tracks
from tallystick.report.kinds.kind import Kind
from tallystick.report.shorten import shorten
from tallystick.report.words import (
    NAME,
    groups_of,
    is_numeric,
    mark_words,
    numbers,
    outer_words,
    plain_cell,
    title,
)
from tallystick.results import Figure, Interval, estimate_texts

__all__ = ["KIND", "MOST_NAMES", "forest"]

MOST_NAMES = 60
"""How many rows of a forest are drawn."""

_LOW, _TALL, _TIGHT = 34.0, 58.0, 26.0
"""Height of a row: alone, with a ring above its line, and among rows of the same name."""
_LETTER, _NARROW = 6.4, 400.0
"""About the width of a letter, and of a track that is not a phone's, in pixels."""
_NUMBERS = ("x", "value", "low", "high", "outer_low", "outer_high", "mark")


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
        height = _TALL if ringed else _TIGHT if several else _LOW
        marks = _marks(figure, row, along, height=height, first=place == 0)
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
    point = _point(figure)
    heads = (
        title(figure, "group") if several else title(figure, "name"),
        title(figure, point) if point in figure.roles else "",
        _interval_head(figure),
    )
    return Tracks(heads=heads, tracks=tuple(tracks), ticks=along.marks())


def _rows(figure: Figure) -> list[dict[str, Any]]:
    """Return one mapping per row, role to cell; where a number should be, words are a gap."""
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


def _point(figure: Figure) -> str:
    return "x" if "x" in figure.roles else "value"


def _interval_head(figure: Figure) -> str:
    if "low" not in figure.roles or not numbers(figure, ["low", "high"]):
        return ""
    return shorten(figure.labels["low"]) if "low" in figure.labels else "interval"


def _texts(figure: Figure, row: Mapping[str, Any]) -> tuple[str, str]:
    """Return the estimate and its interval as they are written beside the track."""
    text, ends = estimate_texts(row.get(_point(figure)), _ends(row), figure.unit)
    return text if _point(figure) in figure.roles else "", ends


def _ends(row: Mapping[str, Any]) -> Interval | None:
    low, high = row.get("low"), row.get("high")
    return None if low is None or high is None else Interval(min(low, high), max(low, high))


def _marks(
    figure: Figure, row: Mapping[str, Any], along: Axis, *, height: float, first: bool
) -> tuple[Mark, ...]:
    """Return the marks of one row: grid, zero, outer range, interval, dot, ring and its label."""
    ringed = height == _TALL
    y = 40.0 if ringed else height / 2
    marks = [_upright(tick.place, height, "grid") for tick in along.marks()]
    if along.low < 0 < along.high:
        marks.append(_upright(along.place(0.0), height, "zero"))

    point, ring = row.get(_point(figure)), row.get("mark") if ringed else None
    low, high = row.get("low"), row.get("high")
    hover = " ".join(part for part in (row["name"], *_texts(figure, row)) if part)
    if point is not None and ring is not None:
        ends = ((along.place(ring), 17.0), (along.place(point), y))
        marks.append(Mark(shape="line", look="link", points=ends))
    for start, end, look in (("outer_low", "outer_high", "outer"), ("low", "high", "bar")):
        if row.get(start) is not None and row.get(end) is not None:
            ends = ((along.place(row[start]), y), (along.place(row[end]), y))
            marks.append(Mark(shape="line", look=look, points=ends, hover=hover))
    if point is not None:
        look = "dot" if row.get("settled", True) else "dot open"
        at = ((along.place(point), y),)
        marks.append(Mark(shape="circle", look=look, points=at, radius=6.0, hover=hover))
    if ring is not None:
        off = low is not None and high is not None and not low <= ring <= high
        words = estimate_texts(ring, _ends(row), figure.unit)[0]
        marks += _ring(figure, (ring, words), point, along, off=off, first=first)
    return tuple(marks)


def _upright(place: float, height: float, look: str) -> Mark:
    return Mark(shape="line", look=look, points=((place, 0.0), (place, height)))


def _ring(
    figure: Figure,
    ring: tuple[float, str],
    point: float | None,
    along: Axis,
    *,
    off: bool,
    first: bool,
) -> list[Mark]:
    """Return a ring, given by its value and how that is written, and its label, which stands on the
    side away from the link.
    """
    value, written = ring
    place = along.place(value)
    words = f"{title(figure, 'mark')} {written}" if first else written
    # near an end of the track the label would be cut, so it stands on the other side
    room = (_LETTER * len(words) + 14) / _NARROW
    left = point is not None and along.place(point) > place
    left = place > room if left else 1 - place < min(room, 0.1)
    return [
        Mark(
            shape="circle",
            look="ring off" if off else "ring",
            points=((place, 17.0),),
            radius=5.0,
            hover=f"{title(figure, 'mark')} {written}",
        ),
        Mark(
            shape="text",
            look="offtext" if off else "",
            points=((place, 21.0),),
            text=words,
            anchor="end" if left else "start",
            shift=-10.0 if left else 10.0,
        ),
    ]


def _key(figure: Figure) -> list[str]:
    words = outer_words(figure, thin="thin line", thick="thick line")
    words += mark_words(figure)
    if "settled" in figure.roles:
        known = {bool(value) for value in figure.columns[figure.roles["settled"]]}
        words += ["filled dot: settled", "open dot: not settled"] if False in known else []
    return words


def _thin(figure: Figure) -> tuple[Figure, str]:
    n = figure.size
    if n <= MOST_NAMES:
        return figure, ""
    return figure.rows(range(MOST_NAMES)), f"the first {MOST_NAMES} of {n:,} are drawn"


KIND = Kind(
    name="forest",
    words="Chart of estimates with intervals",
    draw=forest,
    key=_key,
    thin=_thin,
)
