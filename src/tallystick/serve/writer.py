"""The one writer: requests that wait together are committed together.

A commit costs an fsync, whatever it holds, so everything that waits goes into
one transaction. Operations of one kind may be carried out together, so that
the database is asked once for all of them; whatever is refused then goes
alone. Each of the others has a savepoint of its own: one that is refused
leaves the rest as it is. A future is resolved only after the commit, so
*accepted means committed*.
"""

from __future__ import annotations

import asyncio
import collections
import logging
import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, TypeAlias, TypeVar

from tallystick.errors import TallystickError
from tallystick.serve.auth import HttpProblem
from tallystick.serve.database import Store, Transaction

_T = TypeVar("_T")
_LOG = logging.getLogger("tallystick.serve")

MOST_WAITING = 64 * 1024 * 1024
"""Bytes that may wait; above that a request is answered 503 and comes again later."""

_MOST_TOGETHER = 512
"""Operations per commit: a longer group would make the first of them wait for the last."""

_PAUSE = 0.5
"""The share of a commit's time for which the next one waits for those who were just answered."""

_LONGEST_PAUSE = 0.005
"""Seconds that this may last at most."""


_ROOM = 256 * 1024
"""Bytes that must fit before we are ready again after a failed commit."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing to write: a function of the transaction, and how many bytes it keeps in memory.

    Whoever waits is a thread (a `Future`), or an event loop with a future of its own: all futures
    of a group and a loop are resolved by one call into that loop. Work that has an attribute
    ``together`` can be done with others of its kind, see `Together`.
    """

    work: Callable[[Transaction], Any]
    size: int
    done: Future[Any] | asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop | None = None


Together: TypeAlias = Callable[[Transaction, Sequence[Any]], Mapping[int, Any]]
"""From pieces of work to the results of those that could be done at once, by place.

What has no result is tried alone, in its order.
The function leaves nothing half done: it undoes what it does not answer for.
"""


@dataclass
class WriterFigures:
    """What /metrics says of the writer."""

    commits: int = 0
    seconds: float = 0.0
    below: dict[float, int] = field(
        default_factory=lambda: dict.fromkeys((0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0), 0)
    )
    """How many commits took at most so many seconds."""
    waiting_bytes: int = 0


