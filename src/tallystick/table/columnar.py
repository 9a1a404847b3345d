"""Parquet and Arrow: read where they lie, never copied, a damaged file refused before it is
counted.
"""

from __future__ import annotations

import csv
import glob
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime, time
from functools import reduce
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from tallystick.errors import FileError
from tallystick.table.cells import identifier, kind_of, literal, null_if_missing
from tallystick.table.engine import connect
from tallystick.table.sources import (
    File,
    Spool,
    check_names,
    damaged,
    most_unpacked,
    scratch,
    too_large,
)
from tallystick.table.tables import Part

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation
    from duckdb.sqltypes import DuckDBPyType

_NESTED = ("[]", "MAP", "UNION", "BLOB", "BIT", "VARIANT")


def arrow_column(cells: Sequence[Any]) -> Any:
    """Return texts or floats as an Arrow column; `pyarrow.array` loads pandas where there is one.

    >>> arrow_column(["a", None]).to_pylist(), arrow_column([None, 0.5]).to_pylist()
    (['a', None], [None, 0.5])
    """
    import pyarrow as pa

    kinds = {type(cell) for cell in cells} - {NoneType}
    if kinds not in ({str}, {float}):
        return pa.array(cells)
    held = np.array([cell is not None for cell in cells])
    parts = [np.packbits(held, bitorder="little")]
    if kinds == {float}:
        parts += [np.array([0.0 if cell is None else cell for cell in cells])]
    else:
        raw = [b"" if cell is None else cell.encode() for cell in cells]
        parts += [np.cumsum([0, *map(len, raw)], dtype=np.int64)]
        parts += [np.frombuffer(b"".join(raw), np.uint8)]
    kind = pa.float64() if kinds == {float} else pa.large_string()
    return pa.Array.from_buffers(kind, len(cells), [pa.py_buffer(one) for one in parts])


