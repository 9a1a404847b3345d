"""One way to make a page: templates that escape everything, a session for forms, a version."""

from __future__ import annotations

import hashlib
import json
import secrets
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from tallystick.report.svg import page_style
from tallystick.results import count, percent
from tallystick.serve.auth import (
    COOKIE,
    LOCAL,
    SESSION_SECONDS,
    HttpProblem,
    Principal,
    Span,
    make_session,
)
from tallystick.serve.database import Reader, Store
from tallystick.serve.jobs import Service
from tallystick.serve.results import computed
from tallystick.serve.routes import Incoming, Parameter, page
from tallystick.serve.streams import StreamRecord

if TYPE_CHECKING:
    from jinja2 import Environment

# What pages load besides themselves: one stylesheet, one script, one icon, all from here.


_HERE = Path(__file__).parent

ASSETS = (
    ("style.css", "text/css"),
    ("script.js", "text/javascript"),
    ("icon.svg", "image/svg+xml"),
)
"""Everything that a page loads, and its media type."""


def asset(name: str) -> bytes:
    """Return a file of `ASSETS`.

    The look of a page is owned by report/; the file here adds what only the service has.

    >>> b"--blue" in asset("style.css"), asset("icon.svg")[:4]
    (True, b'<svg')
    """
    content = (_HERE / name).read_text(encoding="utf-8")
    return (page_style(content) if name == "style.css" else content).encode()


HERE = Path(__file__).parent


