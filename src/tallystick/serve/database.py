"""Where the service keeps what it was told: SQLite in a folder, or PostgreSQL.

SQL is written once, with ``?`` for parameters. What differs between the
engines, because one of them would be slow or wrong with the other's way,
stands here and nowhere else: `SqliteStore` and `PostgresStore` with their
transactions.

Statements are never prepared by PostgreSQL: after five uses psycopg would
keep a generic plan that was made while the tables were small, and a look-up
of a thousand names then scans them. Arrays are joined with ``unnest`` for the
same reason (measured: 1.6 µs a record against 80).
"""

from __future__ import annotations

import queue
import re
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import msgspec

from tallystick.errors import FileError, FormatError, MissingExtra

if TYPE_CHECKING:
    import psycopg

RowState: TypeAlias = tuple[str, str, int, int, int, int, "bytes | None", Any]
"""(item, system, id, bucket, slice, pattern, grades, at) of a row as it is kept.

*at* is where it lies, for `Transaction.change_rows`: good until something else is written.
"""

KeptBatch: TypeAlias = tuple[str, int, bytes, int, int, int]
"""(key, seq, sha256, n, new, changed) of a batch as it is kept."""

COLUMNS: Mapping[str, Sequence[str]] = {
    "batch": ("seq", "stream", "key", "sha256", "at", "by", "n", "new", "changed", "body"),
    "rows": (
        *("id", "stream", "item", "system", "bucket", "slice", "pattern", "u", "grades"),
        "seq_first",
    ),
    "tally": ("stream", "bucket", "slice", "pattern", "n"),
}
"""Tables that are written by the thousand (`Transaction.add`), their columns in order."""

_KINDS = {
    **dict.fromkeys(("key", "by", "item", "system"), "text"),
    **dict.fromkeys(("sha256", "body"), "bytes"),
    "at": "float",
    "grades": "filled",
}
"""Kinds of those columns that hold no whole numbers."""

_MIGRATION_LOCK, _WRITE_LOCK = 7_364_120, 7_364_121
"""Advisory locks of PostgreSQL: one process migrates, or writes, while the others wait."""

_IDLE = "idle_in_transaction_session_timeout = 30000"
"""A process that stopped for 30 s while it held such a lock loses it."""


# What both engines can do: short reads, and transactions that one writer
# runs.


