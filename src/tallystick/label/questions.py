"""The questions that labels can answer, found through the registry.

A capability with a `labelling` hook says itself what a person should label. How common a label is
has no capability of its own, so that question lives here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from tallystick.data import Capability, Door, Question
from tallystick.errors import InputError
from tallystick.label import prevalence
from tallystick.registry import ENTRIES, capability
from tallystick.results import Result

__all__ = ["QUESTIONS", "LabelQuestion", "label_question"]

QUESTIONS = (*(entry.verb for entry in ENTRIES if entry.labels), "prevalence")
"""What can be asked, in the order of ``--help``."""


@dataclass(frozen=True, kw_only=True)
class LabelQuestion:
    """One question: what it reads, what its options are, and the task that it makes.

    Parameters
    ----------
    name
        What the user types.
    question
        The class of its options.
    reads, door
        The roles that it reads, and what it needs of the reading.
    task
        From data, the options and the strata that a session keeps (or None) to a `LabelTask`.
    capability
        Whose own result the labels end in; None if no capability answers this question.
    """

    name: str
    question: type[Question]
    reads: tuple[str, ...]
    door: Door
    task: Callable[..., Any]
    capability: Capability[Result] | None = None

    def options(self, given: Mapping[str, Any]) -> Question:
        """Make the options, and refuse one that this question does not have."""
        known = {one.name for one in fields(self.question)}
        for name in given:
            if name not in known:
                raise InputError(
                    f"question {self.name} has no option {name!r}: it has"
                    f" {', '.join(sorted(known))}"
                )
        return self.question(**given)


_PREVALENCE = LabelQuestion(
    name="prevalence",
    question=prevalence.PrevalenceLabels,
    reads=("judges", "truth", "item"),
    door=Door(want="judges"),
    task=prevalence.labelling,
)


def label_question(name: str) -> LabelQuestion:
    """Return a question by its name.

    >>> label_question("judge").reads[:2]
    ('judges', 'truth')
    """
    if name not in QUESTIONS:
        raise InputError(f"question must be one of {', '.join(QUESTIONS)}, got {name!r}")
    if name == _PREVALENCE.name:
        return _PREVALENCE
    found = capability(name)
    if found.labelling is None:
        raise InputError(f"{name} has no question for people to label")
    return LabelQuestion(
        name=name,
        question=found.question,
        reads=found.reads,
        door=found.door,
        task=found.labelling,
        capability=found,
    )
