"""A watch measures an API, notices when it changes, and never spends more than it may."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tallystick.clients.journal import journal_spent
from tallystick.serve import watch_runs as runs
from tallystick.serve.jobs import Service
from tallystick.serve.watch_runs import journal_path
from tallystick.serve.watches import carry_out
from tests.serve.watches.fake_api import FakeApi
from tests.serve.web import Clock, Web

TRUTH = {f"text {i}": "ab"[i % 2] for i in range(120)}
HOUR = 3600.0


@pytest.fixture
def api(service: Service) -> Iterator[FakeApi]:
    service.config = replace(service.config, allow_hosts=("127.0.0.1",))
    running = FakeApi(TRUTH)
    yield running
    running.close()


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Carry runs out in this process: starting another takes longer than the test."""
    monkeypatch.setattr(runs, "_process", lambda service, held, given: carry_out(given))


def order(api: FakeApi, **more: Any) -> dict[str, Any]:
    items = [{"id": str(i), "text": text, "gold": TRUTH[text]} for i, text in enumerate(TRUTH)]
    return {
        "api": api.url,
        "items": items,
        "item": "id",
        "truth": "gold",
        "labels": ["a", "b"],
        "request": {"text": "{text}"},
        "every_hours": 1.0,
        "budget": 100,
        "price": 0.001,
        "cap_run": 0.5,
        "cap_month": 2.0,
        **more,
    }


def run_until_quiet(service: Service, clock: Clock, seconds: float = 31.0) -> None:
    service.jobs.plan()
    clock.now += seconds
    service.jobs.run_due()


def alarms(web: Web) -> list[str]:
    return [one["name"] for one in web.get("/v1/alerts").json()["alerts"]]


@pytest.mark.usefixtures("here")
def test_a_baseline_then_checks_then_an_alarm_when_the_api_changed(
    service: Service, web: Web, clock: Clock, api: FakeApi
) -> None:
    made = web.put("/v1/watches/sentiment", json=order(api))
    assert made.status_code == 200, made.text
    run_until_quiet(service, clock)
    watch = web.get("/v1/watches/sentiment").json()
    assert [(run["kind"], run["state"]) for run in watch["runs"]] == [("baseline", "done")]
    assert sum(api.asked.values()) == 240  # two draws of every item
    assert watch["spent"] == pytest.approx(0.240)
    assert watch["reserved"] == 0

    run_until_quiet(service, clock, HOUR)
    assert web.get("/v1/watches/sentiment").json()["runs"][0]["kind"] == "check"
    assert alarms(web) == []

    api.wrong = 0.6
    run_until_quiet(service, clock, HOUR)
    watch = web.get("/v1/watches/sentiment").json()
    assert alarms(web) == ["shift"]
    assert watch["runs"][0]["result"]["accuracy_change"]["estimate"] < -0.3
    paid = sum(api.asked.values()) * 0.001
    assert watch["spent"] == pytest.approx(paid)
    assert watch["spent"] <= 2.0

    # A click makes what it answers now the new normal.
    assert web.post("/v1/watches/sentiment/baseline").status_code == 200
    run_until_quiet(service, clock)
    assert web.get("/v1/watches/sentiment").json()["runs"][0]["kind"] == "baseline"


@pytest.mark.usefixtures("here")
def test_money_that_is_spent_stops_the_watch_and_says_so(
    service: Service, web: Web, clock: Clock, api: FakeApi
) -> None:
    web.put("/v1/watches/w", json=order(api, cap_month=0.3))
    run_until_quiet(service, clock)
    for _ in range(3):
        run_until_quiet(service, clock, HOUR)
    watch = web.get("/v1/watches/w").json()
    assert sum(api.asked.values()) * 0.001 <= 0.3 + 1e-9
    assert watch["spent"] <= 0.3 + 1e-9
    assert "watch" in alarms(web)


def test_an_api_that_cannot_be_reached_is_an_alarm_and_no_verdict(
    service: Service, web: Web, clock: Clock, api: FakeApi
) -> None:
    web.put("/v1/watches/w", json=order(api, attempts=1))
    api.close()
    run_until_quiet(service, clock)
    watch = web.get("/v1/watches/w").json()
    assert watch["baseline"] is None
    assert watch["runs"][0]["state"] == "failed"
    assert alarms(web) == ["watch"]
    assert watch["reserved"] == 0


def test_a_run_that_was_killed_goes_on_and_pays_nothing_twice_but_what_was_in_flight(
    service: Service, web: Web, clock: Clock, api: FakeApi, tmp_path: Path
) -> None:
    web.put("/v1/watches/w", json=order(api, draws=1, concurrency=4))
    api.delay = 0.02
    service.jobs.plan()
    clock.now += 31
    ended: list[BaseException] = []

    def first_try() -> None:
        try:
            service.jobs.run_due()
        except BaseException as error:  # noqa: BLE001  # told to the test
            ended.append(error)

    thread = threading.Thread(target=first_try)
    thread.start()
    deadline = time.monotonic() + 60
    while sum(api.asked.values()) < 30 and time.monotonic() < deadline:
        time.sleep(0.01)
    service.jobs._stop.set()  # the service stops: the process ends, the run stays
    thread.join(timeout=60)
    assert not ended
    assert web.get("/v1/watches/w").json()["runs"][0]["state"] == "running"
    asked = sum(api.asked.values())
    assert asked < 120

    service.jobs._stop.clear()
    clock.now += 61  # the lease is over
    service.jobs.run_due()
    watch = web.get("/v1/watches/w").json()
    assert [(run["kind"], run["state"]) for run in watch["runs"]] == [("baseline", "done")]
    twice = sum(n - 1 for n in api.asked.values() if n > 1)
    assert set(api.asked) == set(TRUTH)
    assert twice <= 4
    [(ident, run)] = service.read(lambda reader: reader.all("select watch, id from run"))
    spent = journal_spent(journal_path(tmp_path, ident, run), price=0.001)
    assert watch["spent"] == pytest.approx(spent)
    assert spent >= sum(api.asked.values()) * 0.001 - 1e-9
