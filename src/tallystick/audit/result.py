"""One answer for a whole table: one section per capability, and one verdict on top."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from tallystick.data import Taken
from tallystick.registry import ENTRIES
from tallystick.report.parts import ResultPart
from tallystick.results import Figure, PatternTable, Result

__all__ = ["AuditResult", "Skipped", "question_of"]


def question_of(verb: str) -> str:
    """Return what the capability of *verb* answers, as the registry says it."""
    return next((entry.summary for entry in ENTRIES if entry.verb == verb), verb)


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
        One result per capability that applied.
    skipped
        Capabilities that seemed to apply but could not answer, and why.
    asked
        By the verb of a section, the capability that answered ("dynamic analyse") and its options.
    """

    verb: ClassVar[str] = "audit"

    columns: tuple[Taken, ...]
    sections: tuple[Result, ...]
    skipped: tuple[Skipped, ...] = ()
    asked: Mapping[str, tuple[str, Mapping[str, Any]]] = field(
        default_factory=dict, repr=False, metadata={"private": True}
    )

    def _question(self, verb: str) -> str:
        """Return what a section answers."""
        return question_of(self.asked[verb][0] if verb in self.asked else verb)

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per question, answered or not."""
        answered = [
            {
                "question": self._question(part.verb),
                "by": part.verb,
                "decision": part.decision,
                "answer": part.verdict,
                "to settle it": None if part.needed is None else str(part.needed),
            }
            for part in self.sections
        ]
        left = [
            {
                "question": question_of(part.verb),
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
        return self.verdict

    @property
    def grounds(self) -> tuple[str, ...]:
        """What each column was taken for, and why."""
        return tuple(map(str, self.columns))

    @property
    def remarks(self) -> tuple[str, ...]:
        """Warnings that belong to no single section."""
        told = {f"{part.verb}: {text}" for part in self.sections for text in part.warnings}
        return tuple(text for text in self.warnings if text not in told)

    def parts(self) -> tuple[ResultPart, ...]:
        """Return one part per question, answered or not."""
        answered = [
            ResultPart(p.verb, self._question(p.verb), p.answer_line, p) for p in self.sections
        ]
        left = [ResultPart(p.verb, question_of(p.verb), p.reason) for p in self.skipped]
        return (*answered, *left)

    def summary(self) -> str:
        """Return the verdict, then what every section says of itself."""
        taken = [f"  {part}" for part in self.columns]
        sections = [f"\n{question_of(part.verb)}\n{part.summary()}" for part in self.sections]
        left = [f"\n{question_of(part.verb)}\nNot answered: {part.reason}" for part in self.skipped]
        return "\n".join([self.verdict, "", "Columns:", *taken, *sections, *left])
