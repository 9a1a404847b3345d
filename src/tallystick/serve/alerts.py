"""Alarms: what was noticed, what it proves and what it does not, and whether somebody saw it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import msgspec

from tallystick.serve.hooks import queue_deliveries
from tallystick.serve.problem import HttpProblem
from tallystick.serve.routes import Incoming, Parameter, Route
from tallystick.serve.store import Reader, Transaction

__all__ = [
    "ROUTES",
    "AlertBody",
    "AlertList",
    "AlertNote",
    "amend_alert",
    "listed_alerts",
    "raise_alert",
]


@dataclass(frozen=True, kw_only=True)
class AlertNote:
    """What is to be told.

    Parameters
    ----------
    name
        One word for its kind: ``change``, ``silent``, ``spelling``, ``panel``, ``shift``,
        ``watch``, ``check``.
    what
        One sentence that stands alone.
    proves, does_not_prove
        What follows from it, and what does not.
    stream, watch
        What it is about: ids, or None.
    detail
        More, as JSON types.
    """

    name: str
    what: str
    proves: str
    does_not_prove: str
    stream: int | None = None
    watch: int | None = None
    detail: dict[str, Any] = field(default_factory=dict)


class AlertBody(msgspec.Struct):
    """An alarm as it is shown, and as hooks receive it."""

    id: int
    name: str
    what: str
    proves: str
    does_not_prove: str
    at: float
    stream: str | None = None
    watch: str | None = None
    detail: dict[str, Any] = {}
    seen: float | None = None
    seen_by: str | None = None


class AlertList(msgspec.Struct):
    """Alarms, the newest first."""

    alerts: list[AlertBody]


_SELECT = (
    "select a.id, a.name, a.what, a.proves, a.does_not_prove, a.at, s.name, w.name, a.detail,"
    " a.seen, a.seen_by from alert a left join stream s on s.id = a.stream"
    " left join watch w on w.id = a.watch"
)


def _body(row: tuple[Any, ...]) -> AlertBody:
    given = list(row)
    given[8] = json.loads(given[8])
    return AlertBody(*given)


def raise_alert(transaction: Transaction, note: AlertNote, *, now: float) -> int:
    """Keep an alarm and queue it for every hook that wants it, in the caller's transaction."""
    ident = transaction.insert(
        "insert into alert (stream, watch, name, what, proves, does_not_prove, detail, at)"
        " values (?, ?, ?, ?, ?, ?, ?, ?) returning id",
        (
            note.stream,
            note.watch,
            note.name,
            note.what,
            note.proves,
            note.does_not_prove,
            json.dumps(note.detail, allow_nan=False, default=str),
            now,
        ),
    )
    _deliver(transaction, ident, now=now)
    return ident


def amend_alert(transaction: Transaction, ident: int, note: AlertNote, *, now: float) -> None:
    """Put what is known now in the place of an earlier alarm, for people to see and hooks to get.

    One event stays one alarm: it counts as unseen again, and keeps its id and its time.
    """
    transaction.run(
        "update alert set what = ?, proves = ?, does_not_prove = ?, detail = ?, seen = null,"
        " seen_by = null where id = ?",
        (
            note.what,
            note.proves,
            note.does_not_prove,
            json.dumps(note.detail, allow_nan=False, default=str),
            ident,
        ),
    )
    _deliver(transaction, ident, now=now)


def _deliver(transaction: Transaction, ident: int, *, now: float) -> None:
    row = transaction.one(f"{_SELECT} where a.id = ?", (ident,))
    if row is not None:
        body = _body(row)
        queue_deliveries(transaction, ident, msgspec.to_builtins(body), stream=body.stream, now=now)


def listed_alerts(
    reader: Reader, *, stream: str | None = None, unseen: bool = False, limit: int = 100
) -> list[AlertBody]:
    """Return alarms, the newest first."""
    where, given = ["1 = 1"], []
    if stream is not None:
        where.append("s.name = ?")
        given.append(stream)
    if unseen:
        where.append("a.seen is null")
    rows = reader.all(
        f"{_SELECT} where {' and '.join(where)} order by a.id desc limit ?", (*given, limit)
    )
    return [_body(row) for row in rows]


async def get_alerts(incoming: Incoming) -> AlertList:
    """List alarms; a key for some streams sees those of its streams."""
    unseen = incoming.query("unseen") in ("1", "true", "yes")
    stream = incoming.query("stream") or None
    try:
        limit = min(1000, max(1, int(incoming.query("limit", "100"))))
    except ValueError as error:
        raise HttpProblem(422, "limit is a number of alarms, such as 100") from error
    mine = incoming.who.streams

    def work(reader: Reader) -> list[AlertBody]:
        found = listed_alerts(reader, stream=stream, unseen=unseen, limit=limit)
        return [one for one in found if not mine or one.stream in mine]

    return AlertList(await incoming.service.reading(work))


async def post_seen(incoming: Incoming) -> AlertBody:
    """Say that somebody saw an alarm."""
    ident = _number(incoming.path["alert"])
    now, who = incoming.service.clock(), incoming.who.name

    def work(transaction: Transaction) -> AlertBody:
        transaction.run(
            "update alert set seen = ?, seen_by = ? where id = ? and seen is null",
            (now, who, ident),
        )
        row = transaction.one(f"{_SELECT} where a.id = ?", (ident,))
        if row is None:
            raise HttpProblem(404, f"there is no alarm {ident}")
        return _body(row)

    return await incoming.service.commit(work)


def _number(text: str) -> int:
    if not text.isdecimal() or len(text) > 18:
        raise HttpProblem(404, f"there is no alarm {text[:40]!r}")
    return int(text)


ROUTES = (
    Route(
        method="GET",
        path="/v1/alerts",
        role="read",
        work=get_alerts,
        summary="Alarms, the newest first.",
        answer=AlertList,
        query=(
            Parameter("stream", "Only those of a stream."),
            Parameter("unseen", "true: only those nobody has seen."),
            Parameter("limit", "How many at most, up to 1000.", kind="integer"),
        ),
    ),
    Route(
        method="POST",
        path="/v1/alerts/{alert}/seen",
        role="admin",
        work=post_seen,
        summary="Say that an alarm was seen.",
        answer=AlertBody,
    ),
)
"""Routes of this file."""
