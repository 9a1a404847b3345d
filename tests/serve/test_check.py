"""The check finds what is wrong, and nothing where nothing is."""

from __future__ import annotations

import pytest

from tallystick.serve.client import check_stream
from tallystick.serve.jobs import Service
from tests.serve.equal import post
from tests.serve.web import Web


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
