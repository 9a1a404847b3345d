"""Batches in one transaction: keys, raw bodies, rows, labels, counts, version."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from tallystick.serve.ingest.body import packed_body
from tallystick.serve.ingest.group import Batch, Group, RefusedBatches, Source
from tallystick.serve.ingest.interned import Interned
from tallystick.serve.ingest.labels import decide_labels, write_labels, write_shows
from tallystick.serve.ingest.merge import CHANGED, NEW, Changes, merge_records
from tallystick.serve.ingest.parse import VoteRecord
from tallystick.serve.ingest.places import RowPlaces
from tallystick.serve.problem import Fix, HttpProblem
from tallystick.serve.settings import StreamRecord
from tallystick.serve.store import KeptBatch, NewRow, Transaction

if TYPE_CHECKING:
    from tallystick.serve.service import Service

__all__ = ["Accepted", "apply", "apply_group"]


class Accepted(msgspec.Struct):
    """The answer to a batch: it is on the disk."""

    accepted: int
    new: int
    changed: int
    same: int
    seq: int
    again: bool = False


def memory_of(service: Service, stream: StreamRecord) -> Interned:
    """Return what the writer remembers of a stream."""
    if "interned" not in service.memory:
        known: dict[int, Interned] = {}
        service.memory["interned"] = known
        service.on_rollback(known.clear)
    found: Interned | None = service.memory["interned"].get(stream.id)
    if found is None:
        found = Interned(stream.id, stream.salt)
        service.memory["interned"][stream.id] = found
    return found


def apply(
    service: Service,
    transaction: Transaction,
    stream: StreamRecord,
    records: Sequence[VoteRecord],
    source: Source,
) -> Accepted:
    """Keep a batch, all of it or nothing: run it inside an operation of the writer."""
    [answer] = apply_group(service, transaction, stream, [(records, source)])
    if isinstance(answer, HttpProblem):
        raise answer
    return answer


def apply_group(
    service: Service, transaction: Transaction, stream: StreamRecord, batches: Sequence[Batch]
) -> list[Accepted | HttpProblem]:
    """Keep batches of one stream as if one came after the other, asking the database once for all.

    Keys must differ inside a group.

    Raises
    ------
    RefusedBatches
        Batches were refused. What was written until then must be undone; then the others can be
        kept together, and each of the refused ones learns why when it is tried alone.
    """
    bodies = [
        source.body if source.body is not None else msgspec.json.encode(list(records))
        for records, source in batches
    ]
    digests = [hashlib.sha256(body).digest() for body in bodies]
    # Registers first: whatever contradicts what is kept is refused before a row is written.
    names: dict[Any, None] = {}
    for records, _ in batches:
        names.update(dict.fromkeys([(one.item, one.system) for one in records]))
    keys = [source.key for _, source in batches if source.key is not None]
    interned = memory_of(service, stream)
    places = interned.places
    held, found = transaction.find(stream.id, keys, list(names), places)
    seen: dict[str | None, KeptBatch] = {row[0]: row for row in held}
    answers: list[Accepted | HttpProblem | None] = [
        _before(seen.get(source.key), digest)
        for (_, source), digest in zip(batches, digests, strict=True)
    ]
    fresh = [place for place, answer in enumerate(answers) if answer is None]
    if fresh:
        group = Group([batches[place] for place in fresh])
        now = service.clock()
        interned.load(transaction)
        try:
            changes = merge_records(transaction, stream, interned, group.records, found, now=now)
            group.check(changes)
            new = [row for row in changes.rows.values() if row.is_new]
            first_row, first_seq = transaction.numbers(len(new), len(fresh))
            for ident, row in enumerate(new, start=first_row):
                row.id = ident
            labels = decide_labels(transaction, stream, interned, changes, group, now=now)
            group.check(changes)
        except RefusedBatches as apart:
            raise RefusedBatches(frozenset(fresh[place] for place in apart.places)) from None
        counted = [
            (len(one), one.count(NEW), one.count(CHANGED)) for one in group.outcomes(changes)
        ]
        seqs = range(first_seq, first_seq + len(fresh))
        interned.learn(transaction, [row.pattern for row in changes.rows.values()])
        with transaction.together():
            transaction.add_batches(
                [
                    (
                        seq,
                        stream.id,
                        batches[place][1].key,
                        digests[place],
                        now,
                        batches[place][1].by,
                        *counts,
                        packed_body(bodies[place]),
                    )
                    for seq, place, counts in zip(seqs, fresh, counted, strict=True)
                ]
            )
            of_record = [seqs[k] for k in group.places]
            _write_rows(transaction, places, interned, changes, of_record, ident=stream.id)
            write_labels(transaction, labels, seqs)
            write_shows(transaction, changes)
            transaction.run(
                "update stream set version = version + ?, rows = rows + ? where id = ?",
                (len(fresh), len(new), stream.id),
            )
        interned.shrink()
        for place, seq, (n, made, changed) in zip(fresh, seqs, counted, strict=True):
            answers[place] = Accepted(n, made, changed, n - made - changed, seq)
    return [one for one in answers if one is not None]


def _before(row: KeptBatch | None, digest: bytes) -> Accepted | HttpProblem | None:
    """Return the answer that a key had before, None if it is new."""
    if row is None:
        return None
    key, seq, kept, n, new, changed = row
    if bytes(kept) != digest:
        return HttpProblem(
            409,
            f"Idempotency-Key {key!r} came before with another body",
            [Fix(value=key, way_out="send the same bytes again, or another key")],
        )
    return Accepted(n, new, changed, n - new - changed, seq, again=True)


def _write_rows(
    transaction: Transaction,
    places: RowPlaces,
    interned: Interned,
    changes: Changes,
    seqs: Sequence[int],
    *,
    ident: int,
) -> None:
    """Write rows and add to the counts: what a row was is subtracted, what it is added.

    *seqs* has the number of the batch of each record, *ident* that of the stream.
    """
    added: list[NewRow] = []
    changed: list[tuple[int, int, bytes | None, Any]] = []
    came: list[tuple[int, int, int]] = []
    left: list[tuple[int, int, int]] = []
    number = interned.pattern
    for row in changes.rows.values():
        if not row.last:  # no record changed it
            continue
        bucket, slice_, pattern = row.bucket, row.slice, number(row.pattern)
        if row.is_new:
            name = (row.item, row.system)
            first = seqs[row.first - 1]
            cells = (bucket, slice_, pattern, places[name], row.grades, first)
            added.append((row.id, ident, *name, *cells))
            came.append((bucket, slice_, pattern))
        else:
            changed.append((slice_, pattern, row.grades, row.at))
            if slice_ != row.old_slice or pattern != row.old_pattern:
                came.append((bucket, slice_, pattern))
                left.append((bucket, row.old_slice, row.old_pattern))
    if added:
        transaction.add_rows(added)
    if changed:
        transaction.change_rows(changed)
    counts = Counter(came)
    for cell, n in Counter(left).items():
        counts[cell] -= n
    moved = [(ident, *cell, n) for cell, n in counts.items() if n]
    if moved:
        transaction.add_counts(moved)
