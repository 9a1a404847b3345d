"""Colours and type: safe for colour-blind readers, readable in print, light and dark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

__all__ = ["THEMES", "Mode", "Theme"]

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
            "legend": {"labelColor": self.ink, "titleColor": self.ink, "labelFontSize": 12, "labelLimit": 220},
            "title": {"color": self.ink, "fontSize": 14, "fontWeight": "normal", "anchor": "start", "limit": 700},
            "range": {"category": list(self.series)},
        }


# The eight colours of Okabe and Ito, told apart under every common colour blindness; yellow is left out on white paper.
_SERIES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#6b6b6b")

THEMES: Mapping[Mode, Theme] = {
    "light": Theme("#ffffff", "#1f2328", "#d8dee4", _SERIES, "#0072B2", "#f4f4f4", "#D55E00"),
    "dark": Theme("#0d1117", "#e6edf3", "#30363d", ("#58a6ff", *_SERIES[1:]), "#4aa3df", "#22272e", "#f0883e"),
}
