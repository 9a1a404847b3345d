"""Parquet and Arrow: read where they lie, never copied, a damaged file refused before it is counted."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tallystick.errors import FileError
from tallystick.io.engine import literal, scratch
from tallystick.io.sources import File
from tallystick.io.table import Part

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

__all__ = ["arrow_part", "arrow_relation", "parquet_part", "parquet_relation"]


def parquet_part(file: File) -> tuple[Part, tuple[str, ...], tuple[str, ...]]:
    """Check the footer of a Parquet file; return its rows, its column names and its column types."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with file.path.open("rb") as stream:
        size = stream.seek(0, 2)
        stream.seek(max(0, size - 4))
        if size < 12 or stream.read(4) not in (b"PAR1", b"PARE"):
            raise FileError(f"{file.name} is a truncated Parquet file: its end is missing; copy it again")
    try:
        metadata = pq.read_metadata(file.path)
        schema = metadata.schema.to_arrow_schema()
    except (pa.ArrowException, OSError) as error:
        raise FileError(f"{file.name} is a damaged Parquet file ({_first_line(error)}); write it again") from error
    return _part(file, metadata.num_rows, schema)


def parquet_relation(connection: DuckDBPyConnection, paths: Sequence[Path]) -> DuckDBPyRelation:
    """Return the rows of Parquet files, in the order of the files, columns matched by name."""
    names = ", ".join(literal(str(path)) for path in paths)
    by_name = "true" if len(paths) > 1 else "false"
    return connection.sql(f"select * from read_parquet([{names}], union_by_name={by_name}, hive_partitioning=false)")


def arrow_part(file: File, *, stream: bool) -> tuple[Part, tuple[str, ...], tuple[str, ...], Path]:
    """Check an Arrow IPC file; return its rows, names and types, and a file in the random-access format.

    The stream format can be read once only, from the front: it is copied, a batch at a time.
    """
    import pyarrow as pa

    path = file.path
    try:
        if stream:
            path = _as_file(file.path)
        with pa.memory_map(str(path)) as mapped, pa.ipc.open_file(mapped) as reader:
            schema = reader.schema
            rows = sum(reader.get_batch(i).num_rows for i in range(reader.num_record_batches))
    except (pa.ArrowException, OSError) as error:
        raise FileError(f"{file.name} is a truncated or damaged Arrow file ({_first_line(error)}); copy it again") from error
    if any(key.startswith(b"tallystick") for key in schema.metadata or {}):
        raise FileError(
            f"{file.name} is a saved tally, not a table: give it to `tallystick merge`, or to Tally.load in Python"
        )
    return *_part(file, rows, schema), path


def arrow_relation(connection: DuckDBPyConnection, paths: Sequence[Path]) -> DuckDBPyRelation:
    """Return the rows of Arrow IPC files, scanned from disk."""
    import pyarrow.dataset

    dataset: Any = pyarrow.dataset.dataset([str(path) for path in paths], format="ipc")
    return connection.from_arrow(dataset)


def _part(file: File, rows: int, schema: pa.Schema) -> tuple[Part, tuple[str, ...], tuple[str, ...]]:
    if rows == 0:
        raise FileError(f"{file.name} has columns but no rows: nothing to count")
    return Part(file.name, rows), tuple(schema.names), tuple(str(one.type) for one in schema)


def _as_file(path: Path) -> Path:
    import pyarrow as pa

    with (
        tempfile.NamedTemporaryFile(dir=scratch(), prefix="arrow-", suffix=".arrow", delete=False) as copy,
        path.open("rb") as source,
        pa.ipc.open_stream(source) as reader,
        pa.ipc.new_file(copy, reader.schema) as writer,
    ):
        for batch in reader:
            writer.write_batch(batch)
    return Path(copy.name)


def _first_line(error: BaseException) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
