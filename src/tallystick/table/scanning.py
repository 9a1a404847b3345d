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

    CSV, TSV, NDJSON, a JSON array (each also gzipped), Parquet and Arrow IPC are told apart by
    content first and by name second. Text comes as VARCHAR exactly as written (``"1.0"`` stays
    ``"1.0"``, ``"NA"`` stays ``"NA"``), a blank cell as NULL; typed formats keep their types.
    Parquet and Arrow are read where they lie; text is parsed once, checked on the way, into scratch
    files that `Table.close` removes (so does the end of the process).

    Parameters
    ----------
    source
        A path, a glob, several of them, ``"-"`` for standard input, a DuckDB relation, an Arrow
        table, a mapping of columns, a list of objects, a data set of Hugging Face, or a frame,
        which is fetched if it lies elsewhere.
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
    if isinstance(source, str | Path) or (isinstance(source, Sequence) and not are_rows(source)):
        return _read(resolve(source), metric)
    if is_relation(source):
        check_names(source.columns, "the table")
        return replace(_in_memory(source), foreign=True)
    arrow, notes = arrow_of(source)
    check_names(arrow.column_names, "the table")  # DuckDB would rename a second one
    table = _in_memory(connect().from_arrow(arrow))
    return replace(table, notes=(*table.notes, *notes))


def _in_memory(relation: DuckDBPyRelation) -> Table:
    table = _table(relation)
    return replace(table, notes=_left_out(table))


# Data in memory: a mapping, a list of objects, an eager frame, a data set, as Arrow.


def arrow_of(source: Any) -> tuple[Any, tuple[str, ...]]:
    """Return data in memory as an Arrow table, and what was left out of it."""
    import pyarrow as pa

    if isinstance(source, pa.Table):
        return source, ()
    if are_rows(source):
        source = columns_of_rows(source)
    if type(source).__module__.partition(".")[0] == "datasets":
        return arrow_of_dataset(source), ()
    if isinstance(source, Mapping):
        return arrow_of_mapping(source), ()
    frame = frame_of(source)
    names, _ = check_names(list(frame.collect_schema()), "the frame")
    eager = frame.collect() if is_lazy(source) else frame
    made: tuple[Any, tuple[str, ...]] = _arrow(
        lambda: with_index(source, arrow_table(eager)), names
    )
    return made


def arrow_of_mapping(columns: Mapping[str, Any]) -> Any:
    """Return columns of equal length as an Arrow table."""
    import pyarrow as pa

    if not columns:
        raise InputError("the mapping has no columns: give at least one")
    _check_indexes(columns)
    check_names(list(columns), "the mapping")
    check_lengths({name: len(values) for name, values in columns.items()})
    arrays = {}
    for name, values in columns.items():
        held = values.tolist() if hasattr(values, "tolist") else list(values)
        arrays[name] = _arrow(lambda held=held: pa.array(held, from_pandas=True), [name])
    return pa.table(arrays)


def _check_indexes(columns: Mapping[str, Any]) -> None:
    """Refuse pandas Series whose rows stand in another order: a frame would put them side by side.

    Lists and arrays go by position. So would Series, and an index that says otherwise would be
    ignored silently.
    """
    index: Any = None
    first = ""
    for name, values in columns.items():
        held = getattr(values, "index", None)
        if not hasattr(held, "equals"):
            continue
        if index is None:
            index, first = held, name
        elif not index.equals(held):
            raise InputError(
                f"columns {first!r} and {name!r} are pandas Series with different indexes: give"
                " pd.DataFrame(columns), which matches their rows, or .to_numpy() of each if they"
                " go by position"
            )


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


# The index of a pandas frame: a named one holds facts of the rows, often their items.


