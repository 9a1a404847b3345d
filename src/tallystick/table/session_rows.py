"""A session and its table: what is kept of the rows, labels as a column, a digest of the votes.

Beside the session ``s.label`` of a table of many rows stands ``s.label.rows``, a Parquet file that
may be deleted at any time: it is made again when the session is next opened for writing. It holds
the pattern of votes of every row and the cells that readers see, so that the table need not be read
at each step. It counts only while the files of the table are those that it was made from
(`file_stamps`); otherwise the table is read and checked in full.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError
from tallystick.table.cells import Label, identifier
from tallystick.table.columnar import parquet_relation
from tallystick.table.data import Data, RowMemory, RowPatterns, cell_codes
from tallystick.table.engine import as_arrow, as_numpy, connect
from tallystick.table.meaning import LabelRules
from tallystick.table.roles import Roles
from tallystick.table.session import Session, SessionHead, file_stamps, open_session
from tallystick.table.tables import Table
from tallystick.table.truth import scratch_file, with_labels

VERSION = 3
LEAST_ROWS = 100_000
"""Smaller tables are read in a moment, and their session stays one file."""
CELL = "cell "
"""Columns of the table are called so in the kept file, before their own names."""
_GROUP = 1 << 17
"""Rows of a row group."""
_KEY = b"tallystick"
_KEPT = ("source", "notes", "how", "unused", "all_columns", "long")
"""What is kept of the data besides its rows, roles and rules."""


def rows_file(session: str | Path) -> Path:
    """Return where the rows of a session are kept."""
    return Path(f"{session}.rows")


def _stamps(head: SessionHead, source: Sequence[str | Path] = ()) -> Any:
    """Return the stamps of all files that the table of a session is made from."""
    read = head.options.get("reading", {})
    beside = [read[name] for name in ("truth_file", "old_file") if read.get(name)]
    return file_stamps([*(source or head.source), *beside])


def keep_rows(session: str | Path, head: SessionHead, data: Data) -> None:
    """Keep what was read of a table, if it is large and lies in files. Failing to is no error."""
    memory = data.memory
    stamps = _stamps(head) if head.source else None
    if memory is None or stamps is None or data.n_rows < LEAST_ROWS or not memory.whole:
        return
    part = rows_file(session).with_name(f"{rows_file(session).name}.part")
    with suppress(OSError, ValueError, TypeError):  # a full disk; labels that JSON cannot hold
        try:
            # Cells of the table are for the eyes of those who may read the session.
            os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
            _write(part, head, data, memory, stamps)
            part.replace(rows_file(session))
        finally:
            part.unlink(missing_ok=True)


def _write(path: Path, head: SessionHead, data: Data, memory: RowMemory, stamps: Any) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns: dict[str, NDArray[Any]] = {f"group {name}": of for name, of in memory.groups.items()}
    patterns = []
    for k, ((names, tokens), one) in enumerate(memory.patterns.items()):
        few = one.place.astype(np.uint8 if len(one.codes) <= 1 << 8 else np.uint16)
        columns[f"pattern {k}"] = few
        table = [one.codes.tolist(), one.first.tolist(), one.counts.tolist()]
        patterns.append([names, tokens, one.labels, *table])
    note: dict[str, Any] = {
        "of": [VERSION, head.fingerprint, stamps],
        "missing": memory.missing,
        "patterns": patterns,
        "groups": list(memory.groups),
        "left_out": data.table.left_out,
        "data": {name: getattr(data, name) for name in _KEPT},
        "roles": {one.name: getattr(data.roles, one.name) for one in fields(Roles)},
        "rules": {one.name: getattr(data.rules, one.name) for one in fields(LabelRules)},
    }
    note["data"]["all_columns"] = data.all_columns or data.table.columns
    text = json.dumps(note, default=dict, allow_nan=False)

    named = (head.item, head.system, *head.show, *data.roles.columns())
    shown = [name for name in dict.fromkeys(named) if name in data.table.columns]
    cells = ", ".join(f"{identifier(name)} as {identifier(CELL + name)}" for name in shown)
    source = data.table.derive(f"select {cells} from rows").to_arrow_reader(_GROUP)
    more = pa.schema([(name, pa.from_numpy_dtype(of.dtype)) for name, of in columns.items()])
    schema = pa.schema([*source.schema, *more]).with_metadata({_KEY: text.encode()})
    done = 0
    with pq.ParquetWriter(path, schema, compression="snappy") as writer:
        for batch in source:
            held = [as_arrow(of[done : done + len(batch)]) for of in columns.values()]
            writer.write_table(pa.table([*batch.columns, *held], schema), _GROUP)
            done += len(batch)


def kept_rows(
    session: str | Path, head: SessionHead, source: Sequence[str | Path] = ()
) -> tuple[Data, Path] | None:
    """Return the data and the file that holds them; None where nothing was kept.

    What was made from other files than those that are there counts as nothing.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = rows_file(session)
    stamps = _stamps(head, source) if path.is_file() else None
    if stamps is None:
        return None
    try:
        with pq.ParquetFile(path, memory_map=True) as file:
            note = json.loads((file.schema_arrow.metadata or {}).get(_KEY, b"{}"))
            if note.get("of") != [VERSION, head.fingerprint, stamps]:
                return None
            names = [name for name in file.schema_arrow.names if not name.startswith(CELL)]
            held = file.read(columns=names, use_threads=False)
    except (pa.ArrowException, OSError, ValueError):
        return None
    memory = RowMemory(
        missing=_tuples(note["missing"]),
        groups={name: as_numpy(held[f"group {name}"]) for name in note["groups"]},
    )
    for k, (columns, tokens, labels, codes, first, counts) in enumerate(note["patterns"]):
        memory.patterns[tuple(columns), tuple(tokens)] = RowPatterns(
            codes=np.array(codes, np.int32).reshape(-1, len(columns)),
            labels=tuple(labels),
            first=np.array(first, np.int64),
            counts=np.array(counts, np.float64),
            place=as_numpy(held[f"pattern {k}"]),
        )
    kept = parquet_relation(connect(), [path])
    cells = [name for name in kept.columns if name.startswith(CELL)]
    of = [f"{identifier(one)} as {identifier(one.removeprefix(CELL))}" for one in cells]
    relation = kept.project(", ".join(of))
    table = Table(
        relation=relation,
        columns=tuple(relation.columns),
        source=note["data"]["source"],
        left_out=note["left_out"],
    )
    told, roles, rules = (
        {name: _tuples(value) for name, value in note[part].items()}
        for part in ("data", "roles", "rules")
    )
    data = Data(held=table, roles=Roles(**roles), rules=LabelRules(**rules), memory=memory, **told)
    return data, path


