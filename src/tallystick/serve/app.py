"""The application: the routes and jobs of every file, in one place."""

from __future__ import annotations

import contextlib
import gc
import json
import logging
import re
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

import tallystick
from tallystick.errors import InputError, unknown
from tallystick.serve.auth import (
    HttpProblem,
    ProblemBody,
    Role,
    connection_of,
    is_loopback,
    make_key,
)
from tallystick.serve.database import Reader, Store, Transaction, open_store, unopened
from tallystick.serve.jobs import JOBS, Config, Service
from tallystick.serve.posted import export_watches
from tallystick.serve.routes import (
    TABLE,
    Incoming,
    Route,
    endpoint,
    json_response,
    mounted,
    parameters_of,
    problem_response,
    reads,
    route,
    writes,
)
from tallystick.serve.writer import Boundary

_LOG = logging.getLogger("tallystick.serve")
_RECORDS = "/v1/streams/{stream}/records"

FILES = (
    *("ingest_write", "results", "export", "streams", "app", "drift", "alerts", "posted", "jobs"),
    *("queue", "queue_turns", "pages.site", "pages.home", "pages.stream", "pages.label"),
)
"""Files that declare routes and jobs (`route`, `page`, `job`): a new one is one word here."""


def routes() -> tuple[Route, ...]:
    """Return the table of routes."""
    for name in FILES:
        import_module(f"tallystick.serve.{name}")
    return tuple(TABLE)


def make_service(
    store: Store, *, config: Config | None = None, clock: Callable[[], float] = time.time
) -> Service:
    """Return a service with the jobs of every file; `Service.start` begins them."""
    table = routes()
    service = Service(store, config=config, jobs=tuple(JOBS), clock=clock)
    service.memory["routes"] = table
    return service


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

    async def absent(request: Request, error: Any) -> Response:
        detail = f"there is nothing at {request.method} {request.url.path}: see /openapi.json"
        return problem_response(HttpProblem(error.status_code, detail, **error.headers or {}))

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


# Open the store, bind the port, serve until interrupted.


DATABASE = "tallystick.sqlite"
LOCK = "tallystick.lock"
"""A file that the running service holds, so that no second one starts on the same folder."""

BACKLOG = 1024
"""Connections that wait for their turn."""


def address_of(folder: Path, db: str | None) -> str:
    """Return where the store is: the database that is named, or one file in the folder."""
    return db if db is not None else str(folder / DATABASE)


def start_service(config: Config, address: str, *, durability: str = "full") -> Service:
    """Open the store and make the service."""
    with contextlib.ExitStack() as held:
        if "://" not in address:
            held.enter_context(alone(Path(address).parent))
        store = open_store(address, durability=durability)
        held.callback(store.close)
        service = make_service(store, config=config)
        held.callback(service.close)
        for path in export_watches(store, config.folder or Path()):
            _LOG.warning("a watch of the earlier version: what it paid for is in %s", path)
        service.on_close(held.pop_all().close)
    return service


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Hold a folder: a second service on the same file would not see what the first one writes."""
    try:
        import fcntl
    except ImportError:  # not on Windows
        yield
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        held = (folder / LOCK).open("a", encoding="ascii")
    except OSError as error:
        raise unopened(folder, error) from error
    with held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise InputError(
                f"another service runs on {folder}: stop it, give another --data, or use --db"
                " postgresql://… for several processes"
            ) from error
        yield


def first_key(transaction: Transaction) -> str | None:
    """Make an admin key where none can be used, and return it; None where there is one."""
    usable = "role = 'admin' and revoked is null and (expires is null or expires > ?)"
    if transaction.one(f"select 1 from key where {usable} limit 1", (time.time(),)):
        return None
    return make_key(transaction, role="admin", name="first")


@contextlib.contextmanager
def bound(host: str, port: int) -> Iterator[socket.socket]:
    """Listen on an address before anything is said about it."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, port))
        except OSError as error:
            raise InputError(
                f"{host}:{port} cannot be used ({error.strerror}): is the service running"
                " already? Otherwise give another --port, or 0 for any"
            ) from error
        # A caller who reads the address may ask at once: its connection waits in the queue.
        listening.listen(BACKLOG)
        yield listening


