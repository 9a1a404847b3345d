"""Results of promptfoo (``-o results.json`` or ``.jsonl``): one file holds every provider and
prompt.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tallystick.errors import FileError
from tallystick.table.formats import (
    Log,
    LogReader,
    Scores,
    checked,
    content_key,
    document,
    each_line,
    number,
)
from tallystick.table.logs_products import csv_header, csv_table
from tallystick.table.sources import File

_OPENING = re.compile(
    r'\{\s*"evalId":[^{]*"results":\s*\{\s*"version":|\{"cost":[^\n]*"gradingResult":'
)

VERSIONS = (2, 3)
"""The versions of the results that are read; promptfoo has written 3 since the end of 2024."""

_ERROR = 2
"""The ``failureReason`` of a call that failed (1 is an assertion that failed, 0 is none)."""
_NEEDED = ("prompt", "provider", "score", "success", "vars")
_RULES = ("assert", "assertScoringFunction", "threshold")
"""What of a test says how an answer is scored: a question that is scored by other rules is another
item."""
_LONGEST = 40

Row = Mapping[str, Any]


def read_promptfoo(files: Sequence[File]) -> list[list[Log]]:
    """Read each file as one log a provider and prompt.

    Items are told apart by their variables and by the rules that score them, so that repeated tests
    (``--repeat``) are replicates. Scores are ``success`` (0 or 1), ``score`` (in [0, 1]; left out
    where it says nothing else) and every named metric. A call that failed, and a test without any
    assertion, has no score. Models of the same name in several files are told apart by the name of
    the file.
    """
    panels = [_panel(file) for file in files]
    homes: dict[str, set[str]] = defaultdict(set)
    for log in (log for panel in panels for log in panel):
        homes[log.model].add(log.source)
    stems = [file.path.stem for file in files]
    marks = stems if len(set(stems)) == len(stems) else [file.name for file in files]
    return [
        [
            replace(log, model=f"{log.model} ({mark})") if len(homes[log.model]) > 1 else log
            for log in panel
        ]
        for mark, panel in zip(marks, panels, strict=True)
    ]


def _panel(file: File) -> list[Log]:
    names: dict[object, tuple[str, str]] = {}
    scores: dict[object, Scores] = {}
    unscored: dict[object, int] = defaultdict(int)
    for place, row in _rows(file):
        lacking = [key for key in _NEEDED if key not in row]
        if lacking:
            raise FileError(
                f"{file.name}, {place} has no {lacking[0]!r}: it is of another version of promptfoo"
            )
        name = _provider(row["provider"]), " ".join(str(row["prompt"].get("label", "")).split())
        column = row.get("promptIdx", name)  # the index counts providers and prompts together
        names[column] = name
        held = scores.setdefault(column, {})
        rules = _rules(row)
        if not rules:
            unscored[column] += 1
            continue
        given = {"success": row["success"], "score": row["score"], **(row.get("namedScores") or {})}
        for key, value in given.items():
            if (as_number := number(value)) is not None:
                held.setdefault(key, {}).setdefault(_item(row, rules), []).append(as_number)
    for column, held in scores.items():
        if not held:
            raise FileError(
                f"{file.name}: {names[column][0]!r} has no score: its calls failed, or nothing was"
                " asserted"
            )
    if all(held.get("score") == held.get("success") for held in scores.values()):
        for held in scores.values():
            held.pop("score", None)
    called = _called(names)
    return [
        Log(called[column], "", file.name, held, unscored[column])
        for column, held in scores.items()
    ]


def _rows(file: File) -> Iterator[tuple[str, Row]]:
    """Yield every result and where it stands."""
    with checked(file) as text, text.path.open(encoding="utf-8-sig") as stream:
        lines = stream.read(7) == '{"cost"'
    if lines:
        yield from ((f"line {line}", row) for line, row in each_line(file))
        return
    held = document(file)
    results = held.get("results") if isinstance(held, dict) else None
    version = results.get("version") if isinstance(results, dict) else None
    if not isinstance(results, dict) or version not in VERSIONS:
        raise FileError(
            f"{file.name} holds promptfoo results of version {version!r}, versions 2 and 3 are"
            " read: export them again ('promptfoo export eval ID -o results.json')"
        )
    yield from ((f"result {i}", row) for i, row in enumerate(results["results"], start=1))


def _rules(row: Row) -> dict[str, Any]:
    """Return the rules by which an answer was scored; none if the call failed, or if nothing is
    asserted.
    """
    graded = row.get("gradingResult")
    if row.get("failureReason") == _ERROR or not graded:
        return {}
    test = row.get("testCase") or {
        "assert": [part.get("assertion") for part in graded.get("componentResults") or ()]
    }
    return (
        {key: test[key] for key in _RULES if test.get(key) is not None}
        if test.get("assert")
        else {}
    )


def _item(row: Row, rules: Row) -> str:
    asked = json.dumps(row["vars"], sort_keys=True, ensure_ascii=False)
    return f"{asked} #{hashlib.sha256(json.dumps(rules, sort_keys=True).encode()).hexdigest()[:6]}"


def _provider(provider: Any) -> str:
    if isinstance(provider, dict):
        return str(provider.get("label") or provider.get("id"))
    return str(provider)


def _called(names: Mapping[object, tuple[str, str]]) -> dict[object, str]:
    """Name each column: its provider, its prompt where there are several, and its number where both
    are alike.
    """
    several = len({label for _, label in names.values()}) > 1
    called: dict[object, str] = {}
    for column, (provider, label) in names.items():
        short = label if len(label) <= _LONGEST else f"{label[: _LONGEST - 1]}…"
        name = f"{provider}: {short}" if several else provider
        called[column] = f"{name} ({len(called) + 1})" if name in called.values() else name
    return called


PROMPTFOO = LogReader(
    name="promptfoo", read=read_promptfoo, opens=lambda head: _OPENING.match(head) is not None
)

# Results of promptfoo as CSV: the variables, then a block of columns for each prompt.


_BESIDE = frozenset(
    {"Status", "Score", "Named Scores", "Grader Reason", "Comment", "Reasoning", "Description"}
)
"""Columns that follow the output of a prompt, and the description of a test."""
_PROVIDER = re.compile(r"\[(?P<provider>[^\]]+)\] ?(?P<label>.*)", re.DOTALL)
_PREFIX = re.compile(r"\[(PASS|FAIL|ERROR)\]")


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


PROMPTFOO_CSV = LogReader(
    name="promptfoo-csv",
    read=lambda files: [read_promptfoo_csv(file) for file in files],
    opens=_opens,
)
