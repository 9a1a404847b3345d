"""How good a classifier is, given weak labels, and true labels of few rows or of none.

Names load on first use:

>>> from tallystick.verbs import bound
>>> "evaluate" in bound.__all__
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tallystick.verbs.bound.answer import CAPABILITY, evaluate
    from tallystick.verbs.bound.question import BoundQuestion
    from tallystick.verbs.bound.result import Bound, BoundResult

__all__ = ["BoundResult", "evaluate"]

_HOME = {
    "Bound": "result",
    "BoundQuestion": "question",
    "BoundResult": "result",
    "CAPABILITY": "answer",
    "evaluate": "answer",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"tallystick.verbs.bound.{_HOME[name]}"), name)
    raise AttributeError(f"module 'tallystick.verbs.bound' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