@cache
def templates() -> Environment:
    """Return the templates. Everything that they print is escaped."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(count=count, share=percent, day=_day, moment=_moment, tenth=_tenth, at=_at)
    return made


def _tenth(value: float | None) -> str:
    r"""Write a number of percent with one decimal, the minus as a minus.

    >>> _tenth(86.34), _tenth(-0.04), _tenth(None)
    ('86.3', '0.0', '–')
    """
    if value is None:
        return "–"
    text = f"{value:.1f}"
    return "0.0" if text == "-0.0" else text.replace("-", "\u2212")


def _at(value: float | None, low: float, high: float) -> str:
    """Return where a number stands on a track, in percent of its width.

    >>> _at(75.0, 50.0, 100.0)
    '50.00%'
    """
    if value is None or not high > low:
        return "0%"
    return f"{min(max(100 * (value - low) / (high - low), 0.0), 100.0):.2f}%"


def _day(seconds: float | None) -> str:
    """Write a day.

    >>> _day(0.0), _day(None)
    ('1 Jan 1970', 'never')
    """
    if seconds is None:
        return "never"
    when = datetime.fromtimestamp(seconds, UTC)
    return f"{when.day} {when:%b %Y}"


def _moment(seconds: float | None) -> str:
    """Write a moment, in UTC.

    >>> _moment(0.0), _moment(None)
    ('1 Jan 1970, 00:00', 'never')
    """
    if seconds is None:
        return "never"
    return f"{_day(seconds)}, {datetime.fromtimestamp(seconds, UTC):%H:%M}"


def may(who: Principal, role: str) -> bool:
    """Say whether somebody may do what a role may."""
    return who.role in (role, "admin")


def _standing(reader: Reader, who: Principal) -> dict[str, Any]:
    """Return what every page shows at its top."""
    row = reader.one("select count(*) from alert where seen is null")
    names = [one for (one,) in reader.all("select name from stream order by name limit 500")]
    return {
        "unseen": row[0] if row is not None else 0,
        "streams": [one for one in names if not who.streams or one in who.streams],
    }


async def render(
    incoming: Incoming, template: str, *, here: str, status: int = 200, **context: Any
) -> Response:
    """Return a page, or only its main part where the script asks for that.

    Parameters
    ----------
    incoming
        The request.
    template
        Its file in templates/.
    here
        Which entry of the navigation is this page.
    status
        The HTTP status.
    context
        What the template shows.
    """
    service, who = incoming.service, incoming.who
    cookie = None
    if who == LOCAL:
        # On this machine nobody logs in, but forms need a token of a session.
        cookie, who = await service.commit(lambda tx: make_session(tx, LOCAL, now=service.clock()))
    standing = await service.reading(lambda reader: _standing(reader, who))
    page = templates().get_template(template)
    shown = {
        **standing,
        "who": who,
        "here": here,
        "now": service.clock(),
        "may_admin": may(who, "admin"),
        "may_label": may(who, "label"),
        "may_read": may(who, "read"),
        **context,
    }
    if incoming.request.query_params.get("part") == "main":
        text = page.render(shown, layout="part.html")
        etag = '"' + hashlib.sha256(text.encode()).hexdigest()[:24] + '"'
        same = incoming.unchanged(etag)
        if same is not None:
            return same
        response = Response(text, media_type="text/html", headers={"ETag": etag})
    else:
        text = page.render(shown, layout="base.html")
        response = Response(text, status_code=status, media_type="text/html")
    if cookie is not None:
        set_cookie(incoming, response, cookie)
    return response


def set_cookie(incoming: Incoming, response: Response, cookie: str) -> None:
    """Give the session to the browser: no script reads it, no other site sends it."""
    response.set_cookie(
        COOKIE,
        cookie,
        max_age=int(SESSION_SECONDS),
        httponly=True,
        samesite="strict",
        secure=incoming.request.url.scheme == "https",
        path="/",
    )


def go(path: str) -> Response:
    """Send the browser to a page after a form: loading it again sends nothing twice."""
    return RedirectResponse(path, 303)


async def call(incoming: Incoming, method: str, path: str, body: Any = None, **places: str) -> Any:
    """Do what a route of the API does: a form is another way to the same door.

    Parameters
    ----------
    incoming
        The request with the form.
    method, path
        The route, as in the table.
    body
        The body as JSON types.
    places
        The parameters of its path.
    """
    import msgspec

    for route in incoming.service.memory["routes"]:
        if (route.method, route.path) == (method, path):
            request = incoming.request
            request.scope["path_params"] = {**request.path_params, **places}
            try:
                decoded = None if route.body is None else msgspec.convert(body, route.body)
            except msgspec.ValidationError as error:
                raise HttpProblem(422, str(error)) from error
            raw = msgspec.json.encode(body)
            asked = Incoming(incoming.service, route, request, incoming.who, raw, decoded)
            return await route.work(asked)
    raise HttpProblem(404, "this service has no such part")


def problem_page(problem: HttpProblem) -> Response:
    """Return an error as a page with the way out."""
    body = problem.body()
    text = templates().get_template("problem.html").render(problem=body)
    return Response(text, status_code=problem.status, media_type="text/html")


def _asset(name: str, kind: str) -> Any:
    content = asset(name)
    etag = '"' + hashlib.sha256(content).hexdigest()[:24] + '"'

    async def send(incoming: Incoming) -> Response:
        """Send a file that pages load."""
        same = incoming.unchanged(etag)
        if same is not None:
            return same
        headers = {"ETag": etag, "Cache-Control": "no-cache"}
        return Response(content, media_type=kind, headers=headers)

    return send


for _name, _kind in ASSETS:
    page("GET", f"/{_name}", "none")(_asset(_name, _kind))

# Who comes in: a key typed once, a start link for one use, and the way out.


START_SECONDS = 900.0
"""A start link that nobody used is worth nothing after this time."""


def start_link(service: Service, *, role: str = "admin", name: str = "operator") -> str:
    """Return the path of a link that opens a session once: for the terminal of who starts it."""
    token = secrets.token_urlsafe(32)
    held: dict[bytes, tuple[Principal, float]] = service.memory.setdefault("start", {})
    until = service.clock() + START_SECONDS
    held[_digest(token)] = (Principal(id="start", role=role, name=name), until)
    return f"/start?token={token}"


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


@page("GET", "/start", "none", query=(Parameter("token", "For one use."),))
async def get_start(incoming: Incoming) -> Response:
    """Open a session by a link that works once."""
    held: dict[bytes, Any] = incoming.service.memory.setdefault("start", {})
    found = held.pop(_digest(incoming.query("token")), None)
    if found is None or found[1] < incoming.service.clock():
        raise HttpProblem(403, "this link was used already, or its time is over: log in with a key")
    return await _opened(incoming, found[0])


async def _opened(incoming: Incoming, who: Principal) -> Response:
    service = incoming.service
    cookie, _ = await service.commit(lambda tx: make_session(tx, who, now=service.clock()))
    response = go("/")
    set_cookie(incoming, response, cookie)
    return response


@page("GET", "/login", "none")
async def get_login(incoming: Incoming) -> Response:
    """Ask for a key."""
    return _form("")


def _form(problem: str, status: int = 200) -> Response:
    text = templates().get_template("login.html").render(problem=problem)
    return Response(text, status_code=status, media_type="text/html")


@page("POST", "/login", "none")
async def post_login(incoming: Incoming) -> Response:
    """Open a session for the owner of a key."""
    key = incoming.form.get("key", "").strip()
    scope = {
        "type": "http",
        "headers": [(b"authorization", f"Bearer {key}".encode("latin-1", "replace"))],
    }
    try:
        who = await incoming.service.door.who(Request(scope))
    except HttpProblem:
        return _form("This key is unknown, expired or revoked.", 401)
    return await _opened(incoming, who)


@page("POST", "/logout", "any")
async def post_logout(incoming: Incoming) -> Response:
    """End the session."""
    cookie = incoming.request.cookies.get(COOKIE, "")
    await incoming.service.commit(
        lambda tx: tx.run("delete from session where id = ?", (_digest(cookie),))
    )
    incoming.service.door.forget()
    response = go("/login")
    response.delete_cookie(COOKIE, path="/")
    return response


# What the page of a stream shows of a result: made in the worker, from the result's own fields.


_GROUPS = {
    "judge": ("judges", "accuracy"),
    "score": ("systems", "score"),
    "compare": ("models", "score"),
}
"""Where the rows of a result are, and what their number is called."""

_WORDS = {
    "judge": ("Judges now", "judge", "accuracy"),
    "score": ("Systems now", "system", "score"),
    "compare": ("Models now", "model", "score"),
    "bound": ("Bounds now", "metric", "bounds"),
}
"""Heading, what a row is, and what its number is."""


class ForestEntry(msgspec.Struct):
    """One row of the forest: a name, a number and its interval, in percent."""

    name: str
    estimate: float | None
    low: float | None
    high: float | None


class StreamView(msgspec.Struct):
    """What is shown of a result.

    Parameters
    ----------
    answer, contrast, open, next
        Its sentences: the answer, what it stands against, what is not settled, what to do.
    entries
        The forest.
    heading, row, column
        Its heading, what a row is, what the number is called.
    ends
        What the two ends of an entry are.
    slices
        The same for every part of the data, the worst first: name and entries.
    """

    verb: str
    decision: str
    answer: str
    contrast: str
    open: str
    next: str
    needed: int | None
    n_items: int
    n_labels: int | None
    entries: list[ForestEntry]
    heading: str
    row: str
    column: str
    assumptions: list[str]
    warnings: list[str]
    command: str
    as_of: int
    ends: str = "95 % interval"
    slices: list[tuple[str, list[ForestEntry], str]] = []


def verb_of(reader: Reader, stream: StreamRecord) -> str:
    """Return the question that a stream's page asks: by its reading and by what its rows are."""
    if stream.settings.reading.get("prediction"):
        return "bound"
    systems = reader.one(
        "select 1 from slice where stream = ? and body like ? limit 1", (stream.id, '%"system":%')
    )
    return "score" if systems is not None else "judge"


