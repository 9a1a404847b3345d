"""``tallystick serve check``: replay = rows, recount = tally, and nothing without an owner."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tallystick.serve.app import make_service
from tallystick.serve.ingest import Source, apply, parse
from tallystick.serve.ingest.body import unpacked_body
from tallystick.serve.rows import StreamBook, pieces
from tallystick.serve.service import Config, Service
from tallystick.serve.settings import StreamRecord, StreamSettings, find_stream
from tallystick.serve.span import Span
from tallystick.serve.store import Reader, Store, Transaction, open_store

__all__ = ["Checked", "check_store", "check_stream"]

_MOST_SHOWN = 5


@dataclass(frozen=True, kw_only=True)
class Checked:
    """What was found in one stream."""

    stream: str
    rows: int
    batches: int
    replayed: int
    problems: tuple[str, ...]


def check_store(store: Store, *, replay: bool = True) -> list[Checked]:
    """Check every stream."""
    with store.read() as reader:
        names = [name for (name,) in reader.all("select name from stream order by name")]
    return [check_stream(store, name, replay=replay) for name in names]


def check_stream(store: Store, name: str, *, replay: bool = True) -> Checked:
    """Check one stream: its counts, its owners, and what its batches say of its rows."""
    with store.snapshot() as reader:
        stream = find_stream(reader, name)
        problems = [*_recount(reader, stream), *_orphans(reader, stream)]
        [(batches,)] = reader.all("select count(*) from batch where stream = ?", (stream.id,))
        replayed = 0
        if replay:
            replayed, different = _replay(reader, stream)
            problems += different
    return Checked(
        stream=name,
        rows=stream.rows,
        batches=batches,
        replayed=replayed,
        problems=tuple(problems),
    )


def _recount(reader: Reader, stream: StreamRecord) -> list[str]:
    """Compare the kept counts with a recount of the rows."""
    kept = {
        tuple(cell): n
        for *cell, n in reader.all(
            "select bucket, slice, pattern, n from tally where stream = ? and n <> 0", (stream.id,)
        )
    }
    counted = {
        tuple(cell): n
        for *cell, n in reader.all(
            "select bucket, slice, pattern, count(*) from rows where stream = ? group by 1, 2, 3",
            (stream.id,),
        )
    }
    wrong = [cell for cell in kept.keys() | counted.keys() if kept.get(cell) != counted.get(cell)]
    found = [
        f"counts of bucket {cell[0]}, slice {cell[1]}, pattern {cell[2]}: kept"
        f" {kept.get(cell, 0)}, rows {counted.get(cell, 0)}"
        for cell in sorted(wrong)[:_MOST_SHOWN]
    ]
    if len(wrong) > _MOST_SHOWN:
        found.append(f"… and {len(wrong) - _MOST_SHOWN} more counts differ")
    total = sum(counted.values())
    if total != stream.rows:
        found.append(f"the stream says {stream.rows} rows, and there are {total}")
    return found


def _orphans(reader: Reader, stream: StreamRecord) -> list[str]:
    """Find what belongs to nothing."""
    questions = {
        "rows without a pattern": "select count(*) from rows r left join pattern p"
        " on p.id = r.pattern where r.stream = ? and p.id is null",
        "rows without a slice": "select count(*) from rows r left join slice s on s.id = r.slice"
        " where r.stream = ? and s.id is null",
        "labels without a row": "select count(*) from label l left join rows r"
        f" on r.stream = l.stream and {reader.row_is('=', 'l.row_id')}"
        " where l.stream = ? and r.id is null",
        "draws without a row": "select count(*) from draw d join frame f on f.id = d.frame"
        f" left join rows r on r.stream = f.stream and {reader.row_is('=', 'd.row_id')}"
        " where f.stream = ? and r.id is null",
        # PostgreSQL has no index that would refuse the second one.
        "rows with the name of another": "select coalesce(sum(n - 1), 0) from (select count(*) as n"
        " from rows where stream = ? group by item, system having count(*) > 1) t",
    }
    found = []
    for what, sql in questions.items():
        [(n,)] = reader.all(sql, (stream.id,))
        if n:
            found.append(f"{n} {what}")
    [(n,)] = reader.all(
        "select count(*) from payload p left join rows r on r.id = p.row_id where r.id is null"
    )
    return [*found, f"{n} payloads without a row"] if n else found


def _replay(reader: Reader, stream: StreamRecord) -> tuple[int, list[str]]:
    """Take the batches that are still kept again, into an empty store, and compare the rows."""
    with tempfile.TemporaryDirectory() as folder:
        empty = open_store(Path(folder) / "replay.sqlite", durability="off")
        clock = _Then()
        service = make_service(empty, config=Config(job_pause=0.0), clock=clock)
        try:
            first, n = _again(reader, stream, service, clock)
            return n, _compare(reader, stream, service, first)
        finally:
            service.close()


class _Then:
    """The clock of the batch that is taken again."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def _again(reader: Reader, stream: StreamRecord, service: Service, clock: _Then) -> tuple[int, int]:
    """Apply the kept batches in order; return the seq from which on none is missing."""
    with service.store.write() as transaction:
        transaction.run(
            "insert into stream (name, settings, salt, version, rows, created)"
            " values ('replay', '{}', ?, 0, 0, 0)",
            (stream.salt,),
        )
    first, n, last = 0, 0, 0
    while True:
        part = reader.all(
            "select seq, at, by, body from batch where stream = ? and seq > ?"
            " order by seq limit 200",
            (stream.id, last),
        )
        if not part:
            return first, n
        for seq, at, by, body in part:
            last = seq
            if body is None:
                first = seq + 1  # from here on nothing is missing, as far as is known yet
                continue
            clock.now = at
            records = parse(unpacked_body(bytes(body)), now=at)

            def work(transaction: Transaction, records: Any = records, by: str = by) -> None:
                kept = find_stream(transaction, "replay")
                # What was accepted once is taken again, whatever the settings say today.
                free = StreamRecord(
                    kept.id, kept.name, StreamSettings(), kept.salt, kept.version, kept.rows, 0.0
                )
                apply(service, transaction, free, records, Source(by=by))

            service.writer.do(work)
            n += 1


