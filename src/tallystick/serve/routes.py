"""One table of routes makes the router, the checks and ``openapi.json``."""

from __future__ import annotations

import difflib
import hashlib
import logging
import math
import re
import secrets
import zlib
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import parse_qs

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route as StarletteRoute

from tallystick.errors import TallystickError
from tallystick.serve.auth import NOBODY, Fix, HttpProblem, Principal, allow, check_origin
from tallystick.serve.database import Reader, Transaction
from tallystick.serve.writer import Boundary, StreamRecord, StreamSettings, find_stream
from tallystick.table import spelling

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
        incoming.raw = await _body(request, route.limit)
        if decoder is not None:
            incoming.body = _decoded(decoder, route.body, incoming.raw)
        elif route.body is dict:
            incoming.form = _form(incoming)


def _failed(service: Service, route: Route, error: Exception) -> Response:
    """Return the answer to what went wrong; what was our own error is in the log."""
    if isinstance(error, HttpProblem):
        return _refused(service, route, error)
    if isinstance(error, TallystickError):
        return _refused(service, route, HttpProblem(422, str(error)))
    if isinstance(error, ClientDisconnect):
        return Response(status_code=499)
    if isinstance(error, service.store.away):
        _LOG.warning("%s %s: the database is away: %s", route.method, route.path, error)
        problem = HttpProblem(
            503, "the database cannot be reached: ask again later", Retry_After="2"
        )
        return _refused(service, route, problem)
    _LOG.error("%s %s failed", route.method, route.path, exc_info=error)
    return _refused(
        service, route, HttpProblem(500, "the service made an error; its log has the trace")
    )


def _refused(service: Service, route: Route, problem: HttpProblem) -> Response:
    if route.page:
        response = service.problem_page(problem)
    else:
        response = Response(
            _ENCODER.encode(problem.body()),
            status_code=problem.status,
            media_type="application/problem+json",
        )
    response.headers.update(HEADERS)
    response.headers.update(problem.headers)
    return response


def plain_problem_page(problem: HttpProblem) -> Response:
    """Return an error as the simplest page; pages/ has a better one."""
    body = problem.body()
    text = f"<!doctype html><title>{escape(body.title)}</title><h1>{escape(body.title)}</h1>"
    text += f"<p>{escape(body.detail)}</p>"
    return Response(text, status_code=problem.status, media_type="text/html")


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


async def _body(request: Request, limit: int) -> bytes:
    """Read the body up to *limit* bytes, unpacked: a small gzip body may unpack to gigabytes."""
    coding = request.headers.get("content-encoding", "identity").lower()
    if coding not in ("identity", "gzip"):
        raise HttpProblem(415, f"Content-Encoding {coding!r} is not read: use gzip or none")
    pieces: list[bytes] = []
    size = 0
    unpacker = zlib.decompressobj(wbits=31) if coding == "gzip" else None
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


# Streams: make one, look at it, change its settings, delete it.


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")

RESERVED = ("item", "row", "system", "label", "at", "probability")
"""Names that rows use for themselves; a column may not have them."""


def name_problem(name: str, others: Collection[str]) -> str | None:
    """Return why a column cannot be called *name*, None if it can.

    Names go to the command line, where commas and globs mean several columns, and to engines that
    do not tell capitals from small letters.

    >>> name_problem("gpt-4*", ())
    'a name has none of , * ? [ ] and no blank at its ends'
    """
    if name.lower() in RESERVED:
        return f"{name!r} is a column of every row: use another name"
    if not 0 < len(name.encode()) <= 256 or not name.isprintable():
        return "a name has 1 to 256 bytes, all printable"
    if name != name.strip() or set(name) & set(",*?[]"):
        return "a name has none of , * ? [ ] and no blank at its ends"
    same = [one for one in others if one != name and one.casefold() == name.casefold()]
    if same:
        return f"there is {same[0]!r} already, which differs in capitals only"
    return None


