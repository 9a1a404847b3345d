"""What the service does by itself: jobs with one holder, retention, and the nightly check."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from tallystick.serve import export as nightly
from tallystick.serve.client import check_stream
from tallystick.serve.database import open_store
from tallystick.serve.export import last_check
from tallystick.serve.jobs import Held, Job, JobLoop, LostLease, Service
from tallystick.serve.worker import Workers
from tests.serve.equal import post
from tests.serve.postgres import both
from tests.serve.queue.people import InProcess
from tests.serve.web import Clock, Web


def test_a_periodic_job_comes_again(service: Service, clock: Clock) -> None:
    seen: list[float] = []
    loop = JobLoop(service, [Job("tick", lambda s, _: seen.append(s.clock()), every=60.0)])
    loop.plan()
    for _ in range(5):
        clock.now += 61
        assert loop.run_due() == 1
        assert loop.run_due() == 0
    assert len(seen) == 5


def test_a_job_that_fails_is_kept_and_tried_later(service: Service, clock: Clock) -> None:
    def fail(_: Service, held: Held) -> None:
        raise ValueError("no")

    loop = JobLoop(service, [Job("bad", fail, every=10.0)])
    loop.plan()
    clock.now += 11
    assert loop.run_due() == 1
    [(error, tries, due)] = service.read(
        lambda reader: reader.all("select last_error, tries, due from job where kind = 'bad'")
    )
    assert (error, tries) == ("ValueError: no", 1)
    assert due > clock.now
    assert loop.run_due() == 0


def test_whoever_sleeps_past_the_lease_can_write_nothing(service: Service, clock: Clock) -> None:
    job = Job("slow", lambda *_: None, every=10.0, lease=60.0)
    sleeper, other = JobLoop(service, [job]), JobLoop(service, [job])
    sleeper.plan()
    clock.now += 11
    first = sleeper.take(job)
    assert first is not None
    assert other.take(job) is None  # it is held
    first.renew()
    clock.now += 61
    second = other.take(job)
    assert second is not None
    assert second.fence == first.fence + 1
    with pytest.raises(LostLease):
        service.writer.do(first.check)
    with pytest.raises(LostLease):
        first.renew()
    service.writer.do(second.check)


def test_retention_drops_whole_hours_and_leaves_no_orphans(
    web: Web, service: Service, clock: Clock
) -> None:
    service.worker = InProcess(service.store)
    web.put("/v1/streams/qa", json={"retention_days": 10})
    for day in range(20):
        clock.now = 1_800_000_000.0 + day * 86_400
        record = {
            "item": f"i{day}",
            "votes": {"a": "x"},
            "label": {"value": "x"},
            "show": "what a labeller sees",
        }
        assert web.post("/v1/streams/qa/records", json=[record]).status_code == 200
    service.jobs.plan()
    clock.now += 3601
    assert service.jobs.run_due() >= 1
    rows = web.get("/v1/streams/qa").json()["rows"]
    assert rows == 10
    assert check_stream(service.store, "qa").problems == ()
    [(labels,)] = service.read(lambda reader: reader.all("select count(*) from label"))
    [(shown,)] = service.read(lambda reader: reader.all("select count(*) from payload"))
    [(batches,)] = service.read(lambda reader: reader.all("select count(*) from batch"))
    assert (labels, shown) == (10, 10)
    assert batches == 10
    assert "Rows from 24 Jan 2027, 09:00 on. Older ones are gone." in web.get("/streams/qa").text
    # A late label of a row that is gone makes a new row, and the numbers of rows never repeat.
    web.post("/v1/streams/qa/records", json=[{"item": "i0", "label": {"value": "x"}}])
    assert check_stream(service.store, "qa").problems == ()


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


@both
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
    assert "could not be made" in alarm["proves"]


def test_a_log_that_nothing_can_move_is_an_alarm(
    web: Web, service: Service, night: Night, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service.store, "checkpoint", lambda: 3 * 10**9)
    night()
    [alarm] = web.get("/v1/alerts").json()["alerts"]
    assert (alarm["name"], "3.0 GB" in alarm["what"]) == ("log", True)


def test_the_check_runs_in_a_process_of_its_own(
    web: Web, service: Service, night: Night, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nightly, "Workers", Workers)
    post(web, "qa", 3)
    service.writer.do(lambda transaction: transaction.run("update tally set n = n + 1"))
    [alarm] = night()
    assert alarm["stream"] == "qa"
    assert service.worker.pid is None  # the one that answers questions was not kept waiting


WRONG = (
    ("update tally set n = n + 1", "counts"),
    ("delete from tally", "counts"),
    ("update rows set pattern = (select min(id) from pattern)", "row"),
    ("delete from rows where id = (select max(id) from rows)", "lost"),
    ("insert into payload (row_id, body) values (99999999, 'x')", "payloads without a row"),
    ("update label set row_id = 99999999", "labels without a row"),
    ("update stream set rows = rows + 1", "the stream says"),
)


def test_streams_agree_with_their_batches_and_what_is_wrong_is_found(
    web: Web, service: Service, tmp_path: Path
) -> None:
    post(web, "s3", 3)
    for number, (sql, word) in enumerate(WRONG):
        copy = tmp_path / f"wrong{number}.sqlite"
        with contextlib.closing(sqlite3.connect(tmp_path / "serve.sqlite")) as database:
            database.execute("vacuum into ?", (str(copy),))
        with contextlib.closing(sqlite3.connect(copy)) as database, database:
            database.execute(sql)
        store = open_store(copy)
        found = check_stream(store, "s3")
        store.close()
        assert any(word in problem for problem in found.problems), (sql, found.problems)
    for seed in (0, 1):
        post(web, f"s{seed}", seed)
    for seed in (0, 1, 3):
        found = check_stream(service.store, f"s{seed}")
        assert found.problems == ()
        assert found.replayed > 0
