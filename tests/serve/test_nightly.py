"""Once a day the books are checked, and what does not agree is an alarm."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tallystick.serve import export as nightly
from tallystick.serve.export import last_check
from tallystick.serve.jobs import Service
from tallystick.serve.worker import Workers
from tests.serve.equal import post
from tests.serve.web import Clock, Web

Night = Callable[[], list[dict[str, str]]]


@pytest.fixture
def night(service: Service, web: Web, clock: Clock) -> Night:
    """Let a day pass; return the alarms of the check that nobody has seen."""
    service.jobs.plan()

    def pass_a_day() -> list[dict[str, str]]:
        clock.now += 86_401.0
        service.jobs.run_due()
        alerts = web.get("/v1/alerts").json()["alerts"]
        return [one for one in alerts if one["name"] == "check"]

    return pass_a_day


@pytest.mark.parametrize("engine", ["sqlite", "postgres"], indirect=True)
def test_right_books_are_noted_and_wrong_ones_are_an_alarm(
    web: Web, service: Service, night: Night
) -> None:
    post(web, "qa", 3)
    assert night() == []
    found = service.read(last_check)
    assert found is not None
    assert (found["ok"], found["streams"]) == (True, 1)

    service.writer.do(lambda transaction: transaction.run("update tally set n = n + 1"))
    [alarm] = night()
    assert alarm["stream"] == "qa"
    assert "counts of bucket" in alarm["proves"]
    assert "which of them is wrong" in alarm["does_not_prove"]
    assert not (service.read(last_check) or {})["ok"]
    assert "found problems" in web.get("/settings").text


def test_each_stream_is_replayed_every_ten_days(web: Web, service: Service, night: Night) -> None:
    post(web, "qa", 3)
    replayed = []
    for _ in range(10):
        assert night() == []
        replayed += (service.read(last_check) or {})["replayed"]
    assert replayed == ["qa"]


def test_a_check_that_cannot_be_made_is_an_alarm_too(
    web: Web, service: Service, night: Night, monkeypatch: pytest.MonkeyPatch
) -> None:
    post(web, "qa", 3)
    monkeypatch.setattr(nightly, "checked", lambda *given: 1 / 0)
    [alarm] = night()
    assert "could not be made" in alarm["what"]


def test_the_check_runs_in_a_process_of_its_own(
    web: Web, service: Service, night: Night, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nightly, "Workers", Workers)
    post(web, "qa", 3)
    service.writer.do(lambda transaction: transaction.run("update tally set n = n + 1"))
    [alarm] = night()
    assert alarm["stream"] == "qa"
    assert service.worker.pid is None  # the one that answers questions was not kept waiting
