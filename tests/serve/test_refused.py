"""What cannot be used is refused: with a status, the place, what is wrong, and the way out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tallystick.serve.app import make_app, make_service
from tallystick.serve.database import open_store
from tallystick.serve.jobs import Config
from tallystick.serve.routes import misread
from tests.serve.queue.people import InProcess
from tests.serve.web import Clock, Loop, Web

STREAM = "/v1/streams/qa"
RECORDS, POSTED = f"{STREAM}/records", f"{STREAM}/posted"
NIGHT = {"schema": 1, "verb": "shift", "api": "x", "verdict": "v", "decision": "decided"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    """One stream with one row: nothing of this file may change it."""
    folder = tmp_path_factory.mktemp("refused")
    store = open_store(folder / "serve.sqlite", durability="normal")
    service = make_service(store, config=Config(job_pause=0.0, folder=folder), clock=Clock())
    service.worker = InProcess(store)
    with Loop() as loop:
        web = Web(make_app(service), loop)
        record = {"item": "i", "votes": {"a": "x", "b": "y"}, "slice": {"lang": "en"}}
        assert web.put(STREAM, json={}).status_code == 200
        assert web.post(RECORDS, json=[record]).status_code == 200
        yield web
    service.close()


def line(record: Any, column: str | None, *ways: str) -> tuple[Any, ...]:
    """A line that cannot be read, after one that can."""
    return (f"POST {RECORDS}", (record,), 422, column, "1 lines", *ways)


REFUSED: list[tuple[Any, ...]] = [
    # request, body, status, column, words of what is wrong, words of the way out
    (f"POST {RECORDS}", b"", 422, None, "no record"),
    (f"POST {RECORDS}", b"not json", 400, None, "1 lines"),
    (f"POST {RECORDS}", b'{"item": "a"}\n{"item": 1.5}', 422, "item", "1 lines"),
    (f"POST {RECORDS}", b'{"item": ""}', 422, "item", "cannot be used"),
    (f"POST {RECORDS}", b'{"item": "a", "votes": {"gpt": 0.5}}', 422, "votes[...]", "1 lines"),
    (f"POST {RECORDS}", b'{"item": "a", "votes": {"gpt": ""}}', 422, "gpt", "1 lines"),
    (f"POST {RECORDS}", b'{"item": "a", "votes": {"label": "x"}}', 422, "label", "1 lines"),
    (f"POST {RECORDS}", b'{"item": "a", "at": "yesterday"}', 422, "at", "cannot be used"),
    (f"POST {RECORDS}", b'{"item": "a", "at": ""}', 422, "at", "cannot be used"),
    (f"POST {RECORDS}", b'{"item": "a", "at": 1900000000}', 422, "at", "cannot be used"),
    (f"POST {RECORDS}", b'{"item": "' + b"x" * 300 + b'"}', 422, "item", "cannot be used"),
    (f"POST {RECORDS}", b'{"item": "a\\u0000"}', 422, None, "NUL"),
    (f"POST {RECORDS}", b'{"item": "\\ud800"}', 400, None, "lines"),
    (f"POST {RECORDS}", b"\xff\xfe", 400, None, "lines"),
    (f"POST {RECORDS}", b'[{"item": "a"}, {"thing": 1}]', 422, None, "1 lines"),
    (f"POST {RECORDS}", b'{"item": "a", "extra": 1}', 422, None, "1 lines"),
    (f"POST {RECORDS}", b'{"item": "a", "label": {"value": null}}', 422, "label", "cannot be used"),
    (f"POST {RECORDS}", b'{"item": "a", "votes": {"gpt": "%s"}}' % (b"x" * 70_000), 413, None,
     "1 lines", "use 1 to"),
    line({"item": "a", "truth": "x"}, None, "'truth'", ": there are item,", "slice, show"),
    line({"item": "a", "vots": {}}, None, "did you mean 'votes'"),
    line({"item": "a", "label": "yes"}, "label", "Expected object | null", '{"value": "pass"'),
    line({"item": "a", "label": {"by": "x"}}, "label", "field value", '{"value": "pass"'),
    line({"item": "a", "label": {"value": "x", "why": 1}}, "label", "unknown field why", '{"value": "pass"'),
    line({"votes": {}}, None, "missing required field item"),
    line({"item": 1.5}, "item", "Expected int | str", '"ticket-17"'),
    line({"item": "a", "votes": {"gpt": 0.5}}, "votes[...]", "send numbers as grades"),
    line({"item": "a", "grades": {"x": "y"}}, "grades[...]", "Expected float | null, got str"),
    line({"item": "a", "at": [1]}, "at", "2026-07-31T12:00:00Z"),
    (f"PUT {STREAM}", {"windw": 3}, 422, None, "windw", "did you mean 'window'"),
    (f"PUT {STREAM}", b"{", 400, None, ""),
    (f"PUT {STREAM}", {"columns": {"label": "vote"}}, 422, "label", ""),
    (f"PUT {STREAM}", {"labels": ["1", "1.0"]}, 422, "labels", ""),
    (f"PUT {STREAM}", {"scale": {"gpt": [5, 1]}}, 422, "scale", ""),
    (f"GET {STREAM}/results/shift", None, 404, None, "", "judge"),
    (f"GET {STREAM}/results/judge?windw=24h", None, 422, None, "windw"),
    (f"GET {STREAM}/results/judge?window=yesterday", None, 422, "window", "", "last:5000"),
    (f"GET {STREAM}/results/judge?alpha=2", None, 422, None, "alpha"),
    (f"GET {STREAM}/results/judge?known=/etc/passwd", None, 422, None, "known"),
    (f"GET {STREAM}/results/score?target-mix=/etc/passwd", None, 422, None, "target-mix"),
    (f"GET {STREAM}/results/bound?label-model=/etc/passwd", None, 422, None, "label-model"),
    (f"GET {STREAM}/results/compare?add=/etc/passwd", None, 422, None, "add"),
    (f"GET {STREAM}/results/judge?truth-file=/etc/passwd", None, 422, None, "truth-file"),
    (f"GET {STREAM}/results/judge?judges=nobody", None, 422, None, "nobody"),
    (f"GET {STREAM}/results/judge?slice=en", None, 422, "slice", "", "lang:en"),
    (f"GET {STREAM}/results/judge?slice=lnag:en", None, 422, "slice", "", "did you mean 'lang'"),
    (f"GET {STREAM}/rows?slice=country:fr", None, 422, "slice", "", "lang, system"),
    (f"GET {STREAM}/tally?slice=country:fr", None, 422, "slice", "", "lang, system"),
    (f"GET {STREAM}/results/judge?window=2026-11-12T00:00Z..2026-11-10T00:00Z", None, 422, "window",
     "cannot be read"),
    (f"GET {STREAM}/rows?format=xlsx", None, 422, "format", "", "parquet"),
    (f"GET {STREAM}/rows?wndow=1h", None, 422, "wndow", "wndow"),
    (f"POST {POSTED}", {}, 422, None, ""),
    (f"POST {POSTED}", {"verb": "shift"}, 422, None, ""),
    (f"POST {POSTED}", [], 422, None, ""),
    (f"POST {POSTED}", {**NIGHT, "gates": 3}, 422, "gates", ""),
    ("POST /v1/keys", {"role": "king", "name": "x"}, 422, "role", ""),
    ("POST /v1/keys", {"role": "read", "name": "x", "days": -3}, 422, "days", ""),
    ("DELETE /v1/keys/none", None, 404, None, ""),
    ("POST /v1/alerts/7/seen", None, 404, None, ""),
    ("POST /v1/alerts/x/seen", None, 404, None, ""),
    (f"POST /v1/alerts/{'9' * 30}/seen", None, 404, None, ""),
    ("GET /v1/alerts?limit=many", None, 422, "limit", ""),
    ("POST /v1/webhook/test", None, 404, None, ""),
    ("PUT /v1/webhook", {"url": "https://127.0.0.1/x"}, 422, None, "--allow-host"),
    ("PUT /v1/webhook", {"url": "https://169.254.169.254/latest"}, 422, None, "--allow-host"),
    ("PUT /v1/webhook", {"url": "http://example.com/"}, 422, None, "--allow-host"),
    ("GET /v1/nothing", None, 404, None, "openapi"),
]  # fmt: skip


def sent(body: Any) -> list[dict[str, Any]]:
    """Return what to send; a wrong line goes in either shape of a batch."""
    if isinstance(body, tuple):
        lines = [json.dumps(one).encode() for one in ({"item": "fine"}, *body)]
        return [{"json": [{"item": "fine"}, *body]}, {"content": b"\n".join(lines)}]
    if body is None:
        return [{}]
    return [{"content": body} if isinstance(body, bytes) else {"json": body}]


def test_what_cannot_be_used_is_refused_with_the_way_out(site: Web) -> None:
    before = site.get(STREAM).json()
    wrong = []
    for request, body, status, column, said, *ways in REFUSED:
        for given in sent(body):
            answer = site.request(*request.split(), **given)
            told = answer.json()
            errors = told.get("errors") or [{}]
            way = errors[0].get("way_out", "")
            good = (
                answer.status_code == status
                and answer.headers["content-type"] == "application/problem+json"
                and errors[0].get("column") == column
                and said in told["detail"]
                and all(word in way for word in ways)
                and "`" not in answer.text
                and (not isinstance(body, tuple) or (errors[0]["line"], len(errors)) == (2, 1))
            )
            if not good:
                wrong.append((request, str(body)[:60], answer.text[:400]))
    assert wrong == []
    assert site.get(STREAM).json() == before
    assert site.get("/v1/alerts").json()["alerts"] == []
    assert site.get("/v1/keys").json()["keys"] == []


def test_what_is_not_known_is_said_as_it_came() -> None:
    assert misread("Integer value out of range", []) == (None, "Integer value out of range")
