"""Which model is better, how sure is that, and how many items would settle it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tallystick.compare.answer import CAPABILITY, evaluate
    from tallystick.compare.battles import BattlesResult
    from tallystick.compare.board import Board
    from tallystick.compare.exact_pair import exact_score
    from tallystick.compare.judge_planning import plan_judges
    from tallystick.compare.ladder import Ladder, flip_attack
    from tallystick.compare.pairs import mcnemar, tango
    from tallystick.compare.papers.pictures import coin_figure, trade_off_figure
    from tallystick.compare.partial import Disagreement, labels_needed, partial_interval
    from tallystick.compare.plan_answer import PLAN
    from tallystick.compare.planning import PlanResult, plan
    from tallystick.compare.question import CompareQuestion
    from tallystick.compare.ranking import leaderboard, rank
    from tallystick.compare.result import CompareResult
    from tallystick.compare.sequential import Sequential
    from tallystick.compare.settings import Settings

__all__ = [
    "CAPABILITY",
    "PLAN",
    "BattlesResult",
    "Board",
    "CompareQuestion",
    "CompareResult",
    "Disagreement",
    "Ladder",
    "PlanResult",
    "Sequential",
    "Settings",
    "coin_figure",
    "evaluate",
    "exact_score",
    "flip_attack",
    "labels_needed",
    "leaderboard",
    "mcnemar",
    "partial_interval",
    "plan",
    "plan_judges",
    "rank",
    "tango",
    "trade_off_figure",
]

_HOME = {
    "BattlesResult": "battles",
    "Board": "board",
    "CompareResult": "result",
    "Disagreement": "partial",
    "Ladder": "ladder",
    "PlanResult": "planning",
    "Sequential": "sequential",
    "Settings": "settings",
    "coin_figure": "papers.pictures",
    "evaluate": "answer",
    "CAPABILITY": "answer",
    "PLAN": "plan_answer",
    "CompareQuestion": "question",
    "rank": "ranking",
    "exact_score": "exact_pair",
    "flip_attack": "ladder",
    "labels_needed": "partial",
    "leaderboard": "ranking",
    "mcnemar": "pairs",
    "partial_interval": "partial",
    "plan": "planning",
    "plan_judges": "judge_planning",
    "tango": "pairs",
    "trade_off_figure": "papers.pictures",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"tallystick.compare.{_HOME[name]}"), name)
    raise AttributeError(f"module 'tallystick.compare' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
