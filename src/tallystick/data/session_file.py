"""The file of a labelling session: lines that are added, checked and forced to the disk.

Each line is one JSON object whose last field, ``sum``, is a checksum of the line and of the line
before it, so a line that was changed, lost or moved is noticed. A write is acknowledged only when
it is on the disk. A process that is killed while it writes leaves at most one unfinished line, at
the end, which the next writer cuts off; a full disk leaves the file as it was.

One process writes at a time. The others may read: lines never change once they are there.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tallystick.errors import FileError, FormatError
from tallystick.io import lock
from tallystick.results import Json

__all__ = ["FORMAT", "SessionFile", "is_session", "read_events"]

FORMAT = 1
"""The version of the format; a reader refuses a newer one."""

_START = b'{"session": '


class SessionFile:
    """A session that this process may write to, until it is closed.

    Parameters
    ----------
    path
        The file.
    head
        The first line of a new session. None opens a session that is there already.
    """

    def __init__(self, path: str | Path, head: Mapping[str, Json] | None = None) -> None:
        self.path = Path(path)
        self.events: list[dict[str, Any]] = []
        self._lock_file: Path | None = None
        flags = os.O_RDWR | getattr(os, "O_BINARY", 0) | (os.O_CREAT if head is not None else 0)
        try:
            self._file = os.open(self.path, flags, 0o600)
        except OSError as error:
            raise FileError(f"{path} cannot be opened: {error.strerror}") from error
        try:
            self._lock()
            self._begin(head)
        except BaseException:
            self.close()
            raise

    def _begin(self, head: Mapping[str, Json] | None) -> None:
        self.events, self._size, self._last = _parse(self.path, self.path.read_bytes())
        if os.fstat(self._file).st_size > self._size:
            os.ftruncate(self._file, self._size)  # the line that a killed process did not finish
        if self.events:
            return
        if head is None:
            raise FormatError(f"{self.path} is not a labelling session: it holds no whole line")
        self.append([{"session": FORMAT, **head}])
        _sync_folder(self.path.parent)

    def append(self, events: Sequence[Mapping[str, Json]]) -> None:
        """Add lines and return when they are on the disk; all of them, or an error and none."""
        last, lines = self._last, []
        for event in events:
            body, last = _sealed(last, event)
            lines.append(body)
        data = b"".join(lines)
        try:
            os.lseek(self._file, self._size, os.SEEK_SET)
            done = 0
            while done < len(data):
                done += os.write(self._file, data[done:])
            os.fsync(self._file)
        except OSError as error:
            # What is there without its end was never acknowledged: take it away again.
            with contextlib.suppress(OSError):
                os.ftruncate(self._file, self._size)
            raise FileError(
                f"{self.path} cannot be written ({error.strerror}): nothing of this was saved, and"
                " everything before it is safe. Make room, then try again"
            ) from error
        self._size, self._last = self._size + len(data), last
        self.events += [dict(event) for event in events]

    def close(self) -> None:
        """Let go of the file and of its lock."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
        if self._lock_file is not None:
            with contextlib.suppress(OSError):
                self._lock_file.unlink()
            self._lock_file = None

    def __enter__(self) -> SessionFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _lock(self) -> None:
        """Lock the file against other writers, by what the system offers."""
        self._lock_file = lock(
            self._file,
            self.path,
            f"another process is writing {self.path}: a labelling page or terminal is open, or"
            " answers are being added. Close it or wait for it, then try again",
        )


def read_events(path: str | Path) -> list[dict[str, Any]]:
    """Return the lines of a session, without the one that may be unfinished at its end.

    No lock is needed: lines never change once they are there.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror}") from error
    events, _, _ = _parse(Path(path), data)
    if not events:
        raise FormatError(f"{path} is not a labelling session: it holds no whole line")
    return events


def is_session(path: str | Path) -> bool:
    """Say whether a file begins as a labelling session does."""
    try:
        with Path(path).open("rb") as stream:
            return stream.read(len(_START)) == _START
    except OSError:
        return False


def _parse(path: Path, data: bytes) -> tuple[list[dict[str, Any]], int, str]:
    """Return all events, how many bytes of the file are good, and the last checksum."""
    if data and not (data.startswith(_START) or _START.startswith(data)):
        raise FormatError(f"{path} exists and is not a labelling session: name another file")
    events: list[dict[str, Any]] = []
    good, last = 0, ""
    while (end := data.find(b"\n", good)) >= 0:
        line = data[good:end].decode("ascii", "replace")
        event, checksum = _opened(line, last)
        if event is None:
            # A last line that is no record at all was torn by a crash of the machine. A record
            # with another checksum is not: it was changed, or the line before it was lost.
            if end == len(data) - 1 and events and not _is_record(line):
                break
            raise FormatError(
                f"{path} is damaged: line {len(events) + 1} was changed. Restore the file from a"
                " copy; the lines before it are good"
            )
        events.append(event)
        good, last = end + 1, checksum
    if events and events[0].get("session") != FORMAT:
        raise FormatError(
            f"{path} is a session of format {events[0].get('session')!r} and this version reads"
            f" format {FORMAT}: update tallystick"
        )
    return events, good, last


def _sealed(last: str, event: Mapping[str, Json]) -> tuple[bytes, str]:
    body = json.dumps(event, ensure_ascii=True, allow_nan=False)
    checksum = _checksum(last, body)
    return f'{body[:-1]}, "sum": "{checksum}"}}\n'.encode("ascii"), checksum


def _opened(line: str, last: str) -> tuple[dict[str, Any] | None, str]:
    """Return the event of a line, None if its checksum is not that of the line."""
    body, _, tail = line.rpartition(', "sum": "')
    checksum = tail[:-2]
    if tail[-2:] != '"}' or checksum != _checksum(last, body + "}"):
        return None, last
    event: dict[str, Any] = json.loads(body + "}")
    return event, checksum


def _is_record(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


def _checksum(last: str, body: str) -> str:
    return hashlib.sha256(f"{last}{body}".encode("ascii", "replace")).hexdigest()[:16]


def _sync_folder(folder: Path) -> None:
    """Make sure that the name of a new file survives a power cut, where the system can say so."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
