"""Colours and type: safe for colour-blind readers, readable in print, light and dark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

__all__ = ["THEMES", "Mode", "Theme", "contrast", "readable_on"]

Mode: TypeAlias = Literal["light", "dark"]


@dataclass(frozen=True)
class Theme:
    """One look: what is drawn on, what is drawn with."""

    paper: str
    ink: str
    faint: str
    series: tuple[str, ...]
    low: str
    middle: str
    high: str

    def cell(self, share: float, opacity: float = 1.0) -> str:
        """Return the colour of a signed share in [-1, 1], between the middle and one of the
        ends.
        """
        signed = _mix(self.middle, self.high if share > 0 else self.low, min(1.0, abs(share)))
        return _mix(self.paper, signed, opacity)

    def config(self) -> Mapping[str, Any]:
        """Return the look as a Vega-Lite configuration."""
        axis = {
            "labelColor": self.ink,
            "titleColor": self.ink,
            "gridColor": self.faint,
            "domainColor": self.faint,
            "tickColor": self.faint,
            "labelFontSize": 12,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
            "labelLimit": 260,
        }
        return {
            "background": self.paper,
            "font": "sans-serif",
            "view": {"stroke": None},
            "axis": axis,
            "legend": {
                "labelColor": self.ink,
                "titleColor": self.ink,
                "labelFontSize": 12,
                "labelLimit": 220,
            },
            "title": {
                "color": self.ink,
                "fontSize": 14,
                "fontWeight": "normal",
                "anchor": "start",
                "limit": 700,
                "offset": 14,
            },
            "range": {"category": list(self.series)},
        }


# The colours of Okabe and Ito, told apart under every common colour blindness. Yellow is left out,
# and sky blue and orange are darkened, until all stand out 3:1 from white paper.
_SERIES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#3a94ca", "#b87f00", "#6b6b6b")

THEMES: Mapping[Mode, Theme] = {
    "light": Theme("#ffffff", "#1f2328", "#d8dee4", _SERIES, "#0072B2", "#f4f4f4", "#D55E00"),
    "dark": Theme(
        "#0d1117",
        "#e6edf3",
        "#30363d",
        ("#58a6ff", "#D55E00", "#009E73", "#CC79A7", "#8fd0f5", "#E69F00", "#a0a0a0"),
        "#4aa3df",
        "#22272e",
        "#f0883e",
    ),
}


def readable_on(paper: str) -> str:
    """Return black or white, whichever can be read better on *paper*.

    >>> readable_on("#D55E00"), readable_on("#0072B2")
    ('#000000', '#ffffff')
    """
    return max(("#000000", "#ffffff"), key=lambda ink: contrast(ink, paper))


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours as the Web Content Accessibility Guidelines count it: 1 to
    21.

    >>> contrast("#000000", "#ffffff")
    21.0
    """
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def _channels(colour: str) -> list[int]:
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]


def _luminance(colour: str) -> float:
    linear = [
        c / 255 / 12.92 if c / 255 <= 0.04045 else ((c / 255 + 0.055) / 1.055) ** 2.4
        for c in _channels(colour)
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _mix(one: str, other: str, share: float) -> str:
    mixed = (
        round(a + share * (b - a)) for a, b in zip(_channels(one), _channels(other), strict=True)
    )
    return "#" + "".join(f"{channel:02x}" for channel in mixed)
