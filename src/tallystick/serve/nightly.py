"""The check that nobody has to remember: once a day, with an alarm when the books do not agree.

Every night the counts of every stream are held against its rows, and a tenth of the streams is
replayed from its batches, so that each stream is proved every ten days. It runs in a process of its
own: questions and posts do not wait for it.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tallystick.serve.alerts import AlertNote, raise_alert
from tallystick.serve.jobs import Held, Job
from tallystick.serve.problem import HttpProblem
from tallystick.serve.store import Reader, Store, Transaction
from tallystick.serve.worker import Worker, WorkerOrder

if TYPE_CHECKING:
    from tallystick.serve.service import Service

__all__ = ["JOBS", "last_check", "nightly", "worked"]

_DAY = 86_400.0
_PATIENCE = 3_600.0
"""Seconds that a check may take; the lease of the job is longer."""

_SHARE = 10
"""One stream in this many is replayed per night."""

_FACT = "checked"


def worked(store: Store, given: dict[str, Any]) -> bytes:
    """Check every stream, in the process of a worker; *given* has the number of the day."""
    from tallystick.serve.check import check_stream

    with store.read() as reader:
        streams = reader.all("select id, name from stream order by id")
    found = [
        {"id": ident, **asdict(check_stream(store, name, replay=_is_due(ident, given["day"])))}
        for ident, name in streams
    ]
    return json.dumps(found).encode()


def _is_due(stream: int, day: int) -> bool:
    """Say whether a stream is replayed on a day.

    >>> [day for day in range(20_000, 20_020) if _is_due(7, day)]
    [20007, 20017]
    """
    return (stream - day) % _SHARE == 0


def nightly(service: Service, held: Held) -> None:
    """Check everything, keep when that was, and raise an alarm for what does not agree."""
    worker = Worker(service.store.address())
    day = int(service.clock() // _DAY)
    order = WorkerOrder(kind="tallystick.serve.nightly:worked", args={"day": day})
    try:
        streams = json.loads(worker.ask(order, patience=_PATIENCE).body)
        notes = [_wrong(one) for one in streams if one["problems"]]
    except HttpProblem as error:
        streams, notes = [], [_not_made(error.detail)]
    finally:
        worker.close()

    now = service.clock()
    replayed = [one["stream"] for one in streams if one["replayed"]]
    fact = {"at": now, "ok": not notes, "streams": len(streams), "replayed": replayed}

    def work(transaction: Transaction) -> None:
        held.check(transaction)
        transaction.run(
            "insert into fact (name, value) values (?, ?)"
            " on conflict (name) do update set value = excluded.value",
            (_FACT, json.dumps(fact)),
        )
        for note in notes:
            raise_alert(transaction, note, now=now)

    service.writer.do(work)


def _wrong(one: dict[str, Any]) -> AlertNote:
    return AlertNote(
        name="check",
        what=f"{one['stream']}: the nightly check found {len(one['problems'])} problems",
        proves="counts, rows and batches of this stream do not agree: " + one["problems"][0],
        does_not_prove="which of them is wrong, or since when. Results rest on the counts: run"
        " tallystick serve check, and compare with the last copy",
        stream=one["id"],
        detail={"problems": one["problems"]},
    )


def _not_made(why: str) -> AlertNote:
    return AlertNote(
        name="check",
        what="the nightly check could not be made",
        proves=f"the check ended without an answer: {why}",
        does_not_prove="that anything is wrong with the counts: run tallystick serve check",
    )


def last_check(reader: Reader) -> dict[str, Any] | None:
    """Return when the last check was and what it found; None before the first night."""
    row = reader.one("select value from fact where name = ?", (_FACT,))
    return None if row is None else json.loads(row[0])


JOBS = (Job("check", nightly, every=_DAY, lease=_PATIENCE + 300.0),)
"""Jobs of this file."""
