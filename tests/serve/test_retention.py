"""Retention: whole hours go, and everything that hangs on them."""

from __future__ import annotations

from tallystick.serve.client import check_stream
from tallystick.serve.jobs import Service
from tests.serve.web import Clock, Web


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
