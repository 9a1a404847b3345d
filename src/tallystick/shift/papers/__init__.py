"""What exists to reproduce [CZZ22]_ (api-shifts): its theorem and its view of several APIs."""

from __future__ import annotations

from tallystick.shift.papers.fleet import FleetCell, FleetResult, fleet
from tallystick.shift.papers.theorem import loss_bound, theorem_bound, theorem_conditions

__all__ = [
    "FleetCell",
    "FleetResult",
    "fleet",
    "loss_bound",
    "theorem_bound",
    "theorem_conditions",
]
