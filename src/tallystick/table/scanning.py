"""Read a table: one door for every format, any number of files and data already in memory."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from tallystick.errors import FileError, InputError
from tallystick.table.cells import Kind, kind_of
from tallystick.table.columnar import (
    arrow_part,
    arrow_relation,
    as_csv,
    parquet_part,
    parquet_relation,
    spooled,
    with_plain_types,
)
from tallystick.table.counting import check_lengths
from tallystick.table.delimited import read_delimited
from tallystick.table.engine import connect, reading
from tallystick.table.engines import (
    are_rows,
    arrow_table,
    columns_of_rows,
    frame_of,
    is_lazy,
    is_relation,
)
from tallystick.table.json_files import JsonColumns, read_json
from tallystick.table.logs import log_formats, read_logs, read_table, sniff_text
from tallystick.table.sources import File, Spool, check_names, resolve
from tallystick.table.tables import Part, Table
from tallystick.table.texts import checked, is_gzip, opening

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyRelation


def scan(
    source: Any,
    *,
    metric: str | None = None,
) -> Table:
    """Read a table from files, standard input or memory, out of core and with bounded memory.

    Formats are told apart by content first. Text comes as VARCHAR exactly as written, a blank cell
    as NULL; typed formats keep their types.

    Parameters
    ----------
    source
        What `tallystick.table.read` takes, but tallies.
    metric
        The score to read from evaluation logs.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = scan(pa.table({"gpt": [1, 0], "claude": [1, 1]}))
    >>> table.columns, table.kinds["gpt"], table.shape
    (('gpt', 'claude'), 'integer', 'wide')
    """
    if isinstance(source, str | Path) or (isinstance(source, Sequence) and not are_rows(source)):
        return _read(resolve(source), metric)
    notes: tuple[str, ...] = ()
    if is_relation(source):
        check_names(source.columns, "the table")
        table = replace(_table(source), foreign=True)
    else:
        arrow, notes = _arrow_of(source)
        check_names(arrow.column_names, "the table")  # DuckDB would rename a second one
        table = _table(connect().from_arrow(arrow))
    return replace(table, notes=(*_left_out(table), *notes))


# Data in memory: a mapping, a list of objects, an eager frame, a data set, as Arrow.


def _arrow_of(source: Any) -> tuple[Any, tuple[str, ...]]:
    import pyarrow as pa

    if isinstance(source, pa.Table):
        return source, ()
    if are_rows(source):
        source = columns_of_rows(source)
    if type(source).__module__.partition(".")[0] == "datasets":
        return arrow_of_dataset(source), ()
    if isinstance(source, Mapping):
        return _arrow_of_mapping(source), ()
    frame = frame_of(source)
    names, _ = check_names(list(frame.collect_schema()), "the frame")
    eager = frame.collect() if is_lazy(source) else frame
    made: tuple[Any, tuple[str, ...]] = _arrow(
        lambda: _with_index(source, arrow_table(eager)), names
    )
    return made


def _arrow_of_mapping(columns: Mapping[str, Any]) -> Any:
    import pyarrow as pa

    if not columns:
        raise InputError("the mapping has no columns: give at least one")
    # Lists and arrays go by position. So would Series, whose index may say otherwise.
    indexes = [
        (name, values.index)
        for name, values in columns.items()
        if hasattr(getattr(values, "index", None), "equals")
    ]
    for name, index in indexes:
        if not index.equals(indexes[0][1]):
            raise InputError(
                f"columns {indexes[0][0]!r} and {name!r} are pandas Series with different indexes:"
                " give pd.DataFrame(columns), which matches their rows, or .to_numpy() of each if"
                " they go by position"
            )
    check_names(list(columns), "the mapping")
    check_lengths({name: len(values) for name, values in columns.items()})
    arrays = {}
    for name, values in columns.items():
        held = values.tolist() if hasattr(values, "tolist") else list(values)
        arrays[name] = _arrow(lambda held=held: pa.array(held, from_pandas=True), [name])
    return pa.table(arrays)


def _arrow(convert: Any, columns: Sequence[str]) -> Any:
    import pyarrow as pa

    try:
        return convert()
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        shown = ", ".join(map(repr, columns[:4]))
        raise InputError(
            f"column {shown} mixes types that cannot be compared ({str(error).splitlines()[0]}):"
            " write all values of a column in one type"
        ) from error


def _with_index(frame: Any, table: pa.Table) -> tuple[pa.Table, tuple[str, ...]]:
    """Return *table*, the columns of a pandas frame, with the named levels of its index before
    them, and what was left out.

    Whole numbers without a name, which pandas gives to rows by itself, are not mentioned.
    """
    import pyarrow as pa

    index = getattr(frame, "index", None)
    if type(frame).__module__.partition(".")[0] != "pandas" or index is None:
        return table, ()

    notes: tuple[str, ...] = ()
    for level in reversed(range(index.nlevels)):
        name, values = index.names[level], index.get_level_values(level)
        if isinstance(name, str) and name not in table.column_names:
            table = table.add_column(0, name, pa.array(values.to_numpy(), from_pandas=True))
        elif name is None and values.dtype.kind not in "iu":
            notes = (
                f"the index of the frame ({str(values[0])[:40]!r}, …) has no name and was left out."
                ' To use it, name it: frame.index.name = "item"',
            )
    return table, notes


def arrow_of_dataset(source: Any) -> Any:
    """Return a ``datasets.Dataset`` of Hugging Face as an Arrow table, its selection and order
    included.

    A column of class numbers becomes the names of the classes: votes are words.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = type(source).__name__
    if kind in ("DatasetDict", "IterableDatasetDict"):
        splits = ", ".join(map(repr, source))
        raise InputError(f"this dataset has the splits {splits}: name one, as in data['test']")
    if not hasattr(source, "with_format") or kind.startswith("Iterable"):
        raise InputError(
            f"a {kind} is read once and cannot be counted twice: load it without streaming, or"
            " collect it with Dataset.from_generator"
        )
    table = source.with_format("arrow")[:]
    for place, (name, feature) in enumerate(source.features.items()):
        if type(feature).__name__ == "ClassLabel":
            # -1 means that the truth is hidden, as in the test splits of many benchmarks.
            known = pc.if_else(pc.greater_equal(table[name], 0), table[name], None)
            words = pc.take(pa.array(feature.names, pa.string()), known)
            table = table.set_column(place, name, words)
    return table


