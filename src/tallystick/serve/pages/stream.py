"""The page of a stream: verdict, judges by window, what would settle the rest, slices, evidence."""

from __future__ import annotations

import json
from typing import Any, Literal

import msgspec
from starlette.responses import Response

from tallystick.report.chart import chart
from tallystick.results import Figure, about, count
from tallystick.serve.alerts import listed_alerts
from tallystick.serve.auth import HttpProblem, Span
from tallystick.serve.chances import Chances, chances
from tallystick.serve.database import Reader, Store
from tallystick.serve.jobs import Service
from tallystick.serve.pages.site import PartQuery, base_of, form, render
from tallystick.serve.posted import listed_posted
from tallystick.serve.queue import MOST_PATTERNS, frames_of
from tallystick.serve.queue_turns import person_of, progress
from tallystick.serve.results import computed, label_way
from tallystick.serve.routes import Incoming, page
from tallystick.serve.rows import has_systems
from tallystick.serve.streams import Codebook, StreamRecord, find_stream


class StreamQuery(PartQuery):
    """What the page of a stream may be asked for: every label with ``label-draw=all``."""

    label_draw: Literal["", "all"] = msgspec.field(default="", name="label-draw")
    by: str = ""


_GROUPS = {
    "judge": ("judges", "accuracy"),
    "score": ("systems", "score"),
    "compare": ("models", "score"),
    "bound": ("bounds", "estimate"),
}
"""Where the rows of a result are, and what their number is called."""


# What the worker makes of a question, for a page.


def verb_of(reader: Reader, stream: StreamRecord) -> str:
    """Return the question that a stream's page asks: by its reading and by what its rows are."""
    if stream.settings.reading.get("prediction"):
        return "bound"
    return "score" if has_systems(reader, stream) else "judge"


def ask_view(
    service: Service, stream: StreamRecord, verb: str, *, by: str = "", draw: str = ""
) -> dict[str, Any]:
    """Ask the worker, or the memory if the stream has not changed. Call it in a thread."""
    found, _ = computed(service, "pages.stream:view", stream, verb, by, draw)
    return dict(msgspec.json.decode(found))


def view(store: Store, name: str, verb: str, by: str, draw: str) -> tuple[int, bytes]:
    """Ask a question about a stream and return what its page shows: what the worker does.

    Its sentences; what was read; whether labels stand behind its ends (``labelled``), otherwise
    they are likely ranges; its pictures, the most telling one first, with *by* the slices; and the
    slices without a number (``silent``), each with the reason.
    """
    from tallystick.serve.answer import (
        answer_stream,
        nothing_yet,
    )  # the server itself never computes

    given = {"by": [by]} if by else {}
    found = answer_stream(store, name, verb, given, Span(label_draw=draw))
    result = found.result
    shown: dict[str, Any] = {"verb": verb, "command": found.command, "decision": "unknowable"}
    if result is None:
        shown |= dict.fromkeys(("contrast", "open", "next", "needed", "n_labels", "labelled"))
        shown |= dict.fromkeys(("read", "assumptions", "warnings", "pictures", "silent"), ())
        shown |= {"answer": nothing_yet(found.why), "n_items": 0}
        return found.version, msgspec.json.encode(shown)
    body = json.loads(json.dumps(result.to_dict(), default=str))
    opening, needed = result.opening, body.get("needed")
    grave = result.decision == "decided" and any(doubt.grave for doubt in found.doubts)
    rows = body.get(_GROUPS[verb][0]) or ()
    figures = [_by_slice(verb, by, body)] if by else result.figures()[:4]
    shown |= {
        "answer": opening.answer,
        "contrast": opening.contrast,
        "open": opening.open,
        "next": opening.next,
        "decision": "undecided" if grave else result.decision,
        "needed": needed.get("count") if isinstance(needed, dict) else None,
        "n_items": result.n_items,
        "n_labels": body.get("n_labels"),
        "labelled": verb == "bound" or any(one.get("interval") for one in rows),
        "read": result.read_line(),
        "assumptions": result.assumptions,
        # What the labels leave open comes first: it may concern every figure.
        "warnings": [*(doubt.warning for doubt in found.doubts), *result.warnings],
        "pictures": [_drawn(one) for one in figures if one is not None],
        "silent": [
            (_slice_name(one), str((one.get("unknown") or {}).get("verdict", "")))
            for one in body.get("slices") or ()
            if not one.get("verdict")
        ],
    }
    return found.version, msgspec.json.encode(shown)


def _drawn(figure: Figure) -> dict[str, str]:
    made = chart(figure)
    return {"title": made.title, "notes": made.caption, "html": str(made.html())}


def _slice_name(one: dict[str, Any]) -> str:
    return "(blank)" if one.get("slice") is None else str(one["slice"])