def ask_view(
    service: Service, stream: StreamRecord, verb: str, *, by: str = "", labels: str = ""
) -> StreamView:
    """Ask the worker, or the memory if the stream has not changed. Call it in a thread."""
    args = {"name": stream.name, "question": verb, "by": by, "labels": labels}
    kind = "tallystick.serve.pages.site:view"
    found, _ = computed(service, kind, stream, verb, {}, Span(), **args)
    return msgspec.json.decode(found.body, type=StreamView)


def view(store: Store, args: dict[str, Any]) -> bytes:
    """Ask a question about a stream and return what its page shows: what the worker does."""
    from tallystick.serve.answer import answer_stream  # the server itself never computes

    verb = args["question"]
    given = {"by": [args["by"]]} if args["by"] else {}
    span = Span(label_draw=args["labels"])
    found = answer_stream(store, args["name"], verb, given, span)
    heading, row, column = _WORDS[verb]
    shown = StreamView(
        verb=verb,
        decision="unknowable",
        answer=f"Nothing can be said yet: {found.why}.",
        contrast="",
        open="",
        next="",
        needed=None,
        n_items=0,
        n_labels=None,
        entries=[],
        heading=heading,
        row=row,
        column=column,
        assumptions=[],
        warnings=[],
        command=found.command,
        as_of=found.as_of,
    )
    if found.result is not None:
        _fill(shown, found.result)
        shown.assumptions += [doubt.assumption for doubt in found.doubts]
        # What the labels leave open comes first: it may concern every figure.
        shown.warnings = [doubt.warning for doubt in found.doubts] + shown.warnings
        if shown.decision == "decided" and any(doubt.grave for doubt in found.doubts):
            shown.decision = "undecided"
    return msgspec.json.encode(shown)


