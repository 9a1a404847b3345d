"""A drawing as one SVG file of a fixed width, with its colours and its title inside."""

from __future__ import annotations

from textwrap import wrap

from tallystick.report.drawing import Drawing, Mark, Panel, Panels, Tick, TintedTable, Track, Tracks
from tallystick.report.elements import element
from tallystick.report.theme import Mode, svg_style

__all__ = ["WIDTH", "svg"]

WIDTH = 720.0
"""Width of a picture in pixels, unless another is asked for."""

_MARGIN = 16.0
_LETTER = 7.9
"""About the width of one letter of a name, in pixels."""
_AXIS = 24.0
_GUTTER = 52.0
"""Room for the numbers of an upright axis."""


def svg(
    drawing: Drawing,
    *,
    title: str,
    notes: tuple[str, ...] = (),
    mode: Mode = "light",
    width: float = WIDTH,
) -> str:
    """Return *drawing* as SVG text; *title* and *notes* stand above it, and are its description."""
    parts: list[str] = []
    y = _MARGIN
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
        more, height = _cells(drawing, width, y)
    height += _MARGIN
    return element(
        "svg",
        element("title", ". ".join((title, *notes))),
        element("style", svg_style(mode)),
        element("rect", class_="paper", width="100%", height="100%"),
        *parts,
        *more,
        xmlns="http://www.w3.org/2000/svg",
        role="img",
        width=width,
        height=height,
        viewBox=f"0 0 {width:g} {height:g}",
    )


# -- rows with one axis


def _tracks(drawing: Tracks, width: float, y: float) -> tuple[list[str], float]:
    longest = max((len(track.name) for track in drawing.tracks), default=0)
    left = _MARGIN + min(0.38 * width, max(60.0, _LETTER * min(longest, 34) + 16))
    values = max((len(t.value) for t in drawing.tracks), default=0)
    ends = max((len(t.interval) for t in drawing.tracks), default=0)
    ends = max(ends, len(drawing.heads[2]) if ends else 0)
    last = width - _MARGIN
    first = last - (_LETTER * ends + 14 if ends else 0)
    right = first - (_LETTER * max(values, len(drawing.heads[1])) + 20 if values else 8)
    parts = [
        _text(drawing.heads[0], _MARGIN, y + 12, ""),
        _text(drawing.heads[1], first, y + 12, "", "end"),
        _text(drawing.heads[2], last, y + 12, "", "end"),
    ]
    y += 22
    for track in drawing.tracks:
        middle = y + track.height / 2 + 4
        parts.append(_text(_cut(track, left), _MARGIN, middle, "name"))
        parts += [_mark(mark, left, right - left, y) for mark in track.marks]
        parts.append(_text(track.value, first, middle, "n", "end"))
        parts.append(_text(track.interval, last, middle, "", "end"))
        y += track.height
    parts += [_across(tick, left, right - left, y) for tick in drawing.ticks]
    return [part for part in parts if part], y + _AXIS


def _cut(track: Track, room: float) -> str:
    most = max(6, int((room - _MARGIN - 8) / _LETTER))
    most = 200 if track.heading else most
    return track.name if len(track.name) <= most else f"{track.name[: most - 1]}…"


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


def _panel(panel: Panel, drawing: Panels, left: float, room: float, y: float) -> list[str]:
    parts = []
    if panel.title:
        most = max(6, int((room - _LETTER * len(panel.value) - 12) / _LETTER))
        title = panel.title if len(panel.title) <= most else f"{panel.title[: most - 1]}…"
        parts.append(_text(title, left, y + 12, "name"))
        parts.append(_text(panel.value, left + room - 8, y + 12, "n", "end"))
        y += 24
    start, track = left + _GUTTER, room - _GUTTER - 18
    parts += [_mark(mark, start, track, y) for mark in panel.marks]
    parts += [_text(t.text, start - 8, y + t.place + 4, "", "end") for t in drawing.up]
    parts += [_across(tick, start, track, y + panel.height) for tick in drawing.across]
    return [part for part in parts if part]


# -- tinted cells


def _cells(drawing: TintedTable, width: float, y: float) -> tuple[list[str], float]:
    longest = max((len(name) for name, _ in drawing.rows), default=0)
    left = _MARGIN + min(0.3 * width, max(60.0, _LETTER * min(longest, 28) + 12))
    room = min(130.0, (width - _MARGIN - left) / max(1, len(drawing.columns)))
    most = max(4, int(room / _LETTER))
    tall = any(cell is not None and cell.under for _, cells in drawing.rows for cell in cells)
    height = 42.0 if tall else 28.0
    parts = [_text(f"{drawing.corner} \\ {drawing.across}", _MARGIN, y + 12, "")]
    for place, name in enumerate(drawing.columns):
        cut = name if len(name) <= most else f"{name[: most - 1]}…"
        parts.append(_text(cut, left + room * (place + 1) - 8, y + 12, "", "end"))
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
    if mark.shape == "text":
        return _text(mark.text, x + mark.shift, y, mark.look, mark.anchor)
    if mark.shape == "line":
        ends = {"x1": x, "y1": y, "x2": at[1][0], "y2": at[1][1]}
        return element("line", *hover, class_=mark.look, **ends)
    steps = " ".join(f"{a:.1f},{b:.1f}" for a, b in at)
    return element("path", d=f"M{steps}{'Z' if mark.shape == 'area' else ''}", class_=mark.look)
