"""Everything that is estimated of systems, before it is put into rows and words."""

from __future__ import annotations

from dataclasses import dataclass

from tallystick.score.consensus import consensus
from tallystick.score.from_session import SessionDraws
from tallystick.score.mix import mixed_judges, mixed_levels, mixed_systems
from tallystick.score.outputs import Floats, Outputs
from tallystick.score.pairs import compare_pairs
from tallystick.score.question import ScoreQuestion
from tallystick.score.session_pairs import session_pairs
from tallystick.score.system_pair import SystemPair
from tallystick.score.systems import System, estimate_systems, judge_means, judge_only
from tallystick.score.units import Units

__all__ = ["Scored", "estimated"]


@dataclass(frozen=True, eq=False)
class Scored:
    """What is known of every system and pair, on [0, 1].

    Parameters
    ----------
    outputs, values
        Grades and human grades, and the consensus of the judges on each entry.
    judges, means
        What the judges alone make of each system: together, and each judge.
    systems, pairs
        The estimates.
    units
        From [0, 1] to what is shown.
    draws
        How the labels were drawn, where they come from a labelling session.
    """

    outputs: Outputs
    values: Floats
    judges: Floats
    means: Floats
    systems: list[System]
    pairs: list[SystemPair]
    units: Units
    draws: SessionDraws | None = None


def estimated(
    outputs: Outputs,
    question: ScoreQuestion,
    *,
    shares: Floats | None = None,
    draws: SessionDraws | None = None,
) -> Scored:
    """Estimate systems and pairs: from a session's draws, for a target mix, or as they are.

    Parameters
    ----------
    outputs, question
        The grades, and what is asked.
    shares
        The share of each slice in the target mix; None for the mix of the table.
    draws
        How the labels were drawn, where they come from a labelling session.

    Examples
    --------
    >>> from tallystick.data import read
    >>> from tallystick.score.reading import read_outputs
    >>> table = {"gpt": [1, 1, 0, 1] * 10, "human": [1, 1, 0, 0] * 3 + [None] * 28}
    >>> outputs = read_outputs(read(table, judges=("gpt",), truth="human"), scale=None)
    >>> found = estimated(outputs, ScoreQuestion())
    >>> round(found.systems[0].score, 3), float(found.judges[0]), found.pairs
    (0.5, 0.75, [])
    """
    values = consensus(outputs)
    if draws is not None:
        systems, judges = draws.systems(question.alpha), judge_only(outputs)
        pairs = session_pairs(draws, systems, question)
    elif shares is None:
        systems, judges = estimate_systems(outputs, values, question), judge_only(outputs)
        pairs = compare_pairs(outputs, values, systems, question)
    else:
        systems = mixed_systems(outputs, values, question, shares, question.alpha)
        judges = mixed_judges(outputs, shares)
        levels = mixed_levels(outputs, values, question, shares)
        pairs = compare_pairs(outputs, values, systems, question, levels=levels)
    units = Units(outputs.scale if not outputs.pass_fail else None)
    return Scored(outputs, values, judges, judge_means(outputs), systems, pairs, units, draws)
