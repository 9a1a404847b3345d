"""Judge: grade noisy judges with no labels, or with a few.

| question | call | rests on |
|---|---|---|
| how good are my judges? | :func:`evaluate` | labels, or the votes alone |
| what holds whatever the truth is | :func:`logical` | nothing |
| the same of counted votes | :func:`grade` | labels, or the votes alone |
| no labels, one model | :func:`dawid_skene`, :func:`independent` | independent errors |
| no labels, the baseline | :func:`majority` | a majority that is always right |
| does a judge prefer a place? | :func:`position_bias` | items are a fair sample |
| does it say the same again? | :func:`self_consistency` | items are a fair sample |
| votes that arrive one by one | :class:`Windows` | blocks of items are exchangeable |

What the source defines and proves is in :mod:`tallystick.papers.noisy_judges`. Theory:
``docs/theory/judge.md``.
"""

from __future__ import annotations

from tallystick.verbs.judge.agreement import position_bias, self_consistency
from tallystick.verbs.judge.answer import CAPABILITY, evaluate, graded
from tallystick.verbs.judge.grade import grade
from tallystick.verbs.judge.logical import logical
from tallystick.verbs.judge.models import dawid_skene, independent, majority
from tallystick.verbs.judge.question import JudgeQuestion
from tallystick.verbs.judge.result import JudgeResult
from tallystick.verbs.judge.windows import Window, Windows

__all__ = ["JudgeResult", "dawid_skene", "evaluate", "independent", "logical", "position_bias"]
