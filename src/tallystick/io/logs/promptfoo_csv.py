"""Results of promptfoo as CSV: the variables, then a block of columns for each prompt."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from tallystick.errors import FileError
from tallystick.io.logs.csv_rows import csv_header, csv_table
from tallystick.io.logs.json_rows import content_key
from tallystick.io.logs.log import Log, Scores, number
from tallystick.io.logs.registry import LogReader
from tallystick.io.sources import File

__all__ = ["READER", "read_promptfoo_csv"]

_BESIDE = frozenset(
    {"Status", "Score", "Named Scores", "Grader Reason", "Comment", "Reasoning", "Description"}
)
"""Columns that follow the output of a prompt, and the description of a test."""
_PROVIDER = re.compile(r"\[(?P<provider>[^\]]+)\] ?(?P<label>.*)", re.DOTALL)
_PREFIX = re.compile(r"\[(PASS|FAIL|ERROR)\]")
_LONGEST = 40


def read_promptfoo_csv(file: File) -> list[Log]:
    """Read one log per provider and prompt: ``success``, ``score`` and every named score.

    Older versions write no columns of status, but ``[PASS]`` or ``[FAIL]`` before the output. Items
    are matched by their variables. A call that failed has no score.
    """
    header, rows = csv_table(file)
    blocks = [at for at, name in enumerate(header) if _PROVIDER.fullmatch(name)]
    if not blocks:
        raise FileError(f"{file.name} has no column such as '[provider] prompt'")
    variables = [at for at, name in enumerate(header[: blocks[0]]) if name not in _BESIDE]
    logs = []
    names = _named([header[at] for at in blocks])
    for name, at in zip(names, blocks, strict=True):
        beside = _beside(header, at)
        scores: Scores = {}
        unscored = 0
        for row in rows:
            found = _scored(row, at, beside)
            unscored += not found
            item = content_key(*(row[j] for j in variables))
            for metric, value in found.items():
                scores.setdefault(metric, {}).setdefault(item, []).append(value)
        if scores.get("score") == scores.get("success"):
            scores.pop("score", None)
        if scores:
            logs.append(Log(name, "", file.name, scores, unscored))
    if not logs:
        raise FileError(f"{file.name}: no output has a status: every call failed")
    return logs


def _beside(header: Sequence[str], at: int) -> dict[str, int]:
    """Return the columns that belong to the output in column *at*."""
    found: dict[str, int] = {}
    for place in range(at + 1, len(header)):
        if header[place] not in _BESIDE or header[place] in found:
            break
        found[header[place]] = place
    return found


def _scored(row: Sequence[str], at: int, beside: Mapping[str, int]) -> dict[str, float]:
    def cell(name: str) -> str:
        place = beside.get(name)
        return row[place].strip() if place is not None and place < len(row) else ""

    prefix = _PREFIX.match(row[at]) if at < len(row) else None
    status = cell("Status").upper() or (prefix[1] if prefix else "")
    if status not in ("PASS", "FAIL"):
        return {}
    found = {"success": float(status == "PASS")}
    if cell("Score"):
        found["score"] = float(cell("Score"))
    if cell("Named Scores"):
        named = json.loads(cell("Named Scores"))
        found |= {str(k): v for k, one in named.items() if (v := number(one)) is not None}
    return found


def _named(columns: Sequence[str]) -> list[str]:
    """Name each prompt: its provider, and its label where there are several."""
    parts = [_PROVIDER.fullmatch(column) for column in columns]
    labels = {" ".join(part["label"].split()) for part in parts if part}
    names: list[str] = []
    for part in parts:
        assert part is not None
        label = " ".join(part["label"].split())
        short = label if len(label) <= _LONGEST else f"{label[: _LONGEST - 1]}…"
        name = f"{part['provider']}: {short}" if len(labels) > 1 and short else part["provider"]
        names.append(f"{name} ({len(names) + 1})" if name in names else name)
    return names


def _opens(head: str) -> bool:
    header = csv_header(head)
    outputs = [name for name in header if _PROVIDER.fullmatch(name)]
    return bool(outputs) and (
        "Status" in header or "Grader Reason" in header or _PREFIX.search(head) is not None
    )


READER = LogReader(
    name="promptfoo-csv",
    read=lambda files: [read_promptfoo_csv(file) for file in files],
    opens=_opens,
)
