"""One table of routes makes the router, the checks and ``openapi.json``."""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, wraps
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias
from urllib.parse import parse_qs

import msgspec
from msgspec import Meta
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route as StarletteRoute

from tallystick.errors import unknown
from tallystick.serve.auth import (
    NOBODY,
    Fix,
    HttpProblem,
    Principal,
    allow,
    check_origin,
    not_json,
    too_large,
    unusable,
)
from tallystick.serve.writer import Boundary, problem_of

if TYPE_CHECKING:
    from tallystick.serve.jobs import Service

_ENCODER = msgspec.json.Encoder()

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self';"
        " connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    # Under no-referrer browsers send forms with "Origin: null", and we would refuse our own.
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Headers of every answer."""

_RAW_HEADERS = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]

MOST_BYTES = 64 * 1024
"""A body without a limit of its own is a form or a few settings."""


class Query(msgspec.Struct, forbid_unknown_fields=True):
    """The parameters of an address that takes none; others are its subclasses."""


Limit: TypeAlias = Annotated[
    int, Meta(ge=1, le=1000, description="How many at most, from 1 to 1000.")
]


@cache
def parameters_of(kind: type[Query]) -> dict[str, dict[str, Any]]:
    """Return the schema of each parameter; its description says what it may be."""
    [schema], parts = msgspec.json.schema_components([kind])
    found: dict[str, dict[str, Any]] = parts[schema["$ref"].rpartition("/")[2]]["properties"]
    return found


Work: TypeAlias = Callable[["Incoming"], Awaitable[Any]]
Look: TypeAlias = Callable[[Any, "Incoming"], Any]

TABLE: list[Route] = []
"""All routes, in the order in which their files were loaded; see `route` and `page`."""


@dataclass(frozen=True, kw_only=True)
class Route:
    """One line of the table: see `route`."""

    method: str
    path: str
    role: str
    work: Work
    body: Any = None
    record: Any = None
    answer: Any = None
    limit: int = MOST_BYTES
    query: type[Query] = Query
    open_query: bool = False
    status: int = 200
    page: bool = False

    @property
    def summary(self) -> str:
        """The first sentence of what the work says of itself."""
        return (self.work.__doc__ or "").partition("\n")[0]


def route(method: str, path: str, role: str, **more: Any) -> Callable[[Work], Work]:
    """Declare the function below as what answers an address.

    It takes an `Incoming` and returns a msgspec type that becomes JSON, or a Response. Its
    docstring is the summary in ``openapi.json``.

    Parameters
    ----------
    method, path
        As Starlette writes them; a path parameter ``{stream}`` is checked against the key.
    role
        read, write, label, admin, ``any`` key, or ``none``.
    more
        *body* (a msgspec type of a JSON body, ``bytes`` for a body that the function reads itself,
        ``dict`` for a form, whose token and origin are then checked), *record* (the type of one
        line of such bytes), *answer* (the type of the answer, or a media type), *limit* (bytes of
        the body, after unpacking), *query* (the type of the parameters; others are refused unless
        *open_query*), *status* (of a good answer).
    """

    def declared(work: Work) -> Work:
        TABLE.append(Route(method=method, path=path, role=role, work=work, **more))
        return work

    return declared


def reads(path: str, role: str, **more: Any) -> Callable[[Look], Look]:
    """Declare the function below as what a short read answers: of a reader and an `Incoming`."""

    def declared(look: Look) -> Look:
        @wraps(look)
        async def work(incoming: Incoming) -> Any:
            return await incoming.service.reading(lambda reader: look(reader, incoming))

        route("GET", path, role, **more)(work)
        return look

    return declared


def writes(method: str, path: str, role: str, **more: Any) -> Callable[[Look], Look]:
    """Declare the same for what is written: it runs in the writer's transaction."""

    def declared(change: Look) -> Look:
        @wraps(change)
        async def work(incoming: Incoming) -> Any:
            return await incoming.service.commit(lambda tx: change(tx, incoming))

        route(method, path, role, **more)(work)
        return change

    return declared


def page(method: str, path: str, role: str, **more: Any) -> Callable[[Work], Work]:
    """Declare the same for people: errors are pages, too, and what is posted is a form."""
    if method == "POST":
        more = {"body": dict, **more}
    return route(method, path, role, page=True, **more)


