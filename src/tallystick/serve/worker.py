"""One process that computes, so that the server stays quick.

It is started at the first question and again whenever it dies or gives no answer in time. Both
sides talk JSON over a pipe, each message with its length before it. The address of the database
goes over the pipe too: a command line would show its password to everybody on the machine.
"""

from __future__ import annotations

import logging
import os
import select
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from tallystick.errors import TallystickError
from tallystick.serve.auth import Fix, HttpProblem
from tallystick.serve.writer import Boundary

if TYPE_CHECKING:
    from tallystick.serve.auth import Span

# Two workers: one stream with a hard question must not hold up everybody else's.
#
# A question is known by its stream and verb. Whatever took long is asked of a second process from
# then on, until it is quick again; the second process lives only while there are such questions.


_LONG = 2.0
"""Seconds of processor time after which a question counts as hard."""

_MOST_HARD = 1_000


class WorkerLanes:
    """A worker for quick questions and one for hard ones, seen as one.

    Parameters
    ----------
    address, patience
        As of `Worker`.
    """

    def __init__(self, address: str, *, patience: float = 30.0) -> None:
        self._patience = patience
        self._quick = Worker(address)
        self._slow = Worker(address)
        self._hard: set[tuple[str, ...]] = set()
        self._guard = threading.Lock()

    @property
    def pid(self) -> int | None:
        """The process id of the quick one, of the other where only that runs, or None."""
        return self._quick.pid or self._slow.pid

    def ask(self, order: WorkerOrder, *, patience: float | None = None) -> Computed:
        """Ask and wait: run it in a thread. A worker that dies or hangs is answered 503."""
        asked = (order.kind, _named(order))
        lane = self._slow if asked in self._hard else self._quick
        try:
            answer = lane.ask(order, patience=patience or self._patience)
        except TookTooLong:
            self._note(asked, is_hard=True)
            raise
        self._note(asked, is_hard=answer.seconds > _LONG)
        return answer

    def _note(self, asked: tuple[str, ...], *, is_hard: bool) -> None:
        with self._guard:
            was = asked in self._hard
            if is_hard and len(self._hard) < _MOST_HARD:
                self._hard.add(asked)
            elif was and not is_hard:
                self._hard.discard(asked)
                if not self._hard:
                    self._slow.close()

    def waiting(self) -> list[tuple[str, float]]:
        """Return what is asked now, and since how many seconds, the longest first."""
        now = time.monotonic()
        asked = [one for lane in (self._quick, self._slow) for one in list(lane.asked.values())]
        return [(_named(order), now - since) for order, since in sorted(asked, key=lambda a: a[1])]

    def close(self) -> None:
        """End both processes."""
        self._quick.close()
        self._slow.close()


_LOG = logging.getLogger("tallystick.serve")
_HEAD = struct.Struct("<Q")

_MOST_HELD = 350 * 1024 * 1024
"""Bytes that a worker may go on holding after an answer; one that holds more is replaced."""


class WorkerOrder(msgspec.Struct):
    """What is asked of the worker.

    Parameters
    ----------
    kind
        ``result``, ``chart``, ``tally``, ``parquet``, or ``MODULE:FUNCTION`` for a file of its own:
        a function of (store, args) that returns bytes.
    """

    kind: str
    stream: str = ""
    verb: str = ""
    given: dict[str, list[str]] = {}
    span: dict[str, Any] = {}
    args: dict[str, Any] = {}


class Computed(msgspec.Struct):
    """What the worker answers: bytes, or a refusal."""

    status: int
    body: bytes = b""
    detail: str = ""
    head: dict[str, Any] = {}
    leaving: bool = False
    """Whether the process ends after this answer: it holds more memory than it should keep."""
    seconds: float = 0.0
    """Processor time that it took."""


class TookTooLong(HttpProblem):
    """No answer came in time, and the process was ended."""


