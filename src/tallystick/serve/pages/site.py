"""One way to make a page: templates that escape everything, a session for forms, a version."""

from __future__ import annotations

import hashlib
import re
import secrets
from datetime import UTC, datetime
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from tallystick.report.svg import page_style
from tallystick.results import count, percent
from tallystick.serve.alerts import listed_alerts
from tallystick.serve.auth import (
    COOKIE,
    LOCAL,
    SESSION_SECONDS,
    HttpProblem,
    Principal,
    digest,
    make_session,
)
from tallystick.serve.database import Reader
from tallystick.serve.jobs import Service
from tallystick.serve.routes import TABLE, Incoming, Query, misread, page
from tallystick.serve.streams import find_stream, names_of

if TYPE_CHECKING:
    from jinja2 import Environment

# What pages load besides themselves: one stylesheet, one script, one icon,
# all from here.


HERE = Path(__file__).parent

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
    content = (HERE / name).read_text(encoding="utf-8")
    return (page_style(content) if name == "style.css" else content).encode()


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
    made.filters.update(count=count, share=percent, day=_day, moment=_moment)
    made.filters.update(drawn=Markup, marked=marked)  # what report/ drew, and texts: nothing else
    return made


_LINES = {
    "h3": re.compile(r"#{1,6} +(?P<text>.+)"),
    "ul": re.compile(r" *[-*+] +(?P<text>.+)"),
    "ol": re.compile(r" *(?P<value>\d{1,9})[.)] +(?P<text>.+)"),
    "": re.compile(r"\s*"),
}
_SPANS = re.compile(
    r"`(?P<code>[^`]+)`|\*\*(?P<strong>[^*]+)\*\*|(?<![\w*])\*(?P<em>[^*\s][^*]*)\*(?![\w*])"
)


def marked(text: str) -> Markup:
    r"""Render the Markdown that models write: headings, lists, bold, italic, code. Nothing else.

    Everything is escaped first, so no tag, link or image of the text reaches the page.

    >>> print(marked("# A <b>\n3. **x** `y`"))
    <h3>A &lt;b&gt;</h3><ol><li value="3"><strong>x</strong> <code>y</code></li></ol>
    """
    made: list[str] = []
    for place, part in enumerate(re.split(r"^```.*$", str(escape(text)), flags=re.MULTILINE)):
        if place % 2:
            code = part.strip("\n")
            made.append(f"<pre>{code}</pre>")
            continue
        for kind, lines in groupby(part.splitlines(), _block_of):
            if kind:
                made.append(_block(kind, list(lines)))
    return Markup("".join(made))  # escaped above, and the tags are ours


def _block_of(line: str) -> str:
    return next((kind for kind, form in _LINES.items() if form.fullmatch(line)), "p")


def _block(kind: str, lines: list[str]) -> str:
    """Render lines of one kind: headings, the items of a list, or a paragraph."""
    if kind == "p":
        inside = "\n".join(lines)
        return f"<p>{_spans(inside)}</p>"
    held = [found.groupdict() for line in lines if (found := _LINES[kind].fullmatch(line))]
    if kind == "h3":
        return "".join(f"<h3>{_spans(one['text'])}</h3>" for one in held)
    tags = [f'<li value="{one["value"]}">' if kind == "ol" else "<li>" for one in held]
    items = "".join(f"{tag}{_spans(one['text'])}</li>" for tag, one in zip(tags, held, strict=True))
    return f"<{kind}>{items}</{kind}>"


def _spans(text: str) -> str:
    """Render bold, italic and code inside a line."""

    def tagged(found: re.Match[str]) -> str:
        kind = str(found.lastgroup)
        inner = found[kind] if kind == "code" else _spans(found[kind])
        return f"<{kind}>{inner}</{kind}>"

    return _SPANS.sub(tagged, text)


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


class PartQuery(Query):
    """What a page may be asked for; with ``part=main`` the script gets only its main part."""

    part: str = ""


def base_of(incoming: Incoming) -> str:
    """Return the address of this service as the browser knows it."""
    url = incoming.request.url
    return f"{url.scheme}://{url.netloc}"


