"""A figure for a page: in light and dark, with words for readers who cannot see it."""

from __future__ import annotations

import base64
from dataclasses import dataclass

from tallystick.report.kinds import kind_of
from tallystick.report.plot import Plot
from tallystick.report.shorten import shorten
from tallystick.report.theme import Mode
from tallystick.results import Figure

__all__ = ["Picture", "picture"]


@dataclass(frozen=True)
class Picture:
    """An image in two looks; an SVG inside an image element can neither run nor load anything."""

    title: str
    words: str
    light: str
    dark: str


def picture(figure: Figure) -> Picture:
    """Draw *figure* in both looks."""
    title = shorten(figure.title, 160)
    kind = kind_of(figure)
    drawn, note = kind.thin(figure)
    words = "; ".join(text for text in (title, *kind.key(drawn), note) if text)
    return Picture(
        title,
        f"{kind.words}: {words}",
        _address(figure, "light"),
        _address(figure, "dark"),
    )


def _address(figure: Figure, mode: Mode) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(
        Plot(figure, mode).svg().encode("utf-8")
    ).decode("ascii")
