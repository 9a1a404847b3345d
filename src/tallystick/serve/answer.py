"""Answer a question about a stream: what the worker process does."""

from __future__ import annotations

import json
import re
import shlex
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tallystick.errors import AskError, InputError, NotIdentifiable, TallystickError, unknown
from tallystick.results import Result, to_json
from tallystick.serve.auth import Span
from tallystick.serve.chances import DrawDoubt, label_doubts
from tallystick.serve.database import Reader, Store
from tallystick.serve.results import arguments, call_of, counts_suffice, label_way
from tallystick.serve.rows import StreamBook, StreamTable, label_rows, pieces
from tallystick.serve.streams import CODES, TRUTH, find_stream
from tallystick.table import (
    Reading,
    Tally,
    conclude,
    is_missing,
    is_no_answer,
    read,
    scan,
)
from tallystick.table.data import BesideCounts

if TYPE_CHECKING:
    from tallystick.cli.verb import Call


MOST_ROWS = 200_000
"""Rows that are read to say why their counts have no answer: more would take too long."""


@dataclass(frozen=True, kw_only=True)
class StreamQuestion:
    """A question and all that its answer depends on; nothing of it is in the database any more.

    Parameters
    ----------
    call
        What the command line would make of the request.
    source
        Counts or rows; None if there are none.
    beside
        What is known of the rows beside their counts.
    command
        The command that gives the same answer from the exported rows.
    as_of, version
        The last batch, and the version of the stream.
    rows
        How many rows the stream has.
    doubts
        What the way in which its labels were chosen leaves open.
    result, why
        The answer, or why there is none.
    """

    call: Call
    source: Tally | Any
    beside: BesideCounts | None
    command: str
    as_of: int
    version: int
    rows: int
    doubts: tuple[DrawDoubt, ...] = ()
    result: Result | None = None
    why: str = ""


def stream_question(
    store: Store,
    name: str,
    verb: str,
    given: Mapping[str, Sequence[str]],
    span: Span,
    *,
    by_rows: bool = False,
) -> StreamQuestion:
    """Read what *verb* needs of the rows of a span, in one state of the database.

    With *by_rows* the rows are read even where their counts suffice.
    """
    with store.snapshot() as reader:
        stream = find_stream(reader, name)
        book = StreamBook(reader, stream, span, way=label_way(verb))
        words = arguments(verb, book.table, stream.settings, given)
        call = call_of(verb, words)
        _check_columns(call, book.table, given)
        source, beside = _source(book, call, by_rows=by_rows)
        used = book.table.has_truth and call.reading.get("truth") is not None
        as_of = reader.newest(stream.id)
        doubts = label_doubts(book) if used else []
    return StreamQuestion(
        call=call,
        source=source,
        beside=beside,
        command=shlex.join(["tallystick", verb, "rows.csv", *words]),
        as_of=as_of,
        version=stream.version,
        rows=stream.rows,
        doubts=tuple(doubts),
    )


def answer_stream(
    store: Store,
    name: str,
    verb: str,
    given: Mapping[str, Sequence[str]],
    span: Span,
    *,
    by_rows: bool = False,
) -> StreamQuestion:
    """Ask *verb* about the rows of a span, as the command line would about their file."""
    asked = stream_question(store, name, verb, given, span, by_rows=by_rows)
    if asked.source is None:
        why = "no row is in this window and slice" if asked.rows else "the stream has no row yet"
        return replace(asked, why=why, doubts=())
    try:
        return replace(
            asked, result=_concluded(asked.call, asked.source, asked.beside, f"stream {name}")
        )
    except (InputError, NotIdentifiable) as error:
        # The request was sound: it is the rows that cannot answer it, or not yet. They also
        # show which cell is in doubt, and whether it is; counts know no cell.
        if isinstance(asked.source, Tally) and asked.rows <= MOST_ROWS:
            return answer_stream(store, name, verb, given, span, by_rows=True)
        return replace(asked, why=why_not(error, name), doubts=())


def _check_columns(call: Call, table: StreamTable, given: Mapping[str, Sequence[str]]) -> None:
    """Refuse a column that the request names and the stream does not have."""
    for flag, values in given.items():
        if flag.replace("-", "_") not in call.capability.reads:
            continue
        for name in (part for value in values for part in value.split(",")):
            if name not in table.columns and not set(name) & set("*?["):
                raise InputError(f"{flag}: {unknown('column', name, table.columns)}")


def _source(book: StreamBook, call: Call, *, by_rows: bool) -> tuple[Any, BesideCounts | None]:
    """Return the counts where they suffice, else the rows; None where there is neither.

    Counts come with what the command line would see in the rows beside them.
    """
    if not by_rows and book.span.last is None and counts_suffice(call, book.table):
        try:
            counted = counted_rows(book, by=call.reading.get("by"))
        except InputError:
            # Columns that spell a label in two ways have no counts in common. The reader of rows
            # decides, as on the command line: it takes both for one, with a note, or asks.
            pass
        else:
            return (
                (counted.tally, _beside(book, call, counted)) if counted.tally.n else (None, None)
            )
    table = arrow_rows(book)
    return (table if table.num_rows else None), None


