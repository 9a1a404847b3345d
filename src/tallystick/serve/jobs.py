"""What the service does by itself: rows with leases, and one loop that takes them.

A job is taken by one UPDATE that names its holder, until when, and a fencing
number that grows. Whoever stops longer than the lease loses it: `Held.check`
then refuses its writes.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from starlette.responses import Response

from tallystick.serve.auth import Doorkeeper
from tallystick.serve.database import Reader, Store, Transaction
from tallystick.serve.routes import Incoming, route
from tallystick.serve.worker import Workers
from tallystick.serve.writer import Boundary, Writer

if TYPE_CHECKING:
    from pathlib import Path


_LOG = logging.getLogger("tallystick.serve")
_T = TypeVar("_T")

Work: TypeAlias = Callable[["Service", "Held"], None]


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
        Seconds between runs.
    lease
        Seconds for which it is held; `Held.renew` extends it.
    """

    kind: str
    work: Work
    every: float
    lease: float = 60.0


@dataclass(frozen=True)
class Held:
    """A job that this process holds."""

    service: Service
    job: Job
    fence: int

    def check(self, transaction: Transaction) -> None:
        """Refuse to write for a job that somebody else holds now; call it inside the operation."""
        kind = self.job.kind
        fence = transaction.value("select fence from job where kind = ? and name = ''", (kind,))
        if fence != self.fence:
            raise LostLease(f"job {kind} is held by somebody else")

    def write(self, work: Callable[[Transaction], _T]) -> _T:
        """Write for the job, unless somebody else holds it now."""

        @wraps(work)
        def checked(transaction: Transaction) -> _T:
            self.check(transaction)
            return work(transaction)

        return self.service.writer.do(checked)

    def renew(self) -> None:
        """Hold the job for another lease."""
        self._set("lease_until = ?", self.service.clock() + self.job.lease)

    def finish(self, failure: str | None) -> None:
        """Let go of the job, and plan its next run; a failure is kept and tried again later."""
        now, free = self.service.clock(), "lease_by = null, lease_until = null"
        if failure is None:
            done = f"due = ?, tries = 0, last_error = null, last_done = ?, {free}"
            self._set(done, now + self.job.every, now)
        else:
            again = f"due = ?, tries = tries + 1, last_error = ?, {free}"
            self._set(again, now + max(_AGAIN, self.job.every), failure)

    def _set(self, columns: str, *values: Any) -> None:
        sql = f"update job set {columns} where kind = ? and name = ''"
        self.write(lambda transaction: transaction.run(sql, (*values, self.job.kind)))


JOBS: list[Job] = []
"""All kinds of jobs; see `job`."""

_AGAIN = 60.0
"""Seconds after which a job that failed is tried again: a broken one must not fill the log."""


def job(kind: str, **more: float) -> Callable[[Work], Work]:
    """Declare the function below as a kind of job."""

    def declared(work: Work) -> Work:
        JOBS.append(Job(kind, work, **more))
        return work

    return declared


