"""Results that cron or CI posts: kept once, shown, and an alarm where something changed, once."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner

from tallystick.cli.app import app
from tallystick.errors import FileError, InputError
from tallystick.serve.app import start_service
from tallystick.serve.database import open_store
from tallystick.serve.jobs import Config, Service
from tallystick.serve.posted import export_watches, send_result
from tests.serve.postgres import both
from tests.serve.web import Clock, Web, running

URL = "/v1/streams/api/posted"


def night(changed: bool, n: int = 0, **more: Any) -> dict[str, Any]:
    """What ``tallystick shift --json`` prints, in short."""
    return {
        "schema": 1,
        "verb": "shift",
        "api": "https://api.example/v1",
        "verdict": f"Night {n}.",
        "decision": "decided",
        "changed": changed,
        **more,
    }


@pytest.fixture(autouse=True)
def stream(web: Web) -> None:
    web.put("/v1/streams/api", json={})


def alarms(web: Web) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = web.get("/v1/alerts").json()["alerts"]
    return found


@both
def test_a_change_that_every_night_finds_is_one_alarm_until_it_is_over(web: Web) -> None:
    told = []
    for n, changed in enumerate([False, True, True, True, False, True]):
        answer = web.post(URL, json=night(changed, n))
        assert answer.json()["changed"] is changed
        told.append(len(alarms(web)))
    assert told == [0, 1, 1, 1, 1, 2]
    assert alarms(web)[0]["proves"] == "Night 5."
    assert [one["result"]["verdict"] for one in web.get(URL).json()["posted"]][:2] == [
        "Night 5.",
        "Night 4.",
    ]


@both
def test_the_same_result_sent_again_counts_once(web: Web) -> None:
    body = json.dumps(night(True))
    first = web.post(URL, content=body).json()
    assert web.post(URL, content=body).json() == {**first, "again": True}
    assert len(web.get(URL).json()["posted"]) == 1
    assert len(alarms(web)) == 1


def test_gates_decide_where_there_are_some(web: Web) -> None:
    assert not web.post(URL, json=night(True, gates=[{"passed": True}])).json()["changed"]
    assert web.post(URL, json=night(False, gates=[{"passed": False}])).json()["changed"]


def test_a_muted_stream_and_a_key_without_the_role(
    web: Web, clock: Clock, far: Callable[..., Web]
) -> None:
    web.put("/v1/streams/api", json={"mute_until": clock.now + 60})
    web.post(URL, json=night(True))
    assert alarms(web)[0]["seen_by"] == "muted"
    key = web.post("/v1/keys", json={"role": "read", "name": "r"}).json()["key"]
    assert far(key).post(URL, json=night(True)).status_code == 403


@both
def test_a_watch_of_the_second_version_becomes_a_table_that_shift_reads(
    service: Service, tmp_path: Path
) -> None:
    spec = {
        "api": "https://api.example/v1",
        "item": "id",
        "truth": "gold",
        "labels": ["a", "b"],
        "items": [{"id": "1", "text": "x", "gold": "a"}, {"id": "2", "text": "y", "gold": "b"}],
    }
    with service.store.write() as transaction:
        transaction.run("create table watch (name text, spec text, baseline integer)")
        transaction.run("create table answer (run integer, item text, text text)")
        transaction.run("insert into watch values ('w', ?, 7)", (json.dumps(spec),))
        transaction.run("insert into answer values (7, '1', '[\"a\", \"b\"]')")
        transaction.run("insert into answer values (7, '2', '[\"b\"]')")
    [path] = export_watches(service.store, tmp_path)
    assert path.read_text().splitlines() == ["id,text,gold,old,old.2", "1,x,a,a,b", "2,y,b,b,"]
    assert json.loads(path.with_suffix(".json").read_text())["api"] == spec["api"]
    assert export_watches(service.store, tmp_path) == []  # once


def test_a_start_exports_them(tmp_path: Path) -> None:
    store = open_store(tmp_path / "tallystick.sqlite")
    with store.write() as transaction:
        transaction.run("create table watch (name text, spec text, baseline integer)")
        transaction.run("create table answer (run integer, item text, text text)")
        spec = json.dumps({"item": "id", "items": [{"id": "1"}]})
        transaction.run("insert into watch values ('w', ?, 7)", (spec,))
    store.close()
    config = Config(folder=tmp_path, job_pause=0.0)
    start_service(config, str(tmp_path / "tallystick.sqlite")).close()
    assert (tmp_path / "watches" / "w.csv").exists()


def test_shift_posts_what_it_found_and_a_wrong_address_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = ["id,gold,old,new"]
    for k in range(300):
        gold = k % 2
        old = 1 - gold if k % 11 == 0 else gold
        rows.append(f"{k},{'ab'[gold]},{'ab'[old]},{'ab'[old if k % 3 else 0]}")
    table = tmp_path / "items.csv"
    table.write_text("\n".join(rows))
    words = f"shift {table} --item id --truth gold --old old --new new --json --post".split()
    with running(tmp_path / "serve") as server:
        url = f"{server.address}/v1/streams/api"
        httpx.put(url, json={}).raise_for_status()
        ran = CliRunner().invoke(app, [*words, url])
        assert ran.exit_code == 0, ran.output
        [kept] = httpx.get(f"{url}/posted").json()["posted"]
        assert kept["result"] == json.loads(ran.stdout)
        assert kept["changed"]
        [alarm] = httpx.get(f"{server.address}/v1/alerts").json()["alerts"]
        assert alarm["proves"] == kept["result"]["verdict"]
        absent = CliRunner().invoke(app, [*words, f"{server.address}/v1/streams/nobody"])
        assert "was not posted" in str(absent.exception)
        assert "there is no stream 'nobody'" in str(absent.exception)
    with pytest.raises(InputError, match="address of a stream"):
        send_result("api", "{}")
    with pytest.raises(FileError, match="was not posted"):
        send_result(url, "{}", wait=0.01)
