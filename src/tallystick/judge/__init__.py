"""Judge: grade noisy judges with no labels, or with a few.

| question | call | rests on |
|---|---|---|
| all that applies, side by side | :func:`evaluate` | what it names |
| what holds whatever the truth is | :func:`logical` | nothing |
| a few labels | :func:`few_labels` | labels drawn at random |
| all labels | :func:`supervised`, :func:`supervised_point` | nothing |
| no labels | :func:`label_free` | a range that held on comparable panels |
| no labels, one model | :func:`dawid_skene`, :func:`independent`, :func:`spectral` | independent errors |
| no labels, baselines | :func:`majority`, :func:`agreement` | a majority that is always right; worse |
| can I believe that? | :func:`independence` | a pass proves nothing |
| does a judge prefer a place? | :func:`position_bias`, :func:`position_panel` | items are a fair sample |
| votes that arrive one by one | :func:`windows` | blocks of items are exchangeable |

What reproduces the source (points, their exact tests, the search over trios) is in
:mod:`tallystick.judge.papers`. Theory: ``docs/theory/judge.md``.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from tallystick.judge.agreement import agreement, agreement_gap
from tallystick.judge.answer import CAPABILITY, evaluate
from tallystick.judge.dawid_skene import dawid_skene
from tallystick.judge.few_labels import few_labels
from tallystick.judge.grade import grade
from tallystick.judge.independence import IndependenceResult, independence
from tallystick.judge.independent import independent
from tallystick.judge.label_free import label_free
from tallystick.judge.logical import LogicalResult, logical
from tallystick.judge.majority import majority
from tallystick.judge.orders import OrderResult, position_bias, self_consistency
from tallystick.judge.parts import Alarm, JudgeScore
from tallystick.judge.position_panel import PanelOrderResult, position_panel
from tallystick.judge.question import JudgeQuestion
from tallystick.judge.result import JudgeResult
from tallystick.judge.spectral import spectral
from tallystick.judge.supervised import supervised, supervised_point
from tallystick.judge.windows import Window, Windows, windows

__all__ = [
    "CAPABILITY",
    "Alarm",
    "IndependenceResult",
    "JudgeQuestion",
    "JudgeResult",
    "JudgeScore",
    "LogicalResult",
    "OrderResult",
    "PanelOrderResult",
    "Window",
    "Windows",
    "agreement",
    "agreement_gap",
    "dawid_skene",
    "evaluate",
    "few_labels",
    "grade",
    "independence",
    "independent",
    "label_free",
    "logical",
    "majority",
    "position_bias",
    "position_panel",
    "self_consistency",
    "spectral",
    "supervised",
    "supervised_point",
    "windows",
]

_ELSEWHERE = {
    **dict.fromkeys(("Estimate", "LabelScore", "Share", "Solution", "Statement"), "parts"),
    "Supervised": "supervised",
    **dict.fromkeys(
        (
            *("ExactTrio", "Point", "Projection", "SearchResult", "Sensitivity", "Simulation"),
            *("Surd", "correlated", "exact", "search", "sensitivity", "simulate"),
            *("variety_distance", "variety_projection"),
        ),
        "papers",
    ),
}
"""Names that can still be imported from here, and the file that holds them."""


def __getattr__(name: str) -> Any:
    if name in _ELSEWHERE:
        return getattr(import_module(f"tallystick.judge.{_ELSEWHERE[name]}"), name)
    raise AttributeError(f"module 'tallystick.judge' has no attribute {name!r}")
