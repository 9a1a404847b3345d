"""Draws any Result from its figures, without knowing which capability made it: terminal, HTML,
SVG and PNG.
"""

from __future__ import annotations

from tallystick.report.chart import Plot, chart_svg, plot
from tallystick.report.page import Provenance, page, write_page
from tallystick.report.terminal import show

__all__ = ["Plot", "Provenance", "chart_svg", "page", "plot", "show", "write_page"]
