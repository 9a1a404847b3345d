"""What pages say of streams, watches and alarms without a question: read from the tables."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from tallystick.serve.queue.population import Words, words_of
from tallystick.serve.settings import StreamRecord
from tallystick.serve.store import Reader

__all__ = [
    "AlarmLine",
    "StreamFacts",
    "WatchLine",
    "WindowPoint",
    "alarm_lines",
    "stream_facts",
    "watch_lines",
    "window_points",
]

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
    watch: str | None
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
        "select a.id, a.name, a.what, a.proves, a.does_not_prove, a.at, s.name, w.name, a.seen,"
        " a.seen_by from alert a left join stream s on s.id = a.stream"
        f" left join watch w on w.id = a.watch where {' and '.join(where)}"
        " order by a.id desc limit ?",
        (*given, limit),
    )
    names = ("id", "name", "what", "proves", "does_not_prove", "at", "stream", "watch", "seen")
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


@dataclass(frozen=True, kw_only=True)
class WatchLine:
    """A watch as pages show it."""

    id: int
    name: str
    state: str
    spent: float
    reserved: float
    cap: float
    cap_run: float
    every: float
    next: float | None
    baseline: int | None
    currency: str
    api: str
    items: int
    runs: int
    verdict: str
    results: list[Any] = field(default_factory=list)


def watch_lines(reader: Reader, *, name: str | None = None) -> list[WatchLine]:
    """Return the watches, each with what its last run said."""
    rows = reader.all(
        "select id, name, spec, state, spent, reserved, cap_month, cap_run, every, next, baseline"
        " from watch" + ("" if name is None else " where name = ?") + " order by name",
        () if name is None else (name,),
    )
    found = []
    for ident, called, spec, state, *numbers in rows:
        order = json.loads(spec)
        spent, reserved, cap, cap_run, every, next_, baseline = numbers
        runs = reader.all(
            "select id, kind, state, started, ended, cost, result, error from run where watch = ?"
            " order by id desc limit 100",
            (ident,),
        )
        done = [one for one in runs if one[2] == "done" and one[1] == "check" and one[6]]
        verdict = (
            str(json.loads(done[0][6]).get("verdict", ""))
            if done
            else "No check yet: the baseline comes first."
            if not baseline
            else "No check yet since the baseline."
        )
        found.append(
            WatchLine(
                id=ident,
                name=called,
                state=state,
                spent=spent,
                reserved=reserved,
                cap=cap,
                cap_run=cap_run,
                every=every,
                next=next_,
                baseline=baseline,
                currency=str(order.get("currency", "")),
                api=str(order.get("api", "")),
                items=len(order.get("items") or ()),
                runs=len(runs),
                verdict=verdict,
                results=runs,
            )
        )
    return found