def parquet_part(file: File) -> Part:
    """Check the footer of a Parquet file and return what it holds."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        metadata = pq.read_metadata(file.path)
        names = metadata.schema.to_arrow_schema().names
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise damaged(file.name, "Parquet file", error) from error
    return _part(file, metadata.num_rows, names)


def parquet_relation(connection: DuckDBPyConnection, paths: Sequence[Path]) -> DuckDBPyRelation:
    """Return the rows of Parquet files, in the order of the files, columns matched by name."""
    # DuckDB would expand a * in a name
    names = ", ".join(literal(glob.escape(str(path))) for path in paths)
    by_name = "true" if len(paths) > 1 else "false"
    return connection.sql(
        f"select * from read_parquet([{names}], union_by_name={by_name}, hive_partitioning=false)"
    )


def spooled(spool: Spool) -> DuckDBPyRelation:
    """Return the rows of a spool."""
    import pyarrow as pa

    if spool.paths:
        return parquet_relation(connect(), spool.paths)
    tables = [pa.Table.from_batches([batch]) for batch in spool.held]
    return connect().from_arrow(pa.concat_tables(tables, promote_options="default"))


def arrow_part(file: File, spool: Spool | None) -> Part:
    """Check an Arrow IPC file and return what it holds.

    The stream format can be read once only: it is copied to *spool*, a batch at a time.
    """
    import pyarrow as pa

    try:
        with pa.memory_map(str(file.path)) as mapped:
            if spool is not None:
                reader = pa.ipc.open_stream(mapped)
                batches = iter(reader)
            else:
                reader = pa.ipc.open_file(mapped)
                batches = map(reader.get_batch, range(reader.num_record_batches))
            names, rows = reader.schema.names, 0
            if any(key.startswith(b"tallystick") for key in reader.schema.metadata or {}):
                raise FileError(
                    f"{file.name} is a saved tally, not a table: give it to `tallystick judge`,"
                    " `bound` or `merge`, or to Tally.load in Python"
                )
            for batch in batches:
                # Only a full check reads the offsets: a wrong one points outside the file, and the
                # first to follow it is a crash of the process.
                batch.validate(full=True)
                rows += batch.num_rows
                if spool is not None:
                    spool.add_batch(batch)
    # A damaged length asks for more memory than there is.
    except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
        raise damaged(file.name, "Arrow file", error) from error
    return _part(file, rows, names)


def arrow_relation(connection: DuckDBPyConnection, paths: Sequence[Path]) -> DuckDBPyRelation:
    """Return the rows of Arrow IPC files, scanned from disk, in the order of the files."""
    import pyarrow.dataset

    def one(path: Path) -> DuckDBPyRelation:
        dataset: Any = pyarrow.dataset.dataset(str(path), format="ipc")
        return connection.from_arrow(dataset)

    return reduce(lambda above, below: above.union_by_name(below), map(one, paths))


def with_plain_types(relation: DuckDBPyRelation) -> tuple[DuckDBPyRelation, dict[str, str]]:
    """Return the rows with dates, enumerations and the like as text and decimals as floats, and
    what stays nested.

    Fields of a struct become columns with dotted names. NaN becomes NULL here: statistics of the
    file know nothing of it.
    """
    columns, left_out, names = [], {}, []
    for column, kind in zip(relation.columns, relation.types, strict=True):
        for name, place, own in _fields(column, identifier(column), kind):
            cell, reason = _plain_cell(name, place, str(own))
            if reason:
                left_out[name] = reason
            names.append(name)
            columns.append(f"{cell} as {identifier(name)}")
    check_names(names, "the table, with one column per field,")
    plain = [f"{identifier(name)} as {identifier(name)}" for name in relation.columns]
    return (relation if columns == plain else relation.project(", ".join(columns))), left_out


def _fields(name: str, place: str, kind: DuckDBPyType) -> Iterator[tuple[str, str, DuckDBPyType]]:
    if kind.id != "struct":
        yield name, place, kind
        return
    for field, inner in kind.children:
        below = f"struct_extract({place}, {literal(str(field))})"
        yield from _fields(f"{name}.{field}", below, cast("DuckDBPyType", inner))


def _plain_cell(name: str, cell: str, sql_type: str) -> tuple[str, str]:
    if kind_of(sql_type) == "float":
        return null_if_missing(cell, "float", ()), ""
    if kind_of(sql_type) != "other":
        return cell, ""
    if sql_type.startswith("DECIMAL"):
        return f"cast({cell} as DOUBLE)", ""
    if sql_type.startswith(_NESTED) or sql_type.endswith("]"):
        return cell, nested(name, f"{sql_type} values")
    return f"cast({cell} as VARCHAR)", ""


def nested(name: str, what: str) -> str:
    """Say why a column cannot be used that holds several values in a cell."""
    return f"column {name!r} holds {what}: write one row or one column per value"


def _part(file: File, rows: int, names: Sequence[str]) -> Part:
    check_names(names, file.name)
    return Part(file.name, rows)


# Excel workbooks (.xlsx): the one sheet with data, written as CSV and read like any other.


_LOOKED = 60
"""Rows of a sheet among which its header is looked for."""


def as_csv(file: File) -> File:
    """Return the sheet of a workbook as a CSV file in the scratch folder.

    Cells are written as people read them: a formula is its last computed value.
    """
    try:
        with zipfile.ZipFile(file.path) as archive:
            unpacked = sum(entry.file_size for entry in archive.infolist())
        if unpacked > most_unpacked(file.path):
            raise too_large(most_unpacked(file.path), file.name)
        return _sheet_as_csv(file)
    except (FileError, MemoryError):
        raise
    # What damage raises depends on the part that is hit: the archive, its XML, or its contents.
    except Exception as error:
        raise damaged(file.name, "Excel workbook", error) from error


def _sheet_as_csv(file: File) -> File:
    import openpyxl

    book = openpyxl.load_workbook(file.path, read_only=True, data_only=True)
    sheets = [sheet for sheet in book.worksheets if sheet.max_row and sheet.max_row > 1]
    if len(sheets) != 1:
        names = ", ".join(sheet.title for sheet in sheets) or "none"
        raise FileError(
            f"{file.name} must have one sheet with a header and rows, and has {names}: save the"
            " sheet that you mean as CSV (UTF-8)"
        )
    _refuse_titles(sheets[0], file.name)
    with tempfile.NamedTemporaryFile(
        "w",
        dir=scratch(),
        prefix="sheet-",
        suffix=".csv",
        delete=False,
        newline="",
        encoding="utf-8",
    ) as made:
        writer = csv.writer(made)
        for row in sheets[0].iter_rows(values_only=True):
            if any(cell is not None for cell in row):
                writer.writerow([_text(cell) for cell in row])
    book.close()
    return replace(file, path=Path(made.name), spooled=True)


def _refuse_titles(sheet: Any, name: str) -> None:
    rows = sheet.iter_rows(max_row=_LOOKED, values_only=True)
    filled = [sum(bool(str(cell or "").strip()) for cell in row) for row in rows]
    widest = max(filled, default=0)
    first = next(filter(None, filled), 0)
    # Blank cells in a header are common; a title fills one cell or two.
    if widest >= 3 and 2 * first <= widest:
        raise FileError(
            f"{name}: the header of sheet {sheet.title!r} seems to be in row"
            f" {filled.index(widest) + 1}, below a title. Remove the rows above it"
        )


def _text(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, datetime) and cell.time() == time():
        return cell.date().isoformat()  # a day without a time is what the sheet shows
    return cell.isoformat() if isinstance(cell, date | datetime) else str(cell)
