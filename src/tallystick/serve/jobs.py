"""What the service does by itself: rows with leases, and one loop that takes them.

A job is taken by one UPDATE that names its holder, until when, and a fencing number that grows.
Whoever stops longer than the lease loses it: `Held.check` then refuses its writes.
"""

from __future__ import annotations

import json
import logging
import secrets
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tallystick.serve.boundary import Boundary
from tallystick.serve.store import Transaction

if TYPE_CHECKING:
    from tallystick.serve.service import Service

__all__ = ["Held", "Job", "JobLoop", "LostLease", "schedule"]

_LOG = logging.getLogger("tallystick.serve")


class LostLease(Exception):
    """The lease of a job ended while it ran: somebody else has it now."""


@dataclass(frozen=True)
class Job:
    """A kind of work.

    Parameters
    ----------
    kind
        Its name in the table of jobs.
    work
        What it does. It runs in a thread of its own, and writes through `Service.writer`.
    every
        Seconds between runs of a job that the service itself needs; None for jobs that are
        scheduled one by one with `schedule`.
    lease
        Seconds for which it is held; `Held.renew` extends it.
    """

    kind: str
    work: Callable[[Service, Held], None]
    every: float | None = None
    lease: float = 60.0


@dataclass
class Held:
    """A job that this process holds."""

    service: Service
    id: int
    kind: str
    name: str
    args: dict[str, Any]
    fence: int
    lease: float

    def check(self, transaction: Transaction) -> None:
        """Refuse to write for a job that somebody else holds now; call it inside the operation."""
        found = transaction.one("select fence from job where id = ?", (self.id,))
        if found is None or found[0] != self.fence:
            raise LostLease(f"job {self.kind} {self.name!r} is held by somebody else")

    def renew(self) -> None:
        """Hold the job for another lease."""

        def work(transaction: Transaction) -> None:
            self.check(transaction)
            until = self.service.clock() + self.lease
            transaction.run("update job set lease_until = ? where id = ?", (until, self.id))

        self.service.writer.do(work)


def schedule(
    transaction: Transaction,
    kind: str,
    *,
    name: str = "",
    due: float,
    args: dict[str, Any] | None = None,
) -> None:
    """Plan a job: one per kind and name; planning it again moves it."""
    transaction.run(
        "insert into job (kind, name, args, due, fence, tries) values (?, ?, ?, ?, 0, 0)"
        " on conflict (kind, name) do update set due = excluded.due, args = excluded.args",
        (kind, name, json.dumps(args or {}), due),
    )


class JobLoop:
    """Takes jobs when they are due and runs each in a thread."""

    def __init__(self, service: Service, kinds: Sequence[Job], *, pause: float = 1.0) -> None:
        self._service = service
        self._kinds = {one.kind: one for one in kinds}
        self._pause = pause
        self._me = secrets.token_hex(8)
        self._stop = threading.Event()
        self._running: dict[int, threading.Thread] = {}
        self._thread: threading.Thread | None = None

    def plan(self) -> None:
        """Plan what the service itself needs, where it is not planned yet."""
        now = self._service.clock()
        for job in self._kinds.values():
            if job.every is None:
                continue

            def work(transaction: Transaction, job: Job = job) -> None:
                transaction.run(
                    "insert into job (kind, name, args, due, fence, tries)"
                    " values (?, '', '{}', ?, 0, 0) on conflict (kind, name) do nothing",
                    (job.kind, now + (job.every or 0.0)),
                )

            self._service.writer.do(work)

    def start(self) -> None:
        """Plan what the service itself needs, and begin."""
        self.plan()
        self._thread = threading.Thread(target=self._loop, name="tallystick-jobs", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Take no more jobs, and wait a little for those that run."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=10)
        for thread in list(self._running.values()):
            thread.join(timeout=5)

    @property
    def stopping(self) -> bool:
        """Whether the service is about to end: a long job should return soon."""
        return self._stop.is_set()

    def run_due(self) -> int:
        """Run everything that is due now, in this thread; return how many jobs that were."""
        n = 0
        while (held := self._take()) is not None:
            self._run(held)
            n += 1
        return n

    def _loop(self) -> None:
        while not self._stop.wait(self._pause):
            with Boundary() as edge:
                while not self._stop.is_set() and (held := self._take()) is not None:
                    thread = threading.Thread(target=self._run, args=(held,), daemon=True)
                    self._running[held.id] = thread
                    thread.start()
            if edge.error is not None:  # the loop must outlive a full disk
                _LOG.warning("no job could be taken: %s", edge.error)

    def _take(self) -> Held | None:
        """Take one job that is due and that nobody holds."""
        now = self._service.clock()
        kinds = list(self._kinds)
        marks = ", ".join("?" * len(kinds))
        free = "due <= ? and (lease_until is null or lease_until < ?)"
        with self._service.store.read() as reader:
            waiting = reader.one(
                f"select id from job where {free} and kind in ({marks}) limit 1", (now, now, *kinds)
            )
        if waiting is None:  # no write, and so no fsync, while nothing is due
            return None

        def work(transaction: Transaction) -> tuple[Any, ...] | None:
            found = transaction.one(
                f"select id, kind, name, args, fence from job where {free} and kind in ({marks})"
                f" order by due limit 1{transaction.skip_locked}",
                (now, now, *kinds),
            )
            if found is None:
                return None
            lease = self._kinds[found[1]].lease
            transaction.run(
                "update job set lease_by = ?, lease_until = ?, fence = fence + 1 where id = ?",
                (self._me, now + lease, found[0]),
            )
            return found

        found = self._service.writer.do(work)
        if found is None:
            return None
        return Held(
            service=self._service,
            id=found[0],
            kind=found[1],
            name=found[2],
            args=json.loads(found[3]),
            fence=found[4] + 1,
            lease=self._kinds[found[1]].lease,
        )

    def _run(self, held: Held) -> None:
        """Run a job, then plan it again or drop it; a failure is kept and tried again later."""
        job = self._kinds[held.kind]
        failure: str | None = None
        with Boundary() as edge:
            job.work(self._service, held)
        if isinstance(edge.error, LostLease):
            return
        if edge.error is not None:
            _LOG.error("job %s %r failed", held.kind, held.name, exc_info=edge.error)
            failure = f"{type(edge.error).__name__}: {edge.error}"
        try:
            self._service.writer.do(lambda transaction: self._finish(transaction, held, failure))
        except LostLease:
            pass
        finally:
            self._running.pop(held.id, None)

    def _finish(self, transaction: Transaction, held: Held, failure: str | None) -> None:
        held.check(transaction)
        now = self._service.clock()
        every = self._kinds[held.kind].every
        row = transaction.one("select due, tries from job where id = ?", (held.id,))
        if row is None:
            return
        due, tries = row
        if failure is not None:
            # 1 min, 2 min, … up to an hour: a broken job must not fill the log.
            wait = min(3600.0, 60.0 * 2 ** min(tries, 6))
            transaction.run(
                "update job set due = ?, tries = tries + 1, last_error = ?, lease_by = null,"
                " lease_until = null where id = ?",
                (now + wait, failure, held.id),
            )
        elif every is None and due <= now:
            transaction.run("delete from job where id = ?", (held.id,))
        else:  # a job of the service, or one that planned itself again while it ran
            transaction.run(
                "update job set due = ?, tries = 0, last_error = null, last_done = ?,"
                " lease_by = null, lease_until = null where id = ?",
                (now + every if every is not None else due, now, held.id),
            )
