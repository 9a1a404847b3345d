"""Which model is better, how sure is that, and how many items would settle it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tallystick.verbs.compare.answer import CAPABILITY, evaluate, gate_estimate
    from tallystick.verbs.compare.battles import BattlesResult
    from tallystick.verbs.compare.board import Board
    from tallystick.verbs.compare.planning import PLAN, PlanResult, plan, plan_judges
    from tallystick.verbs.compare.question import CompareQuestion
    from tallystick.verbs.compare.ranking import leaderboard, rank
    from tallystick.verbs.compare.result import CompareResult
    from tallystick.verbs.compare.sequential import Sequential, stop_when_clear

__all__ = ["Board", "CompareResult", "evaluate", "gate_estimate", "plan", "stop_when_clear"]

_HOME = {
    "answer": ("CAPABILITY", "evaluate", "gate_estimate"),
    "battles": ("BattlesResult",),
    "board": ("Board",),
    "planning": ("PLAN", "PlanResult", "plan", "plan_judges"),
    "question": ("CompareQuestion",),
    "ranking": ("leaderboard", "rank"),
    "result": ("CompareResult",),
    "sequential": ("Sequential", "stop_when_clear"),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOME.items():
        if name in names:
            return getattr(import_module(f"tallystick.verbs.compare.{home}"), name)
    raise AttributeError(f"module 'tallystick.verbs.compare' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
