"""What a session keeps of its table, so that a table of millions of rows is not read at each step.

Beside the session ``s.label`` stands ``s.label.rows``, a Parquet file that may be deleted at any
time: it is made again when the session is next opened for writing. It holds the pattern of votes of
every row, and for tables that are slow to read row by row (CSV and the like) the cells that readers
see. It counts only while the files of the table are those that it was made from
(:mod:`.file_stamp`); otherwise the table is read and checked in full.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError
from tallystick.table.cells import Label, identifier, in_order
from tallystick.table.columnar import parquet_relation
from tallystick.table.data import Data, RowMemory, RowPatterns, cell_codes
from tallystick.table.engine import as_arrow, as_numpy, connect, reading
from tallystick.table.meaning import LabelRules
from tallystick.table.roles import GROUPS, Roles
from tallystick.table.session import Session, SessionHead, Stamp, file_stamps, open_session
from tallystick.table.sources import scratch
from tallystick.table.tables import Table

if TYPE_CHECKING:
    import numpy.typing as npt
    import pyarrow as pa

VERSION = 2
LEAST_ROWS = 100_000
"""Smaller tables are read in a moment, and their session stays one file."""
_GROUP = 1 << 17
"""Rows of a row group."""
_KEY = b"tallystick"
_PATTERN, _GROUPS, _CELL = "pattern ", "group ", "cell "


@dataclass(frozen=True, kw_only=True, eq=False)
class KeptRows:
    """What was kept of a table that has not changed since.

    Parameters
    ----------
    memory
        The patterns of all rows.
    data
        The data itself, from the kept cells; None where the table is read where it lies.
    file
        A Parquet file with the rows in their order, and the prefix of its columns.
    """

    memory: RowMemory
    data: Data | None
    file: tuple[Path, str]


def rows_file(session: str | Path) -> Path:
    """Return where the rows of a session are kept."""
    return Path(f"{session}.rows")


def source_files(head: SessionHead, source: Sequence[str | Path] = ()) -> tuple[str, ...]:
    """Return the files that the table of a session is made from."""
    reading = head.options.get("reading", {})
    beside = [reading[name] for name in ("truth_file", "old_file") if reading.get(name)]
    return (*map(str, source or head.source), *map(str, beside))


def keep_rows(session: str | Path, head: SessionHead, data: Data) -> None:
    """Keep what was read of a table, if it is large and lies in files. Failing to is no error."""
    memory = data.memory
    stamps = file_stamps(source_files(head)) if head.source else None
    if memory is None or stamps is None or data.n_rows < LEAST_ROWS or not memory.whole:
        return
    target = rows_file(session)
    part = target.with_name(f"{target.name}.part")
    with suppress(OSError, ValueError, TypeError):  # a full disk; labels that JSON cannot hold
        try:
            # Cells of the table are for the eyes of those who may read the session.
            os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
            _write(part, head, data, memory, stamps)
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)


def kept_rows(
    session: str | Path, head: SessionHead, source: Sequence[str | Path] = ()
) -> KeptRows | None:
    """Return what was kept, or None where nothing was, or the table's files have changed."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = rows_file(session)
    stamps = file_stamps(source_files(head, source)) if path.is_file() else None
    if stamps is None:
        return None
    try:
        with pq.ParquetFile(path, memory_map=True) as file:
            note = json.loads((file.schema_arrow.metadata or {}).get(_KEY, b"{}"))
            known = (note.get("version"), note.get("fingerprint"), note.get("stamps"))
            if known != (VERSION, head.fingerprint, stamps):
                return None
            memory = _read_memory(file, note)
    except (pa.ArrowException, OSError, ValueError, KeyError):
        return None
    if note["table"] is None:
        return KeptRows(memory=memory, data=None, file=(Path(source_files(head, source)[0]), ""))
    return KeptRows(memory=memory, data=_data(path, note["table"], memory), file=(path, _CELL))


# -- writing


