"""How an API changed, for the fewest paid calls.

``run`` asks a client and assesses what came back; ``assess`` alone is a pure function of the
answers. HTTP and retry libraries load when a run begins.
"""

from __future__ import annotations

from tallystick.clients.caller import Wire
from tallystick.shift.assess import Answers, assess
from tallystick.shift.design import Design, design
from tallystick.shift.fleet import FleetResult, fleet
from tallystick.shift.forecast import Forecast, forecast
from tallystick.shift.gate import metric_estimate, metric_interval
from tallystick.shift.history import HistoryResult, append_history, read_history, update_old
from tallystick.shift.items import Items
from tallystick.shift.masa import (
    loss_bound,
    optimal_allocation,
    optimal_loss,
    theorem_bound,
    theorem_conditions,
)
from tallystick.shift.noise import NoiseFloor, noise_floor
from tallystick.shift.result import ShiftResult
from tallystick.shift.run import Progress, Run, run, run_async
from tallystick.shift.slices import part_of
from tallystick.shift.stopping import FlipGate, frobenius_bound

__all__ = [
    "Answers",
    "Design",
    "FleetResult",
    "FlipGate",
    "Forecast",
    "HistoryResult",
    "Items",
    "NoiseFloor",
    "Progress",
    "Run",
    "ShiftResult",
    "Wire",
    "append_history",
    "assess",
    "design",
    "fleet",
    "forecast",
    "frobenius_bound",
    "loss_bound",
    "metric_estimate",
    "metric_interval",
    "noise_floor",
    "optimal_allocation",
    "optimal_loss",
    "part_of",
    "read_history",
    "run",
    "run_async",
    "theorem_bound",
    "theorem_conditions",
    "update_old",
]
