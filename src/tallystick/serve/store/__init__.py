"""Where the service keeps what it was told: SQLite in a folder, or PostgreSQL."""

from __future__ import annotations

from pathlib import Path

from tallystick.serve.store.protocol import KeptBatch, NewRow, Reader, RowState, Store, Transaction

__all__ = ["KeptBatch", "NewRow", "Reader", "RowState", "Store", "Transaction", "open_store"]


def open_store(address: str | Path, *, durability: str = "full", migrate: bool = True) -> Store:
    """Open a store and bring it to this program's schema.

    Parameters
    ----------
    address
        The path of a SQLite file, or ``postgresql://…``.
    durability
        ``full`` or ``normal``; see `tallystick.serve.store.sqlite.SqliteStore`.
    migrate
        Whether to bring the schema up to date; a second process of the same service need not.
    """
    if str(address).startswith(("postgresql://", "postgres://")):
        from tallystick.serve.store.postgres import PostgresStore

        return PostgresStore(str(address), migrate=migrate)
    from tallystick.serve.store.sqlite import SqliteStore

    return SqliteStore(Path(address), durability=durability, migrate=migrate)
