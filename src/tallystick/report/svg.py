"""A drawing as SVG of a fixed width: a file with its colours and its title, or part of a page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from html import escape
from textwrap import wrap
from typing import Literal, TypeAlias

from tallystick.results.numbers import shorten

WIDTH = 720.0
"""Width of a picture in pixels, unless another is asked for."""

_MARGIN = 16.0
_LETTER = 7.9
"""About the width of one letter of a name, in pixels."""
_AXIS = 24.0
_GUTTER = 52.0
"""Room for the numbers of an upright axis."""
_LEAST_CELL = 56.0
"""Room for a number in a table of tinted cells, which widens the picture if it must."""
_NARROW = 500.0
"""A narrower picture is one for a phone."""


def svg(
    drawing: Drawing,
    *,
    title: str,
    notes: tuple[str, ...] = (),
    mode: Mode | None = None,
    width: float = WIDTH,
    look: str = "",
) -> str:
    """Return *drawing* as SVG text; *title* and *notes* are its description."""
    parts: list[str] = []
    edge, y = (_MARGIN, 8.0) if mode is None else (0.0, _MARGIN)
    if mode is not None:
        parts += [
            element("style", svg_style(mode)),
            element("rect", class_="paper", width="100%", height="100%"),
        ]
        for line in wrap(title, max(20, int((width - 2 * _MARGIN) / 7.6))):
            parts.append(_text(line, _MARGIN, y + 12, "title"))
            y += 19
        for line in wrap("; ".join(notes), max(20, int((width - 2 * _MARGIN) / 6.2))):
            parts.append(_text(line, _MARGIN, y + 11, ""))
            y += 16
        y += 12

    if isinstance(drawing, Tracks):
        more, height = _tracks(drawing, width, y)
    elif isinstance(drawing, Panels):
        more, height = _panels(drawing, width, y)
    else:
        width = max(width, _side(drawing, width) + _LEAST_CELL * len(drawing.columns) + _MARGIN)
        more, height = _cells(drawing, width, y)
    height += _MARGIN
    return element(
        "svg",
        element("title", ". ".join((title, *notes))),
        *parts,
        *more,
        class_=look,
        xmlns="http://www.w3.org/2000/svg",
        role="img",
        width=width - edge,
        height=height,
        viewBox=f"{edge:g} 0 {width - edge:g} {height:g}",
    )


# -- rows with one axis


def _tracks(drawing: Tracks, width: float, y: float) -> tuple[list[str], float]:
    """Draw each row with its name and its numbers beside the track."""
    narrow = width < _NARROW
    longest = max((len(track.name) for track in drawing.tracks), default=0)
    left = _MARGIN + min(0.38 * width, max(60.0, _LETTER * min(longest, 34) + 16))
    values = max((len(t.value) for t in drawing.tracks), default=0)
    ends = max((len(t.interval) for t in drawing.tracks), default=0)
    ends = max(ends, len(drawing.heads[2]) if ends else 0)
    last = width - _MARGIN
    first = last - (_LETTER * ends + 14 if ends else 0)
    right = first - (_LETTER * max(values, len(drawing.heads[1])) + 20 if values else 8)
    room = last if narrow else left
    # On a phone a long name stands above its numbers, a short one beside them.
    tall = _LETTER * (longest + values + ends) + 4 * _MARGIN > width
    above = (32.0 if tall else 16.0) if narrow else 0.0
    parts = [
        _text(drawing.heads[0], _MARGIN, y + 12, ""),
        _text(drawing.heads[1], first, y + 12, "", "end"),
        _text(drawing.heads[2], last, y + 12, "", "end"),
    ]
    if narrow:
        left, right = 2 * _MARGIN, last - _MARGIN
    y += 22
    for track in drawing.tracks:
        middle = y + (14 if narrow else track.height / 2 + 4)
        noted = 8 if track.note and not narrow else 0
        beside = middle + (16 if narrow and tall else 0)
        parts.append(_text(_cut(track, room), _MARGIN, middle - noted, "name"))
        parts.append(_text(track.note if noted else "", _MARGIN, middle + noted, ""))
        parts += [_mark(mark, left, right - left, y + above) for mark in track.marks]
        parts.append(_text(track.value, first, beside, "n", "end"))
        parts.append(_text(track.interval, last, beside, "", "end"))
        y += track.height + (0.0 if track.heading else above)
    parts += [_across(tick, left, right - left, y) for tick in drawing.ticks]
    return [part for part in parts if part], y + _AXIS


def _cut(track: Track, room: float) -> str:
    most = max(6, int((room - _MARGIN - 8) / _LETTER))
    return shorten(track.name, 200 if track.heading else most)


# -- small plots


def _panels(drawing: Panels, width: float, y: float) -> tuple[list[str], float]:
    alone = len(drawing.panels) == 1
    columns = 1 if alone else max(1, min(3, len(drawing.panels), int(width // 230)))
    room = (width - 2 * _MARGIN) / columns
    parts: list[str] = []
    for place, panel in enumerate(drawing.panels):
        left = _MARGIN + room * (place % columns)
        parts += _panel(panel, drawing, left, room - (0 if alone else 12), y)
        if place % columns == columns - 1 or panel is drawing.panels[-1]:
            y += panel.height + _AXIS + (34 if panel.title else 10)
    if drawing.x_title:
        parts.append(_text(drawing.x_title, width - _MARGIN, y + 2, "", "end"))
        y += 8
    return parts, y


def _panel(panel: ChartPart, drawing: Panels, left: float, room: float, y: float) -> list[str]:
    parts = []
    if panel.title:
        most = max(6, int((room - _LETTER * len(panel.value) - 12) / _LETTER))
        parts.append(_text(shorten(panel.title, most), left, y + 12, "name"))
        parts.append(_text(panel.value, left + room - 8, y + 12, "n", "end"))
        y += 24
    start, track = left + _GUTTER, room - _GUTTER - 18
    parts += [_mark(mark, start, track, y) for mark in panel.marks]
    parts += [_text(t.text, start - 8, y + t.place + 4, "", "end") for t in drawing.up]
    parts += [_across(tick, start, track, y + panel.height) for tick in drawing.across]
    return [part for part in parts if part]


# -- tinted cells


def _cells(drawing: TintedTable, width: float, y: float) -> tuple[list[str], float]:
    left = _side(drawing, width)
    room = min(130.0, (width - _MARGIN - left) / max(1, len(drawing.columns)))
    most = max(4, int(room / _LETTER))
    tall = any(cell is not None and cell.under for _, cells in drawing.rows for cell in cells)
    height = 42.0 if tall else 28.0
    parts = [_text(f"{drawing.corner} \\ {drawing.across}", _MARGIN, y + 12, "")]
    for place, name in enumerate(drawing.columns):
        parts.append(_text(shorten(name, most), left + room * (place + 1) - 8, y + 12, "", "end"))
    y += 20
    for name, cells in drawing.rows:
        parts.append(_text(name[:30], _MARGIN, y + height / 2 + 4, "name"))
        for place, cell in enumerate(cells):
            if cell is None:
                continue
            x = left + room * place
            look = f"{'cool' if cell.tint > 0 else 'warm'} t{abs(cell.tint)}" if cell.tint else ""
            if look:
                hover = element("title", cell.hover)
                box = {"x": x + 1, "y": y + 1, "width": room - 2, "height": height - 2}
                parts.append(element("rect", hover, class_=look, **box))
            shift = -2 if cell.under else 4
            parts.append(_text(cell.text, x + room - 8, y + height / 2 + shift, "cell", "end"))
            parts.append(_text(cell.under, x + room - 8, y + height / 2 + 14, "cell", "end"))
        y += height
    return [part for part in parts if part], y


def _side(drawing: TintedTable, width: float) -> float:
    """Return the room for the names of the rows."""
    longest = max((len(name) for name, _ in drawing.rows), default=0)
    return _MARGIN + min(0.3 * width, max(60.0, _LETTER * min(longest, 28) + 12))


# -- marks


def _text(text: str, x: float, y: float, look: str, anchor: str = "start") -> str:
    if not text:
        return ""
    return element(
        "text", text, class_=look, x=x, y=y, text_anchor=None if anchor == "start" else anchor
    )


def _across(tick: Tick, left: float, room: float, y: float) -> str:
    look = "strong" if tick.strong else ""
    return _text(tick.text, left + room * tick.place, y + 16, look, "middle")


def _mark(mark: Mark, left: float, room: float, top: float) -> str:
    hover = [element("title", mark.hover)] if mark.hover else []
    at = [(left + room * x, top + y) for x, y in mark.points]
    x, y = at[0]
    if mark.shape == "circle":
        return element("circle", *hover, class_=mark.look, cx=x, cy=y, r=mark.radius)
    if mark.shape == "line":
        ends = {"x1": x, "y1": y, "x2": at[1][0], "y2": at[1][1]}
        return element("line", *hover, class_=mark.look, **ends)
    steps = " ".join(f"{a:.1f},{b:.1f}" for a, b in at)
    return element("path", d=f"M{steps}{'Z' if mark.shape == 'area' else ''}", class_=mark.look)


# Write one HTML or SVG element; everything from the data is escaped here and nowhere else.


class _Safe(str):
    """Markup that was written here."""

    __slots__ = ()


def element(tag: str, *children: str, **attributes: str | float | None) -> str:
    """Return an element. Children that `element` or `words` made are kept, other text is escaped.

    A trailing underscore is dropped from the name of an attribute, and other underscores become
    hyphens. An attribute that is None or "" is left out; numbers lose useless digits.

    >>> print(element("b", "a < b", class_="x"), element("p", element("i", "&")))
    <b class="x">a &lt; b</b> <p><i>&amp;</i></p>
    """
    named = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{_value(value)}"'
        for name, value in attributes.items()
        if value is not None and value != ""
    )
    inside = "".join(one if isinstance(one, _Safe) else escape(one) for one in children)
    if not children and tag in ("line", "circle", "path", "rect", "br"):
        return _Safe(f"<{tag}{named}/>" if tag != "br" else "<br>")
    return _Safe(f"<{tag}{named}>{inside}</{tag}>")


def words(*texts: str) -> str:
    """Return texts in a row, each escaped unless it is markup already."""
    return _Safe("".join(one if isinstance(one, _Safe) else escape(one) for one in texts))


def _value(value: str | float) -> str:
    if isinstance(value, str):
        return escape(value)
    return f"{value:.2f}".rstrip("0").rstrip(".")


# Colours and type: two hues, safe for colour-blind readers, light and dark, on paper too.


Mode: TypeAlias = Literal["light", "dark", "auto"]
"""``auto`` follows the reader's system."""

