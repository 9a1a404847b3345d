"""A session and its table: labels as a column, a digest of the votes, distinct rows."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError
from tallystick.table.cells import Label, identifier
from tallystick.table.data import cell_codes
from tallystick.table.engine import as_arrow, as_numpy
from tallystick.table.roles import Roles
from tallystick.table.session import Session, open_session
from tallystick.table.tables import Table
from tallystick.table.truth import scratch_file, with_labels

# A labelling session as the truth of a table: its labels become a column, row by row.


COLUMN = "label"
"""What the column of labels is called, unless the caller names it or the table has one."""


def session_labels(session: Session) -> dict[int, Label]:
    """Return row to label, for the draws that may be read and have one label.

    Labels after the first open draw are left out: only a prefix of the draws is a sample.
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

    Labels that the table holds already are kept where the session has none.
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
    [(rows,)] = table.query("select count(*) from rows")
    before = int(head.options.get("rows", rows)) if head.units == "rows" else int(rows)
    same, first = set(head.columns) <= set(table.columns), table
    if rows > before:
        first = replace(table, relation=table.derive(f"select * from rows limit {before}"))
    if not same or fingerprint(first, head.columns) != head.fingerprint:
        raise InputError(
            f"{session.path} was drawn from other data: the columns {', '.join(head.columns[:6])}"
            f" of {table.source} have changed since. Give the table that the session was begun"
            " with, or begin a new session"
        )
    return int(rows) - before


# A digest of some columns of a table: the same cells in the same order, whatever the file.


_COLUMNS, _CELLS = 100, 50_000_000
"""The most columns that are read at once, and the most cells."""

_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT")


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
        # Whole numbers are coded as they are, and written once for each that occurs.
        kinds = dict(zip(table.columns, map(str, table.relation.types), strict=True))
        cells = [
            identifier(name) if kinds[name] in _WHOLE else f"cast({identifier(name)} as varchar)"
            for name in block
        ]
        codes, words = cell_codes(table, cells)
        for place, name in enumerate(block):
            listed = "\x1f".join(map(str, words[place]))
            digest.update(f"\x1e{name}\x1e{len(codes)}\x1e{listed}\x1e".encode())
            digest.update(np.ascontiguousarray(codes[:, place], dtype="<i4").data)
    return digest.hexdigest()[:32]


# The distinct rows of a matrix of codes, in little memory: four bytes per row.


def distinct_rows(
    codes: NDArray[np.integer], size: int
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int32]]:
    """Return where each distinct row first stands, how often it occurs, and which each row is.

    Between two columns rows are known by their number so far, so that no product overflows.

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
