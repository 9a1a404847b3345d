"""Batches in one transaction: keys, raw bodies, rows, labels, counts, version."""

from __future__ import annotations

import hashlib
import struct
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import msgspec

from tallystick.serve.auth import MOST_FIXES, Fix, HttpProblem, wrong_lines
from tallystick.serve.database import KeptBatch, RowState, Transaction
from tallystick.serve.ingest import (
    MOST_BODY,
    Interned,
    Refused,
    VoteRecord,
    contradiction,
    hour_of,
    packed_body,
    parse,
)
from tallystick.serve.jobs import Service
from tallystick.serve.routes import Incoming, route
from tallystick.serve.streams import TRUTH, StreamRecord, find_stream
from tallystick.serve.writer import Boundary, Together


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


Batch = tuple[Sequence[VoteRecord], Source]
"""What one request brings."""


def memory_of(service: Service, stream: StreamRecord) -> Interned:
    """Return what the writer remembers of a stream."""
    known: dict[int, Interned] = service.remembered("interned")
    found = known.get(stream.id)
    if found is None:
        found = known[stream.id] = Interned(stream)
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
    return answer


def apply_group(
    service: Service, transaction: Transaction, stream: StreamRecord, batches: Sequence[Batch]
) -> list[Accepted]:
    """Keep batches of one stream as if one came after the other, asking the database once for all.

    Keys must differ inside a group. If anything is refused, what was written until then must be
    undone; each batch then learns why when it is tried alone.
    """
    bodies = [
        source.body if source.body is not None else msgspec.json.encode(list(records))
        for records, source in batches
    ]
    digests = [hashlib.sha256(body).digest() for body in bodies]
    names: dict[Any, None] = {}
    for records, _ in batches:
        names.update(dict.fromkeys([(one.item, one.system) for one in records]))
    keys = [source.key for _, source in batches if source.key is not None]
    interned, now = memory_of(service, stream), service.clock()
    interned.begin(transaction, stream)
    held, found = transaction.find(stream.id, keys, list(names), interned.places)
    before: dict[str | None, KeptBatch] = {row[0]: row for row in held}
    answers = {
        place: _again(before[source.key], digests[place])
        for place, (_, source) in enumerate(batches)
        if source.key in before
    }
    fresh = [place for place in range(len(batches)) if place not in answers]
    if fresh:
        # Registers first: whatever contradicts what is kept is refused before a row is written.
        merge = Merge(transaction, stream, interned, found)
        for place in fresh:
            merge.batch(*batches[place], now=now)
        merge.check()
        merge.decide_labels(now)
        merge.check()
        n_new = sum(row.is_new for row in merge.rows.values())
        first_row, first_seq = transaction.numbers(n_new, len(fresh))
        seqs = range(first_seq, first_seq + len(fresh))
        counted = [(len(one), one.count(NEW), one.count(CHANGED)) for one in merge.outcomes]
        interned.learn([row.pattern for row in merge.rows.values()])
        with transaction.together():
            transaction.add(
                "batch",
                [
                    (
                        *(seq, stream.id, batches[place][1].key, digests[place], now),
                        *(batches[place][1].by, *counts, packed_body(bodies[place])),
                    )
                    for seq, place, counts in zip(seqs, fresh, counted, strict=True)
                ],
            )
            merge.write_rows(first_row, seqs)
            merge.write_labels(seqs)
            merge.write_shows()
            transaction.run(
                "update stream set version = version + ?, rows = rows + ? where id = ?",
                (len(fresh), n_new, stream.id),
            )
        interned.shrink()
        for place, seq, (n, made, changed) in zip(fresh, seqs, counted, strict=True):
            answers[place] = Accepted(n, made, changed, n - made - changed, seq)
    return [answers[place] for place in range(len(batches))]


def _again(row: KeptBatch, digest: bytes) -> Accepted:
    """Return the answer that a key had before."""
    key, seq, kept, n, new, changed = row
    if bytes(kept) != digest:
        raise HttpProblem(409, f"Idempotency-Key {key!r} came before with another body")
    return Accepted(n, new, changed, n - new - changed, seq, again=True)


# Registers: how records change rows, and what that does to the counts.


def pack_grades(grades: dict[int, float]) -> bytes | None:
    """Write grades as (column, value) pairs; None for none."""
    if not grades:
        return None
    flat: list[Any] = [part for pair in sorted(grades.items()) for part in pair]
    return struct.pack("<" + "Id" * len(grades), *flat)


def unpack_grades(packed: bytes | None) -> dict[int, float]:
    """Read grades.

    >>> unpack_grades(pack_grades({7: 0.5, 3: 1.0}))
    {3: 1.0, 7: 0.5}
    """
    return {} if not packed else dict(struct.iter_unpack("<Id", packed))


