"""Graded shift: answers are scored, and the mean grade is what may have changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.clients import Client, Reply
from tallystick.errors import InputError
from tallystick.results import Interval, Json
from tallystick.sampling import FAILED
from tallystick.shift.counts import collapse
from tallystick.shift.grades import GradedAnswers, grade_noise_share, graded_change
from tallystick.shift.noise_shares import repeats_of
from tallystick.shift.result import Change, ShiftResult
from tallystick.shift.verdict import Facts, decide, opening_of

__all__ = ["GradedClient", "grade_scale", "with_grades"]

FloatArray = NDArray[np.float64]


class GradedClient(Client):
    """Ask a system, then let a grader score its answer: together they are one API.

    Parameters
    ----------
    system
        Whose answers are graded.
    grader
        Gets the row with the answer as the column ``answer``.
    """

    def __init__(self, system: Client, grader: Client) -> None:
        self._system, self._grader = system, grader

    @property
    def description(self) -> dict[str, Json]:
        """Both descriptions."""
        return {
            "kind": "graded",
            "system": self._system.description,
            "grader": self._grader.description,
        }

    @property
    def secrets(self) -> tuple[str, ...]:
        """The keys of both."""
        return (*self._system.secrets, *self._grader.secrets)

    def question(self, row: Mapping[str, Any]) -> Json:
        """Return what the system is asked; what the grader is asked follows from the answer."""
        return self._system.question(row)

    async def answer(self, row: Mapping[str, Any]) -> str | None:
        """Return the grade."""
        return (await self.ask(row)).text

    async def ask(self, row: Mapping[str, Any]) -> Reply:
        """Return the grade with the tokens of both; one failure fails both."""
        said = await self._system.ask(row)
        graded = await self._grader.ask({**row, "answer": said.text or ""})
        return replace(
            graded,
            input_tokens=_sum(said.input_tokens, graded.input_tokens),
            output_tokens=_sum(said.output_tokens, graded.output_tokens),
            cut=said.cut or graded.cut,
            model=said.model or graded.model,
        )

    async def __aenter__(self) -> GradedClient:
        await self._system.__aenter__()
        await self._grader.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._system.__aexit__(*error)
        await self._grader.__aexit__(*error)


def _sum(a: int | None, b: int | None) -> int | None:
    return None if a is None and b is None else (a or 0) + (b or 0)


def grade_scale(labels: tuple[str, ...]) -> FloatArray:
    """Return the grades as numbers on [0, 1], from the lowest to the highest.

    >>> grade_scale(("1", "2", "5")).tolist()
    [0.0, 0.25, 1.0]
    """
    try:
        numbers = np.array([float(label) for label in labels])
    except ValueError as error:
        raise InputError(
            f"grades must be numbers, got {', '.join(labels[:6])}: name the scale (--labels 1,2,3)"
        ) from error
    low, high = numbers.min(), numbers.max()
    if low == high:
        raise InputError("all grades are equal: name the whole scale (--labels 1,2,3,4,5)")
    return np.asarray((numbers - low) / (high - low))


def with_grades(result: ShiftResult, *, alpha: float) -> ShiftResult:
    """Return the result with the change of the mean grade, (N7) and (N8), in units of the scale.

    Parameters
    ----------
    result
        Of a run without true labels whose answers are grades.
    alpha
        One minus the level.
    """
    if result.evidence is None or result.noise is None:
        raise InputError("a change of grades needs the old grade of every item (--old)")
    items, strata, answers = result.evidence
    scale = np.append(grade_scale(items.labels), np.nan)
    told = (answers.codes != FAILED) & (answers.codes < len(items.labels))
    asked, codes = answers.asked[told], answers.codes[told]
    used = collapse(strata, np.bincount(strata.of[asked], minlength=len(strata)), least=1)
    blind = None if answers.blind is None else answers.blind[told]
    assert items.old is not None  # there is noise, so there are old answers
    old = scale[items.old]

    share = 0.0
    if result.noise.answers_are != "deterministic":
        seen = asked if blind is None else asked[blind]
        number = np.bincount(used.of[seen], minlength=len(used))
        weight = (used.shares / np.maximum(number, 1))[used.of]
        first = dict(zip(asked.tolist(), codes.tolist(), strict=True))
        readable = answers.second < len(items.labels)
        again = (answers.repeated[readable], answers.second[readable])
        repeats = repeats_of(items, first, again, weight)
        share = 1.0
        if repeats is not None and len(repeats):
            share = grade_noise_share(
                scale[repeats.old],
                scale[repeats.first],
                scale[repeats.second],
                weight=repeats.weight,
            )
    given = GradedAnswers(asked=asked, grade=scale[codes], blind=blind)
    found = [graded_change(used, old, given, share=one, alpha=alpha) for one in (share, 1.0)]
    changes = [
        Change(
            estimate=float(one.value),
            interval=Interval(
                min(float(one.low), float(one.value)),
                max(float(one.high), float(one.value)),
                level=1 - alpha,
                method="second moments of grades, blind hull, noise",
            ),
        )
        for one in found
    ]
    noise = replace(result.noise, accuracy_share=share, whole_noise=changes[1])
    facts = Facts(
        accuracy=changes[0],
        flips=result.flip_rate,
        noise=noise,
        asked=len(answers.asked),
        population=len(items),
        calls=result.calls,
        labelled=False,
        scale=(items.labels[0], items.labels[-1]),
    )
    decision, needed, verdict = decide(facts)
    return replace(
        result,
        grade_change=changes[0],
        noise=noise,
        decision=decision,
        needed=needed,
        verdict=verdict,
        sentences=opening_of(facts),
    )
