"""Text files: what they begin with, and whether they are whole and UTF-8 to the last byte; gzip is
unpacked on the way.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from tallystick.errors import FileError
from tallystick.table.sources import CHUNK, File, most_unpacked, scratch, spooling, too_large

_OPENING = 1 << 16

MAX_CELL = 1 << 24
"""Characters of one cell; also how far an unclosed quote can run before it is reported."""


def is_gzip(path: Path) -> bool:
    """Return whether the content, whatever the name, is gzip."""
    with path.open("rb") as stream:
        return stream.read(2) == b"\x1f\x8b"


def opening(file: File) -> bytes:
    """Return the first bytes of the content, unpacked if it is gzip."""
    try:
        if not is_gzip(file.path):
            with file.path.open("rb") as stream:
                return stream.read(_OPENING)
        with gzip.open(file.path, "rb") as stream:
            return stream.read(_OPENING)
    except EOFError as error:
        head = _partial(file.path)
        if not head:
            raise FileError(
                f"{file.name} is a truncated .gz file: its content is missing; copy it again"
            ) from error
        return head  # the text reader says where it breaks off
    except (gzip.BadGzipFile, zlib.error) as error:
        raise FileError(
            f"{file.name} is a damaged .gz file ({error}); copy or compress it again"
        ) from error
    except OSError as error:
        raise FileError(f"{file.name} cannot be read: {error.strerror}") from error


def _partial(path: Path) -> bytes:
    with path.open("rb") as stream:
        try:
            return zlib.decompressobj(wbits=31).decompress(stream.read(_OPENING), _OPENING)
        except zlib.error:
            return b""


# Text, checked byte by byte before it is parsed: UTF-8, no NUL, whole to the end; gzip unpacked on
# the way.


MAX_LINE = 1 << 26


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
    """

    path: Path
    name: str
    quoted: bool
    lines: int


@contextmanager
def checked(file: File, *, by_line: bool = True) -> Iterator[CheckedText]:
    """Check the whole of *file* and hold its plain text ready; an unpacked copy is removed at the
    end.

    Parameters
    ----------
    file
        What to check.
    by_line
        Whether it will be read line by line, so that a line of more than 64 MB is refused. One JSON
        array may well be one line.
    """
    longest = MAX_LINE if by_line else None
    if not is_gzip(file.path):
        with file.path.open("rb") as stream:
            quoted, lines = _check(stream, None, file.name, _Limits(None, longest))
        yield CheckedText(file.path, file.name, quoted, lines)
        return
    with tempfile.NamedTemporaryFile(dir=scratch(), prefix="text-", suffix=".txt") as copy:
        limits = _Limits(most_unpacked(file.path), longest)
        with spooling(file.name), gzip.open(file.path, "rb") as stream:
            quoted, lines = _check(stream, copy, file.name, limits)
            copy.flush()
        yield CheckedText(Path(copy.name), file.name, quoted, lines)


@dataclass(frozen=True, slots=True)
class _Limits:
    """How many bytes may be unpacked, and how many may stand on one line; None sets no limit."""

    unpacked: int | None
    line: int | None


def _check(
    stream: io.BufferedReader | gzip.GzipFile,
    copy: IO[bytes] | None,
    name: str,
    limits: _Limits,
) -> tuple[bool, int]:
    decoder = codecs.getincrementaldecoder("utf-8")()
    line, offset, quoted = 1, 0, False
    run = 0  # bytes since the last line end
    while True:
        chunk = _read(stream, name, line)
        nul = chunk.find(0)
        if nul >= 0:
            at = line + chunk.count(b"\n", 0, nul)
            raise FileError(
                f"{name}, line {at}: a NUL byte at offset {offset + nul:,}; this is not text, or "
                "it is UTF-16: save it as UTF-8"
            )
        held = len(decoder.getstate()[0])
        try:
            decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:
            bad = error.object[error.start]
            at = line + error.object.count(b"\n", 0, error.start)
            raise FileError(
                f"{name}, line {at}: byte 0x{bad:02x} at offset {offset - held + error.start:,} is"
                " not UTF-8; save the file as UTF-8 (iconv -f latin1 -t utf-8, if it is Latin-1)"
            ) from error
        if not chunk:
            return quoted, line - 1
        if copy is not None:
            copy.write(chunk)
        if limits.unpacked is not None and offset + len(chunk) > limits.unpacked:
            raise too_large(limits.unpacked, name)
        quoted = quoted or b'"' in chunk
        end = max(chunk.rfind(b"\n"), chunk.rfind(b"\r"))
        run = run + len(chunk) if end < 0 else len(chunk) - end - 1
        if limits.line is not None and run > limits.line:
            raise FileError(
                f"{name}, line {line} is longer than {MAX_LINE >> 20} MB: this is not a table of"
                " lines"
            )
        line += chunk.count(b"\n")
        offset += len(chunk)


def _read(stream: io.BufferedReader | gzip.GzipFile, name: str, line: int) -> bytes:
    try:
        return stream.read1(CHUNK)  # all that is there: what precedes a break is still counted
    except EOFError as error:
        raise FileError(
            f"{name} is a truncated .gz file: it breaks off after line {line:,}; copy it again"
        ) from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise FileError(
            f"{name} is a damaged .gz file near line {line:,} ({error}); copy it again"
        ) from error
    except OSError as error:
        raise FileError(f"{name} cannot be read: {error.strerror}") from error


@contextmanager
def wide_cells() -> Iterator[None]:
    """Lift the standard library's limit of 131,072 characters a cell for the time of one read."""
    before = csv.field_size_limit(MAX_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(before)
