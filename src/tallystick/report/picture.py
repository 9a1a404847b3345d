"""A figure for a page: both looks as data addresses, and words for those who do not see it."""

from __future__ import annotations

import base64
from dataclasses import dataclass

from tallystick.report.plot import Plot
from tallystick.report.shorten import shorten, thin
from tallystick.report.theme import Mode
from tallystick.report.words import key
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
    drawn, note = thin(figure)
    words = "; ".join(text for text in (title, key(drawn), note) if text)
    return Picture(
        title,
        f"{_KINDS[figure.kind]}: {words}",
        _address(figure, "light"),
        _address(figure, "dark"),
    )


_KINDS = {
    "forest": "Chart of estimates with intervals",
    "bands": "Chart of a range along an axis",
    "matrix": "Heat map of signed numbers",
    "rounds": "Chart by round",
    "curve": "Line chart",
}


def _address(figure: Figure, mode: Mode) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(
        Plot(figure, mode).svg().encode("utf-8")
    ).decode("ascii")