TOKENS: Mapping[str, Mapping[str, str]] = {
    "light": {
        "bg": "#ffffff",
        "raise": "#f6f7f9",
        "line": "#e4e7eb",
        "rule": "#89919c",
        "text": "#15181c",
        "muted": "#59616c",
        "blue": "#0b5cad",
        "orange": "#a84b00",
        "orange-soft": "#fcf5eb",
        "on-blue": "#ffffff",
    },
    "dark": {
        "bg": "#0f1215",
        "raise": "#181c21",
        "line": "#2a3037",
        "rule": "#67717e",
        "text": "#e9ebee",
        "muted": "#a3abb6",
        "blue": "#7db7fb",
        "orange": "#f4a25d",
        "orange-soft": "#1f1a16",
        "on-blue": "#0f1215",
    },
}
"""Blue is what the evidence says, orange what needs attention; never red against green."""

_SANS = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif'


def _tokens(mode: str) -> str:
    return " ".join(
        f"--{name}: {value};" for name, value in {**TOKENS[mode], "sans": _SANS}.items()
    )


@cache
def _file(name: str) -> str:
    from importlib import resources  # with the first page or picture

    held = resources.files("tallystick.report") / "templates" / name
    return held.read_text(encoding="utf-8")


@cache
def style() -> str:
    """Return the style sheet of reports."""
    return page_style(_file("style.css"))


