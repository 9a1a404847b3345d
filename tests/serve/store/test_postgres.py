"""PostgreSQL keeps the same as SQLite, also from two processes, and outlives a restart."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tallystick.errors import FileError, FormatError
from tallystick.serve.app import make_app, make_service
from tallystick.serve.client import check_stream
from tallystick.serve.database import PostgresStore, open_store
from tallystick.serve.ingest import RowPlaces
from tallystick.serve.jobs import Config, Service
from tests.serve.equal import QUERIES, post, unlike
from tests.serve.postgres import fresh_database
from tests.serve.web import Clock, Loop, Web, running


@pytest.fixture(scope="module")
def address(postgres: str) -> Iterator[str]:
    """One database for all tests of this file; each uses streams of its own."""
    with fresh_database(postgres) as address:
        yield address


@pytest.fixture
def kept(address: str) -> Iterator[Service]:
    service = make_service(open_store(address), config=Config(job_pause=0.0), clock=Clock())
    yield service
    service.close()


@pytest.fixture
def pair(kept: Service, service: Service, loop: Loop) -> tuple[Web, Web]:
    """The same application on PostgreSQL and on SQLite."""
    return Web(make_app(kept), loop), Web(make_app(service), loop)


def lines(web: Web, stream: str) -> list[dict[str, Any]]:
    text = web.get(f"/v1/streams/{stream}/rows").text
    rows = [json.loads(line) for line in text.splitlines()]
    return [{k: v for k, v in row.items() if k != "row"} for row in rows]


@pytest.mark.parametrize("seed", [11, 21])
def test_both_stores_keep_and_answer_the_same(
    pair: tuple[Web, Web], kept: Service, service: Service, seed: int
) -> None:
    stream = f"pg{seed}"
    for web in pair:
        post(web, stream, seed)
    assert lines(pair[0], stream) == lines(pair[1], stream)
    assert check_stream(kept.store, stream).problems == ()
    for verb, query in QUERIES:
        assert unlike(kept.store, service.store, stream, verb, query) == [], (verb, query)


def test_two_processes_write_the_same_items_and_counts_stay_right(
    address: str, tmp_path: Path
) -> None:
    with running(tmp_path, "--db", address) as one, running(tmp_path, "--db", address) as two:
        url = "{}/v1/streams/both"
        httpx.put(url.format(one.address), json={})
        failed: list[str] = []

        def send(server: str, judge: str) -> None:
            with httpx.Client() as client:
                for start in range(0, 400, 40):
                    records = [
                        {"item": n, "votes": {judge: "x" if n % 3 else "y"}}
                        for n in range(start, start + 40)
                    ]
                    for _ in range(2):  # the same key twice, from wherever
                        answer = client.post(
                            url.format(server) + "/records",
                            json=records,
                            headers={"Idempotency-Key": f"{judge}-{start}"},
                        )
                        if answer.status_code != 200:
                            failed.append(answer.text)

        threads = [
            threading.Thread(target=send, args=(server.address, judge))
            for server in (one, two)
            for judge in ("a", "b", "c")
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failed == []
        assert httpx.get(url.format(two.address)).json()["rows"] == 400
    store = open_store(address)
    try:
        found = check_stream(store, "both")
        assert found.problems == ()
        assert found.batches == 30
    finally:
        store.close()


def test_items_with_the_same_hash_stay_apart(
    pair: tuple[Web, Web], kept: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RowPlaces, "__missing__", lambda places, name: 7)
    for web in pair:
        for stream in ("same1", "same2"):
            web.put(f"/v1/streams/{stream}", json={})
            url = f"/v1/streams/{stream}/records"
            names = [("a", ""), ("b", ""), ("a", "new")]
            for judge in ("gpt", "rule"):
                for k, (item, system) in enumerate(names):
                    one = {"item": item, "system": system, "votes": {judge: f"{stream}-{k}"}}
                    answer = web.post(url, json=[one]).json()
                    assert (answer["new"], answer["changed"]) == ((1, 0), (0, 1))[judge == "rule"]
            again = [{"item": item, "system": system} for item, system in [*names, ("c", "")]]
            answer = web.post(url, json=again).json()
            assert (answer["new"], answer["same"]) == (1, 3)
    for stream in ("same1", "same2"):
        assert lines(pair[0], stream) == lines(pair[1], stream)
        assert len(lines(pair[0], stream)) == 4
        assert check_stream(kept.store, stream).problems == ()


def test_a_second_row_of_the_same_name_is_found_by_the_check(
    pair: tuple[Web, Web], kept: Service
) -> None:
    pair[0].put("/v1/streams/twice", json={})
    pair[0].post("/v1/streams/twice/records", json=[{"item": "a"}, {"item": "b"}])
    with kept.store.write() as transaction:
        [(stream,)] = transaction.all("select id from stream where name = 'twice'")
        transaction.run(
            "insert into rows select id + 1000, u, seq_first, stream, bucket, slice, pattern, item,"
            " system, grades from rows where stream = ? and item = 'a'",
            (stream,),
        )
    problems = check_stream(kept.store, "twice").problems
    assert any("1 names of two rows" in one for one in problems)


def test_rows_are_found_by_the_indexes_that_the_schema_has(database: str) -> None:
    store = open_store(database)
    with store.snapshot() as reader:
        for way in ("seqscan", "sort"):  # a table as small as this one is scanned and sorted
            reader.all(f"select set_config('enable_{way}', 'off', true)")

        def plan(sql: str) -> str:
            return str(reader.all(f"explain {sql}"))

        stream = "from rows r where r.stream = 1 and"
        order = plan(f"select r.id {stream} {reader.row_is('>', 9)} order by {reader.in_order()}")
        assert "using row_order" in order
        assert "Incremental Sort" in order
        assert "using row_order" in plan(f"select r.item {stream} {reader.row_is('=', 9)}")
        last = plan(
            f"select r.id from rows r where r.stream = 1 order by"
            f" {reader.in_order(last_first=True)} limit 9"
        )
        assert "Index Scan Backward using row_order" in last
    store.close()


def test_a_lost_connection_is_503_and_then_works_again(
    pair: tuple[Web, Web], kept: Service
) -> None:
    web = pair[0]
    web.put("/v1/streams/lost", json={})
    url = "/v1/streams/lost/records"
    assert web.post(url, json=[{"item": "a"}]).status_code == 200
    with kept.store.read() as reader:
        reader.all(
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where pid <> pg_backend_pid() and datname = current_database()"
        )
    answers = [web.post(url, json=[{"item": "b"}]).status_code for _ in range(3)]
    assert set(answers) <= {200, 503}
    assert answers[-1] == 200
    assert web.get("/v1/streams/lost").json()["rows"] == 2


def test_a_newer_schema_is_refused_and_an_absent_server_is_named(address: str) -> None:
    store = PostgresStore(address)
    with store.write() as transaction:
        transaction.run("insert into schema_version values (999, 'later', 0)")
    try:
        with pytest.raises(FormatError, match="newer Tallystick"):
            PostgresStore(address)
    finally:
        with store.write() as transaction:
            transaction.run("delete from schema_version where version = 999")
        store.close()
    with pytest.raises(FileError, match="cannot be reached"):
        PostgresStore("postgresql://nobody:secret@127.0.0.1:1/none")
