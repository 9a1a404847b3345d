"""The store in one file: SQLite with a write-ahead log, one writer, readers of their own."""

from __future__ import annotations

import queue
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import msgspec

from tallystick.errors import FileError
from tallystick.serve.store.protocol import KeptBatch, NewBatch, NewRow, RowState, pending

_FEW = 40
"""Below this many names a look-up per name is faster than one join."""


class SqliteReader:
    """One connection that reads."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def all(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        return self._connection.execute(sql, parameters).fetchall()

    def one(self, sql: str, parameters: Sequence[Any] = ()) -> tuple[Any, ...] | None:
        """Return the first row of a query, None if there is none."""
        cursor = self._connection.execute(sql, parameters)
        found: tuple[Any, ...] | None = cursor.fetchone()
        cursor.close()  # a cursor left open would keep its snapshot, and the log would grow
        return found

    def stream(
        self, sql: str, parameters: Sequence[Any] = (), *, size: int = 10_000
    ) -> Iterator[list[tuple[Any, ...]]]:
        """Return the rows of a long query in pieces, as this reader sees them."""
        cursor = self._connection.execute(sql, parameters)
        try:
            while piece := cursor.fetchmany(size):
                yield piece
        finally:
            cursor.close()

    def row_is(self, sign: str, number: int | str, alias: str = "r") -> str:
        """Return the condition that the id of a row compares to a number, or to a column."""
        return f"{alias}.id {sign} {number}"

    def in_order(self, alias: str = "r", *, last_first: bool = False) -> str:
        """Return what follows ``order by`` to get the rows of a stream as they arrived."""
        return f"{alias}.id desc" if last_first else f"{alias}.id"


class SqliteTransaction(SqliteReader):
    """One transaction of the writer."""

    skip_locked = ""

    def run(self, sql: str, parameters: Sequence[Any] = ()) -> int:
        """Execute a statement; return how many rows it changed."""
        return self._connection.execute(sql, parameters).rowcount

    def insert(self, sql: str, parameters: Sequence[Any] = ()) -> int:
        """Execute an ``insert … returning id`` and return that id."""
        [(found,)] = self._connection.execute(sql, parameters).fetchall()
        return int(found)

    def many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Execute a statement for each row."""
        self._connection.executemany(sql, rows)

    def together(self) -> AbstractContextManager[Any]:
        """Do nothing: a statement never leaves this process."""
        return nullcontext()

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """Undo what the block did, and only that, if it raises."""
        self._connection.execute("savepoint one")
        try:
            yield
        except BaseException:
            # SQLite ends the whole transaction itself when the disk is full.
            if self._connection.in_transaction:
                self._connection.execute("rollback to one")
                self._connection.execute("release one")
            raise
        self._connection.execute("release one")

    def find(
        self,
        stream: int,
        keys: Sequence[str],
        names: Sequence[tuple[str, str]],
        places: Mapping[tuple[str, str], int],
    ) -> tuple[list[KeptBatch], list[RowState]]:
        """Return the batches of a stream with these keys, and its rows of these names."""
        ask = self._connection.execute
        held: list[KeptBatch] = []
        for key in keys:
            held += ask(
                "select key, seq, sha256, n, new, changed from batch where stream = ? and key = ?",
                (stream, key),
            )
        columns = "r.item, r.system, r.id, r.bucket, r.slice, r.pattern, r.grades, r.id"
        if len(names) < _FEW:
            sql = f"select {columns} from rows r where stream = ? and item = ? and system = ?"
            found: list[RowState] = []
            for item, system in names:
                found += ask(sql, (stream, item, system))
            return held, found
        # One statement per system for the whole batch: the loop runs inside SQLite. "cross join"
        # keeps the names outside: otherwise the planner may walk all rows of the stream for each.
        sql = (
            f"select {columns} from json_each(?) j cross join rows r"
            " where r.stream = ? and r.item = j.value and r.system = ?"
        )
        items: dict[str, list[str]] = {}
        for item, system in names:
            items.setdefault(system, []).append(item)
        found = []
        for system, mine in items.items():
            found += ask(sql, (msgspec.json.encode(mine).decode(), stream, system)).fetchall()
        return held, found

    def numbers(self, rows: int, batches: int) -> tuple[int, int]:
        """Reserve consecutive ids of rows and numbers of batches; return the first of each."""
        # Retention leaves the highest id it ever deleted, so that no id is given twice.
        [(row, batch)] = self._connection.execute(
            "select max(coalesce((select max(id) from rows), 0), coalesce("
            "(select cast(value as integer) from fact where name = 'rows_deleted'), 0)),"
            " coalesce((select seq from sqlite_sequence where name = 'batch'), 0)"
        ).fetchall()
        return int(row) + 1, int(batch) + 1

    def add_batches(self, batches: Sequence[NewBatch]) -> None:
        """Insert batches."""
        self._connection.executemany(
            "insert into batch (seq, stream, key, sha256, at, by, n, new, changed, body)"
            " values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            batches,
        )

    def add_rows(self, rows: Sequence[NewRow]) -> None:
        """Insert rows."""
        self._connection.executemany(
            "insert into rows (id, stream, item, system, bucket, slice, pattern, u, grades,"
            " seq_first) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            rows,
        )

    def change_rows(self, rows: Sequence[tuple[int, int, bytes | None, Any]]) -> None:
        """Set (slice, pattern, grades) of the rows that `find` found at these places."""
        self._connection.executemany(
            "update rows set slice = ?, pattern = ?, grades = ? where id = ?", rows
        )

    def add_counts(self, counts: Sequence[tuple[int, int, int, int, int]]) -> None:
        """Add to the tally: (stream, bucket, slice, pattern, n), where n may be negative."""
        self._connection.executemany(
            "insert into tally (stream, bucket, slice, pattern, n) values (?, ?, ?, ?, ?)"
            " on conflict (stream, bucket, slice, pattern) do update set n = n + excluded.n",
            counts,
        )