def with_index(frame: Any, table: pa.Table) -> tuple[pa.Table, tuple[str, ...]]:
    """Return *table*, the columns of *frame*, with the named levels of its index before them, and
    what was left out.

    An index without a name is left out. It is mentioned only if it holds something else than whole
    numbers, which pandas gives to rows by itself.

    >>> import pandas as pd
    >>> import pyarrow as pa
    >>> frame = pd.DataFrame({"gpt": [1, 0]}, index=pd.Index(["q1", "q2"], name="question_id"))
    >>> with_index(frame, pa.table({"gpt": [1, 0]}))[0].column_names
    ['question_id', 'gpt']
    """
    import pyarrow as pa

    index = getattr(frame, "index", None)
    if type(frame).__module__.partition(".")[0] != "pandas" or index is None:
        return table, ()

    notes: list[str] = []
    for level in reversed(range(index.nlevels)):
        name, values = index.names[level], index.get_level_values(level)
        if isinstance(name, str) and name not in table.column_names:
            cells = pa.array(values.to_numpy(), from_pandas=True)
            table = table.add_column(0, name, cells)
        elif name is None and values.dtype.kind not in "iu":
            notes.append(
                f"the index of the frame ({str(values[0])[:40]!r}, …) has no name and was left out."
                ' To use it, name it: frame.index.name = "item"'
            )
    return table, tuple(notes)


# Datasets of Hugging Face as a source: their rows are Arrow already.


def arrow_of_dataset(source: Any) -> Any:
    """Return a ``datasets.Dataset`` as an Arrow table, its selection and order included.

    A column of class numbers becomes the names of the classes: votes are words.

    Parameters
    ----------
    source
        One split. A ``DatasetDict`` holds several, and a stream cannot be read twice: both are
        refused with the way out.
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
        if type(feature).__name__ != "ClassLabel":
            continue
        names = pa.array(feature.names, pa.string())
        codes = table[name]
        # -1 means that the truth is hidden, as in the test splits of many benchmarks.
        known = pc.if_else(pc.greater_equal(codes, 0), codes, None)
        table = table.set_column(place, name, pc.take(names, known))
    return table


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


def _loaded(files: Sequence[File], formats: Sequence[str], metric: str | None) -> Table:
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
        return _delimited(files)
    return _columns(files, formats[0])


def _logs(files: Sequence[File], formats: Sequence[str], metric: str | None) -> Table:
    import pyarrow as pa

    form = log_formats()[formats[0]]
    if form.is_table and len(set(formats)) == 1:
        cells = read_table(files, form)
        columns = {name: pa.array(column, pa.string()) for name, column in cells.items()}
        table = scan(pa.table(columns))
        note = f"read as {form.name}: {table.relation.shape[0]:,} rows"
        return replace(table, notes=(note,))
    from tallystick.table.runs import beside

    found = beside(read_logs(files, formats), metric)
    table = scan(pa.table(found.columns))
    kinds, items = ", ".join(dict.fromkeys(formats)), len(set(next(iter(found.columns.values()))))
    note = f"read as {kinds} logs: {len(found.models)} models on {items} items"
    return replace(table, notes=(note, *found.notes))


def _delimited(files: Sequence[File]) -> Table:
    parts: list[Part] = []
    notes: list[str] = []
    each: list[DuckDBPyRelation] = []
    with Spool() as spool:
        for file in files:
            start = len(spool.paths)
            with checked(file) as text:
                part, more = read_delimited(text, spool)
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
    packed = is_gzip(file.path)
    if not head:
        raise FileError(f"{file.name} is empty: a table needs a header line and at least one row")
    for magic, kind in _MAGIC:
        if head.startswith(magic):
            if packed:
                raise FileError(
                    f"{file.name} is a gzipped {kind} file; unpack it first (gunzip), it is"
                    " compressed inside"
                )
            return kind
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        names = _entries(file.path)
        if {"_journal/start.json", "header.json"} & {*names}:
            return "inspect"
        if any(name.startswith("xl/") for name in names):
            return "workbook"
    others = [kind for magic, kind in _OTHERS.items() if head.startswith(magic)]
    others += ["DuckDB"] if head[8:12] == b"DUCK" else []
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
        if text[1:].lstrip()[:1] in ("{", "]", ""):
            return "json"
        raise FileError(
            f"{file.name} is a JSON array without objects: write one object per row,"
            " [{'item': 1, 'gpt': 'yes'}, …]"
        )
    if text[:9].lower().startswith(("<!doctype", "<html", "<?xml")):
        raise FileError(
            f"{file.name} is a web page or XML, not a table; perhaps a download that failed"
        )
    return "delimited"


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _named_delimited(name: str) -> bool:
    return name.lower().removesuffix(".gz").endswith((".csv", ".tsv"))


def _entries(path: Path) -> list[str]:
    """Return the names inside a zip archive; nothing if it is damaged."""
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.namelist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError):
        return []