class Reader:
    """A connection that reads. No read outlives one query, so that no log grows for it."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    @staticmethod
    def _sql(sql: str) -> str:
        return sql

    def all(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        found: list[tuple[Any, ...]] = self._connection.execute(
            self._sql(sql), parameters
        ).fetchall()
        return found

    def one(self, sql: str, parameters: Sequence[Any] = ()) -> tuple[Any, ...] | None:
        """Return the first row of a query, None if there is none."""
        cursor = self._connection.execute(self._sql(sql), parameters)
        found: tuple[Any, ...] | None = cursor.fetchone()
        cursor.close()  # a cursor left open would keep its snapshot, and the log would grow
        return found

    def value(self, sql: str, parameters: Sequence[Any] = ()) -> Any:
        """Return the first value of a query, None if there is none."""
        found = self.one(sql, parameters)
        return None if found is None else found[0]

    def fact(self, name: str) -> str | None:
        """Return what was kept under a name."""
        found: str | None = self.value("select value from fact where name = ?", (name,))
        return found

    def newest(self, stream: int) -> int:
        """Return the number of the last batch of a stream, 0 if there is none."""
        sql = "select coalesce(max(seq), 0) from batch where stream = ?"
        return int(self.value(sql, (stream,)))

    def columns(self, stream: int) -> list[tuple[int, str, str]]:
        """Return (id, name, kind) of the columns of a stream, in the order in which they came."""
        sql = "select id, name, kind from stream_column where stream = ? order by id"
        return self.all(sql, (stream,))

    def labels(self, stream: int) -> list[tuple[int, int, str, str, str]]:
        """Return (code, column, kind, name of the column, label) of the labels of a stream."""
        return self.all(
            "select c.id, s.id, s.kind, s.name, c.label from label_code c join stream_column s"
            " on s.id = c.stream_column where s.stream = ? order by c.id",
            (stream,),
        )

    def by_id(
        self, sql: str, ids: Iterable[Any], first: Sequence[Any] = ()
    ) -> Iterator[tuple[Any, ...]]:
        """Return the rows of a query that ends in ``in ({})``, a few hundred keys at a time."""
        numbers = sorted(ids)
        for start in range(0, len(numbers), 500):
            part = numbers[start : start + 500]
            yield from self.all(sql.format(", ".join("?" * len(part))), [*first, *part])

    def stream(
        self, sql: str, parameters: Sequence[Any] = (), *, size: int = 10_000
    ) -> Iterator[list[tuple[Any, ...]]]:
        """Return the rows of a long query in pieces, as this reader sees them.

        With a reader of `Store.snapshot` they agree with everything else that it reads, however
        much is written meanwhile.
        """
        cursor = self._connection.execute(self._sql(sql), parameters)
        try:
            while piece := cursor.fetchmany(size):
                yield piece
        finally:
            cursor.close()

    def has_table(self, name: str) -> bool:
        """Say whether there is a table of this name."""
        return self.one("select 1 from sqlite_master where name = ?", (name,)) is not None

    def row_is(self, sign: str, number: int | str, alias: str = "r") -> str:
        """Return the condition that the id of a row compares to a number, or to a column.

        The query must name the stream of the row as well. *sign* is one of ``=``, ``>``, ``>=``,
        ``<=``.
        """
        return f"{alias}.id {sign} {number}"

    def in_order(self, alias: str = "r", *, last_first: bool = False) -> str:
        """Return what follows ``order by`` to get the rows of a stream as they arrived."""
        return f"{alias}.id desc" if last_first else f"{alias}.id"


class Transaction(Reader):
    """What the writer does: all of it is kept, or nothing. Here as SQLite does it."""

    is_shared = False
    """Whether other processes write to this store, too."""

    def run(self, sql: str, parameters: Sequence[Any] = ()) -> int:
        """Execute a statement; return how many rows it changed."""
        return int(self._connection.execute(self._sql(sql), parameters).rowcount)

    def put(self, table: str, then: str = "", /, **columns: Any) -> int:
        """Insert a row; *then* is what follows, such as ``on conflict …``. Return how many."""
        return self.run(_insert(table, list(columns)) + then, tuple(columns.values()))

    def made(self, table: str, /, **columns: Any) -> int:
        """Insert a row and return the id that it got."""
        [(found,)] = self.all(_insert(table, list(columns)) + " returning id", [*columns.values()])
        return int(found)

    def numbered(self, table: str, /, **columns: Any) -> int:
        """Return the id of the row with these first two columns, after making it where absent."""
        once = _insert(table, list(columns)) + " on conflict do nothing returning id"
        found = self.one(once, tuple(columns.values()))
        if found is None:  # another process was first
            first, second, *_ = columns
            where = f"select id from {table} where {first} = ? and {second} = ?"
            [found] = self.all(where, (columns[first], columns[second]))
        return int(found[0])

    def many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Execute a statement for each row."""
        self._connection.cursor().executemany(self._sql(sql), rows)

    def keep(self, name: str, value: str) -> None:
        """Keep a fact of the service under its name."""
        newer = " on conflict (name) do update set value = excluded.value"
        self.put("fact", newer, name=name, value=value)

    def together(self) -> AbstractContextManager[Any]:
        """Send the statements of the block without waiting for each; errors come at its end."""
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
        """Return the batches of a stream with these keys, and its rows of these names.

        *places* gives the hash `u` of a name, and works it out only if it is asked.
        """
        held: list[Any] = []
        for key in keys:
            held += self.all(
                "select key, seq, sha256, n, new, changed from batch where stream = ? and key = ?",
                (stream, key),
            )
        found: list[Any] = []
        # One statement per system for the whole batch: the loop runs inside SQLite. "cross join"
        # keeps the names outside: otherwise the planner may walk all rows of the stream for each.
        sql = (
            "select r.item, r.system, r.id, r.bucket, r.slice, r.pattern, r.grades, r.id"
            " from json_each(?) j cross join rows r"
            " where r.stream = ? and r.item = j.value and r.system = ?"
        )
        items: dict[str, list[str]] = {}
        for item, system in names:
            items.setdefault(system, []).append(item)
        for system, mine in items.items():
            found += self.all(sql, (msgspec.json.encode(mine).decode(), stream, system))
        return held, found

    def numbers(self, rows: int, batches: int) -> tuple[int, int]:
        """Reserve consecutive ids of rows and numbers of batches; return the first of each."""
        # Retention leaves the highest id it ever deleted, so that no id is given twice.
        [(row, batch)] = self.all(
            "select max(coalesce((select max(id) from rows), 0), coalesce("
            "(select cast(value as integer) from fact where name = 'rows_deleted'), 0)),"
            " coalesce((select seq from sqlite_sequence where name = 'batch'), 0)"
        )
        return int(row) + 1, int(batch) + 1

    def add(self, table: str, rows: Sequence[Sequence[Any]], conflict: str = "") -> None:
        """Insert rows into a table of `COLUMNS`."""
        self.many(_insert(table, COLUMNS[table]) + conflict, rows)

    def add_counts(self, counts: Sequence[tuple[int, int, int, int, int]]) -> None:
        """Add to the tally: (stream, bucket, slice, pattern, n), where n may be negative."""
        self.add(
            "tally",
            counts,
            " on conflict (stream, bucket, slice, pattern) do update set n = tally.n + excluded.n",
        )

    def change_rows(self, rows: Sequence[tuple[int, int, bytes | None, Any]]) -> None:
        """Set (slice, pattern, grades) of the rows that `find` found at these places."""
        self.many("update rows set slice = ?, pattern = ?, grades = ? where id = ?", rows)


