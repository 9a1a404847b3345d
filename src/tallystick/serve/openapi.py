"""``openapi.json``, made from the table of routes and the msgspec types in it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

import tallystick
from tallystick.serve.problem import ProblemBody

if TYPE_CHECKING:
    from tallystick.serve.routes import Route
    from tallystick.serve.service import Service

__all__ = ["description"]

_TEXT = {"type": "string"}
_PATH: dict[str, Any] = {
    "stream": {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"},
    "verb": {"type": "string", "enum": ["judge", "score", "compare", "bound"]},
}
"""What the parameters of paths may be."""

_REF = "#/components/schemas/{name}"


def description(service: Service) -> dict[str, Any]:
    """Return the OpenAPI 3.1 description of the routes of a service, pages left out."""
    table = [one for one in service.memory.get("routes", ()) if not one.page]
    types = [ProblemBody]
    for route in table:
        parts = (route.body, route.answer, route.record)
        types += [one for one in parts if _is_type(one) and one not in types]
    schemas, components = msgspec.json.schema_components(types, ref_template=_REF)
    of = dict(zip(map(id, types), schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for route in table:
        path = re.sub(r"{(\w+):\w+}", r"{\1}", route.path)
        paths.setdefault(path, {})[route.method.lower()] = _operation(route, of)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Tallystick", "version": tallystick.__version__},
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
    }


def _is_type(one: Any) -> bool:
    return one is not None and not isinstance(one, str) and one not in (bytes, dict)


def _operation(route: Route, of: dict[int, Any]) -> dict[str, Any]:
    """Describe one route."""
    parameters: list[dict[str, Any]] = [
        {"name": name, "in": "path", "required": True, "schema": _PATH.get(name, _TEXT)}
        for name in re.findall(r"{(\w+)", route.path)
    ]
    for one in route.query:
        kind: dict[str, Any] = {"type": one.kind}
        parameters.append(
            {
                "name": one.name,
                "in": "query",
                "description": one.help,
                "schema": {"type": "array", "items": kind} if one.repeats else kind,
            }
        )
    content = {"application/json": {"schema": of.get(id(route.answer), {})}}
    if isinstance(route.answer, str):
        content = {route.answer: {}}
    problem = {
        "description": "The request was refused; the body says why and what to do.",
        "content": {"application/problem+json": {"schema": of[id(ProblemBody)]}},
    }
    good: dict[str, Any] = {"description": route.summary, "content": content}
    if route.status == 204:
        del good["content"]
    found: dict[str, Any] = {
        "summary": route.summary,
        "parameters": parameters,
        "responses": {str(route.status): good, "4XX": problem, "503": problem},
    }
    if route.role != "none":
        found["security"] = [{"key": []}]
        found["description"] = f"Needs a key with the role {route.role} (admin may do everything)."
    if route.body is bytes:
        found["requestBody"] = {
            "required": True,
            "content": {"application/x-ndjson": {}, "application/json": {}},
        }
        if route.record is not None:
            line = of[id(route.record)]
            found["requestBody"] = {
                "required": True,
                "description": "One JSON object per line, or a list of them.",
                "content": {
                    "application/x-ndjson": {"schema": line},
                    "application/json": {"schema": {"type": "array", "items": line}},
                },
            }
    elif route.body is not None and route.body is not dict:
        found["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": of[id(route.body)]}},
        }
    return found
