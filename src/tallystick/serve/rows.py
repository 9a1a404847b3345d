"""The rows of a stream as a table: what ``GET /rows`` sends and what questions read.

There is one reader for both, so a question by HTTP and the command line on the exported file see
the same cells.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
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


def pieces(
    reader: Reader, book: StreamBook, span: Span, *, details: bool = False
) -> Iterator[list[tuple[str | None, ...]]]:
    """Return the rows of a span as cells of text, in the order in which they came, in pieces.

    The reader is the one that read the book, and of `Store.snapshot`: words that came since would
    be missing in the book. With *details* the cells of `DETAILS` follow.
    """
    table, grades = book.table, list(book.table.grades.values())
    systems = table.has_systems
    patterns: dict[int, Cells] = {}
    marks = {one: [body.get(k) for k in table.slices] for one, body in book.slices.items()}
    for piece in _raw_rows(reader, book, span):
        absent = {one[4] for one in piece} - patterns.keys()
        for ident, codes in reader.by_id(CODES, absent):
            patterns[ident] = book.cells(bytes(codes))
        more = _details(reader, book.stream.id, [one[0] for one in piece]) if details else {}
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
            found.append((*row, *more.get(ident, ())))
        yield found


def _raw_rows(
    reader: Reader, book: StreamBook, span: Span
) -> Iterator[list[tuple[int, str, str, int, int, bytes | None]]]:
    """Return (id, item, system, slice, pattern, grades) of the rows of a span, in pieces."""
    where, values = span.condition("r")
    wanted = {ident for ident, body in book.slices.items() if span.holds(body)}
    columns = "r.id, r.item, r.system, r.slice, r.pattern, r.grades"
    sql = f"select {columns} from rows r where r.stream = ?{where} order by {reader.in_order()}"
    parameters: Sequence[Any] = (book.stream.id, *values)
    if span.last is not None:
        # The last rows of the slice, but in the order in which they came.
        sql = (
            f"select {columns} from (select r.* from rows r where r.stream = ? and r.slice in"
            f" ({_listed(wanted)}) order by {reader.in_order(last_first=True)} limit ?) r"
            " order by r.id"
        )
        parameters = (book.stream.id, span.last)
    for piece in reader.stream(sql, parameters):
        found: list[Any] = [one for one in piece if one[3] in wanted]
        if found:
            yield found


def _listed(numbers: Iterable[int]) -> str:
    """Write numbers as a list in SQL, which may not be empty."""
    return ", ".join(map(str, sorted(numbers))) or "-1"


DETAILS = ("at", "labelled_by", "labelled_at", "label_origin")
"""The hour of a row, who labelled it, when, and how it was chosen; people are separated by ';'."""


def _details(reader: Reader, stream: int, rows: Sequence[int]) -> dict[int, tuple[str | None, ...]]:
    """Return the cells of `DETAILS` of one piece of rows: few others lie between its ends."""
    ends = [stream, min(rows), max(rows)]
    people: dict[int, list[tuple[str, float, str]]] = {}
    for row, *label in reader.all(
        "select row_id, annotator, at, origin from label where stream = ? and row_id between ?"
        " and ? and current = 1 and value is not null order by id",
        ends,
    ):
        people.setdefault(row, []).append((str(label[0]), float(label[1]), str(label[2])))
    found: dict[int, tuple[str | None, ...]] = {}
    within = f"{reader.row_is('>=', ends[1])} and {reader.row_is('<=', ends[2])}"
    for row, bucket in reader.all(
        f"select r.id, r.bucket from rows r where r.stream = ? and {within}", (stream,)
    ):
        cells: tuple[str | None, ...] = (None, None, None)
        if row in people:
            names, times, origins = zip(*people[row], strict=True)
            cells = (";".join(names), _time(max(times)), ";".join(dict.fromkeys(origins)))
        found[row] = (_time(bucket * 3600.0), *cells)
    return found


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


# Between which rows the labels of a stream stand: what counts do not know.
#
# Labels on one block of rows speak for the others only if rows come in random order. The command
# line warns of that from the order of the rows, and so does a stream.


_GLANCE = 2_000
"""Rows at either end among which the outermost label usually is."""


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
    where, values = span.condition("r")
    inside = _listed(ident for ident, body in book.slices.items() if span.holds(body))
    of = f"from rows r where r.stream = ?{where} and r.slice in ({inside})"
    counted = book.counted

    def counts(row: int, pattern: int) -> bool:
        return pattern in labelled if counted is None else row in counted

    def ends() -> tuple[int, int] | None:
        """Return the outermost rows, by a look at every label."""
        found = reader.all(
            "select r.id, r.pattern from (select distinct row_id from label where stream = ?"
            f" and current = 1) l join rows r on {reader.row_is('=', 'l.row_id')}"
            f" where r.stream = ?{where} and r.slice in ({inside})",
            (book.stream.id, book.stream.id, *values),
        )
        held = [row for row, pattern in found if counts(row, pattern)]
        return (min(held), max(held)) if held else None

    far: tuple[int, int] | None = None
    places = []
    for side in (0, 1):
        near = reader.all(
            f"select r.id, r.pattern {of} order by {reader.in_order(last_first=side == 1)}"
            f" limit {_GLANCE}",
            (book.stream.id, *values),
        )
        place = next((n for n, row in enumerate(near, start=1) if counts(*row)), None)
        if place is None:
            far = far or ends()
            if far is None:
                return None
            beyond = f"{'<=' if side == 0 else '>='} {far[side]}"
            [(place,)] = reader.all(
                f"select count(*) {of} and r.id {beyond}", (book.stream.id, *values)
            )
        places.append(int(place))
    return places[0], rows + 1 - places[1]