class Worker:
    """The process, seen from the server.

    Parameters
    ----------
    address
        Of the store, for `open_store`.
    patience
        Seconds without an answer after which it is ended and started again.
    """

    def __init__(self, address: str, *, patience: float = 30.0) -> None:
        self._address = address
        self._patience = patience
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self.asked: dict[int, tuple[WorkerOrder, float]] = {}
        """Who waits for what, and since when: the first of them is being answered."""

    @property
    def pid(self) -> int | None:
        """The process id, None before the first question."""
        return self._process.pid if self._process is not None else None

    def ask(self, order: WorkerOrder, *, patience: float | None = None) -> Computed:
        """Ask and wait: run it in a thread. A worker that dies or hangs is answered 503."""
        patience = patience or self._patience
        begun = time.monotonic()
        me = threading.get_ident()
        self.asked[me] = (order, begun)
        try:
            # Half of the time may go by in the queue; the other half is left for the answer.
            if not self._lock.acquire(timeout=patience / 2):
                first, since = next(iter(self.asked.values()), (order, begun))
                raise HttpProblem(
                    503,
                    f"the question about {_named(first)} came first and has taken"
                    f" {time.monotonic() - since:.0f} s: ask again when it is done",
                    Retry_After="10",
                )
            return self._answer(order, patience - (time.monotonic() - begun), patience)
        finally:
            self.asked.pop(me, None)

    def _answer(self, order: WorkerOrder, left: float, patience: float) -> Computed:
        """Ask the process, which is ours now, and give the lock back."""
        try:
            try:
                process = self._alive()
                _send(process.stdin, msgspec.json.encode(order))
                body = self._receive(process, left)
            except (OSError, EOFError) as error:
                self._end()
                raise HttpProblem(
                    503, f"the worker stopped ({error}) and is started again", Retry_After="2"
                ) from error
            except TimeoutError as error:
                self._end()
                raise TookTooLong(
                    503,
                    f"{_named(order)}: no answer within {patience:g} s, so it was stopped."
                    f" {_SMALLER}",
                    [Fix(way_out=_SMALLER)],
                    Retry_After="30",
                ) from error
            answer = msgspec.json.decode(body, type=Computed)
            if answer.leaving:
                self._end()
        finally:
            self._lock.release()
        if answer.status >= 400:
            raise HttpProblem(answer.status, answer.detail, [Fix(way_out=answer.detail)])
        return answer

    def close(self) -> None:
        """End the process."""
        with self._lock:
            self._end()

    def _alive(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._end()
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tallystick.serve.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            _send(self._process.stdin, self._address.encode())
        return self._process

    def _receive(self, process: subprocess.Popen[bytes], patience: float) -> bytes:
        if process.stdout is None:
            raise EOFError("no pipe")
        ready, _, _ = select.select([process.stdout], [], [], patience)
        if not ready:
            raise TimeoutError
        body = _receive(process.stdout)
        if body is None:
            raise EOFError("it ended")
        return body

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:
                    _LOG.debug("the worker's pipe was closed already")
        process.kill()
        process.wait()


_SMALLER = (
    "Ask about fewer rows (window=last:5000), or fewer columns; or download the rows, and ask the"
    " command line, which has no limit"
)


def _named(order: WorkerOrder) -> str:
    """Say what is asked: of which stream, and what.

    >>> _named(WorkerOrder(kind="result", stream="qa", verb="judge"))
    "stream 'qa' (judge)"
    """
    stream = order.stream or order.args.get("name") or order.args.get("stream") or ""
    what = order.verb or order.args.get("question") or order.kind.rpartition(":")[2]
    return f"stream {stream!r} ({what})"


def order_of(
    kind: str, stream: str, verb: str, given: Mapping[str, Sequence[str]], span: Span
) -> WorkerOrder:
    """Return the order for a question about a span."""
    return WorkerOrder(
        kind=kind,
        stream=stream,
        verb=verb,
        given={name: list(values) for name, values in given.items()},
        span={
            "low": span.low,
            "high": span.high,
            "last": span.last,
            "slices": [list(one) for one in span.slices],
            "label_draw": span.label_draw,
        },
    )


def _send(pipe: Any, body: bytes) -> None:
    pipe.write(_HEAD.pack(len(body)) + body)
    pipe.flush()


def _receive(pipe: Any) -> bytes | None:
    head = pipe.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return None
    body: bytes = pipe.read(_HEAD.unpack(head)[0])
    return body


def main() -> None:
    """Answer orders until the server closes the pipe."""
    inward, outward = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints must not speak into the pipe
    if hasattr(os, "nice"):
        os.nice(5)  # where processors are short, questions wait for posts and not posts for them
    address = _receive(inward)
    if address is None:
        return
    from tallystick.serve.database import open_store

    store = open_store(address.decode(), migrate=False)
    while (body := _receive(inward)) is not None:
        order = msgspec.json.decode(body, type=WorkerOrder)
        begun = time.process_time()
        answer = _answered(store, order)
        answer.seconds = time.process_time() - begun
        # A question about a million single rows takes a gigabyte, which neither Python nor Arrow
        # gives back: the next question starts a small process instead.
        answer.leaving = _held_bytes() > _MOST_HELD
        _send(outward, msgspec.json.encode(answer))
    store.close()


def _held_bytes() -> int:
    """Return the memory that this process holds now; 0 where the system does not say."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def _answered(store: Any, order: WorkerOrder) -> Computed:
    """Do what an order says; an error becomes its answer, so that the process lives on."""
    with Boundary() as edge:
        return _done(store, order)
    error = edge.error
    if isinstance(error, HttpProblem):
        return Computed(status=error.status, detail=error.detail)
    if isinstance(error, TallystickError):
        return Computed(status=422, detail=str(error))
    if isinstance(error, store.away):
        return Computed(status=503, detail="the database cannot be reached: ask again later")
    _LOG.error("the worker failed at %s", order.kind, exc_info=error)
    return Computed(status=500, detail=f"the worker made an error: {type(error).__name__}")


def _done(store: Any, order: WorkerOrder) -> Computed:
    from importlib import import_module

    if ":" in order.kind:
        module, _, name = order.kind.partition(":")
        if not module.startswith("tallystick."):
            return Computed(status=500, detail="only our own functions are called")
        return Computed(status=200, body=getattr(import_module(module), name)(store, order.args))
    from tallystick.serve.answer import COMPUTED

    return COMPUTED[order.kind](store, order)


if __name__ == "__main__":
    main()
