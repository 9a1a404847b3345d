"""How good a classifier is, given weak labels, and true labels of few rows or of none."""

from __future__ import annotations

from tallystick.verbs.bound.answer import CAPABILITY, evaluate
from tallystick.verbs.bound.question import BoundQuestion
from tallystick.verbs.bound.result import Bound, BoundResult

__all__ = ["BoundResult", "evaluate"]
