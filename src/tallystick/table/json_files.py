"""JSON objects as rows, one per line (NDJSON) or the entries of one array, with their types.

Cells are spooled as text and cast on the way out, once the types of the whole column are known: a
column of integers comes as BIGINT, of numbers as DOUBLE, of strings as VARCHAR, of booleans as
BOOLEAN. NaN is missing. The fields of an object inside a row become columns with dotted names:
``{"human": {"label": 1}}`` has the column ``human.label``.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import IO, Any

from tallystick.errors import FileError
from tallystick.table.cells import identifier
from tallystick.table.formats import MAX_LINE, CheckedText
from tallystick.table.sources import BATCH, Spool, check_names
from tallystick.table.tables import Part

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

_MOST_FIELDS = 1_000
"""Fields of one row up to which its objects are opened: one with more is a table of its own. Over
all rows, the fields of one key."""


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
                f"column {key!r} holds {kinds[0]} at {self.seen[key][kinds[0]]}: write one row per"
                " value, or one key for the value that you mean"
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
    inside = _inside(text)
    if inside is not None:
        found = _spooled(enumerate(inside, start=1), Places("entry", text.name), spool, columns)
        return Part(text.name, found)
    blank = False

    def each() -> Iterator[tuple[int, dict[str, Any]]]:
        nonlocal blank
        with text.path.open(encoding="utf-8-sig", newline="\n") as stream:
            for number, line in enumerate(stream, start=1):
                if line.isspace():
                    blank = True
                    continue
                yield number, _object(line, number, text.name)

    rows = _spooled(each(), Places("line", text.name), spool, columns)
    return Part(text.name, rows, None if blank else 1)


_MOST_WHOLE = 64_000_000
"""Signs of a file that is read as one object."""


def _inside(text: CheckedText) -> list[dict[str, Any]] | None:
    """Return the rows inside one object: its only list of objects, or one list per column."""
    with text.path.open(encoding="utf-8-sig") as stream:
        whole = stream.read(_MOST_WHOLE)
        if len(whole) == _MOST_WHOLE:
            return None
    try:
        held, end = FAST.raw_decode(whole.lstrip())
    except (ValueError, RecursionError):  # lines are read one by one, and say which is broken
        return None
    if not isinstance(held, dict) or whole.lstrip()[end:].strip():
        return None
    lists = {name: one for name, one in held.items() if isinstance(one, list) and one}
    rows = [one for one in lists.values() if all(isinstance(row, dict) for row in one)]
    if len(rows) == 1:
        return rows[0]
    same = len({len(one) for one in lists.values()}) == 1 and len(lists) == len(held)
    plain = all(not isinstance(cell, dict | list) for one in lists.values() for cell in one)
    if not lists or not same or not plain:
        return None
    return [dict(zip(lists, cells, strict=True)) for cells in zip(*lists.values(), strict=True)]


def read_json_array(text: CheckedText, spool: Spool, columns: JsonColumns) -> Part:
    """Write every entry of the one array in *text* to *spool*, a piece of the file at a time."""
    rows = _spooled(entries(text), Places("entry", text.name), spool, columns)
    return Part(text.name, rows)


@dataclass(frozen=True)
class Places:
    """How messages say where a row stands: ``line 3 of votes.ndjson``, ``entry 3 of votes.json``.

    Parameters
    ----------
    unit
        ``line`` or ``entry``.
    name
        How messages call the file.
    """

    unit: str
    name: str

    def within(self, number: int) -> str:
        """Return the start of a sentence about this row."""
        return f"{self.name}, {self.unit} {number}"


def _spooled(
    rows: Iterator[tuple[int, dict[str, Any]]],
    places: Places,
    spool: Spool,
    columns: JsonColumns,
) -> int:
    """Write numbered objects in batches; return how many there were."""
    before = spool.rows
    while batch := list(islice(rows, BATCH)):
        flat = [_flat(row, number, places) for number, row in batch]
        _flush(flat, [number for number, _ in batch], places, spool, columns)
    if spool.rows == before:
        raise FileError(f"{places.name} has no rows: nothing to count")
    return spool.rows - before


def _flat(row: dict[str, Any], number: int, places: Places) -> dict[str, Any]:
    """Return the row with the fields of inner objects under dotted names.

    >>> _flat({"id": 1, "human": {"label": "a", "by": {"name": "ann"}}}, 1, Places("line", "f"))
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
                f"{places.within(number)} has two fields that are called {key!r}, one of them in an"
                " object: rename one of them"
            )
        else:
            flat[key] = value
    return flat


def _refuse_maps(keys: Iterable[str], place: str) -> None:
    """Refuse objects with other fields in every row: their fields are items, not columns."""
    inside = Counter(key.partition(".")[0] for key in keys if "." in key)
    for name, number in inside.most_common(1):
        if number > _MOST_FIELDS:
            raise FileError(
                f"{place}: the objects under {name!r} have {number:,} different fields by now, so"
                " they are no columns: write one row per field, or leave that key out"
            )


def _object(text: str, number: int, name: str) -> dict[str, Any]:
    line = text.strip()
    try:
        value = FAST.decode(line)
        # perhaps a key twice, which a dict hides
        if not isinstance(value, dict) or line.count(":") > len(value):
            value = EXACT.decode(line)
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


