"""The rows of a stream as a table: what ``GET /rows`` sends and what questions read.

There is one reader for both, so a question by HTTP and the command line on
the exported file see the same cells.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from tallystick.serve.auth import Span
from tallystick.serve.chances import Chances, chances
from tallystick.serve.database import Reader
from tallystick.serve.ingest_write import unpack_grades
from tallystick.serve.streams import CODES, TRUTH, Codebook, StreamRecord

EVERYTHING = Span()

CHANCE = "probability"
"""The column with the probability with which a labelled row was drawn."""


@dataclass(frozen=True, kw_only=True)
class StreamTable:
    """The columns of a stream, and whether its rows have systems or chances."""

    votes: dict[str, int]
    grades: dict[str, int]
    slices: tuple[str, ...]
    has_truth: bool
    has_systems: bool
    has_chances: bool = False

    @property
    def columns(self) -> list[str]:
        """The columns of the exported table, in order."""
        names = ["item"]
        if self.has_systems:
            # Items repeat then, and a table needs one column that names its rows.
            names += ["row", "system"]
        names += [*self.votes, *self.grades, *self.slices]
        names += [TRUTH] if self.has_truth else []
        return [*names, CHANCE] if self.has_chances else names

    @property
    def item(self) -> str:
        """The column that names a row."""
        return "row" if self.has_systems else "item"


def has_systems(reader: Reader, stream: StreamRecord) -> bool:
    """Say whether a row of a stream names its system."""
    sql = "select 1 from slice where stream = ? and body like ? limit 1"
    return reader.value(sql, (stream.id, '%"system":%')) is not None


class StreamBook(Codebook):
    """Numbers back to words, as they are now: the cells of patterns and slices.

    Parameters
    ----------
    reader, stream
        Where they are.
    span
        The rows that are asked about, and which labels count.
    way
        Which labels count if the span does not say.
    """

    def __init__(
        self, reader: Reader, stream: StreamRecord, span: Span = EVERYTHING, *, way: str = "drawn"
    ) -> None:
        super().__init__(reader, stream)
        way = span.label_draw or way
        self.reader, self.stream, self.span = reader, stream, span
        self.chances = chances(reader, stream) if way != "all" else Chances()
        self.counted: dict[int, float] | None = None
        """Rows whose label counts, with their probability; None where every label does."""
        if self.chances.has_draws(span):
            self.counted = self.chances.counted(way, span)
        self.table = StreamTable(
            votes=self.columns["vote"],
            grades=self.columns["grade"],
            slices=tuple(self.columns["slice"]),
            has_truth=bool(self.columns["label"]),
            has_systems=has_systems(reader, stream),
            has_chances=self.counted is not None and way == "drawn",
        )
        bodies = reader.all("select id, body from slice where stream = ?", (stream.id,))
        self.slices: dict[int, dict[str, str]] = {one: json.loads(body) for one, body in bodies}
        self.inside = {one for one, body in self.slices.items() if span.holds(body)}
        """The slices that the span holds."""

    def chance_text(self, row: int) -> str | None:
        """Return the probability with which a labelled row was drawn, as text."""
        chance = (self.counted or {}).get(row)
        return None if chance is None else number_text(chance)


def number_text(value: float) -> str:
    """Write a grade the shortest way that reads back as the same number.

    >>> number_text(1.0), number_text(0.1), number_text(-2e-9)
    ('1', '0.1', '-2e-09')
    """
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def pieces(book: StreamBook) -> Iterator[list[tuple[str | None, ...]]]:
    """Return the rows of a book's span as cells of text, in pieces, in the order of arrival.

    The reader of the book is of `Store.snapshot`: words that came since would be missing in it.
    """
    table, grades = book.table, list(book.table.grades.values())
    systems = table.has_systems
    patterns: dict[int, tuple[tuple[str | None, ...], str | None]] = {}
    marks = {one: [body.get(k) for k in table.slices] for one, body in book.slices.items()}
    for piece in _raw_rows(book):
        absent = {one[4] for one in piece} - patterns.keys()
        for ident, codes in book.reader.by_id(CODES, absent):
            patterns[ident] = book.cells(bytes(codes))
        found = []
        for ident, item, system, slice_, pattern, packed in piece:
            votes, truth = patterns[pattern]
            row = [item, str(ident), system or None, *votes] if systems else [item, *votes]
            if grades:
                held = unpack_grades(packed)
                row += [number_text(held[one]) if one in held else None for one in grades]
            row += marks[slice_]
            if table.has_truth:
                row.append(truth if book.counted is None or ident in book.counted else None)
            if table.has_chances:
                row.append(book.chance_text(ident))
            found.append(tuple(row))
        yield found


def _raw_rows(book: StreamBook) -> Iterator[list[tuple[int, str, str, int, int, bytes | None]]]:
    """Return (id, item, system, slice, pattern, grades) of the rows of a span, in pieces."""
    reader, span = book.reader, book.span
    where, values = span.condition("r")
    order, parameters = reader.in_order(), [book.stream.id, *values]
    source = f"rows r where r.stream = ?{where}"
    if span.last is not None:
        # The last rows of the slice, but in the order in which they came.
        source = (
            f"(select r.* from rows r where r.stream = ? and r.slice in ({_listed(book.inside)})"
            f" order by {reader.in_order(last_first=True)} limit {span.last}) r"
        )
        order, parameters = "r.id", [book.stream.id]
    sql = f"select r.id, r.item, r.system, r.slice, r.pattern, r.grades from {source}"
    sql += f" order by {order}"
    for piece in reader.stream(sql, parameters):
        found: list[Any] = [one for one in piece if one[3] in book.inside]
        if found:
            yield found


def _listed(numbers: Iterable[int]) -> str:
    """Write numbers as a list in SQL, which may not be empty."""
    return ", ".join(map(str, sorted(numbers))) or "-1"


# Between which rows the labels of a stream stand: what counts do not know.
#
# Labels on one block of rows speak for the others only if rows come in random
# order. The command line warns of that from the order of the rows, and so
# does a stream.


def label_rows(book: StreamBook, labelled: Iterable[int], rows: int) -> tuple[int, int] | None:
    """Return the first and the last row of a span with a label that counts, from 1; None if none.

    Parameters
    ----------
    book
        Which rows.
    labelled
        The patterns with a label.
    rows
        How many rows the span has.
    """
    reader = book.reader
    where, values = book.span.condition("r")
    given = (book.stream.id, *values)
    of = f"from rows r where r.stream = ?{where} and r.slice in ({_listed(book.inside)})"
    if book.counted is None:
        # A labelled row is soon met from either end, unless all labels lie in the middle.
        marked = f"select r.id {of} and r.pattern in ({_listed(labelled)}) order by"
        found = [
            reader.one(f"{marked} {reader.in_order(last_first=last)} limit 1", given)
            for last in (False, True)
        ]
        ends = [row[0] for row in found if row is not None]
    else:
        known = book.chances.rows
        ends = [one for one in book.counted if known[one].slice in book.inside]
    if not ends:
        return None
    before, after = (
        int(reader.value(f"select count(*) {of} and {reader.row_is(*beyond)}", given))
        for beyond in (("<", min(ends)), (">", max(ends)))
    )
    return before + 1, rows - after
