"""The drift test runs once a window, on what had arrived, and says what it saw."""

from __future__ import annotations

import itertools
import json
import math
import random
from typing import Any

import numpy as np
import pytest

from tallystick.serve.drift import _is_large, drift_step, is_seen, vote_columns
from tallystick.serve.jobs import Service
from tallystick.serve.streams import StreamRecord, StreamSettings, find_stream
from tallystick.verbs.judge.windows import Windows
from tests.serve.postgres import both
from tests.serve.web import Clock, Web


def votes(n: int, *, change: int | None = None, seed: int = 3) -> dict[str, list[Any]]:
    """Three judges who are right on .9; the first one guesses from *change* on."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    right = rng.random((n, 3)) < 0.9
    if change is not None:
        right[change:, 0] = rng.random(n - change) < 0.5
    cells = np.where(right, truth[:, None], 1 - truth[:, None])
    return {name: [str(v) for v in cells[:, j]] for j, name in enumerate(("ann", "bob", "eve"))}


def stepped(columns: dict[str, list[Any]], size: int) -> list[dict[str, Any]]:
    state, steps = None, []
    for start in range(0, len(columns["ann"]), size):
        part = {name: held[start : start + size] for name, held in columns.items()}
        given = {"state": state, "columns": part, "alpha": 0.05, "key": "judge"}
        # Through JSON each time, as the database keeps it.
        step = drift_step(json.loads(json.dumps(given)))
        state = step["state"]
        steps.append(step)
    return steps


def test_steps_raise_the_alarms_of_the_command_line() -> None:
    columns = votes(3000, change=1500)
    steps = stepped(columns, 500)
    direct = Windows(size=500).push(columns)
    assert [len(step["alarms"]) for step in steps] == [len(one.alarms) for one in direct]
    assert sum(len(step["alarms"]) for step in steps) == 1
    proved = [alarm["proves"] for step in steps for alarm in step["alarms"]]
    assert proved == [alarm.proves for one in direct for alarm in one.alarms]


def test_a_judge_without_votes_is_silent_and_not_gone() -> None:
    columns = votes(2000)
    columns["bob"] = columns["bob"][:1000] + [None] * 1000
    kinds = [kind for step in stepped(columns, 500) for kind, _ in step["notices"]]
    assert "silent" in kinds
    state = stepped(votes(500), 500)[0]["state"]
    left = {name: held for name, held in votes(500).items() if name != "bob"}
    step = drift_step({"state": state, "columns": left, "alpha": 0.05, "key": "judge"})
    assert not step["started"]


def test_a_new_judge_begins_the_test_anew() -> None:
    state = stepped(votes(500), 500)[0]["state"]
    more = {**votes(500), "new": ["1"] * 500}
    assert drift_step({"state": state, "columns": more, "alpha": 0.05, "key": "judge"})["started"]


def test_words_that_are_no_vote_are_read_as_silence() -> None:
    columns = {
        name: ["abstain" if k % 2 else v for k, v in enumerate(c)] for name, c in votes(100).items()
    }
    given = {"state": None, "columns": columns, "alpha": 0.05, "key": "s", "missing": ["abstain"]}
    silent = {name: [None if v == "abstain" else v for v in c] for name, c in columns.items()}
    read, left_out = drift_step(given), drift_step({**given, "columns": silent})
    assert read["state"]["watch"]["labels"] == left_out["state"]["watch"]["labels"]


def _vote(web: Web, judge: str, items: range) -> None:
    lines = [json.dumps({"item": str(n), "votes": {judge: "x"}}) for n in items]
    assert web.post("/v1/streams/s/records", content="\n".join(lines)).status_code == 200


@both
def test_early_rows_of_a_window_do_not_get_longer_for_their_votes(
    service: Service, web: Web, clock: Clock
) -> None:
    web.put("/v1/streams/s", json={"window": 60, "settle": SETTLE})
    service.jobs.plan()

    def pass_time(seconds: float) -> None:
        clock.now += seconds
        service.jobs.run_due()

    _vote(web, "ann", range(20))
    pass_time(SETTLE / 2)
    _vote(web, "bob", range(10))  # in time
    pass_time(SETTLE / 2 + 6)
    _vote(web, "bob", range(10, 20))  # too late for the test, though the window is still open
    _vote(web, "ann", range(20, 40))
    pass_time(SETTLE + 6)

    def look(reader: object) -> tuple[dict[str, list[str | None]], bool, bool]:
        rows = [row for (row,) in reader.all("select id from rows order by id")]  # type: ignore[attr-defined]
        found = vote_columns(reader, find_stream(reader, "s"), rows[0], rows[-1])  # type: ignore[arg-type]
        return found, is_seen(reader, 1, rows[-1]), is_seen(reader, 1, rows[-1] + 1)  # type: ignore[arg-type]

    votes, last, beyond = service.read(look)
    assert votes == {"ann": ["x"] * 40, "bob": ["x"] * 10 + [None] * 30}
    assert (last, beyond) == (True, False)
    lines = web.get("/v1/streams/s/rows").text.splitlines()
    assert sum("bob" in line for line in lines) == 20  # results have every vote


SIZE, SETTLE = 500, 600.0


@pytest.fixture
def here(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compute in this process: starting a worker takes longer than the test."""

    def ask(work: str, stream: str, given: Any, **_: object) -> str:
        return drift_step(json.loads(json.dumps(given)))

    monkeypatch.setattr(service.worker, "ask", ask)


