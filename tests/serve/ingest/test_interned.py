"""Numbers for words: bounded, checked, and the same after the memory was dropped."""

from __future__ import annotations

from tallystick.serve.client import check_stream
from tallystick.serve.ingest import Interned
from tallystick.serve.jobs import Service
from tests.serve.web import Web


def test_numbers_are_the_same_after_the_memory_is_dropped(web: Web, service: Service) -> None:
    web.put("/v1/streams/qa", json={})
    for round_ in range(3):
        records = [
            {"item": f"{round_}-{n}", "votes": {"a": "x", "b": "y"}, "slice": {"s": "u"}}
            for n in range(5)
        ]
        assert web.post("/v1/streams/qa/records", json=records).json()["new"] == 5
        service.forget()
    counts = service.read(
        lambda reader: [
            reader.one(f"select count(*) from {table}")
            for table in ("stream_column", "label_code", "pattern", "slice")
        ]
    )
    assert counts == [(3,), (2,), (1,), (2,)]
    assert check_stream(service.store, "qa").problems == ()


def test_the_memory_of_patterns_is_bounded() -> None:
    interned = Interned(1, b"salt")
    for n in range(100_001):
        interned._keep(n, n.to_bytes(4, "little"))
    interned.shrink()
    assert len(interned._patterns) == 0


def test_a_refused_batch_leaves_no_number_behind(web: Web, service: Service) -> None:
    web.put("/v1/streams/qa", json={})
    bad = [{"item": "a", "votes": {"new judge": "x"}}, {"item": "b", "votes": {"c": ""}}]
    assert web.post("/v1/streams/qa/records", json=bad).status_code == 422
    assert web.get("/v1/streams/qa").json()["columns"] == []
    good = [{"item": "a", "votes": {"new judge": "x"}}]
    assert web.post("/v1/streams/qa/records", json=good).status_code == 200
    assert check_stream(service.store, "qa").problems == ()


def test_names_that_the_command_line_cannot_say_are_refused(web: Web) -> None:
    web.put("/v1/streams/qa", json={})
    web.post("/v1/streams/qa/records", json=[{"item": "a", "votes": {"gpt": "x"}}])
    for name in ("a,b", "a*", " a", "GPT", "Label", "ITEM", "row", "a\nb", ""):
        answer = web.post("/v1/streams/qa/records", json=[{"item": "a", "votes": {name: "x"}}])
        assert answer.status_code == 422, name
