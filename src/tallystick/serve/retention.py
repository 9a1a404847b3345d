"""Drop what is older than a stream keeps: whole buckets, and the batches of that time."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

from tallystick.serve.jobs import Held, Job
from tallystick.serve.settings import StreamRecord, find_stream
from tallystick.serve.store import Transaction

if TYPE_CHECKING:
    from tallystick.serve.service import Service

__all__ = ["JOBS", "drop_bucket", "drop_old"]

KEY_SECONDS = 7 * 86_400.0
"""Idempotency keys live at least this long, however short the retention is."""


def drop_old(service: Service, held: Held) -> None:
    """Drop the old buckets of every stream with a retention."""
    now = service.clock()
    for (name,) in service.read(lambda reader: reader.all("select name from stream")):
        stream = service.read(partial(find_stream, name=name))
        days = stream.settings.retention_days
        if days is None:
            continue
        first = math.floor((now - days * 86_400.0) / 3600)
        old = service.read(
            lambda reader, stream=stream, first=first: reader.all(  # type: ignore[misc]
                "select distinct bucket from rows where stream = ? and bucket < ? order by bucket",
                (stream.id, first),
            )
        )
        for (bucket,) in old:  # one transaction per bucket: nobody waits for a long one

            def work(
                transaction: Transaction, stream: StreamRecord = stream, bucket: int = bucket
            ) -> None:
                held.check(transaction)
                drop_bucket(transaction, stream, bucket)

            service.writer.do(work)
        service.writer.do(
            lambda transaction, stream=stream, first=first: _drop_batches(  # type: ignore[misc]
                transaction, stream, first, now
            )
        )
        held.renew()


def drop_bucket(transaction: Transaction, stream: StreamRecord, bucket: int) -> None:
    """Drop the rows of one hour with everything that hangs on them."""
    where = (stream.id, bucket)
    mine = "(select id from rows where stream = ? and bucket = ?)"
    for table in ("payload", "draw", "label"):
        transaction.run(f"delete from {table} where row_id in {mine}", where)
    last = transaction.one("select max(id) from rows where stream = ? and bucket = ?", where)
    n = transaction.run("delete from rows where stream = ? and bucket = ?", where)
    transaction.run("delete from tally where stream = ? and bucket = ?", where)
    transaction.run(
        "update stream set rows = rows - ?, version = version + 1 where id = ?", (n, stream.id)
    )
    if last is not None and last[0] is not None:
        _remember(transaction, "rows_deleted", int(last[0]))
    # From here on the raw rows exist; `check` and the page of the stream need to know.
    _remember(transaction, f"kept_from:{stream.id}", bucket + 1)


def _remember(transaction: Transaction, name: str, value: int) -> None:
    """Keep the greatest value of a fact."""
    before = transaction.one("select value from fact where name = ?", (name,))
    if before is None or int(before[0]) < value:
        transaction.run(
            "insert into fact (name, value) values (?, ?)"
            " on conflict (name) do update set value = excluded.value",
            (name, str(value)),
        )


def _drop_batches(transaction: Transaction, stream: StreamRecord, first: int, now: float) -> None:
    """Drop the bodies of old batches, and their keys once nobody can send them again."""
    before = first * 3600.0
    transaction.run(
        "update batch set body = null where stream = ? and at < ? and body is not null",
        (stream.id, before),
    )
    transaction.run(
        "delete from batch where stream = ? and at < ? and at < ?",
        (stream.id, before, now - KEY_SECONDS),
    )


def keep_house(service: Service, held: Held) -> None:
    """Sweep empty counts, move the log, and note when keys were used."""

    def work(transaction: Transaction) -> None:
        transaction.run("delete from tally where n = 0")
        transaction.run("delete from session where expires < ?", (service.clock(),))

    service.writer.do(work)
    note_used(service)
    service.memory["log_bytes"] = service.store.checkpoint()


def note_used(service: Service) -> None:
    """Write down when keys were last used."""
    used = service.door.take_used()
    if used:
        service.writer.do(
            lambda transaction: transaction.many(
                "update key set last_used = ? where id = ?",
                [(when, ident) for ident, when in used.items()],
            )
        )


JOBS = (
    Job("retention", drop_old, every=3600.0, lease=600.0),
    Job("house", keep_house, every=300.0),
)
"""Jobs of this file."""
