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
    is_relation = isinstance(source, duckdb.DuckDBPyRelation)
    check_names(
        source.column_names if isinstance(source, pa.Table) else source.columns, "the table"
    )
    relation = connect().from_arrow(source) if isinstance(source, pa.Table) else source
    table = _table(relation)
    return replace(table, notes=_left_out(table), foreign=is_relation)


def _left_out(table: Table) -> tuple[str, ...]:
    return tuple(f"{reason}; it is left out" for reason in table.left_out.values())


def _read(files: tuple[File, ...], delimiter: str | None, metric: str | None) -> Table:
    formats = [detect(file) for file in files]
    origin = files
    if "workbook" in formats:
        # A sheet becomes CSV first, so that its cells are read by the same rules.
        pairs = zip(files, formats, strict=True)
        files = tuple(as_csv(file) if one == "workbook" else file for file, one in pairs)
        formats = ["delimited" if one == "workbook" else one for one in formats]
    spooled = tuple(file.path for file in files if file.spooled)
    try:
        table = _loaded(files, formats, delimiter, metric)
    except BaseException:
        for path in spooled:
            path.unlink(missing_ok=True)
        raise
    return replace(
        table,
        source=files[0].name if len(files) == 1 else f"{files[0].name} and {len(files) - 1} more",
        files=tuple(file.path for file in files if not file.spooled),
        notes=(*table.notes, *_left_out(table)),
        origin=origin,
        spools=(*table.spools, *spooled),
    )


def _loaded(
    files: Sequence[File], formats: Sequence[str], delimiter: str | None, metric: str | None
) -> Table:
    if formats and all(one in log_formats() for one in formats):
        return _logs(files, formats, metric)
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
    if formats[0] == "json":
        return _objects(files)
    if formats[0] == "delimited":
        return _delimited(files, delimiter)
    return _columns(files, formats[0])


def _logs(files: Sequence[File], formats: Sequence[str], metric: str | None) -> Table:
    import pyarrow as pa

    form = log_formats()[formats[0]]
    if form.is_table and len(set(formats)) == 1:
        cells = read_table(files, form)
        table = _in_memory(pa.table({name: pa.array(c, pa.string()) for name, c in cells.items()}))
        note = f"read as {form.name}: {table.relation.shape[0]:,} rows"
        return replace(table, notes=(note,))
    columns, notes = side_by_side(read_logs(files, formats), metric)
    table = _in_memory(pa.table(columns))
    kinds, items = ", ".join(dict.fromkeys(formats)), table.relation.shape[0]
    note = f"read as {kinds} logs: {len(columns) - 1} models on {items} items"
    return replace(table, notes=(note, *notes))


def _delimited(files: Sequence[File], delimiter: str | None) -> Table:
    parts: list[Part] = []
    notes: list[str] = []
    each: list[DuckDBPyRelation] = []
    with Spool() as spool:
        for file in files:
            start = len(spool.paths)
            with checked(file) as text:
                part, more = read_delimited(text, spool, delimiter=delimiter)
            spool.finish()
            parts.append(part)
            notes += more
            each.append(parquet_relation(connect(), spool.paths[start:]))
        _agree(files, each)
    return replace(_spooled(spool, parts), notes=tuple(notes))


def _objects(files: Sequence[File]) -> Table:
    columns = JsonColumns()
    notes: list[str] = []
    parts = []
    with Spool() as spool:
        for file in files:
            # One array, or one document, may well be one line.
            with checked(file, by_line=False) as text:
                parts.append(read_json(text, spool, columns))
                notes += text.notes
    table = _spooled(spool, parts, columns.projection())
    left_out, doubtful = columns.left_out, columns.doubtful
    return replace(table, notes=tuple(notes), left_out=left_out, doubtful=doubtful)


def _spooled(spool: Spool, parts: Sequence[Part], cells: str = "*") -> Table:
    relation = parquet_relation(connect(), spool.paths).project(cells)
    return replace(_table(relation), parts=tuple(parts), spools=tuple(spool.paths))


def _columns(files: Sequence[File], kind: str) -> Table:
    """Return Parquet and Arrow files, read where they lie."""
    relation_of = parquet_relation if kind == "parquet" else arrow_relation
    parts, paths = [], []
    for file in files:
        if kind == "parquet":
            part, path = parquet_part(file), file.path
        else:
            part, path = arrow_part(file, stream=kind == "arrow-stream")
        parts.append(part)
        paths.append(path)
    with reading(files[0].name):
        doubtful = _agree(files, [relation_of(connect(), [path]) for path in paths])
        table = _table(relation_of(connect(), paths))
    copies = tuple(paths) if kind == "arrow-stream" else ()
    return replace(table, parts=tuple(parts), doubtful=doubtful, spools=copies)


def _table(relation: DuckDBPyRelation) -> Table:
    relation, left_out = with_plain_types(relation)
    return Table(
        relation=relation, columns=tuple(relation.columns), source="the table", left_out=left_out
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