def _insert(table: str, columns: Sequence[str]) -> str:
    marks = ", ".join("?" * len(columns))
    return f"insert into {table} ({', '.join(columns)}) values ({marks})"


class Store:
    """Where everything is kept: connections that wait, and one that writes.

    Parameters
    ----------
    migrate
        Whether to bring the schema up to date.
    """

    engine: ClassVar[str]
    reader: ClassVar[type[Reader]] = Reader
    errors: tuple[type[Exception], ...]
    """What it raises when it is broken: the whole group is answered 503 and comes again."""

    away: tuple[type[Exception], ...]
    """What a read raises while the database cannot be reached: it is answered 503."""

    def __init__(self) -> None:
        self._idle: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._writer: Any = None

    def address(self) -> str:
        """Return what `open_store` needs to open this store in another process."""
        raise NotImplementedError

    def write(self) -> AbstractContextManager[Transaction]:
        """Begin a transaction; it is committed at the end of the block. For the writer only."""
        raise NotImplementedError

    def checkpoint(self) -> int:
        """Move the log into the database where there is one; return the bytes it still has."""
        return 0

    @contextmanager
    def read(self) -> Iterator[Reader]:
        """Return a reader that belongs to the calling thread until the block ends."""
        connection = self._take()
        try:
            yield self.reader(connection)
        finally:
            self._give(connection)

    @contextmanager
    def snapshot(self) -> Iterator[Reader]:
        """Return a reader that sees one state of the store until the block ends; keep it short."""
        connection = self._begun()
        try:
            yield self.reader(connection)
        finally:
            if self._is_alive(connection):
                connection.execute("rollback")
            self._give(connection)

    def close(self) -> None:
        """Close every connection."""
        self._writer.close()
        self._drop_idle()

    def _connect(self) -> Any:
        raise NotImplementedError

    def _begun(self) -> Any:
        connection = self._take()
        connection.execute("begin")
        return connection

    def _is_alive(self, connection: Any) -> bool:
        return True

    def _take(self) -> Any:
        """Return a connection that waits, or a new one: making one takes longer than most reads."""
        try:
            return self._idle.get_nowait()
        except queue.Empty:
            return self._connect()

    def _give(self, connection: Any) -> None:
        if self._is_alive(connection):
            self._idle.put(connection)
            return
        # The server restarted: those that wait are dead, too, and nobody need find out.
        connection.close()
        self._drop_idle()

    def _drop_idle(self) -> None:
        while True:
            try:
                self._idle.get_nowait().close()
            except queue.Empty:
                return

    # -- the schema

    def _migrate(self, step: Callable[[], AbstractContextManager[Transaction]]) -> None:
        """Run what is pending, each in a transaction that *step* opens, while others wait."""
        with step() as transaction:
            transaction.run(
                "create table if not exists schema_version (version bigint primary key,"
                " name text not null, at double precision not null)"
            )
            version = version_of(transaction)
        steps = pending(self.engine, version)
        if steps and version:
            self._copy(version)
        for one in steps:
            with step() as transaction:
                # Another process may have done this step while we waited for the lock.
                if version_of(transaction) >= one.version:
                    continue
                for statement in one.statements():
                    transaction.run(statement)
                transaction.run(
                    "insert into schema_version values (?, ?, ?)",
                    (one.version, one.name, time.time()),
                )

    def _copy(self, version: int) -> None:
        """Keep the database as it is before the first step, where the engine can."""


