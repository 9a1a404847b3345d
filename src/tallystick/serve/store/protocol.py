"""What every store can do: short reads, and transactions that one writer runs.

SQL is written once, for both engines, with ``?`` for parameters: `PostgresStore` translates them.
Only what must be fast, and differs between the engines, is a method of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeAlias

__all__ = ["KeptBatch", "NewBatch", "NewRow", "Reader", "RowState", "Store", "Transaction"]

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
