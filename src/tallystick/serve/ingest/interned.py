"""What the writer remembers of a stream: columns, labels, patterns and slices by number.

Everything here is in the database too; the memory is bounded, and dropped whenever something is
undone, because a number that was rolled back was never given.
"""

from __future__ import annotations

import difflib
import json
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tallystick.serve.ingest.places import RowPlaces
from tallystick.serve.problem import Fix
from tallystick.serve.settings import StreamRecord
from tallystick.serve.store import Transaction
from tallystick.serve.streams import name_problem

__all__ = ["TRUTH", "Interned", "Refused", "pack_codes", "unpack_codes", "word_of"]

TRUTH = "label"
"""The column of the truth."""

MOST_COLUMNS = 256
MOST_LABELS = 64
_MOST_TEXT = 256
_MOST_KEPT = 100_000


class Refused(Exception):
    """A record cannot be kept: what is wrong, and with which status it is answered."""

    def __init__(self, status: int, fix: Fix) -> None:
        super().__init__(fix.way_out)
        self.status = status
        self.fix = fix


def pack_codes(codes: Sequence[int]) -> bytes:
    """Write label codes as four bytes each."""
    return struct.pack(f"<{len(codes)}I", *codes)


def unpack_codes(packed: bytes) -> tuple[int, ...]:
    """Read label codes.

    >>> unpack_codes(pack_codes((3, 70_000)))
    (3, 70000)
    """
    return struct.unpack(f"<{len(packed) // 4}I", packed)


def word_of(value: str | int | bool) -> str:
    """Return a vote as the word that a table would hold.

    >>> word_of(True), word_of(1), word_of(" pass ")
    ('true', '1', 'pass')
    """
    if isinstance(value, str):
        return value.strip()
    return str(value).lower() if isinstance(value, bool) else str(value)