def _beside(book: StreamBook, call: Call, counted: CountedRows) -> BesideCounts:
    """Return what the rows show that their counts do not: where the labels stand, and the texts."""
    tokens = {one.strip() for text in call.reading.get("missing", ()) for one in text.split(",")}
    labelled = counted.labelled(frozenset(tokens))
    places = None
    if call.reading.get("truth") == TRUTH and labelled:
        places = label_rows(book, labelled, int(counted.tally.n))
    return BesideCounts(
        labelled=places,
        parts=counted.parts(book.table, labelled),
        item=call.reading.get("item"),
        columns=tuple(book.table.columns),
    )


_OPTION = re.compile(r"--(?=[a-z])")


def why_not(error: TallystickError, name: str) -> str:
    """Say why a stream has no answer yet, and what to set: a stream has settings, and no options.

    >>> why_not(AskError("what is -1?", role="missing", calls=("--missing=-1",)), "qa")
    'what is -1? PUT /v1/streams/qa {"missing": ["-1"]}'
    >>> why_not(InputError("name the column (--prediction clf)"), "qa")
    'name the column (prediction clf)'
    """
    if not isinstance(error, AskError):
        return _OPTION.sub("", str(error))
    ways = []
    for call in error.calls:
        options = [word.partition("=") for word in shlex.split(call) if word.startswith("--")]
        settings: dict[str, Any] = {}
        for flag, _, value in options:
            key, values = flag.removeprefix("--").replace("-", "_"), value.split(",")
            if key in ("labels", "missing"):
                settings[key] = values
            else:
                settings.setdefault("reading", {})[key] = values
        if settings and all(value for _, _, value in options):
            ways.append(f"PUT /v1/streams/{name} {json.dumps(settings, ensure_ascii=False)}")
    return " ".join([error.question, " or ".join(ways)]).strip()


def _concluded(
    call: Call, source: Any, beside: BesideCounts | None, name: str = "rows.csv"
) -> Result:
    reading = dict(call.reading)
    if isinstance(source, Tally):
        reading.pop("item", None)
        held: Any = source
    else:
        held = replace(scan(source), source=name)
    more = call.question.reading()
    with read(held, call.capability.door, **reading, **more) as data:
        data = replace(data, source=name, beside=beside)
        result = conclude(call.capability, data, call.question)
    wanted = call.capability.door.want or ""
    if beside is not None and isinstance(result.reading, Reading) and call.reading.get(wanted):
        # Counts do not show that their columns were named.
        how: dict[str, Any] = {**result.reading.how, wanted: "named"}
        return replace(result, reading=replace(result.reading, how=how))
    return result


@dataclass(frozen=True, kw_only=True)
class CountedRows:
    """The kept counts of a span, the truths of their patterns, and the slices of their rows."""

    tally: Tally
    truths: Mapping[int, str | None]
    rows: Sequence[tuple[Mapping[str, str], int, int]]
    """For each slice and pattern: the slice, the pattern, and how many rows show both."""

    def labelled(self, missing: frozenset[str]) -> set[int]:
        """Return the patterns with a label that means something."""
        words = {word for word in self.truths.values() if word is not None}
        silent = {word for word in words if is_missing(word, missing) or is_no_answer(word)}
        return {
            ident for ident, word in self.truths.items() if word is not None and word not in silent
        }

    def parts(
        self, table: StreamTable, labelled: set[int]
    ) -> dict[str, list[tuple[str | None, int, int]]]:
        """Return for each column that is not counted: its cells, their rows and their labels."""
        found: dict[str, dict[str | None, list[int]]] = {name: {} for name in table.slices}
        for body, pattern, n in self.rows:
            for name in table.slices:
                held = found[name].setdefault(body.get(name), [0, 0])
                held[0] += n
                held[1] += n if pattern in labelled else 0
        return {
            name: sorted(
                ((value, rows, labels) for value, (rows, labels) in cells.items()),
                key=lambda cell: (cell[0] is not None, cell[0] or ""),
            )
            for name, cells in found.items()
        }


