"""Probes: alive, ready, and not ready."""

from __future__ import annotations

import time

import pytest

from tallystick.serve.jobs import Service
from tallystick.serve.worker import WorkerOrder
from tests.serve.web import Web


def test_it_is_alive_and_ready(web: Web) -> None:
    for path in ("/healthz", "/readyz"):
        answer = web.get(path)
        assert answer.status_code == 200, answer.text
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_writer_that_is_stuck_is_not_ready(
    web: Web, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert web.get("/readyz").status_code == 200
    monkeypatch.setattr(service.writer, "is_alive", lambda: False)
    answer = web.get("/readyz")
    assert answer.status_code == 503
    assert answer.headers["retry-after"]
    assert web.get("/healthz").status_code == 200


def test_health_says_what_waits(web: Web, service: Service) -> None:
    assert web.get("/readyz").json()["waiting_questions"] == 0
    order = WorkerOrder(kind="result", stream="qa", verb="judge")
    service.worker._quick.asked[1] = (order, time.monotonic() - 3.0)
    found = web.get("/healthz").json()
    assert found["waiting_questions"] == 1
    assert 3.0 <= found["longest_question"] < 10.0
    assert "tallystick_questions_waiting 1" in web.get("/metrics").text
