"""JSON objects as rows: one per line (NDJSON), the entries of one array, or the rows that stand
inside one document.

Cells are spooled as text and cast on the way out, once the types of the whole column are known.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from tallystick.errors import FileError
from tallystick.table.cells import identifier
from tallystick.table.columnar import nested
from tallystick.table.engine import require
from tallystick.table.sources import BATCH, Spool, check_names, damaged
from tallystick.table.tables import Part
from tallystick.table.texts import MAX_LINE, CheckedText, too_long

_NAMES = {
    str: "text",
    bool: "boolean",
    int: "integer",
    float: "number",
    dict: "an object",
    list: "a list",
}
_NESTED = ("an object", "a list")
_LARGEST = 2**63 - 1

_MOST_FIELDS = 1_000
"""Fields of one row up to which its objects are opened: one with more is a table of its own."""

_MOST_WHOLE, _SOME = 64_000_000, 1_000
"""Signs of a first line, and of what follows it."""
_PER_SIGN = 12
"""Bytes of memory that one sign of an array takes at most."""


@dataclass
class JsonColumns:
    """What is known so far of each key: where every type was first seen, over all files of a
    call.
    """

    seen: dict[str, dict[str, str]] = field(default_factory=dict)

    @property
    def left_out(self) -> dict[str, str]:
        """Keys with nested values, and why they cannot be used."""
        found = {}
        for key, kinds in self.seen.items():
            for kind in [one for one in kinds if one in _NESTED][:1]:
                found[key] = nested(key, f"{kind} at {kinds[kind]}")
        return found

    @property
    def doubtful(self) -> dict[str, str]:
        """Keys whose values have several types, and where."""
        out, left_out = {}, self.left_out
        for key, kinds in self.seen.items():
            if _type(kinds) is None and key not in left_out:
                places = list(kinds.items())[:2]
                found = " and ".join(f"{kind} at {place}" for kind, place in places)
                out[key] = (
                    f"column {key!r} mixes {found}: write them alike, or coerce (--coerce)"
                    if len(kinds) > 1
                    else f"column {key!r} holds {found}: write such numbers as text"
                )
        return out

    def projection(self) -> str:
        """Return the SQL that gives every key its type."""
        columns = []
        for key, kinds in self.seen.items():
            kind, name = _type(kinds) or "VARCHAR", identifier(key)
            columns.append(name if kind == "VARCHAR" else f"cast({name} as {kind}) as {name}")
        return ", ".join(columns)


def _type(kinds: Mapping[str, str]) -> str | None:
    found = frozenset(kinds)
    for fitting, kind in (
        ({"text"}, "VARCHAR"),
        ({"integer"}, "BIGINT"),
        ({"integer", "number"}, "DOUBLE"),
        ({"boolean"}, "BOOLEAN"),
    ):
        if found <= fitting:
            return kind
    return None


def read_json(text: CheckedText, spool: Spool, columns: JsonColumns) -> Part:
    """Write every row of *text* to *spool* and note its types in *columns*."""
    found = json_rows(text, lambda held: _only_list(held, text.name) or _by_column(held))
    rows, unit, before, last = iter(found.rows), found.unit, spool.rows, 0
    while batch := list(islice(rows, BATCH)):
        flat = [_flat(row, f"{text.name}, {unit} {number}") for number, row in batch]
        _spool(flat, [number for number, _ in batch], (unit, text.name), spool, columns)
        last = batch[-1][0]
    # Without blank lines a row is a line.
    by_line = unit == "line" and last == spool.rows - before
    return Part(text.name, spool.rows - before, 1 if by_line else None)


# Where rows stand: on lines, in an array, or inside a document.


@dataclass(frozen=True, slots=True)
class JsonRows:
    """The numbered rows of a text, what one is called, and what its document says besides."""

    rows: Iterable[tuple[int, dict[str, Any]]]
    unit: str = "line"
    head: Mapping[str, Any] = field(default_factory=dict)


def json_rows(
    text: CheckedText, inside: Callable[[dict[str, Any]], Sequence[Any] | None]
) -> JsonRows:
    """Return the objects of a text: one per line, the entries of an array, or what *inside* finds
    in a document.
    """
    with text.path.open(encoding="utf-8-sig") as stream:
        lines = iter(lambda: stream.readline(_MOST_WHOLE), "")
        first = next((line.strip() for line in lines if line.strip()), "")
        if (first[:1], first[-1:]) == ("{", "}") and stream.read(_SOME).lstrip()[:1] == "{":
            return JsonRows(_lines(text))  # an object per line, as nearly always
    require(
        _PER_SIGN * text.path.stat().st_size,
        f"{text.name}, one JSON array,",
        "Write one object per line (jq -c '.[]').",
    )
    try:
        held = _EXACT.decode(text.path.read_text(encoding="utf-8-sig").strip())
    except (ValueError, RecursionError) as error:
        if first[:1] == "{" and first != "{":  # lines are read one by one, and say which is broken
            return JsonRows(_lines(text))
        raise damaged(text.name, "JSON file", error) from error
    found, head = (held, {}) if isinstance(held, list) else (_table(held) or inside(held), held)
    if found is None:
        return JsonRows(_lines(text))
    entries = ((k, an_object(row, f"{text.name}, entry {k}")) for k, row in enumerate(found, 1))
    return JsonRows(entries, "entry", head)


def _lines(text: CheckedText) -> Iterator[tuple[int, dict[str, Any]]]:
    with text.path.open(encoding="utf-8-sig", newline="\n") as stream:
        lines = iter(lambda: stream.readline(MAX_LINE + 1), "")
        for number, line in enumerate(map(str.strip, lines), start=1):
            if len(line) > MAX_LINE:
                raise too_long(text.name, number)
            if line:
                yield number, value_of(line, f"{text.name}, line {number}")


def value_of(written: str, place: str) -> dict[str, Any]:
    """Return the object that a text says; NaN is missing, and a repeated key is refused."""
    try:
        value = _EXACT.decode(written)
    except (ValueError, RecursionError) as error:
        raise FileError(
            f"{place} is not one JSON object ({error}): complete the line or remove it, or put each"
            " object on one line (jq -c .)"
        ) from error
    return an_object(value, place)


def an_object(value: Any, place: str) -> dict[str, Any]:
    """Return a row, or refuse what is none."""
    if not isinstance(value, dict):
        raise FileError(f"{place} is {value!r:.40}, not an object: write {{'column': value, …}}")
    return value


def _constant(word: str) -> float | None:
    return None if word == "NaN" else float(word)


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"key {twice!r} occurs twice in one object")
    return value


_EXACT = json.JSONDecoder(parse_constant=_constant, object_pairs_hook=_pairs)


def _table(held: dict[str, Any]) -> list[dict[str, Any]] | None:
    """Return the rows of ``{"columns": ["a"], "data": [[1], [0]]}``, as pandas splits a frame."""
    names, rows = held.get("columns"), held.get("data")
    if not (isinstance(names, list) and isinstance(rows, list)):
        return None
    if not all(isinstance(row, list) and len(row) == len(names) for row in rows):
        return None
    return [dict(zip(map(str, names), row, strict=True)) for row in rows]


def _only_list(held: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """Return the only list of objects at the least depth; nothing if there is none."""
    level: dict[str, Any] = {"": held}
    while level:
        level = {
            f"{path}.{key}".lstrip("."): one
            for path, part in level.items()
            if isinstance(part, dict)
            for key, one in part.items()
        }
        lists = {
            path: one
            for path, one in level.items()
            if isinstance(one, list) and one and all(isinstance(row, dict) for row in one)
        }
        if len(lists) > 1:
            named = " and ".join(map(repr, list(lists)[:4]))
            raise FileError(
                f"{name} holds several lists of rows, {named}: write the one that you mean to a"
                " file of its own"
            )
        if lists:
            return next(iter(lists.values()))
    return []


def _by_column(held: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """Return the rows of columns, ``{"a": [1, 0]}`` or ``{"a": {"0": 1, "1": 0}}``."""
    columns = {
        name: list(one.values()) if isinstance(one, dict) else one for name, one in held.items()
    }
    keys = {tuple(one) for one in held.values() if isinstance(one, dict)}
    cells = [column for column in columns.values() if isinstance(column, list) and column]
    alike = len(cells) == len(held) and len({len(one) for one in cells}) == 1 and len(keys) <= 1
    # The same with rows outside, ``{"0": {"a": 1}}``, numbers the outer keys.
    numbered = all(name == str(place) for place, name in enumerate(held))
    if not alike or numbered or any(isinstance(c, dict | list) for one in cells for c in one):
        return list(held.values()) if numbered and len(keys) == 1 and len(held) > 1 else None
    return [dict(zip(columns, row, strict=True)) for row in zip(*cells, strict=True)]


# Rows become columns of text.


def _flat(row: dict[str, Any], place: str) -> dict[str, Any]:
    """Return the row with the fields of inner objects under dotted names.

    >>> _flat({"id": 1, "human": {"label": "a", "by": {"name": "ann"}}}, "line 1")
    {'id': 1, 'human.label': 'a', 'human.by.name': 'ann'}
    """
    if not any(type(value) is dict for value in row.values()):
        return row
    flat: dict[str, Any] = {}
    # A stack instead of recursion: objects may be nested as deep as the decoder allows.
    rest = list(reversed(row.items()))
    while rest:
        key, value = rest.pop()
        if type(value) is dict and len(flat) + len(rest) + len(value) <= _MOST_FIELDS:
            rest += [(f"{key}.{name}", inner) for name, inner in reversed(value.items())]
        elif key in flat:
            raise FileError(
                f"{place} has two fields that are called {key!r}, one of them in an object: rename"
                " one of them"
            )
        else:
            flat[key] = value
    return flat


def _spool(
    batch: list[dict[str, Any]],
    numbers: list[int],
    place: tuple[str, str],
    spool: Spool,
    columns: JsonColumns,
) -> None:
    unit, name = place
    for row in batch:
        if not row.keys() <= columns.seen.keys():
            for key in row:
                columns.seen.setdefault(key, {})
    keys, _ = check_names(tuple(columns.seen), name)
    if tuple(columns.seen) != keys:
        raise FileError(f"{name}, {unit} {numbers[0]}: a key is blank, so its column has no name")
    cells: list[Sequence[str | None]] = []
    for key, known in columns.seen.items():
        values = [row.get(key) for row in batch]
        kinds = set(map(type, values)) - {type(None)}
        for kind in kinds:
            word = _NAMES[kind]
            if kind is int and any(type(one) is int and abs(one) > _LARGEST for one in values):
                word = "an integer beyond 64 bits"
            if word not in known:
                first = next(i for i, value in enumerate(values) if type(value) is kind)
                known[word] = f"{unit} {numbers[first]} of {name}"
        cells.append(values if kinds <= {str} else [_written(value) for value in values])
    try:
        spool.add(keys, cells)
    except UnicodeEncodeError as error:
        raise FileError(
            f"{name} holds half of a surrogate pair, which is not text, in {unit} {numbers[0]} or"
            " below: correct it"
        ) from error


def _written(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return None if isinstance(value, dict | list) else repr(value)