SAME, CHANGED, NEW = 0, 1, 2


class RowDraft:
    """A row while batches change it."""

    __slots__ = (
        *("id", "item", "system", "bucket", "slice", "pattern", "grades", "at"),
        *("is_new", "first", "touched", "old_pattern", "old_slice"),
    )

    def __init__(self, item: str, system: str, kept: RowState | None, pattern: bytes) -> None:
        self.item = item
        self.system = system
        self.pattern = pattern
        self.first = 0  # the batch that made it
        self.grades: bytes | None = None
        self.is_new = self.touched = kept is None
        if kept is None:
            self.id = self.bucket = self.slice = self.old_slice = self.old_pattern = 0
        else:
            _, _, self.id, self.bucket, self.slice, self.old_pattern, self.grades, self.at = kept
            self.old_slice = self.slice


class Merge:
    """What batches do to the rows of a stream: worked out in memory, then written at once.

    Parameters
    ----------
    transaction, stream, interned
        Where they are kept, and what is remembered of it.
    found
        The rows that exist.
    """

    def __init__(
        self,
        transaction: Transaction,
        stream: StreamRecord,
        interned: Interned,
        found: Sequence[RowState],
    ) -> None:
        self._transaction, self._stream, self._interned = transaction, stream, interned
        interned.packed([one[5] for one in found])
        codes_of = interned.codes_of
        self.rows = {
            (kept[0], kept[1]): RowDraft(kept[0], kept[1], kept, codes_of(kept[5]))
            for kept in found
        }
        self.outcomes: list[bytearray] = []
        """What each record of each batch did: NEW, CHANGED or SAME."""
        self._labels: list[tuple[RowDraft, VoteRecord, Source, int, int]] = []
        self._said: list[tuple[Any, ...]] = []
        self._shows: dict[RowDraft, bytes] = {}
        self._wrong: list[Fix] = []
        self._status = 422

    def batch(self, records: Sequence[VoteRecord], source: Source, *, now: float) -> None:
        """Set the registers that the records of a batch name, in their order."""
        interned, rows, number = self._interned, self.rows, len(self.outcomes)
        steps, first_slices = interned.steps, interned.first_slices
        outcomes = bytearray(len(records))
        self.outcomes.append(outcomes)
        for place, record in enumerate(records):
            name: Any = (record.item, record.system)
            row = rows.get(name)
            is_new = row is None
            if row is None:
                row = rows[name] = RowDraft(name[0], name[1], None, b"")
                row.first = number
                row.bucket = hour_of(record.at, now)
                system = record.system
                if system not in first_slices:
                    first_slices[system] = interned.slice({"system": system} if system else {})
                row.slice = first_slices[system]

            # Most records bring votes that were seen before after these: one look each, no call.
            before, votes = row.pattern, record.votes
            after: bytes | None = before
            if record.replace or record.slice is not None or record.grades is not None:
                after = None
            elif votes:
                for column, value in votes.items():
                    after = steps.get((after, column, value.__class__, value))
                    if after is None:
                        break
            if after is not None:
                row.pattern, is_changed = after, after != before
            else:
                whole = before, row.slice, row.grades
                try:
                    self._set(row, record)
                except Refused as refused:
                    self._refuse(refused, place + 1)
                    if len(self._wrong) >= MOST_FIXES:
                        return
                    continue
                is_changed = whole != (row.pattern, row.slice, row.grades)

            if record.label is not None:
                self._labels.append((row, record, source, number, place))
            if record.show is not None:  # the last one stands
                self._shows[row] = packed_body(msgspec.json.encode(record.show))
            if is_new:
                outcomes[place] = NEW
            elif is_changed:
                outcomes[place] = CHANGED
                row.touched = True

    def check(self) -> None:
        """Refuse everything if a line was refused."""
        if self._wrong:
            raise wrong_lines(self._wrong, status=self._status)

    def _refuse(self, refused: Refused, line: int) -> None:
        """Note what is wrong with a line; a contradiction outranks a bad value."""
        fix = refused.fix
        self._wrong.append(Fix(fix.way_out, line=line, column=fix.column, value=fix.value))
        if refused.status == 409:
            self._status = 409

    def _set(self, row: RowDraft, record: VoteRecord) -> None:
        """Set the registers that one record names."""
        interned, replace = self._interned, record.replace
        for name, value in (record.votes or {}).items():
            if value is None:  # no vote, or with replace: the vote is taken back
                if replace:
                    row.pattern = interned.without(row.pattern, name)
                continue
            row.pattern = interned.step(row.pattern, name, value, replace)
        if record.slice:
            row.slice = interned.slice_step(row.slice, record.slice, replace)
        if record.grades:
            row.grades = self._graded(row.grades, record)

    def _graded(self, packed: bytes | None, record: VoteRecord) -> bytes | None:
        grades = unpack_grades(packed)
        for name, value in (record.grades or {}).items():
            column = self._interned.column(name, "grade")
            if value is None:
                if record.replace:
                    grades.pop(column, None)
                continue
            scale = self._stream.settings.scale_of(name)
            if scale is not None and not scale[0] <= value <= scale[1]:
                way = f"grades of {name!r} go from {scale[0]:g} to {scale[1]:g} in this stream"
                raise Refused(422, Fix(way, column=name, value=f"{value:g}"))
            held = grades.get(column, value)
            if held != value and not record.replace:
                raise contradiction(name, f"{value:g}", held)
            grades[column] = value
        return pack_grades(grades)

    # -- labels: each person's label of a row is a register of its own

    def decide_labels(self, now: float) -> None:
        """Decide the truth of every row that got a label; a correction supersedes the old one."""
        held = self._held_labels()
        for row, record, source, number, place in self._labels:
            label = record.label
            if label is None:
                continue
            person = label.by or source.by
            mine = held.setdefault(row, {})
            ident, old = mine.get(person, (None, None))
            try:
                # A label that the stream does not take is refused even if outvoted.
                value = None
                if label.value is not None:
                    value = self._interned.label(label.value)
                if person in mine and old == value:
                    continue
                if person in mine and not record.replace:
                    raise contradiction("label", value, old)
            except Refused as refused:
                self._refuse(refused, place + 1)
                continue
            self.outcomes[number][place] = max(CHANGED, self.outcomes[number][place])
            mine[person] = (ident, value)
            known = (value, now, source.seconds, source.origin, source.frame, ident)
            self._said.append((row, person, *known, number))
            self._set_truth(row, truth_of([one for _, one in mine.values() if one is not None]))

    def _held_labels(self) -> dict[RowDraft, dict[str, tuple[int | None, str | None]]]:
        """Return the current labels of the rows that get new ones: row to person to (id, value)."""
        rows = {one[0].id: one[0] for one in self._labels if not one[0].is_new}
        held: dict[RowDraft, dict[str, tuple[int | None, str | None]]] = {}
        for row_id, person, ident, value in self._transaction.by_id(
            "select row_id, annotator, id, value from label where current = 1"
            " and reason is null and row_id in ({})",
            rows,
        ):
            held.setdefault(rows[row_id], {})[person] = (ident, value)
        return held

    def _set_truth(self, row: RowDraft, truth: str | None) -> None:
        """Set or clear the truth of a row."""
        before, interned = row.pattern, self._interned
        row.pattern = interned.without(before, TRUTH)
        if truth is not None:
            row.pattern = interned.step(row.pattern, TRUTH, truth, True, kind="label")
        row.touched = row.touched or row.pattern != before

    # -- write what was worked out

    def write_rows(self, first: int, seqs: Sequence[int]) -> None:
        """Write rows and add to the counts: what a row was is subtracted, what it is added.

        Parameters
        ----------
        first
            The number of the first new row.
        seqs
            The number of each batch.
        """
        ident, places = self._stream.id, self._interned.places
        number = self._interned.pattern
        added: list[tuple[Any, ...]] = []
        changed: list[tuple[int, int, bytes | None, Any]] = []
        came: list[tuple[int, int, int]] = []
        left: list[tuple[int, int, int]] = []
        for row in self.rows.values():
            if not row.touched:
                continue
            bucket, slice_, pattern = row.bucket, row.slice, number(row.pattern)
            if row.is_new:
                row.id = first + len(added)
                name = (row.item, row.system)
                cells = (bucket, slice_, pattern, places[name], row.grades, seqs[row.first])
                added.append((row.id, ident, *name, *cells))
                came.append((bucket, slice_, pattern))
            else:
                changed.append((slice_, pattern, row.grades, row.at))
                if slice_ != row.old_slice or pattern != row.old_pattern:
                    came.append((bucket, slice_, pattern))
                    left.append((bucket, row.old_slice, row.old_pattern))
        if added:
            self._transaction.add("rows", added)
        if changed:
            self._transaction.change_rows(changed)
        counts = Counter(came)
        for cell, n in Counter(left).items():
            counts[cell] -= n
        moved = [(ident, *cell, n) for cell, n in counts.items() if n]
        if moved:
            self._transaction.add_counts(moved)

    def write_labels(self, seqs: Sequence[int]) -> None:
        """Write labels; what they correct stays, no longer current."""
        if not self._said:
            return
        corrected = [(one[-2],) for one in self._said if one[-2] is not None]
        if corrected:
            self._transaction.many("update label set current = 0 where id = ?", corrected)
        # A batch may correct its own label: the last one of a person stands.
        last = {one[:2]: place for place, one in enumerate(self._said)}
        self._transaction.many(
            "insert into label (row_id, stream, annotator, value, at, seconds, origin, frame,"
            " supersedes, seq, current) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (row.id, self._stream.id, *known, seqs[number], int(last[row, known[0]] == place))
                for place, (row, *known, number) in enumerate(self._said)
            ],
        )

    def write_shows(self) -> None:
        """Keep what a labeller sees."""
        if self._shows:
            self._transaction.many(
                "insert into payload (row_id, body) values (?, ?)"
                " on conflict (row_id) do update set body = excluded.body",
                [(row.id, body) for row, body in self._shows.items()],
            )


