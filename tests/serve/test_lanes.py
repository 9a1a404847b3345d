"""Two workers: a hard question holds up only its own kind."""

from __future__ import annotations

import threading
import time

import pytest

from tallystick.serve import worker as lanes
from tallystick.serve.auth import HttpProblem
from tallystick.serve.worker import Computed, TookTooLong, WorkerLanes, WorkerOrder

HARD = WorkerOrder(kind="result", stream="coins", verb="judge")
EASY = WorkerOrder(kind="result", stream="qa", verb="judge")


class Fake:
    """A worker that takes as long as it is told."""

    def __init__(self, address: str) -> None:
        self.names: list[str] = []
        self.asked: dict[int, tuple[WorkerOrder, float]] = {}
        self.seconds = 0.0
        self.gate: threading.Event | None = None
        self.closed = 0
        self.pid = None

    def ask(self, order: WorkerOrder, *, patience: float) -> Computed:
        self.names.append(order.stream)
        if self.gate is not None and order.stream == "coins" and not self.gate.wait(patience):
            raise TookTooLong(503, "no answer", Retry_After="30")
        return Computed(status=200, seconds=self.seconds if order.stream == "coins" else 0.01)

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def pair(monkeypatch: pytest.MonkeyPatch) -> tuple[WorkerLanes, Fake, Fake]:
    made: list[Fake] = []

    def make(address: str) -> Fake:
        made.append(Fake(address))
        return made[-1]

    monkeypatch.setattr(lanes, "Worker", make)
    found = WorkerLanes("x", patience=0.05)
    return found, made[0], made[1]


def test_what_took_long_goes_to_the_second_worker_until_it_is_quick(
    pair: tuple[WorkerLanes, Fake, Fake],
) -> None:
    both, quick, slow = pair
    quick.seconds = slow.seconds = 3.0
    for order in (HARD, EASY, HARD, EASY):
        both.ask(order)
    assert (quick.names, slow.names) == (["coins", "qa", "qa"], ["coins"])
    slow.seconds = 0.1
    both.ask(HARD)
    assert slow.closed == 1  # nobody needs it any more
    both.ask(HARD)
    assert quick.names[-1] == "coins"


def test_what_gave_no_answer_in_time_holds_up_nobody_the_second_time(
    pair: tuple[WorkerLanes, Fake, Fake],
) -> None:
    both, quick, slow = pair
    quick.gate = slow.gate = threading.Event()
    with pytest.raises(TookTooLong):
        both.ask(HARD)
    with pytest.raises(TookTooLong):
        both.ask(HARD)
    both.ask(EASY)
    assert (quick.names, slow.names) == (["coins", "qa"], ["coins"])


def test_whoever_waits_is_told_for_what_and_within_the_limit() -> None:
    worker = lanes.Worker("x", patience=0.4)
    worker._lock.acquire()
    worker.asked[0] = (HARD, time.monotonic() - 7)
    begun = time.monotonic()
    with pytest.raises(HttpProblem, match=r"stream 'coins' \(judge\) came first and has taken 7 s"):
        worker.ask(EASY)
    assert time.monotonic() - begun < 0.4
    assert list(worker.asked) == [0]


def test_what_waits_is_known(pair: tuple[WorkerLanes, Fake, Fake]) -> None:
    both, quick, slow = pair
    now = time.monotonic()
    quick.asked = {1: (EASY, now - 1)}
    slow.asked = {2: (HARD, now - 5)}
    assert [name for name, _ in both.waiting()] == ["stream 'coins' (judge)", "stream 'qa' (judge)"]
