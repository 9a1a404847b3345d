"""Text files: what they begin with, and whether they are whole and UTF-8 to the last byte. Gzip is
unpacked, and UTF-16 and Windows-1252 (Latin-1) are written as UTF-8, on the way.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import re
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from tallystick.errors import FileError
from tallystick.table.sources import (
    CHUNK,
    File,
    damaged,
    most_unpacked,
    scratch,
    spooling,
    too_large,
    unreadable,
)

_OPENING = 1 << 16

MAX_CELL = 1 << 24
"""Characters of one cell; also how far an unclosed quote can run before it is reported."""

MAX_LINE = 1 << 26

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_HIGH = re.compile(rb"[\x80-\xff]+")
_ALONE = 0.75
"""Share of the letters beyond ASCII that stand alone: in Russian or Chinese they do not."""


def is_gzip(path: Path) -> bool:
    """Return whether the content, whatever the name, is gzip."""
    with path.open("rb") as stream:
        return stream.read(2) == b"\x1f\x8b"


def opening(file: File) -> bytes:
    """Return the first bytes of the content, unpacked if it is gzip, as UTF-8 if it is UTF-16."""
    head = b""
    try:
        with _open(file) as stream:
            while len(head) < _OPENING and (chunk := _read(stream, file.name, 1)):
                head += chunk
    except FileError:
        if not head:  # otherwise the reader of the text says where it breaks off
            raise
    head = head[:_OPENING]
    return head.decode("utf-16", "ignore").encode() if head.startswith(_UTF16) else head


def _open(file: File) -> IO[bytes]:
    try:
        # A gzip stream is a stream of bytes, which its type does not say.
        found: Any = gzip.GzipFile(file.path) if is_gzip(file.path) else file.path.open("rb")
    except OSError as error:
        raise unreadable(file.name, error.strerror) from error
    stream: IO[bytes] = found
    return stream


@dataclass(frozen=True, slots=True)
class CheckedText:
    """Plain UTF-8 text on disk.

    Parameters
    ----------
    path
        The plain text: the file itself, or its unpacked copy.
    name
        How messages call the file.
    quoted
        Whether a double quote occurs anywhere.
    lines
        How many lines end in a newline.
    notes
        In which encoding it was read, if that is not UTF-8.
    """

    path: Path
    name: str
    quoted: bool
    lines: int
    notes: tuple[str, ...] = ()


@contextmanager
def checked(file: File, *, by_line: bool = True) -> Iterator[CheckedText]:
    """Check the whole of *file* and hold its plain text ready; a copy is removed at the end.

    Parameters
    ----------
    file
        What to check.
    by_line
        Whether it is read line by line: one JSON array may well be one line.
    """
    with ExitStack() as made:
        path, notes = file.path, tuple[str, ...]()
        if is_gzip(path):
            path = made.enter_context(_copy(file, None))
        encoding = _encoding(path)
        if encoding == "utf-8":
            try:
                quoted, lines = _check(path, file.name, by_line)
            except _OtherEncodingError as error:
                if not _is_western(path):
                    raise FileError(str(error)) from error
                encoding = "cp1252"
        if encoding != "utf-8":
            path = made.enter_context(_copy(File(path, file.name), encoding))
            quoted, lines = _check(path, file.name, by_line)
            known = {"utf-16": "UTF-16", "cp1252": "Windows-1252 (Latin-1)"}[encoding]
            notes = (f"{file.name} is read as {known}",)
        yield CheckedText(path, file.name, quoted, lines, notes)


class _OtherEncodingError(Exception):
    """A byte is not UTF-8."""


def _encoding(path: Path) -> str:
    with path.open("rb") as stream:
        return "utf-16" if stream.read(2) in _UTF16 else "utf-8"


def _is_western(path: Path) -> bool:
    """Say whether bytes beyond ASCII are accents of Windows-1252: letters that stand alone."""
    alone = together = 0
    with path.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            try:
                chunk.decode("cp1252")
            except UnicodeDecodeError:
                return False
            runs = [len(run) for run in _HIGH.findall(chunk)]
            alone += runs.count(1)
            together += len(runs) - runs.count(1)
        # A letter that a broken copy cut in two is the end of UTF-8.
        stream.seek(max(0, stream.tell() - 1))
        cut = stream.read(1) >= b"\xc2"
    return not cut and alone >= _ALONE * (alone + together)


@contextmanager
def _copy(file: File, encoding: str | None) -> Iterator[Path]:
    most = most_unpacked(file.path)
    decoder = None if encoding is None else codecs.getincrementaldecoder(encoding)()
    with tempfile.NamedTemporaryFile(dir=scratch(), prefix="text-", suffix=".txt") as copy:
        done, line = 0, 1
        with spooling(file.name), _open(file) as stream:
            while chunk := _read(stream, file.name, line):
                done, line = done + len(chunk), line + chunk.count(b"\n")
                if decoder is None and done > most:
                    raise too_large(most, file.name)
                try:
                    copy.write(chunk if decoder is None else decoder.decode(chunk).encode())
                except UnicodeError as error:
                    raise damaged(f"{file.name}, line {line:,}", str(encoding), error) from error
            copy.flush()
        yield Path(copy.name)


def _read(stream: Any, name: str, line: int) -> bytes:
    try:
        # All that is there, so that the lines before a break are still counted.
        found: bytes = stream.read1(CHUNK)
        return found
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise damaged(f"{name}, line {line:,}", ".gz file", error) from error
    except OSError as error:
        raise unreadable(name, error.strerror) from error


def _check(path: Path, name: str, by_line: bool) -> tuple[bool, int]:
    decoder = codecs.getincrementaldecoder("utf-8")()
    line, offset, quoted = 1, 0, False
    run = 0  # bytes since the last line end
    with path.open("rb") as stream:
        while True:
            chunk = _read(stream, name, line)
            nul = chunk.find(0)
            if nul >= 0:
                at = line + chunk.count(b"\n", 0, nul)
                raise FileError(_not_utf8(name, at, 0, offset + nul))
            held = len(decoder.getstate()[0])
            try:
                decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                bad = error.object[error.start]
                at = line + error.object.count(b"\n", 0, error.start)
                place = offset - held + error.start
                raise _OtherEncodingError(_not_utf8(name, at, bad, place)) from error
            if not chunk:
                return quoted, line - 1
            quoted = quoted or b'"' in chunk
            end = max(chunk.rfind(b"\n"), chunk.rfind(b"\r"))
            run = run + len(chunk) if end < 0 else len(chunk) - end - 1
            if by_line and run > MAX_LINE:
                raise too_long(name, line)
            line += chunk.count(b"\n")
            offset += len(chunk)


def _not_utf8(name: str, line: int, byte: int, place: int) -> str:
    return (
        f"{name}, line {line}: byte 0x{byte:02x} at offset {place:,} is not UTF-8 text; save the"
        " file as UTF-8"
    )


def too_long(name: str, line: int) -> FileError:
    """Return the refusal of a line that would fill the memory."""
    return FileError(
        f"{name}, line {line} is longer than {MAX_LINE >> 20} MB: this is not a table of lines"
    )


@contextmanager
def wide_cells() -> Iterator[None]:
    """Lift the standard library's limit of characters a cell for one read."""
    before = csv.field_size_limit(MAX_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(before)
