"""Several criteria per output, such as helpful, correct and safe: one answer for each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tallystick.data import Data, slice_labels
from tallystick.errors import InputError, TallystickError
from tallystick.results import GateOutcome, Result, Slice, parse_gate
from tallystick.score.gates import checked
from tallystick.score.question import ScoreQuestion
from tallystick.score.result import CriteriaResult, ScoreResult
from tallystick.score.verdict import criteria_verdict

__all__ = ["score_criteria"]


def score_criteria(
    data: Data, question: ScoreQuestion, ask: Callable[[Data, ScoreQuestion], ScoreResult]
) -> Result:
    """Ask about every criterion, each at alpha divided by their number.

    A criterion that cannot be answered says why; the others stand. A gate names the criterion as
    its measure: ``helpful(new) >= helpful(old) - 0.02``.
    """
    column = str(data.roles.criterion)
    labels = slice_labels(replace(data, roles=replace(data.roles, by=column)))
    if None in labels:
        raise InputError(f"{data.source}: the criterion {column!r} is blank in some rows: name it")
    level = question.alpha / len(labels)
    quiet = replace(question, alpha=level, gates=())
    parts: list[Slice] = []
    for label in labels:
        held = data.where(column, label)
        held = replace(held, roles=replace(held.roles, criterion=None))
        try:
            parts.append(Slice(label, ask(held, quiet)))
        except TallystickError as error:
            parts.append(Slice(label, str(error)))
    answers = [part.answer for part in parts if isinstance(part.answer, ScoreResult)]
    if not answers:
        raise InputError(str(parts[0].answer))
    said = [
        (str(part.label), part.answer if isinstance(part.answer, str) else part.answer.answer_line)
        for part in parts
    ]
    decided = all(one.decision == "decided" for one in answers) and len(answers) == len(parts)
    return CriteriaResult(
        verdict=criteria_verdict(said),
        decision="decided" if decided else "undecided",
        needed=next((one.needed for one in answers if one.needed is not None), None),
        n_items=sum(one.n_items for one in answers),
        assumptions=tuple(dict.fromkeys(text for one in answers for text in one.assumptions)),
        warnings=tuple(
            f"{part.label}: {text}"
            for part in parts
            if isinstance(part.answer, ScoreResult)
            for text in part.answer.warnings
        ),
        seed=answers[0].seed,
        criteria=tuple(parts),
        alpha=question.alpha,
        gates=_gates(question, parts),
    )


def _gates(question: ScoreQuestion, parts: list[Slice]) -> tuple[GateOutcome, ...]:
    """Check each gate against the criterion that it names."""
    by_name = {str(part.label): part.answer for part in parts}
    found: list[GateOutcome] = []
    for text in question.gates:
        gate = parse_gate(text)
        if gate.measure is None or gate.measure not in by_name:
            raise InputError(
                f"with several criteria a gate names one, such as"
                f" '{next(iter(by_name))}(new) > 0.8', got {text!r}"
            )
        answer = by_name[gate.measure]
        if not isinstance(answer, ScoreResult):
            raise InputError(f"gate {text!r}: {answer}")
        names = [row.name for row in answer.systems]
        found += checked([text], answer, names, measures=tuple(by_name))
    return tuple(found)
