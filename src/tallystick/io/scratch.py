"""The private folder for what does not fit in memory: made on first use, removed at the end.

Its owner holds a lock inside it. A process that is killed leaves the folder without an owner, and
the next process that needs a scratch folder removes it.
"""

from __future__ import annotations

import atexit
import errno
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path

from tallystick.errors import FileError
from tallystick.io.lock import lock

__all__ = ["scratch", "spooling"]

_PREFIX = "tallystick-"
_LOCK = "owner.lock"
_YOUNG = 60.0
"""Seconds within which a folder may have been made and not yet locked."""


def scratch() -> Path:
    """Return this process's private folder for spooled data."""
    return _folder(os.getpid())


@contextmanager
def spooling(name: str) -> Iterator[None]:
    """Say what was being read, and where, when the disk of the scratch folder is full."""
    try:
        yield
    except OSError as error:
        if error.errno != errno.ENOSPC and "No space left" not in str(error):
            raise
        raise FileError(
            f"{name} cannot be read: the disk of {scratch().parent} is full, where it is unpacked;"
            " make room, or name another folder with the environment variable TMPDIR"
        ) from error


# Keyed by process: a forked child must not share its parent's folder.
@lru_cache(maxsize=1)
def _folder(process: int) -> Path:
    root = Path(tempfile.gettempdir())
    _remove_leftovers(root)
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=root))
    own = folder / _LOCK
    handle = os.open(own, os.O_RDWR | os.O_CREAT, 0o600)
    lock(handle, own, f"{folder} is in use")
    atexit.register(_remove, folder, process, handle)
    return folder


def _remove(folder: Path, process: int, handle: int) -> None:
    if os.getpid() != process:  # a forked child inherits the handler, not the folder
        return
    with suppress(OSError):
        os.close(handle)  # an open file cannot be removed on Windows
    shutil.rmtree(folder, ignore_errors=True)


def _remove_leftovers(root: Path) -> None:
    """Remove the folders of processes that were killed: those that nobody holds locked."""
    for own in root.glob(f"{_PREFIX}*/{_LOCK}"):
        with suppress(OSError, FileError):
            if time.time() - own.stat().st_mtime < _YOUNG:
                continue
            handle = os.open(own, os.O_RDWR)
            try:
                beside = lock(handle, own, "in use")
            finally:
                os.close(handle)
            if beside is None:
                shutil.rmtree(own.parent, ignore_errors=True)
