"""The application: the routes and jobs of every file, in one place."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tallystick.serve.boundary import Boundary
from tallystick.serve.pages import problem_page
from tallystick.serve.problem import HttpProblem
from tallystick.serve.retention import note_used
from tallystick.serve.routes import HEADERS, Route, endpoint, json_response, mounted
from tallystick.serve.service import Config, Service
from tallystick.serve.store import Store

__all__ = ["FILES", "Application", "make_app", "make_service", "routes"]

_LOG = logging.getLogger("tallystick.serve")
_RECORDS = "/v1/streams/{stream}/records"

FILES = (
    "tallystick.serve.records",
    "tallystick.serve.results",
    "tallystick.serve.export",
    "tallystick.serve.streams",
    "tallystick.serve.keys",
    "tallystick.serve.drift",
    "tallystick.serve.alerts",
    "tallystick.serve.hooks",
    "tallystick.serve.watches.routes",
    "tallystick.serve.watches.runs",
    "tallystick.serve.metrics",
    "tallystick.serve.retention",
    "tallystick.serve.nightly",
    "tallystick.serve.health",
    "tallystick.serve.queue.labels",
    "tallystick.serve.pages.site",
    "tallystick.serve.pages.door",
    "tallystick.serve.pages.home",
    "tallystick.serve.pages.stream",
    "tallystick.serve.pages.label",
    "tallystick.serve.pages.people",
    "tallystick.serve.pages.watch",
    "tallystick.serve.pages.alarms",
    "tallystick.serve.pages.keeping",
)
"""Files that export ``ROUTES``, ``JOBS``, or both. A new file is one line here."""


def routes() -> tuple[Route, ...]:
    """Return the table of routes."""
    return tuple(one for name in FILES for one in getattr(import_module(name), "ROUTES", ()))


def make_service(
    store: Store, *, config: Config | None = None, clock: Callable[[], float] = time.time
) -> Service:
    """Return a service with the jobs of every file; `Service.start` begins them."""
    jobs = tuple(one for name in FILES for one in getattr(import_module(name), "JOBS", ()))
    service = Service(store, config=config, jobs=jobs, clock=clock)
    service.memory["routes"] = routes()
    service.problem_page = problem_page
    service.on_close(lambda: _last_words(service))
    return service


def _last_words(service: Service) -> None:
    """Write down what only this process knows; a store that is away must not stop the end."""
    with Boundary() as edge:
        note_used(service)
    if edge.error is not None:
        _LOG.warning("when keys were last used was not kept: %s", edge.error)


def make_app(service: Service) -> Application:
    """Return the ASGI application of a service; it starts and closes the service itself."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        service.start()
        try:
            yield
        finally:
            await service.thread(lambda: None)
            service.close()

    async def absent(request: Request, error: Exception) -> Response:
        status = getattr(error, "status_code", 500)
        detail = f"there is nothing at {request.method} {request.url.path}: see /v1/openapi.json"
        response = json_response(
            HttpProblem(status, detail).body(), status=status, **_headers(error)
        )
        response.headers["content-type"] = "application/problem+json"
        response.headers.update(HEADERS)
        return response

    table = service.memory["routes"]
    rest = Starlette(
        routes=mounted(service, table),
        lifespan=lifespan,
        exception_handlers={404: absent, 405: absent},
    )
    [records] = [one for one in table if one.path == _RECORDS]
    return Application(rest, endpoint(service, records))


class Application:
    """Starlette, with a way of its own for records: they come a thousand times as often."""

    def __init__(self, rest: Starlette, records: Callable[[Request], Awaitable[Response]]) -> None:
        self._rest = rest
        self._records = records
        self._before, _, self._after = _RECORDS.partition("{stream}")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "http" and scope["method"] == "POST":
            path: str = scope["path"]
            if path.startswith(self._before) and path.endswith(self._after):
                name = path[len(self._before) : -len(self._after)]
                if name and "/" not in name:
                    scope["path_params"] = {"stream": name}
                    response = await self._records(Request(scope, receive, send))
                    await response(scope, receive, send)
                    return
        await self._rest(scope, receive, send)


def _headers(error: Any) -> dict[str, str]:
    return dict(getattr(error, "headers", None) or {})
