"""A table of foreign data, ready to be counted: where it came from, what its columns are, which row
is which.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, TextIO, TypeAlias

from tallystick.errors import FileError, InputError
from tallystick.table.cells import NUMBER, Kind, Label, identifier, kind_of
from tallystick.table.engine import as_numpy, cursor, reading, text_is_whole
from tallystick.table.sources import File, missing_column

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyRelation

Shape: TypeAlias = Literal["wide", "long"]

_BATCH = 1 << 17
"""Rows that leave the engine at once."""

_MOST_DIGESTS = 20_000_000
"""Digests of rows that are held at once."""

_FEW_DIGESTS = 100
"""Shared digests of a part whose rows are looked at."""

_SHORT = 10
"""Rows of an answer that is remembered."""


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _can_hold(kind: Kind, value: Label) -> bool:
    """Say whether a column of this kind can hold *value*: "1" is not 1, but 1.0 is."""
    if isinstance(value, bool):
        return kind == "boolean"
    return kind == "text" if isinstance(value, str) else kind in ("integer", "float")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value stands: the data row (1 is the first below the header), its file and, where
    known, its line.

    >>> print(Place(row=17, file="votes.csv", line=18))
    row 17 of votes.csv (line 18)
    """

    row: int
    file: str = ""
    line: int | None = None

    def __str__(self) -> str:
        file = f" of {self.file}" if self.file else ""
        line = f" (line {self.line})" if self.line is not None else ""
        return f"row {self.row}{file}{line}"


@dataclass(frozen=True, slots=True)
class Part:
    """One file of a table.

    Parameters
    ----------
    name
        How messages call it.
    rows
        How many data rows it gave.
    first_line
        The line of its first data row where each row is exactly one line; None where rows and lines
        differ.
    """

    name: str
    rows: int
    first_line: int | None = None

    def __post_init__(self) -> None:
        if self.rows == 0:
            raise FileError(f"{self.name} has no rows: nothing to count")


