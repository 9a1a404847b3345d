"""How good a classifier is, given weak labels, and true labels of few rows or of none.

Names load on first use:

>>> from tallystick import bound
>>> "evaluate" in bound.__all__
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tallystick.verbs.bound.answer import CAPABILITY, bound, evaluate
    from tallystick.verbs.bound.label_model_checks import Fitting
    from tallystick.verbs.bound.label_models import LabelModel
    from tallystick.verbs.bound.question import BoundQuestion
    from tallystick.verbs.bound.result import Bound, BoundResult
    from tallystick.verbs.bound.robust import MatchResult, match
    from tallystick.verbs.bound.selection import (
        SelectResult,
        WeakSetResult,
        choose_weak_labels,
        compare_classifiers,
        select,
    )
    from tallystick.verbs.bound.thresholds import edges_of, sweep
    from tallystick.verbs.bound.weak_votes import BoundTarget, WeakTable, weak_table

__all__ = [
    "CAPABILITY",
    "Bound",
    "BoundQuestion",
    "BoundResult",
    "BoundTarget",
    "Fitting",
    "LabelModel",
    "MatchResult",
    "SelectResult",
    "WeakSetResult",
    "WeakTable",
    "bound",
    "choose_weak_labels",
    "compare_classifiers",
    "edges_of",
    "evaluate",
    "match",
    "select",
    "sweep",
    "weak_table",
]

_HOME = {
    "Bound": "result",
    "BoundQuestion": "question",
    "BoundResult": "result",
    "BoundTarget": "weak_votes",
    "CAPABILITY": "answer",
    "Fitting": "label_model_checks",
    "LabelModel": "label_models",
    "MatchResult": "robust",
    "SelectResult": "selection",
    "WeakSetResult": "selection",
    "WeakTable": "weak_votes",
    "bound": "answer",
    "choose_weak_labels": "selection",
    "compare_classifiers": "selection",
    "edges_of": "thresholds",
    "evaluate": "answer",
    "match": "robust",
    "select": "selection",
    "sweep": "thresholds",
    "weak_table": "weak_votes",
}


def __getattr__(name: str) -> Any:
    if name == "label_models":
        return import_module("tallystick.verbs.bound.label_models")
    if name in _HOME:
        return getattr(import_module(f"tallystick.verbs.bound.{_HOME[name]}"), name)
    raise AttributeError(f"module 'tallystick.verbs.bound' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