def _write(
    path: Path, head: SessionHead, data: Data, memory: RowMemory, stamps: list[Stamp]
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    copied = () if _lies_in_parquet(data.table) else _shown(head, data)
    note = {
        "version": VERSION,
        "fingerprint": head.fingerprint,
        "stamps": stamps,
        "missing": None if memory.missing is None else list(memory.missing),
        "patterns": [
            {
                "columns": columns,
                "tokens": tokens,
                "codes": found.codes.tolist(),
                "labels": list(found.labels),
                "first": found.first.tolist(),
                "counts": found.counts.tolist(),
            }
            for (columns, tokens), found in memory.patterns.items()
        ],
        "groups": list(memory.groups),
        "table": None if _lies_in_parquet(data.table) else _note(data),
    }
    text = json.dumps(note, allow_nan=False)
    arrays = {
        **{
            f"{_PATTERN}{k}": _small(found.place, len(found.codes))
            for k, found in enumerate(memory.patterns.values())
        },
        **{f"{_GROUPS}{name}": found for name, found in memory.groups.items()},
    }
    writer: pq.ParquetWriter | None = None
    try:
        for batch in _batches(arrays, data, copied):
            if writer is None:
                schema = batch.schema.with_metadata({_KEY: text.encode()})
                writer = pq.ParquetWriter(path, schema, compression="snappy")
            writer.write_table(pa.Table.from_batches([batch], writer.schema), _GROUP)
    finally:
        if writer is not None:
            writer.close()


def _batches(
    arrays: dict[str, npt.NDArray[Any]], data: Data, copied: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """Return the kept columns, some rows at a time."""
    import pyarrow as pa

    if not copied:
        whole = pa.table({name: as_arrow(one) for name, one in arrays.items()})
        yield from whole.to_batches(max_chunksize=_GROUP)
        return
    cells = ", ".join(f"{identifier(name)} as {identifier(_CELL + name)}" for name in copied)
    done = 0
    for batch in data.table.derive(f"select {cells} from rows").to_arrow_reader(_GROUP):
        held = {name: as_arrow(one[done : done + len(batch)]) for name, one in arrays.items()}
        for name in batch.schema.names:
            held[name] = batch.column(name)
        yield pa.RecordBatch.from_pydict(held)
        done += len(batch)


def _shown(head: SessionHead, data: Data) -> tuple[str, ...]:
    """Return the columns that a session needs besides patterns: names, texts, and single cells."""
    named = (head.item, head.system, *head.show, *data.roles.columns())
    return tuple(dict.fromkeys(name for name in named if name in data.table.columns))


def _note(data: Data) -> dict[str, Any]:
    """Return what is known of the data besides its rows."""
    return {
        "source": data.source,
        "notes": list(data.notes),
        "roles": {one.name: getattr(data.roles, one.name) for one in fields(Roles)},
        "rules": {one.name: getattr(data.rules, one.name) for one in fields(LabelRules)},
        "columns": list(data.all_columns or data.table.columns),
        "long": data.long,
        "how": dict(data.how),
        "unused": None if data.unused is None else dict(data.unused),
        "left_out": dict(data.table.left_out),
    }


def _small(place: npt.NDArray[np.integer], patterns: int) -> npt.NDArray[np.integer]:
    """Return the pattern of each row in as few bytes as will do."""
    import numpy as np

    return place.astype(np.uint8 if patterns <= 1 << 8 else np.uint16)


def _lies_in_parquet(table: Table) -> bool:
    """Say whether the rows of a table are those of one Parquet file, in its order."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if len(table.files) != 1 or table.spools:
        return False
    try:
        found = pq.read_metadata(table.files[0])
    except (pa.ArrowException, OSError):
        return False
    [(rows,)] = table.query("select count(*) from rows")
    names = found.schema.to_arrow_schema().names
    return bool(found.num_rows == rows) and names == list(table.columns)


# -- reading


def _read_memory(file: Any, note: dict[str, Any]) -> RowMemory:
    """Return the patterns and groups of all rows."""
    import numpy as np

    names = [f"{_PATTERN}{k}" for k in range(len(note["patterns"]))]
    grouped = [f"{_GROUPS}{name}" for name in note["groups"]]
    table = file.read(columns=[*names, *grouped], use_threads=False)
    missing = note["missing"]
    memory = RowMemory(missing=None if missing is None else tuple(missing))
    for name, held in zip(names, note["patterns"], strict=True):
        codes = np.array(held["codes"], np.int32).reshape(-1, len(held["columns"]))
        memory.patterns[tuple(held["columns"]), tuple(held["tokens"])] = RowPatterns(
            codes=codes,
            labels=tuple(held["labels"]),
            first=np.array(held["first"], np.int64),
            counts=np.array(held["counts"], np.float64),
            place=as_numpy(table[name]),
        )
    for name in note["groups"]:
        memory.groups[name] = as_numpy(table[f"{_GROUPS}{name}"])
    return memory


def _data(path: Path, note: dict[str, Any], memory: RowMemory) -> Data:
    """Return the data of a table whose cells were kept."""
    kept = parquet_relation(connect(), [path])
    names = [name for name in kept.columns if name.startswith(_CELL)]
    cells = ", ".join(
        f"{identifier(name)} as {identifier(name.removeprefix(_CELL))}" for name in names
    )
    relation = kept.project(cells)
    table = Table(
        relation=relation,
        columns=tuple(relation.columns),
        source=note["source"],
        left_out=note["left_out"],
    )
    roles: dict[str, Any] = {
        name: tuple(value or ()) if name in GROUPS else value
        for name, value in note["roles"].items()
    }
    rules: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in note["rules"].items()
    }
    return Data(
        held=table,
        roles=Roles(**roles),
        rules=LabelRules(**rules),
        source=note["source"],
        notes=tuple(note["notes"]),
        memory=memory,
        how=note["how"],
        unused=note["unused"],
        all_columns=tuple(note["columns"]),
        long=None if note["long"] is None else tuple(note["long"]),
    )


# A labelling session as the truth of a table: its labels become a column, row by row.


COLUMN = "label"
"""What the column of labels is called, unless the caller names it or the table has one."""

_BATCH = 100_000


def session_labels(session: Session) -> dict[int, Label]:
    """Return row to label, for the draws that may be read and have one label.

    Labels after the first open draw are left out: only a prefix of the draws is a sample. Skips and
    unresolved disagreements have no label.
    """
    last = session.readable()
    found: dict[int, Label] = dict(session.apart)
    for ask in session.asks:
        labels = session.labels(ask.number)
        if ask.draw < last and len(labels) == 1:
            found[ask.row] = labels[0]
    return found


def join_session(
    table: Table, given: Roles, path: str | Path
) -> tuple[Table, Roles, tuple[str, ...], Session]:
    """Return *table* with a column of the session's labels, the roles, notes, and the session.

    The session belongs to one table: a table whose columns of votes have changed raises
    `InputError`. Labels that the table holds already are kept where the session has none.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    session = open_session(path)
    check_fingerprint(table, session)
    labels = session_labels(session)
    name = given.truth or session.head.options.get("truth") or COLUMN
    kind = _arrow_type(labels.values(), table, name)

    with tempfile.NamedTemporaryFile(
        dir=scratch(), prefix="session-", suffix=".parquet", delete=False
    ) as made:
        target = Path(made.name)
    writer: pq.ParquetWriter | None = None
    done = 0
    with reading(table.source):
        for batch in table.derive("select * from rows").to_arrow_reader(_BATCH):
            part = pa.Table.from_batches([batch])
            mine: list[Label] = [None] * len(part)
            for row, label in labels.items():
                if done <= row < done + len(part):
                    mine[row - done] = label
            part = _with_labels(part, name, mine, kind)
            writer = writer or pq.ParquetWriter(target, part.schema)
            writer.write_table(part)
            done += len(part)
    if writer is not None:
        writer.close()
    relation = parquet_relation(connect(), [target])
    joined = replace(
        table,
        relation=relation,
        columns=tuple(relation.columns),
        spools=(*table.spools, target),
    )
    note = f"{path}: {len(labels):,} labels of a labelling session"
    return joined, replace(given, truth=name), (note,), session


def check_fingerprint(table: Table, session: Session) -> None:
    """Refuse a table that is not the one that the session was drawn from."""
    head = session.head
    absent = [name for name in head.columns if name not in table.columns]
    if absent:
        raise InputError(
            f"{session.path} was drawn from a table with a column {absent[0]!r}, which"
            f" {table.source} does not have: give the table that the session was begun with"
        )
    if fingerprint(table, head.columns) != head.fingerprint:
        raise InputError(
            f"{session.path} was drawn from other data: the columns {', '.join(head.columns[:6])}"
            f" of {table.source} have changed since. Give the table that the session was begun"
            " with, or begin a new session"
        )


def _arrow_type(labels: Iterable[Label], table: Table, name: str) -> Any:
    """Return the type of the joined column: that of the labels, text where they mix."""
    import pyarrow as pa

    distinct = in_order(labels)
    if name in table.columns:
        return pa.string()
    kinds = {type(label) for label in distinct}
    if kinds == {bool}:
        return pa.bool_()
    if kinds and kinds <= {int}:
        return pa.int64()
    if kinds and kinds <= {int, float}:
        return pa.float64()
    return pa.string()


def _with_labels(part: Any, name: str, labels: list[Label], kind: Any) -> Any:
    """Put the labels into *part*; a label that is there already stays where we have none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    text = kind == pa.string()
    column = pa.array(
        [None if one is None else str(one) if text else one for one in labels], type=kind
    )
    if name not in part.column_names:
        return part.append_column(name, column)
    place = part.column_names.index(name)
    own = part[name].combine_chunks()
    mine = column.cast(own.type) if own.type != pa.string() else column
    blank = pc.is_null(own)
    if own.type == pa.string():
        blank = pc.or_(blank, pc.equal(pc.utf8_trim_whitespace(pc.fill_null(own, "")), ""))
    return part.set_column(place, name, pc.if_else(blank, mine, own))


# A digest of some columns of a table: the same cells in the same order, whatever the file.


_COLUMNS, _CELLS = 100, 50_000_000
"""The most columns that are read at once, and the most cells."""


def fingerprint(table: Table, columns: Sequence[str]) -> str:
    """Return a digest of the cells of *columns*, row by row, read as text.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tallystick.table import scan
    >>> one = fingerprint(scan(pa.table({"a": [1, 0], "b": ["x", None]})), ["a", "b"])
    >>> two = fingerprint(scan(pa.table({"a": ["1", "0"], "b": ["x", None]})), ["a", "b"])
    >>> one == two
    True
    """
    import numpy as np

    digest = hashlib.sha256()
    [(rows,)] = table.query("select count(*) from rows")
    at_once = max(1, min(_COLUMNS, _CELLS // max(int(rows), 1)))
    for start in range(0, len(columns), at_once):
        block = columns[start : start + at_once]
        cells = [f"cast({identifier(name)} as varchar)" for name in block]
        # Few distinct cells, many rows: the codes and the cells they stand for are enough.
        codes, words = cell_codes(table, cells)
        for place, name in enumerate(block):
            listed = "\x1f".join(words[place])
            digest.update(f"\x1e{name}\x1e{len(codes)}\x1e{listed}\x1e".encode())
            digest.update(np.ascontiguousarray(codes[:, place], dtype="<i4").tobytes())
    return digest.hexdigest()[:32]


# The distinct rows of a matrix of codes, in little memory: four bytes per row.


_DENSE = 1 << 22
"""Up to this many possible rows are counted in a table; more are sorted."""


def distinct_rows(
    codes: NDArray[np.integer], size: int
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int32]]:
    """Return where each distinct row first stands, how often it occurs, and which each row is.

    The columns are taken in one after the other. Between two of them rows are known by their number
    among those that differ so far, so no product of many columns overflows.

    Parameters
    ----------
    codes
        Rows x columns of codes in -1..size - 1.
    size
        How many codes there are.

    Examples
    --------
    >>> codes = np.array([[0, 1], [-1, 1], [0, 1]])
    >>> first, counts, place = distinct_rows(codes, 2)
    >>> codes[first].tolist(), counts.tolist(), place.tolist()
    ([[-1, 1], [0, 1]], [1.0, 2.0], [1, 0, 1])
    """
    place = np.zeros(len(codes), np.int32)
    count = 1
    for column in codes.T:
        # A column that shows few of the codes is numbered by those that it shows.
        seen = np.flatnonzero(np.bincount(column + 1, minlength=size + 1))
        rank = np.zeros(size + 1, np.int64)
        rank[seen] = np.arange(seen.size)
        joined = place * np.int64(seen.size)
        joined += rank[column + 1]
        place, count = _numbered(joined, count * seen.size)
    counts = np.bincount(place, minlength=count).astype(np.float64)
    # Any row of a pattern stands for all of them; written backwards, the first one stays.
    first = np.zeros(count, np.int64)
    first[place[::-1]] = np.arange(len(codes) - 1, -1, -1)
    return first, counts, place


def _numbered(joined: NDArray[np.int64], most: int) -> tuple[NDArray[np.int32], int]:
    """Return numbers 0, 1, … in the order of *joined*, and how many there are."""
    if most <= _DENSE:
        seen = np.flatnonzero(np.bincount(joined, minlength=most))
        rank = np.zeros(most, np.int32)
        rank[seen] = np.arange(seen.size)
        return rank[joined], int(seen.size)
    seen, place = np.unique(joined, return_inverse=True)
    return place.astype(np.int32), int(seen.size)
