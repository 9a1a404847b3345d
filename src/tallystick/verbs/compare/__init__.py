"""Which model is better, how sure is that, and how many items would settle it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tallystick.verbs.compare.answer import CAPABILITY, evaluate
    from tallystick.verbs.compare.battles import BattlesResult
    from tallystick.verbs.compare.board import Board
    from tallystick.verbs.compare.planning import PLAN, PlanResult, plan, plan_judges
    from tallystick.verbs.compare.question import CompareQuestion, Settings
    from tallystick.verbs.compare.ranking import leaderboard, rank
    from tallystick.verbs.compare.result import CompareResult
    from tallystick.verbs.compare.sequential import Sequential

__all__ = [
    "CAPABILITY",
    "PLAN",
    "BattlesResult",
    "Board",
    "CompareQuestion",
    "CompareResult",
    "PlanResult",
    "Sequential",
    "Settings",
    "evaluate",
    "leaderboard",
    "plan",
    "plan_judges",
    "rank",
]

_HOME = {
    "BattlesResult": "battles",
    "Board": "board",
    "CAPABILITY": "answer",
    "CompareQuestion": "question",
    "CompareResult": "result",
    "PLAN": "planning",
    "PlanResult": "planning",
    "Sequential": "sequential",
    "Settings": "question",
    "evaluate": "answer",
    "leaderboard": "ranking",
    "plan": "planning",
    "plan_judges": "planning",
    "rank": "ranking",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"tallystick.verbs.compare.{_HOME[name]}"), name)
    raise AttributeError(f"module 'tallystick.verbs.compare' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
