"""What the columns were taken for, why, and what has to be asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from tallystick.data.roles import Roles
from tallystick.errors import InputError

__all__ = ["ColumnUse", "Detection", "Notebook", "OpenQuestion", "Taken", "listed"]

ColumnUse: TypeAlias = Literal[
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


@dataclass(frozen=True)
class Taken:
    """Some columns, what they are taken for, and why.

    >>> print(Taken(("gold",), "truth", "its name says so"))
    'gold' is taken for the truth: its name says so
    """

    columns: tuple[str, ...]
    role: ColumnUse
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
class Detection:
    """What the columns of a table were taken for.

    Parameters
    ----------
    roles
        The roles: what the caller named, and what was found.
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

    roles: Roles
    slices: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    taken: tuple[Taken, ...] = ()
    questions: tuple[OpenQuestion, ...] = ()
    notes: tuple[str, ...] = ()

    def ask(self, source: str) -> None:
        """Refuse by the first question, if there is one; the message names the option that
        answers it.
        """
        if self.questions:
            seen = "; ".join(str(part) for part in self.taken if part.role != "not used")
            raise InputError(
                f"{source}: {'; '.join(map(str, self.questions))}"
                + (f" (so far: {seen})" if seen else "")
            )


@dataclass
class Notebook:
    """What has been found so far; only `detect` and its steps write into it."""

    free: list[str]
    taken: list[Taken] = field(default_factory=list)
    questions: list[OpenQuestion] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def take(self, columns: Sequence[str], role: ColumnUse, why: str) -> None:
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
