"""The store for several processes: PostgreSQL.

Statements are never prepared on the server: after five uses psycopg would keep a generic plan that
was made while the tables were small, and a look-up of a thousand names then scans them. Arrays are
joined with ``unnest`` for the same reason (measured: 1.6 µs a record against 80).
"""

from __future__ import annotations

import queue
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from tallystick.errors import FileError, MissingExtra
from tallystick.serve.store.migrate import pending
from tallystick.serve.store.protocol import NewRow, RowState

if TYPE_CHECKING:
    import psycopg

__all__ = ["PostgresReader", "PostgresStore", "PostgresTransaction"]

_MIGRATION_LOCK = 7_364_120
"""The advisory lock under which one process migrates while the others wait."""

_WRITE_LOCK = 7_364_121
"""The advisory lock under which one process writes while the others wait."""

_FEW = 4
"""Up to this many rows are written as values, and not as arrays."""

_IDS_AHEAD = 64
"""Ids of rows that are taken at once."""

_MOST_IDLE = 30_000
"""Milliseconds after which a process that stopped while it held that lock loses it."""


def _translated(sql: str) -> str:
    """Write ``?`` as psycopg wants it.

    >>> _translated("select a from b where c = ? and d like 'x%'")
    "select a from b where c = %s and d like 'x%%'"
    """
    return sql.replace("%", "%%").replace("?", "%s")


