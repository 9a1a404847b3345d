"""Home, alarms and settings: one line per stream, then one per alarm that nobody has seen."""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.responses import Response

import tallystick
from tallystick.serve.alerts import AlertBody, get_webhook, listed_alerts
from tallystick.serve.app import get_keys
from tallystick.serve.auth import LOCAL, HttpProblem
from tallystick.serve.database import Reader
from tallystick.serve.export import last_check
from tallystick.serve.jobs import Service
from tallystick.serve.pages.site import PartQuery, base_of, call, form, go, may, render
from tallystick.serve.pages.stream import ask_view, stream_facts, verb_of
from tallystick.serve.routes import Incoming, page
from tallystick.serve.streams import StreamRecord, find_stream, names_of

PATIENCE = 1.0
"""Seconds that the page waits for verdicts; those that take longer come with the next look."""

MOST_ALARMS = 20


@page("GET", "/", "none", query=PartQuery)
async def get_home(incoming: Incoming) -> Response:
    """Show every stream, then what needs a look."""
    service, who = incoming.service, incoming.who
    if who.role == "none":
        return go("/login")
    if who.role == "label":
        return go("/label")
    if not may(who, "read"):
        raise HttpProblem(403, f"a key with the role {who.role} has no pages")

    def look(reader: Reader) -> tuple[list[StreamRecord], list[AlertBody], list[dict[str, Any]]]:
        streams = [find_stream(reader, one) for one in names_of(reader, who.streams)]
        alarms = listed_alerts(reader, streams=who.streams, unseen=True, limit=200)
        changed = dict(
            reader.all("select stream, max(at) from alert where name = 'change' group by stream")
        )
        tested = {
            one for (one,) in reader.all("select distinct stream from windows where result <> ''")
        }
        lines = [
            {
                **stream_facts(reader, stream, now=service.clock()),
                "name": stream.name,
                "verb": verb_of(reader, stream),
                "changed": changed.get(stream.id),
                "tested": stream.id in tested,
            }
            for stream in streams
        ]
        return streams, alarms, lines

    streams, alarms, lines = await service.reading(look)
    await _verdicts(service, streams, lines)
    return await render(
        incoming,
        "home.html",
        here="Home",
        lines=lines,
        alarms=alarms[:MOST_ALARMS],
        more=len(alarms) > MOST_ALARMS,
        headline=_headline(len(alarms), tested=any(one["tested"] for one in lines)),
        waiting=sum(not one["tested"] for one in lines),
        base=base_of(incoming),
        auth=who.id != LOCAL.id,
    )


def _headline(n: int, *, tested: bool) -> str:
    """Say how many alarms wait; without a closed window nothing was tested.

    >>> _headline(0, tested=True), _headline(1, tested=True), _headline(12, tested=False)
    ('Nothing changed.', 'Alarms that need a look: 1.', 'Alarms that need a look: 12.')
    >>> _headline(0, tested=False)
    'Nothing was tested yet.'
    """
    if n == 0:
        return "Nothing changed." if tested else "Nothing was tested yet."
    return f"Alarms that need a look: {n}."


async def _verdicts(
    service: Service, streams: list[StreamRecord], lines: list[dict[str, Any]]
) -> None:
    """Fill in the verdicts that are ready in time; the others come with the next look."""
    known: dict[str, str] = service.memory.setdefault("home", {})

    def fill() -> None:
        for stream, line in zip(streams, lines, strict=True):
            try:
                shown = ask_view(service, stream, line["verb"])
                known[stream.name] = " ".join(filter(None, (shown["answer"], shown["open"])))
            except HttpProblem as problem:
                known[stream.name] = problem.detail

    asked = service.memory.get("home_asked")
    if asked is None or asked.done():  # one look at a time, whoever waits
        asked = service.memory["home_asked"] = asyncio.ensure_future(service.waiting(fill))
    await asyncio.wait([asked], timeout=PATIENCE)
    for line in lines:
        line["verdict"] = known.get(line["name"], "…")


# Alarms: what each proves, what it does not, who has seen it, and where it
# was sent.


@page("GET", "/alarms", "read", query=PartQuery)
async def get_alarms(incoming: Incoming) -> Response:
    """Show alarms, the newest first."""
    mine = incoming.who.streams

    def look(reader: Reader) -> tuple[list[AlertBody], dict[int, str]]:
        return listed_alerts(reader, streams=mine), delivered(reader)

    alarms, sent = await incoming.service.reading(look)
    return await render(incoming, "alarms.html", here="Alarms", alarms=alarms, sent=sent)


def delivered(reader: Reader) -> dict[int, str]:
    """Say of each alarm that was sent whether it arrived."""
    rows = reader.all(
        "select alert, max(case when done is not null then 2 when next is not null then 1 else 0"
        " end) from delivery where alert is not null group by alert"
    )
    words = ("Given up after six tries", "Still to be delivered", "Delivered")
    return {alert: words[state] for alert, state in rows}


form("/alarms/{alert}/seen", "POST", "/v1/alerts/{alert}/seen", "/alarms")


# Settings: keys, the webhook, how long rows are kept, copies, and the
# version.


@page("GET", "/settings", "admin")
async def get_settings(incoming: Incoming) -> Response:
    """Show the settings."""
    return await _settings(incoming)


async def _settings(
    incoming: Incoming, *, shown: str = "", secret: str = "", note: str = ""
) -> Response:
    service = incoming.service

    def look(reader: Reader) -> dict[str, Any]:
        return {
            "keys": get_keys(reader, incoming).keys,
            "checked": last_check(reader),
            "webhook": get_webhook(reader, incoming),
            "kept": [find_stream(reader, one) for one in names_of(reader)],
        }

    found = await service.reading(look)
    return await render(
        incoming,
        "settings.html",
        here="Settings",
        shown=shown,
        secret=secret,
        note=note,
        version=tallystick.__version__,
        folder=str(service.config.folder or ""),
        postgres=service.store.engine == "postgres",
        **found,
    )


@page("POST", "/settings/keys", "admin")
async def post_key_form(incoming: Incoming) -> Response:
    """Make a key and show it once."""
    given, stream = incoming.body, incoming.body.get("stream")
    name, days = given.get("name", "").strip(), given.get("days", "").strip() or None
    if not name:
        raise HttpProblem(422, "a key needs a name: labels carry it")
    order = {"role": given.get("role", ""), "name": name, "days": days}
    made = await call(
        incoming, "POST", "/v1/keys", {**order, "streams": [stream] if stream else []}
    )
    first = order["role"] == "admin" and incoming.who.id == LOCAL.id
    note = "From now on this machine needs a key, too: log in with this one." if first else ""
    return await _settings(incoming, shown=f"The key of {name}", secret=made.key, note=note)


@page("POST", "/settings/webhook", "admin")
async def post_webhook(incoming: Incoming) -> Response:
    """Say where alarms go, and show the secret once."""
    url = incoming.body.get("url", "").strip()
    made = await call(incoming, "PUT", "/v1/webhook", {"url": url})
    shown = "The secret of the webhook" if made.secret else ""
    return await _settings(incoming, shown=shown, secret=made.secret or "")


form("/settings/webhook/test", "POST", "/v1/webhook/test", "/settings#webhook")
form("/settings/webhook/delete", "DELETE", "/v1/webhook", "/settings#webhook")
form("/settings/keys/{key}/revoke", "DELETE", "/v1/keys/{key}", "/settings#keys")
form("/settings/streams/{stream}/retention", "PUT", "/v1/streams/{stream}", "/settings#keeping")
