"""Runs of watches: planned when due, carried out by whoever holds the job, never paid twice.

Every run has a journal in the folder of the service, so a run that was killed goes on from there.
Processes that share a database and have watches must share that folder, too.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from tallystick.serve.alerts import AlertNote, raise_alert
from tallystick.serve.jobs import Held, Job, LostLease, schedule
from tallystick.serve.store import Reader, Transaction
from tallystick.serve.watches.money import purse_of, reserve, settle
from tallystick.serve.watches.order import WatchOrder, client_options, table_of

if TYPE_CHECKING:
    from tallystick.serve.service import Service

__all__ = ["JOBS", "begin_run", "journal_path", "plan_runs"]

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
        [sys.executable, "-m", "tallystick.serve.watches.child"],
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


JOBS = (
    Job("watches", plan_runs, every=30.0, lease=60.0),
    Job("watch-run", carry_on, every=None, lease=60.0),
)
"""Jobs of this file."""