def may(who: Principal, role: str) -> bool:
    """Say whether somebody may do what a role may."""
    return who.role in (role, "admin")


def _standing(reader: Reader, who: Principal) -> dict[str, Any]:
    """Return what every page shows at its top."""
    unseen = listed_alerts(reader, streams=who.streams, unseen=True, limit=1000)
    return {"unseen": len(unseen), "streams": names_of(reader, who.streams)}


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
        "csrf": who.csrf,
        "here": here,
        "now": service.clock(),
        "may_admin": may(who, "admin"),
        "may_label": may(who, "label"),
        "may_read": may(who, "read"),
        **{name: value for name, value in context.items() if name != "csrf"},
    }
    if getattr(incoming.query, "part", "") == "main":
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


async def call(incoming: Incoming, method: str, path: str, body: Any = None) -> Any:
    """Do what a route of the API does: a form is another way to the same door.

    Parameters
    ----------
    incoming
        The request with the form; its address names what the address of the route names.
    method, path
        The route, as in the table.
    body
        Its fields, which a form may give as text.
    """
    [one] = [one for one in TABLE if (one.method, one.path) == (method, path)]
    decoded, raw = None, b""
    if one.body is not None:
        try:
            decoded = msgspec.convert(body, one.body, strict=False)
        except msgspec.ValidationError as error:
            place, way = misread(str(error), ())
            raise HttpProblem(422, f"{place} cannot be used: {way}") from error
        raw = msgspec.json.encode({name: getattr(decoded, name) for name in body})
    given = Incoming(incoming.service, one, incoming.request, incoming.who, raw, decoded)
    return await one.work(given)


def form(path: str, method: str, api: str, back: str) -> None:
    """Declare a form of administrators that does what a route does, and goes *back* to a page."""

    async def work(incoming: Incoming) -> Response:
        """Do what the form says; a field that is empty is null."""
        name = incoming.path.get("stream")
        if name is not None:  # a form changes streams and makes none
            await incoming.service.reading(lambda reader: find_stream(reader, name))
        fields = {name: value.strip() or None for name, value in incoming.body.items()}
        await call(incoming, method, api, fields)
        return go(back.format(**incoming.path))

    page("POST", path, "admin")(work)


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

# Who comes in: a key typed once, the start link, and the way out.

START_SECONDS = 900.0
"""A start link that nobody used is worth nothing after this time."""

START = Principal(id="start", role="admin", name="operator")


def start_link(service: Service) -> str:
    """Return the path of a link that opens a session once: for the terminal of who starts it."""
    token = secrets.token_urlsafe(32)
    service.memory.setdefault("start", {})[digest(token)] = service.clock() + START_SECONDS
    return f"/start?token={token}"


async def _opened(incoming: Incoming, who: Principal) -> Response:
    service = incoming.service
    cookie, _ = await service.commit(lambda tx: make_session(tx, who, now=service.clock()))
    response = go("/")
    set_cookie(incoming, response, cookie)
    return response


class StartQuery(Query):
    """What a start link carries."""

    token: str = ""


@page("GET", "/start", "none", query=StartQuery)
async def get_start(incoming: Incoming) -> Response:
    """Open a session by a link that works once."""
    held = incoming.service.memory.get("start", {})
    if held.pop(digest(incoming.query.token), 0.0) < incoming.now:
        raise HttpProblem(403, "this link was used already, or its time is over: log in with a key")
    return await _opened(incoming, START)


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
    key = incoming.body.get("key", "").strip()
    scope = {
        "type": "http",
        "headers": [(b"authorization", f"Bearer {key}".encode("latin-1", "replace"))],
    }
    try:
        who = await incoming.service.door.who(Request(scope))
    except HttpProblem as problem:
        return _form(problem.detail, problem.status)
    return await _opened(incoming, who)


@page("POST", "/logout", "any")
async def post_logout(incoming: Incoming) -> Response:
    """End the session."""
    cookie = incoming.request.cookies.get(COOKIE, "")
    await incoming.service.commit(
        lambda tx: tx.run("delete from session where id = ?", (digest(cookie),))
    )
    incoming.service.door.forget()
    response = go("/login")
    response.delete_cookie(COOKIE, path="/")
    return response
