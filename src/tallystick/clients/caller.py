"""One paid question: paced, retried, accounted for, and stopped when asking on is pointless."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from tallystick.clients.client import (
    ChatOptions,
    Client,
    ClientError,
    ClientSpec,
    Fault,
    Reply,
    parse_headers,
)
from tallystick.clients.journal import Journal, JournalEntry, key_of
from tallystick.clients.providers import CallPrices, Usage, usage_of
from tallystick.clients.reading import READINGS, UNREAD, AnswerReading
from tallystick.errors import BudgetError, InputError
from tallystick.results import Json, to_json
from tallystick.table import Question, option

PATIENCE = 600.0
"""Seconds that a server may ask to wait."""


@dataclass(frozen=True, kw_only=True)
class Wire:
    """How the API may be treated.

    Parameters
    ----------
    concurrency
        Requests in flight at most.
    timeout
        Seconds that one request may take.
    attempts
        How often an item is tried.
    wait, longest_wait
        Seconds before the first retry (doubled and jittered each time), and at most; a Retry-After
        of the server counts instead, unless it asks for more than ten minutes: then the call has
        failed.
    rate
        Requests per second at most; None sets no limit.
    breaker
        The run ends after this many failed items in a row.
    price, price_input, price_output, currency
        What a request costs, and a million tokens of it and of its reply; in which currency.
    max_tokens
        The longest reply, in tokens.
    max_cost
        What may be spent: a hard limit on all requests that may be billed, retries included.
    """

    concurrency: int = 8
    timeout: float = 60.0
    attempts: int = 5
    wait: float = 0.5
    longest_wait: float = 30.0
    rate: float | None = None
    breaker: int = 10
    price: float = 0.0
    price_input: float = 0.0
    price_output: float = 0.0
    currency: str = ""
    max_tokens: int | None = None
    max_cost: float | None = None

    def __post_init__(self) -> None:
        for name in ("concurrency", "attempts", "breaker"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} must be at least 1, got {getattr(self, name)!r}")
        for name in ("timeout", "wait", "longest_wait", "rate", "max_cost"):
            value = getattr(self, name)
            if value is None:
                continue
            if (
                not isfinite(value)
                or value < 0
                or (value == 0 and name in ("timeout", "rate", "max_cost"))
            ):
                raise InputError(f"{name} must be a positive number, got {value!r}")
        prices = self.prices
        if self.max_cost is not None and not prices.known:
            raise InputError(
                "max_cost needs the price of a call (price=…) or of tokens (price_input=…,"
                " price_output=…): without it nothing can be counted"
            )
        if self.max_cost is not None and not prices.bounded:
            raise InputError(
                "max_cost is a hard limit, and a reply of unknown length has none: give the"
                " longest reply in tokens (--max-tokens)"
            )

    @property
    def prices(self) -> CallPrices:
        """The prices of a request."""
        return CallPrices(
            call=self.price,
            input=self.price_input,
            output=self.price_output,
            currency=self.currency,
            max_tokens=self.max_tokens,
        )


class Caller:
    """Ask a client for items, through the journal.

    Parameters
    ----------
    client
        A client that is open.
    rows
        What the client gets of each item.
    wire
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
        wire: Wire,
        journal: Journal,
        *,
        names: Sequence[str],
        read: Callable[[str | None], int],
    ) -> None:
        self._client, self._rows, self._wire, self.journal = client, rows, wire, journal
        self._names, self._read = names, read
        self._slots = asyncio.Semaphore(wire.concurrency)
        self._next = 0.0
        self._until = 0.0  # nothing is sent before: a server asked everybody to wait
        self._failures = 0
        self._stopped: ClientError | None = None
        self._worked = bool(journal.answers)
        import stamina

        quiet = logging.getLogger("stamina")
        # retries are counted in the result; who wants them in a log may still have them
        if not quiet.handlers:
            quiet.addHandler(logging.NullHandler())
        self._retrying = stamina.AsyncRetryingCaller(
            attempts=wire.attempts,
            timeout=None,
            wait_initial=wire.wait,
            wait_max=wire.longest_wait,
            wait_jitter=wire.wait,
        ).on(_backoff)

    @property
    def spent(self) -> float:
        """What all requests that may have been billed cost."""
        return self.journal.spent

    def digest(self, item: int) -> str:
        """Return a digest of what is asked about an item."""
        text = to_json(self._client.question(self._rows[item]))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def known(self, item: int, *, draw: int = 1) -> int | None:
        """Return the code of an answer that the journal has, read anew; None if it has none."""
        entry = self.journal.find(self._names[item], draw, self.digest(item))
        if entry is None or entry.code is None:
            return None
        if not entry.whole:
            return entry.code
        return self._read(None if entry.cut else entry.text or None)

    async def ask(self, item: int, *, draw: int = 1) -> int | None:
        """Return the code of answer number *draw* to *item*; None if it failed for good.

        What the journal has is not asked again.
        """
        there = self.known(item, draw=draw)
        if there is not None:
            return there
        name = self._names[item]
        key, digest = key_of(name, draw), self.digest(item)
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
                reason = self.journal.redact(str(fault))
                self.journal.note_answer(key, JournalEntry(name, None, reason, asked=digest))
                return None
        text = reply.text
        code = self._read(None if reply.cut else text)
        entry = JournalEntry(name, code, "" if text is None else text, asked=digest, facts=facts)
        self.journal.note_answer(key, entry)
        self._failures, self._worked = 0, True
        return code

    async def _tried(self, key: str, item: int) -> tuple[Reply, dict[str, Any]]:
        """Ask until it is answered or given up. The machinery of retries is costly: only a failure
        sets it going.
        """
        try:
            return await self._once(key, item)
        except Fault as fault:
            seen = [fault]

        async def again() -> tuple[Reply, dict[str, Any]]:
            if seen:  # the first try was made already
                raise seen.pop()
            return await self._once(key, item)

        return await self._retrying(again)

    async def _once(self, key: str, item: int) -> tuple[Reply, dict[str, Any]]:
        await self._pace()
        most = self._affordable(item)
        self.journal.note_sent(key, most)
        loop = asyncio.get_running_loop()
        start = loop.time()
        try:
            async with asyncio.timeout(self._wire.timeout):
                reply = await self._client.ask(self._rows[item])
        except TimeoutError as error:
            raise Fault(
                f"no answer within {self._wire.timeout:g} s", retry=True, billed=True
            ) from error
        except Fault as fault:
            if not fault.billed:
                self.journal.note_unbilled(key)
            if fault.retry and fault.wait is not None and fault.wait > PATIENCE:
                reason = (
                    f"{fault}, and asks to wait {fault.wait:g} s, which is more than {PATIENCE:g} s"
                )
                raise Fault(reason, retry=False, billed=fault.billed) from fault
            if fault.retry and fault.wait is not None:
                # The server speaks of its load, not of this item: everybody waits.
                self._until = max(self._until, loop.time() + fault.wait)
            raise
        facts = {
            "cost": self._wire.prices.exact(reply, most=most) if most else None,
            "seconds": None if self._client.recorded else round(loop.time() - start, 4),
            "model": reply.model,
            "fingerprint": reply.fingerprint,
            "input_tokens": reply.input_tokens,
            "output_tokens": reply.output_tokens,
            "cut": reply.cut or None,
        }
        return reply, {name: value for name, value in facts.items() if value is not None}

    def _affordable(self, item: int) -> float:
        """Return what a request costs at most; refuse one that the limit cannot pay for."""
        prices = self._wire.prices
        if not prices.known:
            return 0.0
        size = 0
        if prices.input:
            size = len(to_json(self._client.question(self._rows[item])).encode())
        most = prices.most(size)
        limit = self._wire.max_cost
        if limit is not None and self.spent + most > limit * (1 + 1e-9):
            raise BudgetError(
                f"max_cost = {limit:g} is used up: {self.journal.billed} requests may have been"
                " billed"
            )
        return most

    def _verdict(self, fault: Fault) -> ClientError | None:
        """Count a failed item; return why to ask no more, if that is so."""
        reason = self.journal.redact(str(fault))
        if fault.fatal:
            return ClientError(f"{reason}; stopped at once, nothing answered is lost")
        self._failures += 1
        if not self._worked and self._failures >= min(self._wire.breaker, 2):
            return ClientError(f"{reason}, and nothing was answered before: check the address")
        if self._failures >= self._wire.breaker:
            return ClientError(
                f"{self._failures} items failed in a row, the last because {reason}: stopped,"
                " nothing answered is lost"
            )
        return None

    async def _pace(self) -> None:
        loop = asyncio.get_running_loop()
        while (left := self._until - loop.time()) > 0:
            await asyncio.sleep(left)
        if self._wire.rate is None:
            return
        now = loop.time()
        self._next = max(now, self._next) + 1 / self._wire.rate
        await asyncio.sleep(self._next - 1 / self._wire.rate - now)