def truth_of(values: Sequence[str]) -> str | None:
    """Return the value that more than half of a row's labels have, None if there is none.

    Two people who disagree give no truth; a third decides.

    >>> truth_of(["a"]), truth_of(["a", "b"]), truth_of(["a", "b", "a"])
    ('a', None, 'a')
    """
    if not values:
        return None
    value, n = Counter(values).most_common(1)[0]
    return value if 2 * n > len(values) else None


# ``POST /v1/streams/{stream}/records``: accepted means committed.


_LARGE = 128 * 1024
"""Bodies above this are parsed in a thread, so that they hold up nobody else."""

_MOST_TOGETHER = 20_000
"""Records that are merged at once: more would take memory and save nothing."""


@route(
    "POST",
    "/v1/streams/{stream}/records",
    "write",
    body=bytes,
    record=VoteRecord,
    answer=Accepted,
    limit=MOST_BODY,
)
async def post_records(incoming: Incoming) -> Accepted:
    """Keep a batch of records, all of it or nothing."""
    service, body = incoming.service, incoming.raw
    key = incoming.header("idempotency-key")
    if key is not None and not (0 < len(key) <= 256 and key.isprintable()):
        raise HttpProblem(422, "Idempotency-Key has 1 to 256 printable characters")
    now = service.clock()
    if len(body) > _LARGE:
        records = await service.thread(lambda: parse(body, now=now))
    else:
        records = parse(body, now=now)
    source = Source(by=incoming.who.name or incoming.who.id, key=key, body=body)
    post = Post(service, incoming.path["stream"], records, source)
    # Records take about six times their text in memory while they wait.
    return await service.commit(post, size=6 * len(body))


