"""Answer a question about a stream: what the worker process does."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from tallystick.data import conclude, read
from tallystick.errors import InputError, NotIdentifiable
from tallystick.io import scan
from tallystick.results import Result
from tallystick.serve.question import arguments, call_of, counts_suffice, label_way
from tallystick.serve.rows import (
    Cells,
    StreamBook,
    StreamTable,
    book_of,
    grade_texts,
    learn,
    raw_rows,
)
from tallystick.serve.settings import find_stream
from tallystick.serve.span import Span
from tallystick.serve.store import Reader, Store
from tallystick.tally import Tally

if TYPE_CHECKING:
    from tallystick.cli.verb import Call

__all__ = ["StreamAnswer", "answer_stream", "arrow_rows", "stream_tally"]


@dataclass(frozen=True, kw_only=True)
class StreamAnswer:
    """What a stream answers: the result, or why there is none."""

    result: Result | None
    why: str
    as_of: int
    version: int
    command: str


def answer_stream(
    store: Store, name: str, verb: str, given: Mapping[str, Sequence[str]], span: Span
) -> StreamAnswer:
    """Ask *verb* about the rows of a span, as the command line would about their file."""
    with store.snapshot() as reader:
        stream = find_stream(reader, name)
        [(as_of,)] = reader.all(
            "select coalesce(max(seq), 0) from batch where stream = ?", (stream.id,)
        )
        book = book_of(reader, stream, span, way=label_way(verb))
        words = arguments(verb, book.table, stream.settings, given)
        call = call_of(verb, words)
        _check_columns(call, book.table, given)
        shared = {"as_of": as_of, "version": stream.version}
        command = shlex.join(["tallystick", verb, "rows.csv", *words])
        source = _source(reader, book, call, span)
    if source is None:
        place = "this window and slice" if span.slices else "this window"
        why = f"no row is in {place}" if stream.rows else "the stream has no row yet"
        return StreamAnswer(result=None, why=why, command=command, **shared)
    try:
        result = _concluded(call, source)
    except (InputError, NotIdentifiable) as error:
        # The request was sound: it is the rows that cannot answer it, or not yet.
        return StreamAnswer(result=None, why=str(error), command=command, **shared)
    return StreamAnswer(result=result, why="", command=command, **shared)


def _check_columns(call: Call, table: StreamTable, given: Mapping[str, Sequence[str]]) -> None:
    """Refuse a column that the request names and the stream does not have."""
    for flag, values in given.items():
        if flag.replace("-", "_") not in call.capability.reads:
            continue
        for name in (part for value in values for part in value.split(",")):
            if name not in table.columns and not set(name) & set("*?["):
                near = get_close_matches(name, table.columns, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"it has {table.columns}"
                raise InputError(f"{flag}: the stream has no column {name!r}: {hint}")


def _source(reader: Reader, book: StreamBook, call: Call, span: Span) -> Any:
    """Return the counts where they suffice, else the rows; None where there is neither."""
    if span.last is None and counts_suffice(call, book.table):
        by = call.reading.get("by")
        try:
            tally = stream_tally(reader, book, span, by=by)
        except InputError:
            # Columns that spell a label in two ways have no counts in common. The reader of rows
            # decides, as on the command line: it takes both for one, with a note, or asks.
            pass
        else:
            return tally if tally.n else None
    table = arrow_rows(reader, book, span)
    return table if table.num_rows else None


def _concluded(call: Call, source: Any) -> Result:
    reading = dict(call.reading)
    if isinstance(source, Tally):
        reading.pop("item", None)
        held: Any = source
    else:
        held = replace(scan(source), source="rows.csv")
    more = call.question.reading()
    with read(held, call.capability.door, **reading, **more) as data:
        return conclude(call.capability, replace(data, source="rows.csv"), call.question)


def stream_tally(reader: Reader, book: StreamBook, span: Span, *, by: str | None = None) -> Tally:
    """Return the kept counts of a span: votes, truth, and the slices of *by* where it is named."""
    where, values = span.condition()
    cells: dict[tuple[int, str | None], int] = {}
    for slice_, pattern, n in reader.all(
        f"select slice, pattern, sum(n) from tally where stream = ?{where} group by 1, 2",
        (book.stream.id, *values),
    ):
        body = book.slices[slice_]
        if n and span.holds(body):
            key = (pattern, body.get(by) if by is not None else None)
            cells[key] = cells.get(key, 0) + int(n)
    # A row whose label does not count is counted as one without: by its votes alone.
    for row in book.chances.rows.values() if book.counted is not None else ():
        body = book.slices[row.slice]
        if row.id not in (book.counted or {}) and span.holds(body) and span.covers(row.bucket):
            mark = body.get(by) if by is not None else None
            for pattern, n in ((row.pattern, -1), (row.votes, 1)):
                cells[pattern, mark] = cells.get((pattern, mark), 0) + n
    cells = {key: n for key, n in cells.items() if n}
    codes = _codes(reader, book.stream.id, {pattern for pattern, _ in cells})
    names = [*book.table.votes]
    columns: dict[str, list[Any]] = {one: [] for one in names}
    truths: list[Any] = []
    marks: list[Any] = []
    counts: list[int] = []
    for (pattern, mark), n in cells.items():
        votes, truth = book.cells(codes[pattern])
        for one, vote in zip(names, votes, strict=True):
            columns[one].append(vote)
        truths.append(truth)
        marks.append(mark)
        counts.append(n)
    if book.table.has_truth:
        columns["label"] = truths
    if by is not None:
        columns[by] = marks
    if not counts or not columns:
        return Tally()
    return Tally.from_patterns(columns, counts, apart=() if by is None else (by,))


def _codes(reader: Reader, stream: int, patterns: set[int]) -> dict[int, bytes]:
    if len(patterns) > 5_000:
        rows = reader.all("select id, codes from pattern where stream = ?", (stream,))
        return {ident: bytes(codes) for ident, codes in rows}
    found: dict[int, bytes] = {}
    numbers = sorted(patterns)
    for start in range(0, len(numbers), 500):
        part = numbers[start : start + 500]
        marks = ", ".join("?" * len(part))
        for ident, codes in reader.all(
            f"select id, codes from pattern where id in ({marks})", part
        ):
            found[ident] = bytes(codes)
    return found


def arrow_rows(reader: Reader, book: StreamBook, span: Span) -> Any:
    """Return the rows of a span as a table of text, as a CSV file would be read."""
    import pyarrow as pa

    names = book.table.columns
    schema = pa.schema([(name, pa.string()) for name in names])
    patterns: dict[int, Cells] = {}
    batches = []
    for piece in raw_rows(reader, book, span):
        learn(reader, book, {one[4] for one in piece}, patterns)
        batches.append(pa.record_batch(_arrow_columns(book, piece, patterns), schema=schema))
    return pa.Table.from_batches(batches, schema=schema)


def _arrow_columns(
    book: StreamBook, piece: Sequence[tuple[Any, ...]], patterns: Mapping[int, Cells]
) -> list[Any]:
    """Return the columns of a piece of rows, as `tallystick.serve.rows.pieces` orders them.

    Words are made once per pattern and slice and taken by their place, so that Python's loop runs
    over items and not over cells.
    """
    import pyarrow as pa

    table = book.table
    ids, items, systems, slices, held, packed = zip(*piece, strict=True)

    def texts(cells: Iterable[str | None]) -> Any:
        return pa.array(list(cells), pa.string())

    def taken(keys: Sequence[int], words: Mapping[int, Sequence[str | None]]) -> list[Any]:
        """Return one column per word of a key."""
        order = {key: place for place, key in enumerate(dict.fromkeys(keys))}
        places = pa.array([order[key] for key in keys], pa.int32())
        return [texts(cells).take(places) for cells in zip(*map(words.get, order), strict=True)]

    columns = [texts(items)]
    if table.has_systems:
        columns += [texts(map(str, ids)), texts(one or None for one in systems)]
    *votes, truths = taken(held, {one: (*votes, truth) for one, (votes, truth) in patterns.items()})
    columns += votes
    if table.grades:
        numbers = list(table.grades.values())
        rows = [grade_texts(one, numbers) for one in packed]
        columns += [texts(column) for column in zip(*rows, strict=True)]
    if table.slices:
        marks = {one: [body.get(k) for k in table.slices] for one, body in book.slices.items()}
        columns += taken(slices, marks)
    if table.has_truth:
        counted = book.counted
        if counted is not None:
            cells = zip(ids, truths.to_pylist(), strict=True)
            truths = texts(truth if one in counted else None for one, truth in cells)
        columns.append(truths)
    if table.has_chances:
        columns.append(texts(map(book.chance_text, ids)))
    return columns
