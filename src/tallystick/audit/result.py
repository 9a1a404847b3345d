"""One answer for a whole table: a section a capability, and an executive verdict on top."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from tallystick.audit.reading import Reading, Taken
from tallystick.errors import InputError
from tallystick.report.parts import ResultPart
from tallystick.results import Decision, Figure, Interval, Needed, PatternTable, Result

__all__ = ["QUESTIONS", "AuditResult", "Skipped", "conclude"]

QUESTIONS = {
    "compare": "Which model is better?",
    "judge": "How good are the judges?",
    "bound": "Within what bounds is the classifier?",
    "shift": "How did the API change?",
    "dynamic": "Is another round worth it?",
}
"""What each capability answers, in the order in which they are told."""


@dataclass(frozen=True)
class Skipped:
    """A capability that could not answer here, and why."""

    verb: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class AuditResult(Result):
    """All that a table can answer.

    Parameters
    ----------
    columns
        What each column was taken for, and why.
    sections
        One result a capability that applied.
    skipped
        Capabilities that seemed to apply but could not answer, and why.
    """

    verb: ClassVar[str] = "audit"

    columns: tuple[Taken, ...]
    sections: tuple[Result, ...]
    skipped: tuple[Skipped, ...] = ()

    def rows(self) -> list[dict[str, Any]]:
        """Return one row a question, answered or not."""
        answered = [
            {
                "question": QUESTIONS.get(part.verb, part.verb),
                "by": part.verb,
                "decision": part.decision,
                "answer": part.verdict,
                "to settle it": None if part.needed is None else str(part.needed),
            }
            for part in self.sections
        ]
        left = [
            {
                "question": QUESTIONS.get(part.verb, part.verb),
                "by": part.verb,
                "decision": "not answered",
                "answer": part.reason,
                "to settle it": None,
            }
            for part in self.skipped
        ]
        return answered + left

    def figures(self) -> tuple[Figure, ...]:
        """Return the first picture of every section, then the others."""
        pictures = [part.figures() for part in self.sections]
        first = [each[0] for each in pictures if each]
        return (*first, *(figure for each in pictures for figure in each[1:]))

    def patterns(self) -> PatternTable | None:
        """Return what the first section with something to attach to items has learnt of them."""
        return next(
            (found for part in self.sections if (found := part.patterns()) is not None), None
        )

    @property
    def headline(self) -> str:
        """The verdict over all questions, in one sentence."""
        return _headline(self.verdict)

    @property
    def grounds(self) -> tuple[str, ...]:
        """What each column was taken for, and why."""
        return tuple(map(str, self.columns))

    @property
    def remarks(self) -> tuple[str, ...]:
        """Warnings that belong to no single section."""
        told = _told(self.sections, "warnings")
        return tuple(text for text in self.warnings if text not in told)

    def parts(self) -> tuple[ResultPart, ...]:
        """Return one part a question, answered or not."""
        answered = [
            ResultPart(p.verb, QUESTIONS.get(p.verb, p.verb), _headline(p.verdict), p)
            for p in self.sections
        ]
        left = [ResultPart(p.verb, QUESTIONS.get(p.verb, p.verb), p.reason) for p in self.skipped]
        return (*answered, *left)

    def summary(self) -> str:
        """Return the verdict, then what every section says of itself."""
        taken = [f"  {part}" for part in self.columns]
        sections = [
            f"\n{QUESTIONS.get(part.verb, part.verb)}\n{part.summary()}" for part in self.sections
        ]
        left = [
            f"\n{QUESTIONS.get(part.verb, part.verb)}\nNot answered: {part.reason}"
            for part in self.skipped
        ]
        return "\n".join([self.verdict, "", "Columns:", *taken, *sections, *left])


def conclude(
    reading: Reading,
    sections: Sequence[Result],
    skipped: Sequence[Skipped],
    *,
    seed: int | None = None,
) -> AuditResult:
    """Put the sections under one verdict; without any the reasons are the error."""
    if not sections:
        reasons = "; ".join(f"{part.verb}: {part.reason}" for part in skipped)
        raise InputError(
            f"nothing here can be answered ({reasons or 'no capability applies to these columns'})"
        )
    decisions = {part.decision for part in sections}
    # settled only if all of it is
    decision: Decision = decisions.pop() if len(decisions) == 1 else "undecided"
    needs = [part.needed for part in sections if part.needed is not None]
    return AuditResult(
        verdict=_verdict(sections, len(skipped)),
        decision=decision,
        needed=_most(needs) if decision == "undecided" else None,
        n_items=max(part.n_items for part in sections),
        assumptions=(
            *(
                f"columns: {part}"
                for part in reading.taken
                if part.role not in ("not used", "text")
            ),
            *_told(sections, "assumptions"),
        ),
        warnings=(*reading.notes, *_limits(reading, sections), *_told(sections, "warnings")),
        seed=seed,
        columns=reading.taken,
        sections=tuple(sections),
        skipped=tuple(skipped),
    )


_WEIGHED = ("compare", "judge", "bound")
"""The capabilities that take weights."""


def _limits(reading: Reading, sections: Sequence[Result]) -> list[str]:
    """Say what a reader of several sections side by side could misread."""
    said = []
    plain = [part.verb for part in sections if part.verb not in _WEIGHED]
    if reading.weight is not None and plain:
        used = [part.verb for part in sections if part.verb in _WEIGHED]
        reach = f"is used by {' and '.join(used)} only" if used else "is not used"
        said.append(
            f"the weight {reading.weight!r} {reach}; every row counts once in {' and '.join(plain)}"
        )
    counted = [part.verb for part in sections if _is_count(part)]
    if counted:
        said.append(
            f"every label is known: the answer of {' and '.join(counted)} counts these very items,"
            " without doubt and without a word on others"
            + (
                "; the intervals of compare speak of such items at large"
                if sections[0].verb == "compare"
                else ""
            )
        )
    return said


def _is_count(part: Result) -> bool:
    """Whether no interval of the main table has any width: nothing was left to estimate."""
    intervals = [cell for row in part.rows() for cell in row.values() if isinstance(cell, Interval)]
    return bool(intervals) and all(interval.width < 1e-12 for interval in intervals)


def _verdict(sections: Sequence[Result], left: int) -> str:
    settled = sum(part.decision == "decided" for part in sections)
    count = "1 question" if len(sections) == 1 else f"{len(sections)} questions"
    more = f" ({left} more could not be answered)" if left else ""
    head = f"Of {count}, {settled} {'is' if settled == 1 else 'are'} decided{more}."
    return " ".join(
        [head, *(f"{part.verb.capitalize()}: {_headline(part.verdict)}" for part in sections)]
    )


def _headline(text: str) -> str:
    """Return the clause with the number and its doubt; what follows it stands in the section
    itself.

    >>> _headline("a leads with 0.9 [0.8, 1.0] vs. b; 3 pairs are open. The rest is clear.")
    'a leads with 0.9 [0.8, 1.0] vs. b.'
    """
    return re.split(r"(?<=\.)\s+(?=[A-Z])|;\s", text, maxsplit=1)[0].rstrip(".") + "."


def _told(sections: Sequence[Result], field: str) -> tuple[str, ...]:
    return tuple(f"{part.verb}: {text}" for part in sections for text in getattr(part, field))


def _most(needs: Sequence[Needed]) -> Needed | None:
    """Return the largest need, since it settles the most; one without a number only if there is no
    other.
    """
    return max(needs, key=lambda need: -1 if need.count is None else need.count, default=None)
