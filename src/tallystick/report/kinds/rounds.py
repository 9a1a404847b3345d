"""Values by round, with the range around them."""

from __future__ import annotations

from functools import partial

from tallystick.report.kinds.kind import Kind
from tallystick.report.kinds.lines import lines, lines_key, thin_lines

__all__ = ["KIND"]

KIND = Kind(
    name="rounds",
    words="Chart by round",
    draw=partial(lines, whole=True),  # there is no round 1.5
    key=partial(lines_key, line=True),
    thin=thin_lines,
)
