"""The description holds every route and type, and is sound."""

from __future__ import annotations

from typing import Any

from tests.serve.web import Web


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