class StreamColumn(msgspec.Struct):
    """A column of a stream and what it holds."""

    name: str
    kind: str


class StreamBody(msgspec.Struct):
    """A stream as it is shown."""

    name: str
    settings: StreamSettings
    version: int
    rows: int
    created: float
    columns: list[StreamColumn]


class StreamList(msgspec.Struct):
    """The streams that a key may see."""

    streams: list[StreamBody]


def shown(reader: Reader, stream: StreamRecord) -> StreamBody:
    """Return what a caller sees of a stream."""
    columns = reader.all(
        "select name, kind from stream_column where stream = ? order by id", (stream.id,)
    )
    return StreamBody(
        name=stream.name,
        settings=stream.settings,
        version=stream.version,
        rows=stream.rows,
        created=stream.created,
        columns=[StreamColumn(*one) for one in columns],
    )


@route("GET", "/v1/streams", "read", answer=StreamList)
async def list_streams(incoming: Incoming) -> StreamList:
    """List the streams that this key may see."""
    mine = incoming.who.streams

    def work(reader: Reader) -> list[StreamBody]:
        names = [one for (one,) in reader.all("select name from stream order by name")]
        return [shown(reader, find_stream(reader, one)) for one in names if not mine or one in mine]

    return StreamList(await incoming.service.reading(work))


@route("PUT", "/v1/streams/{stream}", "admin", body=StreamSettings, answer=StreamBody)
async def put_stream(incoming: Incoming) -> StreamBody:
    """Make a stream, or change the settings that the body names; the others stay as they are."""
    name = incoming.path["stream"]
    if not _NAME.fullmatch(name):
        raise HttpProblem(
            422,
            f"a stream cannot be called {name[:80]!r}",
            [Fix(way_out="use up to 64 letters, digits, dots, dashes and underscores")],
        )
    check_settings(incoming.body)
    service = incoming.service
    named = msgspec.json.decode(incoming.raw)

    def work(transaction: Transaction) -> StreamBody:
        settings: StreamSettings = incoming.body
        before = transaction.one("select settings from stream where name = ?", (name,))
        if before is not None:
            whole = {**msgspec.json.decode(before[0]), **named}
            settings = msgspec.convert(whole, StreamSettings)
            check_settings(settings)
        text = msgspec.json.encode(settings).decode()
        transaction.run(
            "insert into stream (name, settings, salt, version, rows, created)"
            " values (?, ?, ?, 0, 0, ?) on conflict (name) do update set"
            " settings = excluded.settings, version = stream.version + 1",
            (name, text, secrets.token_bytes(16), service.clock()),
        )
        stream = find_stream(transaction, name)
        for column, kind in settings.columns.items():
            transaction.run(
                "insert into stream_column (stream, name, kind) values (?, ?, ?)"
                " on conflict (stream, name) do nothing",
                (stream.id, column, kind),
            )
        service.forget()  # here, in the writer's thread: the next batch must see the new settings
        return shown(transaction, stream)

    return await service.commit(work)


def check_settings(settings: StreamSettings) -> None:
    """Refuse settings that contradict themselves."""
    wrong: list[Fix] = []
    for name, kind in settings.columns.items():
        if kind not in ("vote", "grade", "slice"):
            wrong.append(Fix(column=name, value=kind, way_out="use vote, grade or slice"))
        why = name_problem(name, settings.columns)
        if why is not None:
            wrong.append(Fix(column=name[:64], way_out=why))
    for name, (low, high) in settings.scales.items():
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            way = "write the least and then the greatest grade, such as [1, 5]"
            wrong.append(Fix(column="scales", value=name, way_out=way))
        if settings.columns.get(name, "grade") != "grade":
            wrong.append(Fix(column="scales", value=name, way_out="only grades have a scale"))
    if settings.window < 1:
        wrong.append(Fix(column="window", value=str(settings.window), way_out="at least 1 row"))
    if not settings.settle >= 0:
        wrong.append(Fix(column="settle", value=str(settings.settle), way_out="0 or more seconds"))
    if settings.retention_days is not None and not settings.retention_days > 0:
        wrong.append(Fix(column="retention_days", way_out="more than 0, or null to keep all"))
    if not 0 <= settings.overlap <= 1:
        wrong.append(Fix(column="overlap", way_out="a share between 0 and 1"))
    if len(settings.labels) > 64:
        wrong.append(Fix(column="labels", way_out="at most 64 labels"))
    for place, label in enumerate(settings.labels):
        twin = known_label(label, settings.labels[:place])
        if twin is not None or not label.strip():
            why = f"this spells {twin!r} again" if twin is not None else "a label is not blank"
            wrong.append(Fix(column="labels", value=label, way_out=f"{why}: leave it out"))
    if wrong:
        raise HttpProblem(422, "these settings cannot be used", wrong)


