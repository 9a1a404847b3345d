"""Rows are read as of one moment, exported as text, and known by where their labels stand."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pyarrow.parquet as pq
import pytest

from tallystick.serve.answer import answer_stream, counted_rows
from tallystick.serve.auth import Span
from tallystick.serve.jobs import Service
from tallystick.serve.queue import population
from tallystick.serve.results import call_of, counts_suffice, offered
from tallystick.serve.rows import StreamBook, label_rows, pieces
from tallystick.serve.streams import find_stream
from tests.serve.equal import post
from tests.serve.postgres import both
from tests.serve.web import Web


@both
def test_words_that_come_while_rows_are_read_belong_to_the_next_reading(
    web: Web, service: Service
) -> None:
    web.put("/v1/streams/qa", json={"open": True})
    url = "/v1/streams/qa/records"
    web.post(url, json=[{"item": n, "votes": {"a": "x"}} for n in range(5)])
    with service.store.snapshot() as reader:
        book = StreamBook(reader, find_stream(reader, "qa"))
        more = [{"item": 0, "votes": {"b": "new"}}, {"item": 9, "votes": {"a": "newer"}}]
        assert web.post(url, json=more).status_code == 200
        found = [row for piece in pieces(book) for row in piece]
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
    assert set(found.pattern.tolist()) <= found.votes.keys()


def test_the_formats_hold_the_same_cells(web: Web) -> None:
    post(web, "qa", 4)
    lines = web.get("/v1/streams/qa/rows?format=ndjson").text.splitlines()
    rows = [json.loads(line) for line in lines]
    table = web.get("/v1/streams/qa/rows?format=csv")
    assert table.headers["content-disposition"] == 'attachment; filename="qa.csv"'
    cells = list(csv.DictReader(io.StringIO(table.text)))
    assert [{k: v for k, v in row.items() if v} for row in cells] == rows
    packed = web.get("/v1/streams/qa/rows?format=parquet")
    assert packed.headers["content-disposition"] == 'attachment; filename="qa.parquet"'
    table = pq.read_table(io.BytesIO(packed.content)).to_pylist()
    assert [{k: v for k, v in row.items() if v is not None} for row in table] == rows


def test_no_cell_is_a_formula_and_numbers_stay_numbers(web: Web) -> None:
    web.put("/v1/streams/qa", json={})
    records = [
        {"item": "=cmd|' /C calc'!A0", "votes": {"a": "@SUM(1)", "b": "-1", "c": "+x"}},
        {"item": "-2", "grades": {"d": -1.5}},
    ]
    assert web.post("/v1/streams/qa/records", json=records).status_code == 200
    text = web.get("/v1/streams/qa/rows?format=csv").text
    [_, first, second] = list(csv.reader(io.StringIO(text)))
    assert first == ["'=cmd|' /C calc'!A0", "'@SUM(1)", "-1", "'+x", ""]
    assert second == ["-2", "", "", "", "-1.5"]


def test_a_window_and_a_slice_choose_rows(web: Web) -> None:
    web.put("/v1/streams/qa", json={})
    records = [
        {"item": str(n), "at": 1_799_990_000 + 3600 * n, "slice": {"lang": "en" if n % 2 else "de"}}
        for n in range(6)
    ]
    web.post("/v1/streams/qa/records", json=records)

    def items(query: str) -> list[str]:
        text = web.get(f"/v1/streams/qa/rows?{query}").text
        return [json.loads(line)["item"] for line in text.splitlines()]

    assert items("") == ["0", "1", "2", "3", "4", "5"]
    assert items("slice=lang:en") == ["1", "3", "5"]
    assert items("slice=lang:en&slice=lang:de&window=last:3") == ["3", "4", "5"]
    assert items("window=last:2") == ["4", "5"]
    assert items("window=last:2&slice=lang:de") == ["2", "4"]
    assert items("window=2027-01-15T06:00Z..2027-01-15T08:00Z") == ["1", "2"]
    assert items("window=1h") == ["3", "4", "5"]  # the hour that runs, and what is dated ahead


def fill(web: Web, labelled: range, n: int = 100) -> None:
    """Post *n* rows, every other one in English; those of *labelled* have a label."""
    assert web.put("/v1/streams/qa", json={}).status_code == 200
    records: list[dict[str, Any]] = []
    for k in range(n):
        votes = {"a": "x" if k % 3 else "y", "b": "x" if k % 5 else "y"}
        record = {"item": f"i{k}", "votes": votes, "slice": {"lang": "en" if k % 2 else "de"}}
        records.append(record | ({"label": {"value": votes["a"]}} if k in labelled else {}))
    assert web.post("/v1/streams/qa/records", json=records).status_code == 200


def places(service: Service, span: Span) -> tuple[int, int] | None:
    with service.store.snapshot() as reader:
        book = StreamBook(reader, find_stream(reader, "qa"), span)
        counted = counted_rows(book)
        labelled = counted.labelled(frozenset())
        return label_rows(book, labelled, int(counted.tally.n))


@both
def test_first_and_last_label_are_found_near_and_far(web: Web, service: Service) -> None:
    fill(web, range(20, 41))
    assert places(service, Span()) == (21, 41)
    assert places(service, Span(slices=(("lang", "de"),))) == (11, 21)
    assert places(service, Span(high=1)) is None


def test_labels_on_one_block_are_warned_of(web: Web, service: Service) -> None:
    fill(web, range(10, 30))
    result = answer_stream(service.store, "qa", "judge", {}, Span()).result
    assert result is not None
    assert any("are on rows 11 to 30 of 100" in one for one in result.warnings)
    silent = answer_stream(service.store, "qa", "judge", {"missing": ["x"]}, Span()).result
    assert silent is None or not any("are on rows" in one for one in silent.warnings)


def test_counts_answer_votes_and_rows_answer_the_rest(web: Web, service: Service) -> None:
    records = [
        {"item": "a", "votes": {"gpt": "x", "b": "y"}, "grades": {"len": 3.0}, "slice": {"s": "u"}},
        {"item": "a", "label": {"value": "x"}},
    ]
    web.put("/v1/streams/qa", json={})
    assert web.post("/v1/streams/qa/records", json=records).status_code == 200
    with service.store.read() as reader:
        table = StreamBook(reader, find_stream(reader, "qa")).table
    votes = ["--judges=gpt,b", "--item=item", "--truth=label"]
    assert counts_suffice(call_of("judge", votes), table)
    assert counts_suffice(call_of("judge", [*votes, "--by=s"]), table)
    assert not counts_suffice(call_of("score", votes), table)
    models = ["--models=gpt,b", "--item=item", "--truth=label"]
    assert not counts_suffice(call_of("compare", models), table)


def test_no_option_that_touches_a_file_is_offered() -> None:
    for verb in ("judge", "score", "compare", "bound"):
        names = set(offered(verb))
        assert "alpha" in names
        files = {"known", "state", "save", "add", "fit", "cost", "target-mix", "truth-file"}
        assert not names & (files | {"html", "items-out", "junit", "summary", "json", "run"})


def test_why_there_is_no_answer_is_said(web: Web, service: Service) -> None:
    web.put("/v1/streams/qa", json={})
    empty = answer_stream(service.store, "qa", "judge", {}, Span())
    assert (empty.result, empty.why) == (None, "the stream has no row yet")
    web.post("/v1/streams/qa/records", json=[{"item": "a", "votes": {"gpt": "x"}}])
    early = answer_stream(service.store, "qa", "judge", {}, Span(high=1))
    assert early.why == "no row is in this window and slice"
    found = answer_stream(service.store, "qa", "bound", {}, Span())
    assert found.result is None
    assert "prediction" in found.why
    assert "--" not in found.why


def test_a_scale_keeps_a_wrong_grade_out_and_is_the_scale_of_the_score(
    web: Web, service: Service
) -> None:
    url = "/v1/streams/qa/records"
    assert web.put("/v1/streams/qa", json={"scale": {"gpt": [1, 5]}}).status_code == 200
    records = [
        {"item": f"i{n}", "grades": {"gpt": 2 + n % 3}, "label": {"value": 2 + n % 3}}
        for n in range(40)
    ]
    assert web.post(url, json=records).status_code == 200
    wrong = web.post(url, json=[{"item": "z", "grades": {"gpt": 11}}])
    assert wrong.status_code == 422
    assert "from 1 to 5" in wrong.json()["errors"][0]["way_out"]
    found = answer_stream(service.store, "qa", "score", {}, Span())
    assert "--scale=1,5" in found.command
    assert found.result is not None, found.why
    assert "score 2.98" in found.result.verdict
