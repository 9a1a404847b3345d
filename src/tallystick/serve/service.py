"""The service: what every route and every job may reach."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from tallystick.serve.auth import Doorkeeper
from tallystick.serve.jobs import Job, JobLoop
from tallystick.serve.lanes import WorkerLanes
from tallystick.serve.routes import plain_problem_page
from tallystick.serve.store import Reader, Store, Transaction
from tallystick.serve.writer import Together, Writer

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.responses import Response

    from tallystick.serve.problem import HttpProblem

__all__ = ["Config", "Service"]

_T = TypeVar("_T")


@dataclass(frozen=True, kw_only=True)
class Config:
    """What the operator decides.

    Parameters
    ----------
    host, port
        Where the service listens.
    folder
        Where files lie: the database, spools, the operator's file of watches. None in tests.
    rate, burst
        Requests per second and key, and how many may come at once.
    allow_hosts
        Internal hosts that hooks and watches may call.
    request_seconds
        Seconds within which a request must arrive; a long body gets more.
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
        self.worker = WorkerLanes(store.address())
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
