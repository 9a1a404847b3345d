"""Watches by HTTP: make one, look at it, begin a new baseline, delete it."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from tallystick.errors import InputError
from tallystick.serve.alerts import AlertNote, raise_alert
from tallystick.serve.auth import Fix, HttpProblem
from tallystick.serve.jobs import Held, Job, LostLease, schedule
from tallystick.serve.routes import Incoming, Route
from tallystick.serve.store import Reader, Transaction
from tallystick.serve.watches import (
    WatchOrder,
    check_order,
    client_options,
    month_of,
    purse_of,
    reserve,
    settle,
    table_of,
)

if TYPE_CHECKING:
    from tallystick.serve.jobs import Service

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


WATCH_ROUTES_ROUTES = (
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

# Runs of watches: planned when due, carried out by whoever holds the job, never paid twice.
#
# Every run has a journal in the folder of the service, so a run that was killed goes on from
# there.
# Processes that share a database and have watches must share that folder, too.


ALPHA = 0.05
_RENEW = 15.0
_DOES_NOT_PROVE = (
    "that the API became worse for items of another kind, nor why it changed; accuracy is that on"
    " these items"
)


def plan_runs(service: Service, held: Held) -> None:
    """Begin what is due: a baseline where there is none, else a check."""
    now = service.clock()
    due = service.read(
        lambda reader: reader.all(
            "select id, name, every, baseline from watch"
            " where state = 'on' and next is not null and next <= ?",
            (now,),
        )
    )
    for ident, name, every, baseline in due:

        def work(
            transaction: Transaction,
            ident: int = ident,
            name: str = name,
            every: float = every,
            baseline: int | None = baseline,
        ) -> None:
            held.check(transaction)
            # The next check is counted from now: after a pause they do not come all at once.
            transaction.run("update watch set next = ? where id = ?", (now + every, ident))
            begin_run(transaction, ident, name, "check" if baseline else "baseline", now=now)

        service.writer.do(work)


def begin_run(
    transaction: Transaction, watch: int, name: str, kind: str, *, now: float
) -> int | None:
    """Plan a run and set its money aside; None if one is under way, or there is no money."""
    open_ = transaction.one(
        "select 1 from run where watch = ? and state in ('waiting', 'running')", (watch,)
    )
    if open_ is not None:
        return None
    order = _order(transaction, watch)
    costs = bool(order.price or order.price_input or order.price_output)
    if costs and purse_of(transaction, watch, now=now).free <= 0:
        note = AlertNote(
            name="watch",
            what=f"{name}: no run was made, because the money of this month is spent",
            proves="the cap per month is reached",
            does_not_prove="that the API is unchanged: nobody looked",
            watch=watch,
        )
        raise_alert(transaction, note, now=now)
        return None
    amount = reserve(transaction, watch, now=now)
    run = transaction.insert(
        "insert into run (watch, kind, state, reserved, cost, fence)"
        " values (?, ?, 'waiting', ?, 0, 0) returning id",
        (watch, kind, amount),
    )
    schedule(transaction, "watch-run", name=str(run), due=now, args={"run": run})
    return run


def _order(reader: Reader, watch: int) -> WatchOrder:
    row = reader.one("select spec from watch where id = ?", (watch,))
    if row is None:
        raise LostLease("the watch was deleted")
    return msgspec.json.decode(row[0].encode(), type=WatchOrder)


def journal_path(folder: Path, watch: int, run: int) -> Path:
    """Return where the answers of a run are kept."""
    return folder / "watches" / f"{watch}-{run}.journal"


def carry_on(service: Service, held: Held) -> None:
    """Carry out a run in a process of its own, renewing the lease while it works."""
    run = int(held.args["run"])
    begun = service.read(lambda reader: _begun(reader, run))
    if begun is None:
        return
    watch, name, kind, reserved = begun
    now = service.clock()

    def start(transaction: Transaction) -> None:
        held.check(transaction)
        transaction.run(
            "update run set state = 'running', fence = ?,"
            " started = case when started is null then ? else started end where id = ?",
            (held.fence, now, run),
        )

    service.writer.do(start)
    given = service.read(lambda reader: _given(service, reader, watch, run, kind, reserved))
    answer = _process(service, held, given)

    def end(transaction: Transaction) -> None:
        held.check(transaction)
        _book(transaction, (watch, name, run, kind, reserved), answer, now=service.clock())

    service.writer.do(end)


def _begun(reader: Reader, run: int) -> tuple[Any, ...] | None:
    """Return (watch, name, kind, reserved) of a run that is not over."""
    return reader.one(
        "select w.id, w.name, r.kind, r.reserved from run r join watch w on w.id = r.watch"
        " where r.id = ? and r.state in ('waiting', 'running')",
        (run,),
    )


def _given(
    service: Service, reader: Reader, watch: int, run: int, kind: str, reserved: float
) -> dict[str, Any]:
    """Return the order for the process."""
    order = _order(reader, watch)
    folder = service.config.folder or Path.cwd()
    journal = journal_path(folder, watch, run)
    journal.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    row = reader.one("select baseline, by_operator from watch where id = ?", (watch,))
    baseline, by_operator = row if row is not None else (None, 0)
    options = client_options(order) | {"journal": str(journal), "durable": True}
    if order.price or order.price_input or order.price_output:
        options["max_cost"] = reserved
    given: dict[str, Any] = {
        "kind": kind,
        "table": table_of(order),
        "roles": {"item": order.item, "truth": order.truth},
        "labels": order.labels,
        "options": options,
        "draws": order.draws,
        "budget": order.budget,
        "alpha": ALPHA,
        "allow": list(service.config.allow_hosts),
        "guard": not by_operator,
    }
    if kind == "check":
        known = {
            item: json.loads(text)
            for item, text in reader.all("select item, text from answer where run = ?", (baseline,))
        }
        names = [str(one) for one in given["table"][order.item]]
        columns = ["old", *(f"old.{k}" for k in range(2, order.draws + 1))]
        for k, column in enumerate(columns):
            given["table"][column] = [
                known[name][k] if len(known.get(name, ())) > k else None for name in names
            ]
        # More draws tell the noise of accuracy, which needs true labels.
        given["old_draws"] = columns[1:] if order.truth is not None else []
        number = reader.one(
            "select count(*) from run where watch = ? and kind = 'check' and id > ? and id <= ?",
            (watch, baseline, run),
        )
        given["alarm_alpha"] = _spent_alpha(1 if number is None else number[0])
    return given


def _spent_alpha(number: int) -> float:
    """Return the share of α for the check number *number*: all of them together spend α.

    Three statements are tested each time (accuracy, answers beyond noise, answers that cannot be
    read), hence the third.

    >>> round(sum(3 * _spent_alpha(k) for k in range(1, 100_000)), 4)
    0.05
    """
    return ALPHA / 3 / (number * (number + 1))


def _process(service: Service, held: Held, given: dict[str, Any]) -> dict[str, Any]:
    """Run the process and wait; a service that stops or loses its lease ends the process."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tallystick.serve.watches"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    renewed = time.monotonic()
    try:
        inward, outward = process.stdin, process.stdout
        if inward is None or outward is None:
            raise RuntimeError("the process of the run has no pipes")
        inward.write(json.dumps(given) + "\n")
        inward.flush()
        lines: list[str] = []
        reading = threading.Thread(target=lambda: lines.append(outward.readline()), daemon=True)
        reading.start()
        while reading.is_alive():
            if service.jobs.stopping:
                raise LostLease("the service stops; the run goes on at the next start")
            if time.monotonic() - renewed > _RENEW:
                held.renew()
                renewed = time.monotonic()
            time.sleep(0.05)
        text = lines[0] if lines else ""
        if not text:
            raise RuntimeError("the process of the run ended without an answer")
        answer: dict[str, Any] = json.loads(text)
        return answer
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()


