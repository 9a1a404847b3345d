"""What the drift test may see of a row: the votes that came within its own settle time.

Every row gets the same time, counted from its own arrival. If all rows of a window were read when
the window closes, early rows would have had hours for their late votes and the last ones minutes:
the share of missing votes would rise inside every window, and with it the number of false alarms
(measured on quiet days: 1.5 per 10,000 items instead of the promised 0.05).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tallystick.serve.ingest.interned import unpack_codes
from tallystick.serve.jobs import Held
from tallystick.serve.settings import StreamRecord
from tallystick.serve.store import Reader, Transaction

if TYPE_CHECKING:
    from tallystick.serve.service import Service

__all__ = ["forget_rows", "is_seen", "see_rows", "vote_columns"]

_MOST = 10_000
"""Rows per transaction: nobody waits for a long one."""


def see_rows(service: Service, held: Held, stream: StreamRecord) -> bool:
    """Keep the votes of the rows whose time is over; return whether there may be more."""
    until = service.clock() - stream.settings.settle

    def look(reader: Reader) -> tuple[int, int] | None:
        """Return the rows to keep: after the first number, up to the second."""
        [(last,)] = reader.all("select max(row_id) from seen where stream = ?", (stream.id,))
        [(closed,)] = reader.all(
            "select max(row_to) from windows where stream = ? and closed is not null", (stream.id,)
        )
        start = max(last or 0, closed or 0)
        found = reader.all(
            "select r.id, b.at from rows r left join batch b on b.seq = r.seq_first"
            f" where r.stream = ? and {reader.row_is('>', start)}"
            f" order by {reader.in_order()} limit ?",
            (stream.id, _MOST),
        )
        # Rows are kept in their order: if the clock stepped back, the later ones wait.
        due = 0
        for ident, at in found:
            if at is not None and at > until:
                break
            due = ident
        return (start, due) if due else None

    found = service.read(look)
    if found is None:
        return False

    def work(transaction: Transaction) -> int:
        held.check(transaction)
        return transaction.run(
            "insert into seen (stream, row_id, pattern) select stream, id, pattern from rows r"
            f" where r.stream = ? and {transaction.row_is('>', found[0])}"
            f" and {transaction.row_is('<=', found[1])}",
            (stream.id,),
        )

    return service.writer.do(work) == _MOST


def is_seen(reader: Reader, stream: int, row: int) -> bool:
    """Say whether the time of a row, and so of all rows before it, is over."""
    found = reader.one("select 1 from seen where stream = ? and row_id >= ? limit 1", (stream, row))
    return found is not None


def forget_rows(transaction: Transaction, stream: int, end: int) -> None:
    """Drop what was kept of a window that is closed."""
    transaction.run("delete from seen where stream = ? and row_id <= ?", (stream, end))


def vote_columns(reader: Reader, stream: int, start: int, end: int) -> dict[str, list[str | None]]:
    """Return the votes on the rows between two ids as the test may see them, by judge.

    Rows are in order of arrival. Judges without a vote among them are left out.
    """
    words = {
        code: (name, label)
        for code, name, label in reader.all(
            "select c.id, s.name, c.label from label_code c join stream_column s"
            " on s.id = c.stream_column where s.stream = ? and s.kind = 'vote'",
            (stream,),
        )
    }
    patterns = [
        ident
        for (ident,) in reader.all(
            "select pattern from seen where stream = ? and row_id between ? and ? order by row_id",
            (stream, start, end),
        )
    ]
    codes = _codes(reader, sorted(set(patterns)))
    votes: dict[str, list[str | None]] = {}
    for place, ident in enumerate(patterns):
        for code in codes[ident]:
            if code in words:
                name, label = words[code]
                votes.setdefault(name, [None] * len(patterns))[place] = label
    return dict(sorted(votes.items()))


def _codes(reader: Reader, patterns: list[int]) -> Mapping[int, tuple[int, ...]]:
    known: dict[int, tuple[int, ...]] = {}
    for start in range(0, len(patterns), 500):
        part = patterns[start : start + 500]
        marks = ", ".join("?" * len(part))
        for ident, packed in reader.all(
            f"select id, codes from pattern where id in ({marks})", part
        ):
            known[ident] = unpack_codes(bytes(packed))
    return known
