"""Whether a file is still the one that was read, without reading it again."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

__all__ = ["Stamp", "file_stamps"]

Stamp = list[int | str]
"""Size, time of the last change in nanoseconds, inode, and a digest of some of the bytes."""

_ENDS, _INSIDE, _BLOCKS = 1 << 16, 1 << 12, 64
"""Bytes that are looked at: this many at either end, and so many blocks of so many in between."""


def file_stamps(paths: Sequence[str | Path]) -> list[Stamp] | None:
    """Return a stamp of each file; None where one is not a plain file (a glob, an address).

    A file that is written again has another time or inode. Somebody may set the time back, so the
    two ends and 64 blocks in between are looked at too. A change that keeps the size, the time and
    the inode, and lies between these blocks, is not seen.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "a.csv"
    ...     _ = path.write_text("x")
    ...     one = file_stamps([path])
    ...     _ = path.write_text("y")
    ...     one == file_stamps([path]), file_stamps([path, "s3://bucket/b.csv"])
    (False, None)
    """
    found: list[Stamp] = []
    for one in paths:
        path = Path(one)
        try:
            if not path.is_file():
                return None
            held = path.stat()
            found.append([held.st_size, held.st_mtime_ns, held.st_ino, _sample(path, held.st_size)])
        except OSError:
            return None
    return found or None


def _sample(path: Path, size: int) -> str:
    """Return a digest of both ends of a file and of blocks in between."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        digest.update(stream.read(_ENDS))
        for block in range(1, _BLOCKS + 1):
            stream.seek(size * block // (_BLOCKS + 1))
            digest.update(stream.read(_INSIDE))
        stream.seek(max(0, size - _ENDS))
        digest.update(stream.read(_ENDS))
    return digest.hexdigest()[:32]
