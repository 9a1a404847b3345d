"""Labels of people, and what they see: each person's label of a row is a register of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from tallystick.serve.ingest.body import packed_body
from tallystick.serve.ingest.group import Group
from tallystick.serve.ingest.interned import Interned, Refused
from tallystick.serve.ingest.merge import CHANGED, Changes, set_truth, truth_of
from tallystick.serve.problem import Fix
from tallystick.serve.settings import StreamRecord
from tallystick.serve.store import Transaction

__all__ = ["decide_labels", "write_labels", "write_shows"]


def decide_labels(
    transaction: Transaction,
    stream: StreamRecord,
    interned: Interned,
    changes: Changes,
    group: Group,
    *,
    now: float,
) -> list[tuple[Any, ...]]:
    """Decide the truth of every row that got a label; return the labels to write.

    Each person's label of a row is a register of its own; a correction supersedes the old one.
    """
    if not changes.labels:
        return []
    held = _held_labels(transaction, changes)
    written: list[tuple[Any, ...]] = []
    for row, record, line in changes.labels:
        label = record.label
        if label is None:
            continue
        source = group.source(line)
        person = label.by or source.by
        mine = held.setdefault(row.id, {})
        try:
            # A label that the stream does not take is refused even if outvoted.
            value = (
                None if label.value is None else interned.label(transaction, stream, label.value)
            )
        except Refused as refused:
            changes.refuse(refused, line)
            continue
        before = mine.get(person)
        if before is not None and before[1] == value:
            continue
        if before is not None and not record.replace:
            way = f"{person!r} said {before[1]!r} before: send 'replace': true to correct it"
            changes.refuse(Refused(409, Fix(column="label", value=value, way_out=way)), line)
            continue
        changes.outcomes[line - 1] = max(CHANGED, changes.outcomes[line - 1])
        mine[person] = (before[0] if before is not None else None, value)
        written.append(
            (
                row.id,
                stream.id,
                person,
                value,
                now,
                source.seconds,
                source.origin,
                source.frame,
                before[0] if before is not None else None,
                group.places[line - 1],
            )
        )
        truth = truth_of([one for _, one in mine.values() if one is not None])
        was = row.pattern
        set_truth(transaction, stream, interned, row, truth)
        if row.pattern != was:
            row.last = line
    return written


def _held_labels(
    transaction: Transaction, changes: Changes
) -> dict[int, dict[str, tuple[int | None, str | None]]]:
    """Return the current labels of the rows that get new ones: row to person to (id, value)."""
    ids = list({row.id for row, _, _ in changes.labels if not row.is_new})
    held: dict[int, dict[str, tuple[int | None, str | None]]] = {}
    for start in range(0, len(ids), 500):
        part = ids[start : start + 500]
        marks = ", ".join("?" * len(part))
        for row_id, person, ident, value in transaction.all(
            "select row_id, annotator, id, value from label where current = 1"
            f" and reason is null and row_id in ({marks})",
            part,
        ):
            held.setdefault(row_id, {})[person] = (ident, value)
    return held


def write_labels(
    transaction: Transaction, labels: list[tuple[Any, ...]], seqs: Sequence[int]
) -> None:
    """Write labels; what they correct stays, no longer current."""
    if not labels:
        return
    corrected = [(one[-2],) for one in labels if one[-2] is not None]
    if corrected:
        transaction.many("update label set current = 0 where id = ?", corrected)
    # A batch may correct its own label: the last one of a person stands.
    last = {(one[0], one[2]): place for place, one in enumerate(labels)}
    transaction.many(
        "insert into label (row_id, stream, annotator, value, at, seconds, origin, frame,"
        " supersedes, seq, current) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (*one[:-1], seqs[one[-1]], 1 if last[(one[0], one[2])] == place else 0)
            for place, one in enumerate(labels)
        ],
    )


def write_shows(transaction: Transaction, changes: Changes) -> None:
    """Keep what a labeller sees; the last one stands."""
    if not changes.shows:
        return
    rows: dict[int, bytes] = {}
    for row, show in changes.shows:
        rows[row.id] = packed_body(msgspec.json.encode(show))
    transaction.many(
        "insert into payload (row_id, body) values (?, ?)"
        " on conflict (row_id) do update set body = excluded.body",
        list(rows.items()),
    )
