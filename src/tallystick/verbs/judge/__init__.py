"""Judge: grade noisy judges with no labels, or with a few.

| question | call | rests on |
|---|---|---|
| how good are my judges? | :func:`evaluate` | labels, or the votes alone |
| what holds whatever the truth is | :func:`logical` | nothing |
| a few labels | :func:`few_labels` | labels drawn at random |
| no labels | :func:`label_free` | a range that held on comparable panels |
| no labels, one model | :func:`dawid_skene`, :func:`independent` | independent errors |
| no labels, the baseline | :func:`majority` | a majority that is always right |
| does a judge prefer a place? | :func:`position_bias`, :func:`position_panel` | items are a fair sample |
| votes that arrive one by one | :func:`windows` | blocks of items are exchangeable |

What the source defines and proves is in :mod:`tallystick.papers.noisy_judges`. Theory:
``docs/theory/judge.md``.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from tallystick.verbs.judge.answer import CAPABILITY, evaluate
from tallystick.verbs.judge.dawid_skene import dawid_skene
from tallystick.verbs.judge.few_labels import few_labels
from tallystick.verbs.judge.grade import grade
from tallystick.verbs.judge.independent import independent
from tallystick.verbs.judge.label_free import label_free
from tallystick.verbs.judge.logical import LogicalResult, logical
from tallystick.verbs.judge.majority import majority
from tallystick.verbs.judge.orders import (
    OrderResult,
    PanelOrderResult,
    position_bias,
    position_panel,
    self_consistency,
)
from tallystick.verbs.judge.question import JudgeQuestion
from tallystick.verbs.judge.result import JudgeResult
from tallystick.verbs.judge.scores import Alarm, JudgeScore
from tallystick.verbs.judge.windows import Window, Windows, windows

__all__ = [
    "CAPABILITY",
    "Alarm",
    "JudgeQuestion",
    "JudgeResult",
    "JudgeScore",
    "LogicalResult",
    "OrderResult",
    "PanelOrderResult",
    "Window",
    "Windows",
    "dawid_skene",
    "evaluate",
    "few_labels",
    "grade",
    "independent",
    "label_free",
    "logical",
    "majority",
    "position_bias",
    "position_panel",
    "self_consistency",
    "windows",
]

_ELSEWHERE = {
    "LabelScore": "scores",
    "Share": "scores",
    "Solution": "scores",
    "Statement": "scores",
}
"""Names that can still be imported from here, and the file that holds them."""


def __getattr__(name: str) -> Any:
    if name in _ELSEWHERE:
        return getattr(import_module(f"tallystick.verbs.judge.{_ELSEWHERE[name]}"), name)
    raise AttributeError(f"module 'tallystick.verbs.judge' has no attribute {name!r}")
