"""What `ask` did: which column it made, what was answered, and what it cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from tallystick.clients import Usage
from tallystick.results import Result

__all__ = ["AskResult", "Cost"]

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
        Requests sent at most, and those that may have been billed. A request is counted before it
        leaves, so that a kill may stop one that is counted; none that left is missing.
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
