"""What a chart is made of: marks on a track, panels of them, or a table of tinted cells.

A kind of chart turns a figure into one of these. `tallystick.report.markup` writes it for a page,
where text keeps its size at every width, and `tallystick.report.svg` as one SVG file. Across, a
mark is placed by its share of the track's width; down, by pixels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = [
    "Drawing",
    "Mark",
    "Panel",
    "Panels",
    "Shape",
    "Tick",
    "TintedCell",
    "TintedTable",
    "Track",
    "Tracks",
]

Shape: TypeAlias = Literal["line", "circle", "text", "area", "path"]


@dataclass(frozen=True, kw_only=True)
class Mark:
    """One mark.

    Parameters
    ----------
    shape
        A ``line`` between two points, a ``circle``, a ``text``, a filled ``area`` or an open
        ``path``.
    look
        Its class in the style sheet, e.g. ``bar`` or ``dot``.
    points
        Where it is: share of the width, pixels from the top.
    text, anchor, shift
        Of a text: the words, which end of them is at the point, and by how many pixels they are
        moved aside.
    radius
        Of a circle, in pixels.
    hover
        The values behind it, shown under the pointer.
    """

    shape: Shape
    look: str
    points: tuple[tuple[float, float], ...]
    text: str = ""
    anchor: Literal["start", "middle", "end"] = "start"
    shift: float = 0.0
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
class Panel:
    """One small plot with its own title; *value* stands at the right of the title."""

    title: str
    marks: tuple[Mark, ...]
    height: float
    value: str = ""


@dataclass(frozen=True, kw_only=True)
class Panels:
    """Small plots that share both axes. Places of *up* are pixels from the top."""

    panels: tuple[Panel, ...]
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
