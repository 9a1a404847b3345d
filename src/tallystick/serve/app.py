"""The application: the routes and jobs of every file, in one place."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response

from tallystick.serve.problem import HttpProblem
from tallystick.serve.routes import HEADERS, Route, json_response, mounted
from tallystick.serve.service import Config, Service
from tallystick.serve.store import Store

__all__ = ["FILES", "make_app", "make_service", "routes"]

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
    "tallystick.serve.health",
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
    return service


def make_app(service: Service) -> Starlette:
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

    return Starlette(
        routes=mounted(service, service.memory["routes"]),
        lifespan=lifespan,
        exception_handlers={404: absent, 405: absent},
    )


def _headers(error: Any) -> dict[str, str]:
    return dict(getattr(error, "headers", None) or {})
