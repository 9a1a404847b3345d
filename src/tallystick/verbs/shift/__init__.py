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

MASA, as its paper states it, is `tallystick.papers.api_shifts`; calling an API is
`tallystick.clients`. Theory: ``docs/theory/shift.md``.
"""

from __future__ import annotations

from tallystick.clients import Wire
from tallystick.verbs.shift.answer import CAPABILITY, SeveralResult, evaluate, part_of
from tallystick.verbs.shift.assess import Answers, FlipGate, assess, frobenius_bound
from tallystick.verbs.shift.baseline import (
    BASELINE,
    BaselineResult,
    HistoryResult,
    append_history,
    baseline,
    read_history,
    update_old,
)
from tallystick.verbs.shift.design import AskDesign, Items, design
from tallystick.verbs.shift.noisy import metric_estimate, metric_interval
from tallystick.verbs.shift.question import Progress, Run, ShiftQuestion
from tallystick.verbs.shift.result import FleetResult, Noise, ShiftResult, fleet
from tallystick.verbs.shift.run import Forecast, forecast, run, run_async

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
    "metric_estimate",
    "metric_interval",
    "part_of",
    "read_history",
    "run",
    "run_async",
    "update_old",
]