@dataclass
class Incoming:
    """One request, checked: who asks, for what; *more* are parameters of an open query."""

    service: Service
    route: Route
    request: Request
    who: Principal
    raw: bytes = b""
    body: Any = None
    query: Any = None
    more: Mapping[str, list[str]] = field(default_factory=dict)

    @property
    def path(self) -> Mapping[str, str]:
        """The parameters of the path."""
        return self.request.path_params

    @property
    def now(self) -> float:
        """Seconds since 1970, by the clock of the service."""
        return self.service.clock()

    def header(self, name: str) -> str | None:
        """Return a header of the request."""
        return self.request.headers.get(name)

    def unchanged(self, etag: str) -> Response | None:
        """Return 304 if the caller has this version already."""
        given = self.header("if-none-match") or ""
        if etag in [one.strip().removeprefix("W/") for one in given.split(",")]:
            return Response(status_code=304, headers={"ETag": etag})
        return None


def json_response(value: Any, *, status: int = 200, **headers: str) -> Response:
    """Return a JSON answer."""
    return Response(
        _ENCODER.encode(value),
        status_code=status,
        media_type="application/json",
        headers={name.replace("_", "-"): held for name, held in headers.items()},
    )


def mounted(service: Service, table: Sequence[Route]) -> list[StarletteRoute]:
    """Make Starlette's routes of the table."""
    return [StarletteRoute(one.path, endpoint(service, one), methods=[one.method]) for one in table]


def endpoint(service: Service, route: Route) -> Callable[[Request], Awaitable[Response]]:
    """Return what answers a route: check, read, work, and an error in one form."""
    decoder = None
    if route.body is not None and route.body not in (bytes, dict):
        decoder = msgspec.json.Decoder(route.body)

    async def answered(request: Request) -> Response:
        incoming = Incoming(service, route, request, NOBODY)
        with Boundary() as edge:
            await _checked(incoming, decoder)
            answer = await route.work(incoming)
        if edge.error is not None:
            return _failed(service, route, edge.error)
        response = (
            answer if isinstance(answer, Response) else json_response(answer, status=route.status)
        )
        held = {name for name, _ in response.raw_headers}
        response.raw_headers.extend(one for one in _RAW_HEADERS if one[0] not in held)
        return response

    return answered


async def _checked(incoming: Incoming, decoder: msgspec.json.Decoder[Any] | None) -> None:
    """Find out who asks, whether they may, and for what."""
    service, route, request = incoming.service, incoming.route, incoming.request
    if request.method not in ("GET", "HEAD") and "authorization" not in request.headers:
        check_origin(request.headers)  # a cookie, or this machine: a browser may be abused
    if route.role != "none" or route.page:  # probes must not wait for the database to know a key
        incoming.who = await service.door.who(request)
    allow(incoming.who, route.role, request.path_params.get("stream"))
    service.door.count(incoming.who)
    incoming.query, incoming.more = _asked(route, request)
    if route.body is not None:
        incoming.raw = await body_of(request, route.limit)
        if decoder is not None:
            incoming.body = _decoded(decoder, route.body, incoming.raw)
        elif route.body is dict:
            incoming.body = _form(incoming)


def _failed(service: Service, route: Route, error: Exception) -> Response:
    """Return the answer to what went wrong."""
    if isinstance(error, ClientDisconnect):
        return Response(status_code=499)
    what = f"{route.method} {route.path}"
    return _refused(route, problem_of(error, service.store.away, what))


def _refused(route: Route, problem: HttpProblem) -> Response:
    if not route.page:
        return problem_response(problem)
    from tallystick.serve.pages.site import problem_page  # which declares routes itself

    response = problem_page(problem)
    response.headers.update(HEADERS)
    return response


def problem_response(problem: HttpProblem) -> Response:
    """Return the answer to a program: what was wrong, and the way out."""
    return Response(
        _ENCODER.encode(problem.body()),
        status_code=problem.status,
        media_type="application/problem+json",
        headers={**HEADERS, **problem.headers},
    )


