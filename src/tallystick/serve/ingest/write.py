"""One batch in one transaction: key, raw body, rows, labels, counts, version."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from tallystick.serve.ingest.interned import Interned, Refused, word_of
from tallystick.serve.ingest.merge import (
    CHANGED,
    NEW,
    SAME,
    Changes,
    merge_records,
    place_of,
    set_truth,
    truth_of,
)
from tallystick.serve.ingest.parse import VoteRecord
from tallystick.serve.problem import Fix, HttpProblem
from tallystick.serve.settings import StreamRecord
from tallystick.serve.store import Transaction

if TYPE_CHECKING:
    from tallystick.serve.service import Service

__all__ = ["Accepted", "Source", "apply", "packed_body", "unpacked_body"]

_SMALL = 400
"""Bytes below which a body is kept as it is: packing it would cost more than the request."""


class Accepted(msgspec.Struct):
    """The answer to a batch: it is on the disk."""

    accepted: int
    new: int
    changed: int
    same: int
    seq: int
    again: bool = False


class Source(msgspec.Struct):
    """Where a batch comes from.

    Parameters
    ----------
    by
        Who sent it; labels without a name of their own are theirs.
    origin
        ``imported``, ``draw`` or ``volunteered``: how its labels were chosen.
    key
        The idempotency key, None for none.
    body
        The body as it came; made from the records if None.
    frame, seconds
        For labels of a draw: the frame, and how long the person took.
    """

    by: str
    origin: str = "imported"
    key: str | None = None
    body: bytes | None = None
    frame: int | None = None
    seconds: float | None = None


def packed_body(body: bytes) -> bytes:
    """Pack a body; a short one stays as it is, and the first byte tells (zlib begins with x)."""
    return body if len(body) < _SMALL else zlib.compress(body, 1)


def unpacked_body(kept: bytes) -> bytes:
    """Unpack a body.

    >>> unpacked_body(packed_body(b'{"item": 1}' * 100)) == b'{"item": 1}' * 100
    True
    """
    return zlib.decompress(kept) if kept[:1] == b"\x78" else kept


def memory_of(service: Service, stream: int) -> Interned:
    """Return what the writer remembers of a stream."""
    if "interned" not in service.memory:
        known: dict[int, Interned] = {}
        service.memory["interned"] = known
        service.on_rollback(known.clear)
    found: Interned | None = service.memory["interned"].get(stream)
    if found is None:
        found = service.memory["interned"][stream] = Interned(stream)
    return found


def apply(
    service: Service,
    transaction: Transaction,
    stream: StreamRecord,
    records: Sequence[VoteRecord],
    source: Source,
) -> Accepted:
    """Keep a batch, all of it or nothing: run it inside an operation of the writer."""
    body = source.body if source.body is not None else msgspec.json.encode(list(records))
    digest = hashlib.sha256(body).digest()
    if source.key is not None:
        before = _seen(transaction, stream, source.key, digest)
        if before is not None:
            return before

    # Registers first: whatever contradicts what is kept is refused before a row is written.
    now = service.clock()
    interned = memory_of(service, stream.id)
    interned.load(transaction)
    changes = merge_records(transaction, stream, interned, records, now=now)
    changes.check()
    fresh = [row for row in changes.rows.values() if row.is_new]
    if fresh:
        first = transaction.row_ids(len(fresh))
        for ident, row in enumerate(fresh, start=first):
            row.id = ident
    labels = _labels(transaction, stream, interned, changes, source, now)
    changes.check()

    seq = transaction.insert(
        "insert into batch (stream, key, sha256, at, by, n, new, changed, body)"
        " values (?, ?, ?, ?, ?, ?, ?, ?, ?) returning seq",
        (
            stream.id,
            source.key,
            digest,
            now,
            source.by,
            len(records),
            changes.count(NEW),
            changes.count(CHANGED),
            packed_body(body),
        ),
    )
    with transaction.together():
        _write_rows(transaction, stream, interned, changes, seq)
        _write_labels(transaction, labels, seq)
        _write_shows(transaction, changes)
        transaction.run(
            "update stream set version = version + 1, rows = rows + ? where id = ?",
            (len(fresh), stream.id),
        )
    interned.shrink()
    return Accepted(
        len(records), changes.count(NEW), changes.count(CHANGED), changes.count(SAME), seq
    )


def _seen(
    transaction: Transaction, stream: StreamRecord, key: str, digest: bytes
) -> Accepted | None:
    """Return the answer that this key had before, None if it is new."""
    row = transaction.one(
        "select seq, sha256, n, new, changed from batch where stream = ? and key = ?",
        (stream.id, key),
    )
    if row is None:
        return None
    seq, kept, n, new, changed = row
    if bytes(kept) != digest:
        raise HttpProblem(
            409,
            f"Idempotency-Key {key!r} came before with another body",
            [Fix(value=key, way_out="send the same bytes again, or another key")],
        )
    return Accepted(n, new, changed, n - new - changed, seq, again=True)


def _write_rows(
    transaction: Transaction,
    stream: StreamRecord,
    interned: Interned,
    changes: Changes,
    seq: int,
) -> None:
    """Write rows and add to the counts: what a row was is subtracted, what it is added."""
    added: list[Any] = []
    changed: list[Any] = []
    counts: dict[tuple[int, int, int], int] = {}
    for row in changes.rows.values():
        slice_, packed, grades = row.slice, row.pattern, row.grades
        if row.is_new:
            pattern = interned.pattern(transaction, packed)
            u = place_of(stream.salt, row.item, row.system)
            added.append(
                (
                    row.id,
                    stream.id,
                    row.item,
                    row.system,
                    row.bucket,
                    slice_,
                    pattern,
                    u,
                    grades,
                    seq,
                    seq,
                )
            )
            cell = (row.bucket, slice_, pattern)
            counts[cell] = counts.get(cell, 0) + 1
        elif (slice_, packed, grades) != row.old:
            pattern = interned.pattern(transaction, packed)
            before = interned.pattern(transaction, row.old[1])
            changed.append((slice_, pattern, grades, seq, row.id))
            if pattern != before or slice_ != row.old[0]:
                cell, other = (row.bucket, row.old[0], before), (row.bucket, slice_, pattern)
                counts[cell] = counts.get(cell, 0) - 1
                counts[other] = counts.get(other, 0) + 1
    if added:
        transaction.add_rows(added)
    if changed:
        transaction.change_rows(changed)
    moved = [(stream.id, *cell, n) for cell, n in counts.items() if n]
    if moved:
        transaction.add_counts(moved)


def _labels(
    transaction: Transaction,
    stream: StreamRecord,
    interned: Interned,
    changes: Changes,
    source: Source,
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
        person = label.by or source.by
        mine = held.setdefault(row.id, {})
        value = None if label.value is None else word_of(label.value)
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
            )
        )
        try:
            truth = truth_of([one for _, one in mine.values() if one is not None])
            if (
                value is not None
            ):  # a label that the stream does not take is refused even if outvoted
                interned.code(transaction, stream, "label", value, "label")
            set_truth(transaction, stream, interned, row, truth)
        except Refused as refused:
            changes.refuse(refused, line)
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


def _write_labels(transaction: Transaction, labels: list[tuple[Any, ...]], seq: int) -> None:
    """Write labels; what they correct stays, no longer current."""
    if not labels:
        return
    for one in labels:
        if one[-1] is not None:
            transaction.run("update label set current = 0 where id = ?", (one[-1],))
    # A batch may correct its own label: the last one of a person stands.
    last = {(one[0], one[2]): place for place, one in enumerate(labels)}
    transaction.many(
        "insert into label (row_id, stream, annotator, value, at, seconds, origin, frame,"
        " supersedes, seq, current) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (*one, seq, 1 if last[(one[0], one[2])] == place else 0)
            for place, one in enumerate(labels)
        ],
    )


def _write_shows(transaction: Transaction, changes: Changes) -> None:
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