@dataclass(frozen=True, kw_only=True, eq=False)
class Table:
    """Foreign data behind one relation that is read out of core.

    Parameters
    ----------
    relation
        The rows, in file order.
    columns
        Column names in file order.
    source
        How messages call the whole of it.
    files
        The paths that were read; empty for data in memory.
    shape
        What the source was: a ``long`` one has been pivoted.
    notes
        What was detected, renamed or left out, for the user to read.
    left_out
        Columns that cannot be labels (nested values and the like), with the reason.
    doubtful
        Columns of several types, with the reason: usable under ``coerce`` only.
    known
        What the source itself says of its columns: a log knows which are its models.
    metric
        The score that the models' columns hold, where the source names it.
    long
        The columns that named the voter and held the votes, before a long source was pivoted.
    origin
        The files and streams that the rows come from.
    foreign
        The relation belongs to a connection of the caller.
    """

    relation: DuckDBPyRelation
    columns: tuple[str, ...]
    source: str
    files: tuple[Path, ...] = ()
    shape: Shape = "wide"
    notes: tuple[str, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    doubtful: Mapping[str, str] = field(default_factory=dict)
    known: Mapping[str, Any] = field(default_factory=dict)
    metric: str | None = None
    long: tuple[str, str] | None = None
    origin: tuple[File, ...] = field(default=(), repr=False)
    foreign: bool = field(default=False, repr=False)
    parts: tuple[Part, ...] = field(default=(), repr=False)
    spools: tuple[Path, ...] = field(default=(), repr=False)

    @property
    def kinds(self) -> dict[str, Kind]:
        """What each column holds: text, integer, float, boolean or other."""
        return {
            name: kind_of(one) for name, one in zip(self.columns, self.relation.types, strict=True)
        }

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        """Run *sql*, in which the rows are called ``rows``, and return what it gives.

        A short answer is remembered: several checks ask how many rows there are.
        """
        with reading(self.source):
            statement = self._statement(sql)
            if statement is None:
                return self.derive(sql).fetchall()
            if sql not in self._answers:
                found = cursor().execute(statement).fetchall()
                if len(found) > _SHORT:
                    return found
                self._answers[sql] = found
            return list(self._answers[sql])

    def arrow(self, sql: str) -> pa.Table:
        """Run *sql*, in which the rows are called ``rows``, and return an Arrow table."""
        with reading(self.source):
            statement = self._statement(sql)
            found = self.derive(sql) if statement is None else cursor().sql(statement)
            return found.to_arrow_table()

    def _statement(self, sql: str) -> str | None:
        """Return *sql* with the rows it reads as one statement that any of our cursors can run.

        `derive` binds each query several times: 3 of 4 ms on a small table.
        None where the query can only be derived.
        """
        if self.foreign or not sql.startswith("select ") or not text_is_whole():
            return None
        return f"with rows as not materialized (\n{self.relation.sql_query()}\n) {sql}"

    def derive(self, sql: str) -> DuckDBPyRelation:
        """Return the relation that *sql* makes of the rows, which it calls ``rows``; nothing is
        read yet.
        """
        derived = self.relation.query("rows", sql)
        assert derived is not None, "sql is a query"
        return derived

    def repeats(self, *columns: str) -> bool:
        """Return whether two rows agree in all of *columns*; found once, and remembered."""
        return self.repeating(*columns) is not None

    def repeating(self, *columns: str) -> str | None:
        """Return an SQL condition on few rows, numbered ``place_``, some of which agree in all of
        *columns*; None if no two rows do.

        Rows whose digests all differ cannot repeat: eight bytes per row, not every text.
        """
        if columns not in self._repeats:
            self._repeats[columns] = self._find_repeat(columns)
        return self._repeats[columns]

    def _find_repeat(self, columns: tuple[str, ...]) -> str | None:
        import numpy as np

        row = ", ".join(identifier(name) for name in columns)

        def repeat_in(rows: str) -> bool:
            twice = f"select 1 from ({rows}) group by {row} having count(*) > 1 limit 1"
            return bool(self.query(twice))

        # Values that repeat at all mostly do so at once: then the rest need not be read.
        if repeat_in(f"select {row} from rows limit {_BATCH}"):
            return f"place_ <= {_BATCH}"

        # A part of the digests at a time, so that memory is bounded.
        [(rows,)] = self.query("select count(*) from rows")
        parts = 1 + rows // _MOST_DIGESTS
        for part in range(parts):
            hashed = f"select hash({row}) as digest from rows"
            one = f"select digest from ({hashed}) where digest % {parts} = {part}"
            with reading(self.source):
                batches = self.derive(one).to_arrow_reader(_BATCH)
                held = [as_numpy(batch["digest"]) for batch in batches]
            digests = np.concatenate(held) if held else np.zeros(0, np.uint64)
            del held
            digests.sort()
            shared = digests[:-1][digests[1:] == digests[:-1]][:_FEW_DIGESTS]
            listed = ", ".join(map(str, dict.fromkeys(shared.tolist())))
            if listed and repeat_in(f"select {row} from rows where hash({row}) in ({listed})"):
                return f"hash({row}) in ({listed})"
        return None

    @cached_property
    def _answers(self) -> dict[str, list[tuple[Any, ...]]]:
        return {}

    @cached_property
    def _repeats(self) -> dict[tuple[str, ...], str | None]:
        return {}

    def digests(self) -> dict[str, str]:
        """Return the SHA-256 of each file that was read, by path, computed now."""
        return {str(path): _digest(path) for path in self.files}

    def contents(self) -> tuple[tuple[str, str], ...]:
        """Return the SHA-256 and the name of each file and stream that the rows come from."""
        return tuple(
            (_digest(one.path) if one.digest is None else one.digest, Path(one.name).name)
            for one in self.origin
        )

    def row_of(self, column: str, value: Label) -> Place | None:
        """Return where *value* first occurs in *column*, or None if it does not (NULL is found by
        None).
        """
        if column not in self.columns:
            raise InputError(missing_column(column, self.columns, self.source))
        if value is not None and not _can_hold(self.kinds[column], value):
            return None  # SQL would cast the text "1" to the number 1
        import duckdb

        cell = duckdb.ColumnExpression("cell")
        same = cell.isnull() if value is None else cell == duckdb.ConstantExpression(value)
        numbered = self.relation.project(
            f"row_number() over () as place, {identifier(column)} as cell"
        )
        with reading(self.source):
            [(row,)] = numbered.filter(same).aggregate("min(place)").fetchall()
        return None if row is None else self.place(int(row))

    def place(self, row: int) -> Place:
        """Return the file (and line) of the *row*-th data row of the whole table."""
        before = 0
        for part in self.parts:
            if row <= before + part.rows:
                inside = row - before
                line = part.first_line + inside - 1 if part.first_line is not None else None
                return Place(inside, part.name, line)
            before += part.rows
        return Place(row, self.source)

    def close(self) -> None:
        """Remove what was spooled for this table; its relation cannot be read afterwards."""
        for path in self.spools:
            path.unlink(missing_ok=True)

    def __enter__(self) -> Table:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


# Tables that we write: whole or not at all, and harmless when a spreadsheet opens them.


_ENDINGS = (".csv", ".tsv", ".ndjson", ".jsonl", ".parquet")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def write_csv(target: str | Path | TextIO, columns: Mapping[str, Sequence[Any]]) -> None:
    """Write *columns* as CSV, or in the format that the ending names: .tsv, .ndjson, .jsonl or
    .parquet.

    In CSV and TSV, None and NaN are blank, and text that a spreadsheet would run has an
    apostrophe before it (`unescape` takes it away).

    Parameters
    ----------
    target
        A path, or an open text stream, which gets CSV.
    columns
        Name to values; lists, NumPy or Arrow arrays of equal length.

    Examples
    --------
    >>> import sys
    >>> write_csv(sys.stdout, {"item": ["a", "=1+1"], "score": [-1.5, None]})
    item,score
    a,-1.5
    '=1+1,
    """
    table = {name: _plain(values) for name, values in columns.items()}
    if not isinstance(target, str | Path):
        _delimited(target, table, ",")
        return
    path = Path(target)
    ending = check_ending(path)
    with atomic(path) as stream:
        if ending == ".parquet":
            _parquet(stream, table)
        elif ending in (".csv", ".tsv"):
            text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
            _delimited(text, table, "," if ending == ".csv" else "\t")
            text.detach()
        else:
            _ndjson(stream, table)


def check_ending(path: Path) -> str:
    """Return the ending of a table's name, which chooses its format; one that chooses none is
    refused.

    >>> check_ending(Path("items.CSV"))
    '.csv'
    """
    ending = path.suffix.lower()
    if ending not in _ENDINGS:
        raise InputError(
            f"{path} must end in one of {', '.join(_ENDINGS)}: the ending chooses the format"
        )
    return ending


@contextmanager
def atomic(path: Path) -> Iterator[BinaryIO]:
    """Open a file that takes its place only when it is complete; after an error the old file stays
    as it was.
    """
    path = Path(os.path.realpath(path))  # a link stays, and what it names is replaced
    if path.exists() and not path.is_file():
        raise FileError(f"{path} is not a regular file: nothing is written over it")
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with draft.open("xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        with suppress(OSError):  # where nothing could be written nothing is left, e.g. below a file
            draft.unlink(missing_ok=True)


def blank_cell(place: object, role: str, column: str) -> InputError:
    """Return the error for a blank cell in a column that every row needs."""
    return InputError(f"{place}: the {role} column {column!r} is blank. Fill it, or remove the row")


def sync_folder(folder: Path) -> None:
    """Make sure that the name of a new file survives a power cut, where the system can say so."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def escape(cell: str) -> str:
    """Return text that no spreadsheet runs as a formula; plain numbers stay as they are.

    >>> [escape(cell) for cell in ("=SUM(A1)", "-1.5", "-x", "yes", "'=1")]
    ["'=SUM(A1)", '-1.5', "'-x", 'yes', "''=1"]
    """
    risky = cell.startswith(_FORMULA) and not NUMBER.fullmatch(cell)
    return "'" + cell if risky or unescape(cell) != cell else cell


def unescape(cell: str) -> str:
    """Return what `escape` was given.

    >>> unescape(escape("=SUM(A1)"))
    '=SUM(A1)'
    """
    return cell[1:] if cell.startswith("'") and cell.lstrip("'").startswith(_FORMULA) else cell


def _plain(values: Sequence[Any]) -> list[Any]:
    for method in ("to_pylist", "tolist"):  # Arrow, NumPy
        if hasattr(values, method):
            return list(getattr(values, method)())
    return list(values)


def _delimited(stream: TextIO, table: Mapping[str, list[Any]], delimiter: str) -> None:
    # csv.writer leaves a carriage return unquoted, and the reader breaks the line
    cells = ([escape(name), *map(_cell, values)] for name, values in table.items())
    quoted = ([_quoted(cell, delimiter, len(table) == 1) for cell in column] for column in cells)
    for row in zip(*quoted, strict=True):
        stream.write(delimiter.join(row) + "\n")


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return escape(value)
    return "" if value is None or _is_nan(value) else str(value)


def _quoted(cell: str, delimiter: str, alone: bool) -> str:
    if any(sign in cell for sign in (delimiter, '"', "\n", "\r")) or (alone and not cell):
        return '"' + cell.replace('"', '""') + '"'
    return cell


def _ndjson(stream: BinaryIO, table: Mapping[str, list[Any]]) -> None:
    for row in zip(*table.values(), strict=True):
        clean = {
            name: None if _is_nan(value) else value for name, value in zip(table, row, strict=True)
        }
        try:
            line = json.dumps(clean, ensure_ascii=False, allow_nan=False)
        except ValueError as error:
            raise InputError(
                f"an infinite number has no JSON form, in {clean}: write .csv or .parquet"
            ) from error
        stream.write(line.encode("utf-8") + b"\n")


def _parquet(stream: BinaryIO, table: Mapping[str, list[Any]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        pq.write_table(pa.table(dict(table)), stream)
    except pa.ArrowException as error:
        raise InputError(
            f"a column mixes types, which Parquet cannot hold ({error}): write .csv or .ndjson"
        ) from error


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)