def page_style(own: str) -> str:
    """Return the style sheet of a kind of page."""
    return (
        f":root {{ color-scheme: light dark; {_tokens('light')} }}\n"
        f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {_tokens('dark')} }} }}\n"
        f"{_file('marks.css')}{_file('shared.css')}{own}{_file('narrow.css')}"
    )


def script() -> str:
    """Return the one script of a page."""
    return _file("script.js")


@cache
def svg_style(mode: Mode = "light") -> str:
    """Return the style sheet of an SVG file, with its colours inside."""
    if mode == "auto":
        dark = f"@media (prefers-color-scheme: dark) {{ svg {{ {_tokens('dark')} }} }}"
        return f"svg {{ {_tokens('light')} }}\n{dark}\n{_file('marks.css')}"
    # Drawing programs know no variables, so a file of one look names its colours.
    text = _file("marks.css")
    for name, value in {**TOKENS[mode], "sans": _SANS}.items():
        text = text.replace(f"var(--{name})", value)
    return text


# What a chart is made of: marks on a track, panels of them, or a table of tinted cells.
# Across, a mark is placed by its share of the track's width; down, by pixels.


Shape: TypeAlias = Literal["line", "circle", "area", "path"]


@dataclass(frozen=True, kw_only=True)
class Mark:
    """One mark.

    Parameters
    ----------
    shape
        A ``line`` between two points, a ``circle``, a filled ``area`` or an open ``path``.
    look
        Its class in the style sheet, e.g. ``bar`` or ``dot``.
    points
        Where it is: share of the width, pixels from the top.
    radius
        Of a circle, in pixels.
    hover
        The values behind it, shown under the pointer.
    """

    shape: Shape
    look: str
    points: tuple[tuple[float, float], ...]
    radius: float = 0.0
    hover: str = ""


