"""The application answers, refuses in one form, and describes itself."""

from __future__ import annotations

import subprocess
import sys

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