def open_store(address: str | Path, *, durability: str = "full", migrate: bool = True) -> Store:
    """Open a store and bring it to this program's schema.

    Parameters
    ----------
    address
        The path of a SQLite file, or ``postgresql://…``.
    durability
        For SQLite: ``full`` survives a power cut; ``normal`` survives a killed process only, and is
        faster.
    migrate
        Whether to bring the schema up to date; a second process of the same service need not.
    """
    if is_postgres(address):
        return PostgresStore(str(address), migrate=migrate)
    return SqliteStore(Path(address), durability=durability, migrate=migrate)


def is_postgres(address: str | Path) -> bool:
    """Say whether an address is that of a PostgreSQL."""
    return str(address).startswith(("postgresql://", "postgres://"))


def unopened(place: Path, error: Exception) -> FileError:
    """Return the refusal of a place that cannot be written."""
    return FileError(f"{place} cannot be opened ({error}): give a folder that can be written")


def _damaged(place: Any, why: Any) -> FileError:
    return FileError(f"{place} is damaged, or no database of Tallystick ({why})")


# SQLite with a write-ahead log: one writer, readers of their own.


class SqliteStore(Store):
    """A folder with one database; *path* is made where it is absent."""

    engine = "sqlite"
    errors: tuple[type[Exception], ...] = (sqlite3.DatabaseError, OSError)
    away: tuple[type[Exception], ...] = (sqlite3.OperationalError,)

    def __init__(self, path: Path, *, durability: str = "full", migrate: bool = True) -> None:
        super().__init__()
        self.path = Path(path)
        self._writing = threading.Lock()
        try:
            if migrate:
                self.path.parent.mkdir(parents=True, exist_ok=True)
            self._writer = self._opened()
            if migrate:  # the file remembers its way of logging, and a copy stays as it is
                self._writer.execute("pragma journal_mode = wal")
            self._writer.execute(f"pragma synchronous = {durability}")
            # The log is moved by a job, so that no request pays for it; 16,000 pages are 64 MB.
            self._writer.execute("pragma wal_autocheckpoint = 16000")
            if migrate:
                self._migrate(self.write)
        except (OSError, sqlite3.OperationalError) as error:
            raise unopened(self.path, error) from error
        except sqlite3.DatabaseError as error:
            raise _damaged(self.path, error) from error

    def _opened(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, isolation_level=None, check_same_thread=False, cached_statements=512
        )
        connection.execute("pragma busy_timeout = 10000")
        connection.execute("pragma cache_size = -32000")
        return connection

    def _connect(self) -> sqlite3.Connection:
        connection = self._opened()
        connection.execute("pragma query_only = on")
        return connection

    def _copy(self, version: int) -> None:
        copy = self.path.with_name(f"{self.path.stem}-schema-{version}.sqlite")
        if not copy.exists():
            self._writer.execute("vacuum into ?", (str(copy),))

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """Begin a transaction; it is committed at the end of the block. For the writer only."""
        with self._writing:
            self._writer.execute("begin immediate")
            try:
                yield Transaction(self._writer)
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


# PostgreSQL: several processes, one of which writes at a time.


