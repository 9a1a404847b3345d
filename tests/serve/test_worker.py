"""Both ends of the pipe, in this process."""

from __future__ import annotations

import io

import msgspec
import pytest

from tallystick.serve.answer import COMPUTED
from tallystick.serve.auth import Span
from tallystick.serve.jobs import Service
from tallystick.serve.worker import Computed, Worker, _answered, _receive, _send, order_of
from tests.serve.web import Web


def test_messages_have_their_length_before_them() -> None:
    pipe = io.BytesIO()
    _send(pipe, b"one")
    _send(pipe, b"")
    pipe.seek(0)
    assert [_receive(pipe), _receive(pipe), _receive(pipe)] == [b"one", b"", None]


def test_an_error_is_an_answer(web: Web, service: Service) -> None:
    assert set(COMPUTED) == {"result", "tally", "parquet"}
    web.put("/v1/streams/qa", json={})
    good = _answered(service.store, order_of("result", "qa", "judge", {}, Span()))
    assert good.status == 200
    assert msgspec.json.decode(good.body)["decision"] == "unknowable"
    absent = _answered(service.store, order_of("result", "no", "judge", {}, Span()))
    assert absent.status == 404
    wrong = _answered(service.store, order_of("result", "qa", "judge", {"alpha": ["7"]}, Span()))
    assert wrong.status == 422
    assert "alpha" in wrong.detail


@pytest.mark.parametrize("kind", ["os:system", "nothing"])
def test_the_worker_calls_our_own_functions_only(service: Service, kind: str) -> None:
    assert _answered(service.store, order_of(kind, "", "", {}, Span())).status == 500


def test_a_worker_that_holds_too_much_is_replaced(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What leaves is said by the answer itself, so that no question goes to a process that ends.
    leaving = msgspec.json.encode(Computed(status=200, body=b"1", leaving=True))
    worker = Worker(service.store.address())
    monkeypatch.setattr(worker, "_receive", lambda process, patience: leaving)
    try:
        assert worker.ask(order_of("tally", "qa", "", {}, Span())).body == b"1"
        assert worker.pid is None
    finally:
        worker.close()
