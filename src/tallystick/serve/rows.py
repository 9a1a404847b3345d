"""The rows of a stream as a table: what ``GET /rows`` sends and what questions read.

There is one reader for both, so a question by HTTP and the command line on the exported file see
the same cells.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from tallystick.serve.auth import Span
from tallystick.serve.database import Reader
from tallystick.serve.ingest import CODES, TRUTH, unpack_codes
from tallystick.serve.ingest_write import unpack_grades
from tallystick.serve.queue import Chances, chances
from tallystick.serve.streams import StreamRecord

EVERYTHING = Span()

Cells: TypeAlias = tuple[tuple[str | None, ...], str | None]
"""The votes of a pattern, column by column, and its truth."""

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


def table_of_stream(reader: Reader, stream: StreamRecord) -> StreamTable:
    """Return the columns of a stream."""
    kinds: dict[str, dict[str, int]] = {"vote": {}, "grade": {}, "slice": {}, "label": {}}
    for ident, name, kind in reader.all(
        "select id, name, kind from stream_column where stream = ? order by id", (stream.id,)
    ):
        kinds[kind][name] = ident
    found = reader.one(
        "select 1 from slice where stream = ? and body like ? limit 1", (stream.id, '%"system":%')
    )
    return StreamTable(
        votes=kinds["vote"],
        grades=kinds["grade"],
        slices=tuple(kinds["slice"]),
        has_truth=bool(kinds["label"]),
        has_systems=found is not None,
    )


class StreamBook:
    """Numbers back to words: the cells of patterns and slices."""

    def __init__(self, reader: Reader, stream: StreamRecord, span: Span, way: str) -> None:
        self.stream = stream
        self.table = table_of_stream(reader, stream)
        self.chances = chances(reader, stream) if way != "all" else Chances()
        self.counted: dict[int, float] | None = None
        """Rows whose label counts, with their probability; None where every label does."""
        if self.chances.has_draws(span):
            self.counted = self.chances.counted(way, span)
            self.table = replace(self.table, has_chances=way == "drawn")
        self._places = {ident: k for k, ident in enumerate(self.table.votes.values())}
        self._words: dict[int, tuple[int | None, str]] = {}
        for code, column, label in reader.all(
            "select c.id, c.stream_column, c.label from label_code c join stream_column s"
            " on s.id = c.stream_column where s.stream = ?",
            (stream.id,),
        ):
            self._words[code] = (self._places.get(column), label)
        self.slices = slices_of(reader, stream)

    def cells(self, codes: bytes) -> Cells:
        """Return the votes of a pattern, column by column, and its truth."""
        votes: list[str | None] = [None] * len(self._places)
        truth: str | None = None
        for code in unpack_codes(codes):
            place, word = self._words[code]
            if place is None:
                truth = word
            else:
                votes[place] = word
        return tuple(votes), truth

    def chance_text(self, row: int) -> str | None:
        """Return the probability with which a labelled row was drawn, as text."""
        chance = (self.counted or {}).get(row)
        return None if chance is None else number_text(chance)


def slices_of(reader: Reader, stream: StreamRecord) -> dict[int, dict[str, str]]:
    """Return the slices of a stream by number."""
    rows = reader.all("select id, body from slice where stream = ?", (stream.id,))
    return {ident: json.loads(body) for ident, body in rows}


def book_of(
    reader: Reader, stream: StreamRecord, span: Span = EVERYTHING, *, way: str = "drawn"
) -> StreamBook:
    """Return the words of a stream as they are now.

    Parameters
    ----------
    reader, stream
        Where they are.
    span
        The rows that are asked about, and which labels count.
    way
        Which labels count if the span does not say.
    """
    return StreamBook(reader, stream, span, span.label_draw or way)


def number_text(value: float) -> str:
    """Write a grade the shortest way that reads back as the same number.

    >>> number_text(1.0), number_text(0.1), number_text(-2e-9)
    ('1', '0.1', '-2e-09')
    """
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def raw_rows(
    reader: Reader, book: StreamBook, span: Span
) -> Iterator[list[tuple[int, str, str, int, int, bytes | None]]]:
    """Return (id, item, system, slice, pattern, grades) of the rows of a span, in pieces.

    They come in the order in which they arrived.
    """
    where, values = span.condition("r")
    wanted = {ident for ident, body in book.slices.items() if span.holds(body)}
    sql = (
        "select r.id, r.item, r.system, r.slice, r.pattern, r.grades from rows r"
        f" where r.stream = ?{where} order by {reader.in_order()}"
    )
    parameters: Sequence[Any] = (book.stream.id, *values)
    if span.last is not None:
        # The last rows of the slice, but in the order in which they came.
        marks = ", ".join(map(str, sorted(wanted))) or "-1"
        sql = (
            "select id, item, system, slice, pattern, grades from (select r.* from rows r"
            f" where r.stream = ? and r.slice in ({marks})"
            f" order by {reader.in_order(last_first=True)} limit ?) t order by id"
        )
        parameters = (book.stream.id, span.last)
    for piece in reader.stream(sql, parameters):
        found: list[Any] = [one for one in piece if one[3] in wanted]
        if found:
            yield found


def pieces(reader: Reader, book: StreamBook, span: Span) -> Iterator[list[tuple[str | None, ...]]]:
    """Return the rows of a span as cells of text, in the order in which they came, in pieces.

    The reader is the one that read the book, and of `Store.snapshot`: words that came since would
    be missing in the book.
    """
    patterns: dict[int, Cells] = {}
    for piece in raw_rows(reader, book, span):
        yield row_cells(reader, book, piece, patterns)


def row_cells(
    reader: Reader,
    book: StreamBook,
    piece: Sequence[tuple[int, str, str, int, int, bytes | None]],
    patterns: dict[int, Cells],
) -> list[tuple[str | None, ...]]:
    """Return rows of `raw_rows` as cells of text; *patterns* remembers what was read."""
    table = book.table
    grades = list(table.grades.values())
    learn(reader, book, {one[4] for one in piece}, patterns)
    found = []
    for ident, item, system, slice_, pattern, packed in piece:
        votes, truth = patterns[pattern]
        cells: tuple[str | None, ...] = (item,)
        if table.has_systems:
            cells += (str(ident), system or None)
        cells += votes
        if grades:
            cells += grade_texts(packed, grades)
        if table.slices:
            body = book.slices[slice_]
            cells += tuple(body.get(name) for name in table.slices)
        if book.counted is not None and ident not in book.counted:
            truth = None
        if table.has_truth:
            cells += (truth,)
        if table.has_chances:
            cells += (book.chance_text(ident),)
        found.append(cells)
    return found


def grade_texts(packed: bytes | None, grades: Sequence[int]) -> tuple[str | None, ...]:
    """Return the grades of a row as text, column by column."""
    held = unpack_grades(bytes(packed) if packed is not None else None)
    return tuple(number_text(held[one]) if one in held else None for one in grades)


def learn(reader: Reader, book: StreamBook, wanted: set[int], patterns: dict[int, Cells]) -> None:
    """Read the cells of patterns that were not seen before."""
    for ident, codes in reader.by_id(CODES, wanted - patterns.keys()):
        patterns[ident] = book.cells(bytes(codes))


# Between which rows the labels of a stream stand: what counts do not know.
#
# Labels on one block of rows speak for the others only if rows come in random order. The command
# line warns of that from the order of the rows, and so does a stream.


_GLANCE = 2_000
"""Rows at either end among which the outermost label usually is."""

_AT_ONCE = 500


def label_rows(
    reader: Reader, book: StreamBook, span: Span, labelled: Collection[int], rows: int
) -> tuple[int, int] | None:
    """Return the first and the last row of a span with a label that counts, from 1; None if none.

    Parameters
    ----------
    reader, book, span
        Which rows.
    labelled
        The patterns with a label.
    rows
        How many rows the span has.
    """
    ends = []
    for order in ("asc", "desc"):
        place = _near(reader, book, span, labelled, order)
        ends.append(_far(reader, book, span, labelled, order) if place is None else place)
    first, last = ends
    return None if first is None or last is None else (first, rows + 1 - last)


def _wanted(book: StreamBook, span: Span) -> str:
    """Return the slices of a span as a list in SQL."""
    held = sorted(ident for ident, body in book.slices.items() if span.holds(body))
    return ", ".join(map(str, held)) or "-1"


def _counts(book: StreamBook, row: int, pattern: int, labelled: Collection[int]) -> bool:
    return row in book.counted if book.counted is not None else pattern in labelled


def _near(
    reader: Reader, book: StreamBook, span: Span, labelled: Collection[int], order: str
) -> int | None:
    """Return the place of the outermost label if it is near its end, counted from that end."""
    where, values = span.condition("r")
    found = reader.all(
        f"select r.id, r.pattern from rows r where r.stream = ?{where} and r.slice in"
        f" ({_wanted(book, span)}) order by {reader.in_order(last_first=order == 'desc')}"
        f" limit {_GLANCE}",
        (book.stream.id, *values),
    )
    places = enumerate(found, start=1)
    return next((n for n, (row, pattern) in places if _counts(book, row, pattern, labelled)), None)


def _far(
    reader: Reader, book: StreamBook, span: Span, labelled: Collection[int], order: str
) -> int | None:
    """Return the same where it is far from its end, by a look at all rows of the span."""
    where, values = span.condition()
    wanted = _wanted(book, span)
    outermost, beyond = ("min", "<=") if order == "asc" else ("max", ">=")
    found: list[Any] = []
    if book.counted is not None:
        held = (book.chances.rows[row] for row in book.counted)
        found = [one.id for one in held if span.holds(book.slices[one.slice])]
    else:
        numbers = sorted(labelled)
        for start in range(0, len(numbers), _AT_ONCE):
            marks = ", ".join(map(str, numbers[start : start + _AT_ONCE]))
            [(row,)] = reader.all(
                f"select {outermost}(id) from rows where stream = ?{where} and pattern in ({marks})"
                f" and slice in ({wanted})",
                (book.stream.id, *values),
            )
            found += [row] if row is not None else []
    if not found:
        return None
    end = min(found) if order == "asc" else max(found)
    [(place,)] = reader.all(
        f"select count(*) from rows where stream = ?{where} and slice in ({wanted})"
        f" and id {beyond} ?",
        (book.stream.id, *values, end),
    )
    return int(place)
