"""A labelling session as the truth of a table: its labels become a column, row by row."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from tallystick.data.fingerprint import fingerprint
from tallystick.data.roles import Roles
from tallystick.data.session import Session, open_session
from tallystick.errors import InputError
from tallystick.io import Table, connect, reading
from tallystick.io.columnar import parquet_relation
from tallystick.io.scratch import scratch
from tallystick.values import Label, in_order

__all__ = ["COLUMN", "join_session", "session_labels"]

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