def serve_forever(service: Service, *, say: Callable[[str], None]) -> None:
    """Serve until interrupted; every record that was accepted is on the disk."""
    import uvicorn

    from tallystick.serve.pages.site import start_link

    config = service.config
    logging.getLogger("tallystick.serve").setLevel(logging.INFO)
    # A batch makes thousands of objects, none of them in a cycle: looking for cycles after every
    # 700 took a quarter of the time of a record. What is loaded by now is never looked at again.
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    with contextlib.closing(service), bound(config.host, config.port) as listening:
        made = None if is_loopback(config.host) else service.writer.do(first_key)
        if made is not None:
            say(f"Admin key, shown once: {made}")
        host = f"[{config.host}]" if ":" in config.host else config.host
        say(f"Tallystick serves http://{host}:{listening.getsockname()[1]}")
        if config.folder is not None:
            say(f"Everything is kept in {config.folder}. Press Ctrl-C to stop.")
        if not is_loopback(config.host):
            say("! This is plain HTTP: put a proxy with TLS before it, or keys can be read.")
            say("Open the pages once, within 15 minutes, with this behind your address:")
            say(start_link(service))
        # No proxy header is believed: it would make any caller a local one.
        uvicorn.Server(
            uvicorn.Config(
                make_app(service),
                http=connection_of(service),
                log_level="warning",
                access_log=False,
                proxy_headers=False,
                server_header=False,
                timeout_graceful_shutdown=10,
                backlog=BACKLOG,
            )
        ).run(sockets=[listening])


# ``openapi.json``, made from the table of routes and the msgspec types in it.