class PostgresReader(Reader):
    """One connection that reads."""

    @staticmethod
    def _sql(sql: str) -> str:
        """Write ``?`` as psycopg wants it.

        >>> PostgresReader._sql("select a from b where c = ? and d like 'x%'")
        "select a from b where c = %s and d like 'x%%'"
        """
        return sql.replace("%", "%%").replace("?", "%s")

    def stream(
        self, sql: str, parameters: Sequence[Any] = (), *, size: int = 10_000
    ) -> Iterator[list[tuple[Any, ...]]]:
        """Return the rows of a long query in pieces, as this reader sees them."""
        # A cursor of the server lives inside a transaction only.
        with self._connection.transaction(), self._connection.cursor(name="rows") as cursor:
            cursor.execute(self._sql(sql), parameters)
            while piece := cursor.fetchmany(size):
                yield piece

    def has_table(self, name: str) -> bool:
        """Say whether there is a table of this name."""
        return self.all("select to_regclass(?) is not null", (name,)) == [(True,)]

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


class PostgresTransaction(PostgresReader, Transaction):
    """One transaction of the writer."""

    is_shared = True

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        super().__init__(connection)
        self._used = False

    def together(self) -> AbstractContextManager[Any]:
        """Send the statements of the block without waiting for each; errors come at its end."""
        pipeline: AbstractContextManager[Any] = self._connection.pipeline()
        return pipeline

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """Undo what the block did, and only that, if it raises."""
        if self._used:  # the first one is set together with the lock
            # Both go at once: without parameters, several statements are one message.
            self._connection.execute("release savepoint one; savepoint one")
        self._used = True
        try:
            yield
        except BaseException:
            if not (self._connection.closed or self._connection.broken):
                self._connection.execute("rollback to savepoint one")
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
                    (array("text", keys), stream),
                )
            # "offset 0" keeps the loop over the hashes outside and the one index inside, whatever
            # the planner knows of the table; a table that was never analysed is scanned otherwise.
            found = self._connection.execute(
                "select r.item, r.system, r.id, r.bucket, r.slice, r.pattern,"
                " nullif(r.grades, ''), r.at from unnest(%s::bigint[]) n (u), lateral"
                " (select *, ctid as at from rows where u = n.u offset 0) r"
                " where r.stream = %s",
                (array("number", {places[name] for name in names}), stream),
            )
        # Two names may have the same hash: only those that were asked for are meant.
        wanted = set(names)
        rows = [row for row in found.fetchall() if row[:2] in wanted]
        return held.fetchall() if keys else [], rows

    def numbers(self, rows: int, batches: int) -> tuple[int, int]:
        """Reserve consecutive ids of rows and numbers of batches; return the first of each."""
        # Nobody else takes numbers meanwhile: this process holds the lock of those who write.
        serial = "pg_get_serial_sequence('batch', 'seq')"
        [(row, batch)] = self.all(
            "select case when ? > 0 then setval('rows_id', nextval('rows_id') + ? - 1) end,"
            f" setval({serial}, nextval({serial}) + ? - 1)",
            (rows, rows, batches),
        )
        return int(row or 0) - rows + 1, int(batch) - batches + 1

    def add(self, table: str, rows: Sequence[Sequence[Any]], conflict: str = "") -> None:
        """Insert rows into a table of `COLUMNS`: one array per column."""
        names = COLUMNS[table]
        kinds = [_KINDS.get(name, "number") for name in names]
        arrays = ", ".join(f"%s::{_ARRAYS[kind]}[]" for kind in kinds)
        self._connection.execute(
            f"insert into {table} ({', '.join(names)}) overriding system value"
            f" select * from unnest({arrays}){conflict}",
            list(map(array, kinds, zip(*rows, strict=True))),
        )

    def change_rows(self, rows: Sequence[tuple[int, int, bytes | None, Any]]) -> None:
        """Set (slice, pattern, grades) of the rows that `find` found at these places."""
        slices, patterns, grades, places = zip(*rows, strict=True)
        # Nobody else writes meanwhile, so the rows still lie where they were found.
        self._connection.execute(
            "update rows r set slice = n.slice, pattern = n.pattern, grades = n.grades"
            " from unnest(%s::integer[], %s::integer[], %s::bytea[], %s::tid[])"
            " n (slice, pattern, grades, at) where r.ctid = n.at",
            (
                *(array("number", slices), array("number", patterns), array("filled", grades)),
                array("text", places),
            ),
        )