@dataclass(frozen=True, kw_only=True)
class Tick:
    """A number on an axis; a *strong* one is written dark."""

    place: float
    text: str
    strong: bool = False


@dataclass(frozen=True, kw_only=True)
class Track:
    """One row of a plot: its name, its marks, and its numbers beside them."""

    name: str
    marks: tuple[Mark, ...] = ()
    height: float = 34.0
    note: str = ""
    value: str = ""
    interval: str = ""
    heading: bool = False


@dataclass(frozen=True, kw_only=True)
class Tracks:
    """Rows that share one axis across: a table with a picture in it."""

    heads: tuple[str, str, str]
    tracks: tuple[Track, ...]
    ticks: tuple[Tick, ...]


@dataclass(frozen=True, kw_only=True)
class ChartPart:
    """One small plot with its own title; *value* stands at the right of the title."""

    title: str
    marks: tuple[Mark, ...]
    height: float
    value: str = ""


@dataclass(frozen=True, kw_only=True)
class Panels:
    """Small plots that share both axes. Places of *up* are pixels from the top."""

    panels: tuple[ChartPart, ...]
    across: tuple[Tick, ...]
    up: tuple[Tick, ...]
    x_title: str = ""


@dataclass(frozen=True, kw_only=True)
class TintedCell:
    """One cell; *tint* runs from -5 (most orange) to 5 (most blue)."""

    text: str
    under: str = ""
    tint: int = 0
    hover: str = ""


@dataclass(frozen=True, kw_only=True)
class TintedTable:
    """A table of tinted numbers. A cell that is None is empty."""

    corner: str
    across: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[TintedCell | None, ...]], ...]


Drawing: TypeAlias = Tracks | Panels | TintedTable