_TEXT = {"type": "string"}
_PATH: dict[str, Any] = {
    "stream": {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"},
    "verb": {"type": "string", "enum": ["judge", "score", "compare", "bound"]},
}
"""What the parameters of paths may be."""

_REF = "#/components/schemas/{name}"


def description(service: Service) -> dict[str, Any]:
    """Return the OpenAPI 3.1 description of the routes of a service, pages left out."""
    table = [one for one in service.memory["routes"] if not one.page]
    types: list[Any] = [ProblemBody]
    for one in table:
        parts = (one.body, one.answer, one.record)
        types += [kind for kind in parts if _is_type(kind) and kind not in types]
    schemas, components = msgspec.json.schema_components(types, ref_template=_REF)
    of = dict(zip(map(id, types), schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for one in table:
        paths.setdefault(one.path, {})[one.method.lower()] = _operation(one, of)
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


def _operation(one: Route, of: dict[int, Any]) -> dict[str, Any]:
    """Describe one route."""
    parameters: list[dict[str, Any]] = [
        {"name": name, "in": "path", "required": True, "schema": _PATH.get(name, _TEXT)}
        for name in re.findall(r"{(\w+)", one.path)
    ]
    for name, schema in parameters_of(one.query).items():
        parameters.append({"name": name, "in": "query", "schema": schema})
    content = {"application/json": {"schema": of.get(id(one.answer), {})}}
    if isinstance(one.answer, str):
        content = {one.answer: {}}
    problem = {
        "description": "Refused.",
        "content": {"application/problem+json": {"schema": of[id(ProblemBody)]}},
    }
    good = {"description": one.summary, "content": content}
    found: dict[str, Any] = {
        "summary": one.summary,
        "parameters": parameters,
        "responses": {str(one.status): good, "4XX": problem, "503": problem},
    }
    if one.role != "none":
        found["security"] = [{"key": []}]
        found["description"] = f"Role: {one.role}."
    line = of.get(id(one.record if one.body is bytes else one.body))
    if line is not None:
        kinds = {"application/json": {"schema": line}}
        if one.record is not None:  # one per line, or a list of them
            kinds = {
                "application/x-ndjson": {"schema": line},
                "application/json": {"schema": {"type": "array", "items": line}},
            }
        found["requestBody"] = {"required": True, "content": kinds}
    return found


# Keys: make one (it is shown once), list them, revoke one.


class KeyOrder(msgspec.Struct, forbid_unknown_fields=True):
    """What is asked for: a role, a name, and the streams it is for (none: all)."""

    role: Role
    name: Annotated[str, Meta(max_length=200)]
    streams: list[str] = []
    days: Annotated[float, Meta(gt=0)] | None = None


class KeyShown(msgspec.Struct):
    """A new key. It cannot be shown again."""

    key: str


class KeyBody(msgspec.Struct):
    """A key as it is listed, without its secret."""

    id: str
    role: str
    name: str
    streams: list[str]
    created: float
    last_used: float | None
    expires: float | None
    revoked: float | None


class KeyList(msgspec.Struct):
    """All keys."""

    keys: list[KeyBody]


@writes("POST", "/v1/keys", "admin", body=KeyOrder, answer=KeyShown, status=201)
def post_key(transaction: Transaction, incoming: Incoming) -> KeyShown:
    """Make a key."""
    order: KeyOrder = incoming.body
    expires = None if order.days is None else incoming.now + order.days * 86_400.0
    streams = tuple(order.streams)
    return KeyShown(
        make_key(transaction, role=order.role, name=order.name, streams=streams, expires=expires)
    )


@reads("/v1/keys", "admin", answer=KeyList)
def get_keys(reader: Reader, incoming: Incoming) -> KeyList:
    """List keys."""
    used = incoming.service.door.used
    rows = reader.all(
        "select id, role, name, streams, created, last_used, expires, revoked from key"
        " order by created"
    )
    return KeyList(
        [
            KeyBody(*[*row[:3], json.loads(row[3]), row[4], used(row[0]) or row[5], *row[6:]])
            for row in rows
        ]
    )


@writes("DELETE", "/v1/keys/{key}", "admin", answer=dict[str, str])
def delete_key(transaction: Transaction, incoming: Incoming) -> dict[str, str]:
    """Revoke a key: it is refused from now on."""
    ident = incoming.path["key"]
    revoke = "update key set revoked = ? where id = ?"
    if not transaction.run(revoke, (incoming.now, ident)):
        raise HttpProblem(404, unknown("key", ident))
    transaction.run("delete from session where key = ?", (ident,))
    incoming.service.door.forget()
    return {"revoked": ident}


# Whether the service is alive and ready, and what it offers.


class Health(msgspec.Struct):
    """What /healthz and /readyz say, and what waits: bytes to write, and questions."""

    status: str
    version: str
    waiting_bytes: int
    waiting_questions: int
    longest_question: float
    """Seconds since the question that waits longest was asked."""


def _health(service: Service, status: str) -> Health:
    asked = [seconds for _, seconds in service.worker.waiting()]
    waiting = service.writer.figures.waiting_bytes
    longest = round(max(asked, default=0.0), 1)
    return Health(status, tallystick.__version__, waiting, len(asked), longest)


@route("GET", "/healthz", "none", answer=Health)
async def healthz(incoming: Incoming) -> Health:
    """Say that the process answers."""
    return _health(incoming.service, "ok")


@route("GET", "/readyz", "none", answer=Health)
async def readyz(incoming: Incoming) -> Health:
    """Say that records can be taken: the writer lives, and the database is read and written."""
    service = incoming.service
    if not service.writer.is_alive():
        raise HttpProblem(503, "the writer has not committed for 5 seconds", Retry_After="5")
    with Boundary() as edge:
        await service.reading(lambda reader: reader.one("select max(version) from schema_version"))
        if service.writer.failed:  # nobody may post until we are ready, so we must try ourselves
            await service.writer.try_again()
    if edge.error is not None:  # whatever the database says, it is not ready
        raise HttpProblem(503, f"the database cannot be used: {edge.error}", Retry_After="5")
    return _health(service, "ready")


@route("GET", "/openapi.json", "none", answer="application/json")
async def openapi(incoming: Incoming) -> Response:
    """Return the description of every route."""
    return json_response(
        incoming.service.memory.setdefault("openapi", description(incoming.service))
    )
