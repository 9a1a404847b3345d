"""``GET /v1/streams/{stream}/rows``: everything that is kept, in three formats."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta
from starlette.background import BackgroundTask
from starlette.responses import FileResponse, Response, StreamingResponse

from tallystick.serve.alerts import AlertNote, raise_alert
from tallystick.serve.auth import HttpProblem, Span
from tallystick.serve.database import Reader, Store, Transaction
from tallystick.serve.jobs import Held, Service, job
from tallystick.serve.results import RowQuery, asked_stream
from tallystick.serve.routes import Incoming, route
from tallystick.serve.rows import StreamBook, pieces
from tallystick.serve.streams import StreamRecord, find_stream
from tallystick.serve.worker import Workers

_MEDIA = {
    "ndjson": "application/x-ndjson",
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
}


class ExportQuery(RowQuery):
    """Which rows, and how they are sent."""

    format: Annotated[
        Literal["ndjson", "csv", "parquet"], Meta(description="ndjson, csv or parquet.")
    ] = "ndjson"


def harmless_cell(text: str | None) -> str:
    """Return a cell that no spreadsheet takes for a formula: those get a quote before them.

    A number stays as it is, although it may begin with a sign.

    >>> harmless_cell("=1+1"), harmless_cell("-1"), harmless_cell("@x"), harmless_cell(None)
    ("'=1+1", '-1', "'@x", '')
    """
    if text is None:
        return ""
    if text[:1] not in "=+-@\t\r" or not text:
        return text
    try:
        float(text)
    except ValueError:
        return "'" + text
    return text


def exported(service: Service, name: str, span: Span, form: str) -> Iterator[bytes]:
    """Return the rows of a stream as text, piece by piece: no stream is too long for that."""
    with service.store.snapshot() as reader:
        book = StreamBook(reader, find_stream(reader, name), span)
        names = book.table.columns
        if form == "csv":
            yield _csv([names])
        for rows in pieces(book):
            if form == "csv":
                yield _csv([[harmless_cell(cell) for cell in row] for row in rows])
                continue
            cells = [
                {k: v for k, v in zip(names, row, strict=True) if v is not None} for row in rows
            ]
            lines = [json.dumps(one, ensure_ascii=False) for one in cells]
            yield ("\n".join(lines) + "\n").encode()


def _csv(rows: list[Any]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


@route(
    "GET",
    "/v1/streams/{stream}/rows",
    "read",
    answer="application/x-ndjson",
    query=ExportQuery,
)
async def get_rows(incoming: Incoming) -> Response:
    """Send the rows of a stream."""
    service, name, query = incoming.service, incoming.path["stream"], incoming.query
    form, span = query.format, query.span(incoming.now)
    # 404 and 422 come before the first byte.
    await service.reading(lambda reader: asked_stream(reader, name, span))
    headers = {"Content-Disposition": f'attachment; filename="{name}.{form}"'}
    if form == "parquet":  # only the worker holds Arrow
        ask = partial(service.worker.ask, "answer:parquet", name, span, patience=300.0)
        path = Path(await service.waiting(ask))
        swept = BackgroundTask(path.unlink)
        return FileResponse(path, media_type=_MEDIA[form], headers=headers, background=swept)
    rows = exported(service, name, span, form)
    return StreamingResponse(rows, media_type=_MEDIA[form], headers=headers)


# Drop what is older than a stream keeps: whole buckets, and the batches of
# that time.


KEY_SECONDS = 7 * 86_400.0
"""Idempotency keys live at least this long, however short the retention is."""


@job("retention", every=3600.0, lease=600.0)
def drop_old(service: Service, held: Held) -> None:
    """Drop the old buckets of every stream with a retention."""
    for (name,) in service.read(lambda reader: reader.all("select name from stream")):
        stream = service.read(partial(find_stream, name=name))
        days = stream.settings.retention_days
        if days is None:
            continue
        first = math.floor((service.clock() - days * 86_400.0) / 3600)
        old = service.read(partial(_buckets_before, stream=stream.id, first=first))
        for bucket in old:  # one transaction per bucket: nobody waits for a long one
            held.write(partial(drop_bucket, stream=stream, bucket=bucket))
        held.write(partial(_drop_batches, stream=stream, first=first, now=service.clock()))
        held.renew()


def _buckets_before(reader: Reader, stream: int, first: int) -> list[int]:
    sql = "select distinct bucket from rows where stream = ? and bucket < ? order by bucket"
    return [bucket for (bucket,) in reader.all(sql, (stream, first))]


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
    if int(transaction.fact(name) or -1) < value:
        transaction.keep(name, str(value))


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


@job("house", every=300.0)
def keep_house(service: Service, held: Held) -> None:
    """Sweep empty counts, move the log, and note when keys were used."""

    def work(transaction: Transaction) -> None:
        transaction.run("delete from tally where n = 0")
        transaction.run("delete from session where expires < ?", (service.clock(),))

    service.writer.do(work)
    service.door.write_used()
    service.store.checkpoint()


# The check that nobody has to remember: once a day, with an alarm when the
# books do not agree.
#
# Every night the counts of every stream are held against its rows, and a
# tenth of the streams is replayed from its batches, so that each stream is
# proved every ten days. It runs in a process of its own: questions and posts
# do not wait for it.


_DAY = 86_400.0
_PATIENCE = 3_600.0
"""Seconds that a check may take; the lease of the job is longer."""

_MOST_LOG = 1024**3
"""Bytes of SQLite's log that could not be moved into the database."""

