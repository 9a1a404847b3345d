"""The one place where DuckDB is opened, bounded in memory and shut off from the network.

Every reader shares one in-memory database a process, so its memory limit holds for all of them
together; each scan has its own cursor. What does not fit spills into a private folder that is
removed when the process ends.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING

from tallystick.errors import FileError, InputError
from tallystick.io.memory import engine_memory, written
from tallystick.io.scratch import scratch

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["connect", "cursor", "reading", "text_is_whole"]


def connect() -> DuckDBPyConnection:
    """Return a cursor of this process's database: bounded, offline, its settings locked.

    Examples
    --------
    >>> connect().sql("select current_setting('autoload_known_extensions')").fetchall()
    [(False,)]
    """
    import duckdb

    try:
        found = cursor()
        found.execute("select 1").fetchall()
    except duckdb.Error:
        # An error inside DuckDB closes the whole database for good: one bad file must not cost the
        # next one.
        _database.cache_clear()
        found = cursor()
    return found


def cursor() -> DuckDBPyConnection:
    """Return a cursor for a query on rows that the database already holds.

    `connect` first asks whether the database still works, which takes as long as a small query.
    Rows in a database that does not work are lost in any case.
    """
    return _database(os.getpid()).cursor()


@contextmanager
def reading(source: str) -> Iterator[None]:
    """Turn DuckDB's errors into ours: every query on foreign data runs inside this."""
    import duckdb
    import pyarrow as pa

    try:
        yield
    except duckdb.OutOfMemoryException as error:
        raise InputError(
            f"{source} needs more memory than {written(engine_memory())}: allow more with the"
            " environment variable TALLYSTICK_MEMORY, for instance TALLYSTICK_MEMORY=4GB"
        ) from error
    # Arrow's own errors come through DuckDB while it scans a file; a name that is not UTF-8 fails
    # where Python asks for it.
    except (duckdb.Error, pa.ArrowException, UnicodeDecodeError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise FileError(f"{source} cannot be read: {reason}") from error


@lru_cache(maxsize=1)
def text_is_whole() -> bool:
    """Say whether the SQL text of a relation can be run by any cursor of its database.

    Before DuckDB 2 the text names an Arrow table by an address that the parser refuses.
    """
    import duckdb

    return int(duckdb.__version__.split(".")[0]) >= 2


@lru_cache(maxsize=1)
# keyed by process: a forked child must not share its parent's
def _database(process: int) -> DuckDBPyConnection:
    import duckdb

    # External access stays on, since reading the user's files is the whole point; with no extension
    # to load there is no file system but the local one.
    settings: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": f"{engine_memory()}B",
        "temp_directory": str(scratch()),
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "allow_community_extensions": False,
        "allow_persistent_secrets": False,
        # one pass over each file: a cache would only hold memory
        "enable_external_file_cache": False,
        "python_enable_replacements": False,  # a table name in SQL never reaches a Python variable
        "preserve_insertion_order": True,  # rows are numbered as they stand in the file
        "lock_configuration": True,
    }
    return duckdb.connect(":memory:", config=settings)
