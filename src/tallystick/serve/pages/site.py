"""One way to make a page: templates that escape everything, a session for forms, a version."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.responses import RedirectResponse, Response

from tallystick.results import count, percent
from tallystick.serve.auth import COOKIE, LOCAL, SESSION_SECONDS, Principal, make_session
from tallystick.serve.pages.assets import ASSETS, asset
from tallystick.serve.problem import HttpProblem
from tallystick.serve.routes import Incoming, Route
from tallystick.serve.store import Reader

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["ROUTES", "call", "go", "may", "problem_page", "render", "set_cookie", "templates"]

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
    made.filters.update(
        count=count, share=percent, day=_day, moment=_moment, money=_money, tenth=_tenth, at=_at
    )
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


def _money(value: float, currency: str = "") -> str:
    """Write an amount of money.

    >>> _money(1.2, "$"), _money(0.0)
    ('$1.20', '0.00')
    """
    return f"{currency}{value:,.2f}"


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
        same = incoming.unchanged(etag)
        if same is not None:
            return same
        headers = {"ETag": etag, "Cache-Control": "no-cache"}
        return Response(content, media_type=kind, headers=headers)

    return send


ROUTES = tuple(
    Route(
        method="GET", path=f"/{name}", role="none", work=_asset(name, kind), summary=name, page=True
    )
    for name, kind in ASSETS
)
"""Routes of this file."""
