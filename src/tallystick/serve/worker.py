"""Processes that compute, so that the server stays quick.

Each is started at its first question, and again if it dies or gives no answer
in time. There are two: whatever took long is asked of the second one until it
is quick again.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from dataclasses import dataclass
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tallystick.serve.auth import Fix, HttpProblem
from tallystick.serve.writer import Boundary, problem_of

if TYPE_CHECKING:
    from multiprocessing.context import SpawnProcess

    from tallystick.serve.database import Store

_LONG = 2.0
"""Seconds of processor time after which a question counts as hard."""

_MOST_HELD = 350 * 1024 * 1024
"""Bytes that a worker may go on holding after an answer; one that holds more is replaced."""

_SMALLER = "Ask about fewer rows (window=last:5000), or ask the command line about the rows"


@dataclass(frozen=True, kw_only=True)
class WorkerAnswer:
    """What a worker says: a value, or why there is none, and the processor time that it took.

    A process that holds more memory than it should keep is *leaving*: it ends after this answer.
    """

    value: Any = None
    status: int = 200
    detail: str = ""
    seconds: float = 0.0
    leaving: bool = False


class TookTooLong(HttpProblem):
    """No answer came in time, and the process was ended."""


class Workers:
    """A worker for quick questions and one for hard ones, seen as one.

    Parameters
    ----------
    address
        Of the store, for `open_store`.
    patience
        Seconds without an answer after which a process is ended and started again.
    """

    def __init__(self, address: str, *, patience: float = 30.0) -> None:
        self._patience = patience
        self._lanes = Worker(address), Worker(address)
        self._hard: set[str] = set()

    @property
    def pid(self) -> int | None:
        """The process id of the quick one, of the other where only that runs, or None."""
        return self._lanes[0].pid or self._lanes[1].pid

    def ask(self, work: str, stream: str, *given: Any, patience: float | None = None) -> Any:
        """Ask and wait: run it in a thread. A worker that dies or hangs is answered 503.

        Parameters
        ----------
        work
            ``MODULE:FUNCTION`` of this room: a function of the store, *stream* and *given*.
        stream
            The name of the stream that it is about.
        given
            What else it takes.
        patience
            Seconds to wait, for work that may take longer than a question.
        """
        asked = named(work, stream, given)
        lane = self._lanes[asked in self._hard]
        try:
            answer = lane.ask(asked, (work, stream, *given), patience=patience or self._patience)
        except TookTooLong:
            self._hard.add(asked)
            raise
        (self._hard.add if answer.seconds > _LONG else self._hard.discard)(asked)
        return answer.value

    def waiting(self) -> list[tuple[str, float]]:
        """Return what is asked now, and since how many seconds, the longest first."""
        now = time.monotonic()
        asked = [one for lane in self._lanes for one in list(lane.asked.values())]
        return [(name, now - since) for name, since in sorted(asked, key=lambda one: one[1])]

    def close(self) -> None:
        """End both processes."""
        for lane in self._lanes:
            lane.close()


class Worker:
    """One process, seen from the server."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._lock = threading.Lock()
        self._process: SpawnProcess | None = None
        self._pipe: Connection | None = None
        self.asked: dict[int, tuple[str, float]] = {}
        """Who waits for what, and since when: the first of them is being answered."""

    @property
    def pid(self) -> int | None:
        """The process id, None before the first question."""
        return self._process.pid if self._process is not None else None

    def ask(self, name: str, order: tuple[Any, ...], *, patience: float) -> WorkerAnswer:
        """Ask and wait: run it in a thread."""
        begun, me = time.monotonic(), threading.get_ident()
        self.asked[me] = (name, begun)
        try:
            # Half of the time may go by in the queue; the other half is left for the answer.
            if not self._lock.acquire(timeout=patience / 2):
                first, since = next(iter(self.asked.values()), (name, begun))
                took = f"{time.monotonic() - since:.0f} s"
                detail = f"the question about {first} came first and has taken {took}: ask later"
                raise HttpProblem(503, detail, Retry_After="10")
            try:
                answer = self._answer(order, patience - time.monotonic() + begun)
            finally:
                self._lock.release()
        except TimeoutError as error:
            detail = f"{name}: no answer within {patience:g} s, so it was stopped"
            raise TookTooLong(503, detail, Fix(_SMALLER), Retry_After="30") from error
        except (OSError, EOFError) as error:
            detail = f"the worker stopped ({error!r}) and is started again"
            raise HttpProblem(503, detail, Retry_After="2") from error
        finally:
            self.asked.pop(me, None)
        if answer.status >= 400:
            raise HttpProblem(answer.status, answer.detail, Fix(answer.detail))
        return answer

    def _answer(self, order: tuple[Any, ...], left: float) -> WorkerAnswer:
        """Ask the process, which is ours now; one that fails us is ended."""
        try:
            pipe = self._alive()
            pipe.send(order)
            if not pipe.poll(left):
                raise TimeoutError
            answer: WorkerAnswer = pipe.recv()
        except (OSError, EOFError):
            self._end()
            raise
        if answer.leaving:
            self._end()
        return answer

    def _alive(self) -> Connection:
        if self._pipe is None or self._process is None or not self._process.is_alive():
            self._end()
            spawn = multiprocessing.get_context("spawn")
            self._pipe, theirs = spawn.Pipe()
            # The address goes over a pipe: a command line would show its password to everybody.
            self._process = spawn.Process(target=_work, args=(theirs, self._address), daemon=True)
            self._process.start()
            theirs.close()  # or we would never hear that the process ended
        return self._pipe

    def _end(self) -> None:
        process, self._process = self._process, None
        if self._pipe is not None:
            self._pipe.close()
            self._pipe = None
        if process is not None:
            process.kill()
            process.join()

    def close(self) -> None:
        """End the process."""
        with self._lock:
            self._end()


def named(work: str, stream: str, given: tuple[Any, ...] = ()) -> str:
    """Say what is asked: of which stream, and what.

    >>> named("answer:result", "qa", ("judge",)), named("queue:planned", "qa", (40,))
    ("stream 'qa' (judge)", "stream 'qa' (planned)")
    """
    what = given[0] if given and isinstance(given[0], str) else work.rpartition(":")[2]
    return f"stream {stream!r} ({what})"


def _work(pipe: Connection, address: str) -> None:
    """Answer orders until the server closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server ends us
    if hasattr(os, "nice"):
        os.nice(5)  # where processors are short, questions wait for posts and not posts for them
    from tallystick.serve.database import open_store

    store = open_store(address, migrate=False)
    try:
        while True:
            pipe.send(perform(store, *pipe.recv()))
    except EOFError:
        store.close()


def perform(store: Store, work: str, stream: str, *given: Any) -> WorkerAnswer:
    """Do what an order says; an error becomes its answer, so that the process lives on."""
    begun = time.process_time()
    with Boundary() as edge:
        module, _, name = work.partition(":")
        do = getattr(import_module(f"tallystick.serve.{module}"), name)
        value = do(store, stream, *given)
        # A question about a million single rows takes a gigabyte, which neither Python nor Arrow
        # gives back: the next question starts a small process instead.
        leaving = _held_bytes() > _MOST_HELD
        return WorkerAnswer(value=value, seconds=time.process_time() - begun, leaving=leaving)
    problem = problem_of(edge.error, store.away, work)
    return WorkerAnswer(status=problem.status, detail=problem.detail)


def _held_bytes() -> int:
    """Return the memory that this process holds now; 0 where the system does not say."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