_ARRAYS = {
    "number": "bigint",
    "float": "double precision",
    "text": "text",
    "bytes": "bytea",
    "filled": "bytea",
}
"""Kinds of columns as PostgreSQL calls them; ``filled`` is bytes that are empty and never null."""


def array(kind: str, column: Collection[Any]) -> str:
    r"""Write an array as PostgreSQL reads it: psycopg looks at every element, which costs more.

    >>> print(array("number", [1, 2]), array("text", ["a", 'b"', None]), array("bytes", [b"ab"]))
    {1,2} {"a","b\"",NULL} {"\\x6162"}
    """
    if kind in ("number", "float"):
        parts: Iterable[str] = map(repr, column)
    elif kind == "text":
        parts = map(_quoted, column)
    elif kind == "filled" and not any(column):  # a null would cost the row eight bytes
        parts = ['""'] * len(column)
    else:
        empty = '""' if kind == "filled" else "NULL"
        parts = [f'"\\\\x{one.hex()}"' if one is not None else empty for one in column]
    return "{" + ",".join(parts) + "}"


def _quoted(text: str | None) -> str:
    if text is None:
        return "NULL"
    if '"' in text or "\\" in text:
        text = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'


class PostgresStore(Store):
    """A database that several processes share; *dsn* is what libpq takes."""

    engine = "postgres"
    reader = PostgresReader

    def __init__(self, dsn: str, *, migrate: bool = True) -> None:
        super().__init__()
        try:
            import psycopg
        except ImportError as error:
            raise MissingExtra("psycopg", "postgres") from error
        self._psycopg = psycopg
        self.errors = (psycopg.OperationalError, OSError)
        self.away = (psycopg.OperationalError, psycopg.InterfaceError)
        self._dsn = dsn
        try:
            self._writer = self._connect(_IDLE)
        except psycopg.OperationalError as error:
            # The address may hold a password: it is never repeated.
            raise FileError(f"PostgreSQL cannot be reached: {str(error).strip()}") from error
        try:
            if migrate:
                self._migrate(self._step)
        except BaseException:
            self._writer.close()
            raise

    def _connect(self, *settings: str) -> psycopg.Connection[Any]:
        connection = self._psycopg.connect(self._dsn, autocommit=True)
        connection.prepare_threshold = None
        # Compiling a query takes 50 ms, more than any of ours. All settings are one message.
        connection.execute("; ".join(f"set {one}" for one in ("jit = off", *settings)))
        return connection

    def _begun(self) -> psycopg.Connection[Any]:
        begin = "begin isolation level repeatable read read only"
        connection: psycopg.Connection[Any] = self._take()
        try:
            connection.execute(begin)
        except self._psycopg.OperationalError:
            # The server restarted since the last question: this one need not fail for it.
            connection.close()
            self._drop_idle()
            connection = self._connect()
            connection.execute(begin)
        return connection

    def _is_alive(self, connection: psycopg.Connection[Any]) -> bool:
        return not (connection.closed or connection.broken)

    @contextmanager
    def _step(self) -> Iterator[Transaction]:
        with self._writer.transaction():
            self._writer.execute(f"select pg_advisory_xact_lock({_MIGRATION_LOCK})")
            yield PostgresTransaction(self._writer)

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """Begin a transaction; it is committed at the end of the block. For the writer only.

        One process writes at a time, as in SQLite: the ids of rows are then in the order of the
        commits, which the windows of the drift test rely on, and two processes cannot wait for
        each other.
        """
        if not self._is_alive(self._writer):
            self._writer = self._connect(_IDLE)
        writer = self._writer
        try:
            writer.execute(f"begin; select pg_advisory_xact_lock({_WRITE_LOCK}); savepoint one")
            yield PostgresTransaction(writer)
            writer.execute("commit")
        except BaseException:
            if self._is_alive(writer):
                writer.execute("rollback")
            raise

    def address(self) -> str:
        """Return what `open_store` needs to open this store in another process."""
        return self._dsn


