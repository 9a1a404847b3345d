"""Rows are read as of one moment, whatever is written meanwhile."""

from __future__ import annotations

import pytest

from tallystick.serve.auth import Span
from tallystick.serve.jobs import Service
from tallystick.serve.queue import population
from tallystick.serve.rows import book_of, pieces
from tallystick.serve.streams import find_stream
from tests.serve.web import Web

both = pytest.mark.parametrize("engine", ["sqlite", "postgres"], indirect=True)


@both
def test_words_that_come_while_rows_are_read_belong_to_the_next_reading(
    web: Web, service: Service
) -> None:
    web.put("/v1/streams/qa", json={"open": True})
    url = "/v1/streams/qa/records"
    web.post(url, json=[{"item": n, "votes": {"a": "x"}} for n in range(5)])
    with service.store.snapshot() as reader:
        book = book_of(reader, find_stream(reader, "qa"))
        more = [{"item": 0, "votes": {"b": "new"}}, {"item": 9, "votes": {"a": "newer"}}]
        assert web.post(url, json=more).status_code == 200
        found = [row for piece in pieces(reader, book, Span()) for row in piece]
    assert found == [(str(n), "x") for n in range(5)]
    lines = web.get("/v1/streams/qa/rows?format=csv").text.splitlines()
    assert lines[:2] == ["item,a,b", "0,x,new"]


@both
def test_who_draws_sees_patterns_and_rows_of_one_moment(
    web: Web, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    web.put("/v1/streams/qa", json={"open": True, "labels": ["x", "y"]})
    url = "/v1/streams/qa/records"
    web.post(url, json=[{"item": n, "votes": {"a": "x"}} for n in range(5)])
    with service.store.read() as reader:
        kind = type(reader)
    streamed = kind.stream

    def later(self: object, *given: object, **more: object) -> object:
        web.post(url, json=[{"item": 0, "votes": {"b": "y"}}])  # a pattern that nobody read
        return streamed(self, *given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(kind, "stream", later)
    with service.store.snapshot() as reader:
        found = population(reader, find_stream(reader, "qa"), Span())
    assert len(found.row) == 5
    assert set(found.pattern.tolist()) <= found.codes.keys()
