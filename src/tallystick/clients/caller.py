"""One paid question: paced, retried, accounted for, and stopped when asking on is pointless."""

from __future__ import annotations

import asyncio
import hashlib
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tallystick.clients.client import Client, ClientError, Fault, Reply
from tallystick.clients.journal import Journal, JournalEntry, key_of
from tallystick.clients.question import ClientQuestion
from tallystick.clients.reading import UNREAD
from tallystick.errors import BudgetError, InputError
from tallystick.results import Json, to_json
from tallystick.table import Data, whole

# Seconds that a server may ask to wait, and doublings of the pause before a retry.
PATIENCE, DOUBLINGS = 600.0, 6


class Caller:
    """Ask a client for items, through the journal.

    Parameters
    ----------
    client
        A client that is open.
    rows
        What the client gets of each item.
    question
        Limits.
    journal
        Where everything is written before it is used.
    names
        The name of each item, for the journal.
    read
        From the text of an answer (None: there was none) to its code.
    """

    def __init__(
        self,
        client: Client,
        rows: Sequence[Mapping[str, Any]],
        question: ClientQuestion,
        journal: Journal,
        *,
        names: Sequence[str],
        read: Callable[[str | None], int],
    ) -> None:
        self._client, self._rows, self._limits, self.journal = client, rows, question, journal
        self._names, self._read = names, read
        self._slots = asyncio.Semaphore(question.concurrency)
        self._until = 0.0  # nothing is sent before: a server asked everybody to wait
        self._failures = 0
        self._stopped: ClientError | None = None
        self._worked = bool(journal.answers)

    def sent(self, item: int) -> bytes:
        """Return what is asked about an item."""
        return to_json(self._client.question(self._rows[item])).encode()

    def _digest(self, item: int) -> str:
        return hashlib.sha256(self.sent(item)).hexdigest()[:16]

    def known(self, item: int, *, draw: int = 1) -> int | None:
        """Return the code of an answer that the journal has, read anew; None if it has none."""
        entry = self.journal.find(self._names[item], draw, self._digest(item))
        return None if entry is None or entry.code is None else self._read(entry.answer)

    async def ask(self, item: int, *, draw: int = 1) -> int | None:
        """Return the code of answer number *draw* to *item*; None if it failed for good.

        What the journal has is not asked again.
        """
        there = self.known(item, draw=draw)
        if there is not None:
            return there
        self._client.ready()
        name, digest = self._names[item], self._digest(item)
        key = key_of(name, draw)
        async with self._slots:
            # whoever waited for the slot of the one that ended the run
            if self._stopped is not None:
                raise self._stopped
            try:
                reply, facts = await self._tried(key, item)
            except Fault as fault:
                self._stopped = self._verdict(fault)
                if self._stopped is not None:
                    raise self._stopped from fault
                self.journal.note_answer(key, JournalEntry(name, None, str(fault), asked=digest))
                return None
        code = self._read(None if reply.cut else reply.text)
        self.journal.note_answer(
            key, JournalEntry(name, code, reply.text or "", asked=digest, facts=facts)
        )
        self._failures, self._worked = 0, True
        return code

    async def _tried(self, key: str, item: int) -> tuple[Reply, dict[str, Any]]:
        """Ask until it is answered or given up, waiting longer each time."""
        limits = self._limits
        attempt = 0
        while True:
            try:
                return await self._once(key, item)
            except Fault as fault:
                attempt += 1
                if not fault.retry or attempt >= limits.attempts:
                    raise
                # Where the server asks for a pause, everybody waits before the next request.
                if fault.wait is None:
                    pause = limits.wait * 2 ** min(attempt - 1, DOUBLINGS)
                    await asyncio.sleep(pause + random.random() * limits.wait)

    async def _once(self, key: str, item: int) -> tuple[Reply, dict[str, Any]]:
        loop = asyncio.get_running_loop()
        while (left := self._until - loop.time()) > 0:
            await asyncio.sleep(left)
        most = self._affordable(item)
        self.journal.note_sent(key, most)
        start = loop.time()
        try:
            async with asyncio.timeout(self._limits.timeout):
                reply = await self._client.ask(self._rows[item])
        except TimeoutError as error:
            late = f"no answer within {self._limits.timeout:g} s"
            raise Fault(late, retry=True, billed=True) from error
        except Fault as fault:
            if not fault.billed:
                self.journal.note_unbilled(key)
            if fault.retry and fault.wait is not None:
                if fault.wait > PATIENCE:
                    why = f"asks to wait {fault.wait:g} s, which is more than {PATIENCE:g} s"
                    raise Fault(f"{fault}, and {why}", retry=False, billed=fault.billed) from fault
                # The server speaks of its load, not of this item: everybody waits.
                self._until = max(self._until, loop.time() + fault.wait)
            raise
        return reply, {
            "cost": self._limits.prices.exact(reply, most=most) if most else None,
            "seconds": None if self._client.recorded else round(loop.time() - start, 4),
            "model": reply.model,
            "fingerprint": reply.fingerprint,
            "input_tokens": reply.input_tokens,
            "output_tokens": reply.output_tokens,
            "cut": reply.cut or None,
        }

    def _affordable(self, item: int) -> float:
        """Return what a request costs at most; refuse one that the limit cannot pay for."""
        prices, limit = self._limits.prices, self._limits.max_cost
        most = prices.most(len(self.sent(item)) if prices.input else 0)
        if limit is not None and self.journal.spent + most > limit * (1 + 1e-9):
            raise BudgetError(
                f"max_cost = {limit:g} is used up: {self.journal.billed} requests may have been"
                " billed"
            )
        return most

    def _verdict(self, fault: Fault) -> ClientError | None:
        """Count a failed item; return why to ask no more, if that is so."""
        reason = self.journal.redact(str(fault))
        self._failures += 1
        enough = self._limits.breaker if self._worked else min(self._limits.breaker, 2)
        if not fault.fatal and self._failures < enough:
            return None
        more = "" if self._worked else ": check --api"
        return ClientError(f"{reason}: stopped after {self._failures} failed items{more}")


