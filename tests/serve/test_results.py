"""Results by HTTP are the command line's own, and are computed only when something changed."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick import judge
from tallystick.serve.app import make_app, make_service
from tallystick.serve.database import open_store
from tallystick.serve.jobs import Config, Service
from tallystick.table import Tally
from tests.laws.test_one_answer import table
from tests.serve.equal import QUERIES, differences, post
from tests.serve.web import Clock, Loop, Web

RECORDS = "/v1/streams/{}/records"


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One service, and so one worker process, for all tests of this file."""
    folder = tmp_path_factory.mktemp("results")
    store = open_store(folder / "serve.sqlite", durability="normal")
    service = make_service(store, config=Config(job_pause=0.0, folder=folder), clock=Clock())
    yield service
    service.close()


@pytest.fixture(scope="module")
def site(busy: Service) -> Iterator[Web]:
    with Loop() as loop:
        yield Web(make_app(busy), loop)


@pytest.mark.parametrize("seed", [1, 2])  # benchmarks/truth/serve_equal.py runs 300
def test_http_and_the_command_line_say_the_same(site: Web, tmp_path: Path, seed: int) -> None:
    stream = f"s{seed}"
    post(site, stream, seed, odd=seed % 2 == 0)
    for verb, query in QUERIES[seed - 1 :: 6]:  # together they are asked once
        assert differences(site, stream, tmp_path, verb, query) == [], (verb, query)


def test_an_empty_stream_is_unknowable_and_says_why(site: Web) -> None:
    site.put("/v1/streams/empty", json={})
    for verb in ("judge", "score", "compare", "bound"):
        answer = site.get(f"/v1/streams/empty/results/{verb}")
        assert answer.status_code == 200, answer.text
        body = answer.json()
        assert (body["decision"], body["n_items"]) == ("unknowable", 0)
        assert "no row yet" in body["verdict"]


def test_an_etag_saves_the_answer_until_a_record_comes(site: Web) -> None:
    site.put("/v1/streams/tag", json={})
    votes = [{"item": str(n), "votes": {"a": "x", "b": "x" if n % 3 else "y"}} for n in range(30)]
    site.post(RECORDS.format("tag"), json=votes)
    url = "/v1/streams/tag/results/judge"
    first = site.get(url)
    etag = first.headers["etag"]
    again = site.get(url, headers={"If-None-Match": etag})
    assert again.status_code == 304
    assert again.content == b""
    site.post(RECORDS.format("tag"), json=[{"item": "new", "votes": {"a": "x", "b": "x"}}])
    changed = site.get(url, headers={"If-None-Match": etag})
    assert changed.status_code == 200
    assert changed.json()["n_items"] == 31
    assert changed.json()["as_of"] > first.json()["as_of"]


def test_the_tally_is_the_tally_of_the_rows(site: Web, tmp_path: Path) -> None:
    post(site, "pic", 5)
    path = tmp_path / "t.tally"
    path.write_bytes(site.get("/v1/streams/pic/tally").content)
    held = Tally.load(path)
    rows = tmp_path / "rows.csv"
    rows.write_bytes(site.get("/v1/streams/pic/rows?format=csv").content)
    assert held == Tally.of(rows, columns=list(held.names))


def test_a_worker_that_dies_or_hangs_is_answered_503_and_then_right(
    site: Web, busy: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.put("/v1/streams/die", json={})
    votes = [{"item": str(n), "votes": {"a": "x", "b": "x" if n % 3 else "y"}} for n in range(30)]
    site.post(RECORDS.format("die"), json=votes)
    url = "/v1/streams/die/results/judge?alpha="
    assert site.get(url + "0.1").status_code == 200
    assert busy.worker.pid is not None
    os.kill(busy.worker.pid, signal.SIGSTOP)
    monkeypatch.setattr(busy.worker, "_patience", 0.5)
    hung = site.get(url + "0.2")
    assert hung.status_code == 503
    assert hung.headers["retry-after"]
    monkeypatch.setattr(busy.worker, "_patience", 30.0)
    assert site.get(url + "0.2").status_code == 200
    assert site.get(url + "0.25").status_code == 200  # what hung was asked of the second worker
    assert busy.worker.pid is not None
    os.kill(busy.worker.pid, signal.SIGKILL)
    answers = {site.get(url + "0.3").status_code for _ in range(2)}
    assert answers <= {200, 503}
    assert site.get(url + "0.3").status_code == 200


@pytest.mark.parametrize("seed", [0, 3])
def test_the_service_has_the_answer_of_every_verb(site: Web, seed: int) -> None:
    held = table(seed)
    names = [name for name in held if name not in ("id", "gold")]
    site.put(f"/v1/streams/law{seed}", json={})
    records = [
        {
            "item": item,
            "votes": {name: held[name][at] for name in names if held[name][at] is not None},
            "label": held["gold"][at] and {"value": held["gold"][at], "by": "ann"},
        }
        for at, item in enumerate(held["id"])
    ]
    for start in range(0, len(records), 100):
        sent = site.post(RECORDS.format(f"law{seed}"), json=records[start : start + 100])
        assert sent.status_code == 200, sent.text
    own = judge(held, judges=names, truth="gold", population="these").to_dict()
    url = f"/v1/streams/law{seed}/results/{{}}?population=these"
    judged = site.get(url.format("judge")).json()["judges"]
    bounded = site.get(url.format("bound") + "&prediction=gpt").json()["gold"][0]
    rows = [(one["name"], one["accuracy"], one["interval"]) for one in judged]
    known = {one["name"]: one for one in own["judges"]}
    assert {name for name, _, _ in rows} == set(known)
    for name, estimate, interval in [*rows, ("gpt", bounded["estimate"], bounded["interval"])]:
        assert estimate == pytest.approx(known[name]["accuracy"], abs=1e-9)
        assert interval == pytest.approx(known[name]["interval"], abs=1e-9)
