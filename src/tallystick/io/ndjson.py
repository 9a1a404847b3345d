"""NDJSON: one object a line, each value with the type that it has there.

Cells are spooled as text and cast on the way out, once the types of the whole column are known: a
column of integers comes as BIGINT, of numbers as DOUBLE, of strings as VARCHAR, of booleans as
BOOLEAN. NaN is missing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tallystick.errors import FileError
from tallystick.io.names import check_names
from tallystick.io.spool import BATCH, Spool
from tallystick.io.table import Part
from tallystick.io.text import CheckedText
from tallystick.values.sql import identifier

__all__ = ["JsonColumns", "read_ndjson"]

_NAMES = {
    str: "text",
    bool: "boolean",
    int: "integer",
    float: "number",
    dict: "an object",
    list: "a list",
}
_NESTED = frozenset({"an object", "a list"})
_LARGEST = 2**63 - 1


@dataclass
class JsonColumns:
    """What is known so far of each key: where every type was first seen, over all files of a
    call.
    """

    seen: dict[str, dict[str, str]] = field(default_factory=dict)

    def note(self, key: str, kind: str, place: str) -> None:
        """Remember the first place of a type."""
        self.seen.setdefault(key, {}).setdefault(kind, place)

    @property
    def left_out(self) -> dict[str, str]:
        """Keys with nested values, and why they cannot be used."""
        found = {
            key: [kind for kind in kinds if kind in _NESTED] for key, kinds in self.seen.items()
        }
        return {
            key: (
                f"column {key!r} holds {kinds[0]} at {self.seen[key][kinds[0]]}: flatten it to one"
                " value a key"
            )
            for key, kinds in found.items()
            if kinds
        }

    @property
    def doubtful(self) -> dict[str, str]:
        """Keys whose values have several types, and where."""
        out = {}
        for key, kinds in self.seen.items():
            if self._type(kinds) is None and key not in self.left_out:
                found = " and ".join(
                    f"{kind} at {place}" for kind, place in list(kinds.items())[:2]
                )
                many = len(kinds) > 1
                way_out = (
                    "write them alike, or coerce (--coerce)"
                    if many
                    else "write such numbers as text"
                )
                out[key] = f"column {key!r} {'mixes' if many else 'holds'} {found}: {way_out}"
        return out

    def projection(self) -> str:
        """Return the SQL that gives every key its type."""
        columns = []
        for key, kinds in self.seen.items():
            kind = self._type(kinds) or "VARCHAR"
            name = identifier(key)
            columns.append(name if kind == "VARCHAR" else f"cast({name} as {kind}) as {name}")
        return ", ".join(columns)

    @staticmethod
    def _type(kinds: Mapping[str, str]) -> str | None:
        found = frozenset(kinds)
        if found <= {"text"}:
            return "VARCHAR"
        if found <= {"integer"}:
            return "BIGINT"
        if found <= {"integer", "number"}:
            return "DOUBLE"
        return "BOOLEAN" if found == {"boolean"} else None


def read_ndjson(text: CheckedText, spool: Spool, columns: JsonColumns) -> Part:
    """Write every object of *text* to *spool* and note its types in *columns*."""
    before = spool.rows
    batch: list[dict[str, Any]] = []
    lines: list[int] = []
    blank = False
    with text.path.open(encoding="utf-8-sig", newline="\n") as stream:
        for number, line in enumerate(stream, start=1):
            if line.isspace():
                blank = True
                continue
            batch.append(_object(line, number, text.name))
            lines.append(number)
            if len(batch) >= BATCH:
                _flush(batch, lines, text.name, spool, columns)
    if batch:
        _flush(batch, lines, text.name, spool, columns)
    if spool.rows == before:
        raise FileError(f"{text.name} has no rows: nothing to count")
    return Part(text.name, spool.rows - before, None if blank else 1)


def _object(text: str, number: int, name: str) -> dict[str, Any]:
    line = text.strip()
    try:
        value = _FAST.decode(line)
        # perhaps a key twice, which a dict hides
        if not isinstance(value, dict) or line.count(":") > len(value):
            value = _EXACT.decode(line)
    except json.JSONDecodeError as error:
        way_out = (
            "put each object on one line (jq -c .)"
            if line == "{"
            else "complete the line or remove it"
        )
        raise FileError(
            f"{name}, line {number} is not one JSON object ({error.msg} at character"
            f" {error.colno}): {way_out}"
        ) from error
    except (ValueError, RecursionError) as error:
        raise FileError(
            f"{name}, line {number} cannot be read ({error}): correct the line or remove it"
        ) from error
    if not isinstance(value, dict):
        raise FileError(
            f"{name}, line {number} is {line[:40]!r}, not an object: write {{'column': value, …}}"
        )
    return value


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"key {twice!r} occurs twice in one object")
    return value


def _constant(word: str) -> float | None:
    return None if word == "NaN" else float(word)


_FAST = json.JSONDecoder(parse_constant=_constant)
_EXACT = json.JSONDecoder(parse_constant=_constant, object_pairs_hook=_pairs)


def _flush(
    batch: list[dict[str, Any]], lines: list[int], name: str, spool: Spool, columns: JsonColumns
) -> None:
    for row in batch:
        if not row.keys() <= columns.seen.keys():
            for key in row:
                columns.seen.setdefault(key, {})
    keys, _ = check_names(tuple(columns.seen), name)
    if tuple(columns.seen) != keys:
        raise FileError(f"{name}, line {lines[0]}: a key is blank, so its column has no name")
    cells: list[Sequence[str | None]] = []
    for key in columns.seen:
        values = [row.get(key) for row in batch]
        kinds = set(map(type, values)) - {type(None)}
        for kind in kinds:
            word = _NAMES[kind]
            if kind is int and any(
                type(value) is int and abs(value) > _LARGEST for value in values
            ):
                word = "an integer beyond 64 bits"
            if word not in columns.seen[key]:
                first = next(i for i, value in enumerate(values) if type(value) is kind)
                columns.note(key, word, f"line {lines[first]} of {name}")
        cells.append(values if kinds <= {str} else [_written(value) for value in values])
    try:
        spool.add(keys, cells)
    except UnicodeEncodeError as error:
        at = next(i for i, row in enumerate(batch) if not _is_text(row))
        raise FileError(
            f"{name}, line {lines[at]} holds half of a surrogate pair, which is not text:"
            " correct the line or remove it"
        ) from error
    batch.clear()
    lines.clear()


def _is_text(row: dict[str, Any]) -> bool:
    try:
        json.dumps(row, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _written(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return None if isinstance(value, dict | list) else repr(value)
