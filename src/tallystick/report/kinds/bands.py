"""A range along an axis, with a line inside it."""

from __future__ import annotations

from functools import partial

from tallystick.report.kinds.kind import Kind
from tallystick.report.kinds.lines import lines, lines_key, thin_lines

__all__ = ["KIND"]

KIND = Kind(
    name="bands",
    words="Chart of a range along an axis",
    draw=lines,
    key=partial(lines_key, line=True),
    thin=thin_lines,
)
