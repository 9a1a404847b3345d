"""The store for several processes: PostgreSQL.

Statements are never prepared on the server: after five uses psycopg would keep a generic plan that
was made while the tables were small, and a look-up of a thousand names then scans them. Arrays are
joined with ``unnest`` for the same reason (measured: 1.6 µs a record against 80).
"""

from __future__ import annotations

import queue
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from tallystick.errors import FileError, MissingExtra
from tallystick.serve.store.protocol import (
    KeptBatch,
    NewBatch,
    NewRow,
    RowState,
    bytes_array,
    number_array,
    pending,
    text_array,
)

if TYPE_CHECKING:
    import psycopg

_MIGRATION_LOCK = 7_364_120
"""The advisory lock under which one process migrates while the others wait."""

_WRITE_LOCK = 7_364_121
"""The advisory lock under which one process writes while the others wait."""

_SAVED = "operation"
"""The savepoint of an operation; the first one is set together with the lock."""

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

    def row_is(self, sign: str, number: int | str, alias: str = "r") -> str:
        """Return the condition that the id of a row compares to a number, or to a column.

        The index of a stream's rows has blocks of sixteen ids, so the condition names the block.

        >>> PostgresReader.row_is(None, ">", 20)
        '(r.id >> 4 >= 20 >> 4 and r.id > 20)'
        """
        block = {">": ">=", "<": "<="}.get(sign, sign)
        return f"({alias}.id >> 4 {block} {number} >> 4 and {alias}.id {sign} {number})"

    def in_order(self, alias: str = "r", *, last_first: bool = False) -> str:
        """Return what follows ``order by`` to get the rows of a stream as they arrived."""
        way = " desc" if last_first else ""
        return f"{alias}.id >> 4{way}, {alias}.id{way}"


class PostgresTransaction(PostgresReader):
    """One transaction of the writer."""

    skip_locked = " for update skip locked"

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        super().__init__(connection)
        self._used = False

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
        if self._used:
            # Both go at once: without parameters, several statements are one message.
            self._connection.execute(f"release savepoint {_SAVED}; savepoint {_SAVED}")
        self._used = True
        try:
            yield
        except BaseException:
            if not (self._connection.closed or self._connection.broken):
                self._connection.execute(f"rollback to savepoint {_SAVED}")
            raise

    def find(
        self,
        stream: int,
        keys: Sequence[str],
        names: Sequence[tuple[str, str]],
        places: Mapping[tuple[str, str], int],
    ) -> tuple[list[KeptBatch], list[RowState]]:
        """Return the batches of a stream with these keys, and its rows of these names."""
        with self._connection.pipeline() if keys else nullcontext():
            if keys:
                held = self._connection.execute(
                    "select b.key, b.seq, b.sha256, b.n, b.new, b.changed from"
                    " unnest(%s::text[]) k (key) join batch b on b.stream = %s and b.key = k.key",
                    (text_array(keys), stream),
                )
            # "offset 0" keeps the loop over the hashes outside and the one index inside, whatever
            # the planner knows of the table; a table that was never analysed is scanned otherwise.
            found = self._connection.execute(
                "select r.item, r.system, r.id, r.bucket, r.slice, r.pattern,"
                " nullif(r.grades, ''), r.at from unnest(%s::bigint[]) n (u), lateral"
                " (select *, ctid as at from rows where u = n.u offset 0) r"
                " where r.stream = %s",
                (number_array({places[name] for name in names}), stream),
            )
        # Two names may have the same hash: only those that were asked for are meant.
        wanted = set(names)
        rows = [row for row in found.fetchall() if row[:2] in wanted]
        return held.fetchall() if keys else [], rows

    def numbers(self, rows: int, batches: int) -> tuple[int, int]:
        """Reserve consecutive ids of rows and numbers of batches; return the first of each."""
        # Nobody else takes numbers meanwhile: this process holds the lock of those who write.
        [(row, batch)] = self._connection.execute(
            "select case when %s > 0 then setval('rows_id', nextval('rows_id') + %s - 1) end,"
            " setval(pg_get_serial_sequence('batch', 'seq'),"
            " nextval(pg_get_serial_sequence('batch', 'seq')) + %s - 1)",
            (rows, rows, batches),
        ).fetchall()
        return int(row or 0) - rows + 1, int(batch) - batches + 1

    def add_batches(self, batches: Sequence[NewBatch]) -> None:
        """Insert batches."""
        seqs, streams, keys, digests, times, people, n, new, changed, bodies = zip(
            *batches, strict=True
        )
        self._connection.execute(
            "insert into batch (seq, stream, key, sha256, at, by, n, new, changed, body)"
            " overriding system value select * from unnest(%s::bigint[], %s::bigint[],"
            " %s::text[], %s::bytea[], %s::double precision[], %s::text[], %s::bigint[],"
            " %s::bigint[], %s::bigint[], %s::bytea[])",
            (
                *(number_array(seqs), number_array(streams), text_array(keys)),
                *(bytes_array(digests), number_array(times), text_array(people)),
                *(number_array(n), number_array(new), number_array(changed), bytes_array(bodies)),
            ),
        )

    def add_rows(self, rows: Sequence[NewRow]) -> None:
        """Insert rows."""
        ids, streams, items, systems, buckets, slices, patterns, us, grades, firsts = zip(
            *rows, strict=True
        )
        self._connection.execute(
            "insert into rows (id, stream, item, system, bucket, slice, pattern, u, grades,"
            " seq_first) select * from unnest(%s::bigint[], %s::integer[], %s::text[],"
            " %s::text[], %s::integer[], %s::integer[], %s::integer[], %s::bigint[], %s::bytea[],"
            " %s::bigint[])",
            (
                *(number_array(ids), number_array(streams), text_array(items)),
                *(text_array(systems), number_array(buckets), number_array(slices)),
                *(number_array(patterns), number_array(us), _grades(grades)),
                number_array(firsts),
            ),
        )

    def change_rows(self, rows: Sequence[tuple[int, int, bytes | None, Any]]) -> None:
        """Set (slice, pattern, grades) of the rows that `find` found at these places."""
        slices, patterns, grades, places = zip(*rows, strict=True)
        # Nobody else writes meanwhile, so the rows still lie where they were found.
        self._connection.execute(
            "update rows r set slice = n.slice, pattern = n.pattern, grades = n.grades"
            " from unnest(%s::integer[], %s::integer[], %s::bytea[], %s::tid[])"
            " n (slice, pattern, grades, at) where r.ctid = n.at",
            (number_array(slices), number_array(patterns), _grades(grades), text_array(places)),
        )

    def add_counts(self, counts: Sequence[tuple[int, int, int, int, int]]) -> None:
        """Add to the tally: (stream, bucket, slice, pattern, n), where n may be negative."""
        self._connection.execute(
            "insert into tally (stream, bucket, slice, pattern, n) select * from"
            " unnest(%s::integer[], %s::integer[], %s::integer[], %s::integer[], %s::bigint[])"
            " on conflict (stream, bucket, slice, pattern) do update set n = tally.n + excluded.n",
            [number_array(column) for column in zip(*counts, strict=True)],
        )


