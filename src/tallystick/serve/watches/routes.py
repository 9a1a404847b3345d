"""Watches by HTTP: make one, look at it, begin a new baseline, delete it."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from tallystick.serve.problem import Fix, HttpProblem
from tallystick.serve.routes import Incoming, Route
from tallystick.serve.store import Reader, Transaction
from tallystick.serve.watches.money import month_of, purse_of
from tallystick.serve.watches.order import WatchOrder, check_order
from tallystick.serve.watches.runs import begin_run

__all__ = ["ROUTES", "RunBody", "WatchBody", "WatchList", "keep_watch", "listed_watches"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


_FREE = frozenset(
    [
        "every_hours",
        "cap_run",
        "cap_month",
        "on",
        "budget",
        "concurrency",
        "timeout",
        "attempts",
        "rate",
        "price",
        "price_input",
        "price_output",
        "currency",
    ]
)
"""Fields that may change without a new baseline."""


class RunBody(msgspec.Struct):
    """One run of a watch."""

    id: int
    kind: str
    state: str
    started: float | None
    ended: float | None
    cost: float
    error: str | None
    result: Any = None


class WatchBody(msgspec.Struct):
    """A watch as it is shown: its items are counted, not listed."""

    name: str
    api: str
    items: int
    on: bool
    every_hours: float
    next: float | None
    baseline: int | None
    cap_run: float
    cap_month: float
    spent: float
    reserved: float
    currency: str
    runs: list[RunBody]


class WatchList(msgspec.Struct):
    """All watches."""

    watches: list[WatchBody]


def keep_watch(
    transaction: Transaction,
    name: str,
    order: WatchOrder,
    *,
    now: float,
    by_operator: bool = False,
) -> None:
    """Make a watch, or change it.

    Other items or another API make the old baseline worthless: a new one is then begun.
    """
    every = order.every_hours * 3600.0
    before = transaction.one("select spec, by_operator from watch where name = ?", (name,))
    if before is not None and before[1] and not by_operator:
        raise HttpProblem(409, f"{name!r} stands in the operator's file: change it there")
    text = msgspec.json.encode(order).decode()
    transaction.run(
        "insert into watch (name, spec, every, next, cap_run, cap_month, spent, reserved, month,"
        " baseline, by_operator, state, created) values (?, ?, ?, ?, ?, ?, 0, 0, ?, null, ?, ?, ?)"
        " on conflict (name) do update set spec = excluded.spec, every = excluded.every,"
        " cap_run = excluded.cap_run, cap_month = excluded.cap_month, state = excluded.state,"
        " by_operator = excluded.by_operator",
        (
            name,
            text,
            every,
            now,
            order.cap_run,
            order.cap_month,
            month_of(now),
            int(by_operator),
            "on" if order.on else "off",
            now,
        ),
    )
    if before is not None and _measured(before[0]) != _measured(text):
        transaction.run("update watch set baseline = null, next = ? where name = ?", (now, name))


def _measured(spec: str) -> dict[str, Any]:
    """Return the part of an order that a baseline depends on."""
    return {name: value for name, value in json.loads(spec).items() if name not in _FREE}


def _shown(reader: Reader, row: tuple[Any, ...], *, runs: int) -> WatchBody:
    ident, name, spec, next_, baseline, spent, reserved, state = row
    order = msgspec.json.decode(spec.encode(), type=WatchOrder)
    found = reader.all(
        "select id, kind, state, started, ended, cost, error, result from run where watch = ?"
        " order by id desc limit ?",
        (ident, runs),
    )
    return WatchBody(
        name=name,
        api=order.api,
        items=len(order.items),
        on=state == "on",
        every_hours=order.every_hours,
        next=next_,
        baseline=baseline,
        cap_run=order.cap_run,
        cap_month=order.cap_month,
        spent=spent,
        reserved=reserved,
        currency=order.currency,
        runs=[
            RunBody(*one[:7], *(None if text is None else json.loads(text) for text in one[7:]))
            for one in found
        ],
    )


_SELECT = "select id, name, spec, next, baseline, spent, reserved, state from watch"


def listed_watches(reader: Reader, *, name: str | None = None, runs: int = 50) -> list[WatchBody]:
    """Return the watches with their last runs, the newest first."""
    rows = (
        reader.all(f"{_SELECT} order by name")
        if name is None
        else reader.all(f"{_SELECT} where name = ?", (name,))
    )
    return [_shown(reader, row, runs=runs) for row in rows]


def _named(incoming: Incoming) -> str:
    name = incoming.path["watch"]
    if not _NAME.fullmatch(name):
        raise HttpProblem(
            422,
            f"a watch cannot be called {name[:80]!r}",
            [Fix(way_out="use up to 64 letters, digits, dots, dashes and underscores")],
        )
    return name


def _one(reader: Reader, name: str) -> WatchBody:
    found = listed_watches(reader, name=name)
    if not found:
        raise HttpProblem(404, f"there is no watch {name!r}")
    return found[0]


async def get_watches(incoming: Incoming) -> WatchList:
    """List watches."""
    return WatchList(await incoming.service.reading(lambda reader: listed_watches(reader, runs=5)))


async def get_watch(incoming: Incoming) -> WatchBody:
    """Return a watch with its last runs."""
    name = _named(incoming)
    return await incoming.service.reading(lambda reader: _one(reader, name))


async def put_watch(incoming: Incoming) -> WatchBody:
    """Make a watch, or change it; its baseline is asked at once."""
    name, order, service = _named(incoming), incoming.body, incoming.service
    await service.waiting(lambda: check_order(order, allow=service.config.allow_hosts))

    def work(transaction: Transaction) -> WatchBody:
        keep_watch(transaction, name, order, now=service.clock())
        return _one(transaction, name)

    return await service.commit(work)


async def post_baseline(incoming: Incoming) -> WatchBody:
    """Begin a new baseline: what the API answers now is what later checks compare with."""
    name, service = _named(incoming), incoming.service

    def work(transaction: Transaction) -> WatchBody:
        row = transaction.one("select id from watch where name = ?", (name,))
        if row is None:
            raise HttpProblem(404, f"there is no watch {name!r}")
        now = service.clock()
        free = purse_of(transaction, row[0], now=now).free
        if begin_run(transaction, row[0], name, "baseline", now=now) is None:
            why = "a run is under way" if free > 0 else "the money of this month is spent"
            raise HttpProblem(409, f"no baseline can begin now: {why}", Retry_After="60")
        return _one(transaction, name)

    return await service.commit(work)


async def delete_watch(incoming: Incoming) -> dict[str, str]:
    """Delete a watch with its runs; the journals of its runs stay in the folder."""
    name = _named(incoming)

    def work(transaction: Transaction) -> None:
        row = transaction.one("select id from watch where name = ?", (name,))
        if row is None:
            raise HttpProblem(404, f"there is no watch {name!r}")
        mine = "(select id from run where watch = ?)"
        for sql in (
            f"delete from answer where run in {mine}",
            "delete from run where watch = ?",
            "delete from alert where watch = ?",
            "delete from watch where id = ?",
        ):
            transaction.run(sql, (row[0],))

    await incoming.service.commit(work)
    return {"deleted": name}


def _route(method: str, tail: str, work: Any, summary: str, **more: Any) -> Route:
    path = f"/v1/watches{tail}"
    return Route(method=method, path=path, role="admin", work=work, summary=summary, **more)


ROUTES = (
    _route("GET", "", get_watches, "Watches and their last runs.", answer=WatchList),
    _route("GET", "/{watch}", get_watch, "A watch and its runs.", answer=WatchBody),
    _route(
        "PUT",
        "/{watch}",
        put_watch,
        "Make a watch, or change it.",
        body=WatchOrder,
        answer=WatchBody,
        limit=8 * 1024 * 1024,
    ),
    _route("POST", "/{watch}/baseline", post_baseline, "Begin a new baseline.", answer=WatchBody),
    _route("DELETE", "/{watch}", delete_watch, "Delete a watch.", answer=dict[str, str]),
)
"""Routes of this file."""
