"""Evaluation tables of MLflow: ``eval_results_table.json``, or its rows as CSV."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from tallystick.errors import FileError
from tallystick.io.logs.csv_rows import csv_header, csv_rows
from tallystick.io.logs.json_rows import content_key, first_of
from tallystick.io.logs.json_text import document
from tallystick.io.logs.log import Log, Scores, number
from tallystick.io.logs.registry import LogReader
from tallystick.io.sources import File

__all__ = ["READER", "read_mlflow"]

_OPENING = re.compile(r'\{\s*"columns"\s*:\s*\[', re.DOTALL)
_SCORE = re.compile(r"(?P<name>.+?)(/v\d+)?(/score|/value)?")
_ENDINGS = ("/score", "/value")
_ASKED = ("inputs", "inputs/question", "request", "question", "input")
_TRUE = ("ground_truth", "targets", "target", "expectations", "expected_response")
_WORDS = {"yes": 1.0, "true": 1.0, "pass": 1.0, "no": 0.0, "false": 0.0, "fail": 0.0}


def read_mlflow(file: File) -> Log:
    """Read one table; a metric is a column such as ``exact_match/v1`` or ``correctness/value``.

    Items are matched by their inputs. Judgements written as yes and no count 1 and 0.
    """
    scores: Scores = {}
    unscored = 0
    for row in _rows(file):
        asked = first_of(row, _ASKED)
        item = content_key(asked, first_of(row, _TRUE))
        found = {
            name: value
            for column, cell in row.items()
            if (name := _metric(column)) is not None and (value := _value(cell)) is not None
        }
        unscored += not found
        for name, value in found.items():
            scores.setdefault(name, {}).setdefault(item, []).append(value)
    if not scores:
        raise FileError(f"{file.name} holds no column of scores, such as exact_match/v1")
    folder = file.path.resolve().parent.name
    stem = file.path.name.partition(".")[0]
    model = folder if stem == "eval_results_table" and folder else stem
    return Log(model, "", file.name, scores, unscored)


def _rows(file: File) -> Iterable[Mapping[str, Any]]:
    if file.name.lower().removesuffix(".gz").endswith(".csv"):
        return csv_rows(file)
    held = document(file)
    columns, data = held.get("columns"), held.get("data")
    if not isinstance(columns, list) or not isinstance(data, list):
        raise FileError(f"{file.name} is not a table with columns and data: log it again")
    return [dict(zip(map(str, columns), row, strict=False)) for row in data]


def _metric(column: str) -> str | None:
    """Return the metric that a column holds, None for anything else."""
    if not column.endswith(_ENDINGS) and not re.search(r"/v\d+$", column):
        return None
    found = _SCORE.fullmatch(column)
    return found["name"] if found else None


def _value(cell: Any) -> float | None:
    if isinstance(cell, str):
        word = cell.strip().lower()
        if word in _WORDS:
            return _WORDS[word]
        try:
            return number(float(word))
        except ValueError:
            return None
    return number(cell)


def _opens(head: str) -> bool:
    names = csv_header(head)
    if names:
        return any(name in names for name in _ASKED) and any(map(_metric, names))
    if _OPENING.match(head) is None:
        return False
    listed = re.findall(r'"([^"]+)"', head.partition("]")[0])
    return any(map(_metric, listed))


READER = LogReader(
    name="mlflow", read=lambda files: [[read_mlflow(file)] for file in files], opens=_opens
)
