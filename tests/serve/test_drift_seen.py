"""Every row has the same time for its votes, wherever it stands in its window."""

from __future__ import annotations

import json

import pytest

from tallystick.serve.drift import is_seen, vote_columns
from tallystick.serve.jobs import Service
from tests.serve.web import Clock, Web

SETTLE = 600.0


def _vote(web: Web, judge: str, items: range) -> None:
    lines = [json.dumps({"item": str(n), "votes": {judge: "x"}}) for n in items]
    assert web.post("/v1/streams/s/records", content="\n".join(lines)).status_code == 200


@pytest.mark.parametrize("engine", ["sqlite", "postgres"], indirect=True)
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
        found = vote_columns(reader, 1, rows[0], rows[-1])  # type: ignore[arg-type]
        return found, is_seen(reader, 1, rows[-1]), is_seen(reader, 1, rows[-1] + 1)  # type: ignore[arg-type]

    votes, last, beyond = service.read(look)
    assert votes == {"ann": ["x"] * 40, "bob": ["x"] * 10 + [None] * 30}
    assert (last, beyond) == (True, False)
    lines = web.get("/v1/streams/s/rows").text.splitlines()
    assert sum("bob" in line for line in lines) == 20  # results have every vote
