"""What the worker makes: results as JSON, pictures, tallies and Parquet files."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

from tallystick.results import to_json
from tallystick.serve.answer import answer_stream, arrow_rows, stream_tally
from tallystick.serve.problem import HttpProblem
from tallystick.serve.rows import book_of
from tallystick.serve.settings import find_stream
from tallystick.serve.span import Span
from tallystick.serve.store import Store
from tallystick.serve.worker import Computed, WorkerOrder

__all__ = ["COMPUTED"]


def _span(order: WorkerOrder) -> Span:
    held = dict(order.span)
    slices = tuple((name, value) for name, value in held.pop("slices", ()))
    return Span(slices=slices, **held)


def result(store: Store, order: WorkerOrder) -> Computed:
    """Return the command line's JSON, with ``as_of`` and the command that gives the same."""
    found = answer_stream(store, order.stream, order.verb, order.given, _span(order))
    body: dict[str, Any]
    if found.result is not None:
        body = json.loads(to_json(found.result.to_dict()))
        # What the service knows of its labels and no file shows.
        body["label_doubts"] = [asdict(one) for one in found.doubts]
        body["warnings"] = [*body["warnings"], *(one.warning for one in found.doubts)]
        body["assumptions"] = [*body["assumptions"], *(one.assumption for one in found.doubts)]
        if body["decision"] == "decided" and any(one.grave for one in found.doubts):
            body["decision"] = "undecided"
    else:
        body = _unknowable(order.verb, found.why)
    body["as_of"] = found.as_of
    body["command"] = found.command
    return Computed(
        status=200,
        body=json.dumps(body, ensure_ascii=False, allow_nan=False).encode(),
        head={"as_of": found.as_of, "version": found.version, "command": found.command},
    )


def _unknowable(verb: str, why: str) -> dict[str, Any]:
    """Return the answer where there is nothing to conclude from: no error, but no number."""
    from tallystick.registry import capability
    from tallystick.results import SCHEMA

    return {
        "schema": SCHEMA,
        "verb": capability(verb).verb,
        "verdict": f"Nothing can be said yet: {why}.",
        "decision": "unknowable",
        "needed": None,
        "n_items": 0,
        "assumptions": [],
        "warnings": [],
        "unknown": {"result": why},
    }


def chart(store: Store, order: WorkerOrder) -> Computed:
    """Return a figure of a result as SVG, the most telling one by default."""
    from tallystick.report import plot

    found = answer_stream(store, order.stream, order.verb, order.given, _span(order))
    if found.result is None:
        raise HttpProblem(404, f"there is nothing to draw: {found.why}")
    mode: Literal["light", "dark"] = "dark" if order.args.get("mode") == "dark" else "light"
    picture = plot(found.result, figure=int(order.args.get("figure", 0)), mode=mode)
    return Computed(status=200, body=picture.svg().encode(), head={"version": found.version})


def tally(store: Store, order: WorkerOrder) -> Computed:
    """Return the kept counts as an Arrow file that ``Tally.load`` reads."""
    with store.snapshot() as reader:
        stream = find_stream(reader, order.stream)
        span = _span(order)
        counts = stream_tally(reader, book_of(reader, stream, span, way="even"), span)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "stream.tally"
        counts.save(path)
        return Computed(status=200, body=path.read_bytes(), head={"version": stream.version})


def parquet(store: Store, order: WorkerOrder) -> Computed:
    """Write the rows as Parquet to a file that the server sends and deletes."""
    import pyarrow.parquet as pq

    with store.snapshot() as reader:
        stream = find_stream(reader, order.stream)
        span = _span(order)
        table = arrow_rows(reader, book_of(reader, stream, span), span)
    with tempfile.NamedTemporaryFile(suffix=".parquet", delete=False) as held:
        pq.write_table(table, held)
    return Computed(status=200, body=held.name.encode(), head={"version": stream.version})


COMPUTED: Mapping[str, Callable[[Store, WorkerOrder], Computed]] = {
    "result": result,
    "chart": chart,
    "tally": tally,
    "parquet": parquet,
}
"""What the worker can be asked for."""