def _compare(reader: Reader, stream: StreamRecord, service: Service, first: int) -> list[str]:
    """Compare the rows that only kept batches made with what the replay made of them."""
    whole = reader.all(
        "select item, system from rows where stream = ? and seq_first >= ?", (stream.id, first)
    )
    mine = {(item, system) for item, system in whole}
    kept = _words(reader, stream)
    with service.store.snapshot() as other:
        made = _words(other, find_stream(other, "replay"))
    fact = reader.one("select value from fact where name = ?", (f"kept_from:{stream.id}",))
    found = []
    for name in sorted(mine):
        if kept.get(name) != made.get(name):
            found.append(f"row {name}: kept {kept.get(name)}, its batches say {made.get(name)}")
    if fact is None and first == 0:  # nothing was ever dropped: no row may be missing either
        found += [
            f"row {name} is lost: its batches say {made[name]}"
            for name in made.keys() - kept.keys()
        ]
    if len(found) > _MOST_SHOWN:
        found = [*found[:_MOST_SHOWN], f"… and {len(found) - _MOST_SHOWN} more rows differ"]
    return found


def _words(reader: Reader, stream: StreamRecord) -> dict[tuple[str, str], Any]:
    """Return every row as words, so that the numbers of two stores need not agree."""
    book = StreamBook(reader, stream, Span(), "all")
    names = book.table.columns
    found: dict[tuple[str, str], Any] = {}
    for piece in pieces(reader, book, Span()):
        for row in piece:
            cells = {k: v for k, v in zip(names, row, strict=True) if v is not None and k != "row"}
            found[(cells["item"], cells.get("system", ""))] = cells
    return found
