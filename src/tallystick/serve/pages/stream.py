"""The page of a stream: verdict, judges by window, what would settle the rest, slices, evidence."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from starlette.responses import Response

from tallystick.results import about, count
from tallystick.serve.auth import HttpProblem
from tallystick.serve.database import Reader
from tallystick.serve.pages.home import (
    PART,
    StreamFacts,
    WindowPoint,
    alarm_lines,
    base_of,
    stream_facts,
    window_points,
)
from tallystick.serve.pages.site import ForestEntry, StreamView, ask_view, call, go, render, verb_of
from tallystick.serve.queue import chances
from tallystick.serve.queue_turns import person_of, progress
from tallystick.serve.routes import Incoming, Parameter, page
from tallystick.serve.streams import StreamRecord, find_stream

_LABELS = Parameter("label-draw", "all: count every label.")

_TOP, _BOTTOM = 6.0, 144.0
"""Where a panel's plot begins and ends, in points."""


def axis_of(entries: list[ForestEntry]) -> dict[str, Any]:
    """Return the ends of the axis that all rows share, in whole tens, and its ticks."""
    ends = [x for one in entries for x in (one.estimate, one.low, one.high) if x is not None]
    low = max(0, int(min(ends, default=0.0) // 10) * 10)
    high = min(100, -(-int(max(ends, default=100.0) + 0.999) // 10) * 10)
    low, high = (low, high) if high - low >= 20 else (max(0, high - 20), max(high, 20))
    step = 10 if high - low <= 50 else 20
    return {"low": low, "high": high, "ticks": list(range(low, high + 1, step))}


def panels_of(points: list[WindowPoint]) -> list[dict[str, Any]]:
    """Return one small plot per judge; judges that an alarm names come first."""
    if len({one.index for one in points}) < 2:
        return []
    ends = [x for p in points for x in (p.value, p.low, p.high) if x is not None]
    low = max(0, int(min(ends, default=0.0) // 10) * 10)
    span = max(100 - low, 20)
    first, last = points[0].index, points[-1].index

    def y(value: float) -> float:
        return round(_BOTTOM - (_BOTTOM - _TOP) * (value - low) / span, 1)

    def x(index: int) -> float:
        return round(2 + 96 * (index - first) / max(1, last - first), 1)

    marks = sorted({one.index for one in points if one.alarmed})
    found = []
    since: dict[str, int] = {}
    for one in points:
        if one.named:
            since.setdefault(one.name, one.index)
    names = dict.fromkeys([*since, *(one.name for one in points)])  # the changed ones first
    for name in names:
        mine = [one for one in points if one.name == name]
        shown = [
            {
                "x": x(one.index),
                "y": None if one.value is None else y(one.value),
                "top": y(one.high if one.high is not None else one.value or low),
                "bottom": y(one.low if one.low is not None else one.value or low),
                "kind": " after" if one.index >= since.get(name, last + 1) else "",
            }
            for one in mine
            if one.value is not None or one.high is not None
        ]
        now = mine[-1]
        text = f"{now.value:.1f} %" if now.value is not None else ""
        found.append(
            {
                "name": name,
                "now": text,
                "points": shown,
                "marks": [x(one) for one in marks],
                "ticks": [
                    {"y": y(tick), "text": tick}
                    for tick in range(low, 101, 10 if span <= 50 else 20)
                ],
                "first": _hour(points[0].at),
                "last": _hour(now.at),
                "words": f"{name}: {len(mine)} windows" + (f", now {text}" if text else ""),
            }
        )
    return found


def _hour(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%a %H:%M}"


def _look(reader: Reader, name: str, person: str, now: float) -> dict[str, Any]:
    """Read everything but the result."""
    stream = find_stream(reader, name)
    columns = reader.all(
        "select name from stream_column where stream = ? and kind = 'slice' order by id",
        (stream.id,),
    )
    known = chances(reader, stream)
    return {
        "stream": stream,
        "verb": verb_of(reader, stream),
        "facts": stream_facts(reader, stream, now=now),
        "points": window_points(reader, stream),
        "alarms": alarm_lines(reader, stream=stream.id, unseen=True, limit=3),
        "mine": progress(reader, stream, person, now=now),
        "slices": [one for (one,) in columns],
        "chances": known,
        "readers": reader.one(
            "select count(distinct annotator) from label where stream = ? and value is not null",
            (stream.id,),
        ),
    }


@page("GET", "/streams/{stream}", "read", query=(*PART, _LABELS))
async def get_stream_page(incoming: Incoming) -> Response:
    """Show a stream."""
    service, name = incoming.service, incoming.path["stream"]
    labels = "all" if incoming.query("label-draw") == "all" else ""
    person = person_of(incoming.who)
    found = await service.reading(lambda r: _look(r, name, person, service.clock()))
    stream: StreamRecord = found["stream"]
    verb = found["verb"]
    view = await service.waiting(lambda: ask_view(service, stream, verb, labels=labels))
    panels = panels_of(found["points"])
    known = found["chances"]
    return await render(
        incoming,
        "stream.html",
        here="Streams",
        stream=stream,
        view=view,
        facts=found["facts"],
        alarms=found["alarms"],
        panels=panels,
        whiskers=_whiskers(found["points"]),
        marked=any(panel["marks"] for panel in panels),
        next=_next(view, found["mine"].left, found["facts"]),
        axis=axis_of(view.entries),
        slices=found["slices"],
        labels=labels,
        others=bool(known.undrawn or known.apart or labels),
        labels_line=_labels_line(found["facts"], known, labels),
        people_line=_people_line((found["readers"] or (0,))[0]),
        rests=_rests(known, (found["readers"] or (0,))[0], len({p.index for p in found["points"]})),
        way=labels or ("drawn" if verb == "score" else "even"),
        base=base_of(incoming),
    )


def _whiskers(points: list[WindowPoint]) -> str:
    """Say what the ends of the points are: without labels they are no interval."""
    if any(one.labelled for one in points):
        return "95 % interval"
    if any(one.value is not None for one in points):
        return "likely range, by the votes alone"
    return "what the votes leave possible"


def _next(view: StreamView, waiting: int, facts: StreamFacts) -> dict[str, Any]:
    """Say what would settle the rest."""
    step = view.next or (
        f"Next: label {about(view.needed)} rows"
        if view.needed
        else "Next: nothing is needed for this answer"
        if view.decision == "decided"
        else "Next: label rows that are drawn for you"
        if facts.rows
        else "Next: post records"
    )
    if waiting:
        noun = "row" if waiting == 1 else "rows"
        return {
            "title": step,
            "text": f"{count(waiting)} drawn {noun} wait in the queue.",
            "label": f"Label {count(waiting)} {noun}",
            "draw": "",
        }
    budget = min(max(view.needed or 40, 20), 200) if facts.rows else 0
    return {
        "title": step,
        "text": "Rows are drawn at random, more where the votes tell least, each with a known"
        " probability."
        if budget
        else "",
        "label": "",
        "draw": f"Draw {budget} rows" if budget else "",
        "budget": budget,
    }


def _labels_line(facts: StreamFacts, known: Any, labels: str) -> str:
    if not facts.labels:
        return "None yet."
    if not known.drawn:
        return f"{count(facts.labels)}, none of them drawn here: they count as if drawn at random."
    if labels == "all":
        return f"{count(facts.labels)}, all counted as if drawn at random: this is an assumption."
    text = f"{count(len(known.drawn))} drawn by the queue."
    if known.waiting:
        text += f" {count(len(known.waiting))} more count as soon as the rows before them are read."
    if known.apart:
        text += f" {count(len(known.apart))} from before the draw stand for their own rows only."
    if known.undrawn:
        text += f" {count(len(known.undrawn))} that nobody drew are not counted."
    if known.skipped:
        text += f" {count(known.skipped)} were skipped."
    return text


def _people_line(readers: int) -> str:
    if not readers:
        return "Nobody has labelled yet."
    if readers == 1:
        return "One. People err too: a second reader would show how often."
    return f"{count(readers)}."


def _rests(known: Any, readers: int, windows: int) -> str:
    parts = [
        "Labels drawn with known chances" if known.drawn else "Labels as they came",
        f"{readers} {'reader' if readers == 1 else 'readers'}",
        f"{windows} closed {'window' if windows == 1 else 'windows'}",
    ]
    return ", ".join(parts) + "."


@page(
    "GET",
    "/streams/{stream}/slices",
    "read",
    query=(*PART, _LABELS, Parameter("by", "The column.")),
)
async def get_slices(incoming: Incoming) -> Response:
    """Show the answer by slice, the worst first."""
    service, name, by = incoming.service, incoming.path["stream"], incoming.query("by")
    labels = "all" if incoming.query("label-draw") == "all" else ""
    stream, verb = await service.reading(
        lambda r: (find_stream(r, name), verb_of(r, find_stream(r, name)))
    )
    if not by:
        raise HttpProblem(422, "say which slices: ?by=COLUMN")
    view = await service.waiting(lambda: ask_view(service, stream, verb, by=by, labels=labels))
    groups: list[dict[str, Any]] = []
    for whole in view.entries:
        mine = [
            ForestEntry(name, one.estimate, one.low, one.high)
            for name, entries, _ in view.slices
            for one in entries
            if one.name == whole.name and (one.estimate is not None or one.low is not None)
        ]
        mine.sort(key=lambda e: e.estimate if e.estimate is not None else e.low or 0.0)
        if mine:
            groups.append({"name": whole.name, "entries": mine, "mark": whole.estimate})
    every: list[ForestEntry] = [one for group in groups for one in group["entries"]]
    silent = [(name, why) for name, _, why in view.slices if why]
    return await render(
        incoming,
        "slices.html",
        here="Streams",
        stream=stream,
        view=view,
        by=by,
        rows=groups,
        silent=silent,
        axis=axis_of([*every, *view.entries]),
    )


@page("POST", "/streams/{stream}/frames", "admin")
async def post_draw(incoming: Incoming) -> Response:
    """Draw rows by a form."""
    name = incoming.path["stream"]
    try:
        budget = int(incoming.form.get("budget", "40"))
    except ValueError as error:
        raise HttpProblem(422, "the number of rows is a whole number") from error
    await call(incoming, "POST", "/v1/streams/{stream}/frames", {"budget": budget}, stream=name)
    return go(f"/streams/{name}")
