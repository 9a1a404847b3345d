"""Ask every question once, through the journal, and read the answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tallystick.clients.caller import Caller, Wire
from tallystick.clients.client import Client
from tallystick.clients.journal import Journal, key_of
from tallystick.clients.reading import UNREAD, Reading
from tallystick.clients.usage import Usage, usage_of
from tallystick.errors import BudgetError
from tallystick.results import Json, to_json

__all__ = ["AskProgress", "Gathered", "Questions", "gather"]


@dataclass(frozen=True, kw_only=True)
class AskProgress:
    """Where a run stands."""

    calls: int
    planned: int
    cost: float
    error: float | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class Questions:
    """What is asked, and how.

    Parameters
    ----------
    names, rows
        One name and one row per question.
    draws
        How often each is asked.
    reading, labels
        How answers are read, and which labels there are; None reads any text.
    wire, journal, durable
        As for any run.
    """

    names: Sequence[str]
    rows: Sequence[Mapping[str, Any]]
    draws: int
    reading: Reading
    labels: tuple[str, ...] | None
    wire: Wire
    journal: Path | None = None
    durable: bool = False

    @property
    def questions(self) -> Iterator[tuple[int, int]]:
        """Yield (row, draw), the first draw of every row first."""
        for draw in range(1, self.draws + 1):
            for row in range(len(self.rows)):
                yield row, draw

    @property
    def n_questions(self) -> int:
        """How many questions there are."""
        return self.draws * len(self.rows)


@dataclass(frozen=True, eq=False, kw_only=True)
class Gathered:
    """What came back.

    Parameters
    ----------
    labels
        The label read from each answer, by (row, draw), or `UNREAD`; one that was cut off is always
        unread. A question that failed or was not asked is absent.
    unread
        The answers from which no label was read, as they came, apart from those cut off.
    failed
        Questions that got no answer after all retries.
    reused
        Answers that were in the journal.
    spent, sent, billed, paid_twice, lost
        Money and requests, over all resumes.
    usage
        Tokens, latency and models.
    notes
        What was wrong with the journal.
    """

    labels: Mapping[tuple[int, int], str]
    unread: tuple[str, ...]
    failed: int
    reused: int
    spent: float
    sent: int
    billed: int
    paid_twice: int
    lost: int
    usage: Usage
    notes: tuple[str, ...] = ()


def gather(
    client: Client,
    plan: Questions,
    *,
    confirm: Callable[[int, Callable[[int], int]], None] | None = None,
    progress: Callable[[AskProgress], None] | None = None,
) -> Gathered:
    """Ask all questions of *plan* that the journal has no answer to.

    Parameters
    ----------
    client, plan
        Whom, and what.
    confirm
        Is told how many questions are known already, and given what returns the size of the request
        about a row in bytes, before anything is sent; raises to stop.
    progress
        Called after answers.
    """
    return asyncio.run(_gather(client, plan, confirm, progress))


async def _gather(
    client: Client,
    plan: Questions,
    confirm: Callable[[int, Callable[[int], int]], None] | None,
    progress: Callable[[AskProgress], None] | None,
) -> Gathered:
    described = client.description
    head: dict[str, Json] = {
        "client": to_json(described),
        "api": described,
        "reading": plan.reading.how,
    }
    journal = Journal(
        plan.journal,
        head=head,
        durable=plan.durable,
        secrets=client.secrets,
        price=plan.wire.price,
    )

    def read(text: str | None) -> int:
        return int(plan.reading.label(text, plan.labels) is None)

    caller = Caller(client, plan.rows, plan.wire, journal, names=plan.names, read=read)
    try:
        known = {one for one in plan.questions if caller.known(one[0], draw=one[1]) is not None}
        if confirm is not None:
            confirm(len(known), lambda row: len(to_json(client.question(plan.rows[row])).encode()))
        todo = iter([one for one in plan.questions if one not in known])
        told = len(known)

        async def work() -> None:
            nonlocal told
            for row, draw in todo:
                await caller.ask(row, draw=draw)
                told += 1
                if progress is not None:
                    progress(AskProgress(calls=told, planned=plan.n_questions, cost=caller.spent))

        async with client:
            workers = [asyncio.create_task(work()) for _ in range(plan.wire.concurrency)]
            try:
                await asyncio.gather(*workers)
            except BudgetError:
                pass  # the money is used up: the other requests in flight are still awaited
            finally:
                todo = iter(())
                await asyncio.gather(*workers, return_exceptions=True)
    finally:
        journal.close()
    answers = journal.answers
    came = {
        one: answers[key]
        for one in plan.questions
        if (key := key_of(plan.names[one[0]], one[1])) in answers and answers[key].code is not None
    }
    labels = {
        one: plan.reading.label(None if entry.cut else entry.text or None, plan.labels) or UNREAD
        for one, entry in came.items()
    }
    return Gathered(
        labels=labels,
        unread=tuple(
            entry.text for one, entry in came.items() if labels[one] == UNREAD and not entry.cut
        ),
        failed=sum(one.code is None for one in answers.values()),
        reused=len(known),
        spent=journal.spent,
        sent=journal.sent.total(),
        billed=journal.billed,
        paid_twice=journal.paid_twice,
        lost=journal.in_flight,
        usage=usage_of(journal),
        notes=journal.notes,
    )
