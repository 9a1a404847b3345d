"""What the worker answers: counts where they suffice, rows where not, and why there is nothing."""

from __future__ import annotations

from tallystick.serve.answer import answer_stream, arrow_rows, counted_rows
from tallystick.serve.auth import Span
from tallystick.serve.jobs import Service
from tallystick.serve.results import call_of, counts_suffice, offered
from tallystick.serve.rows import StreamBook
from tallystick.serve.streams import find_stream
from tallystick.table import Tally
from tests.serve.equal import post
from tests.serve.web import Web


def test_the_kept_counts_are_the_tally_of_the_rows(web: Web, service: Service) -> None:
    post(web, "qa", 8)
    with service.store.snapshot() as reader:
        book = StreamBook(reader, find_stream(reader, "qa"))
        kept = counted_rows(book).tally
        table = arrow_rows(book)
    assert kept.n == table.num_rows
    assert kept == Tally.of(table, columns=list(kept.names))


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
    models = ["--models=gpt,b", "--item=item"]
    assert counts_suffice(call_of("compare", [*models, "--truth=label"]), table)
    assert not counts_suffice(call_of("compare", models), table)
    assert not counts_suffice(call_of("compare", [*models, "--truth=label", "--stop-early"]), table)


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
    assert early.why == "no row is in this window"
    found = answer_stream(service.store, "qa", "bound", {}, Span())
    assert found.result is None
    assert "prediction" in found.why
    assert "--" not in found.why


def test_a_scale_keeps_a_wrong_grade_out_and_is_the_scale_of_the_score(
    web: Web, service: Service
) -> None:
    url = "/v1/streams/qa/records"
    bad = web.put("/v1/streams/qa", json={"scale": {"gpt": [5, 1]}})
    assert bad.json()["errors"][0]["column"] == "scale"
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