class PostgresReader:
    """One connection that reads."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    def all(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        return self._connection.execute(_translated(sql), parameters).fetchall()

    def one(self, sql: str, parameters: Sequence[Any] = ()) -> tuple[Any, ...] | None:
        """Return the first row of a query, None if there is none."""
        found: tuple[Any, ...] | None = self._connection.execute(
            _translated(sql),
            parameters,
        ).fetchone()
        return found

    def stream(
        self, sql: str, parameters: Sequence[Any] = (), *, size: int = 10_000
    ) -> Iterator[list[tuple[Any, ...]]]:
        """Return the rows of a long query in pieces, as this reader sees them."""
        # A cursor of the server lives inside a transaction only.
        with self._connection.transaction(), self._connection.cursor(name="rows") as cursor:
            cursor.execute(_translated(sql), parameters)
            while piece := cursor.fetchmany(size):
                yield piece


class PostgresTransaction(PostgresReader):
    """One transaction of the writer."""

    skip_locked = " for update skip locked"

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        super().__init__(connection)
        self._saved = False
        self._ids = range(0)

    def run(self, sql: str, parameters: Sequence[Any] = ()) -> int:
        """Execute a statement; return how many rows it changed."""
        return self._connection.execute(_translated(sql), parameters).rowcount

    def insert(self, sql: str, parameters: Sequence[Any] = ()) -> int:
        """Execute an ``insert … returning id`` and return that id."""
        [(found,)] = self.all(sql, parameters)
        return int(found)

    def many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Execute a statement for each row."""
        with self._connection.cursor() as cursor:
            cursor.executemany(_translated(sql), rows)

    def together(self) -> AbstractContextManager[Any]:
        """Send the statements of the block without waiting for each; errors come at its end."""
        return self._connection.pipeline()

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """Undo what the block did, and only that, if it raises."""
        # The savepoint of the operation before goes together with the new one: one wait, not two.
        with self._connection.pipeline() if self._saved else nullcontext():
            if self._saved:
                self._connection.execute("release savepoint operation")
            self._connection.execute("savepoint operation")
        self._saved = True
        try:
            yield
        except BaseException:
            if not (self._connection.closed or self._connection.broken):
                self._connection.execute("rollback to savepoint operation")
            raise

    def find_rows(self, stream: int, names: Sequence[tuple[str, str]]) -> list[RowState]:
        """Return the rows of a stream with these (item, system), in any order."""
        if len(names) <= _FEW:
            pairs = " or ".join(["(r.item = %s and r.system = %s)"] * len(names))
            return self._connection.execute(
                "select r.item, r.system, r.id, r.bucket, r.slice, r.pattern, r.grades"
                f" from rows r where r.stream = %s and ({pairs})",
                [stream, *(word for pair in names for word in pair)],
            ).fetchall()
        items, systems = [one for one, _ in names], [one for _, one in names]
        return self._connection.execute(
            "select r.item, r.system, r.id, r.bucket, r.slice, r.pattern, r.grades"
            " from unnest(%s::text[], %s::text[]) n (item, system) join rows r"
            " on r.stream = %s and r.item = n.item and r.system = n.system",
            (items, systems, stream),
        ).fetchall()

    def row_ids(self, n: int) -> int:
        """Reserve *n* consecutive ids of rows and return the first."""
        # The next operations of the group need some, too; what is left over is a harmless gap.
        if len(self._ids) < n:
            many = max(n, _IDS_AHEAD)
            [(last,)] = self._connection.execute(
                "select max(nextval('rows_id')) from generate_series(1, %s)", (many,)
            ).fetchall()
            self._ids = range(int(last) - many + 1, int(last) + 1)
        first = self._ids[0]
        self._ids = self._ids[n:]
        return first

    def add_rows(self, rows: Sequence[NewRow]) -> None:
        """Insert rows."""
        kinds = [
            "bigint",
            "bigint",
            "text",
            "text",
            "bigint",
            "bigint",
            "bigint",
            "bigint",
            "bytea",
            "bigint",
            "bigint",
        ]
        into = "insert into rows (id, stream, item, system, bucket, slice, pattern, u, grades,"
        self._insert(f"{into} seq_first, seq_last)", kinds, rows)

    def _insert(
        self, into: str, kinds: Sequence[str], rows: Sequence[Any], after: str = ""
    ) -> None:
        """Insert rows: as values if they are few, else as one array per column."""
        # Psycopg looks at every element of an array: for one row that costs more than the query.
        if len(rows) <= _FEW:
            marks = ", ".join(["(" + ", ".join(["%s"] * len(kinds)) + ")"] * len(rows))
            held = [cell for row in rows for cell in row]
            self._connection.execute(f"{into} values {marks}{after}", held)
            return
        marks = ", ".join(f"%s::{kind}[]" for kind in kinds)
        columns = [list(column) for column in zip(*rows, strict=True)]
        self._connection.execute(f"{into} select * from unnest({marks}){after}", columns)

    def change_rows(self, rows: Sequence[tuple[int, int, bytes | None, int, int]]) -> None:
        """Set (slice, pattern, grades, seq_last) of the row with the id that comes last."""
        self._connection.execute(
            "update rows r set slice = n.slice, pattern = n.pattern, grades = n.grades,"
            " seq_last = n.seq from unnest(%s::bigint[], %s::bigint[], %s::bytea[], %s::bigint[],"
            " %s::bigint[]) n (slice, pattern, grades, seq, id) where r.id = n.id",
            [list(column) for column in zip(*rows, strict=True)],
        )

    def add_counts(self, counts: Sequence[tuple[int, int, int, int, int]]) -> None:
        """Add to the tally: (stream, bucket, slice, pattern, n), where n may be negative."""
        self._insert(
            "insert into tally (stream, bucket, slice, pattern, n)",
            ["bigint"] * 5,
            counts,
            " on conflict (stream, bucket, slice, pattern) do update set n = tally.n + excluded.n",
        )


