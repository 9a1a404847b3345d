"""Exports of Braintrust experiments: one event per line or in a list, each with its scores."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from tallystick.errors import FileError
from tallystick.io.logs.csv_rows import csv_header, csv_rows
from tallystick.io.logs.json_rows import content_key, first_of, json_rows
from tallystick.io.logs.log import Log, Scores, number
from tallystick.io.logs.registry import LogReader
from tallystick.io.sources import File

__all__ = ["READER", "read_braintrust"]

_MARKS = ("root_span_id", "experiment_id", "span_attributes", "_xact_id", "dataset_record_id")


def read_braintrust(file: File) -> Log:
    """Read one experiment; only root spans count, each with its scores by name.

    Items are matched by the record of the data set, else by the input and the expected output.
    """
    rows: Iterable[Mapping[str, Any]]
    if file.name.lower().removesuffix(".gz").endswith(".csv"):
        rows = csv_rows(file)
    else:
        rows = (row for _, row in json_rows(file, "events", "data"))
    scores: Scores = {}
    unscored, experiment = 0, None
    for row in rows:
        root = row.get("root_span_id")
        if root and row.get("span_id") and root != row["span_id"]:
            continue  # a step inside a test case
        experiment = experiment or first_of(row, ("experiment_name", "experiment_id"))
        item = first_of(row, ("dataset_record_id",)) or content_key(
            row.get("input"), row.get("expected")
        )
        held = row.get("scores")
        found = json.loads(held or "{}") if isinstance(held, str) else held or {}
        known = {name: value for name, one in found.items() if (value := number(one)) is not None}
        unscored += not known
        for name, value in known.items():
            scores.setdefault(str(name), {}).setdefault(str(item), []).append(value)
    if not scores:
        raise FileError(f"{file.name} holds no event with scores")
    name = file.path.name.partition(".")[0]
    return Log(name, "", file.name, scores, unscored, facts={"experiment": str(experiment or "")})


def _opens(head: str) -> bool:
    header = csv_header(head)
    if header:
        return "scores" in header and bool({"expected", "span_id"} & set(header))
    if re.match(r"[\[{]", head) is None or '"scores"' not in head:
        return False
    return any(f'"{mark}"' in head for mark in _MARKS)


READER = LogReader(
    name="braintrust", read=lambda files: [[read_braintrust(file)] for file in files], opens=_opens
)
