"""The check finds what is wrong, and nothing where nothing is."""

from __future__ import annotations

import pytest

from tallystick.serve.check import check_stream
from tallystick.serve.service import Service
from tests.serve.equal import post
from tests.serve.web import Clock, Web


@pytest.mark.parametrize("seed", range(6))
def test_a_stream_of_any_order_agrees_with_its_batches(
    web: Web, service: Service, seed: int
) -> None:
    post(web, "qa", seed)
    found = check_stream(service.store, "qa")
    assert found.problems == ()
    assert found.replayed > 0


@pytest.mark.parametrize(
    ("sql", "word"),
    [
        ("update tally set n = n + 1", "counts"),
        ("delete from tally", "counts"),
        ("update rows set pattern = (select min(id) from pattern)", "row"),
        ("delete from rows where id = (select max(id) from rows)", "lost"),
        ("insert into payload (row_id, body) values (99999999, 'x')", "payloads without a row"),
        ("update label set row_id = 99999999", "labels without a row"),
        ("update stream set rows = rows + 1", "the stream says"),
    ],
)
def test_what_is_wrong_is_found(web: Web, service: Service, sql: str, word: str) -> None:
    post(web, "qa", 3)
    service.writer.do(lambda transaction: transaction.run(sql))
    found = check_stream(service.store, "qa")
    assert any(word in problem for problem in found.problems), found.problems


def test_retention_drops_whole_hours_and_leaves_no_orphans(
    web: Web, service: Service, clock: Clock
) -> None:
    clock.now = 1_800_000_000.0
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
    # A late label of a row that is gone makes a new row, and the numbers of rows never repeat.
    web.post("/v1/streams/qa/records", json=[{"item": "i0", "label": {"value": "x"}}])
    assert check_stream(service.store, "qa").problems == ()