class PostgresStore:
    """A database that several processes share.

    Parameters
    ----------
    dsn
        ``postgresql://…``, as libpq takes it.
    migrate
        Whether to bring the schema up to date.
    """

    def __init__(self, dsn: str, *, migrate: bool = True) -> None:
        try:
            import psycopg
        except ImportError as error:
            raise MissingExtra("psycopg", "postgres") from error
        self._psycopg = psycopg
        self.errors: tuple[type[Exception], ...] = (psycopg.OperationalError, OSError)
        self.away: tuple[type[Exception], ...] = (psycopg.OperationalError, psycopg.InterfaceError)
        self._dsn = dsn
        self._idle: queue.SimpleQueue[psycopg.Connection[Any]] = queue.SimpleQueue()
        try:
            self._writer = self._connect_writer()
        except psycopg.OperationalError as error:
            # The address may hold a password: it is never repeated.
            raise FileError(f"PostgreSQL cannot be reached: {str(error).strip()}") from error
        if migrate:
            try:
                self._migrate()
            except BaseException:
                self._writer.close()
                raise

    def _connect(self, *, autocommit: bool = True) -> psycopg.Connection[Any]:
        connection = self._psycopg.connect(self._dsn, autocommit=autocommit)
        connection.prepare_threshold = None
        return connection

    def _connect_writer(self) -> psycopg.Connection[Any]:
        connection = self._connect()
        connection.execute(f"set idle_in_transaction_session_timeout = {_MOST_IDLE}")
        return connection

    def _migrate(self) -> None:
        """Run what is pending, each step in a transaction, while other processes wait."""
        with self._writer.transaction():
            self._writer.execute("select pg_advisory_xact_lock(%s)", (_MIGRATION_LOCK,))
            self._writer.execute(
                "create table if not exists schema_version (version bigint primary key,"
                " name text not null, at double precision not null)"
            )
        for step in pending("postgres", self._version()):
            with self._writer.transaction():
                self._writer.execute("select pg_advisory_xact_lock(%s)", (_MIGRATION_LOCK,))
                if self._version() >= step.version:
                    continue
                for statement in step.statements():
                    self._writer.execute(statement)
                self._writer.execute(
                    "insert into schema_version values (%s, %s, %s)",
                    (step.version, step.name, time.time()),
                )

    def _version(self) -> int:
        [(found,)] = self._writer.execute(
            "select coalesce(max(version), 0) from schema_version"
        ).fetchall()
        return int(found)

    @contextmanager
    def read(self) -> Iterator[PostgresReader]:
        """Return a reader that belongs to the calling thread until the block ends."""
        try:
            connection = self._idle.get_nowait()
        except queue.Empty:
            connection = self._connect()
        try:
            yield PostgresReader(connection)
        finally:
            if connection.closed or connection.broken:
                # The server restarted: those that wait are dead, too, and nobody need find out.
                connection.close()
                self._drop_idle()
            else:
                self._idle.put(connection)

    @contextmanager
    def snapshot(self) -> Iterator[PostgresReader]:
        """Return a reader that sees one state of the store until the block ends; keep it short."""
        connection = self._connect(autocommit=False)
        try:
            connection.isolation_level = self._psycopg.IsolationLevel.REPEATABLE_READ
            connection.read_only = True
            yield PostgresReader(connection)
        finally:
            connection.close()

    @contextmanager
    def write(self) -> Iterator[PostgresTransaction]:
        """Begin a transaction; it is committed at the end of the block. For the writer only.

        One process writes at a time, as in SQLite: the ids of rows are then in the order of the
        commits, which the windows of the drift test rely on, and two processes cannot wait for
        each other.
        """
        if self._writer.closed or self._writer.broken:
            self._writer = self._connect_writer()
        with self._writer.transaction():
            self._writer.execute("select pg_advisory_xact_lock(%s)", (_WRITE_LOCK,))
            yield PostgresTransaction(self._writer)

    def address(self) -> str:
        """Return what `open_store` needs to open this store in another process."""
        return self._dsn

    def checkpoint(self) -> int:
        """Do nothing: PostgreSQL looks after its own log."""
        return 0

    def size(self) -> int:
        """Return the bytes on disk."""
        with self.read() as reader:
            found = reader.one("select pg_database_size(current_database())")
        return int(found[0]) if found is not None else 0

    def close(self) -> None:
        """Close every connection."""
        self._writer.close()
        self._drop_idle()

    def _drop_idle(self) -> None:
        while True:
            try:
                self._idle.get_nowait().close()
            except queue.Empty:
                return
