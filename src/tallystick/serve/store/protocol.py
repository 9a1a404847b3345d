"""What every store can do: short reads, and transactions that one writer runs.

SQL is written once, for both engines, with ``?`` for parameters: `PostgresStore` translates them.
Only what must be fast, and differs between the engines, is a method of its own.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from tallystick.errors import FileError, FormatError

RowState: TypeAlias = tuple[str, str, int, int, int, int, "bytes | None", Any]
"""(item, system, id, bucket, slice, pattern, grades, at) of a row as it is kept.

*at* is where it lies, for `Transaction.change_rows`: good until something else is written.
"""

NewRow: TypeAlias = tuple[int, int, str, str, int, int, int, int, "bytes | None", int]
"""(id, stream, item, system, bucket, slice, pattern, u, grades, seq_first)."""

KeptBatch: TypeAlias = tuple[str, int, bytes, int, int, int]
"""(key, seq, sha256, n, new, changed) of a batch as it is kept."""

NewBatch: TypeAlias = tuple[
    int, int, "str | None", bytes, float, str, int, int, int, "bytes | None"
]
"""(seq, stream, key, sha256, at, by, n, new, changed, body)."""


class Reader(Protocol):
    """A connection that reads. No read outlives one query, so that the log never grows for it."""

    def all(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""

    def one(self, sql: str, parameters: Sequence[Any] = ()) -> tuple[Any, ...] | None:
        """Return the first row of a query, None if there is none."""

    def stream(
        self, sql: str, parameters: Sequence[Any] = (), *, size: int = 10_000
    ) -> Iterator[list[tuple[Any, ...]]]:
        """Return the rows of a long query in pieces, as this reader sees them.

        With a reader of `Store.snapshot` they agree with everything else that it reads, however
        much is written meanwhile.
        """

    def row_is(self, sign: str, number: int | str, alias: str = "r") -> str:
        """Return the condition that the id of a row compares to a number, or to a column.

        The query must name the stream of the row as well. *sign* is one of ``=``, ``>``, ``>=``,
        ``<=``.
        """

    def in_order(self, alias: str = "r", *, last_first: bool = False) -> str:
        """Return what follows ``order by`` to get the rows of a stream as they arrived."""


class Transaction(Reader, Protocol):
    """What the writer does: all of it is kept, or nothing."""

    skip_locked: str
    """What ends a select whose row is updated next: `` for update skip locked`` or nothing."""

    def run(self, sql: str, parameters: Sequence[Any] = ()) -> int:
        """Execute a statement; return how many rows it changed."""

    def insert(self, sql: str, parameters: Sequence[Any] = ()) -> int:
        """Execute an ``insert … returning id`` and return that id."""

    def many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Execute a statement for each row."""

    def together(self) -> AbstractContextManager[Any]:
        """Send the statements of the block without waiting for each; errors come at its end."""

    def savepoint(self) -> AbstractContextManager[None]:
        """Undo what the block did, and only that, if it raises."""

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

    def numbers(self, rows: int, batches: int) -> tuple[int, int]:
        """Reserve consecutive ids of rows and numbers of batches; return the first of each."""

    def add_batches(self, batches: Sequence[NewBatch]) -> None:
        """Insert batches."""

    def add_rows(self, rows: Sequence[NewRow]) -> None:
        """Insert rows."""

    def change_rows(self, rows: Sequence[tuple[int, int, bytes | None, Any]]) -> None:
        """Set (slice, pattern, grades) of the rows that `find` found at these places."""

    def add_counts(self, counts: Sequence[tuple[int, int, int, int, int]]) -> None:
        """Add to the tally: (stream, bucket, slice, pattern, n), where n may be negative."""


class Store(Protocol):
    """Where everything is kept."""

    errors: tuple[type[Exception], ...]
    """What it raises when it is broken: the whole group is answered 503 and comes again."""

    away: tuple[type[Exception], ...]
    """What a read raises while the database cannot be reached: it is answered 503."""

    def read(self) -> AbstractContextManager[Reader]:
        """Return a reader that belongs to the calling thread until the block ends."""

    def snapshot(self) -> AbstractContextManager[Reader]:
        """Return a reader that sees one state of the store until the block ends; keep it short."""

    def write(self) -> AbstractContextManager[Transaction]:
        """Begin a transaction; it is committed at the end of the block. For the writer only."""

    def address(self) -> str:
        """Return what `open_store` needs to open this store in another process."""

    def checkpoint(self) -> int:
        """Move the log into the database where there is one; return the bytes it still has."""

    def size(self) -> int:
        """Return the bytes on disk."""

    def close(self) -> None:
        """Close every connection."""