def posted(web: Web, columns: dict[str, list[str | None]], *, start: int = 0) -> None:
    """Post the votes judge by judge, as judges send them."""
    names = list(columns)
    n = len(columns[names[0]])
    for name in names:
        lines = [
            json.dumps({"item": str(start + i), "votes": {name: columns[name][i]}})
            for i in range(n)
            if columns[name][i] is not None
        ]
        answer = web.post("/v1/streams/s/records", content="\n".join(lines))
        assert answer.status_code == 200, answer.text


def settle(service: Service, clock: Clock) -> None:
    """Notice that windows are full, then let the settle time pass and close them."""
    service.jobs.plan()
    for _ in range(2):
        clock.now += SETTLE + 6
        service.jobs.run_due()


def made(web: Web) -> None:
    assert web.put("/v1/streams/s", json={"window": SIZE, "settle": SETTLE}).status_code == 200


def test_a_change_raises_one_alarm_with_the_words_of_judge(
    service: Service, web: Web, clock: Clock
) -> None:
    made(web)
    columns = votes(2000, change=1000)
    posted(web, columns)  # type: ignore[arg-type]
    settle(service, clock)
    closed = web.get("/v1/streams/s/windows").json()["windows"]
    assert [one["rows"] for one in closed] == [SIZE] * 4
    assert all(one["closed"] for one in closed)
    assert closed[0]["result"]["verb"] == "judge"
    changes = [one for one in web.get("/v1/alerts").json()["alerts"] if one["name"] == "change"]
    direct = [alarm for one in Windows(size=SIZE).push(columns) for alarm in one.alarms]
    assert len(changes) == len(direct) == 1
    # The hash that breaks ties is keyed by the stream, so evidence may differ; the place may not.
    assert abs(changes[0]["detail"]["around"] - 1000) <= 150
    assert changes[0]["does_not_prove"] == direct[0].does_not_prove


