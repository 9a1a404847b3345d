"""Draws any Result from its figures, without knowing which capability made it: terminal, HTML,
SVG and PNG.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tallystick.errors import no_attribute

if TYPE_CHECKING:
    from tallystick.report.chart import Plot, plot
    from tallystick.report.grid import markdown_of
    from tallystick.report.page import Provenance, notebook, page_of, write_page
    from tallystick.report.terminal import show, text_of

__all__ = ["show", "write_page"]

_NAMES = {
    "chart": "Plot plot",
    "grid": "markdown_of",
    "page": "Provenance notebook page_of write_page",
    "terminal": "show text_of",
}
"""File to its names: each loads with its first use, since most answers are text."""


def __getattr__(name: str) -> Any:
    for file, names in _NAMES.items():
        if name in names.split():
            return getattr(import_module(f"tallystick.report.{file}"), name)
    raise no_attribute(__name__, name)