def _fill(shown: StreamView, result: Any) -> None:
    body = json.loads(json.dumps(result.to_dict(), default=str))
    opening = getattr(result, "opening", None)  # the sentences one by one, where a result has them
    shown.answer = getattr(opening, "answer", None) or result.verdict
    for name in ("contrast", "open", "next"):
        setattr(shown, name, getattr(opening, name, None) or "")
    needed = body.get("needed")
    if isinstance(needed, dict) and isinstance(needed.get("count"), int):
        shown.needed = needed["count"]
    shown.decision = result.decision
    shown.n_items = result.n_items
    labels = body.get("n_labels")
    shown.n_labels = labels if isinstance(labels, int) else None
    shown.entries = _entries(shown.verb, body)
    if shown.verb in _GROUPS and not any(
        one.get("interval") for one in body.get(_GROUPS[shown.verb][0]) or ()
    ):
        shown.ends = "likely range"  # by votes alone there is no interval
    shown.assumptions = list(result.assumptions)
    shown.warnings = list(result.warnings)
    shown.slices = _slices(shown.verb, body)


def _entries(verb: str, body: dict[str, Any]) -> list[ForestEntry]:
    if verb == "bound":
        return [
            ForestEntry(
                str(one.get("metric", "")), None, *_percent(one.get("lower"), one.get("upper"))
            )
            for one in body.get("bounds") or ()
        ]
    group, number = _GROUPS[verb]
    found = []
    for one in body.get(group) or ():
        ends = one.get("interval") or one.get("range") or (None, None)
        (estimate,) = _percent(one.get(number))
        found.append(ForestEntry(str(one["name"]), estimate, *_percent(*ends)))
    return sorted(found, key=lambda e: -(e.estimate if e.estimate is not None else e.low or 0.0))


def _percent(*values: Any) -> list[float | None]:
    return [100.0 * one if isinstance(one, int | float) else None for one in values]


def _slices(verb: str, body: dict[str, Any]) -> list[tuple[str, list[ForestEntry], str]]:
    """Return the slices, the one with the lowest number first; one without says why."""
    found = []
    for one in body.get("slices") or ():
        name = "(blank)" if one.get("slice") is None else str(one["slice"])
        why = "" if one.get("verdict") else str((one.get("unknown") or {}).get("verdict", ""))
        found.append((name, _entries(verb, one), why))
    return sorted(
        found, key=lambda s: min((e.estimate for e in s[1] if e.estimate is not None), default=101)
    )