class SqliteStore:
    """A folder with one database.

    Parameters
    ----------
    path
        The file; it is made where it is absent.
    durability
        ``full`` survives a power cut; ``normal`` survives a killed process only, and is faster.
    migrate
        Whether to bring the schema up to date.
    """

    errors: tuple[type[Exception], ...] = (sqlite3.DatabaseError, OSError)
    away: tuple[type[Exception], ...] = (sqlite3.OperationalError,)

    def __init__(self, path: Path, *, durability: str = "full", migrate: bool = True) -> None:
        self.path = Path(path)
        self._durability = durability
        self._may_make = migrate
        self._idle: queue.SimpleQueue[sqlite3.Connection] = queue.SimpleQueue()
        self._writing = threading.Lock()
        try:
            if migrate:
                self.path.parent.mkdir(parents=True, exist_ok=True)
            self._writer = self._connect()
            if migrate:
                self._migrate()
        except (OSError, sqlite3.OperationalError) as error:
            raise FileError(
                f"{self.path} cannot be opened ({error}): give a folder that can be written"
            ) from error
        except sqlite3.DatabaseError as error:
            raise FileError(
                f"{self.path} is damaged ({error}): go back to a copy that 'tallystick serve check'"
                " can read"
            ) from error

    def _connect(self, *, reads: bool = False) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, isolation_level=None, check_same_thread=False, cached_statements=512
        )
        connection.execute("pragma busy_timeout = 10000")
        if reads:
            connection.execute("pragma query_only = on")
        else:
            if self._may_make:  # the file remembers it, and a copy stays as it is
                connection.execute("pragma journal_mode = wal")
            connection.execute(f"pragma synchronous = {self._durability}")
            # The log is moved by a job, so that no request pays for it; 16,000 pages are 64 MB.
            connection.execute("pragma wal_autocheckpoint = 16000")
        connection.execute("pragma cache_size = -32000")
        return connection

    def _migrate(self) -> None:
        """Run what is pending, under the lock of a write; the file is copied first."""
        self._writer.execute(
            "create table if not exists schema_version"
            " (version integer primary key, name text not null, at real not null)"
        )
        version = self._version()
        steps = pending("sqlite", version)
        if steps and version:
            copy = self.path.with_name(f"{self.path.stem}-schema-{version}.sqlite")
            if not copy.exists():
                self._writer.execute("vacuum into ?", (str(copy),))
        for step in steps:
            self._writer.execute("begin immediate")
            try:
                # Another process may have done this step while we waited for the lock.
                if self._version() < step.version:
                    for statement in step.statements():
                        self._writer.execute(statement)
                    self._writer.execute(
                        "insert into schema_version values (?, ?, ?)",
                        (step.version, step.name, time.time()),
                    )
                self._writer.execute("commit")
            except BaseException:
                self._writer.execute("rollback")
                raise

    def _version(self) -> int:
        [(found,)] = self._writer.execute("select coalesce(max(version), 0) from schema_version")
        return int(found)

    @contextmanager
    def read(self) -> Iterator[SqliteReader]:
        """Return a reader that belongs to the calling thread until the block ends."""
        try:
            connection = self._idle.get_nowait()
        except queue.Empty:
            connection = self._connect(reads=True)
        try:
            yield SqliteReader(connection)
        finally:
            self._idle.put(connection)

    @contextmanager
    def snapshot(self) -> Iterator[SqliteReader]:
        """Return a reader that sees one state of the store until the block ends; keep it short."""
        with self.read() as reader:
            reader.all("begin")
            try:
                yield reader
            finally:
                reader.all("rollback")

    @contextmanager
    def write(self) -> Iterator[SqliteTransaction]:
        """Begin a transaction; it is committed at the end of the block. For the writer only."""
        with self._writing:
            self._writer.execute("begin immediate")
            try:
                yield SqliteTransaction(self._writer)
                self._writer.execute("commit")
            except BaseException:
                if self._writer.in_transaction:
                    self._writer.execute("rollback")
                raise

    def address(self) -> str:
        """Return what `open_store` needs to open this store in another process."""
        return str(self.path)

    def checkpoint(self) -> int:
        """Move the log into the database; return the bytes that the log still has."""
        with self._writing:
            self._writer.execute("pragma wal_checkpoint(truncate)")
        log = self.path.with_name(self.path.name + "-wal")
        return log.stat().st_size if log.exists() else 0

    def size(self) -> int:
        """Return the bytes on disk."""
        names = (self.path.name, self.path.name + "-wal")
        paths = [self.path.with_name(name) for name in names]
        return sum(path.stat().st_size for path in paths if path.exists())

    def close(self) -> None:
        """Close every connection."""
        self._writer.close()
        while not self._idle.empty():
            self._idle.get_nowait().close()