def _book(
    transaction: Transaction, about: tuple[Any, ...], answer: dict[str, Any], *, now: float
) -> None:
    """Keep what came of a run: money, result, answers, alarms."""
    watch, name, run, kind, reserved = about
    failure = answer.get("error")
    settle(transaction, watch, reserved=reserved, cost=answer["cost"], now=now)
    transaction.run(
        "update run set state = ?, ended = ?, cost = ?, result = ?, error = ? where id = ?",
        (
            "failed" if failure else "done",
            now,
            answer["cost"],
            None if failure else json.dumps(answer["result"]),
            failure,
            run,
        ),
    )
    if failure:
        note = AlertNote(
            name="watch",
            what=f"{name}: the run failed: {failure}",
            proves="this run has no result",
            does_not_prove="that the API is unchanged: nobody looked",
            watch=watch,
        )
        raise_alert(transaction, note, now=now)
        return
    if kind == "baseline":
        transaction.many(
            "insert into answer (run, item, sent, text, cost, done) values (?, ?, ?, ?, 0, ?)",
            [(run, item, now, json.dumps(said), now) for item, said in answer["answers"].items()],
        )
        transaction.run("update watch set baseline = ? where id = ?", (run, watch))
    elif answer.get("unread"):
        note = AlertNote(
            name="shift",
            what=f"{name}: the answers of the API can no longer be read",
            proves=answer["unread"],
            does_not_prove="that its opinions changed: the form of its answers did",
            watch=watch,
            detail={"run": run},
        )
        raise_alert(transaction, note, now=now)
    elif answer["changed"]:
        note = AlertNote(
            name="shift",
            what=f"{name}: the API changed since its baseline",
            proves=answer["result"]["verdict"],
            does_not_prove=_DOES_NOT_PROVE,
            watch=watch,
            detail={"run": run},
        )
        raise_alert(transaction, note, now=now)


