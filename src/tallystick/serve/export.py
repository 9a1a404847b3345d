"""``GET /v1/streams/{stream}/rows``: everything that is kept, in three formats."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from starlette.background import BackgroundTask
from starlette.responses import FileResponse, Response, StreamingResponse

from tallystick.serve.problem import Fix, HttpProblem
from tallystick.serve.results import SPAN, asked_stream, question_in
from tallystick.serve.routes import Incoming, Parameter, Route
from tallystick.serve.rows import book_of, pieces
from tallystick.serve.service import Service
from tallystick.serve.settings import find_stream
from tallystick.serve.span import Span
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


def exported(service: Service, name: str, span: Span, form: str) -> Iterator[bytes]:
    """Return the rows of a stream as text, piece by piece: no stream is too long for that."""
    with service.store.snapshot() as reader:
        book = book_of(reader, find_stream(reader, name), span)
        names = book.table.columns
        if form == "csv":
            yield _csv([names])
        for piece in pieces(reader, book, span):
            if form == "csv":
                yield _csv([[harmless_cell(cell) for cell in row] for row in piece])
            else:
                lines = (
                    json.dumps(
                        {k: v for k, v in zip(names, row, strict=True) if v is not None},
                        ensure_ascii=False,
                    )
                    for row in piece
                )
                yield ("\n".join(lines) + "\n").encode()


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
        exported(service, name, span, form), media_type=_MEDIA[form], headers=headers
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
        query=(*SPAN, Parameter("format", "ndjson, csv or parquet.")),
    ),
)
"""Routes of this file."""