def _grades(column: Sequence[bytes | None]) -> str:
    """Write grades; none are empty, because a null would cost the row eight bytes."""
    if not any(column):
        return "{" + ",".join(['""'] * len(column)) + "}"
    return bytes_array([one or b"" for one in column])


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

    def _connect(self, *settings: str) -> psycopg.Connection[Any]:
        connection = self._psycopg.connect(self._dsn, autocommit=True)
        connection.prepare_threshold = None
        # Compiling a query takes 50 ms, more than any of ours. All settings are one message.
        connection.execute("; ".join(f"set {one}" for one in ("jit = off", *settings)))
        return connection

    def _connect_writer(self) -> psycopg.Connection[Any]:
        return self._connect(f"idle_in_transaction_session_timeout = {_MOST_IDLE}")

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
        connection = self._take()
        try:
            yield PostgresReader(connection)
        finally:
            self._give(connection)

    @contextmanager
    def snapshot(self) -> Iterator[PostgresReader]:
        """Return a reader that sees one state of the store until the block ends; keep it short."""
        begin = "begin isolation level repeatable read read only"
        connection = self._take()
        try:
            connection.execute(begin)
        except self._psycopg.OperationalError:
            # The server restarted since the last question: this one need not fail for it.
            connection.close()
            self._drop_idle()
            connection = self._connect()
            connection.execute(begin)
        try:
            yield PostgresReader(connection)
        finally:
            if not (connection.closed or connection.broken):
                connection.execute("rollback")
            self._give(connection)

    def _take(self) -> psycopg.Connection[Any]:
        """Return a connection that waits, or a new one: making one takes longer than most reads."""
        try:
            return self._idle.get_nowait()
        except queue.Empty:
            return self._connect()

    def _give(self, connection: psycopg.Connection[Any]) -> None:
        if connection.closed or connection.broken:
            # The server restarted: those that wait are dead, too, and nobody need find out.
            connection.close()
            self._drop_idle()
        else:
            self._idle.put(connection)

    @contextmanager
    def write(self) -> Iterator[PostgresTransaction]:
        """Begin a transaction; it is committed at the end of the block. For the writer only.

        One process writes at a time, as in SQLite: the ids of rows are then in the order of the
        commits, which the windows of the drift test rely on, and two processes cannot wait for
        each other.
        """
        if self._writer.closed or self._writer.broken:
            self._writer = self._connect_writer()
        writer = self._writer
        try:
            writer.execute(
                f"begin; select pg_advisory_xact_lock({_WRITE_LOCK}); savepoint {_SAVED}"
            )
            yield PostgresTransaction(writer)
            writer.execute("commit")
        except BaseException:
            if not (writer.closed or writer.broken):
                writer.execute("rollback")
            raise

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
