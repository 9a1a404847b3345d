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
    from tallystick.bound.answer import CAPABILITY, evaluate
    from tallystick.bound.classifier import bound
    from tallystick.bound.label_models import LabelModel
    from tallystick.bound.matching import MatchResult, match
    from tallystick.bound.papers.noise_aware import noise_aware_weights
    from tallystick.bound.papers.weak_sets import WeakSetResult, choose_weak_labels
    from tallystick.bound.prepared import Fitting
    from tallystick.bound.question import BoundQuestion
    from tallystick.bound.result import Bound, BoundResult
    from tallystick.bound.rivals import compare_classifiers
    from tallystick.bound.selection import SelectResult, select
    from tallystick.bound.target import BoundTarget
    from tallystick.bound.thresholds import edges_of, sweep
    from tallystick.bound.weak_votes import WeakTable, weak_table

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
    "noise_aware_weights",
    "select",
    "sweep",
    "weak_table",
]

_HOME = {
    "compare_classifiers": "rivals",
    "Bound": "result",
    "BoundResult": "result",
    "Fitting": "prepared",
    "LabelModel": "label_models",
    "MatchResult": "matching",
    "BoundQuestion": "question",
    "BoundTarget": "target",
    "CAPABILITY": "answer",
    "bound": "classifier",
    "SelectResult": "selection",
    "WeakSetResult": "papers.weak_sets",
    "WeakTable": "weak_votes",
    "choose_weak_labels": "papers.weak_sets",
    "edges_of": "thresholds",
    "evaluate": "answer",
    "match": "matching",
    "noise_aware_weights": "papers.noise_aware",
    "select": "selection",
    "sweep": "thresholds",
    "weak_table": "weak_votes",
}


def __getattr__(name: str) -> Any:
    if name == "label_models":
        return import_module("tallystick.bound.label_models")
    if name in _HOME:
        return getattr(import_module(f"tallystick.bound.{_HOME[name]}"), name)
    raise AttributeError(f"module 'tallystick.bound' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
