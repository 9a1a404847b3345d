"""``GET /v1/streams/{stream}/rows``: everything that is kept, in three formats."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from starlette.background import BackgroundTask
from starlette.responses import FileResponse, Response, StreamingResponse

from tallystick.serve.problem import Fix, HttpProblem
from tallystick.serve.results import SPAN, asked_stream, question_in
from tallystick.serve.routes import Incoming, Parameter, Route
from tallystick.serve.rows import Cells, book_of, raw_rows, row_cells
from tallystick.serve.service import Service
from tallystick.serve.settings import find_stream
from tallystick.serve.span import Span
from tallystick.serve.store import Reader
from tallystick.serve.worker import order_of

__all__ = ["ROUTES", "harmless_cell"]

_MEDIA = {
    "ndjson": "application/x-ndjson",
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
}


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


def exported(
    service: Service, name: str, span: Span, form: str, *, details: bool = False
) -> Iterator[bytes]:
    """Return the rows of a stream as text, piece by piece: no stream is too long for that."""
    with service.store.snapshot() as reader:
        book = book_of(reader, find_stream(reader, name), span)
        names = [*book.table.columns, *(DETAILS if details else ())]
        patterns: dict[int, Cells] = {}
        if form == "csv":
            yield _csv([names])
        for piece in raw_rows(reader, book, span):
            rows = row_cells(reader, book, piece, patterns)
            if details:
                known = row_details(reader, book.stream.id, [one[0] for one in piece])
                rows = [(*row, *known[one[0]]) for row, one in zip(rows, piece, strict=True)]
            if form == "csv":
                yield _csv([[harmless_cell(cell) for cell in row] for row in rows])
            else:
                lines = (
                    json.dumps(
                        {k: v for k, v in zip(names, row, strict=True) if v is not None},
                        ensure_ascii=False,
                    )
                    for row in rows
                )
                yield ("\n".join(lines) + "\n").encode()


DETAILS = ("at", "labelled_by", "labelled_at", "label_origin")
"""Columns of ``details=true``: the hour of a row, who labelled it, when, and how it was chosen."""


def row_details(
    reader: Reader, stream: int, rows: Sequence[int]
) -> dict[int, tuple[str | None, ...]]:
    """Return what is known of rows beside their cells; several people are separated by ';'.

    *rows* are those of one piece, so the numbers between its ends are few others.
    """
    ends = [stream, min(rows), max(rows)]
    people: dict[int, list[tuple[str, float, str]]] = {}
    for row, *label in reader.all(
        "select row_id, annotator, at, origin from label where stream = ? and row_id >= ?"
        " and row_id <= ? and current = 1 and value is not null order by id",
        ends,
    ):
        people.setdefault(row, []).append((str(label[0]), float(label[1]), str(label[2])))
    found: dict[int, tuple[str | None, ...]] = {}
    # An index may hold blocks of sixteen ids, so the blocks are named, too.
    for row, bucket in reader.all(
        "select id, bucket from rows where stream = ? and id >= ? and id <= ?"
        " and (id >> 4) >= ? and (id >> 4) <= ?",
        [*ends, min(rows) >> 4, max(rows) >> 4],
    ):
        labels = people.get(row, [])
        cells: tuple[str | None, ...] = (None, None, None)
        if labels:
            names, times, origins = zip(*labels, strict=True)
            cells = (";".join(names), _time(max(times)), ";".join(dict.fromkeys(origins)))
        found[row] = (_time(bucket * 3600.0), *cells)
    return found


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _csv(rows: list[Any]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


async def get_rows(incoming: Incoming) -> Response:
    """Send the rows of a stream."""
    service, name = incoming.service, incoming.path["stream"]
    form = incoming.query("format", _wished(incoming.header("accept") or ""))
    if form not in _MEDIA:
        raise HttpProblem(
            422, f"there is no format {form[:40]!r}", [Fix(way_out="use ndjson, csv or parquet")]
        )
    wished = incoming.query("details", "false").lower()
    if wished not in ("true", "false", "1", "0") or (wished in ("true", "1") and form == "parquet"):
        raise HttpProblem(
            422,
            f"details={wished[:40]!r} cannot be used with {form}",
            [Fix(column="details", way_out="use true or false, with ndjson or csv")],
        )
    details = wished in ("true", "1")
    _, span = question_in(incoming)
    # 404 and 422 come before the first byte.
    await service.reading(lambda reader: asked_stream(reader, name, span))
    headers = {"Content-Disposition": f'attachment; filename="{name}.{form}"'}
    if form == "parquet":
        order = order_of("parquet", name, "", {}, span)
        made = await service.waiting(lambda: service.worker.ask(order, patience=300.0))
        path = Path(made.body.decode())
        return FileResponse(
            path, media_type=_MEDIA[form], headers=headers, background=BackgroundTask(path.unlink)
        )
    return StreamingResponse(
        exported(service, name, span, form, details=details),
        media_type=_MEDIA[form],
        headers=headers,
    )


def _wished(accept: str) -> str:
    for form, media in _MEDIA.items():
        if media.partition(";")[0] in accept:
            return form
    return "ndjson"


ROUTES = (
    Route(
        method="GET",
        path="/v1/streams/{stream}/rows",
        role="read",
        work=get_rows,
        summary="The rows, as NDJSON, CSV or Parquet.",
        answer="application/x-ndjson",
        query=(
            *SPAN,
            Parameter("format", "ndjson, csv or parquet."),
            Parameter(
                "details",
                "true adds the hour of each row, who labelled it, when, and how it was chosen"
                " (ndjson and csv).",
            ),
        ),
    ),
)
"""Routes of this file."""
