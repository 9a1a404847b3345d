"""Score systems when judges grade every output and people only few.

`evaluate` answers. The mathematics is in `tallystick.stats.adverse`; here it meets tables of
outputs: who made them, how judges graded them, and what people said of a few.
"""

from __future__ import annotations

from tallystick.score.answer import CAPABILITY, evaluate
from tallystick.score.question import ScoreQuestion
from tallystick.score.result import (
    Breakdown,
    CovariateRow,
    CriteriaResult,
    JudgeRow,
    PairRow,
    Partial,
    Rate,
    ScoreResult,
    SystemRow,
)

__all__ = [
    "CAPABILITY",
    "Breakdown",
    "CovariateRow",
    "CriteriaResult",
    "JudgeRow",
    "PairRow",
    "Partial",
    "Rate",
    "ScoreQuestion",
    "ScoreResult",
    "SystemRow",
    "evaluate",
]
