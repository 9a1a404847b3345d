"""Registers: how records change rows, and what that does to the counts."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Sequence
from typing import Any

from tallystick.serve.ingest.interned import TRUTH, Interned, Refused
from tallystick.serve.ingest.parse import VoteRecord, hour_of
from tallystick.serve.problem import MOST_FIXES, Fix, HttpProblem
from tallystick.serve.settings import StreamRecord
from tallystick.serve.store import RowState, Transaction

__all__ = [
    "CHANGED",
    "NEW",
    "SAME",
    "Changes",
    "RowDraft",
    "merge_records",
    "pack_grades",
    "unpack_grades",
]


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
