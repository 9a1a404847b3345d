"""Open a store that is there, and make or change nothing: for a check of a copy."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from tallystick.errors import FileError, FormatError
from tallystick.serve.store.migrate import migrations, pending
from tallystick.serve.store.protocol import Store

__all__ = ["open_kept"]


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