def _asked(route: Route, request: Request) -> tuple[Query, dict[str, list[str]]]:
    """Return the parameters of a request that its route declares, and the others."""
    if not request.scope["query_string"]:
        return route.query(), {}
    fields = {one.encode_name: one for one in msgspec.structs.fields(route.query)}
    given: dict[str, Any] = {}
    more: dict[str, list[str]] = {}
    for name, value in request.query_params.multi_items():
        if name not in fields:
            more.setdefault(name, []).append(value)
        elif fields[name].default_factory is list:
            given.setdefault(name, []).append(value)
        else:
            given[name] = value
    if more and not route.open_query:
        name = next(iter(more))
        way = unknown("parameter", name, sorted(fields))
        raise HttpProblem(422, way, Fix(way, column=name[:100]))
    try:
        return msgspec.convert(given, route.query, strict=False), more
    except msgspec.ValidationError as error:
        place, _ = misread(str(error), ())
        name = place or ""
        what = parameters_of(route.query)[name].get("description", "leave it out")
        raise unusable(name, str(given.get(name, "")), what) from error


_NOT_GZIP = "the body is not one whole gzip member"


async def body_of(request: Request, limit: int) -> bytes:
    """Read the body up to *limit* bytes, unpacked: a small gzip body may unpack to gigabytes."""
    coding = request.headers.get("content-encoding", "identity").lower()
    if coding not in ("identity", "gzip"):
        raise HttpProblem(415, f"Content-Encoding {coding[:40]!r} is not read: use gzip or none")
    unpacker = zlib.decompressobj(wbits=31) if coding == "gzip" else None
    pieces: list[bytes] = []
    size = 0
    async for piece in request.stream():
        if unpacker is not None:
            try:
                piece = unpacker.decompress(piece, limit - size + 1)
            except zlib.error as error:
                raise HttpProblem(400, _NOT_GZIP) from error
            if unpacker.unused_data:
                raise HttpProblem(400, _NOT_GZIP)
        size += len(piece)
        if size > limit:
            raise too_large(f"{limit:,} bytes")
        pieces.append(piece)
    if unpacker is not None and not unpacker.eof:
        raise HttpProblem(400, _NOT_GZIP)
    return b"".join(pieces)


def _decoded(decoder: msgspec.json.Decoder[Any], kind: Any, raw: bytes) -> Any:
    try:
        return decoder.decode(raw)
    except msgspec.ValidationError as error:
        place, way = misread(str(error), getattr(kind, "__struct_fields__", ()))
        detail = f"the body cannot be used: {way}"
        raise HttpProblem(422, detail, Fix(way, column=place)) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise not_json(error) from error


def _form(incoming: Incoming) -> Mapping[str, str]:
    """Return the fields of a form, after its token was checked."""
    fields = parse_qs(incoming.raw.decode("utf-8", "replace"), keep_blank_values=True)
    form = {name: given[-1] for name, given in fields.items()}
    if incoming.route.role != "none":
        given, kept = form.pop("csrf", ""), incoming.who.csrf
        same = hashlib.sha256(given.encode()).digest() == hashlib.sha256(kept.encode()).digest()
        if not kept or not same:
            raise HttpProblem(403, "the form has expired: load the page again")
    return form


# What the decoder says of a body, in words that tell the sender what to
# write.


_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`", re.DOTALL)


def misread(
    message: str, fields: Sequence[str], examples: Mapping[str, str] | None = None
) -> tuple[str | None, str]:
    """Return the place of an error and the way out.

    Parameters
    ----------
    message
        What the decoder says.
    fields
        The fields that the body has.
    examples
        For each field, how it is written.

    Examples
    --------
    >>> misread("Object contains unknown field `itm`", ["item", "label"])
    (None, "there is no field 'itm': did you mean 'item'?")
    >>> forms = {"label": '{"value": "pass"}'}
    >>> misread("Expected `object | null`, got `str` - at `$.label`", ["label"], forms)
    ('label', 'Expected object | null, got str: write "label": {"value": "pass"}')
    """
    what, _, path = message.partition(" - at ")
    place = re.sub(r"^\$(\[\d+\])?\.?", "", path.strip("`")) or None
    field = re.split(r"[.\[]", place)[0] if place else ""
    foreign = _UNKNOWN.fullmatch(what)
    if foreign and not field:
        name = foreign[1][:64]
        return place, unknown("field", name, fields)
    example = (examples or {}).get(field)
    form = f': write "{field}": {example}' if example is not None else ""
    return place, what.replace("`", "") + form
