"""What the service does by itself: rows with leases, and one loop that takes them.

A job is taken by one UPDATE that names its holder, until when, and a fencing number that grows.
Whoever stops longer than the lease loses it: `Held.check` then refuses its writes.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from starlette.responses import Response

from tallystick.serve.auth import Doorkeeper
from tallystick.serve.database import Reader, Store, Transaction
from tallystick.serve.routes import Incoming, plain_problem_page, route
from tallystick.serve.worker import Workers
from tallystick.serve.writer import Boundary, Together, Writer

if TYPE_CHECKING:
    from pathlib import Path

    from tallystick.serve.auth import HttpProblem

_LOG = logging.getLogger("tallystick.serve")


Work: TypeAlias = "Callable[[Service, Held], None]"


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


@dataclass
class Held:
    """A job that this process holds."""

    service: Service
    id: int
    kind: str
    fence: int
    lease: float

    def check(self, transaction: Transaction) -> None:
        """Refuse to write for a job that somebody else holds now; call it inside the operation."""
        found = transaction.one("select fence from job where id = ?", (self.id,))
        if found is None or found[0] != self.fence:
            raise LostLease(f"job {self.kind} is held by somebody else")

    def renew(self) -> None:
        """Hold the job for another lease."""

        def work(transaction: Transaction) -> None:
            self.check(transaction)
            until = self.service.clock() + self.lease
            transaction.run("update job set lease_until = ? where id = ?", (until, self.id))

        self.service.writer.do(work)


JOBS: list[Job] = []
"""All kinds of jobs; see `job`."""


def job(kind: str, **more: float) -> Callable[[Work], Work]:
    """Declare the function below as a kind of job."""

    def declared(work: Work) -> Work:
        JOBS.append(Job(kind, work, **more))
        return work

    return declared


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

            def work(transaction: Transaction, job: Job = job) -> None:
                transaction.run(
                    "insert into job (kind, name, args, due, fence, tries)"
                    " values (?, '', '{}', ?, 0, 0) on conflict (kind, name) do nothing",
                    (job.kind, now + job.every),
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
                f"select id, kind, fence from job where {free} and kind in ({marks})"
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
            fence=found[2] + 1,
            lease=self._kinds[found[1]].lease,
        )

    def _run(self, held: Held) -> None:
        """Run a job, then plan it again; a failure is kept and tried again later."""
        job = self._kinds[held.kind]
        failure: str | None = None
        with Boundary() as edge:
            job.work(self._service, held)
        if isinstance(edge.error, LostLease):
            return
        if edge.error is not None:
            _LOG.error("job %s failed", held.kind, exc_info=edge.error)
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
        row = transaction.one("select tries from job where id = ?", (held.id,))
        tries = 0 if row is None else row[0]
        if failure is not None:
            # 1 min, 2 min, … up to an hour: a broken job must not fill the log.
            wait = min(3600.0, 60.0 * 2 ** min(tries, 6))
            transaction.run(
                "update job set due = ?, tries = tries + 1, last_error = ?, lease_by = null,"
                " lease_until = null where id = ?",
                (now + wait, failure, held.id),
            )
        else:
            transaction.run(
                "update job set due = ?, tries = 0, last_error = null, last_done = ?,"
                " lease_by = null, lease_until = null where id = ?",
                (now + every, now, held.id),
            )


# Figures for Prometheus: how much came, how long it took, what was noticed.
#
# Names of streams and judges are labels; items and votes never are: their number grows, and they
# are nobody's business.


TYPE = "text/plain; version=0.0.4; charset=utf-8"

Sample = tuple[dict[str, str], float]

_COUNTED = (
    (
        *("tallystick_records_total", "counter", "Records that were accepted.", ("stream",)),
        "select s.name, coalesce(sum(b.n), 0) from stream s left join batch b on b.stream = s.id"
        " group by s.name order by s.name",
    ),
    (
        *("tallystick_rows", "gauge", "Rows that a stream has.", ("stream",)),
        "select name, rows from stream order by name",
    ),
    (
        *("tallystick_alarms_total", "counter", "Alarms.", ("stream", "name")),
        "select coalesce(s.name, ''), a.name, count(*) from alert a"
        " left join stream s on s.id = a.stream group by 1, 2 order by 1, 2",
    ),
    (
        *("tallystick_deliveries_waiting", "gauge", "Alarms that were not delivered yet.", ()),
        "select count(*) from delivery where next is not null",
    ),
)
"""Name, kind, help and labels of what the database counts; the last column is the number."""


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


def _block(name: str, kind: str, help_: str, samples: Iterable[Sample]) -> str:
    lines = [f"# HELP {name} {help_}", f"# TYPE {name} {kind}"]
    for labels, value in samples:
        inside = ",".join(f'{key}="{_escaped(held)}"' for key, held in labels.items())
        lines.append(f"{name}{{{inside}}} {value:.10g}" if inside else f"{name} {value:.10g}")
    return "\n".join(lines) + "\n"


def figures(reader: Reader) -> str:
    """Return what the database knows, in the text format of Prometheus."""
    blocks = [
        _block(
            *(name, kind, help_),
            [(dict(zip(labels, row, strict=False)), row[-1]) for row in reader.all(sql)],
        )
        for name, kind, help_, labels, sql in _COUNTED
    ]
    return "".join(blocks) + _block(
        "tallystick_judge_accuracy_ratio",
        "gauge",
        "Accuracy of each judge in the last closed window: the ends of its range.",
        _accuracies(reader),
    )


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
    held = service.writer.figures
    waiting = "tallystick_questions_waiting", "gauge", "Questions that wait for an answer."
    queued = "tallystick_queue_bytes", "gauge", "Bytes that wait for the writer."
    took = "tallystick_commit_seconds"
    steps = [(f"{top:g}", n) for top, n in sorted(held.buckets.items())]
    lines = [
        *(f"# HELP {took} How long commits take.", f"# TYPE {took} histogram"),
        *(f'{took}_bucket{{le="{top}"}} {n}' for top, n in [*steps, ("+Inf", held.commits)]),
        *(f"{took}_sum {held.seconds:.6f}", f"{took}_count {held.commits}"),
    ]
    blocks = _block(*waiting, [({}, len(service.worker.waiting()))])
    return blocks + _block(*queued, [({}, held.waiting_bytes)]) + "\n".join(lines) + "\n"


@route("GET", "/metrics", "read", answer="text/plain")
async def get_metrics(incoming: Incoming) -> Response:
    """Return figures for Prometheus."""
    text = await incoming.service.reading(figures)
    return Response(text + _of_the_process(incoming.service), media_type=TYPE)


# The service: what every route and every job may reach.


_T = TypeVar("_T")


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
        self._rollbacks: list[Callable[[], None]] = []
        self.writer = Writer(store, on_rollback=self.forget)
        self.jobs = JobLoop(self, jobs, pause=self.config.job_pause)
        self.problem_page: Callable[[HttpProblem], Response] = plain_problem_page
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

    async def commit(
        self,
        work: Callable[[Transaction], _T],
        *,
        size: int = 1024,
        together: Together | None = None,
    ) -> _T:
        """Write: *work* runs in the writer's transaction; the answer comes after the commit."""
        return await self.writer.commit(work, size=size, together=together)

    def on_rollback(self, forget: Callable[[], None]) -> None:
        """Call *forget* whenever something was undone: what it remembers may never have been."""
        self._rollbacks.append(forget)

    def on_close(self, close: Callable[[], None]) -> None:
        """Call *close* when the service ends."""
        self._closers.append(close)

    def forget(self) -> None:
        """Drop what is remembered of the database: something was undone or deleted."""
        for forget in self._rollbacks:
            forget()

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
        for close in self._closers:
            close()
        self.worker.close()
        self.writer.stop()
        self._waiters.shutdown(wait=True, cancel_futures=True)
        self._readers.shutdown(wait=True, cancel_futures=True)
        self.store.close()