def _by_slice(verb: str, by: str, body: dict[str, Any]) -> Figure | None:
    """Return the numbers of every slice, the lowest first in each group."""
    group, number = _GROUPS[verb]
    cells = [
        (str(one.get("name", one.get("metric"))), _slice_name(part), one.get(number), *_ends(one))
        for part in body.get("slices") or ()
        for one in part.get(group) or ()
    ]
    cells = [one for one in cells if one[2] is not None or one[3] is not None]
    if not cells:
        return None
    order = list(dict.fromkeys(one[0] for one in cells))
    cells.sort(key=lambda one: (order.index(one[0]), one[2] if one[2] is not None else one[3]))
    return Figure(
        kind="forest",
        title=f"By {by}, the lowest first",
        columns=dict(zip(("of", by, number, "low", "high"), zip(*cells, strict=True), strict=True)),
        roles={"name": "of", "x": number, "low": "low", "high": "high", "group": by},
        unit="share",
    )


def _ends(one: dict[str, Any]) -> tuple[Any, Any]:
    low, high = one.get("interval") or one.get("range") or (one.get("lower"), one.get("upper"))
    return low, high


# What pages say of a stream without a question: read from the tables.


def stream_facts(reader: Reader, stream: StreamRecord, *, now: float) -> dict[str, Any]:
    """Return the counts of a stream.

    The rows of this day (UTC), all rows, those with a label and their share, the share of today's
    rows with every vote (None if it is not known), when the last batch came, and since when rows
    are kept (None if none was dropped).
    """
    midnight = int(now // 86_400) * 24
    rows = reader.all(
        "select p.codes, sum(t.n) from tally t join pattern p on p.id = t.pattern"
        f" where t.stream = ? and t.bucket >= ? group by p.id, p.codes limit {MOST_PATTERNS + 1}",
        (stream.id, midnight),
    )
    # Rows on which people disagree have no truth, and count as unlabelled.
    labelled = reader.all(
        "select p.codes, count(distinct l.row_id) from label l join rows r on r.stream = l.stream"
        f" and {reader.row_is('=', 'l.row_id')} join pattern p on p.id = r.pattern"
        " where l.stream = ? and l.current = 1 and l.value is not null group by p.codes",
        (stream.id,),
    )
    book = Codebook(reader, stream)  # after the patterns: it must know all of their words
    today = sum(int(n) for _, n in rows)
    whole = sum(int(n) for codes, n in rows if None not in book.cells(bytes(codes))[0])
    known = bool(today and book.columns["vote"])
    if len(rows) > MOST_PATTERNS:  # the share of complete rows is not worth its price
        known = False
        sql = "select coalesce(sum(n), 0) from tally where stream = ? and bucket >= ?"
        today = int(reader.value(sql, (stream.id, midnight)))
    labels = sum(int(n) for codes, n in labelled if book.cells(bytes(codes))[1] is not None)
    since = reader.fact(f"kept_from:{stream.id}")
    sql = "select at from batch where stream = ? order by seq desc limit 1"
    return {
        "today": today,
        "rows": stream.rows,
        "labels": labels,
        "labelled": labels / stream.rows if stream.rows else 0.0,
        "complete": whole / today if known else None,
        "last": reader.value(sql, (stream.id,)),
        "since": 3600.0 * int(since) if since else None,
    }


def windows_figure(reader: Reader, stream: StreamRecord, *, most: int = 48) -> Figure | None:
    """Return what the last closed windows said of each judge; the title names the alarms."""
    cells, alarmed = [], []
    rows = reader.all(
        "select idx, result, change from windows where stream = ? and result is not null"
        " order by idx desc limit ?",
        (stream.id, most),
    )
    for index, result, change in reversed(rows):
        alarms = (json.loads(change) if change else {}).get("alarms") or []
        alarmed += [f"{index + 1} ({one.get('judge') or 'all judges'})" for one in alarms]
        for one in json.loads(result).get("judges") or ():
            cells.append((index + 1, str(one["name"]), one.get("accuracy"), *_ends(one)))
    if len(rows) < 2 or not any(one[2] is not None or one[3] is not None for one in cells):
        return None
    names = ("window", "judge", "accuracy", "low", "high")
    span = {"daily": "day", "weekly": "week"}.get(
        stream.settings.season or "", f"window of {count(stream.settings.window)}"
    )
    told = f"; alarms in {', '.join(alarmed)}" if alarmed else ""
    return Figure(
        kind="rounds",
        # A window is tested by its votes: no label stands behind these shares and their ranges.
        title="By the votes alone: the likely share of rows each judge gets right,"
        f" per {span}{told}",
        columns=dict(zip(names, zip(*cells, strict=True), strict=True)),
        roles=dict(zip(("x", "group", "y", "low", "high"), names, strict=True)),
        unit="share",
    )


# The page.


@page("GET", "/streams/{stream}", "read", query=StreamQuery)
async def get_stream_page(incoming: Incoming) -> Response:
    """Show a stream."""
    service, name = incoming.service, incoming.path["stream"]
    draw = incoming.query.label_draw
    person = person_of(incoming.who)

    def look(reader: Reader) -> dict[str, Any]:
        stream = find_stream(reader, name)
        return {
            "stream": stream,
            "verb": verb_of(reader, stream),
            "facts": stream_facts(reader, stream, now=service.clock()),
            "windows": windows_figure(reader, stream),
            "alarms": listed_alerts(reader, stream=name, unseen=True, limit=3),
            "posted": listed_posted(reader, stream.id, limit=10),
            "waiting": progress(reader, stream, person, now=service.clock()).left,
            "slices": [name for _, name, kind in reader.columns(stream.id) if kind == "slice"],
            "known": chances(reader, stream),
            "readers": reader.value(
                "select count(distinct annotator) from label where stream = ?"
                " and value is not null",
                (stream.id,),
            ),
        }

    found = await service.reading(look)
    stream, verb, facts, known = (found[key] for key in ("stream", "verb", "facts", "known"))
    shown = await service.waiting(lambda: ask_view(service, stream, verb, draw=draw))
    windows = found.pop("windows")
    return await render(
        incoming,
        "stream.html",
        here="Streams",
        view=shown,
        by_window=None if windows is None else _drawn(windows),
        next=_next(shown, found["waiting"], stream.rows),
        draw=draw,
        others=bool(known.undrawn or known.apart or draw),
        labels_line=_labels_line(facts["labels"], known, draw),
        way=draw or label_way(verb),
        base=base_of(incoming),
        **found,
    )


def _next(shown: dict[str, Any], waiting: int, rows: int) -> dict[str, Any]:
    """Say what would settle the rest."""
    needed = shown["needed"]
    step = shown["next"] or (
        f"Next: label {about(needed)} rows"
        if needed
        else "Next: nothing is needed for this answer"
        if shown["decision"] == "decided"
        else "Next: label rows that are drawn for you"
        if rows
        else "Next: post records"
    )
    return {
        "title": step,
        "budget": min(max(needed or 40, 20), 200) if rows and not waiting else 0,
    }


def _labels_line(labels: int, known: Chances, draw: str) -> str:
    if not labels:
        return "None yet."
    if not known.drawn or draw == "all":
        return f"{count(labels)}, all counted as if drawn at random: this is an assumption."
    parts = [
        (len(known.waiting), "more count as soon as the rows before them are read"),
        (len(known.apart), "from before the draw stand for their own rows only"),
        (len(known.undrawn), "that nobody drew are not counted"),
    ]
    rest = "".join(f" {count(n)} {words}." for n, words in parts if n)
    return f"{count(len(known.drawn))} drawn by the queue.{rest}"


@page("GET", "/streams/{stream}/slices", "read", query=StreamQuery)
async def get_slices(incoming: Incoming) -> Response:
    """Show the answer by slice, the worst first."""
    service, name, by = incoming.service, incoming.path["stream"], incoming.query.by
    draw = incoming.query.label_draw
    if not by:
        raise HttpProblem(422, "say which slices: ?by=COLUMN")

    def look(reader: Reader) -> tuple[StreamRecord, str]:
        stream = find_stream(reader, name)
        return stream, verb_of(reader, stream)

    stream, verb = await service.reading(look)
    shown = await service.waiting(lambda: ask_view(service, stream, verb, by=by, draw=draw))
    return await render(incoming, "slices.html", here="Streams", stream=stream, view=shown, by=by)


form("/streams/{stream}/frames", "POST", "/v1/streams/{stream}/frames", "/streams/{stream}")


# Labels: how far people agree, what they disagree on, how fast they are, and
# the draws.


@page("GET", "/streams/{stream}/labels", "read", query=PartQuery)
async def get_people(incoming: Incoming) -> Response:
    """Show the labels of a stream and who gave them."""
    service, name = incoming.service, incoming.path["stream"]

    def look(reader: Reader) -> dict[str, Any]:
        stream = find_stream(reader, name)
        reasons = reader.all(
            "select r.item, l.annotator, l.reason from label l join rows r"
            f" on r.stream = l.stream and {reader.row_is('=', 'l.row_id')}"
            " where l.stream = ? and l.current = 1 and l.reason is not null"
            " order by l.id desc limit 20",
            (stream.id,),
        )
        return {"stream": stream, "frames": frames_of(reader, stream), "reasons": reasons}

    found = await service.reading(look)
    answer, _ = await service.waiting(
        lambda: computed(service, "queue_turns:people", found["stream"])
    )
    people = msgspec.json.decode(answer)
    if not people["people"]:
        headline = "Nobody has labelled anything yet."
    elif not people["twice"]:
        headline = "No row was read by two people yet, so nobody knows how often they err."
    else:
        twice = people["twice"]
        rows, share = "row" if twice == 1 else "rows", 100 * people["agreed"] / twice
        headline = f"Two people agree on {share:.1f}% of the {twice} {rows} that both read."
    return await render(
        incoming, "labels.html", here="Streams", people=people, headline=headline, **found
    )
