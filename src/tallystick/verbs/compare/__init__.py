"""Which model is better, how sure is that, and how many items would settle it."""

from __future__ import annotations

from tallystick.verbs.compare.answer import CAPABILITY, evaluate, gate_estimate
from tallystick.verbs.compare.board import Board
from tallystick.verbs.compare.planning import PLAN, PlanResult, plan
from tallystick.verbs.compare.question import CompareQuestion
from tallystick.verbs.compare.ranking import leaderboard, rank
from tallystick.verbs.compare.result import CompareResult
from tallystick.verbs.compare.sequential import stop_when_clear

__all__ = ["Board", "CompareResult", "evaluate", "gate_estimate", "plan", "stop_when_clear"]