def _backoff(error: Exception) -> bool | float:
    """Tell stamina whether to retry, or how long the server wants us to wait."""
    if not isinstance(error, Fault) or not error.retry:
        return False
    return True if error.wait is None else error.wait


# Ask every question once, through the journal, and read the answers.


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
    reading: AnswerReading
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


# The options that every verb shares which calls an API: how to ask, how to read, what to spend.


_KEYED = "'Name: value' of an HTTP header, keys as $NAME; repeat."


@dataclass(frozen=True, kw_only=True)
class ClientQuestion(Question):
    """What is said about an API, whatever it is asked for.

    In Python *request* and *extra* may be JSON values and *header* a mapping; the command line
    gives all of them as text.
    """

    prompt: str | None = option(
        None,
        "Prompt, or a file that holds it. {column} is replaced by the value of that column; write"
        " {{ and }} for braces.",
    )
    system_prompt: str | None = option(None, "System prompt, or a file that holds it.")
    answer: str | None = option(None, f"How answers are read: {', '.join(READINGS)}.")
    temperature: float | None = option(
        None, "Temperature of the model. Not sent by default, because some models refuse it.", low=0
    )
    max_tokens: int | None = option(None, "Most tokens in a reply.", low=1)
    json_mode: bool = option(False, "Ask the chat model to reply in JSON.")
    extra: str | Mapping[str, Any] | None = option(
        None, "More fields for the request body: JSON, or a file that holds it."
    )
    request: str | Mapping[str, Any] | None = option(
        None, 'HTTP: request body as JSON, or a file that holds it: \'{"text": "{review}"}\'.'
    )
    label_path: str = option(
        "$.label", "HTTP: where the answer stands in the reply, as a JSONPath."
    )
    header: tuple[str, ...] | Mapping[str, str] = option((), _KEYED)
    key_name: str | None = option(None, "Environment variable that holds the API key.")
    concurrency: int = option(8, "Most requests at a time.", low=1)
    timeout: float = option(60.0, "Most seconds for one request.")
    attempts: int = option(5, "Most tries per item.", low=1)
    rate: float | None = option(None, "Most requests per second.")
    price: float = option(0.0, "Price of one request.")
    price_input: float = option(0.0, "Price of a million tokens sent.")
    price_output: float = option(0.0, "Price of a million tokens received.")
    currency: str = option("", "Currency of the prices, e.g. USD.")
    max_cost: float | None = option(
        None, "Most money to spend, retries included. This is a hard limit."
    )
    journal: Path | None = option(
        None,
        "File that keeps every answer, so that the same command resumes a run that was stopped.",
        metavar="FILE",
        writes=True,
    )
    durable: bool = option(
        False, "Write each answer through to the disk at once (slower, survives a power cut)."
    )
    yes: bool = option(False, "Do not ask for confirmation before spending.")
    progress: Callable[[], AbstractContextManager[Any]] | None = option(
        None, "Opens what is told how the run goes (`Progress`), for the run only.", hidden=True
    )
    confirm: Callable[[str], None] | None = option(
        None, "Is told what a run costs before it begins; raises to stop it.", hidden=True
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.journal, str):
            object.__setattr__(self, "journal", Path(self.journal))
        if self.answer is not None:
            AnswerReading(self.answer)

    def wire(self) -> Wire:
        """Return how the API may be treated."""
        return Wire(
            concurrency=self.concurrency,
            timeout=self.timeout,
            attempts=self.attempts,
            rate=self.rate,
            price=self.price,
            price_input=self.price_input,
            price_output=self.price_output,
            currency=self.currency,
            max_tokens=self.max_tokens,
            max_cost=self.max_cost,
        )

    def client_spec(self, columns: tuple[str, ...], labels: tuple[str, ...]) -> ClientSpec:
        """Return what a client is made from, besides its address."""
        header = self.header
        return ClientSpec(
            target="",
            columns=columns,
            labels=labels,
            prompt=self.prompt,
            request=self.request,
            label_path=self.label_path,
            headers=dict(header) if isinstance(header, Mapping) else parse_headers(header),
            key_name=self.key_name,
            timeout=self.timeout,
            chat=ChatOptions(
                system=self.system_prompt,
                temperature=self.temperature,
                max_tokens=self.max_tokens,
                json_mode=self.json_mode,
                extra=self.extra,
            ),
        )