WATCH_RUNS_JOBS = (
    Job("watches", plan_runs, every=30.0, lease=60.0),
    Job("watch-run", carry_on, every=None, lease=60.0),
)
"""Jobs of this file."""

# The operator's own watches: ``watches.json`` in the folder of the service.
#
# Only here may a watch name ``python:`` or ``command:``, which run code on this machine. The file
# holds one object per watch, by name, with the fields of `WatchOrder`; ``items`` may be the name of
# a table beside it. It is read when the service starts.


FILE = "watches.json"


def read_watches(path: Path) -> dict[str, WatchOrder]:
    """Return the orders of the operator's file, checked."""
    try:
        given: dict[str, dict[str, Any]] = msgspec.json.decode(
            path.read_bytes(), type=dict[str, dict[str, Any]]
        )
        for fields in given.values():
            items = fields.get("items")
            if isinstance(items, str):
                with (path.parent / items).open(encoding="utf-8-sig", newline="") as table:
                    fields["items"] = [dict(row) for row in csv.DictReader(table)]
        orders = {name: msgspec.convert(fields, WatchOrder) for name, fields in given.items()}
        for order in orders.values():
            check_order(order, allow=(), by_operator=True)
    except (OSError, msgspec.MsgspecError, HttpProblem) as error:
        raise InputError(f"{path} cannot be used: {error}") from error
    return orders


def take_file(service: Service) -> int:
    """Keep the watches of the operator's file; return how many there are."""
    folder = service.config.folder
    if folder is None or not (folder / FILE).exists():
        return 0
    orders = read_watches(folder / FILE)
    for name, order in orders.items():
        service.writer.do(
            lambda transaction, name=name, order=order: keep_watch(  # type: ignore[misc]
                transaction, name, order, now=service.clock(), by_operator=True
            )
        )
    return len(orders)
