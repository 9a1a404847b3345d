"""One table of routes makes the router, the checks and ``openapi.json``."""

from __future__ import annotations

import difflib
import hashlib
import logging
import re
import zlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import parse_qs

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route as StarletteRoute

from tallystick.errors import TallystickError
from tallystick.serve.auth import NOBODY, Fix, HttpProblem, Principal, allow, check_origin
from tallystick.serve.writer import Boundary

if TYPE_CHECKING:
    from tallystick.serve.jobs import Service

_LOG = logging.getLogger("tallystick.serve")
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


@dataclass(frozen=True)
class Parameter:
    """A parameter of the query, for the checks and ``openapi.json``."""

    name: str
    help: str
    kind: str = "string"
    repeats: bool = False


LIMIT = Parameter("limit", "How many at most, up to 1000.", kind="integer")

Work: TypeAlias = "Callable[[Incoming], Awaitable[Any]]"

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
    query: Sequence[Parameter] = ()
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
        the body, after unpacking), *query* (parameters; others are refused unless *open_query*),
        *status* (of a good answer).
    """

    def declared(work: Work) -> Work:
        TABLE.append(Route(method=method, path=path, role=role, work=work, **more))
        return work

    return declared


def page(method: str, path: str, role: str, **more: Any) -> Callable[[Work], Work]:
    """Declare the same for people: errors are pages, too, and what is posted is a form."""
    if method == "POST":
        more = {"body": dict, **more}
    return route(method, path, role, page=True, **more)


@dataclass
class Incoming:
    """One request, checked: who asks, for what."""

    service: Service
    route: Route
    request: Request
    who: Principal
    raw: bytes = b""
    body: Any = None
    form: Mapping[str, str] = field(default_factory=dict)

    @property
    def path(self) -> Mapping[str, str]:
        """The parameters of the path."""
        return self.request.path_params

    def query(self, name: str, default: str = "") -> str:
        """Return one parameter of the query."""
        return self.request.query_params.get(name, default)

    def limit(self, default: int) -> int:
        """Return how many things are asked for, from 1 to 1000."""
        text = self.query("limit", str(default))
        if not text.isdecimal() or len(text) > 18:
            raise HttpProblem(422, "limit is a number, such as 100", [Fix(way_out="up to 1000")])
        return min(1000, max(1, int(text)))

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
    _check_query(incoming)
    if route.body is not None:
        incoming.raw = await body_of(request, route.limit)
        if decoder is not None:
            incoming.body = _decoded(decoder, route.body, incoming.raw)
        elif route.body is dict:
            incoming.form = _form(incoming)


def _failed(service: Service, route: Route, error: Exception) -> Response:
    """Return the answer to what went wrong; what was our own error is in the log."""
    if isinstance(error, HttpProblem):
        return _refused(route, error)
    if isinstance(error, TallystickError):
        return _refused(route, HttpProblem(422, str(error)))
    if isinstance(error, ClientDisconnect):
        return Response(status_code=499)
    if isinstance(error, service.store.away):
        _LOG.warning("%s %s: the database is away: %s", route.method, route.path, error)
        problem = HttpProblem(
            503, "the database cannot be reached: ask again later", Retry_After="2"
        )
        return _refused(route, problem)
    _LOG.error("%s %s failed", route.method, route.path, exc_info=error)
    return _refused(route, HttpProblem(500, "the service made an error; its log has the trace"))


def _refused(route: Route, problem: HttpProblem) -> Response:
    if route.page:
        from tallystick.serve.pages.site import problem_page  # which declares routes itself

        response = problem_page(problem)
    else:
        response = Response(
            _ENCODER.encode(problem.body()),
            status_code=problem.status,
            media_type="application/problem+json",
        )
    response.headers.update(HEADERS)
    response.headers.update(problem.headers)
    return response


def _check_query(incoming: Incoming) -> None:
    if incoming.route.open_query or not incoming.request.scope["query_string"]:
        return
    known = {one.name for one in incoming.route.query}
    for name in incoming.request.query_params:
        if name not in known:
            ways = ", ".join(sorted(known)) or "no parameter"
            raise HttpProblem(
                422,
                f"there is no parameter {name!r}",
                [Fix(column=name[:100], way_out=f"this address takes {ways}")],
            )


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
                raise HttpProblem(400, f"the body is not gzip: {error}") from error
            if unpacker.unused_data:
                raise HttpProblem(400, "the body goes on after its gzip data: send one gzip member")
        size += len(piece)
        if size > limit:
            raise HttpProblem(413, f"the body is larger than {limit:,} bytes: send smaller batches")
        pieces.append(piece)
    if unpacker is not None and not unpacker.eof:
        raise HttpProblem(400, "the gzip body ends too early")
    return b"".join(pieces)


def _decoded(decoder: msgspec.json.Decoder[Any], kind: Any, raw: bytes) -> Any:
    try:
        return decoder.decode(raw)
    except msgspec.ValidationError as error:
        place, way = misread(str(error), getattr(kind, "__struct_fields__", ()))
        detail = f"the body cannot be used: {way}"
        raise HttpProblem(422, detail, [Fix(column=place, way_out=way)]) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise HttpProblem(400, f"the body is not JSON: {error}") from error


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


# What the decoder says of a body, in words that tell the sender what to write.


_KINDS = {
    "object": "an object",
    "array": "a list",
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "null": "null",
}
_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(.*)`", re.DOTALL)
_EXPECTED = re.compile(r"Expected `(.*)`, got `(.*)`", re.DOTALL)


def misread(
    message: str,
    fields: Sequence[str],
    *,
    examples: Mapping[str, str] | None = None,
    also: Mapping[str, str] | None = None,
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
    also
        Names that people give to a field.

    Examples
    --------
    >>> misread("Object contains unknown field `truth`", ["item", "label"], also={"truth": "label"})
    (None, "there is no field 'truth': did you mean 'label'? There are item, label")
    >>> forms = {"label": '{"value": "pass"}'}
    >>> misread("Expected `object | null`, got `str` - at `$.label`", ["label"], examples=forms)
    ('label', 'this must be an object or null, and is text: write "label": {"value": "pass"}')
    """
    what, _, path = message.partition(" - at ")
    place = re.sub(r"^\$(\[\d+\])?\.?", "", path.strip("`")) or None
    field = re.split(r"[.\[]", place)[0] if place else ""
    example = (examples or {}).get(field)
    form = f': write "{field}": {example}' if example is not None else ""
    if unknown := _UNKNOWN.fullmatch(what):
        name = unknown[1][:64]
        if field:
            return place, f"{field!r} has no field {name!r}{form}"
        near = difflib.get_close_matches(name.lower(), fields, n=1)
        known = (also or {}).get(name.lower()) or (near[0] if near else None)
        hint = f" did you mean {known!r}?" if known is not None else ""
        return place, f"there is no field {name!r}:{hint} There are {', '.join(fields)}"
    if missing := _MISSING.fullmatch(what):
        lacks = f"{field!r} lacks" if field else "this lacks"
        return place, f"{lacks} the field {missing[1]!r}{form}"
    if expected := _EXPECTED.fullmatch(what):
        wanted = " or ".join(_KINDS.get(one, one) for one in expected[1].split(" | "))
        found = _KINDS.get(expected[2], expected[2])
        return place, f"this must be {wanted}, and is {found}{form}"
    return place, what.replace("`", "")
