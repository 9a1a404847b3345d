"""Alarms: what each proves, what it does not, who has seen it, and where it was sent."""

from __future__ import annotations

from starlette.responses import Response

from tallystick.serve.pages.facts import alarm_lines
from tallystick.serve.pages.home import PART
from tallystick.serve.pages.site import call, go, render
from tallystick.serve.routes import Incoming, Route

__all__ = ["ROUTES"]


async def get_alarms(incoming: Incoming) -> Response:
    """Show alarms, the newest first."""
    who = incoming.who
    found = await incoming.service.reading(
        lambda reader: alarm_lines(reader, streams=who.streams, limit=100)
    )
    return await render(incoming, "alarms.html", here="Alarms", alarms=found)


async def post_alarm_seen(incoming: Incoming) -> Response:
    """Note that somebody saw an alarm."""
    await call(incoming, "POST", "/v1/alerts/{alert}/seen", alert=incoming.path["alert"])
    back = incoming.header("referer") or ""
    return go("/alarms" if back.endswith("/alarms") else "/")


ROUTES = (
    Route(
        method="GET",
        path="/alarms",
        role="read",
        work=get_alarms,
        summary="Alarms.",
        query=PART,
        page=True,
    ),
    Route(
        method="POST",
        path="/alarms/{alert}/seen",
        role="admin",
        work=post_alarm_seen,
        summary="Mark an alarm as seen.",
        body=dict,
        page=True,
    ),
)
"""Routes of this file."""
