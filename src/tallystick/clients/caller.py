"""One paid question: paced, retried, accounted for, and stopped when asking on is pointless."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from tallystick.clients.client import Client, ClientError, Fault
from tallystick.clients.journal import Entry, Journal
from tallystick.errors import BudgetError, InputError

__all__ = ["Caller", "Wire"]

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
    price, max_cost
        What a request costs, and what may be spent: a hard limit on all requests that may be
        billed.
    """

    concurrency: int = 8
    timeout: float = 60.0
    attempts: int = 5
    wait: float = 0.5
    longest_wait: float = 30.0
    rate: float | None = None
    breaker: int = 10
    price: float = 0.0
    max_cost: float | None = None

    def __post_init__(self) -> None:
        for name in ("concurrency", "attempts", "breaker"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} must be at least 1, got {getattr(self, name)!r}")
        for name in ("timeout", "wait", "longest_wait", "rate", "price", "max_cost"):
            value = getattr(self, name)
            if value is None:
                continue
            if (
                not isfinite(value)
                or value < 0
                or (value == 0 and name in ("timeout", "rate", "max_cost"))
            ):
                raise InputError(f"{name} must be a positive number, got {value!r}")
        if self.max_cost is not None and not self.price:
            raise InputError(
                "max_cost needs the price of a call (price=…): without it nothing can be counted"
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
        return self.journal.billed * self._wire.price

    async def ask(self, key: str, item: int) -> int | None:
        """Return the code of the answer to *item*; None if it failed for good."""
        async with self._slots:
            # whoever waited for the slot of the one that ended the run
            if self._stopped is not None:
                raise self._stopped
            try:
                text = await self._tried(key, item)
            except Fault as fault:
                self._stopped = self._verdict(fault)
                if self._stopped is not None:
                    raise self._stopped from fault
                reason = self.journal.redact(str(fault))
                self.journal.note_answer(key, Entry(self._names[item], None, reason))
                return None
        code = self._read(text)
        self.journal.note_answer(key, Entry(self._names[item], code, "" if text is None else text))
        self._failures, self._worked = 0, True
        return code

    async def _tried(self, key: str, item: int) -> str | None:
        """Ask until it is answered or given up. The machinery of retries is costly: only a failure
        sets it going.
        """
        try:
            return await self._once(key, item)
        except Fault as fault:
            seen = [fault]

        async def again() -> str | None:
            if seen:  # the first try was made already
                raise seen.pop()
            return await self._once(key, item)

        return await self._retrying(again)

    async def _once(self, key: str, item: int) -> str | None:
        await self._pace()
        limit = self._wire.max_cost
        if limit is not None and self.spent + self._wire.price > limit * (1 + 1e-9):
            raise BudgetError(
                f"max_cost = {limit:g} is used up: {self.journal.billed} requests may have been"
                " billed"
            )
        self.journal.note_sent(key)
        try:
            async with asyncio.timeout(self._wire.timeout):
                return await self._client.answer(self._rows[item])
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
            raise

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
        if self._wire.rate is None:
            return
        now = asyncio.get_running_loop().time()
        self._next = max(now, self._next) + 1 / self._wire.rate
        await asyncio.sleep(self._next - 1 / self._wire.rate - now)


def _backoff(error: Exception) -> bool | float:
    """Tell stamina whether to retry, or how long the server wants us to wait."""
    if not isinstance(error, Fault) or not error.retry:
        return False
    return True if error.wait is None else error.wait
