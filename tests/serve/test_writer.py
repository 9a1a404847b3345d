"""The one writer: groups, refusals, a full disk, a database that is gone."""

from __future__ import annotations

import threading

import pytest

from tallystick.serve.auth import HttpProblem
from tallystick.serve.client import check_stream
from tallystick.serve.database import Transaction
from tallystick.serve.jobs import Service
from tests.serve.web import Web


def test_what_waits_together_is_committed_together(service: Service) -> None:
    gate = threading.Event()
    first = service.writer.submit(lambda _: gate.wait(30))
    rest = [
        service.writer.submit(
            lambda transaction, n=n: transaction.run(
                "insert into fact (name, value) values (?, '')", (f"f{n}",)
            )
        )
        for n in range(50)
    ]
    before = service.writer.figures.commits
    gate.set()
    first.result(30)
    for one in rest:
        assert one.result(30) == 1
    assert service.writer.figures.commits - before <= 3


def test_one_that_is_refused_leaves_the_others_of_its_group(service: Service) -> None:
    gate = threading.Event()
    held = service.writer.submit(lambda _: gate.wait(30))

    def good(transaction: Transaction) -> int:
        return transaction.run("insert into fact (name, value) values ('good', '')")

    def bad(transaction: Transaction) -> None:
        transaction.run("insert into fact (name, value) values ('bad', '')")
        raise HttpProblem(409, "no")

    futures = [service.writer.submit(good), service.writer.submit(bad)]
    gate.set()
    held.result(30)
    assert futures[0].result(30) == 1
    with pytest.raises(HttpProblem):
        futures[1].result(30)
    names = service.read(lambda reader: reader.all("select name from fact"))
    assert names == [("good",)]


def test_a_full_disk_is_503_keeps_no_half_batch_and_goes_on_when_there_is_room(
    web: Web, service: Service
) -> None:
    web.put("/v1/streams/qa", json={})
    url = "/v1/streams/qa/records"
    assert web.post(url, json=[{"item": "first", "votes": {"a": "x"}}]).status_code == 200
    connection = service.store._writer  # type: ignore[attr-defined]
    [(pages,)] = connection.execute("pragma page_count").fetchall()
    connection.execute(f"pragma max_page_count = {pages + 4}")
    big = [{"item": f"{n:0200d}", "votes": {"a": "x", "b": "y"}} for n in range(2000)]
    full = web.post(url, json=big, headers={"Idempotency-Key": "big"})
    assert full.status_code == 503, full.text
    assert full.headers["retry-after"]
    assert web.get("/readyz").status_code == 503
    assert web.get("/v1/streams/qa").json()["rows"] == 1
    connection.execute("pragma max_page_count = 1000000")
    assert web.get("/readyz").status_code == 200
    again = web.post(url, json=big, headers={"Idempotency-Key": "big"})
    assert again.json()["new"] == 2000
    assert again.json()["again"] is False
    assert check_stream(service.store, "qa").problems == ()


def test_a_writer_that_was_stopped_refuses(service: Service) -> None:
    service.writer.stop()
    with pytest.raises(HttpProblem, match="stopping"):
        service.writer.submit(lambda _: None)