class JobLoop:
    """Takes jobs when they are due, each kind in a thread of its own."""

    def __init__(self, service: Service, kinds: Sequence[Job], *, pause: float = 1.0) -> None:
        self._service = service
        self._kinds = tuple(kinds)
        self._pause = pause
        self._me = secrets.token_hex(8)
        self.stopping = threading.Event()
        """Set when the service is about to end: a long job should return soon."""
        self._threads = [
            threading.Thread(target=self._loop, args=(one,), daemon=True) for one in self._kinds
        ]

    def plan(self) -> None:
        """Plan what the service itself needs, where it is not planned yet."""
        now = self._service.clock()
        self._service.writer.do(
            lambda transaction: transaction.many(
                "insert into job (kind, name, args, due, fence, tries)"
                " values (?, '', '{}', ?, 0, 0) on conflict (kind, name) do nothing",
                [(one.kind, now + one.every) for one in self._kinds],
            )
        )

    def start(self) -> None:
        """Plan what the service itself needs, and begin."""
        self.plan()
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Take no more jobs, and wait a little for those that run."""
        self.stopping.set()
        for thread in self._threads:
            if thread.is_alive():
                thread.join(timeout=10)

    def run_due(self) -> int:
        """Run everything that is due now, in this thread; return how many jobs that were."""
        return sum(self._once(one) for one in self._kinds)

    def _loop(self, job: Job) -> None:
        while not self.stopping.wait(min(job.every, 5.0 * self._pause)):
            with Boundary() as edge:
                self._once(job)
            if edge.error is not None:  # the loop must outlive a full disk
                _LOG.warning("job %s could not be taken: %s", job.kind, edge.error)

    def _once(self, job: Job) -> bool:
        """Run a job if it is due and nobody holds it; return whether it was."""
        held = self.take(job)
        if held is None:
            return False
        with Boundary() as edge:
            job.work(self._service, held)
        failure = None
        if edge.error is not None and not isinstance(edge.error, LostLease):
            _LOG.error("job %s failed", job.kind, exc_info=edge.error)
            failure = f"{type(edge.error).__name__}: {edge.error}"
        with contextlib.suppress(LostLease):
            held.finish(failure)
        return True

    def take(self, job: Job) -> Held | None:
        """Take a job if it is due and nobody holds it."""
        now = self._service.clock()
        due = "kind = ? and name = '' and due <= ? and (lease_until is null or lease_until < ?)"
        when = (job.kind, now, now)
        # No write, and so no fsync, while it is not due.
        if not self._service.read(
            lambda reader: reader.all(f"select 1 from job where {due}", when)
        ):
            return None

        def work(transaction: Transaction) -> Held | None:
            taken = transaction.run(
                f"update job set lease_by = ?, lease_until = ?, fence = fence + 1 where {due}",
                (self._me, now + job.lease, *when),
            )
            sql = "select fence from job where kind = ? and name = ''"
            [(fence,)] = transaction.all(sql, (job.kind,))
            return Held(self._service, job, fence) if taken else None

        return self._service.writer.do(work)


# Figures for Prometheus: how much came, how long it took, what was noticed.
#
# Names of streams and judges are labels; items and votes never are: their
# number grows, and they are nobody's business.


TYPE = "text/plain; version=0.0.4; charset=utf-8"

Sample = tuple[dict[str, str], float]

_COUNTED = {
    ("records_total", "counter", ("stream",)): (
        "select s.name, coalesce(sum(b.n), 0) from stream s left join batch b on b.stream = s.id"
        " group by s.name order by s.name"
    ),
    ("rows", "gauge", ("stream",)): "select name, rows from stream order by name",
    ("alarms_total", "counter", ("stream", "name")): (
        "select coalesce(s.name, ''), a.name, count(*) from alert a"
        " left join stream s on s.id = a.stream group by 1, 2 order by 1, 2"
    ),
    ("deliveries_waiting", "gauge", ()): "select count(*) from delivery where next is not null",
}
"""Name, kind and labels of what the database counts; the last column is the number."""


def _block(name: str, kind: str, samples: Iterable[Sample]) -> str:
    lines = [f"# TYPE tallystick_{name} {kind}"]
    for labels, value in samples:
        # Prometheus escapes as JSON does: the backslash, the quote and the end of a line.
        inside = ",".join(
            f"{key}={json.dumps(held, ensure_ascii=False)}" for key, held in labels.items()
        )
        braces = f"{{{inside}}}" if inside else ""
        lines.append(f"tallystick_{name}{braces} {value:.10g}")
    return "\n".join(lines) + "\n"


def figures(reader: Reader) -> str:
    """Return what the database knows, in the text format of Prometheus."""
    blocks = [_block("judge_accuracy_ratio", "gauge", _accuracies(reader))]
    for (name, kind, labels), sql in _COUNTED.items():
        rows = reader.all(sql)
        samples = [(dict(zip(labels, row, strict=False)), row[-1]) for row in rows]
        blocks.append(_block(name, kind, samples))
    return "".join(blocks)


def _accuracies(reader: Reader) -> Iterator[Sample]:
    found = reader.all(
        "select s.name, w.result from windows w join stream s on s.id = w.stream"
        " where w.result is not null and w.idx = (select max(v.idx) from windows v"
        " where v.stream = w.stream and v.result is not null) order by s.name"
    )
    for stream, text in found:
        for judge in json.loads(text).get("judges") or ():
            ends = judge.get("interval") or judge.get("range") or (None, None)
            for end, value in zip(("low", "high"), ends, strict=True):
                if None not in ends:
                    yield {"stream": stream, "judge": str(judge["name"]), "end": end}, value


def _of_the_process(service: Service) -> str:
    held, took = service.writer.figures, "tallystick_commit_seconds"
    below = [*held.below.items(), ("+Inf", held.commits)]
    return "".join(
        (
            _block("questions_waiting", "gauge", [({}, len(service.worker.waiting()))]),
            _block("queue_bytes", "gauge", [({}, held.waiting_bytes)]),
            _block("commit_seconds", "histogram", ()),
            *(f'{took}_bucket{{le="{top}"}} {n}\n' for top, n in below),
            f"{took}_sum {held.seconds:.6f}\n{took}_count {held.commits}\n",
        )
    )


@route("GET", "/metrics", "read", answer="text/plain")
async def get_metrics(incoming: Incoming) -> Response:
    """Return figures for Prometheus."""
    text = await incoming.service.reading(figures)
    return Response(text + _of_the_process(incoming.service), media_type=TYPE)


# The service: what every route and every job may reach.


@dataclass(frozen=True, kw_only=True)
class Config:
    """What the operator decides.

    Parameters
    ----------
    host, port
        Where the service listens.
    folder
        Where files lie: the database and its copies. None in tests.
    rate, burst
        Requests per second and key, and how many may come at once.
    allow_hosts
        Internal hosts that the webhook may call.
    request_seconds
        Seconds within which a request must arrive (a long body gets more), and for which an answer
        may wait to be read.
    job_pause
        Seconds between looks at the table of jobs; 0 for no loop, as in tests.
    """

    host: str = "127.0.0.1"
    port: int = 8765
    folder: Path | None = None
    rate: float = 5_000.0
    burst: float = 20_000.0
    allow_hosts: tuple[str, ...] = ()
    request_seconds: float = 20.0
    job_pause: float = 1.0


class Service:
    """Store, writer, jobs, clock, and who may come in.

    Parameters
    ----------
    store
        An open store; the service closes it.
    config
        What the operator decides.
    jobs
        Kinds of jobs.
    clock
        Seconds since 1970; tests give their own.
    """

    def __init__(
        self,
        store: Store,
        *,
        config: Config | None = None,
        jobs: tuple[Job, ...] = (),
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.store = store
        self.config = config or Config()
        self.clock = clock
        self.door = Doorkeeper(self)
        self.memory: dict[str, Any] = {}
        """What a file keeps between requests (counters, caches), by the name of the file."""
        self._remembered: dict[str, dict[Any, Any]] = {}
        self.writer = Writer(store, on_rollback=self.forget)
        self.jobs = JobLoop(self, jobs, pause=self.config.job_pause)
        self._readers = ThreadPoolExecutor(max_workers=8, thread_name_prefix="tallystick-read")
        self._waiters = ThreadPoolExecutor(max_workers=16, thread_name_prefix="tallystick-wait")
        self.worker = Workers(store.address())
        self._closers: list[Callable[[], None]] = []
        self._closed = False

    async def reading(self, work: Callable[[Reader], _T]) -> _T:
        """Run a short read in a thread, on a connection of its own."""
        return await asyncio.get_running_loop().run_in_executor(self._readers, self.read, work)

    def read(self, work: Callable[[Reader], _T]) -> _T:
        """Run a short read here: for jobs and tests."""
        with self.store.read() as reader:
            return work(reader)

    async def thread(self, work: Callable[[], _T]) -> _T:
        """Run what takes some milliseconds in a thread."""
        return await asyncio.get_running_loop().run_in_executor(self._readers, work)

    async def waiting(self, work: Callable[[], _T]) -> _T:
        """Run what waits for the worker or for another host, in a thread of its own kind."""
        # Ten slow questions must not hold up a read that takes a millisecond.
        return await asyncio.get_running_loop().run_in_executor(self._waiters, work)

    async def commit(self, work: Callable[[Transaction], _T], *, size: int = 1024) -> _T:
        """Write: *work* runs in the writer's transaction; the answer comes after the commit."""
        return await self.writer.commit(work, size=size)

    def remembered(self, what: str) -> dict[Any, Any]:
        """Return what is remembered of the database: whenever something is undone, it is empty."""
        return self._remembered.setdefault(what, {})

    def on_close(self, close: Callable[[], None]) -> None:
        """Call *close* when the service has ended."""
        self._closers.append(close)

    def forget(self) -> None:
        """Drop what is remembered of the database: something was undone or deleted."""
        for known in self._remembered.values():
            known.clear()

    def start(self) -> None:
        """Begin the jobs."""
        if self.config.job_pause:
            self.jobs.start()

    def close(self) -> None:
        """Write what waits, stop everything, close the store. Closing twice does nothing."""
        if self._closed:
            return
        self._closed = True
        self.jobs.stop()
        with Boundary() as edge:  # a store that is away must not stop the end
            self.door.write_used()
        if edge.error is not None:
            _LOG.warning("when keys were last used was not kept: %s", edge.error)
        self.worker.close()
        self.writer.stop()
        self._waiters.shutdown(wait=True, cancel_futures=True)
        self._readers.shutdown(wait=True, cancel_futures=True)
        self.store.close()
        for close in self._closers:
            close()
