"""What `ask` did: which column it made, what was answered, and what it cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from tallystick._rng import Rng, as_rng
from tallystick.clients import ClientQuestion, Usage
from tallystick.errors import InputError
from tallystick.results import Result, count, number
from tallystick.table import Demo, option

_PRIVATE = {"private": True}


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Money, over all resumes of the journal.

    Parameters
    ----------
    spent
        What all requests that may have been billed cost.
    currency
        As it was given.
    sent, billed
        Requests sent at most, and those that may have been billed.
    paid_twice, unused
        Requests beyond the first for one answer, at most, and answers or requests that are not used
        here.
    """

    spent: float = 0.0
    currency: str = ""
    sent: int = 0
    billed: int = 0
    paid_twice: int = 0
    unused: int = 0


@dataclass(frozen=True, kw_only=True)
class AskResult(Result):
    """Answers to every row.

    Parameters
    ----------
    column, columns
        The column that holds the answers, and all that were added.
    asked, answered, unread, failed
        Questions; those that were answered; those of them from which no label could be read; and
        those that got no answer after all retries. What is left was not asked.
    from_journal
        Answers that were paid for before.
    counts
        How often each answer was given.
    examples
        Answers that could not be read, as they came.
    disagree
        With ``--pair``: rows whose two orders gave different winners.
    cost, usage
        Money, tokens, latency and models.
    """

    verb: ClassVar[str] = "ask"

    column: str
    columns: tuple[str, ...]
    asked: int
    answered: int
    unread: int
    failed: int
    from_journal: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    examples: tuple[str, ...] = ()
    disagree: int | None = None
    cost: Cost = Cost()
    usage: Usage | None = None
    table: Mapping[str, Sequence[Any]] = field(default_factory=dict, repr=False, metadata=_PRIVATE)

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per answer."""
        total = sum(self.counts.values()) or 1
        return [
            {"answer": answer, "rows": n, "share": n / total} for answer, n in self.counts.items()
        ]


# What can be asked of an API for every row: whom, what, how often, and where the answers go.


@dataclass(frozen=True, kw_only=True)
class AskQuestion(ClientQuestion):
    """One question per row to an API or a judge.

    In Python *api* may be a `tallystick.clients.Client`.
    """

    # Asking has no interval and draws nothing.
    alpha: float = option(0.05, "Not used.", hidden=True)
    seed: Rng = option(0, "Not used.", hidden=True)
    name: str = option("answer", "Name of the new column.", flag="--as")
    pair: tuple[str, ...] = option(
        (), "Two columns of answers to compare: each row is asked in both orders.", metavar="A,B"
    )
    repeats: int = option(1, "How many times to ask about each row.", low=1)
    out: Path | None = option(
        None,
        "Write the table with the new column to this file.",
        flag="-o --out",
        metavar="FILE",
        writes=True,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        given = (self.pair,) if isinstance(self.pair, str) else tuple(self.pair)
        names = tuple(name.strip() for text in given for name in str(text).split(","))
        object.__setattr__(self, "pair", names)
        if names and (len(names) != 2 or names[0] == names[1] or not all(names)):
            raise InputError(f"pair (--pair) must name two columns, A,B; got {','.join(names)!r}")
        if not self.name.strip():
            raise InputError("name (--as) must not be blank")


# The sentences of `ask`: verdict, warnings and what is shown before money is spent.


def asked_verdict(column: str, *, asked: int, answered: int, unread: int, failed: int) -> str:
    """Say what was added.

    >>> asked_verdict("gpt", asked=10, answered=9, unread=1, failed=1)
    'Column gpt has 8 answers to 10 questions; 1 could not be read and 1 failed.'
    """
    return (
        f"Column {column} has {count(answered - unread)} answers to {count(asked)} questions;"
        f" {count(unread)} could not be read and {count(failed)} failed."
    )


def before(*, questions: int, known: int, likely: float, most: float | None, currency: str) -> str:
    """Say what a run will cost, before it begins.

    >>> before(questions=100, known=20, likely=1.5, most=4.0, currency="USD")
    'About to ask 80 questions (20 are in the journal), for about 1.5 USD, at most 4 USD.'
    """
    text = f"About to ask {count(questions - known)} questions ({count(known)} are in the journal)"
    if likely:
        text += f", for about {number(likely)} {currency}".rstrip()
    if most:
        text += f", at most {number(most)} {currency}".rstrip()
    return f"{text}."


def left_warnings(*, failed: int, unasked: int, limit: float | None) -> tuple[str, ...]:
    """Warn of questions that failed, or that were not paid for."""
    found = []
    if failed:
        found.append(
            f"{count(failed)} questions failed and are blank: the same command with the same"
            " --journal asks only these again"
        )
    if unasked:
        found.append(
            f"max_cost = {number(limit or 0.0)} ended the run: {count(unasked)} questions were not"
            " asked and are blank"
        )
    return tuple(found)


READ_AGAIN = (
    "try another --answer or other --labels; answers that --journal FILE keeps are read again"
    " without a call"
)


# A table for the demonstration: what a judge wrote about answers, in its own words.


_SAYS = {
    "good": ("Answer: good", "It's good.", "**good**", "Verdict: good"),
    "bad": ("It's bad.", "**bad**", "bad", "Label: bad"),
    "": ("I can't.",),
}


def demo(rng: Rng) -> Demo:
    """Return 400 free-text replies of a judge; one in fifty is a refusal."""
    draw = as_rng(rng)
    kinds = draw.choice(["good", "bad", ""], 400, p=[0.68, 0.3, 0.02])
    replies = [str(draw.choice(_SAYS[str(kind)])) for kind in kinds]
    return Demo(
        story=(
            "A judge answered 400 times, in words. Which grade does each reply state, and which"
            " replies state none?"
        ),
        table={"item": np.arange(400), "reply": replies},
        options={
            "api": "replay:reply",
            "labels": ("good", "bad"),
        },
    )