def _tuples(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


# A labelling session as the truth of a table: its labels become a column, row by row.


COLUMN = "label"
"""What the column of labels is called, unless the caller names it or the table has one."""


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
    added = added_rows(table, session)
    if added:
        raise InputError(
            f"{table.source} has {added:,} rows more than when {path} was begun, and its labels say"
            " nothing of them. Give the rows that the session was begun with, or begin a session"
            " with all of them"
        )
    labels = session_labels(session)
    name = given.truth or session.head.options.get("truth") or COLUMN
    distinct = {type(label) for label in labels.values()}
    alike = len(distinct) == 1 or distinct == {int, float}
    written = list(labels.values()) if alike else [str(one) for one in labels.values()]
    rows, said = pa.array(list(labels), pa.int64()), scratch_file("session-")
    cells = pa.table({"key_": rows, "label_": pa.array(written, None if written else pa.string())})
    pq.write_table(cells, said)
    joined, _ = with_labels(table, name, said, "row_number() over () - 1")
    note = f"{path}: {len(labels):,} labels of a labelling session"
    return joined, replace(given, truth=name), (note,), session


def added_rows(table: Table, session: Session) -> int:
    """Return how many rows a table has at its end that were not there when the session began.

    A table that is not the one that the session was drawn from is refused.
    """
    head = session.head
    absent = [name for name in head.columns if name not in table.columns]
    if absent:
        raise InputError(
            f"{session.path} was drawn from a table with a column {absent[0]!r}, which"
            f" {table.source} does not have: give the table that the session was begun with"
        )
    [(rows,)] = table.query("select count(*) from rows")
    before = int(head.options.get("rows", rows)) if head.units == "rows" else int(rows)
    first = table
    if rows > before:
        first = replace(table, relation=table.derive(f"select * from rows limit {before}"))
    if fingerprint(first, head.columns) != head.fingerprint:
        raise InputError(
            f"{session.path} was drawn from other data: the columns {', '.join(head.columns[:6])}"
            f" of {table.source} have changed since. Give the table that the session was begun"
            " with, or begin a new session"
        )
    return int(rows) - before


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
    for column in codes.T:
        many = (int(place.max(initial=0)) + 2) * (size + 1) >= 1 << 31
        keys = place * (np.int64 if many else np.int32)(size + 1) + column
        place = as_numpy(as_arrow(keys).dictionary_encode().indices)
    counts = np.bincount(place).astype(np.float64)
    # Any row of a pattern stands for all of them; written backwards, the first one stays.
    first = np.zeros(counts.size, np.int64)
    first[place[::-1]] = np.arange(len(codes) - 1, -1, -1)
    order = np.lexsort(codes[first].T[::-1]) if codes.shape[1] else np.arange(first.size)
    rank = np.empty(order.size, np.int32)
    rank[order] = np.arange(order.size)
    return first[order], counts[order], rank[place]
