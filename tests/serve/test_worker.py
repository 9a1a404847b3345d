"""The processes that compute: what they answer, who waits for them, and what health says of it."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tallystick.serve import worker as processes
from tallystick.serve.auth import HttpProblem, Span
from tallystick.serve.jobs import Service
from tallystick.serve.worker import TookTooLong, Worker, WorkerAnswer, Workers, perform
from tests.serve.web import Web

HARD, EASY = ("answer:result", "coins", "judge"), ("answer:result", "qa", "judge")


class Fake:
    """A worker that takes as long as it is told."""

    def __init__(self, address: str) -> None:
        self.streams: list[str] = []
        self.asked: dict[int, tuple[str, float]] = {}
        self.seconds = 3.0
        self.hangs = False

    def ask(self, name: str, order: tuple[Any, ...], *, patience: float) -> WorkerAnswer:
        stream = order[1]
        self.streams.append(stream)
        if self.hangs and stream == "coins":
            raise TookTooLong(503, "no answer", Retry_After="30")
        return WorkerAnswer(seconds=self.seconds if stream == "coins" else 0.01)


@pytest.fixture
def pair(monkeypatch: pytest.MonkeyPatch) -> tuple[Workers, Fake, Fake]:
    monkeypatch.setattr(processes, "Worker", Fake)
    found = Workers("x")
    return found, *found._lanes  # type: ignore[return-value]


def test_an_error_is_an_answer_and_the_process_lives_on(web: Web, service: Service) -> None:
    web.put("/v1/streams/qa", json={})
    both = Workers(service.store.address())
    try:
        _, body = both.ask("answer:result", "qa", "judge", {}, Span())
        assert b'"decision": "unknowable"' in body
        with pytest.raises(HttpProblem) as absent:
            both.ask("answer:result", "no", "judge", {}, Span())
        assert absent.value.status == 404
        with pytest.raises(HttpProblem, match="alpha") as wrong:
            both.ask("answer:result", "qa", "judge", {"alpha": ["7"]}, Span())
        assert wrong.value.status == 422
        assert both.ask("answer:result", "qa", "judge", {}, Span())[1] == body
    finally:
        both.close()
    assert perform(service.store, "answer:nothing", "qa").status == 500


def test_a_worker_that_holds_too_much_is_replaced(
    service: Service, web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What leaves is said by the answer itself, so that no question goes to a process that ends.
    web.put("/v1/streams/qa", json={})
    monkeypatch.setattr(processes, "_MOST_HELD", 0)
    assert perform(service.store, "answer:tally", "qa", Span()).leaving
    worker = Worker(service.store.address())
    worker._alive = lambda: Pipe()  # type: ignore[method-assign,assignment,return-value]
    assert worker.ask("qa", ("answer:tally", "qa", Span()), patience=1.0).leaving
    assert worker.pid is None


class Pipe:
    """The server's end, where an answer has come."""

    def send(self, order: Any) -> None:
        assert order[:2] == ("answer:tally", "qa")

    def poll(self, seconds: float) -> bool:
        return True

    def recv(self) -> WorkerAnswer:
        return WorkerAnswer(value=b"1", leaving=True)


def test_what_took_long_goes_to_the_second_worker_until_it_is_quick(
    pair: tuple[Workers, Fake, Fake],
) -> None:
    both, quick, slow = pair
    for order in (HARD, EASY, HARD, EASY):
        both.ask(*order)
    assert (quick.streams, slow.streams) == (["coins", "qa", "qa"], ["coins"])
    slow.seconds = 0.1
    both.ask(*HARD)
    both.ask(*HARD)
    assert quick.streams[-1] == "coins"


def test_what_gave_no_answer_in_time_holds_up_nobody_the_second_time(
    pair: tuple[Workers, Fake, Fake],
) -> None:
    both, quick, slow = pair
    quick.hangs = slow.hangs = True
    for _ in range(2):
        with pytest.raises(TookTooLong):
            both.ask(*HARD)
    both.ask(*EASY)
    assert (quick.streams, slow.streams) == (["coins", "qa"], ["coins"])


def test_whoever_waits_is_told_for_what_and_within_the_limit() -> None:
    worker = Worker("x")
    worker._lock.acquire()
    worker.asked[0] = ("stream 'coins' (judge)", time.monotonic() - 7)
    begun = time.monotonic()
    with pytest.raises(HttpProblem, match=r"stream 'coins' \(judge\) came first and has taken 7 s"):
        worker.ask("qa", EASY, patience=0.4)
    assert time.monotonic() - begun < 0.4
    assert list(worker.asked) == [0]


def test_health_says_what_waits_and_whether_the_writer_lives(
    web: Web, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in ("/healthz", "/readyz"):
        answer = web.get(path)
        assert answer.status_code == 200, answer.text
        assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.json()["waiting_questions"] == 0

    now = time.monotonic()
    quick, slow = service.worker._lanes
    quick.asked[1], slow.asked[2] = ("easy", now - 1), ("hard", now - 3)
    assert [name for name, _ in service.worker.waiting()] == ["hard", "easy"]
    found = web.get("/healthz").json()
    assert found["waiting_questions"] == 2
    assert 3.0 <= found["longest_question"] < 10.0
    assert "tallystick_questions_waiting 2" in web.get("/metrics").text

    monkeypatch.setattr(service.writer, "is_alive", lambda: False)
    stuck = web.get("/readyz")
    assert stuck.status_code == 503
    assert stuck.headers["retry-after"]
    assert web.get("/healthz").status_code == 200
