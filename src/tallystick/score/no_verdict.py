"""Where figures stand and still decide nothing: grades that were chosen, systems on other items.

Outputs that people graded because they were good, or a system that was run on the easy questions
only, give exact intervals around the wrong number. The figures are shown, with what they would say;
the decision and the gates stay open.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tallystick.results import Needed, Sentences, Unknown, parse_gate, percent
from tallystick.sampling.random_draw import OddDraw, if_drawn
from tallystick.score.outputs import Outputs
from tallystick.score.result import ScoreResult
from tallystick.score.verdict_words import plural

__all__ = ["common_share", "with_chosen_grades", "with_other_items"]

_ALIKE = 0.9
"""Share of the items of two systems that both were run on, from which they are compared."""


def with_chosen_grades(result: ScoreResult, found: OddDraw | None) -> ScoreResult:
    """Return the result; if the graded outputs are no random draw, it decides nothing."""
    if found is None:
        return result
    first = "The grades decide nothing, because the graded outputs were not drawn at random."
    needed = Needed(None, "grades of outputs drawn at random")
    return replace(_open(result, first, "the grades were not drawn at random"), needed=needed)


def with_other_items(result: ScoreResult, outputs: Outputs) -> ScoreResult:
    """Return the result; if two systems were run on different items, none is called better."""
    if len(outputs.systems) < 2 or isinstance(result.pairs, Unknown) or not result.pairs:
        return result
    least = common_share(outputs)
    if least is None or least >= _ALIKE:
        return result
    items = plural(outputs.unit, 2)
    first = (
        f"The systems were run on different {items}: two of them have {percent(least)} in common."
        " So no system is called better."
    )
    needed = Needed(None, f"outputs of every system on the same {items}")
    found = _open(result, first, f"the systems were run on different {items}", pairs_only=True)
    return replace(found, needed=needed)


def common_share(outputs: Outputs) -> float | None:
    """Return the smallest share of the items of two systems that both were run on.

    None where the items are not known row by row.
    """
    if outputs.item is None or len(outputs.systems) < 2:
        return None
    k = len(outputs.systems)
    held = np.zeros((int(outputs.item.max(initial=-1)) + 1, k), bool)
    held[outputs.item, outputs.system] = True
    both = held.T.astype(np.float64) @ held
    each = np.diag(both)
    union = each[:, None] + each[None, :] - both
    shares = both[np.triu_indices(k, 1)] / np.maximum(union[np.triu_indices(k, 1)], 1.0)
    return float(shares.min())


def _open(result: ScoreResult, first: str, why: str, *, pairs_only: bool = False) -> ScoreResult:
    """Return the result with its decision and its gates left open."""
    told = f"As they stand: {result.verdict}" if pairs_only else if_drawn(result.verdict)
    names = [row.name for row in result.systems]
    gates = tuple(
        gate
        if gate.passed is None
        or (pairs_only and parse_gate(gate.expression, known=names).right is None)
        else replace(gate, passed=None, text=f"{gate.text}, but {why}")
        for gate in result.gates
    )
    return replace(
        result,
        verdict=f"{first} {told}",
        sentences=Sentences(answer=first, open=told),
        decision="undecided",
        gates=gates,
    )