def counted_rows(book: StreamBook, *, by: str | None = None) -> CountedRows:
    """Return the kept counts of a span, by the slices of *by* where it is named."""
    reader, span = book.reader, book.span
    where, values = span.condition()
    rows: Counter[tuple[int, int]] = Counter()
    for slice_, pattern, n in reader.all(
        f"select slice, pattern, sum(n) from tally where stream = ?{where} group by 1, 2",
        (book.stream.id, *values),
    ):
        if slice_ in book.inside:
            rows[slice_, pattern] = int(n)
    # A row whose label does not count is counted as one without: by its votes alone.
    for row in book.chances.rows.values() if book.counted is not None else ():
        left_out = row.id not in (book.counted or {})
        if left_out and row.slice in book.inside and span.covers(row.bucket):
            # No row may show these votes alone yet: then the pattern is that of the row, turned.
            votes_alone = row.votes if row.votes >= 0 else -row.pattern
            rows[row.slice, row.pattern] -= 1
            rows[row.slice, votes_alone] += 1
    cells: Counter[tuple[int, str | None]] = Counter()
    for (slice_, pattern), n in rows.items():
        cells[pattern, book.slices[slice_].get(by) if by is not None else None] += n

    codes = _codes(reader, book.stream.id, {abs(pattern) for pattern, _ in cells})
    truths: dict[int, str | None] = {}
    table: list[tuple[str | None, ...]] = []
    counts = [n for n in cells.values() if n]
    for (pattern, mark), n in cells.items():
        if n:
            votes, truth = book.cells(codes[abs(pattern)])
            truths[pattern] = truth if pattern >= 0 else None
            table.append((*votes, truths[pattern], mark))
    names = [*book.table.votes, TRUTH, by or ""]
    columns = dict(zip(names, zip(*table, strict=True), strict=False))
    columns = {
        name: column
        for name, column in columns.items()
        if name and (name != TRUTH or book.table.has_truth)
    }
    # Each column keeps its own spelling: what is one label is decided where the command line does.
    tally = Tally.from_patterns(columns, counts, apart=tuple(columns)) if columns else Tally()
    apart = [(book.slices[one], pattern, n) for (one, pattern), n in rows.items() if n]
    return CountedRows(tally=tally, truths=truths, rows=apart)


def _codes(reader: Reader, stream: int, patterns: set[int]) -> dict[int, bytes]:
    if len(patterns) > 5_000:
        rows = reader.all("select id, codes from pattern where stream = ?", (stream,))
        return {ident: bytes(codes) for ident, codes in rows}
    return {ident: bytes(codes) for ident, codes in reader.by_id(CODES, patterns)}


def arrow_rows(book: StreamBook) -> Any:
    """Return the rows of a span as a table of text, as a CSV file would be read."""
    import pyarrow as pa

    schema = pa.schema([(name, pa.string()) for name in book.table.columns])
    batches = [
        pa.record_batch(
            [pa.array(column, pa.string()) for column in zip(*piece, strict=True)], schema=schema
        )
        for piece in pieces(book)
    ]
    return pa.Table.from_batches(batches, schema=schema)


# What the worker makes: results as JSON and tallies, which begin with the
# version of the stream, and Parquet files.


def result(
    store: Store, name: str, verb: str, given: Mapping[str, Sequence[str]], span: Span
) -> tuple[int, bytes]:
    """Return the command line's JSON, with ``as_of`` and the command that gives the same."""
    found = answer_stream(store, name, verb, given, span)
    body: dict[str, Any]
    if found.result is not None:
        body = json.loads(to_json(found.result.to_dict()))
        # What the service knows of its labels and no file shows.
        body["label_doubts"] = [asdict(one) for one in found.doubts]
        body["warnings"] = [*body["warnings"], *(one.warning for one in found.doubts)]
        if body["decision"] == "decided" and any(one.grave for one in found.doubts):
            body["decision"] = "undecided"
    else:
        body = _unknowable(verb, found.why)
    body["as_of"] = found.as_of
    body["command"] = found.command
    return found.version, json.dumps(body, ensure_ascii=False, allow_nan=False).encode()


def nothing_yet(why: str) -> str:
    """Return the answer where there is nothing to conclude from."""
    return f"Nothing can be said yet: {why}."


def _unknowable(verb: str, why: str) -> dict[str, Any]:
    """Return the answer where there is nothing to conclude from: no error, but no number."""
    from tallystick.registry import capability
    from tallystick.results import SCHEMA

    return {
        "schema": SCHEMA,
        "verb": capability(verb).verb,
        "verdict": nothing_yet(why),
        "decision": "unknowable",
        "needed": None,
        "n_items": 0,
        "assumptions": [],
        "warnings": [],
        "unknown": {"result": why},
    }


def tally(store: Store, name: str, span: Span) -> tuple[int, bytes]:
    """Return the kept counts as an Arrow file that ``Tally.load`` reads."""
    with store.snapshot() as reader:
        stream = find_stream(reader, name)
        book = StreamBook(reader, stream, span, way="even")
        counts = counted_rows(book).tally
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "stream.tally"
        counts.save(path)
        return stream.version, path.read_bytes()


def parquet(store: Store, name: str, span: Span) -> str:
    """Write the rows as Parquet, and return the path: the server sends the file and deletes it."""
    import pyarrow.parquet as pq

    with store.snapshot() as reader:
        table = arrow_rows(StreamBook(reader, find_stream(reader, name), span))
    with tempfile.NamedTemporaryFile(suffix=".parquet", delete=False) as held:
        pq.write_table(table, held)
    return held.name