class Interned:
    """The numbers of one stream."""

    def __init__(self, stream: int, salt: bytes) -> None:
        self.stream = stream
        self.places = RowPlaces(salt)
        self.columns: dict[str, tuple[int, str]] = {}
        self.codes: dict[tuple[str, Any], int] = {}
        self.column_of: dict[int, int] = {}
        self._labels: dict[int, dict[str, int]] = {}
        self._patterns: dict[bytes, int] = {}
        self._packed: dict[int, bytes] = {}
        # Both are asked once per record: the methods of the dictionaries themselves are quicker.
        self.pattern: Callable[[bytes], int] = self._patterns.__getitem__
        """Return the number of a pattern that `learn` or `packed` has learnt."""
        self.codes_of: Callable[[int], bytes] = self._packed.__getitem__
        """Return the codes of a pattern that `packed` has learnt."""
        self._slices: dict[str, int] = {}
        self._systems: dict[str, int] = {}
        self._bodies: dict[int, dict[str, str]] = {}
        self.steps: dict[tuple[Any, ...], bytes] = {}
        """(pattern, column, value) to the pattern with that vote: most votes repeat."""
        self.slice_steps: dict[tuple[Any, ...], int] = {}
        self._loaded = False

    def load(self, transaction: Transaction) -> None:
        """Read the columns and labels, once."""
        if self._loaded:
            return
        for ident, name, kind in transaction.all(
            "select id, name, kind from stream_column where stream = ? order by id", (self.stream,)
        ):
            self.columns[name] = (ident, kind)
        for code, column, label in transaction.all(
            "select c.id, c.stream_column, c.label from label_code c join stream_column s"
            " on s.id = c.stream_column where s.stream = ?",
            (self.stream,),
        ):
            self._labels.setdefault(column, {})[label] = code
            self.column_of[code] = column
        self._loaded = True

    # -- columns and labels

    def column(self, transaction: Transaction, stream: StreamRecord, name: str, kind: str) -> int:
        """Return the number of a column, making it where the stream allows new ones."""
        known = self.columns.get(name)
        if known is None:
            known = self._new_column(transaction, stream, name, kind)
        if known[1] != kind:
            way = f"column {name!r} holds {known[1]}s in this stream: use another name"
            raise Refused(422, Fix(column=name, way_out=way))
        return known[0]

    def _new_column(
        self, transaction: Transaction, stream: StreamRecord, name: str, kind: str
    ) -> tuple[int, str]:
        if kind != "label":
            why = name_problem(name, self.columns)
            if why is not None:
                raise Refused(422, Fix(column=name[:64], way_out=why))
            if not stream.settings.is_open:
                near = difflib.get_close_matches(name, list(self.columns), n=1)
                hint = f"did you mean {near[0]!r}? Otherwise " if near else ""
                way = f"{hint}declare it under columns, or set open to true"
                raise Refused(422, Fix(column=name, value=name, way_out=way))
            if len(self.columns) >= MOST_COLUMNS:
                raise Refused(422, Fix(column=name, way_out=f"at most {MOST_COLUMNS} columns"))
        ident = self._number(
            transaction,
            "insert into stream_column (stream, name, kind) values (?, ?, ?)"
            " on conflict (stream, name) do nothing returning id",
            (self.stream, name, kind),
            ("select id from stream_column where stream = ? and name = ?", (self.stream, name)),
        )
        self.columns[name] = (ident, kind)
        return ident, kind

    def code(
        self, transaction: Transaction, stream: StreamRecord, name: str, value: Any, kind: str
    ) -> int:
        """Return the number of a label in a column."""
        column = self.column(transaction, stream, name, kind)
        word = word_of(value)
        labels = self._labels.setdefault(column, {})
        code = labels.get(word)
        if code is None:
            code = self._new_label(transaction, stream, name, word)
        # True and 1 are one key to Python, so the kind of the value stands beside it.
        self.codes[(name, (value.__class__, value))] = code
        if len(self.codes) > _MOST_KEPT:
            self.codes.clear()
        return code

    def _new_label(
        self, transaction: Transaction, stream: StreamRecord, name: str, word: str
    ) -> int:
        column = self.columns[name][0]
        labels = self._labels[column]
        if not word:
            raise Refused(422, Fix(column=name, way_out="a blank is not a vote: leave it out"))
        if len(word.encode()) > _MOST_TEXT:
            way = "a label has at most 256 bytes: texts are not votes"
            raise Refused(422, Fix(column=name, value=word[:64], way_out=way))
        if stream.settings.labels and word not in stream.settings.labels:
            near = difflib.get_close_matches(word, stream.settings.labels, n=1)
            hint = f"did you mean {near[0]!r}? " if near else ""
            way = f"{hint}this stream takes {', '.join(stream.settings.labels[:12])}"
            raise Refused(422, Fix(column=name, value=word, way_out=way))
        if len(labels) >= MOST_LABELS:
            way = f"a column has at most {MOST_LABELS} labels: send numbers as grades"
            raise Refused(422, Fix(column=name, value=word, way_out=way))
        code = self._number(
            transaction,
            "insert into label_code (stream_column, label) values (?, ?)"
            " on conflict (stream_column, label) do nothing returning id",
            (column, word),
            ("select id from label_code where stream_column = ? and label = ?", (column, word)),
        )
        labels[word] = code
        self.column_of[code] = column
        return code

    @staticmethod
    def _number(transaction: Transaction, insert: str, values: Any, again: tuple[str, Any]) -> int:
        """Insert and return the id; another process may have been first."""
        found = transaction.one(insert, values) or transaction.one(*again)
        if found is None:
            raise RuntimeError("a number was neither given nor found")
        return int(found[0])

    # -- patterns

    def step(
        self,
        transaction: Transaction,
        stream: StreamRecord,
        pattern: bytes,
        name: str,
        value: Any,
        replace: bool,
        kind: str = "vote",
    ) -> bytes:
        """Return *pattern* with a vote set: a register, and another value needs leave."""
        key = (name, (value.__class__, value))
        code = self.codes.get(key)
        if code is None:
            code = self.code(transaction, stream, name, value, kind)
        column = self.column_of.get(code)
        if column is None:
            column = self.column_of[code] = self.columns[name][0]
        codes = list(unpack_codes(pattern))
        for place, held in enumerate(codes):
            if self._column(transaction, held) == column:
                if held == code:
                    return pattern
                if not replace:
                    way = (
                        f"the row has {self._word(transaction, held)!r} here: send 'replace': true"
                        " to change it"
                    )
                    raise Refused(409, Fix(column=name, value=word_of(value), way_out=way))
                codes[place] = code
                return pack_codes(sorted(codes))
        return pack_codes(sorted([*codes, code]))

    def without(self, transaction: Transaction, pattern: bytes, name: str) -> bytes:
        """Return *pattern* without the vote of a column."""
        known = self.columns.get(name)
        if known is None:
            return pattern
        kept = [one for one in unpack_codes(pattern) if self._column(transaction, one) != known[0]]
        return pack_codes(kept)

    def _column(self, transaction: Transaction, code: int) -> int:
        column = self.column_of.get(code)
        if column is None:  # another process gave this number
            found = transaction.one("select stream_column from label_code where id = ?", (code,))
            column = self.column_of[code] = int(found[0]) if found is not None else -1
        return column

    def _word(self, transaction: Transaction, code: int) -> str:
        found = transaction.one("select label from label_code where id = ?", (code,))
        return str(found[0]) if found is not None else ""

    def packed(self, transaction: Transaction, patterns: Iterable[int]) -> None:
        """Learn the codes of patterns that rows have, for `codes_of`."""
        absent = [one for one in set(patterns) if one not in self._packed]
        for start in range(0, len(absent), 500):
            part = absent[start : start + 500]
            marks = ", ".join("?" * len(part))
            for ident, codes in transaction.all(
                f"select id, codes from pattern where id in ({marks})", part
            ):
                self._keep(ident, bytes(codes))

    def learn(self, transaction: Transaction, patterns: Iterable[bytes]) -> None:
        """Give patterns their numbers, for `pattern`."""
        absent = [one for one in set(patterns) if one not in self._patterns]
        if not absent:
            return
        # Another process may have been first, so the numbers are read and not returned.
        transaction.many(
            "insert into pattern (stream, codes) values (?, ?) on conflict (stream, codes)"
            " do nothing",
            [(self.stream, one) for one in sorted(absent)],
        )
        for start in range(0, len(absent), 500):
            part = absent[start : start + 500]
            marks = ", ".join("?" * len(part))
            for ident, codes in transaction.all(
                f"select id, codes from pattern where stream = ? and codes in ({marks})",
                [self.stream, *part],
            ):
                self._keep(ident, bytes(codes))

    def _keep(self, ident: int, codes: bytes) -> None:
        self._patterns[codes] = ident
        self._packed[ident] = codes

    def shrink(self) -> None:
        """Forget patterns when there are many: the memory is bounded, the database has them all."""
        if len(self._patterns) > _MOST_KEPT:
            self._patterns.clear()
            self._packed.clear()
        if len(self.places) > _MOST_KEPT // 2:
            self.places.clear()
        if len(self.steps) > _MOST_KEPT:
            self.steps.clear()
        if len(self._slices) > _MOST_KEPT or len(self.slice_steps) > _MOST_KEPT:
            self._slices.clear()
            self._systems.clear()
            self._bodies.clear()
            self.slice_steps.clear()

    # -- slices

    def slice_of_system(self, transaction: Transaction, system: str) -> int:
        """Return the number of the slice that a new row of a system is in."""
        found = self._systems.get(system)
        if found is None:
            found = self.slice(transaction, {"system": system} if system else {})
            self._systems[system] = found
        return found

    def slice(self, transaction: Transaction, body: Mapping[str, str]) -> int:
        """Return the number of a slice."""
        text = json.dumps(dict(sorted(body.items())), ensure_ascii=False, separators=(",", ":"))
        ident = self._slices.get(text)
        if ident is None:
            ident = self._number(
                transaction,
                "insert into slice (stream, body) values (?, ?)"
                " on conflict (stream, body) do nothing returning id",
                (self.stream, text),
                ("select id from slice where stream = ? and body = ?", (self.stream, text)),
            )
            self._slices[text] = ident
            self._bodies[ident] = dict(body)
        return ident

    def slice_step(
        self,
        transaction: Transaction,
        stream: StreamRecord,
        slice_: int,
        given: Mapping[str, Any],
        replace: bool,
    ) -> int:
        """Return the slice of a row after a record named some of its columns."""
        body = self._bodies.get(slice_)
        if body is None:
            found = transaction.one("select body from slice where id = ?", (slice_,))
            body = self._bodies[slice_] = json.loads(found[0]) if found is not None else {}
        after = dict(body)
        for name, value in given.items():
            self.column(transaction, stream, name, "slice")
            word = word_of(value)
            if not word or len(word.encode()) > _MOST_TEXT:
                way = "a slice has 1 to 256 bytes: leave it out where there is none"
                raise Refused(422, Fix(column=name, value=word[:64], way_out=way))
            if after.get(name, word) != word and not replace:
                way = f"the row is in slice {after[name]!r}: send 'replace': true to change it"
                raise Refused(409, Fix(column=name, value=word, way_out=way))
            after[name] = word
        return self.slice(transaction, after)