def keep_posts(transaction: Transaction, posts: Sequence[Post]) -> dict[int, Accepted]:
    """Keep what can be kept together: batches of one stream, with keys that differ."""
    answers: dict[int, Accepted] = {}
    for name, places in _alike(posts):
        service = posts[places[0]].service
        with Boundary() as edge, transaction.savepoint():
            stream = known_stream(service, transaction, name)
            batches = [(posts[place].records, posts[place].source) for place in places]
            kept = apply_group(service, transaction, stream, batches)
            answers.update(zip(places, kept, strict=True))
        if isinstance(edge.error, service.store.errors):
            raise edge.error
        if edge.error is not None:  # one of them is refused: each is tried alone
            service.forget()
    return answers


@dataclass(frozen=True, slots=True)
class Post:
    """One batch that waits to be written."""

    service: Service
    stream: str
    records: Sequence[VoteRecord]
    source: Source
    together: ClassVar[Together] = staticmethod(keep_posts)

    def __call__(self, transaction: Transaction) -> Accepted:
        """Keep it alone."""
        stream = known_stream(self.service, transaction, self.stream)
        return apply(self.service, transaction, stream, self.records, self.source)


def _alike(posts: Sequence[Post]) -> list[tuple[str, list[int]]]:
    """Return the places of posts that may go together, by stream, at most so many records each."""
    parts: dict[str, list[int]] = {}
    sizes: dict[str, int] = {}
    seen: set[tuple[str, str]] = set()
    found: list[tuple[str, list[int]]] = []
    for place, post in enumerate(posts):
        name, key = post.stream, post.source.key
        if key is not None:
            if (name, key) in seen:  # the answer of the first must be there before
                continue
            seen.add((name, key))
        sizes[name] = sizes.get(name, 0) + len(post.records)
        if name not in parts or sizes[name] > _MOST_TOGETHER:
            sizes[name] = len(post.records)
            parts[name] = []
            found.append((name, parts[name]))
        parts[name].append(place)
    return found


def known_stream(service: Service, transaction: Transaction, name: str) -> StreamRecord:
    """Return a stream, from memory where no other process can have changed it."""
    if transaction.is_shared:
        return find_stream(transaction, name)
    known: dict[str, StreamRecord] = service.remembered("streams")
    found = known.get(name)
    if found is None:
        found = known[name] = find_stream(transaction, name)
    return found
