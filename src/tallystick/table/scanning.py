"""Read a table: one door for every format, any number of files and data already in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from tallystick.errors import InputError
from tallystick.table.cells import Kind, kind_of
from tallystick.table.columnar import (
    arrow_part,
    arrow_relation,
    as_csv,
    parquet_part,
    parquet_relation,
    with_plain_types,
)
from tallystick.table.delimited import read_delimited
from tallystick.table.engine import connect, reading
from tallystick.table.formats import detect
from tallystick.table.json_files import JsonColumns, read_json
from tallystick.table.log_runs import log_formats, read_logs, read_table
from tallystick.table.logs_side_by_side import side_by_side
from tallystick.table.sources import File, Spool, check_names, resolve
from tallystick.table.tables import Part, Table
from tallystick.table.texts import checked

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyRelation

Source: TypeAlias = "str | Path | Sequence[str | Path] | DuckDBPyRelation | pa.Table"


def scan(
    source: Source,
    *,
    delimiter: str | None = None,
    metric: str | None = None,
) -> Table:
    """Read a table from files, standard input or memory, out of core and with bounded memory.

    CSV, TSV, NDJSON, a JSON array (each also gzipped), Parquet and Arrow IPC are told apart by
    content first and by name second. Text comes as VARCHAR exactly as written (``"1.0"`` stays
    ``"1.0"``, ``"NA"`` stays ``"NA"``), a blank cell as NULL; typed formats keep their types.
    Parquet and Arrow are read where they lie; text is parsed once, checked on the way, into scratch
    files that `Table.close` removes (so does the end of the process).

    Parameters
    ----------
    source
        A path, a glob, several of them, ``"-"`` for standard input, a DuckDB relation or an Arrow
        table.
    delimiter
        The separator of delimited text, where it cannot be detected.
    metric
        The score to read from evaluation logs, where they have several in common. Logs of
        lm-evaluation-harness, inspect_ai, HELM, OpenAI evals and promptfoo give one row an item and
        one column a model.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = scan(pa.table({"gpt": [1, 0], "claude": [1, 1]}))
    >>> table.columns, table.kinds["gpt"], table.shape
    (('gpt', 'claude'), 'integer', 'wide')
    """
    if delimiter is not None and (
        len(delimiter) != 1 or delimiter in '"\r\n' or not delimiter.isascii()
    ):
        raise InputError(
            "delimiter must be one ASCII character other than a quote or newline, got"
            f" {delimiter!r}"
        )
    if isinstance(source, str | Path | Sequence):
        return _read(resolve(source), delimiter, metric)
    return _in_memory(source)


def _in_memory(source: DuckDBPyRelation | pa.Table) -> Table:
    import duckdb
    import pyarrow as pa

    if not isinstance(source, duckdb.DuckDBPyRelation | pa.Table):
        raise InputError(
            f"a {type(source).__name__} cannot be scanned: give a path, a DuckDB relation or an"
            " Arrow table"
        )
    check_names(
        source.columns if isinstance(source, duckdb.DuckDBPyRelation) else source.column_names,
        "the table",
    )
    relation_given = isinstance(source, duckdb.DuckDBPyRelation)
    relation = source if relation_given else connect().from_arrow(source)
    relation, left_out = with_plain_types(relation)
    notes = tuple(f"{reason}; it is left out" for reason in left_out.values())
    return Table(
        relation=relation,
        columns=tuple(relation.columns),
        source="the table",
        notes=notes,
        left_out=left_out,
        foreign=relation_given,
    )


def _read(files: tuple[File, ...], delimiter: str | None, metric: str | None) -> Table:
    formats = [detect(file) for file in files]
    origin = files
    if "workbook" in formats:
        # A sheet becomes CSV first, so that its cells are read by the same rules.
        pairs = zip(files, formats, strict=True)
        files = tuple(as_csv(file) if one == "workbook" else file for file, one in pairs)
        formats = ["delimited" if one == "workbook" else one for one in formats]
    if formats and all(one in log_formats() for one in formats):
        return replace(_logs(files, formats, metric), origin=origin)
    if metric is not None:
        raise InputError(
            f"metric {metric!r} is for evaluation logs, but {files[0].name} is {formats[0]}"
        )
    if len(set(formats)) > 1:
        other = next(i for i, one in enumerate(formats) if one != formats[0])
        raise InputError(
            f"{files[0].name} is {formats[0]} and {files[other].name} is {formats[other]}: read"
            " files of one format at a time"
        )
    loaders = {
        "delimited": lambda: _delimited(files, delimiter),
        "json": lambda: _objects(files),
        "parquet": lambda: _parquet(files),
        "arrow-file": lambda: _arrow(files, stream=False),
        "arrow-stream": lambda: _arrow(files, stream=True),
    }
    spooled = tuple(file.path for file in files if file.spooled)
    try:
        table = loaders[formats[0]]()
    except BaseException:
        for path in spooled:
            path.unlink(missing_ok=True)
        raise
    notes = tuple(f"{reason}; it is left out" for reason in table.left_out.values())
    return replace(
        table,
        source=files[0].name if len(files) == 1 else f"{files[0].name} and {len(files) - 1} more",
        files=tuple(file.path for file in files if not file.spooled),
        notes=(*table.notes, *notes),
        origin=origin,
        spools=(*table.spools, *spooled),
    )


def _logs(files: Sequence[File], formats: Sequence[str], metric: str | None) -> Table:
    import pyarrow as pa

    form = log_formats()[formats[0]]
    if form.is_table and len(set(formats)) == 1:
        return _attempts(files, formats[0], read_table(files, form))
    columns, notes = side_by_side(read_logs(files, formats), metric)
    kinds = ", ".join(dict.fromkeys(formats))
    table = _in_memory(pa.table(columns))
    return replace(
        table,
        source=files[0].name if len(files) == 1 else f"{files[0].name} and {len(files) - 1} more",
        files=tuple(file.path for file in files if not file.spooled),
        notes=(
            f"read as {kinds} logs: {len(columns) - 1} models on {table.relation.shape[0]} items",
            *notes,
        ),
        spools=tuple(file.path for file in files if file.spooled),
    )


def _attempts(files: Sequence[File], name: str, columns: dict[str, list[str | None]]) -> Table:
    """Return a log of rows, such as attempts or annotations, as a table of text."""
    import pyarrow as pa

    table = _in_memory(pa.table({key: pa.array(c, pa.string()) for key, c in columns.items()}))
    return replace(
        table,
        source=files[0].name if len(files) == 1 else f"{files[0].name} and {len(files) - 1} more",
        files=tuple(file.path for file in files if not file.spooled),
        notes=(f"read as {name}: {table.relation.shape[0]:,} rows",),
        spools=tuple(file.path for file in files if file.spooled),
    )


def _delimited(files: Sequence[File], delimiter: str | None) -> Table:
    connection = connect()
    with Spool() as spool:
        parts: list[Part] = []
        notes: list[str] = []
        each: list[DuckDBPyRelation] = []
        for file in files:
            start = len(spool.paths)
            with checked(file) as text:
                part, more = read_delimited(text, spool, delimiter=delimiter)
            spool.finish()
            parts.append(part)
            notes += more
            each.append(parquet_relation(connection, spool.paths[start:]))
        _agree(files, each)
    relation = parquet_relation(connection, spool.paths)
    return _table(relation, parts, notes=tuple(notes), spools=tuple(spool.paths))


def _objects(files: Sequence[File]) -> Table:
    columns = JsonColumns()
    parts = []
    with Spool() as spool:
        for file in files:
            # One array, or one document, may well be one line.
            with checked(file, by_line=False) as text:
                parts.append(read_json(text, spool, columns))
    relation = parquet_relation(connect(), spool.paths).project(columns.projection())
    table = _table(relation, parts, spools=tuple(spool.paths))
    return replace(table, left_out=columns.left_out, doubtful=columns.doubtful)


def _parquet(files: Sequence[File]) -> Table:
    connection = connect()
    parts = [parquet_part(file) for file in files]
    with reading(files[0].name):
        each = [parquet_relation(connection, [file.path]) for file in files]
        doubtful = _agree(files, each)
        relation = (
            parquet_relation(connection, [file.path for file in files])
            if len(files) > 1
            else each[0]
        )
    return replace(_table(relation, parts), doubtful=doubtful)


def _arrow(files: Sequence[File], *, stream: bool) -> Table:
    connection = connect()
    parts, paths = [], []
    for file in files:
        part, path = arrow_part(file, stream=stream)
        parts.append(part)
        paths.append(path)
    with reading(files[0].name):
        doubtful = _agree(files, [arrow_relation(connection, [path]) for path in paths])
        relation = arrow_relation(connection, paths)
    return replace(
        _table(relation, parts, spools=tuple(paths) if stream else ()), doubtful=doubtful
    )


def _table(
    relation: DuckDBPyRelation,
    parts: Sequence[Part],
    *,
    notes: tuple[str, ...] = (),
    spools: tuple[Path, ...] = (),
) -> Table:
    relation, left_out = with_plain_types(relation)
    return Table(
        relation=relation,
        columns=tuple(relation.columns),
        source="the table",
        notes=notes,
        left_out=left_out,
        parts=tuple(parts),
        spools=spools,
    )


def _agree(files: Sequence[File], relations: Sequence[DuckDBPyRelation]) -> dict[str, str]:
    """Refuse files whose columns differ by name; return the columns that differ by type, and
    where.
    """
    doubtful: dict[str, str] = {}
    first: dict[str, tuple[Kind, str]] = {}
    for file, relation in zip(files, relations, strict=True):
        wanted, found = set(relations[0].columns), set(relation.columns)
        if found != wanted:
            odd, holder = sorted(wanted - found), files[0]
            lacking = file
            if not odd:
                odd, holder, lacking = sorted(found - wanted), file, files[0]
            raise InputError(
                f"{holder.name} has a column {odd[0]!r}, which {lacking.name} does not have: give"
                " files with the same columns"
            )
        for column, sql_type in zip(relation.columns, relation.types, strict=True):
            if str(sql_type) in ("NULL", '"NULL"'):
                continue  # all missing: it fits any type
            kind, where = first.setdefault(column, (kind_of(sql_type), file.name))
            if kind != kind_of(sql_type):
                doubtful[column] = (
                    f"column {column!r} is {kind} in {where} and {kind_of(sql_type)} in"
                    f" {file.name}: write them alike, or coerce (--coerce)"
                )
    return doubtful
