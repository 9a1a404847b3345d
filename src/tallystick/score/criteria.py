"""Several criteria per output, such as helpful, correct and safe: one answer for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from tallystick.data import Data, slice_labels
from tallystick.errors import InputError, TallystickError
from tallystick.results import GateOutcome, Result, Slice, parse_gate
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
    gates = _by_criterion(question.gates, [str(label) for label in labels])
    parts: list[Slice] = []
    for label in labels:
        held = data.where(column, label)
        held = replace(held, roles=replace(held.roles, criterion=None))
        own = tuple(gates[str(label)].values())
        try:
            parts.append(Slice(label, ask(held, replace(question, alpha=level, gates=own))))
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
        gates=_outcomes(question.gates, gates, parts),
    )


def _by_criterion(texts: Sequence[str], labels: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return the gates of each criterion: as they were typed, and as the criterion is asked."""
    found: dict[str, dict[str, str]] = {label: {} for label in labels}
    for text in texts:
        gate = parse_gate(text)
        if gate.measure is None or gate.measure not in found:
            raise InputError(
                f"with several criteria a gate names one, such as '{labels[0]}(new) > 0.8', got"
                f" {text!r}"
            )
        found[gate.measure][text] = str(replace(gate, measure="score"))
    return found


def _outcomes(
    texts: Sequence[str], gates: Mapping[str, Mapping[str, str]], parts: Sequence[Slice]
) -> tuple[GateOutcome, ...]:
    """Return how each gate went, in the order typed."""
    found: dict[str, GateOutcome] = {}
    for part in parts:
        own = gates[str(part.label)]
        if own and not isinstance(part.answer, ScoreResult):
            raise InputError(f"gate {next(iter(own))!r}: {part.answer}")
        if isinstance(part.answer, ScoreResult):
            pairs = zip(own, part.answer.gates, strict=True)
            found |= {text: replace(gate, expression=text.strip()) for text, gate in pairs}
    return tuple(found[text] for text in texts)
