"""Count once: Tally (patterns of decisions) and Moments (sums of scores), on any engine, merged in any order."""

from __future__ import annotations

from tallystick.tally.labels import Label
from tallystick.tally.tally import Tally

__all__ = ["Label", "Tally"]
