"""Home: one line per stream, then one line per alarm that nobody has seen."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any

import msgspec
from starlette.responses import Response

import tallystick
from tallystick.serve.app import listed
from tallystick.serve.auth import LOCAL, HttpProblem, Span
from tallystick.serve.database import Reader
from tallystick.serve.export import last_check
from tallystick.serve.jobs import Service
from tallystick.serve.pages.site import StreamView, ask_view, call, go, may, render, verb_of
from tallystick.serve.queue import Words, words_of
from tallystick.serve.queue_doubts import FrameBody, frames_of
from tallystick.serve.queue_turns import People
from tallystick.serve.results import computed
from tallystick.serve.routes import Incoming, Parameter, page
from tallystick.serve.streams import StreamRecord, find_stream

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


@page("GET", "/", "none", query=PART)
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
        lines = [_line(reader, one, service.clock(), latest.get(one.id), alarms) for one in streams]
        return {"streams": streams, "alarms": alarms, "lines": lines}

    found = await service.reading(look)
    await _verdicts(service, found["streams"], found["lines"])
    n = len(found["alarms"])
    touched = {one.stream for one in found["alarms"]}
    rest = sum(one["name"] not in touched for one in found["lines"])
    return await render(
        incoming,
        "home.html",
        here="Home",
        lines=found["lines"],
        alarms=found["alarms"][:MOST_ALARMS],
        more=n > MOST_ALARMS,
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


# Alarms: what each proves, what it does not, who has seen it, and where it was sent.


@page("GET", "/alarms", "read", query=PART)
async def get_alarms(incoming: Incoming) -> Response:
    """Show alarms, the newest first."""
    who = incoming.who
    found = await incoming.service.reading(
        lambda reader: alarm_lines(reader, streams=who.streams, limit=100)
    )
    return await render(incoming, "alarms.html", here="Alarms", alarms=found)


@page("POST", "/alarms/{alert}/seen", "admin")
async def post_alarm_seen(incoming: Incoming) -> Response:
    """Note that somebody saw an alarm."""
    await call(incoming, "POST", "/v1/alerts/{alert}/seen", alert=incoming.path["alert"])
    back = incoming.header("referer") or ""
    return go("/alarms" if back.endswith("/alarms") else "/")


# Settings: keys, hooks, how long rows are kept, copies, and the version.


@page("GET", "/settings", "admin")
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


@page("POST", "/settings/keys", "admin")
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


@page("POST", "/settings/keys/{key}/revoke", "admin")
async def post_revoke(incoming: Incoming) -> Response:
    """Revoke a key."""
    await call(incoming, "DELETE", "/v1/keys/{key}", key=incoming.path["key"])
    return go("/settings#keys")


@page("POST", "/settings/hooks", "admin")
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


@page("POST", "/settings/hooks/{hook}/test", "admin")
async def post_hook_test(incoming: Incoming) -> Response:
    """Send a sample to a hook."""
    await call(incoming, "POST", "/v1/hooks/{hook}/test", hook=incoming.path["hook"])
    return go("/settings#hooks")


@page("POST", "/settings/hooks/{hook}/delete", "admin")
async def post_hook_delete(incoming: Incoming) -> Response:
    """Delete a hook."""
    await call(incoming, "DELETE", "/v1/hooks/{hook}", hook=incoming.path["hook"])
    return go("/settings#hooks")


@page("POST", "/settings/streams/{stream}/retention", "admin")
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


# Labels: how far people agree, what they disagree on, how fast they are, and the draws.


@page("GET", "/streams/{stream}/labels", "read", query=PART)
async def get_people(incoming: Incoming) -> Response:
    """Show the labels of a stream and who gave them."""
    service, name = incoming.service, incoming.path["stream"]

    def look(reader: Reader) -> tuple[StreamRecord, list[FrameBody], list[Any]]:
        stream = find_stream(reader, name)
        reasons = reader.all(
            "select r.item, l.annotator, l.reason from label l join rows r"
            f" on r.stream = l.stream and {reader.row_is('=', 'l.row_id')}"
            " where l.stream = ? and l.current = 1 and l.reason is not null"
            " order by l.id desc limit 20",
            (stream.id,),
        )
        return stream, frames_of(reader, stream), reasons

    stream, frames, reasons = await service.reading(look)
    kind = "tallystick.serve.queue_turns:people"
    found, _ = await service.waiting(
        lambda: computed(service, kind, stream, "people", {}, Span(), name=name)
    )
    people = msgspec.json.decode(found.body, type=People)
    return await render(
        incoming,
        "labels.html",
        here="Streams",
        stream=stream,
        people=people,
        frames=frames,
        reasons=reasons,
        headline=_people_headline(people),
    )


def _people_headline(people: People) -> str:
    """Say how far people agree."""
    if not people.people:
        return "Nobody has labelled anything yet."
    if not people.twice:
        return "No row was read by two people yet, so nobody knows how often they err."
    share = 100 * people.agreed / people.twice
    rows = "row" if people.twice == 1 else "rows"
    return f"Two people agree on {share:.1f} % of the {people.twice} {rows} that both read."


# What pages say of streams and alarms without a question: read from the tables.


MOST_PATTERNS = 5_000
"""With more patterns the share of complete rows is not worth its price."""


@dataclass(frozen=True, kw_only=True)
class StreamFacts:
    """Counts of a stream.

    Parameters
    ----------
    today
        Rows of this day (UTC).
    labels
        Rows with a label.
    complete
        The share of today's rows with every vote; None if it is not known.
    last
        When the last batch came.
    """

    today: int
    rows: int
    labels: int
    complete: float | None
    last: float | None

    @property
    def labelled(self) -> float:
        """The share of rows with a label."""
        return self.labels / self.rows if self.rows else 0.0


def stream_facts(reader: Reader, stream: StreamRecord, *, now: float) -> StreamFacts:
    """Return the counts of a stream."""
    midnight = int(now // 86_400) * 24
    today = reader.one(
        "select sum(n) from tally where stream = ? and bucket >= ?", (stream.id, midnight)
    )
    words = words_of(reader, stream)
    last = reader.one(
        "select at from batch where stream = ? order by seq desc limit 1", (stream.id,)
    )
    return StreamFacts(
        today=int((today and today[0]) or 0),
        rows=stream.rows,
        labels=_labelled(reader, stream, words),
        complete=_complete(reader, stream, words, midnight),
        last=last[0] if last else None,
    )


def _labelled(reader: Reader, stream: StreamRecord, words: Words) -> int:
    """Return how many rows have a truth: those on which people disagree have none."""
    if not words.truth:
        return 0
    rows = reader.all(
        "select p.codes, count(distinct l.row_id) from label l join rows r on r.stream = l.stream"
        " and (r.id >> 4) = (l.row_id >> 4) and r.id = l.row_id"  # an index of blocks of ids
        " join pattern p on p.id = r.pattern where l.stream = ?"
        " and l.current = 1 and l.value is not null group by p.codes",
        (stream.id,),
    )
    return sum(int(n) for codes, n in rows if words.truth_of(bytes(codes)) is not None)


def _complete(reader: Reader, stream: StreamRecord, words: Words, midnight: int) -> float | None:
    """Return the share of rows since midnight that have a vote in every column."""
    if not words.columns:
        return None
    rows = reader.all(
        "select p.codes, sum(t.n) from tally t join pattern p on p.id = t.pattern"
        f" where t.stream = ? and t.bucket >= ? group by p.id, p.codes limit {MOST_PATTERNS + 1}",
        (stream.id, midnight),
    )
    total = sum(int(n) for _, n in rows)
    if not total or len(rows) > MOST_PATTERNS:
        return None
    whole = sum(
        int(n) for codes, n in rows if len(words.votes_of(bytes(codes))) // 4 == len(words.columns)
    )
    return whole / total


@dataclass(frozen=True, kw_only=True)
class WindowPoint:
    """One judge in one window, in percent.

    Parameters
    ----------
    alarmed, named
        Whether the window raised an alarm, and whether that names this judge.
    labelled
        Whether its ends are an interval, from labels.
    """

    index: int
    at: float
    name: str
    value: float | None
    low: float | None
    high: float | None
    alarmed: bool
    named: bool = False
    labelled: bool = False


def window_points(reader: Reader, stream: StreamRecord, *, most: int = 48) -> list[WindowPoint]:
    """Return what the last closed windows said of each judge, the oldest first."""
    found: list[WindowPoint] = []
    rows = reader.all(
        "select idx, closed, result, change from windows where stream = ? and closed is not null"
        " order by idx desc limit ?",
        (stream.id, most),
    )
    for index, closed, result, change in reversed(rows):
        body = json.loads(result) if result else {}
        alarms = (json.loads(change) if change else {}).get("alarms") or []
        named = {one.get("judge") for one in alarms}
        for one in body.get("judges") or ():
            ends = one.get("interval") or one.get("range") or (None, None)
            value, low, high = (
                100.0 * x if isinstance(x, int | float) else None
                for x in (one.get("accuracy"), *ends)
            )
            found.append(
                WindowPoint(
                    index=index,
                    at=closed,
                    name=str(one["name"]),
                    value=value,
                    low=low,
                    high=high,
                    alarmed=bool(alarms),
                    named=one["name"] in named,
                    labelled=bool(one.get("interval")),
                )
            )
    return found


@dataclass(frozen=True, kw_only=True)
class AlarmLine:
    """An alarm as pages show it."""

    id: int
    name: str
    what: str
    proves: str
    does_not_prove: str
    at: float
    stream: str | None
    seen: float | None
    seen_by: str | None
    delivered: str = ""


def alarm_lines(
    reader: Reader,
    *,
    streams: tuple[str, ...] = (),
    stream: int | None = None,
    unseen: bool = False,
    limit: int = 100,
) -> list[AlarmLine]:
    """Return alarms, the newest first; of *streams* only, where they are named."""
    where, given = ["1 = 1"], []
    if unseen:
        where.append("a.seen is null")
    if stream is not None:
        where.append("a.stream = ?")
        given.append(stream)
    rows = reader.all(
        "select a.id, a.name, a.what, a.proves, a.does_not_prove, a.at, s.name, a.seen,"
        " a.seen_by from alert a left join stream s on s.id = a.stream"
        f" where {' and '.join(where)}"
        " order by a.id desc limit ?",
        (*given, limit),
    )
    names = ("id", "name", "what", "proves", "does_not_prove", "at", "stream", "seen")
    return [
        AlarmLine(
            **dict(zip((*names, "seen_by"), row, strict=True)),
            delivered=_delivered(reader, row[0]),
        )
        for row in rows
        if not streams or row[6] in streams
    ]


def _delivered(reader: Reader, alert: int) -> str:
    """Say to how many hooks an alarm went."""
    row = reader.one(
        "select count(*), sum(case when done is not null then 1 else 0 end),"
        " sum(case when done is null and next is null then 1 else 0 end)"
        " from delivery where alert = ?",
        (alert,),
    )
    if row is None or not row[0]:
        return ""
    sent, done, lost = (int(one or 0) for one in row)
    hooks = f"{sent} hook" if sent == 1 else f"{sent} hooks"
    if done == sent:
        return f"Sent to {hooks}, delivered"
    if lost:
        return f"Sent to {hooks}, {lost} given up after six tries"
    return f"Sent to {hooks}, {sent - done} still to be delivered"
