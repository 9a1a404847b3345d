"""Who comes in: a key typed once, a start link for one use, and the way out."""

from __future__ import annotations

import hashlib
import secrets
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from tallystick.serve.auth import COOKIE, Principal, make_session
from tallystick.serve.pages.site import go, set_cookie, templates
from tallystick.serve.problem import HttpProblem
from tallystick.serve.routes import Incoming, Parameter, Route
from tallystick.serve.service import Service

__all__ = ["ROUTES", "start_link"]

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


async def get_login(incoming: Incoming) -> Response:
    """Ask for a key."""
    return _form("")


def _form(problem: str, status: int = 200) -> Response:
    text = templates().get_template("login.html").render(problem=problem)
    return Response(text, status_code=status, media_type="text/html")


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


def _route(method: str, path: str, role: str, work: Any, **more: Any) -> Route:
    text = (work.__doc__ or "").strip()
    return Route(method=method, path=path, role=role, work=work, summary=text, page=True, **more)


ROUTES = (
    _route("GET", "/login", "none", get_login),
    _route("POST", "/login", "none", post_login, body=dict),
    _route("POST", "/logout", "any", post_logout, body=dict),
    _route("GET", "/start", "none", get_start, query=(Parameter("token", "For one use."),)),
)
"""Routes of this file."""
