"""The API: what it loads, what it describes, how it refuses what it cannot read, and its figures."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tallystick.serve.jobs import Service
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
