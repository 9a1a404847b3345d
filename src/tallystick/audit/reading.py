"""What the columns were taken for, why, and what has to be asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from tallystick.errors import InputError
from tallystick.io import Roles

__all__ = ["Named", "OpenQuestion", "Reading", "Role", "Taken", "listed"]

Role: TypeAlias = Literal[
    "item",
    "truth",
    "votes",
    "scores",
    "weak labels",
    "prediction",
    "score",
    "old",
    "new",
    "confidence",
    "round",
    "validators",
    "weight",
    "cluster",
    "slice",
    "text",
    "not used",
]


@dataclass(frozen=True, kw_only=True)
class Named:
    """What the caller said of the columns; whatever is said here is not asked and not guessed.

    Parameters
    ----------
    item, truth, prediction, score, old, new, confidence, round, validators, weight, cluster
        One column each, or None.
    judges, models, weak, ignore
        Columns: names, commas and globs. *judges* and *weak* vote for labels; *models* answer (with
        a truth) or carry scores (without); *ignore* are left out.
    missing
        Tokens that mean no answer; None asks about suspicious ones, an empty tuple says that there
        are none.
    rows_are_items
        Every row is an item of its own, whatever a column of item names says.
    coerce
        Whether several spellings of one label are read as one.
    """

    item: str | None = None
    truth: str | None = None
    prediction: str | None = None
    score: str | None = None
    old: str | None = None
    new: str | None = None
    confidence: str | None = None
    round: str | None = None
    validators: str | None = None
    weight: str | None = None
    cluster: str | None = None
    judges: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    weak: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    missing: tuple[str, ...] | None = None
    rows_are_items: bool = False
    coerce: bool = False

    def single(self) -> dict[str, str]:
        """Return the columns that were named one by one, role to column."""
        roles = (
            "item",
            "truth",
            "prediction",
            "score",
            "old",
            "new",
            "confidence",
            "round",
            "validators",
            "weight",
            "cluster",
        )
        return {role: getattr(self, role) for role in roles if getattr(self, role) is not None}


@dataclass(frozen=True)
class Taken:
    """Some columns, what they are taken for, and why.

    >>> print(Taken(("gold",), "truth", "its name says so"))
    'gold' is taken for the truth: its name says so
    """

    columns: tuple[str, ...]
    role: Role
    why: str

    def __str__(self) -> str:
        many = len(self.columns) > 1
        if self.role == "not used":
            return f"{listed(self.columns)} {'are' if many else 'is'} not used: {self.why}"
        plural = many or self.role in ("votes", "scores", "weak labels", "validators", "text")
        article = "" if plural else "a " if self.role == "slice" else "the "
        answers = " answers" if self.role in ("old", "new") else ""
        return (
            f"{listed(self.columns)} {'are' if many else 'is'} taken for"
            f" {article}{self.role}{answers}: {self.why}"
        )


@dataclass(frozen=True)
class OpenQuestion:
    """What cannot be told from the table, and the option that answers it."""

    option: str
    text: str

    def __str__(self) -> str:
        return f"{self.option}: {self.text}"


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The roles of a table's columns.

    Parameters
    ----------
    item, truth, prediction, score, old, new, confidence, round, validators, weight, cluster
        One column each, or None.
    votes
        Columns that answer the same question with labels: judges, annotators, models, weak labels.
    scores
        Columns of numbers, higher is better: marks or scores of models.
    weak
        Those of the votes that are weak labels.
    slices
        Columns that split the items into groups.
    missing
        Tokens that mean no answer.
    taken
        What was taken for what, and why.
    questions
        What has to be answered before anything is run.
    notes
        What the reader should know.
    """

    item: str | None = None
    truth: str | None = None
    prediction: str | None = None
    score: str | None = None
    old: str | None = None
    new: str | None = None
    confidence: str | None = None
    round: str | None = None
    validators: str | None = None
    weight: str | None = None
    cluster: str | None = None
    votes: tuple[str, ...] = ()
    scores: tuple[str, ...] = ()
    weak: tuple[str, ...] = ()
    slices: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    coerce: bool = False
    taken: tuple[Taken, ...] = ()
    questions: tuple[OpenQuestion, ...] = ()
    notes: tuple[str, ...] = ()

    def ask(self, source: str) -> None:
        """Refuse by the first question, if there is one; the message names the option that answers
        it.
        """
        if self.questions:
            seen = "; ".join(str(part) for part in self.taken if part.role != "not used")
            raise InputError(
                f"{source}: {'; '.join(map(str, self.questions))}"
                + (f" (so far: {seen})" if seen else "")
            )

    def roles(
        self,
        labels: Sequence[str],
        *,
        truth: str | None = None,
        others: Mapping[str, str] | None = None,
    ) -> Roles:
        """Return the same as the verbs understand it, for the columns *labels*."""
        return Roles(
            labels=tuple(labels),
            item=self.item,
            truth=truth,
            weight=self.weight,
            others=dict(others or {}),
            missing=self.missing,
            coerce=self.coerce,
        )


@dataclass
class Notebook:
    """What has been found so far; only `detect` and its steps write into it."""

    free: list[str]
    taken: list[Taken] = field(default_factory=list)
    questions: list[OpenQuestion] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def take(self, columns: Sequence[str], role: Role, why: str) -> None:
        """Note what *columns* are; they are no longer free."""
        if columns:
            self.taken.append(Taken(tuple(columns), role, why))
            self.free = [name for name in self.free if name not in columns]

    def ask(self, option: str, text: str) -> None:
        """Note a question."""
        self.questions.append(OpenQuestion(option, text))


def listed(names: Sequence[object], most: int = 4) -> str:
    """Return *names* quoted, the first few of many.

    >>> listed(["a", "b"]), listed(range(9))
    ("'a', 'b'", '0, 1, 2, … 9 in all')
    """
    shown = ", ".join(map(repr, names[: most if len(names) <= most else most - 1]))
    return shown if len(names) <= most else f"{shown}, … {len(names)} in all"
