"""The sentences of `ask`: verdict, warnings and what is shown before money is spent."""

from __future__ import annotations

from collections.abc import Sequence

from tallystick.ask.result import Cost
from tallystick.results import count, number, percent

__all__ = ["UNREAD_SHARE", "asked_verdict", "before", "cost_notes", "read_warnings"]

UNREAD_SHARE = 0.02
"""From this share of unread answers on there is a warning."""


def asked_verdict(column: str, *, asked: int, answered: int, unread: int, failed: int) -> str:
    """Say what was added.

    >>> asked_verdict("gpt", asked=10, answered=9, unread=1, failed=1)
    'Column gpt has 8 answers to 10 questions; 1 could not be read and 1 failed.'
    """
    text = f"Column {column} has {count(answered - unread)} answers to {count(asked)} questions"
    if unread or failed:
        text += f"; {count(unread)} could not be read and {count(failed)} failed"
    return f"{text}."


def before(*, questions: int, known: int, likely: float, most: float | None, currency: str) -> str:
    """Say what a run will cost, before it begins.

    >>> before(questions=100, known=20, likely=1.5, most=4.0, currency="USD")
    'About to ask 80 questions (20 are in the journal), for about 1.5 USD, at most 4 USD.'
    """
    text = f"About to ask {count(questions - known)} questions"
    if known:
        text += f" ({count(known)} are in the journal)"
    if likely:
        text += f", for about {number(likely)} {currency}".rstrip()
    if most:
        text += f", at most {number(most)} {currency}".rstrip()
    return f"{text}."


def read_warnings(
    unread: Sequence[str],
    *,
    answered: int,
    failed: int,
    unasked: int,
    limit: float | None,
    labels: Sequence[str] = (),
    kept: bool = True,
) -> tuple[str, ...]:
    """Warn of answers that could not be read, that failed, or that were not paid for.

    Parameters
    ----------
    unread, answered, failed, unasked
        The texts that could not be read, and how many answers came, failed, and were left out.
    limit
        The most that may be spent.
    labels
        What was looked for; empty if any answer does.
    kept
        Whether a journal keeps the answers, so that reading them again costs nothing.
    """
    found = []
    if len(unread) > UNREAD_SHARE * max(answered, 1):
        shown = "; ".join(repr(text[:60]) for text in list(dict.fromkeys(unread))[:3])
        wanted = f" as one of {', '.join(labels)}" if labels else ""
        others = ", or name other --labels" if labels else ""
        again = (
            "the stored answers are read again without a call"
            if kept
            else "add --journal FILE, or every answer is paid for again"
        )
        found.append(
            f"{count(len(unread))} of {count(answered)} answers"
            f" ({percent(len(unread) / answered)}) could not be read{wanted}, e.g. {shown}: try"
            f" another --answer{others}; {again}"
        )
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


def cost_notes(cost: Cost, from_journal: int) -> tuple[str, ...]:
    """Say what was sent and paid."""
    money = f"; cost {number(cost.spent)} {cost.currency}".rstrip() if cost.spent else ""
    again = f"; {count(from_journal)} answers came from the journal" if from_journal else ""
    twice = (
        f"; {count(cost.paid_twice)} requests may have been paid twice" if cost.paid_twice else ""
    )
    return (
        f"{count(cost.sent)} requests sent, {count(cost.billed)} of which may have been"
        f" billed{money}{again}{twice}",
    )