# Arrays as PostgreSQL reads them: psycopg looks at every element, which costs more.


def number_array(column: Collection[float]) -> str:
    """Write numbers.

    >>> number_array([1, 2]), number_array([])
    ('{1,2}', '{}')
    """
    return "{" + ",".join(map(repr, column)) + "}"


def text_array(column: Sequence[str | None]) -> str:
    r"""Write texts, each in quotes; None is null.

    >>> print(text_array(["a", 'b"', "c\\", None]))
    {"a","b\"","c\\",NULL}
    """
    return "{" + ",".join(map(_quoted, column)) + "}"


def _quoted(text: str | None) -> str:
    if text is None:
        return "NULL"
    if '"' in text or "\\" in text:
        text = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'


def bytes_array(column: Sequence[bytes | None]) -> str:
    r"""Write bytes as hexadecimal digits; None is null.

    >>> print(bytes_array([b"ab", None]))
    {"\\x6162",NULL}
    """
    return "{" + ",".join([_hexed(one) for one in column]) + "}"


def _hexed(one: bytes | None) -> str:
    return "NULL" if one is None else f'"\\\\x{one.hex()}"'


# Open a store that is there, and make or change nothing: for a check of a copy.


def open_kept(address: str | Path) -> Store:
    """Open an existing store without bringing its schema up to date.

    Parameters
    ----------
    address
        The path of a SQLite file, or ``postgresql://…``.

    Raises
    ------
    FileError
        There is no database, or it is damaged.
    FormatError
        Another version of the program wrote it.
    """
    from tallystick.serve.store import open_store

    if not str(address).startswith(("postgresql://", "postgres://")):
        _check_file(Path(address))
    store = open_store(address, migrate=False)
    try:
        with store.read() as reader:
            found = reader.one("select coalesce(max(version), 0) from schema_version")
    except store.errors as error:
        store.close()
        raise FileError(f"{_shown(address)} holds no Tallystick database ({error})") from error
    engine = "sqlite" if isinstance(address, Path) or "://" not in address else "postgres"
    version = int(found[0]) if found is not None else 0
    try:
        if pending(engine, version):
            newest = migrations(engine)[-1].version
            raise FormatError(
                f"{_shown(address)} has schema {version}, and this program needs {newest}: start"
                " the service on it once, which brings it up to date, or check it with the"
                " program that wrote it"
            )
    except FormatError:
        store.close()
        raise
    return store


def _shown(address: str | Path) -> str:
    """Return an address without its password."""
    text = str(address)
    head, at, host = text.rpartition("@")
    return f"{head.partition('://')[0]}://…@{host}" if at and "://" in head else text


def _check_file(path: Path) -> None:
    """Refuse a file that is not there, or that is no whole database."""
    if not path.is_file():
        others = sorted(one.name for one in path.parent.glob("*.sqlite"))
        way = f"name the folder that holds {path.name} (--folder)"
        if others:
            way = f"the folder holds {', '.join(others[:3])}: a copy must be called {path.name}"
        raise FileError(f"there is no database {path}: {way}")
    try:
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
        try:
            found = [text for (text,) in connection.execute("pragma quick_check(3)")]
        finally:
            connection.close()
    except sqlite3.OperationalError as error:
        raise FileError(f"{path} cannot be read ({error}): check who may read it") from error
    except sqlite3.DatabaseError as error:
        found = [str(error)]
    if found != ["ok"]:
        raise FileError(
            f"{path} is damaged ({found[0]}): it is no whole copy. Make it again with"
            " 'vacuum into', or go back to an older one"
        )


# Bring a database to this program's schema: numbered SQL files, each in one transaction.


_FILES = Path(__file__).parent / "migrations"


class Migration:
    """One numbered step of the schema."""

    def __init__(self, path: Path) -> None:
        number, _, rest = path.name.partition("_")
        self.version = int(number)
        self.name = rest.partition(".")[0]
        self.sql = path.read_text(encoding="utf-8")

    def statements(self) -> list[str]:
        """Return the statements one by one."""
        return statements(self.sql)


def statements(sql: str) -> list[str]:
    r"""Split a script; comments are dropped, and no statement of ours has a semicolon inside.

    >>> statements("-- why\ncreate table a (b); create table c (d);")
    ['create table a (b)', 'create table c (d)']
    """
    bare = re.sub(r"--[^\n]*", "", sql)
    return [part.strip() for part in bare.split(";") if part.strip()]


def migrations(engine: str) -> list[Migration]:
    """Return the steps for an engine (``sqlite`` or ``postgres``), in order."""
    found = [Migration(path) for path in sorted(_FILES.glob(f"*.{engine}.sql"))]
    return sorted(found, key=lambda one: one.version)


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
