"""Home: alarms that nobody has seen, then one line per stream and per watch."""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.responses import Response

from tallystick.serve.auth import LOCAL
from tallystick.serve.pages.facts import alarm_lines, stream_facts, watch_lines, window_points
from tallystick.serve.pages.site import go, may, render
from tallystick.serve.pages.view import StreamView, ask_view, verb_of
from tallystick.serve.problem import HttpProblem
from tallystick.serve.routes import Incoming, Parameter, Route
from tallystick.serve.service import Service
from tallystick.serve.settings import StreamRecord, find_stream
from tallystick.serve.store import Reader

__all__ = ["PART", "ROUTES", "base_of", "spark_points"]

PATIENCE = 1.0
"""Seconds that the page waits for verdicts; those that take longer come with the next look."""

MOST_ALARMS = 5

PART = (Parameter("part", "main: only the main part, for the script."),)


def base_of(incoming: Incoming) -> str:
    """Return the address of this service as the browser knows it."""
    url = incoming.request.url
    return f"{url.scheme}://{url.netloc}"


def spark_points(points: list[Any]) -> list[dict[str, Any]]:
    """Return the mean over judges of each window as points of a sparkline, 26 points high."""
    windows: dict[int, list[Any]] = {}
    for one in points:
        if one.value is not None:
            windows.setdefault(one.index, []).append(one)
    kept = list(windows.values())[-24:]
    means = [sum(p.value for p in window) / len(window) for window in kept]
    if not means:
        return []
    # Sparklines share one span of 26 points, so that a small change looks small everywhere.
    low = min(min(means), max(means) - 26.0)
    step = 88 / max(1, len(means) - 1)
    return [
        {
            "x": round(4 + k * step, 1),
            "y": round(23 - 20 * (value - low) / 26.0, 1),
            "value": value,
            "after": any(p.alarmed for p in kept[k]),
        }
        for k, value in enumerate(means)
    ]


async def get_home(incoming: Incoming) -> Response:
    """Show what needs a look, then every stream."""
    service, who = incoming.service, incoming.who
    if who.role == "none":
        return go("/login")
    if who.role == "label":
        return go("/label")
    if not may(who, "read"):
        raise HttpProblem(403, f"a key with the role {who.role} has no pages")

    def look(reader: Reader) -> dict[str, Any]:
        names = [one for (one,) in reader.all("select name from stream order by name limit 500")]
        mine = [one for one in names if not who.streams or one in who.streams]
        streams = [find_stream(reader, one) for one in mine]
        alarms = alarm_lines(reader, streams=who.streams, unseen=True, limit=200)
        latest = dict(
            reader.all("select stream, max(at) from alert where name = 'change' group by stream")
        )
        watches = watch_lines(reader) if not who.streams else []
        lines = [_line(reader, one, service.clock(), latest.get(one.id), alarms) for one in streams]
        return {"streams": streams, "alarms": alarms, "watches": watches, "lines": lines}

    found = await service.reading(look)
    await _verdicts(service, found["streams"], found["lines"])
    n = len(found["alarms"])
    touched = {one.stream for one in found["alarms"]} | {one.watch for one in found["alarms"]}
    rest = sum(one["name"] not in touched for one in found["lines"])
    return await render(
        incoming,
        "home.html",
        here="Home",
        lines=found["lines"],
        alarms=found["alarms"][:MOST_ALARMS],
        more=n > MOST_ALARMS,
        watches=found["watches"],
        headline=_headline(n, tested=any(one["points"] for one in found["lines"])),
        quiet=_quiet(found["lines"], rest, n),
        base=base_of(incoming),
        auth=who.id != LOCAL.id,
    )


def _headline(n: int, *, tested: bool) -> str:
    """Say how many alarms wait; without a closed window nothing was tested.

    >>> _headline(0, tested=True), _headline(1, tested=True), _headline(12, tested=False)
    ('Nothing changed.', 'One alarm needs a look.', '12 alarms need a look.')
    >>> _headline(0, tested=False)
    'Nothing was tested yet.'
    """
    if n == 0:
        return "Nothing changed." if tested else "Nothing was tested yet."
    words = {1: "One", 2: "Two", 3: "Three", 4: "Four", 5: "Five"}
    return f"{words.get(n, str(n))} {'alarm needs' if n == 1 else 'alarms need'} a look."


def _quiet(lines: list[dict[str, Any]], rest: int, alarms: int) -> str:
    """Say how many streams there are, and how many the drift test has not looked at."""
    streams = "stream" if rest == 1 else "streams"
    waiting = sum(not one["points"] for one in lines)
    wait = "waits" if waiting == 1 else "wait"
    late = f" {waiting} of them {wait} for a first full window." if waiting else ""
    if not alarms:
        return f"{rest} {streams}, no alarm that nobody has seen.{late}"
    return f"The other {rest} {streams} raised no alarm." if rest else ""


def _line(
    reader: Reader, stream: StreamRecord, now: float, changed: float | None, alarms: list[Any]
) -> dict[str, Any]:
    facts = stream_facts(reader, stream, now=now)
    return {
        "name": stream.name,
        "verb": verb_of(reader, stream),
        "points": spark_points(window_points(reader, stream, most=24)),
        "today": facts.today,
        "labelled": facts.labelled,
        "changed": changed,
        "alarm": next((one.what for one in alarms if one.stream == stream.name), ""),
    }


def _short(view: StreamView) -> str:
    """Return an answer with what it leaves open."""
    notes = "Read its notes first." if view.warnings else ""
    return " ".join(part for part in (view.answer, view.open, notes) if part)


async def _verdicts(
    service: Service, streams: list[StreamRecord], lines: list[dict[str, Any]]
) -> None:
    """Fill in the verdicts that are ready in time; the others come with the next look."""
    known: dict[str, str] = service.memory.setdefault("home", {})

    def fill() -> None:
        for stream, line in zip(streams, lines, strict=True):
            try:
                known[stream.name] = _short(ask_view(service, stream, line["verb"]))
            except HttpProblem as problem:
                known[stream.name] = problem.detail

    asked = service.memory.get("home_asked")
    if asked is None or asked.done():  # one look at a time, whoever waits
        asked = service.memory["home_asked"] = asyncio.ensure_future(service.waiting(fill))
    await asyncio.wait([asked], timeout=PATIENCE)
    for line in lines:
        line["verdict"] = line["alarm"] or known.get(line["name"], "…")


ROUTES = (
    Route(
        method="GET",
        path="/",
        role="none",
        work=get_home,
        summary="Home.",
        query=PART,
        page=True,
    ),
)
"""Routes of this file."""
