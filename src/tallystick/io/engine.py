"""The one place where DuckDB is opened, bounded in memory and shut off from the network.

Every reader shares one in-memory database a process, so its memory limit holds for all of them
together; each scan has its own cursor. What does not fit spills into a private folder that is
removed when the process ends.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from tallystick.errors import FileError, InputError
from tallystick.io.memory import engine_memory, written

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["connect", "reading", "scratch"]


def connect() -> DuckDBPyConnection:
    """Return a cursor of this process's database: bounded, offline, its settings locked.

    Examples
    --------
    >>> connect().sql("select current_setting('autoload_known_extensions')").fetchall()
    [(False,)]
    """
    return _database(os.getpid()).cursor()


def scratch() -> Path:
    """Return this process's private folder for spooled data, made on first use and removed at
    exit.
    """
    return _folder(os.getpid())


@contextmanager
def reading(source: str) -> Iterator[None]:
    """Turn DuckDB's errors into ours: every query on foreign data runs inside this."""
    import duckdb

    try:
        yield
    except duckdb.OutOfMemoryException as error:
        raise InputError(
            f"{source} needs more memory than {written(engine_memory())}: allow more with the"
            " environment variable TALLYSTICK_MEMORY, for instance TALLYSTICK_MEMORY=4GB"
        ) from error
    except duckdb.Error as error:
        raise FileError(f"{source} cannot be read: {str(error).splitlines()[0]}") from error


@lru_cache(maxsize=1)
# keyed by process: a forked child must not share its parent's
def _database(process: int) -> DuckDBPyConnection:
    import duckdb

    # External access stays on, since reading the user's files is the whole point; with no extension
    # to load there is no file system but the local one.
    settings: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": f"{engine_memory()}B",
        "temp_directory": str(_folder(process)),
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


@lru_cache(maxsize=1)
def _folder(process: int) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="tallystick-"))
    atexit.register(_remove, folder, process)
    return folder


def _remove(folder: Path, process: int) -> None:
    if os.getpid() == process:  # a forked child inherits the handler, not the folder
        shutil.rmtree(folder, ignore_errors=True)
