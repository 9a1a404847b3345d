"""Draws any Result from its figures, without knowing which capability made it: terminal, HTML,
SVG and PNG.
"""

from __future__ import annotations

from tallystick.report.chart import Plot, plot
from tallystick.report.grid import markdown_of
from tallystick.report.page import Provenance, notebook, page, write_page
from tallystick.report.terminal import show, text_of

__all__ = ["show", "write_page"]