# Files: all of one format, one below the other.


def _left_out(table: Table) -> tuple[str, ...]:
    return tuple(f"{reason}; it is left out" for reason in table.left_out.values())


def _read(files: tuple[File, ...], metric: str | None) -> Table:
    formats = [detect(file) for file in files]
    origin = files
    if "workbook" in formats:
        # A sheet becomes CSV first, so that its cells are read by the same rules.
        pairs = zip(files, formats, strict=True)
        files = tuple(as_csv(file) if one == "workbook" else file for file, one in pairs)
        formats = ["delimited" if one == "workbook" else one for one in formats]
    spooled = tuple(file.path for file in files if file.spooled)
    try:
        table = _loaded(files, formats, metric)
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


def not_a_log(metric: str, source: str) -> InputError:
    """Return the error for a metric of a plain table."""
    return InputError(
        f"metric {metric!r} is for evaluation logs, and {source} is a plain table: name the column"
        " instead (--vote, --judges or --models)"
    )


def _loaded(files: Sequence[File], formats: Sequence[str], metric: str | None) -> Table:
    if formats and all(one in log_formats() for one in formats):
        return _logs(files, formats, metric)
    if metric is not None:
        raise not_a_log(metric, files[0].name)
    if len(set(formats)) > 1:
        other = next(i for i, one in enumerate(formats) if one != formats[0])
        raise InputError(
            f"{files[0].name} is {formats[0]} and {files[other].name} is {formats[other]}: read"
            " files of one format at a time"
        )
    return _objects(files) if formats[0] == "json" else _columns(files, formats[0])


def _logs(files: Sequence[File], formats: Sequence[str], metric: str | None) -> Table:
    import pyarrow as pa

    form = log_formats()[formats[0]]
    if form.table is not None and len(set(formats)) == 1:
        cells = read_table(files, form.table)
        columns = {name: pa.array(column, pa.string()) for name, column in cells.items()}
        table = scan(pa.table(columns))
        note = f"read as {form.name}: {table.relation.shape[0]:,} rows"
        return replace(table, notes=(note,))
    from tallystick.table.runs import side_by_side

    kinds = f"{', '.join(dict.fromkeys(formats))} logs"
    return replace(side_by_side(read_logs(files, formats), metric, kinds), known={}, metric=None)


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
    return replace(
        _table(spooled(spool).project(columns.projection())),
        parts=tuple(parts),
        spools=tuple(spool.paths),
        notes=tuple(notes),
        left_out=columns.left_out,
        doubtful=columns.doubtful,
    )


