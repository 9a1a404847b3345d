"""``serve.Client``: post records from a program, and lose none.

Records are gathered into batches. A batch is written to the spool file before
it is sent, with a key of its own, and sent as the very same bytes until the
service answers: whatever fails in between, it counts once.

The service keeps a batch whole or not at all. Where it refuses one because of
some lines, those are put aside with the reason, and the others are sent again
as a batch of their own.
"""

from __future__ import annotations

import base64
import json
import logging
import os
import re
import secrets
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from tallystick.errors import InputError, TallystickError
from tallystick.serve.app import make_service
from tallystick.serve.database import Reader, Store, Transaction, open_store
from tallystick.serve.ingest import parse, unpacked_body
from tallystick.serve.ingest_write import Source, apply
from tallystick.serve.jobs import Config, Service
from tallystick.serve.rows import StreamBook, pieces
from tallystick.serve.streams import StreamRecord, StreamSettings, find_stream

if TYPE_CHECKING:
    import httpx

_LOG = logging.getLogger("tallystick.serve")
_MOST_BYTES = 4 * 1024 * 1024


class RefusedBatch(TallystickError):
    """The service refuses records: the message says why.

    Parameters
    ----------
    problem
        The body of the answer.
    records
        The records that are refused for good, as they were posted; none if a batch waits for
        something else to change, such as a key or a stream that is missing.
    """

    def __init__(
        self, problem: Mapping[str, Any], records: Sequence[Mapping[str, Any]] = ()
    ) -> None:
        errors = problem.get("errors") or []
        first = f" {errors[0]}" if errors else ""
        super().__init__(f"{problem.get('detail', problem)}{first}")
        self.problem = problem
        self.records = tuple(records)


