"""How an API changed, for the fewest paid calls.

| question | call | rests on |
|---|---|---|
| all of it: read, ask, assess | :func:`evaluate` | tested coverage |
| ask a client about items | :func:`run` | the same |
| assess answers that you have | :func:`assess`, a pure function | the same |
| what would it cost? | :func:`forecast` | a guess of the latency |
| a first measurement, with its noise | :func:`baseline` | K answers per item |
| a part of the items | :func:`part_of` | the calls of the whole run |
| over time | :func:`append_history`, :func:`read_history`, :func:`update_old` | each run's own |

What only reproduces the paper is in `tallystick.shift.papers`; calling an API is
`tallystick.clients`. Theory: ``docs/theory/shift.md``.
"""

from __future__ import annotations

from tallystick.clients import Wire
from tallystick.shift.answer import CAPABILITY, evaluate
from tallystick.shift.assess import Answers, assess
from tallystick.shift.baseline import BASELINE, BaselineResult, baseline
from tallystick.shift.design import AskDesign, design
from tallystick.shift.forecast import Forecast, forecast
from tallystick.shift.gate import metric_estimate, metric_interval
from tallystick.shift.history import HistoryResult, append_history, read_history, update_old
from tallystick.shift.items import Items
from tallystick.shift.noise import NoiseFloor, noise_floor
from tallystick.shift.optimal import optimal_allocation, optimal_loss
from tallystick.shift.papers import (
    FleetResult,
    fleet,
    loss_bound,
    theorem_bound,
    theorem_conditions,
)
from tallystick.shift.question import ShiftQuestion
from tallystick.shift.result import Noise, ShiftResult
from tallystick.shift.run import Progress, Run, run, run_async
from tallystick.shift.several import SeveralResult
from tallystick.shift.slices import part_of
from tallystick.shift.stopping import FlipGate, frobenius_bound

__all__ = [
    "BASELINE",
    "CAPABILITY",
    "Answers",
    "AskDesign",
    "BaselineResult",
    "FleetResult",
    "FlipGate",
    "Forecast",
    "HistoryResult",
    "Items",
    "Noise",
    "NoiseFloor",
    "Progress",
    "Run",
    "SeveralResult",
    "ShiftQuestion",
    "ShiftResult",
    "Wire",
    "append_history",
    "assess",
    "baseline",
    "design",
    "evaluate",
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
