"""Exports of Langfuse: scores (JSON, JSONL or CSV), with their dataset item and run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from tallystick.errors import FileError
from tallystick.io.logs.csv_rows import csv_header, csv_rows
from tallystick.io.logs.json_rows import first_of, json_rows
from tallystick.io.logs.log import Log, Scores, number
from tallystick.io.logs.registry import LogReader
from tallystick.io.sources import File

__all__ = ["READER", "read_langfuse"]

_ITEM = ("datasetItemId", "dataset_item_id", "Dataset Item Id")
_RUN = ("datasetRunName", "dataset_run_name", "datasetRunId", "dataset_run_id")
_TRACE = ("traceId", "trace_id")
_NAMES = frozenset({"traceid", "trace_id"})


def read_langfuse(file: File) -> list[Log]:
    """Read scores as one log per dataset run.

    Items are matched by the dataset item. Without it, by the trace: that only matches if the runs
    share traces, so export scores together with their dataset items. A categorical score has no
    number and is left out.
    """
    rows: Iterable[Mapping[str, Any]]
    if file.name.lower().removesuffix(".gz").endswith(".csv"):
        rows = csv_rows(file)
    else:
        rows = (row for _, row in json_rows(file))
    runs: dict[str, Scores] = {}
    unscored: dict[str, int] = {}
    for row in rows:
        item = first_of(row, _ITEM) or _of_trace(row) or first_of(row, _TRACE)
        run = str(first_of(row, _RUN) or file.path.name.partition(".")[0])
        for name, value in _scored(row):
            if value is None or item is None:
                unscored[run] = unscored.get(run, 0) + 1
                continue
            runs.setdefault(run, {}).setdefault(name, {}).setdefault(str(item), []).append(value)
    if not runs:
        raise FileError(f"{file.name} holds no score with a number and an item")
    return [Log(run, "", file.name, held, unscored.get(run, 0)) for run, held in runs.items()]


def _of_trace(row: Mapping[str, Any]) -> Any:
    trace = row.get("trace")
    metadata = trace.get("metadata") if isinstance(trace, dict) else row.get("metadata")
    return first_of(metadata, _ITEM) if isinstance(metadata, dict) else None


def _scored(row: Mapping[str, Any]) -> list[tuple[str, float | None]]:
    """Return the scores of a row: one per row, or a list inside an item of a run."""
    inside = row.get("scores") or row.get("evaluations")
    if isinstance(inside, list):
        return [(str(one.get("name")), _value(one.get("value"))) for one in inside]
    return [(str(row.get("name", "score")), _value(row.get("value")))]


def _value(cell: Any) -> float | None:
    if isinstance(cell, str):
        try:
            return number(float(cell))
        except ValueError:
            return {"true": 1.0, "false": 0.0}.get(cell.strip().lower())
    return number(cell)


def _opens(head: str) -> bool:
    header = csv_header(head)
    if header:
        lower = {name.lower() for name in header}
        return bool(_NAMES & lower) and {"name", "value"} <= lower
    start = re.match(r"[\[{]", head)
    traced = '"traceId"' in head and ('"value"' in head or '"scores"' in head)
    return bool(start) and (traced or '"datasetRunName"' in head or '"datasetItemId"' in head)


READER = LogReader(
    name="langfuse", read=lambda files: [read_langfuse(file) for file in files], opens=_opens
)
