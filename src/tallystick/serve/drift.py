"""The drift test: once per window, when its rows have come and the settle time of each is over.

A window is the next N rows by arrival. The test sees the votes that came within the settle time of
their row; late votes and labels change results, never that test. The bound on false alarms is
`judge`'s: at most 5 % of quiet streams raise one in 10,000 items.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from tallystick.serve.alerts import AlertNote, raise_alert
from tallystick.serve.drift_seen import forget_rows, is_seen, see_rows, vote_columns
from tallystick.serve.jobs import Held, Job
from tallystick.serve.routes import Incoming, Parameter, Route
from tallystick.serve.settings import StreamRecord, find_stream
from tallystick.serve.store import Reader, Transaction
from tallystick.serve.worker import WorkerOrder

if TYPE_CHECKING:
    from tallystick.serve.service import Service

__all__ = ["JOBS", "ROUTES", "WindowBody", "WindowList", "listed_windows"]

ALPHA = 0.05
_PATIENCE = 100.0
"""Seconds that the worker may take for a window; the lease of the job is longer."""

_MOST_IDS = 50_000
"""Rows that are looked at for one transaction: after an import there are thousands of windows."""

_NOT_WHO = (
    "why: a judge may be switched off, out of money, or the items may no longer reach it; what it"
    " would have said is unknown"
)
_NOT_WHY = (
    "whether its opinion changed: only the word is new, and until it is mapped votes are lost"
)


_NOTICES = {
    "silent": ("silent", _NOT_WHO),
    "new label": ("spelling", _NOT_WHY),
    "naming": ("naming", "more than the votes show: only labels tell who is right"),
}
"""Kinds of notices, by the names of the alarms that they become."""


class WindowBody(msgspec.Struct):
    """A window of the drift test."""

    index: int
    rows: int
    opened: float
    full_at: float | None
    closed: float | None
    result: Any = None
    change: Any = None


class WindowList(msgspec.Struct):
    """Windows, the oldest first."""

    windows: list[WindowBody]


# -- the job


def watch_drift(service: Service, held: Held) -> None:
    """Open, fill and close the windows of every stream."""
    names = service.read(lambda reader: reader.all("select name from stream order by id"))
    for (name,) in names:
        if service.jobs.stopping:
            return
        stream = service.read(lambda reader, name=name: _found(reader, name))  # type: ignore[misc]
        if stream is None:
            continue
        while _fill(service, held, stream):
            held.renew()
        while see_rows(service, held, stream):
            held.renew()
        while _close(service, held, stream):
            held.renew()


def _found(reader: Reader, name: str) -> StreamRecord | None:
    row = reader.one("select 1 from stream where name = ?", (name,))
    return None if row is None else find_stream(reader, name)


def _fill(service: Service, held: Held, stream: StreamRecord) -> bool:
    """Open the next windows, and note which are full; return whether there may be more."""
    size = stream.settings.window

    def look(reader: Reader) -> tuple[bool, int, list[tuple[int, int | None]]]:
        """Return whether the first window is open already, its index, and (first, last) of each."""
        last = reader.one(
            "select idx, row_from, row_to from windows where stream = ? order by idx desc limit 1",
            (stream.id,),
        )
        index, start, is_open = 0, 0, False
        if last is not None:
            is_open = last[2] is None
            index, start = (last[0], last[1]) if is_open else (last[0] + 1, last[2] + 1)
        ids = [
            ident
            for (ident,) in reader.all(
                f"select r.id from rows r where r.stream = ? and {reader.row_is('>=', start)}"
                f" order by {reader.in_order()} limit ?",
                (stream.id, size * max(1, _MOST_IDS // size)),
            )
        ]
        parts = [ids[k : k + size] for k in range(0, len(ids), size)]
        return is_open, index, [(one[0], one[-1] if len(one) == size else None) for one in parts]

    is_open, index, found = service.read(look)
    if not found or (is_open and found[0][1] is None):
        return False
    now = service.clock()

    def work(transaction: Transaction) -> None:
        held.check(transaction)
        for place, (start, end) in enumerate(found, start=index):
            if place > index or not is_open:
                transaction.run(
                    "insert into windows (stream, idx, seq_from, row_from, rows, opened)"
                    " select ?, ?, seq_first, id, 0, ? from rows r"
                    f" where r.stream = ? and {transaction.row_is('=', start)}",
                    (stream.id, place, now, stream.id),
                )
            if end is not None:
                transaction.run(
                    "update windows set row_to = ?, rows = ?, full_at = ?"
                    " where stream = ? and idx = ?",
                    (end, size, now, stream.id, place),
                )

    service.writer.do(work)
    return found[-1][1] is not None


def _close(service: Service, held: Held, stream: StreamRecord) -> bool:
    """Test the oldest window that has settled; return whether there was one."""
    now = service.clock()

    def look(reader: Reader) -> tuple[Any, ...] | None:
        window = reader.one(
            "select idx, row_from, row_to from windows"
            " where stream = ? and closed is null order by idx limit 1",
            (stream.id,),
        )
        if window is None or window[2] is None or not is_seen(reader, stream.id, window[2]):
            return None
        votes = vote_columns(reader, stream.id, window[1], window[2])
        state = reader.one("select value from fact where name = ?", (_fact(stream),))
        return window[0], window[2], votes, None if state is None else json.loads(state[0])

    found = service.read(look)
    if found is None:
        return False
    index, end, votes, state = found
    step = _tested(service, stream, votes, state)

    def work(transaction: Transaction) -> None:
        held.check(transaction)
        seq = transaction.one("select max(seq) from batch where stream = ?", (stream.id,))
        changed = transaction.run(
            "update windows set closed = ?, seq_to = ?, result = ?, change = ?"
            " where stream = ? and idx = ? and closed is null",
            (
                now,
                None if seq is None else seq[0],
                None if step.get("result") is None else json.dumps(step["result"]),
                json.dumps({name: step.get(name) for name in ("alarms", "notices", "reason")}),
                stream.id,
                index,
            ),
        )
        if not changed:
            return
        forget_rows(transaction, stream.id, end)
        if step.get("state") is not None:
            transaction.run(
                "insert into fact (name, value) values (?, ?)"
                " on conflict (name) do update set value = excluded.value",
                (_fact(stream), json.dumps(step["state"])),
            )
        for note in _notes(stream, index, step):
            raise_alert(transaction, note, now=now)
        transaction.run("update stream set version = version + 1 where id = ?", (stream.id,))

    service.writer.do(work)
    return True


def _tested(
    service: Service, stream: StreamRecord, votes: dict[str, list[str | None]], state: Any
) -> dict[str, Any]:
    """Let the votes pass the test; what cannot be tested is said, and does not stop the stream."""
    if state is not None:
        size = len(next(iter(votes.values()), ())) or state["size"]
        votes = votes or {name: [None] * size for name in state["rows"]}
    if not votes:
        return {"reason": "no judge voted on these rows: there is nothing to test"}
    given = {"state": state, "columns": votes, "alpha": ALPHA, "key": f"{stream.name}:{stream.id}"}
    order = WorkerOrder(kind="tallystick.serve.drift_step:worked", args=given)
    step: dict[str, Any] = json.loads(service.worker.ask(order, patience=_PATIENCE).body)
    step["restarted"] = bool(step.get("started")) and state is not None
    return step


def _fact(stream: StreamRecord) -> str:
    return f"drift:{stream.id}"


def _notes(stream: StreamRecord, index: int, step: Mapping[str, Any]) -> list[AlertNote]:
    """Return the alarms of a window."""
    where: dict[str, Any] = {"window": index}
    notes = [
        AlertNote(
            name="change",
            what=f"{stream.name}: the votes changed",
            proves=one["proves"],
            does_not_prove=one["does_not_prove"],
            stream=stream.id,
            detail={**where, **one},
        )
        for one in step.get("alarms") or ()
    ]
    for kind, text in step.get("notices") or ():
        name, limits = _NOTICES[kind]
        notes.append(
            AlertNote(
                name=name,
                what=f"{stream.name}: {text}",
                proves=text,
                does_not_prove=limits,
                stream=stream.id,
                detail=where,
            )
        )
    if step.get("restarted"):
        text = "the judges or the size of windows changed: the drift test began anew"
        notes.append(
            AlertNote(
                name="panel",
                what=f"{stream.name}: {text}",
                proves=text,
                does_not_prove="that votes changed: the test needs 500 items to begin",
                stream=stream.id,
                detail=where,
            )
        )
    return notes


# -- routes


def listed_windows(reader: Reader, stream: int, *, limit: int = 200) -> list[WindowBody]:
    """Return the last windows of a stream, the oldest first."""
    rows = reader.all(
        "select idx, rows, opened, full_at, closed, result, change from windows"
        " where stream = ? order by idx desc limit ?",
        (stream, limit),
    )
    return [
        WindowBody(*row[:5], *(None if text is None else json.loads(text) for text in row[5:]))
        for row in reversed(rows)
    ]


async def get_windows(incoming: Incoming) -> WindowList:
    """List the last windows of a stream."""
    name = incoming.path["stream"]
    given = incoming.query("limit", "200")
    limit = min(1000, max(1, int(given))) if given.isdecimal() and len(given) < 9 else 200

    def work(reader: Reader) -> list[WindowBody]:
        return listed_windows(reader, find_stream(reader, name).id, limit=limit)

    return WindowList(await incoming.service.reading(work))


JOBS = (Job("drift", watch_drift, every=5.0, lease=120.0),)
"""Jobs of this file."""

ROUTES = (
    Route(
        method="GET",
        path="/v1/streams/{stream}/windows",
        role="read",
        work=get_windows,
        summary="Windows of the drift test, the oldest first.",
        answer=WindowList,
        query=(Parameter("limit", "How many at most, up to 1000.", kind="integer"),),
    ),
)
"""Routes of this file."""
