"""Count once: Tally (patterns of decisions) and Moments (sums of scores), on any engine, merged in
any order.
"""

from __future__ import annotations

from tallystick.tally.attach import attach
from tallystick.tally.grades import unordered
from tallystick.tally.moments import Moments
from tallystick.tally.result import TallyResult, describe
from tallystick.tally.sink import TallySink
from tallystick.tally.tally import Tally
from tallystick.values.label import Label

__all__ = [
    "Label",
    "Moments",
    "Tally",
    "TallyResult",
    "TallySink",
    "attach",
    "describe",
    "unordered",
]
