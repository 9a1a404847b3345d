"""Whether the service is alive and ready, and what it offers."""

from __future__ import annotations

import msgspec
from starlette.responses import Response

import tallystick
from tallystick.serve.boundary import Boundary
from tallystick.serve.openapi import description
from tallystick.serve.problem import HttpProblem
from tallystick.serve.routes import Incoming, Route, json_response

__all__ = ["ROUTES", "Health"]


class Health(msgspec.Struct):
    """What /healthz and /readyz say."""

    status: str
    version: str


async def healthz(incoming: Incoming) -> Health:
    """Say that the process answers."""
    return Health("ok", tallystick.__version__)


async def readyz(incoming: Incoming) -> Health:
    """Say that records can be taken: the writer lives, and the database is read and written."""
    service = incoming.service
    if not service.writer.is_alive():
        raise HttpProblem(503, "the writer has not committed for 5 seconds", Retry_After="5")
    with Boundary() as edge:
        await service.reading(lambda reader: reader.one("select max(version) from schema_version"))
        if service.writer.refused:  # nobody may post until we are ready, so we must try ourselves
            await service.writer.try_again()
    if edge.error is not None:  # whatever the database says, it is not ready
        raise HttpProblem(503, f"the database cannot be used: {edge.error}", Retry_After="5")
    return Health("ready", tallystick.__version__)


async def openapi(incoming: Incoming) -> Response:
    """Return the description of every route."""
    return json_response(
        incoming.service.memory.setdefault("openapi", description(incoming.service))
    )


def _twice(path: str, **given: object) -> tuple[Route, Route]:
    """Serve an address at the root, where probes look, and under /v1."""
    return tuple(  # type: ignore[return-value]  # there are two of them
        Route(method="GET", path=before + path, role="none", **given)  # type: ignore[arg-type]
        for before in ("", "/v1")
    )


ROUTES: tuple[Route, ...] = (
    *_twice("/healthz", work=healthz, summary="Is the process alive?", answer=Health),
    *_twice("/readyz", work=readyz, summary="Can records be taken?", answer=Health),
    *_twice(
        "/openapi.json",
        work=openapi,
        summary="What this service offers.",
        answer="application/json",
    ),
)