# The schema: numbered SQL files, one text for both engines, each in one
# transaction.


FILES = Path(__file__).parent / "schema"

_POSTGRES_TYPES = {
    "integer primary key autoincrement": "bigint generated by default as identity primary key",
    "integer primary key": "bigint generated by default as identity primary key",
    "integer": "bigint",
    "real": "double precision",
    "blob": "bytea",
}
_ONLY = re.compile(r"(.*?)\s*--only (\w+)")


class Migration:
    """One numbered step of the schema, as an engine runs it.

    A file is written as SQLite reads it; PostgreSQL has other names for the types. A line that ends
    in ``--only ENGINE`` is for that engine alone, and so is a file with the engine in its name:
    these are not translated.
    """

    def __init__(self, path: Path, engine: str) -> None:
        number, _, rest = path.name.partition("_")
        self.version = int(number)
        self.name, *own = rest.removesuffix(".sql").split(".")
        lines = []
        for line in path.read_text(encoding="utf-8").split("\n"):
            only = _ONLY.fullmatch(line)
            if only is not None:
                lines += [only[1]] if only[2] == engine else []
            else:
                lines.append(line if own or engine == "sqlite" else _translated(line))
        self.sql = "\n".join(lines)

    def statements(self) -> list[str]:
        """Return the statements one by one; none of ours has a semicolon inside."""
        bare = re.sub(r"--[^\n]*", "", self.sql)
        return [part.strip() for part in bare.split(";") if part.strip()]


def _translated(line: str) -> str:
    """Write a line of the schema for PostgreSQL.

    >>> _translated("    id integer primary key, made real not null")
    '    id bigint generated by default as identity primary key, made double precision not null'
    """
    for ours, theirs in _POSTGRES_TYPES.items():
        line = re.sub(rf"\b{ours}\b", theirs, line)
    return line.replace(") without rowid;", ");")


def migrations(engine: str) -> list[Migration]:
    """Return the steps for an engine (``sqlite`` or ``postgres``), in order."""
    other = {"sqlite": ".postgres.sql", "postgres": ".sqlite.sql"}[engine]
    paths = [path for path in sorted(FILES.glob("*.sql")) if not path.name.endswith(other)]
    return [Migration(path, engine) for path in paths]


def version_of(reader: Reader) -> int:
    """Return the schema that a database has."""
    return int(reader.value("select coalesce(max(version), 0) from schema_version"))


def pending(engine: str, version: int) -> list[Migration]:
    """Return the steps that a database of *version* still needs; a newer one is refused."""
    steps = migrations(engine)
    newest = steps[-1].version
    if version > newest:
        raise FormatError(
            f"the database has schema {version}, and this program knows {newest}: it was written by"
            " a newer Tallystick. Upgrade the program, or restore the copy made before the upgrade"
        )
    return [one for one in steps if one.version > version]


# Open a store that is there, and make or change nothing: for a check of a
# copy.


def open_kept(address: str | Path) -> Store:
    """Open an existing store without bringing its schema up to date.

    Raises
    ------
    FileError
        There is no database, or it is damaged.
    FormatError
        Another version of the program wrote it.
    """
    head, at, host = str(address).rpartition("@")
    name = f"{head.partition('://')[0]}://…@{host}" if at and "://" in head else str(address)
    path = None if is_postgres(address) else Path(address)
    if path is not None and not path.is_file():
        raise FileError(
            f"there is no database {path}: name the folder that holds it (--data), where a copy"
            f" must be called {path.name}"
        )
    store = open_store(address, migrate=False)
    try:
        with store.read() as reader:
            whole = [("ok",)] if path is None else reader.all("pragma quick_check(3)")
            if whole != [("ok",)]:
                raise _damaged(path, whole[0][0])
            steps = pending(store.engine, version_of(reader))
        if steps:
            raise FormatError(
                f"{name} has an older schema than {steps[-1].version}: start the service on it"
                " once, which brings it up to date, or check it with the program that wrote it"
            )
    except store.errors as error:
        store.close()
        raise _damaged(name, error) from error
    except (FileError, FormatError):
        store.close()
        raise
    return store