_SHARE = 10
"""One stream in this many is replayed per night."""


def checked(store: Store, stream: str, day: int) -> list[dict[str, Any]]:
    """Check every stream, in the process of a worker, on the day of this number."""
    from tallystick.serve.client import check_stream

    with store.read() as reader:
        streams = reader.all("select id, name from stream order by id")
    return [
        {"id": one, **asdict(check_stream(store, name, replay=(one - day) % _SHARE == 0))}
        for one, name in streams
    ]


@job("check", every=_DAY, lease=_PATIENCE + 300.0)
def nightly(service: Service, held: Held) -> None:
    """Check everything, keep when that was, and raise an alarm for what does not agree."""
    worker = Workers(service.store.address())
    now = service.clock()
    try:
        streams = worker.ask("export:checked", "", int(now // _DAY), patience=_PATIENCE)
    except HttpProblem as error:  # a check that was not made is nothing to rely on
        none = {"stream": "all streams", "id": None, "replayed": 0}
        streams = [{**none, "problems": [f"the check could not be made: {error.detail}"]}]
    finally:
        worker.close()
    notes = [
        AlertNote(
            name="check",
            what=f"{one['stream']}: the nightly check found {len(one['problems'])} problems",
            proves=one["problems"][0],
            does_not_prove="which of them is wrong, or since when. Results rest on the counts: run"
            " tallystick serve check, and compare with the last copy",
            stream=one["id"],
            detail={"problems": one["problems"]},
        )
        for one in streams
        if one["problems"]
    ]
    log = service.store.checkpoint()
    if log > _MOST_LOG:
        notes.append(
            AlertNote(
                name="log",
                what=f"the log beside the database has {log / 1e9:.1f} GB and cannot be moved into"
                " it",
                proves="another program holds the database open: the log grows until it lets go",
                does_not_prove="that anything is lost: end that program, such as a shell or a copy",
            )
        )
    replayed = [one["stream"] for one in streams if one["replayed"]]
    fact = {"at": now, "ok": not notes, "streams": len(streams), "replayed": replayed}

    def work(transaction: Transaction) -> None:
        transaction.keep("checked", json.dumps(fact))
        for note in notes:
            raise_alert(transaction, note, now=now)

    held.write(work)


def last_check(reader: Reader) -> dict[str, Any] | None:
    """Return when the last check was and what it found; None before the first night."""
    found: dict[str, Any] | None = json.loads(reader.fact("checked") or "null")
    return found