@route("GET", "/v1/streams/{stream}", "read", answer=StreamBody)
async def get_stream(incoming: Incoming) -> StreamBody:
    """Return a stream with its settings and columns."""
    name = incoming.path["stream"]
    return await incoming.service.reading(lambda reader: shown(reader, find_stream(reader, name)))


@route("DELETE", "/v1/streams/{stream}", "admin", answer=dict[str, str])
async def delete_stream(incoming: Incoming) -> Any:
    """Delete a stream with everything in it."""
    name = incoming.path["stream"]

    def work(transaction: Transaction) -> None:
        stream = find_stream(transaction, name)
        mine = "(select id from rows where stream = ?)"
        transaction.run("delete from fact where name = ?", (f"drift:{stream.id}",))
        for sql in (
            f"delete from payload where row_id in {mine}",
            "delete from draw where frame in (select id from frame where stream = ?)",
            "delete from frame where stream = ?",
            "delete from label where stream = ?",
            "delete from rows where stream = ?",
            "delete from tally where stream = ?",
            "delete from windows where stream = ?",
            "delete from seen where stream = ?",
            "delete from pattern where stream = ?",
            "delete from slice where stream = ?",
            "delete from label_code where stream_column in"
            " (select id from stream_column where stream = ?)",
            "delete from stream_column where stream = ?",
            "delete from batch where stream = ?",
            "delete from alert where stream = ?",
            "delete from stream where id = ?",
        ):
            transaction.run(sql, (stream.id,))
        incoming.service.forget()  # here, in the writer's thread: nothing may be kept for it now

    await incoming.service.commit(work)
    return {"deleted": name}


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
    return place, what


# Another spelling of a label that a column has: kept as that label, or refused.
#
# One program that writes ``1.0`` where the others write ``1`` would give a column two labels, and
# no question could be answered from it any more (`tallystick.table.check_vocabulary`).


_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,14})(\.0+)?")


def known_label(word: str, labels: Iterable[str]) -> str | None:
    """Return the label among *labels* that *word* spells, itself where it is there; None if none.

    >>> known_label("1.0", ["0", "1"]), known_label("PASS", ["Pass", "PASS"]), known_label("2", ["1"])
    ('1', 'PASS', None)
    """
    meaning = spelling(word)
    same = [one for one in labels if spelling(one) == meaning]
    if not same:
        return None
    return word if word in same else same[0]


def is_doubtful(word: str, label: str) -> bool:
    """Say whether two spellings of one number may be meant as two labels.

    Capitals, blanks and the ``.0`` that a program adds to a whole number are no difference.
    Versions (1.1 and 1.10), names (7 and 007), and true beside 1 may be one.

    >>> [is_doubtful(*pair) for pair in (("True", "true"), ("1.0", "1"), ("1.10", "1.1"), ("true", "1"))]
    [False, False, True, True]
    """
    if not isinstance(spelling(word), str) and word.casefold() != label.casefold():
        return not (_WHOLE.fullmatch(word) and _WHOLE.fullmatch(label))
    return False