@pytest.mark.usefixtures("here")
def test_more_items_give_an_alarm_its_final_cause_and_raise_no_second_one(
    service: Service, web: Web, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(web)
    columns = votes(3000, change=1000)
    compute = service.worker.ask

    def ask(*order: Any, **_: object) -> Any:
        """Let the naming, which confirms the cause here, find another one."""
        step = compute(*order)
        for naming in step["namings"]:
            naming |= {"cause": "More than one thing changed", "likely": None}
        return step

    monkeypatch.setattr(service.worker, "ask", ask)
    posted(web, {name: column[:2000] for name, column in columns.items()})  # type: ignore[misc]
    settle(service, clock)
    (first,) = web.get("/v1/alerts").json()["alerts"]
    assert "alone changed, around item" in first["what"]
    web.post(f"/v1/alerts/{first['id']}/seen")
    posted(web, {name: column[2000:] for name, column in columns.items()}, start=2000)  # type: ignore[misc]
    settle(service, clock)
    (now,) = web.get("/v1/alerts").json()["alerts"]
    assert (now["id"], now["at"], now["seen"]) == (first["id"], first["at"], None)
    assert now["what"].startswith("s: the votes changed, around item")
    assert now["proves"] == first["proves"] + ". With 1,000 more items: More than one thing changed"
    assert now["detail"]["likely"] is None


@pytest.mark.usefixtures("here")
def test_a_silent_judge_and_a_new_spelling_are_told(
    service: Service, web: Web, clock: Clock
) -> None:
    made(web)
    columns: dict[str, list[str | None]] = dict(votes(2000))
    columns["bob"] = columns["bob"][:1000] + [None] * 1000
    columns["eve"] = columns["eve"][:1000] + [f"label {v}" for v in columns["eve"][1000:]]
    posted(web, columns)
    settle(service, clock)
    names = {one["name"] for one in web.get("/v1/alerts").json()["alerts"]}
    assert {"silent", "spelling"} <= names


@pytest.mark.usefixtures("here")
def test_rows_without_votes_are_no_reason_to_stop(service: Service, web: Web, clock: Clock) -> None:
    made(web)
    lines = [json.dumps({"item": str(i), "grades": {"g": 0.5}}) for i in range(SIZE)]
    web.post("/v1/streams/s/records", content="\n".join(lines))
    settle(service, clock)
    [window] = web.get("/v1/streams/s/windows").json()["windows"]
    assert window["closed"] is not None
    assert "no judge voted" in window["change"]["reason"]


@pytest.mark.usefixtures("here")
def test_a_killed_test_is_made_again_and_counts_once(
    service: Service, web: Web, clock: Clock
) -> None:
    made(web)
    posted(web, votes(500))  # type: ignore[arg-type]
    service.jobs.plan()
    clock.now += 6
    service.jobs.run_due()
    clock.now += SETTLE
    before = service.writer.do
    calls = {"n": 0}

    def fails_once(work: object, **more: object) -> object:
        if getattr(work, "__qualname__", "").startswith("_close"):
            calls["n"] += 1
            if calls["n"] == 1:
                raise OSError("disk full")
        return before(work, **more)  # type: ignore[arg-type]

    service.writer.do = fails_once  # type: ignore[method-assign, assignment]
    service.jobs.run_due()
    assert web.get("/v1/streams/s/windows").json()["windows"][0]["closed"] is None
    clock.now += 120
    service.jobs.run_due()
    assert calls["n"] == 2
    assert web.get("/v1/streams/s/windows").json()["windows"][0]["closed"] is not None


@pytest.mark.usefixtures("here")
def test_an_import_opens_many_windows_in_few_transactions_and_reads_no_row_twice(
    service: Service, web: Web, clock: Clock
) -> None:
    assert web.put("/v1/streams/s", json={"window": 10, "settle": SETTLE}).status_code == 200
    posted(web, {"gpt": ["a", "b"] * 104})
    service.jobs.plan()
    clock.now += 6
    before = service.writer.figures.commits
    service.jobs.run_due()
    kept = service.read(
        lambda reader: reader.all("select idx, row_from, row_to, rows from windows order by idx")
    )
    assert [one[3] for one in kept] == [10] * 20
    assert all(after[1] > one[2] for one, after in itertools.pairwise(kept))
    assert service.writer.figures.commits - before < 20
    # The next rows of a stream come from an index in the order of arrival, without a sort.
    plan = service.read(
        lambda reader: reader.all(
            "explain query plan select id from rows where stream = 1 and id >= 5 order by id limit 9"
        )
    )
    assert "row_order" in str(plan)
    assert "TEMP B-TREE" not in str(plan)


def days(rng: random.Random, n: int, *, worse: int | None = None) -> list[dict[str, object]]:
    """Return records of days with a cycle: good answers come by day, bad ones at night."""
    records: list[dict[str, object]] = []
    for k in range(n * 24 * 20):
        hour = k // 20
        share = 0.6 + 0.15 * math.sin(2 * math.pi * hour / 24)
        truth = "good" if rng.random() < share else "bad"
        other = {"good": "bad", "bad": "good"}[truth]
        skill = {"ann": 0.9, "bob": 0.85, "eve": 0.8}
        if worse is not None and hour >= worse:
            skill["ann"] = 0.65
        cast = {name: truth if rng.random() < p else other for name, p in skill.items()}
        # 1 December 2026 is the first day; hours are those of `at`, whenever the records come.
        records.append({"item": str(k), "at": 1_796_083_200 + hour * 3600, "votes": cast})
    return records


def told(
    service: Service, web: Web, clock: Clock, records: list[dict[str, object]], **settings: object
) -> list[dict[str, Any]]:
    """Post records to a stream with these settings; return its changes."""
    assert web.put("/v1/streams/s", json={"settle": SETTLE, **settings}).status_code == 200
    for start in range(0, len(records), 5_000):
        answer = web.post("/v1/streams/s/records", json=records[start : start + 5_000])
        assert answer.status_code == 200, answer.text
    settle(service, clock)
    return [one for one in web.get("/v1/alerts").json()["alerts"] if one["name"] == "change"]


@pytest.mark.usefixtures("here")
def test_a_daily_season_raises_no_alarm_and_a_drift_in_it_is_told_once_with_its_cause(
    service: Service, web: Web, clock: Clock
) -> None:
    rng = random.Random(5)
    found = told(service, web, clock, days(rng, 16, worse=11 * 24), season="daily")
    [alarm] = found
    assert alarm["what"] == "s: ann alone changed, seen in the day from 2026-12-12"
    assert alarm["detail"]["from"] == "2026-12-12"
    kept = web.get("/v1/streams/s/windows").json()["windows"]
    assert [one["rows"] for one in kept] == [480] * 15
    assert kept[0]["result"]["n_items"] == 480


@both
@pytest.mark.usefixtures("here")
def test_a_day_that_is_not_whole_is_not_tested(service: Service, web: Web, clock: Clock) -> None:
    rng = random.Random(6)
    told(service, web, clock, days(rng, 4)[7 * 20 :], season="daily")
    first, second, *_ = web.get("/v1/streams/s/windows").json()["windows"]
    assert "not whole" in first["change"]["reason"]
    assert second["result"] is not None


@pytest.mark.usefixtures("here")
def test_a_change_that_is_too_small_to_tell_is_not_told(
    service: Service, web: Web, clock: Clock
) -> None:
    columns = votes(2000, change=1000)
    records = [
        {"item": str(k), "votes": {name: column[k] for name, column in columns.items()}}
        for k in range(2000)
    ]
    assert told(service, web, clock, records, window=SIZE, smallest_change=0.9) == []


def test_small_changes_of_one_series_add_up() -> None:
    stream = StreamRecord(1, "s", StreamSettings(smallest_change=0.1), b"", 0, 0, 0.0)
    untold: dict[str, float] = {}
    steps = [(0.9, 0.84), (0.84, 0.81), (0.81, 0.78)]
    said = []
    for before, after in steps:
        one = {"series": "agreement", "judge": "a", "label": None, "proves": "it fell"}
        one |= {"before": before, "after": after}
        said.append(_is_large(stream, one, untold))
    assert said == [False, False, True]
    assert one["before"] == 0.9
    assert "came from 90.0" in str(one["proves"])
    assert untold == {}


@pytest.mark.usefixtures("here")
def test_what_follows_an_alarm_at_once_is_the_same_event(
    service: Service, web: Web, clock: Clock
) -> None:
    made(web)
    columns: dict[str, list[str | None]] = dict(votes(3000, change=1000))
    columns["bob"] = columns["bob"][:2000] + [None] * 1000
    posted(web, columns)
    settle(service, clock)
    [alarm] = web.get("/v1/alerts").json()["alerts"]
    assert alarm["name"] == "change"
    assert "Then: bob cast no vote" in alarm["proves"]