class Writer:
    """A thread that owns all writing."""

    def __init__(self, store: Store, *, on_rollback: Callable[[], None] = lambda: None) -> None:
        self._store = store
        self._on_rollback = on_rollback
        self._waiting: collections.deque[Operation] = collections.deque()
        self._wake = threading.Condition()
        self._stopping = False
        self.figures = WriterFigures()
        self.failed = False
        """Whether a commit failed, and `try_again` did not succeed since."""
        self._oldest = 0.0
        self._active = 0
        self._took = 0.0
        self._thread = threading.Thread(target=self._loop, name="tallystick-writer", daemon=True)
        self._thread.start()

    def submit(self, work: Callable[[Transaction], _T], *, size: int = 1024) -> Future[_T]:
        """Queue *work*; the future has its result once it is on the disk."""
        future: Future[_T] = Future()
        self._queue(Operation(work, size, future))
        return future

    def _queue(self, one: Operation) -> None:
        size = one.size
        with self._wake:
            if self._stopping:
                raise HttpProblem(503, "the service is stopping", Retry_After="5")
            held = self.figures.waiting_bytes
            if held and held + size > MOST_WAITING:
                raise HttpProblem(
                    503, "64 MB wait to be written: send the same again later", Retry_After="2"
                )
            if not self._waiting:
                self._oldest = time.monotonic()
            self._waiting.append(one)
            self.figures.waiting_bytes += size
            self._wake.notify()

    def do(self, work: Callable[[Transaction], _T], *, size: int = 1024) -> _T:
        """Queue *work* and wait for it: for jobs and tests, never on the event loop."""
        return self.submit(work, size=size).result()

    async def commit(self, work: Callable[[Transaction], _T], *, size: int = 1024) -> _T:
        """Queue *work* and wait for it on the event loop."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[_T] = loop.create_future()
        self._queue(Operation(work, size, future, loop))
        return await future

    async def try_again(self) -> None:
        """Write some text and delete it, to see whether there is room by now."""
        # A full disk still takes a few bytes; random text, because a database may compress it.
        text = secrets.token_hex(_ROOM // 2)
        await self.commit(lambda transaction: transaction.keep("room", text))
        await self.commit(lambda tx: tx.run("delete from fact where name = 'room'"))
        self.failed = False

    def is_alive(self) -> bool:
        """Say whether the thread runs and nothing has waited for over five seconds."""
        stuck = self._waiting and time.monotonic() - self._oldest > 5.0
        return self._thread.is_alive() and not stuck

    def stop(self) -> None:
        """Write what waits, then end the thread."""
        with self._wake:
            self._stopping = True
            self._wake.notify()
        self._thread.join(timeout=60)

    def _loop(self) -> None:
        while True:
            with self._wake:
                while not self._waiting and not self._stopping:
                    self._wake.wait()
                if not self._waiting:
                    return
                missing = self._active - len(self._waiting)
            if missing > 1 and not self._stopping:
                # Those who were just answered are about to send again. Half of them in this commit
                # and half in the next would be two commits where one does.
                time.sleep(min(_LONGEST_PAUSE, _PAUSE * self._took))
            with self._wake:
                n = min(len(self._waiting), _MOST_TOGETHER)
                group = [self._waiting.popleft() for _ in range(n)]
            begun = time.monotonic()
            self._commit(group)
            self._took = time.monotonic() - begun
            with self._wake:
                self._active = len(group) + len(self._waiting)
                self.figures.waiting_bytes -= sum(one.size for one in group)
                self._oldest = time.monotonic()

    def _commit(self, group: list[Operation]) -> None:
        """Run a group in one transaction, then resolve its futures."""
        begun = time.perf_counter()
        outcomes: list[Outcome] = []
        with Boundary() as edge, self._store.write() as transaction:
            rest = self._together(transaction, group, outcomes)
            outcomes += [self._attempt(transaction, one) for one in rest]
        if edge.error is not None:  # whatever failed, every caller must hear of it
            self.failed = True
            self._on_rollback()
            problem = _refusal(edge.error)
            _resolve([(one, None, problem) for one in group])
            return

        self.figures.commits += 1
        spent = time.perf_counter() - begun
        self.figures.seconds += spent
        for most in self.figures.below:
            self.figures.below[most] += spent <= most
        _resolve(outcomes)

    def _together(
        self, transaction: Transaction, group: list[Operation], outcomes: list[Outcome]
    ) -> list[Operation]:
        """Do at once what can be; note how that went, and return what is left."""
        kinds: dict[Together, list[Operation]] = {}
        for one in group:
            together = getattr(one.work, "together", None)
            if together is not None:
                kinds.setdefault(together, []).append(one)
        done: set[int] = set()
        for together, those in kinds.items():
            if len(those) == 1:
                continue
            for place, result in together(transaction, [one.work for one in those]).items():
                outcomes.append((those[place], result, None))
                done.add(id(those[place]))
        return [one for one in group if id(one) not in done]

    def _attempt(self, transaction: Transaction, one: Operation) -> Outcome:
        """Run one operation; what it refuses is undone, what breaks the database goes up."""
        with Boundary() as edge, transaction.savepoint():
            return one, one.work(transaction), None
        if isinstance(edge.error, self._store.errors):
            raise edge.error
        self._on_rollback()
        return one, None, edge.error


Outcome: TypeAlias = tuple[Operation, Any, "BaseException | None"]
"""An operation with its result, or with what it failed by."""


def _resolve(outcomes: Sequence[Outcome]) -> None:
    """Tell everybody how their operation went."""
    by_loop: dict[asyncio.AbstractEventLoop | None, list[Outcome]] = {}
    for outcome in outcomes:
        by_loop.setdefault(outcome[0].loop, []).append(outcome)
    for loop, mine in by_loop.items():
        if loop is None:
            _set(mine)
        elif not loop.is_closed():  # the server ended: nobody waits any more
            loop.call_soon_threadsafe(_set, mine)


def _set(outcomes: Sequence[Outcome]) -> None:
    for one, result, failure in outcomes:
        if one.done.done():  # the caller went away; what it sent is kept all the same
            continue
        if failure is not None:
            one.done.set_exception(failure)
        else:
            one.done.set_result(result)


def _refusal(error: Exception) -> HttpProblem:
    """Return the answer when a group could not be committed; nothing of it was kept."""
    if isinstance(error, HttpProblem):
        return error
    _LOG.error("a commit failed and nothing of it was kept: %s", error)
    return HttpProblem(
        503,
        f"nothing was kept: the database answered {type(error).__name__} ({error})."
        " Send the same again later",
        Retry_After="5",
    )


# The edge of one request, one job, one order: an error there must not end the
# process.
#
# Everywhere else errors are caught by their name. Here any error is taken,
# and whoever opened the boundary has to answer for it: the request is told,
# the job is kept and tried again, the log has the trace.


class Boundary:
    """Holds the error that the block raised, if it raised one.

    >>> with Boundary() as edge:
    ...     raise ValueError("no")
    >>> edge.error
    ValueError('no')
    """

    __slots__ = ("error",)

    def __init__(self) -> None:
        self.error: Exception | None = None

    def __enter__(self) -> Boundary:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        # An interrupt or the end of the process is nobody's answer.
        if isinstance(error, Exception):
            self.error = error
        return isinstance(error, Exception)


def problem_of(
    error: Exception | None, away: tuple[type[Exception], ...], what: str
) -> HttpProblem:
    """Return the answer to what went wrong; what was our own error is in the log."""
    if isinstance(error, HttpProblem):
        return error
    if isinstance(error, TallystickError):
        return HttpProblem(422, str(error))
    if isinstance(error, away):
        _LOG.warning("%s: the database is away: %s", what, error)
        return HttpProblem(503, "the database cannot be reached: ask again later", Retry_After="2")
    _LOG.error("%s failed", what, exc_info=error)
    return HttpProblem(500, "the service made an error; its log has the trace")
