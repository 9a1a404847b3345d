"""Lines along an axis."""

from __future__ import annotations

from tallystick.report.kinds.kind import Kind
from tallystick.report.kinds.lines import lines, lines_key, thin_lines

__all__ = ["KIND"]

KIND = Kind(name="curve", words="Line chart", draw=lines, key=lines_key, thin=thin_lines)