# Ask every question once, through the journal, and read the answers.


@dataclass(frozen=True, kw_only=True)
class Progress:
    """Where a run stands: questions answered of those planned, and what they cost."""

    calls: int
    planned: int
    cost: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Questions:
    """What is asked, and how.

    Parameters
    ----------
    names, rows
        One name and one row per question.
    draws
        How often each is asked.
    labels
        The labels that an answer can be; None reads any text.
    question
        How answers are read and kept, and the limits.
    """

    names: Sequence[str]
    rows: Sequence[Mapping[str, Any]]
    draws: int
    labels: tuple[str, ...] | None
    question: ClientQuestion

    @classmethod
    def of(
        cls, data: Data, question: ClientQuestion, *, labels: Sequence[str], added: Sequence[str]
    ) -> Questions:
        """Ask about every row of *data* once; refuse names of columns that it has already."""
        columns, item = client_columns(data), data.roles.item
        for name in added:
            if name in columns:
                raise InputError(
                    f"{data.source} has a column {name!r} already: give the new one another name"
                    " (--as)"
                )
        cells = data.cells(*columns)
        names = [str(n if item is None else whole(cells[item][n])) for n in range(data.n_rows)]
        if len(set(names)) != len(names):
            names = [f"{name} (row {n})" for n, name in enumerate(names)]
        return cls(
            names=names,
            rows=[{name: cells[name][n] for name in columns} for n in range(data.n_rows)],
            draws=1,
            labels=tuple(labels) or None,
            question=question,
        )

    @property
    def questions(self) -> list[tuple[int, int]]:
        """Every (row, draw), the first draw of every row first."""
        return [(row, draw) for draw in range(1, self.draws + 1) for row in range(len(self.rows))]


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
    journal
        Money and requests, over all resumes.
    """

    labels: Mapping[tuple[int, int], str]
    unread: tuple[str, ...]
    failed: int
    reused: int
    journal: Journal


def client_columns(data: Data) -> tuple[str, ...]:
    """Return the columns that a client is given, and that a template may name."""
    return tuple(name for name in data.table.columns if name not in data.table.left_out)


Confirm = Callable[[int, Callable[[int], int]], None]


def gather(
    client: Client,
    plan: Questions,
    *,
    confirm: Confirm | None = None,
    progress: Callable[[Progress], None] | None = None,
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
    reading = plan.question.answer_reading
    head: dict[str, Json] = {"api": client.description, "reading": reading.how}
    journal = Journal(plan.question.journal, head=head, secrets=client.secrets)
    try:
        reused = asyncio.run(_gather(client, plan, journal, confirm, progress))
    finally:
        journal.close()
    labels, unread = {}, []
    for row, draw in plan.questions:
        entry = journal.answers.get(key_of(plan.names[row], draw))
        if entry is None or entry.code is None:
            continue
        label = reading.label(entry.answer, plan.labels)
        labels[row, draw] = label or UNREAD
        if label is None and not entry.cut:
            unread.append(entry.text)
    return Gathered(
        labels=labels,
        unread=tuple(unread),
        failed=sum(one.code is None for one in journal.answers.values()),
        reused=reused,
        journal=journal,
    )


async def _gather(
    client: Client,
    plan: Questions,
    journal: Journal,
    confirm: Confirm | None,
    progress: Callable[[Progress], None] | None,
) -> int:
    """Ask what is not known; return how much was."""
    reading = plan.question.answer_reading

    def read(text: str | None) -> int:
        return int(reading.label(text, plan.labels) is None)

    caller = Caller(client, plan.rows, plan.question, journal, names=plan.names, read=read)
    todo = [one for one in plan.questions if caller.known(one[0], draw=one[1]) is None]
    known = told = len(plan.questions) - len(todo)
    if confirm is not None:
        confirm(known, lambda row: len(caller.sent(row)))
    left = iter(todo)

    async def work() -> None:
        nonlocal told
        for row, draw in left:
            await caller.ask(row, draw=draw)
            told += 1
            if progress is not None:
                progress(Progress(calls=told, planned=known + len(todo), cost=journal.spent))

    async with client:
        workers = [asyncio.create_task(work()) for _ in range(plan.question.concurrency)]
        try:
            await asyncio.gather(*workers)
        except BudgetError:
            pass  # the money is used up: the other requests in flight are still awaited
        finally:
            left = iter(())
            await asyncio.gather(*workers, return_exceptions=True)
    return known
