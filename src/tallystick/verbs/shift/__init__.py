"""Whether and how an API changed, for the fewest paid calls.

| question | call | rests on |
|---|---|---|
| all of it: read, ask, assess | :func:`evaluate` | tested coverage |
| ask a client about items | :func:`run` | the same |
| assess answers that you have | :func:`assess`, a pure function | the same |
| a first measurement, with its noise | :func:`baseline` | K answers per item |
| a part of the items | :func:`part_of` | the calls of the whole run |
| over time | :func:`append_history`, :func:`read_history`, :func:`since` | each run's own |

MASA, as its paper states it, is `tallystick.papers.api_shifts`; calling an API is
`tallystick.clients`. Theory: ``docs/theory/shift.md``.
"""

from __future__ import annotations

from tallystick.clients import Progress
from tallystick.verbs.shift.answer import CAPABILITY, evaluate, part_of
from tallystick.verbs.shift.asking import FlipGate, run
from tallystick.verbs.shift.assess import assess
from tallystick.verbs.shift.baseline import (
    BASELINE,
    append_history,
    baseline,
    read_history,
)
from tallystick.verbs.shift.design import Items, design
from tallystick.verbs.shift.estimates import Answers, Past
from tallystick.verbs.shift.question import ShiftQuestion
from tallystick.verbs.shift.read import since
from tallystick.verbs.shift.result import ShiftResult

__all__ = ["ShiftResult", "evaluate", "part_of", "read_history"]
