"""Batches in one transaction: keys, raw bodies, rows, labels, counts, version."""

from __future__ import annotations

import hashlib
import itertools
import struct
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from tallystick.serve.auth import MOST_FIXES, Fix, HttpProblem
from tallystick.serve.database import KeptBatch, RowState, Transaction
from tallystick.serve.ingest import (
    MOST_BODY,
    TRUTH,
    Interned,
    Refused,
    RowPlaces,
    VoteRecord,
    hour_of,
    packed_body,
    parse,
)
from tallystick.serve.jobs import Service
from tallystick.serve.routes import Incoming, route
from tallystick.serve.streams import StreamRecord, find_stream
from tallystick.serve.writer import Boundary


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
            transaction.add(
                "batch",
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
                ],
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
    added: list[tuple[Any, ...]] = []
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
        transaction.add("rows", added)
    if changed:
        transaction.change_rows(changed)
    counts = Counter(came)
    for cell, n in Counter(left).items():
        counts[cell] -= n
    moved = [(ident, *cell, n) for cell, n in counts.items() if n]
    if moved:
        transaction.add_counts(moved)


# Labels of people, and what they see: each person's label of a row is a register of its own.


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
    ids = {row.id for row, _, _ in changes.labels if not row.is_new}
    held: dict[int, dict[str, tuple[int | None, str | None]]] = {}
    for row_id, person, ident, value in transaction.by_id(
        "select row_id, annotator, id, value from label where current = 1"
        " and reason is null and row_id in ({})",
        ids,
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
    """A row while a batch changes it."""

    __slots__ = (
        *("id", "item", "system", "bucket", "slice", "pattern", "grades", "at"),
        *("is_new", "first", "last", "old_pattern", "old_slice"),
    )

    def __init__(self, item: str, system: str, kept: RowState | None, pattern: bytes) -> None:
        self.item = item
        self.system = system
        self.pattern = pattern
        self.first = 0  # the line that made it
        self.last = 0  # the last line that changed it, 0 for none
        self.grades: bytes | None = None
        self.is_new = kept is None
        if kept is None:
            self.id = self.bucket = self.slice = self.old_slice = self.old_pattern = 0
        else:
            _, _, self.id, self.bucket, self.slice, self.old_pattern, self.grades, self.at = kept
            self.old_slice = self.slice


class Changes:
    """What a batch does to a stream."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str], RowDraft] = {}
        self.outcomes = bytearray()
        """What each record did: NEW, CHANGED or SAME."""
        self.labels: list[tuple[RowDraft, VoteRecord, int]] = []
        self.shows: list[tuple[RowDraft, Any]] = []
        self.wrong: list[Fix] = []
        self.status = 422

    def refuse(self, refused: Refused, line: int) -> None:
        """Note what is wrong with a line; a contradiction outranks a bad value."""
        fix = refused.fix
        self.wrong.append(Fix(line=line, column=fix.column, value=fix.value, way_out=fix.way_out))
        if refused.status == 409:
            self.status = 409

    def count(self, outcome: int) -> int:
        """Return how many records had an outcome."""
        return self.outcomes.count(outcome)

    def check(self) -> None:
        """Refuse the whole batch if a line was refused."""
        if not self.wrong:
            return
        what = "contradict what is kept" if self.status == 409 else "cannot be used"
        raise HttpProblem(
            self.status, f"{len(self.wrong)} lines {what}; nothing was kept", self.wrong
        )


def merge_records(
    transaction: Transaction,
    stream: StreamRecord,
    interned: Interned,
    records: Sequence[VoteRecord],
    found: Sequence[RowState],
    *,
    now: float,
) -> Changes:
    """Set the registers of rows in the order of the records; *found* are those that exist."""
    changes = Changes()
    rows, steps = changes.rows, interned.steps
    interned.packed(transaction, [one[5] for one in found])
    codes_of = interned.codes_of
    for kept in found:
        rows[kept[0], kept[1]] = RowDraft(kept[0], kept[1], kept, codes_of(kept[5]))

    outcomes = changes.outcomes = bytearray(len(records))
    for line, record in enumerate(records, start=1):
        name: Any = (record.item, record.system)
        row = rows.get(name)
        is_new = row is None
        if row is None:
            row = rows[name] = RowDraft(name[0], name[1], None, b"")
            row.bucket = hour_of(record.at, now)
            row.slice = interned.slice_of_system(transaction, record.system)

        # Most records bring votes that were seen before after these: one look each, no call.
        before, votes = row.pattern, record.votes
        after: bytes | None = before
        if votes and not record.replace:
            for column, value in votes.items():
                after = steps.get((after, column, value.__class__, value))
                if after is None:
                    break
        is_plain = record.slice is None and record.grades is None and not record.replace
        if after is not None and is_plain:
            is_changed = after != before
            row.pattern = after
        else:
            slice_before, grades_before = row.slice, row.grades
            try:
                _set(transaction, stream, interned, row, record)
            except Refused as refused:
                changes.refuse(refused, line)
                if len(changes.wrong) >= MOST_FIXES:
                    break
                continue
            is_changed = (
                row.pattern != before or row.slice != slice_before or row.grades != grades_before
            )

        if record.label is not None:
            changes.labels.append((row, record, line))
        if record.show is not None:
            changes.shows.append((row, record.show))
        if is_new:
            outcomes[line - 1] = NEW
            row.first = row.last = line
        elif is_changed:
            outcomes[line - 1] = CHANGED
            row.last = line
    return changes


def _set(
    transaction: Transaction,
    stream: StreamRecord,
    interned: Interned,
    row: RowDraft,
    record: VoteRecord,
) -> None:
    """Set the registers that one record names."""
    if record.votes:
        pattern, replace = row.pattern, record.replace
        for name, value in record.votes.items():
            if value is None:  # no vote, or with replace: the vote is taken back
                if replace:
                    pattern = interned.without(transaction, pattern, name)
                continue
            key = (pattern, name, value.__class__, value)
            after = interned.steps.get(key)
            if after is None or replace:
                after = interned.step(transaction, stream, pattern, name, value, replace)
                if not replace:
                    interned.steps[key] = after
            pattern = after
        row.pattern = pattern
    if record.slice:
        step = (row.slice, *record.slice.items())
        after_slice = interned.slice_steps.get(step)
        if after_slice is None or record.replace:
            after_slice = interned.slice_step(
                transaction, stream, row.slice, record.slice, record.replace
            )
            if not record.replace:
                interned.slice_steps[step] = after_slice
        row.slice = after_slice
    if record.grades:
        row.grades = _graded(transaction, stream, interned, row.grades, record)


def _graded(
    transaction: Transaction,
    stream: StreamRecord,
    interned: Interned,
    packed: bytes | None,
    record: VoteRecord,
) -> bytes | None:
    grades = unpack_grades(packed)
    for name, value in (record.grades or {}).items():
        column = interned.column(transaction, stream, name, "grade")
        if value is None:
            if record.replace:
                grades.pop(column, None)
            continue
        scale = stream.settings.scale_of(name)
        if scale is not None and not scale[0] <= value <= scale[1]:
            way = f"grades of {name!r} go from {scale[0]:g} to {scale[1]:g} in this stream"
            raise Refused(422, Fix(column=name, value=f"{value:g}", way_out=way))
        held = grades.get(column, value)
        if held != value and not record.replace:
            way = f"the row has {held:g} here: send 'replace': true to change it"
            raise Refused(409, Fix(column=name, value=f"{value:g}", way_out=way))
        grades[column] = value
    return pack_grades(grades)


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


def set_truth(
    transaction: Transaction, stream: StreamRecord, interned: Interned, row: RowDraft, truth: Any
) -> None:
    """Set or clear the truth of a row."""
    row.pattern = interned.without(transaction, row.pattern, TRUTH)
    if truth is not None:
        row.pattern = interned.step(
            transaction, stream, row.pattern, TRUTH, truth, True, kind="label"
        )


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
    service, name, body = incoming.service, incoming.path["stream"], incoming.raw
    key = incoming.header("idempotency-key")
    if key is not None and not (0 < len(key) <= 256 and key.isprintable()):
        raise HttpProblem(422, "Idempotency-Key has 1 to 256 printable characters")
    now = service.clock()
    if len(body) > _LARGE:
        records = await service.thread(lambda: parse(body, now=now))
    else:
        records = parse(body, now=now)
    source = Source(by=incoming.who.name or incoming.who.id, key=key, body=body)
    post = Post(service, name, records, source)
    # Records take about six times their text in memory while they wait.
    answer = await service.commit(post, size=6 * len(body), together=keep_posts)
    if not answer.again:
        totals = service.memory.setdefault("records", {})
        totals[name] = totals.get(name, 0) + answer.accepted
    return answer


@dataclass(frozen=True, slots=True)
class Post:
    """One batch that waits to be written."""

    service: Service
    stream: str
    records: Sequence[VoteRecord]
    source: Source

    def __call__(self, transaction: Transaction) -> Accepted:
        """Keep it alone."""
        stream = known_stream(self.service, transaction, self.stream)
        return apply(self.service, transaction, stream, self.records, self.source)


def keep_posts(transaction: Transaction, posts: Sequence[Post]) -> dict[int, Any]:
    """Keep what can be kept together: batches of one stream, with keys that differ."""
    answers: dict[int, Any] = {}
    for name, places in _alike(posts):
        service = posts[places[0]].service
        # Twice: the first try finds those that are refused.
        for _ in range(2):
            with Boundary() as edge, transaction.savepoint():
                stream = known_stream(service, transaction, name)
                batches = [(posts[place].records, posts[place].source) for place in places]
                kept = apply_group(service, transaction, stream, batches)
                answers.update(zip(places, kept, strict=True))
            if edge.error is None:
                break
            if isinstance(edge.error, service.store.errors):
                raise edge.error
            service.forget()
            if not isinstance(edge.error, RefusedBatches):
                break
            places = [one for k, one in enumerate(places) if k not in edge.error.places]
            if not places:
                break
    return answers


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
    if transaction.skip_locked:
        return find_stream(transaction, name)
    if "streams" not in service.memory:
        known: dict[str, StreamRecord] = {}
        service.memory["streams"] = known
        service.on_rollback(known.clear)
    found: StreamRecord | None = service.memory["streams"].get(name)
    if found is None:
        found = service.memory["streams"][name] = find_stream(transaction, name)
    return found


# Batches that are kept together: their records in a row, and which batch each of them is of.


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


class RefusedBatches(Exception):
    """Some batches of a group were refused: the others are kept without them.

    Parameters
    ----------
    places
        Which batches.
    """

    def __init__(self, places: frozenset[int]) -> None:
        super().__init__(f"{len(places)} batches of the group were refused")
        self.places = places


class Group:
    """Batches of one stream, one after the other.

    >>> group = Group([([VoteRecord("a"), VoteRecord("b")], Source("x")),
    ...                ([VoteRecord("c")], Source("y"))])
    >>> group.places, group.source(3).by
    ([0, 0, 1], 'y')
    """

    def __init__(self, batches: Sequence[Batch]) -> None:
        self._sources = [source for _, source in batches]
        sizes = [len(records) for records, _ in batches]
        self._ends = list(itertools.accumulate(sizes))
        self.records = list(itertools.chain.from_iterable(records for records, _ in batches))
        self.places = [place for place, size in enumerate(sizes) for _ in range(size)]
        """Which batch a record is of."""

    def source(self, line: int) -> Source:
        """Return where a line comes from; lines count from 1 over the whole group."""
        return self._sources[self.places[line - 1]]

    def outcomes(self, changes: Changes) -> list[bytearray]:
        """Return what the records of each batch did."""
        starts = [0, *self._ends[:-1]]
        return [changes.outcomes[a:b] for a, b in zip(starts, self._ends, strict=True)]

    def check(self, changes: Changes) -> None:
        """Refuse a batch with a wrong line; from a group such batches are taken out first."""
        if changes.wrong and len(self._sources) > 1:
            raise RefusedBatches(
                frozenset(self.places[(fix.line or 1) - 1] for fix in changes.wrong)
            )
        changes.check()
