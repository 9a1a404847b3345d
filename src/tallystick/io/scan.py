"""Read a table: one door for every format, every number of files and data already in memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from tallystick.errors import FileError, InputError
from tallystick.io.columnar import arrow_part, arrow_relation, parquet_part, parquet_relation
from tallystick.io.delimited import check_names, read_delimited
from tallystick.io.engine import connect
from tallystick.io.formats import Format, detect
from tallystick.io.sources import File, resolve
from tallystick.io.spool import Spool
from tallystick.io.table import Part, Table
from tallystick.io.text import checked

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyRelation

__all__ = ["Source", "scan"]

Source: TypeAlias = "str | Path | Sequence[str | Path] | DuckDBPyRelation | pa.Table"


def scan(
    source: Source,
    *,
    shape: Literal["auto", "wide", "long"] = "auto",
    item: str | None = None,
    judge: str | None = None,
    vote: str | None = None,
    delimiter: str | None = None,
) -> Table:
    """Read a table from files, standard input or memory, out of core and with bounded memory."""
    if not isinstance(source, str | Path | Sequence):
        return _in_memory(source)
    files = resolve(source)
    return _read(files, delimiter)


def _in_memory(source: Any) -> Table:
    import duckdb

    relation = source if isinstance(source, duckdb.DuckDBPyRelation) else connect().from_arrow(source)
    return Table(relation=relation, columns=tuple(relation.columns), source="the table")


def _read(files: tuple[File, ...], delimiter: str | None) -> Table:
    formats = {file: detect(file) for file in files}
    if len(set(formats.values())) > 1:
        raise InputError("mixed")
    kind: Format = formats[files[0]]
    connection = connect()
    parts: list[Part] = []
    notes: list[str] = []
    spools: list[Path] = []
    if kind == "parquet":
        for file in files:
            part, names, types = parquet_part(file)
            parts.append(part)
        relation = parquet_relation(connection, [f.path for f in files])
    elif kind in ("arrow-file", "arrow-stream"):
        paths = []
        for file in files:
            part, names, types, path = arrow_part(file, stream=kind == "arrow-stream")
            parts.append(part)
            paths.append(path)
        relation = arrow_relation(connection, paths)
    else:
        for file in files:
            with Spool() as spool, checked(file) as text:
                part, more = read_delimited(text, spool, delimiter=delimiter)
            parts.append(part)
            notes += more
            spools += spool.paths
        relation = parquet_relation(connection, spools)
    return Table(
        relation=relation,
        columns=tuple(relation.columns),
        source=files[0].name if len(files) == 1 else f"{len(files)} files",
        files=tuple(file.path for file in files if not file.spooled),
        notes=tuple(notes),
        parts=tuple(parts),
        spools=tuple(spools),
        connection=connection,
    )