class ServeClient:
    """Post records to one stream of a service.

    Parameters
    ----------
    url
        The stream: ``http://127.0.0.1:8765/v1/streams/qa``.
    key
        A key with the role write; None on the service's own machine.
    spool
        A file that holds what was not answered yet; None keeps it in memory only, where it is lost
        with the process. What the service refuses for good is added to the file beside it whose
        name ends in ``.refused``, with the reason.
    batch
        Records per request.
    patience
        Seconds that `flush` and `close` try before they leave the rest in the spool.
    on_refused
        Called with `RefusedBatch` for records that the service refuses. Without it, `flush` and
        `close` raise the first one after everything else was sent. `post` and `vote` never raise
        it: an application must not fail because of its records.

    Examples
    --------
    >>> client = ServeClient("http://127.0.0.1:8765/v1/streams/qa", spool=None)
    >>> client.vote("item-1", gpt="pass", claude="fail")
    >>> client.waiting
    1
    """

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        spool: str | Path | None = None,
        batch: int = 500,
        patience: float = 30.0,
        on_refused: Callable[[RefusedBatch], None] | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        url = url.rstrip("/").removesuffix("/records")
        if not re.fullmatch(r"https?://.+/streams/[^/]+", url):
            raise InputError(
                f"url must name a stream: http://HOST:8765/v1/streams/NAME, got {url!r}"
            )
        if not 1 <= batch <= 10_000:
            raise InputError(f"batch must be between 1 and 10,000, got {batch}")
        self._url = url + "/records"
        self._key = key
        self._batch = batch
        self._patience = patience
        self._on_refused = on_refused
        self._transport = transport
        self._lines: list[bytes] = []
        self._size = 0
        self._lock = threading.RLock()
        self._http: httpx.Client | None = None
        self._spool = Path(spool) if spool is not None else None
        self._pending: list[tuple[str, bytes]] = _read_spool(self._spool)
        self._refused: RefusedBatch | None = None

    @property
    def waiting(self) -> int:
        """How many records are gathered, plus how many batches were not answered yet."""
        return len(self._lines) + len(self._pending)

    def vote(self, item: str | int, *, system: str = "", **votes: Any) -> None:
        """Post votes on an item; other parts of a record go through `post`."""
        record: dict[str, Any] = {"item": item, "votes": votes}
        if system:
            record["system"] = system
        self.post(record)

    def post(self, record: Mapping[str, Any]) -> None:
        """Gather a record; a full batch is sent. A number that is NaN is no vote and no grade."""
        clean = {
            name: {k: None if v != v else v for k, v in held.items()}
            if name in ("votes", "grades") and isinstance(held, Mapping)
            else held
            for name, held in record.items()
        }
        line = json.dumps(clean, ensure_ascii=False, separators=(",", ":")).encode()
        with self._lock:
            self._lines.append(line)
            self._size += len(line) + 1
            if len(self._lines) >= self._batch or self._size > _MOST_BYTES:
                self._seal()
                self._send(until=time.monotonic())

    def flush(self) -> bool:
        """Send everything; return whether all of it was answered within the patience.

        Raises
        ------
        RefusedBatch
            The service refuses some of it, and nobody listens (*on_refused*).
        """
        with self._lock:
            self._seal()
            done = self._send(until=time.monotonic() + self._patience)
            refused, self._refused = self._refused, None
        if refused is not None:
            raise refused
        return done

    def close(self) -> None:
        """Flush, and leave what was not answered in the spool."""
        try:
            self.flush()
        finally:
            if self._http is not None:
                self._http.close()
                self._http = None
            if self._pending and self._spool is None:
                n = sum(body.count(b"\n") + 1 for _, body in self._pending)
                _LOG.warning(
                    "%s records were not sent to %s and are lost with this process: name a spool"
                    " file to keep them",
                    f"{n:,}",
                    self._url,
                )

    def __enter__(self) -> ServeClient:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _seal(self) -> None:
        """Make a batch of what was gathered: from here on its bytes and its key never change."""
        if not self._lines:
            return
        body = b"\n".join(self._lines)
        self._lines, self._size = [], 0
        one = (secrets.token_hex(16), body)
        self._pending.append(one)
        if self._spool is not None:
            self._spool.parent.mkdir(parents=True, exist_ok=True)
            with self._spool.open("ab") as stream:
                stream.write(_spooled(one))
                stream.flush()
                os.fsync(stream.fileno())

    def _send(self, *, until: float) -> bool:
        """Send batches in order; at least one try each, then until the time is over."""
        wait = 0.1
        answered = False
        while self._pending:
            done, pause = self._try(*self._pending[0])
            if done:
                answered, wait = True, 0.1
                continue
            pause = max(wait, pause)
            if time.monotonic() + pause > until:
                break
            time.sleep(pause)
            wait = min(wait * 2, 10.0)
        if answered:
            self._rewrite()
        return not self._pending

    def _try(self, key: str, body: bytes) -> tuple[bool, float]:
        """Post the first batch; return whether it is done with, and how long to wait if not."""
        import httpx

        if self._http is None:
            self._http = httpx.Client(timeout=30.0, transport=self._transport)
        headers = {"Idempotency-Key": key, "Content-Type": "application/x-ndjson"}
        if self._key is not None:
            headers["Authorization"] = f"Bearer {self._key}"
        try:
            answer = self._http.post(self._url, content=body, headers=headers)
        except httpx.TransportError:
            return False, 0.0
        if answer.status_code == 200:
            self._pending.pop(0)
            return True, 0.0
        if answer.status_code == 429 or answer.status_code >= 500:  # these pass by themselves
            after = answer.headers.get("retry-after", "")
            return False, float(after) if after.isdecimal() else 0.0
        try:
            problem = dict(answer.json())
        except ValueError:
            problem = {"detail": f"HTTP {answer.status_code}"}
        if answer.status_code in (401, 403, 404):
            # A key or a stream is missing: the batch stays, for when somebody has made it.
            self._tell(RefusedBatch(problem))
            return False, self._patience + 1.0
        self._part(body.split(b"\n"), problem)
        return True, 0.0

    def _part(self, lines: list[bytes], problem: Mapping[str, Any]) -> None:
        """Put the refused lines of the first batch aside, and the others in its place."""
        named = {one.get("line") for one in problem.get("errors") or ()}
        wrong = {n - 1 for n in named if isinstance(n, int) and 0 < n <= len(lines)}
        if wrong:
            parts = [[line for n, line in enumerate(lines) if n not in wrong]]
        elif len(lines) > 1:  # too large, or another thing that no line is to blame for
            parts = [lines[: len(lines) // 2], lines[len(lines) // 2 :]]
        else:
            parts, wrong = [], {0}
        self._pending[:1] = [(secrets.token_hex(16), b"\n".join(one)) for one in parts if one]
        aside = [json.loads(lines[n]) for n in sorted(wrong)]
        if aside and self._spool is not None:
            path = self._spool.with_name(self._spool.name + ".refused")
            with path.open("a", encoding="utf-8") as stream:
                for record in aside:
                    json.dump({"record": record, "why": problem}, stream, ensure_ascii=False)
                    stream.write("\n")
        self._rewrite()
        if aside:
            self._tell(RefusedBatch(problem, aside))

    def _tell(self, refused: RefusedBatch) -> None:
        if self._on_refused is not None:
            self._on_refused(refused)
            return
        if self._refused is None:
            _LOG.warning("%s: %s", self._url, refused)
        self._refused = self._refused or refused

    def _rewrite(self) -> None:
        """Keep only what was not answered yet: a new file takes the old one's place."""
        if self._spool is None:
            return
        if not self._pending:
            self._spool.unlink(missing_ok=True)
            return
        fresh = self._spool.with_name(self._spool.name + ".new")
        with fresh.open("wb") as stream:
            stream.writelines(_spooled(one) for one in self._pending)
            stream.flush()
            os.fsync(stream.fileno())
        fresh.replace(self._spool)


def _spooled(one: tuple[str, bytes]) -> bytes:
    """Return a batch as one line of the spool."""
    key, body = one
    return json.dumps({"key": key, "body": base64.b64encode(body).decode()}).encode() + b"\n"


def _read_spool(path: Path | None) -> list[tuple[str, bytes]]:
    """Read what an earlier process left; a last line that was cut off was never sent."""
    if path is None or not path.exists():
        return []
    found: list[tuple[str, bytes]] = []
    for line in path.read_bytes().splitlines():
        try:
            held = json.loads(line)
            found.append((held["key"], base64.b64decode(held["body"])))
        except (ValueError, KeyError, TypeError):
            break
    return found


# ``tallystick serve check``: replay = rows, recount = tally, and nothing
# without an owner.


_MOST_SHOWN = 5


@dataclass(frozen=True, kw_only=True)
class Checked:
    """What was found in one stream."""

    stream: str
    rows: int
    batches: int
    replayed: int
    problems: tuple[str, ...]


def check_store(store: Store) -> list[Checked]:
    """Check every stream."""
    with store.read() as reader:
        names = [name for (name,) in reader.all("select name from stream order by name")]
    return [check_stream(store, name) for name in names]


def check_stream(store: Store, name: str, *, replay: bool = True) -> Checked:
    """Check one stream: its counts, its owners, and what its batches say of its rows."""
    with store.snapshot() as reader:
        stream = find_stream(reader, name)
        problems = [*_recount(reader, stream), *_orphans(reader, stream)]
        batches = reader.value("select count(*) from batch where stream = ?", (stream.id,))
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
    wrong = reader.all(
        "select bucket, slice, pattern, sum(kept), sum(found) from ("
        "select bucket, slice, pattern, n as kept, 0 as found from tally where stream = ?"
        " union all select bucket, slice, pattern, 0, count(*) from rows where stream = ?"
        " group by bucket, slice, pattern) t"
        " group by bucket, slice, pattern having sum(kept) <> sum(found) order by 1, 2, 3",
        (stream.id, stream.id),
    )
    found = [
        f"counts of bucket {bucket}, slice {slice_}, pattern {pattern}: kept {kept}, rows {rows}"
        for bucket, slice_, pattern, kept, rows in wrong
    ]
    total = reader.value("select count(*) from rows where stream = ?", (stream.id,))
    said = f"the stream says {stream.rows} rows, and there are {total}"
    return [*_first(found, "counts"), *([said] if total != stream.rows else [])]


def _first(problems: list[str], what: str) -> list[str]:
    """Return the first problems of a kind, and how many more there are."""
    more = len(problems) - _MOST_SHOWN
    return [*problems[:_MOST_SHOWN], *([f"… and {more} more {what} differ"] if more > 0 else [])]


def _orphans(reader: Reader, stream: StreamRecord) -> list[str]:
    """Find what belongs to nothing."""
    held = f"rows r on r.stream = ? and {reader.row_is('=', 'o.row_id')}"
    # Who belongs to what, where both are, and the column that names the stream.
    belonging = (
        ("rows", "pattern", "rows o", "pattern r on r.id = o.pattern", "o.stream = ?"),
        ("rows", "slice", "rows o", "slice r on r.id = o.slice", "o.stream = ?"),
        ("labels", "row", "label o", held, "o.stream = ?"),
        ("draws", "row", "draw o join frame f on f.id = o.frame", held, "f.stream = ?"),
        ("payloads", "row", "payload o", "rows r on r.id = o.row_id", "1 = 1"),
    )
    found = []
    for what, owner, table, other, ours in belonging:
        sql = f"select count(*) from {table} left join {other} where {ours} and r.id is null"
        if n := reader.value(sql, [stream.id] * sql.count("?")):
            found.append(f"{n} {what} without a {owner}")
    # PostgreSQL has no index that would refuse a second row of one name.
    named = "select item from rows where stream = ? group by item, system having count(*) > 1"
    twice = reader.value(f"select count(*) from ({named}) t", (stream.id,))
    return [*found, *([f"{twice} names of two rows"] if twice else [])]


def _replay(reader: Reader, stream: StreamRecord) -> tuple[int, list[str]]:
    """Take the batches that are still kept again, into an empty store, and compare the rows."""
    then = [0.0]  # the clock of the batch that is taken again
    with tempfile.TemporaryDirectory() as folder:
        empty = open_store(Path(folder) / "replay.sqlite", durability="off")
        service = make_service(empty, config=Config(job_pause=0.0), clock=lambda: then[0])
        try:
            first, n = _again(reader, stream, service, then)
            return n, _compare(reader, stream, service, first)
        finally:
            service.close()


def _again(
    reader: Reader, stream: StreamRecord, service: Service, then: list[float]
) -> tuple[int, int]:
    """Apply the kept batches in order; return the seq from which on none is missing."""
    with service.store.write() as transaction:
        empty = {"settings": "{}", "version": 0, "rows": 0, "created": 0}
        transaction.put("stream", name="replay", salt=stream.salt, **empty)
    taken = _seed(reader, stream, service)
    first = n = 0
    sql = "select seq, at, by, body from batch where stream = ? order by seq"
    for piece in reader.stream(sql, (stream.id,), size=200):
        for seq, at, by, body in piece:
            if body is None:
                first = seq + 1  # from here on nothing is missing, as far as is known yet
                continue
            then[0] = at
            records = parse(unpacked_body(bytes(body)), now=at)

            def work(transaction: Transaction, records: Any = records, by: str = by) -> None:
                kept = find_stream(transaction, "replay")
                # What was accepted once is taken again, whatever the settings say today.
                free = replace(kept, settings=taken)
                apply(service, transaction, free, records, Source(by=by))

            service.writer.do(work)
            n += 1
    return first, n


def _seed(reader: Reader, stream: StreamRecord, service: Service) -> StreamSettings:
    """Give the replay the stream's columns and labels, so that it spells each label alike.

    The batch that brought the first spelling may be gone, and settings change.
    """
    columns, labels = reader.columns(stream.id), reader.labels(stream.id)
    with service.store.write() as transaction:
        mine = find_stream(transaction, "replay").id
        column = f"insert into stream_column (stream, id, name, kind) values ({mine}, ?, ?, ?)"
        transaction.many(column, columns)
        label = "insert into label_code (id, stream_column, label) values (?, ?, ?)"
        transaction.many(label, [(code, of, word) for code, of, *_, word in labels])
    # A word for no answer that is not among the labels was no vote: so the list is never empty.
    return StreamSettings(open=True, labels=[*dict.fromkeys(one for *_, one in labels), ""])


def _compare(reader: Reader, stream: StreamRecord, service: Service, first: int) -> list[str]:
    """Compare the rows that only kept batches made with what the replay made of them."""
    whole = reader.all(
        "select item, system from rows where stream = ? and seq_first >= ?", (stream.id, first)
    )
    kept = _words(reader, stream)
    with service.store.snapshot() as other:
        made = _words(other, find_stream(other, "replay"))
    fact = reader.fact(f"kept_from:{stream.id}")
    found = [
        f"row {name}: kept {kept.get(name)}, its batches say {made.get(name)}"
        for name in sorted(set(whole))
        if kept.get(name) != made.get(name)
    ]
    if fact is None and first == 0:  # nothing was ever dropped: no row may be missing either
        lost = sorted(made.keys() - kept.keys())
        found += [f"row {name} is lost: its batches say {made[name]}" for name in lost]
    return _first(found, "rows")


def _words(reader: Reader, stream: StreamRecord) -> dict[tuple[str, str], Any]:
    """Return every row as words, so that the numbers of two stores need not agree."""
    book = StreamBook(reader, stream, way="all")
    names = book.table.columns
    found: dict[tuple[str, str], Any] = {}
    for piece in pieces(book):
        for row in piece:
            cells = {k: v for k, v in zip(names, row, strict=True) if v is not None and k != "row"}
            found[(cells["item"], cells.get("system", ""))] = cells
    return found
