"""The API: what it loads, what it describes, how it refuses what it cannot read, and its figures."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tallystick.serve.jobs import Service
from tallystick.serve.routes import misread
from tests.serve.schema import INSTALLED, fuzzed
from tests.serve.test_alerts import alarm
from tests.serve.web import Web


def test_the_server_loads_nothing_that_computes() -> None:
    code = (
        "import sys; from tallystick.serve.app import make_service, routes; routes();"
        "print(*{'numpy', 'pyarrow', 'duckdb', 'tallystick.table.data'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_an_unknown_address_is_a_problem_with_the_way_out(web: Web) -> None:
    answer = web.get("/v1/nothing")
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"
    assert "openapi" in answer.json()["detail"]


def test_the_description_lists_every_route(web: Web) -> None:
    paths = web.get("/openapi.json").json()["paths"]
    assert {"get", "put", "delete"} <= set(paths["/v1/streams/{stream}"])


def refs(node: Any) -> list[str]:
    if isinstance(node, dict):
        own = [node["$ref"]] if "$ref" in node else []
        return own + [one for value in node.values() for one in refs(value)]
    if isinstance(node, list):
        return [one for value in node for one in refs(value)]
    return []


def test_every_reference_is_defined_and_every_route_has_a_summary(web: Web) -> None:
    body = web.get("/openapi.json").json()
    assert body["openapi"] == "3.1.0"
    schemas = body["components"]["schemas"]
    for ref in refs(body):
        assert ref.removeprefix("#/components/schemas/") in schemas
    for path, methods in body["paths"].items():
        for method, operation in methods.items():
            assert operation["summary"].endswith((".", "?")), (path, method)
    records = body["paths"]["/v1/streams/{stream}/records"]["post"]
    assert records["security"] == [{"key": []}]
    content = records["requestBody"]["content"]
    line = content["application/x-ndjson"]["schema"]
    assert content["application/json"]["schema"]["items"] == line
    record = schemas[line["$ref"].rpartition("/")[2]]
    parts = ("item", "system", "at", "votes", "grades", "label", "slice", "show", "replace")
    assert tuple(record["properties"]) == parts
    assert all(one["description"] for one in record["properties"].values())
    assert record["required"] == ["item"]


@pytest.mark.parametrize(
    ("record", "column", "words"),
    [
        ({"item": "a", "truth": "x"}, None, ["'truth'", "did you mean 'label'", "slice, show"]),
        ({"item": "a", "vots": {}}, None, ["did you mean 'votes'"]),
        ({"item": "a", "label": "yes"}, "label", ["an object or null", '{"value": "pass"']),
        ({"item": "a", "label": {"by": "x"}}, "label", ["'value'", '{"value": "pass"']),
        ({"item": "a", "label": {"value": "x", "why": 1}}, "label", ["'label' has no field 'why'"]),
        ({"votes": {}}, None, ["lacks the field 'item'"]),
        ({"item": 1.5}, "item", ["a whole number or text", '"ticket-17"']),
        ({"item": "a", "votes": {"gpt": 0.5}}, "votes[...]", ["send numbers as grades"]),
        ({"item": "a", "grades": {"x": "y"}}, "grades[...]", ["a number or null, and is text"]),
        ({"item": "a", "at": [1]}, "at", ["2026-07-31T12:00:00Z"]),
    ],
)
def test_a_record_that_cannot_be_read_is_answered_with_the_form(
    web: Web, record: dict[str, Any], column: str | None, words: list[str]
) -> None:
    web.put("/v1/streams/qa", json={})
    for body in ([{"item": "fine"}, record], None):
        given: Any = {"json": body} if body else {"content": b'{"item":"b"}\n' + _json(record)}
        answer = web.post("/v1/streams/qa/records", **given)
        assert answer.status_code == 422
        [error] = answer.json()["errors"]
        assert error.get("column") == column
        assert error["line"] == 2
        for word in words:
            assert word in error["way_out"], error
        assert "`" not in answer.text


def _json(record: dict[str, Any]) -> bytes:
    import json

    return json.dumps(record).encode()


def test_settings_that_cannot_be_read_name_the_fields(web: Web) -> None:
    answer = web.put("/v1/streams/qa", json={"windw": 5})
    assert answer.status_code == 422
    way = answer.json()["errors"][0]["way_out"]
    assert "did you mean 'window'" in way
    assert "retention_days" in way


def test_what_is_not_known_is_said_as_it_came() -> None:
    assert misread("Integer value out of range", []) == (None, "Integer value out of range")


def test_figures_count_records_rows_and_alarms(service: Service, web: Web) -> None:
    web.put("/v1/streams/s", json={})
    web.post("/v1/streams/s/records", content='{"item": "secret-item", "votes": {"ann": "toxic"}}')
    alarm(service, "change")
    answer = web.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = answer.text.splitlines()
    assert 'tallystick_records_total{stream="s"} 1' in lines
    assert 'tallystick_rows{stream="s"} 1' in lines
    assert 'tallystick_alarms_total{stream="",name="change"} 1' in lines
    below = [int(one.split()[1]) for one in lines if "tallystick_commit_seconds_bucket{le=" in one]
    assert below == sorted(below)
    assert f"tallystick_commit_seconds_count {below[-1]}" in lines
    assert below[-1] >= 3
    assert any(one.startswith("tallystick_queue_bytes ") for one in lines)
    assert "secret-item" not in answer.text
    assert "toxic" not in answer.text


def test_off_loopback_figures_need_a_key(web: Web, far: Callable[..., Web]) -> None:
    assert far().get("/metrics").status_code == 401
    key = web.post("/v1/keys", json={"role": "read", "name": "p"}).json()["key"]
    assert far(key).get("/metrics").status_code == 200


def test_every_line_is_a_comment_or_a_sample(web: Web) -> None:
    for line in web.get("/metrics").text.splitlines():
        assert line.startswith("# ") or float(line.rpartition(" ")[2]) >= 0


@pytest.mark.skipif(not INSTALLED, reason="schemathesis is not installed")
def test_fifty_cases_give_no_error_of_ours(tmp_path: Path) -> None:
    cases, failed = fuzzed(tmp_path, 6)
    assert failed == ""
    assert cases >= 50
