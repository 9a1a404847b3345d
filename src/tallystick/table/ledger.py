"""Append-only files of checked lines: nothing that was answered or paid for is lost.

Each line is one JSON object with a checksum of it and of the line before. One process writes.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tallystick.errors import FileError, FormatError
from tallystick.results import Json
from tallystick.table.sources import lock, unreadable
from tallystick.table.tables import sync_folder


@dataclass(frozen=True, kw_only=True)
class LedgerKind:
    """What is kept in a file of lines, and how a line holds its checksum.

    Parameters
    ----------
    key, what
        The first field of the first line, and what messages call such a file.
    format
        The version; another one is refused.
    cut, infix, suffix
        The part of the JSON that stands behind the checksum, and what stands around it.
    """

    key: str
    what: str
    format: int
    cut: str = ""
    infix: str = "\t"
    suffix: str = ""

    @property
    def start(self) -> bytes:
        """How every file of this kind begins."""
        return f'{{"{self.key}": '.encode("ascii")

    def sealed(self, last: str, event: Mapping[str, Json]) -> tuple[bytes, str]:
        """Return the line of an event, and its checksum."""
        body = json.dumps(event, ensure_ascii=True, allow_nan=False)
        checksum = _checksum(last, body)
        line = f"{body.removesuffix(self.cut)}{self.infix}{checksum}{self.suffix}\n"
        return line.encode("ascii"), checksum

    def opened(self, line: str, last: str) -> tuple[dict[str, Any] | None, str]:
        """Return the event of a line, None if its checksum is not that of the line."""
        body, _, tail = line.rpartition(self.infix)
        body, checksum = body + self.cut, tail.removesuffix(self.suffix)
        if checksum != _checksum(last, body):
            return None, last
        event: dict[str, Any] = json.loads(body)
        return event, checksum

    def parsed(self, path: Path, data: bytes) -> tuple[list[dict[str, Any]], int, str]:
        """Return all events, how many bytes of the file are good, and the last checksum."""
        if data and not (data.startswith(self.start) or self.start.startswith(data)):
            raise self.not_one(path)
        events: list[dict[str, Any]] = []
        good, last = 0, ""
        while (end := data.find(b"\n", good)) >= 0:
            line = data[good:end].decode("ascii", "replace")
            event, last = self.opened(line, last)
            if event is None:
                # A last line that is no record at all was torn by a crash of the machine. A record
                # with another checksum is not: it was changed, or the line before it was lost.
                if end == len(data) - 1 and events and not _is_record(line):
                    break
                raise FormatError(
                    f"{path} is damaged: line {len(events) + 1} was changed. Restore the file from"
                    " a copy; the lines before it are good"
                )
            events.append(event)
            good = end + 1
        if events and events[0].get(self.key) != self.format:
            raise FormatError(
                f"{path} is a {self.what} of format {events[0].get(self.key)!r} and this version"
                f" reads format {self.format}: update tallystick"
            )
        return events, good, last

    def read(self, path: str | Path) -> list[dict[str, Any]]:
        """Return the events of a file, without the one that may be unfinished at its end."""
        try:
            data = Path(path).read_bytes()
        except OSError as error:
            raise unreadable(path, error.strerror) from error
        events, _, _ = self.parsed(Path(path), data)
        if not events:
            raise self.not_one(path)
        return events

    def not_one(self, path: Path | str) -> FormatError:
        """Return the error for a file of another kind, or without a whole line."""
        return FormatError(
            f"{path} is not a {self.what}, or holds no whole line: name another file"
        )

    def begins(self, path: str | Path) -> bool:
        """Say whether a file begins as one of this kind does."""
        try:
            with Path(path).open("rb") as stream:
                return stream.read(len(self.start)) == self.start
        except OSError:
            return False


class Ledger:
    """A file of lines that this process may write to, until it is closed.

    Parameters
    ----------
    path, kind
        The file, and what it holds.
    head
        The first line of a new file. None opens one that is there already.
    busy
        What to say where another process writes it.
    """

    def __init__(
        self, path: str | Path, kind: LedgerKind, head: Mapping[str, Json] | None, *, busy: str
    ) -> None:
        self.path, self.kind = Path(path), kind
        self.events: list[dict[str, Any]] = []
        self.lost = 0
        flags = os.O_RDWR | getattr(os, "O_BINARY", 0) | (os.O_CREAT if head is not None else 0)
        try:
            self._file = os.open(self.path, flags, 0o600)
        except OSError as error:
            raise FileError(f"{path} cannot be opened: {error.strerror}") from error
        try:
            lock(self._file, busy)
            self._begin(head)
        except BaseException:
            self.close()
            raise

    def _begin(self, head: Mapping[str, Json] | None) -> None:
        self.events, self._size, self._last = self.kind.parsed(self.path, self.path.read_bytes())
        self.lost = os.fstat(self._file).st_size - self._size
        if self.lost:
            os.ftruncate(self._file, self._size)  # the line that a killed process did not finish
        if self.events:
            return
        if head is None:
            raise self.kind.not_one(self.path)
        self.events = [{self.kind.key: self.kind.format, **head}]
        self.append(self.events)
        sync_folder(self.path.parent)

    def append(self, events: Sequence[Mapping[str, Json]], *, sync: bool = True) -> None:
        """Add lines: all of them, or an error and none. With *sync* they are on the disk then."""
        last, lines = self._last, []
        for event in events:
            body, last = self.kind.sealed(last, event)
            lines.append(body)
        data = b"".join(lines)
        try:
            os.lseek(self._file, self._size, os.SEEK_SET)
            done = 0
            while done < len(data):
                done += os.write(self._file, data[done:])
            if sync:
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

    def close(self) -> None:
        """Let go of the file and of its lock."""
        if self._file >= 0:
            with contextlib.suppress(OSError):
                os.fsync(self._file)
            os.close(self._file)
            self._file = -1

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _is_record(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


def _checksum(last: str, body: str) -> str:
    return hashlib.sha256(f"{last}{body}".encode("ascii", "replace")).hexdigest()[:16]
