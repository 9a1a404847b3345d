"""Score systems when judges grade every output and people only few.

`evaluate` answers. The mathematics is in `tallystick.stats.few_labels`; here it meets tables of
outputs: who made them, how judges graded them, and what people said of a few.
"""

from __future__ import annotations

from tallystick.verbs.score.answer import CAPABILITY, evaluate
from tallystick.verbs.score.question import ScoreQuestion
from tallystick.verbs.score.result import CriteriaResult, ScoreResult

__all__ = ["ScoreResult", "evaluate"]