def _flush(
    batch: list[dict[str, Any]],
    numbers: list[int],
    places: Places,
    spool: Spool,
    columns: JsonColumns,
) -> None:
    for row in batch:
        if not row.keys() <= columns.seen.keys():
            for key in row:
                columns.seen.setdefault(key, {})
    if len(columns.seen) > _MOST_FIELDS:
        _refuse_maps(columns.seen, places.within(numbers[0]))
    keys, _ = check_names(tuple(columns.seen), places.name)
    if tuple(columns.seen) != keys:
        raise FileError(f"{places.within(numbers[0])}: a key is blank, so its column has no name")
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
                columns.note(key, word, f"{places.unit} {numbers[first]} of {places.name}")
        cells.append(values if kinds <= {str} else [_written(value) for value in values])
    try:
        spool.add(keys, cells)
    except UnicodeEncodeError as error:
        at = next(i for i, row in enumerate(batch) if not _is_text(row))
        raise FileError(
            f"{places.within(numbers[at])} holds half of a surrogate pair, which is not text:"
            f" correct the {places.unit} or remove it"
        ) from error


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


# One JSON array, ``[{"item": …}, …]``: its entries one at a time, however large the file is.
#
# A piece of the text is held at a time. An entry that the piece cuts off is read again with more
# text, and the piece doubles, so that long entries cost no more than twice their length.


PIECE = 1 << 20
"""Characters that are read at a time."""
_SPACE = re.compile(r"[ \t\r\n]*")
_CUT = 16
"""An error this close to the end of a piece may be a word or an escape that was cut off."""


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"key {twice!r} occurs twice in one object")
    return value


def _constant(word: str) -> float | None:
    return None if word == "NaN" else float(word)


FAST = json.JSONDecoder(parse_constant=_constant)
"""Reads a value; NaN is missing, and of a key that occurs twice the last value wins."""
EXACT = json.JSONDecoder(parse_constant=_constant, object_pairs_hook=_pairs)
"""The same, but a key that occurs twice is refused."""


def entries(text: CheckedText) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the number and the object of each entry of the array in *text*."""
    with text.path.open(encoding="utf-8-sig") as stream:
        rest = _Rest(stream, text.name)
        rest.expect("[", "the file is not one JSON array")
        number = 0
        if rest.next() == "]":
            rest.skip()
        else:
            while True:
                number += 1
                yield number, rest.object(number)
                sign = rest.next()
                rest.skip()
                if sign == "]":
                    break
                if sign != ",":
                    raise FileError(_broken(text.name, number, sign))
        if extra := rest.next():
            raise FileError(
                f"{text.name} goes on after its array, with {extra!r}: keep one array in a file"
            )


def _broken(name: str, number: int, sign: str) -> str:
    if not sign:
        return f"{name} breaks off after entry {number:,}: copy or write it again"
    return f"{name}, entry {number} is followed by {sign!r}, where a comma or ] belongs: correct it"


class _Rest:
    """What is left of the text: a piece in memory, and the stream that it came from."""

    def __init__(self, stream: IO[str], name: str) -> None:
        self.stream, self.name = stream, name
        self.piece, self.at = "", 0

    def next(self) -> str:
        """Return the next sign that is no space; nothing at the end."""
        while True:
            found = _SPACE.match(self.piece, self.at)
            self.at = found.end() if found is not None else self.at
            if self.at < len(self.piece):
                return self.piece[self.at]
            if not self._more(PIECE):
                return ""

    def skip(self) -> None:
        """Go past one sign."""
        self.at += 1

    def expect(self, sign: str, otherwise: str) -> None:
        """Go past this sign, or refuse the file."""
        if self.next() != sign:
            raise FileError(f"{self.name}: {otherwise}")
        self.skip()

    def object(self, number: int) -> dict[str, Any]:
        """Return the object that comes next, and go past it."""
        first = self.next()
        if first != "{":
            start = self.piece[self.at : self.at + 40]
            raise FileError(
                _broken(self.name, number - 1, "")
                if not first
                else f"{self.name}, entry {number} is {start!r}, not an object:"
                " write {'column': value, …}"
            )
        while True:
            try:
                value, end = FAST.raw_decode(self.piece, self.at)
                # perhaps a key twice, which a dict hides
                if self.piece.count(":", self.at, end) > len(value):
                    value, end = EXACT.raw_decode(self.piece, self.at)
            except json.JSONDecodeError as error:
                if self._cut(error) and self._more(max(PIECE, len(self.piece) - self.at)):
                    continue
                line = self.piece.count("\n", self.at, error.pos) + 1
                raise FileError(
                    f"{self.name}, entry {number} is not one JSON object ({error.msg} in line"
                    f" {line} of the entry): complete the entry or remove it"
                ) from error
            except (ValueError, RecursionError) as error:
                raise FileError(
                    f"{self.name}, entry {number} cannot be read ({error}): correct the entry or"
                    " remove it"
                ) from error
            self.at = end
            return dict(value)

    def _cut(self, error: json.JSONDecodeError) -> bool:
        """Say whether the end of the piece, and not the text, may be what is wrong."""
        near = error.pos >= len(self.piece) - _CUT
        return near or error.msg.startswith("Unterminated string")

    def _more(self, number: int) -> bool:
        """Drop what is read and append text; False at the end of the file."""
        if len(self.piece) - self.at > MAX_LINE:
            raise FileError(
                f"{self.name}: one entry is longer than {MAX_LINE >> 20} MB: this is not a table"
            )
        new = self.stream.read(number)
        self.piece, self.at = self.piece[self.at :] + new, 0
        return bool(new)
