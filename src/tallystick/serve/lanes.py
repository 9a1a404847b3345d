"""Two workers: one stream with a hard question must not hold up everybody else's.

A question is known by its stream and verb. Whatever took long is asked of a second process from
then on, until it is quick again; the second process lives only while there are such questions.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tallystick.serve.worker import Computed, TookTooLong, Worker, WorkerOrder, order_of

if TYPE_CHECKING:
    from tallystick.serve.span import Span

__all__ = ["WorkerLanes"]

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
        asked = (order.kind, order.stream, order.verb)
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

    def result(
        self, stream: str, verb: str, given: Mapping[str, Sequence[str]], span: Span
    ) -> Computed:
        """Return the JSON of a question about a stream."""
        return self.ask(order_of("result", stream, verb, given, span))

    def close(self) -> None:
        """End both processes."""
        self._quick.close()
        self._slow.close()
