"""One writer at a time: lock an open file by what the system offers."""

from __future__ import annotations

import contextlib
import os
from importlib import import_module
from pathlib import Path
from typing import Any

from tallystick.errors import FileError

__all__ = ["lock"]

_LOCKED_BYTE = 1 << 40
"""Windows locks bytes: this one lies behind the end of every file."""


def lock(handle: int, path: Path, busy: str) -> Path | None:
    """Lock an open file until its handle is closed; another owner raises `FileError`.

    Parameters
    ----------
    handle
        The open file, as `os.open` returns it.
    path
        Its name.
    busy
        What to say where somebody else holds it.

    Returns
    -------
    A file beside it that stands for the lock and is to be removed at the end, on a system that can
    lock nothing else; None where closing the handle is enough.
    """
    try:
        import fcntl
    except ImportError:
        return _lock_elsewhere(handle, path, busy)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise FileError(busy) from error
    return None


def _lock_elsewhere(handle: int, path: Path, busy: str) -> Path | None:
    msvcrt: Any = None
    with contextlib.suppress(ImportError):
        msvcrt = import_module("msvcrt")  # Windows
    if msvcrt is not None:
        try:
            os.lseek(handle, _LOCKED_BYTE, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            raise FileError(busy) from error
        return None

    # A file that only one process can make; if its owner was killed, a person removes it.
    beside = path.with_name(path.name + ".lock")
    try:
        os.close(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    except FileExistsError as error:
        raise FileError(f"{busy}. If nobody does, remove {beside}") from error
    return beside