def _columns(files: Sequence[File], kind: str) -> Table:
    parts: list[Part] = []
    notes: list[str] = []
    each: list[DuckDBPyRelation] = []
    paths = [file.path for file in files]
    with Spool() as spool, reading(files[0].name):
        for file in files:
            with Spool() as own:
                if kind == "parquet":
                    parts.append(parquet_part(file))
                    each.append(parquet_relation(connect(), [file.path]))
                elif kind == "arrow-file":
                    parts.append(arrow_part(file, None))
                    each.append(arrow_relation(connect(), [file.path]))
                elif kind == "arrow-stream":
                    parts.append(arrow_part(file, own))
                else:
                    with checked(file) as text:
                        part, more = read_delimited(text, own)
                    parts.append(part)
                    notes += more
            if own.rows:
                each.append(spooled(own))
                spool.take(own)
        doubtful = _agree(files, each)
        spool.finish()
        rows = each[0]
        if len(each) > 1:
            below = arrow_relation if kind == "arrow-file" else parquet_relation
            rows = spooled(spool) if spool.rows else below(connect(), paths)
        table = _table(rows)
    spools = tuple(spool.paths)
    return replace(table, parts=tuple(parts), notes=tuple(notes), doubtful=doubtful, spools=spools)


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
    wanted = set(relations[0].columns)
    for file, relation in zip(files, relations, strict=True):
        if odd := sorted(wanted ^ set(relation.columns)):
            pair = (files[0], file) if odd[0] in wanted else (file, files[0])
            raise InputError(
                f"{pair[0].name} has a column {odd[0]!r}, which {pair[1].name} does not have: give"
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


# What a file is: by its content first, by its name second.


Format: TypeAlias = str
"""``delimited``, ``json`` (lines, an array or a document), ``parquet``, ``arrow-file``,
``arrow-stream``, ``workbook``, or the name of a log format in `tallystick.table.logs`."""

_MAGIC: tuple[tuple[bytes, Format], ...] = (
    (b"PAR1", "parquet"),
    (b"ARROW1\0\0", "arrow-file"),
    (b"\xff\xff\xff\xff", "arrow-stream"),
)

_OTHERS: dict[bytes, str] = {
    b"PK\x03\x04": "zip",
    b"PK\x05\x06": "zip",
    b"PARE": "encrypted Parquet",
    b"FEA1": "Feather 1",
    b"BZh": "bzip2",
    b"\xfd7zXZ\0": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"7z\xbc\xaf\x27\x1c": "7-Zip",
    b"Rar!": "RAR",
    b"\xd0\xcf\x11\xe0": "locked Office",
    b"SQLite format 3\0": "SQLite",
    b"\x89HDF": "HDF5",
    b"\x93NUMPY": "NumPy",
    b"%PDF": "PDF",
    **{bytes((0x80, version)): "pickle" for version in range(2, 6)},
}
"""How files of other kinds begin, and what these are called."""


def detect(file: File) -> Format:
    """Return the format of *file*, or refuse it by the name of what it is."""
    head = opening(file)
    if not head:
        raise FileError(f"{file.name} is empty: a table needs a header line and at least one row")
    magic = next((kind for sign, kind in _MAGIC if head.startswith(sign)), None)
    packed = is_gzip(file.path)
    if magic and not packed:
        return magic
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        names = _entries(file.path)
        if {"_journal/start.json", "header.json"} & {*names}:
            return "inspect"
        if any(name.startswith("xl/") for name in names):
            return "workbook"
    others = [kind for sign, kind in _OTHERS.items() if head.startswith(sign)]
    others += ["DuckDB"] if head[8:12] == b"DUCK" else []
    others += [f"gzipped {magic}"] if magic else []
    if head.lstrip()[:9].lower().startswith((b"<!doctype", b"<html", b"<?xml")):
        others.append("web page or XML")
    if others:
        raise FileError(
            f"{file.name} is a {others[0]} file, which is not read: unpack or unlock it, or save"
            " the table as CSV (UTF-8) or Parquet"
        )
    return _text(file, head)


def _text(file: File, head: bytes) -> Format:
    text = head.decode("utf-8", errors="replace").removeprefix("\ufeff").lstrip()
    log = sniff_text(text)
    if log is not None:
        return log
    if text[:1] == "{" and (_is_object(text.partition("\n")[0]) or not _named_delimited(file.name)):
        return "json"
    if text[:1] == "[" and not _named_delimited(file.name):
        return "json"
    return "delimited"


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _named_delimited(name: str) -> bool:
    return name.lower().removesuffix(".gz").endswith((".csv", ".tsv"))


def _entries(path: Path) -> list[str]:
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.namelist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError):
        return []
