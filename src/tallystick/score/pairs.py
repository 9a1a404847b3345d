"""Which system is better: every pair, compared in the way that its human grades allow.

Where people graded the same items for all systems, the differences of adjusted labels are tested by
step-down max-T (AL10) and bounded simultaneously (AL11): `same_items`. Otherwise each pair comes
from the two scores (AL9): `different_items`. A labelling session has a rule of its own:
`session_pairs`.
"""

from __future__ import annotations

from collections.abc import Sequence

from tallystick.score.board import FEWEST, board_of
from tallystick.score.different_items import from_scores
from tallystick.score.outputs import Floats, Outputs
from tallystick.score.question import ScoreQuestion
from tallystick.score.same_items import certified, simultaneous
from tallystick.score.system_pair import SystemPair
from tallystick.score.systems import System, score_levels
from tallystick.stats.adverse import Levels

__all__ = ["compare_pairs"]


def compare_pairs(
    outputs: Outputs,
    values: Floats,
    systems: list[System],
    question: ScoreQuestion,
    *,
    levels: Sequence[Levels | None] | None = None,
) -> list[SystemPair]:
    """Compare every pair of systems that has human grades.

    Parameters
    ----------
    outputs, values
        The outputs and their consensus.
    systems
        The scores.
    question
        Level, population, certified or not, seed.
    levels
        The scores as functions of the level; by default those of `score_levels`. A target mix has
        its own, and its pairs always come from the scores.
    """
    graded = tuple(s for s, one in enumerate(systems) if one.score is not None)
    if len(graded) < 2 or (outputs.counted and outputs.grid is None):
        return []  # a tally does not say which grades are on common items
    board = board_of(outputs, values, graded)
    simple = levels is None and outputs.probability is None
    if board is not None and board.same_items and simple and board.shared.sum() >= FEWEST:
        if question.certified:
            return certified(board, systems, question)
        return simultaneous(board, systems, question)
    if levels is None:
        levels = score_levels(outputs, values, question)
    return from_scores(board, graded, systems, levels, question, paired=simple)
