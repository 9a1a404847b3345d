"""Settings: keys, hooks, how long rows are kept, copies, and the version."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

import tallystick
from tallystick.serve.auth import LOCAL
from tallystick.serve.keys import listed
from tallystick.serve.nightly import last_check
from tallystick.serve.pages.site import call, go, render
from tallystick.serve.problem import HttpProblem
from tallystick.serve.routes import Incoming, Route
from tallystick.serve.settings import find_stream
from tallystick.serve.store import Reader

__all__ = ["ROUTES"]


async def get_settings(incoming: Incoming) -> Response:
    """Show the settings."""
    return await _page(incoming)


async def _page(
    incoming: Incoming, *, shown: str = "", secret: str = "", note: str = ""
) -> Response:
    service = incoming.service

    def look(reader: Reader) -> dict[str, Any]:
        names = [one for (one,) in reader.all("select name from stream order by name limit 500")]
        return {
            "keys": listed(reader, service),
            "checked": last_check(reader),
            "kept": [find_stream(reader, one) for one in names],
            "hooks": reader.all("select name, url, state from hook order by name"),
            "deliveries": reader.all(
                "select h.name, d.tries, d.last_status, d.last_error, d.done, d.next from delivery"
                " d join hook h on h.id = d.hook order by d.created desc limit 20"
            ),
        }

    found = await service.reading(look)
    return await render(
        incoming,
        "settings.html",
        here="Settings",
        shown=shown,
        secret=secret,
        note=note,
        size=service.store.size(),
        version=tallystick.__version__,
        folder=str(service.config.folder or ""),
        postgres=service.store.address().startswith("postgres"),
        **found,
    )


async def post_key_form(incoming: Incoming) -> Response:
    """Make a key and show it once."""
    form = incoming.form
    order: dict[str, Any] = {
        "role": form.get("role", ""),
        "name": form.get("name", "").strip(),
        "streams": [form["stream"]] if form.get("stream") else [],
    }
    if not order["name"]:
        raise HttpProblem(422, "a key needs a name: labels carry it")
    if form.get("days", "").strip():
        try:
            order["days"] = float(form["days"])
        except ValueError as error:
            raise HttpProblem(422, "days is a number") from error
    made = await call(incoming, "POST", "/v1/keys", order)
    first = order["role"] == "admin" and incoming.who.id == LOCAL.id
    note = "From now on this machine needs a key, too: log in with this one." if first else ""
    return await _page(incoming, shown=f"The key of {order['name']}", secret=made.key, note=note)


async def post_revoke(incoming: Incoming) -> Response:
    """Revoke a key."""
    await call(incoming, "DELETE", "/v1/keys/{key}", key=incoming.path["key"])
    return go("/settings#keys")


async def post_hook_form(incoming: Incoming) -> Response:
    """Make a hook and show its secret once."""
    form = incoming.form
    name = form.get("name", "").strip()
    order = {"url": form.get("url", "").strip()}
    made = await call(incoming, "PUT", "/v1/hooks/{hook}", order, hook=name)
    secret = made.secret or ""
    return await _page(
        incoming, shown=f"The secret of hook {name}" if secret else "", secret=secret
    )


async def post_hook_test(incoming: Incoming) -> Response:
    """Send a sample to a hook."""
    await call(incoming, "POST", "/v1/hooks/{hook}/test", hook=incoming.path["hook"])
    return go("/settings#hooks")


async def post_hook_delete(incoming: Incoming) -> Response:
    """Delete a hook."""
    await call(incoming, "DELETE", "/v1/hooks/{hook}", hook=incoming.path["hook"])
    return go("/settings#hooks")


async def post_retention(incoming: Incoming) -> Response:
    """Say how long the rows of a stream are kept."""
    name, text = incoming.path["stream"], incoming.form.get("days", "").strip()
    await incoming.service.reading(lambda r: find_stream(r, name))  # 404 and no new stream
    try:
        days = float(text) if text else None
    except ValueError as error:
        raise HttpProblem(422, "days is a number, or empty to keep everything") from error
    await call(incoming, "PUT", "/v1/streams/{stream}", {"retention_days": days}, stream=name)
    return go("/settings#keeping")


def _route(method: str, path: str, work: Any, **more: Any) -> Route:
    text = (work.__doc__ or "").strip()
    return Route(method=method, path=path, role="admin", work=work, summary=text, page=True, **more)


ROUTES = (
    _route("GET", "/settings", get_settings),
    _route("POST", "/settings/keys", post_key_form, body=dict),
    _route("POST", "/settings/keys/{key}/revoke", post_revoke, body=dict),
    _route("POST", "/settings/hooks", post_hook_form, body=dict),
    _route("POST", "/settings/hooks/{hook}/test", post_hook_test, body=dict),
    _route("POST", "/settings/hooks/{hook}/delete", post_hook_delete, body=dict),
    _route("POST", "/settings/streams/{stream}/retention", post_retention, body=dict),
)
"""Routes of this file."""
