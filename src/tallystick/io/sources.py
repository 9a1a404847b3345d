"""From what the user wrote (a path, a glob, several, ``-``) to files that exist."""

from __future__ import annotations

import glob
import hashlib
import re
import stat
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from tallystick.errors import FileError, InputError
from tallystick.io.nearest import nearest
from tallystick.io.scratch import scratch, spooling

__all__ = ["File", "resolve"]

CHUNK = 1 << 20
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


@dataclass(frozen=True, slots=True)
class File:
    """One file to read: where it is, how messages call it, and whether it is ours to remove.

    A stream is copied once; *digest* is the SHA-256 of what came, None for a file that stays.
    """

    path: Path
    name: str
    spooled: bool = False
    digest: str | None = None


def resolve(
    source: str | Path | Sequence[str | Path], *, stdin: BinaryIO | None = None
) -> tuple[File, ...]:
    """Return the files that *source* names, in the order given; those of a glob sorted.

    An existing file wins over a glob, so that a name with brackets or stars in it can be reached.
    """
    given = [source] if isinstance(source, str | Path) else list(source)
    if not given:
        raise InputError("no file was given: name at least one table, or - for standard input")
    if [str(one) for one in given].count("-") > 1:
        raise InputError("standard input (-) can be read once only: name it once")
    files = tuple(file for one in given for file in _resolve(one, stdin))
    seen: set[Path] = set()
    for file in files:
        if file.path.resolve() in seen:
            raise InputError(
                f"{file.name} is given twice: its rows would be counted twice; name each file once"
            )
        seen.add(file.path.resolve())
    return files


def _resolve(one: str | Path, stdin: BinaryIO | None) -> tuple[File, ...]:
    if not isinstance(one, str | Path):
        raise InputError(f"a source must be a path, got {type(one).__name__}")
    text = str(one)
    if text == "-":
        return (_spool(sys.stdin.buffer if stdin is None else stdin, "standard input"),)
    if _SCHEME.match(text):
        raise FileError(
            f"{text}: Tallystick reads local files only; download it first and name the copy"
        )
    if not text or "\0" in text:
        raise FileError(f"{text!r} is not the name of a file")
    path = Path(one).expanduser()
    try:
        if path.is_dir():
            raise FileError(f"{text} is a directory; name its files, for instance {path / '*.csv'}")
        if path.exists():
            return (_file(path, text),)
    except OSError as error:
        raise FileError(f"{text}: {error.strerror}") from error
    if glob.has_magic(text):
        matches = sorted(_matches(path))
        files = tuple(File(match, str(match)) for match in matches if match.is_file())
        if not files:
            raise FileError(f"no file matches {text!r}: check the folder and the ending")
        return files
    raise FileError(_absent(path, text))


def _file(path: Path, text: str) -> File:
    """Return a file as it is, and what comes through a pipe as a copy; refuse a device."""
    mode = path.stat().st_mode
    if stat.S_ISREG(mode):
        return File(path, text)
    # Such as <(zcat votes.csv.gz), which the shell calls /dev/fd/63: it can be read once only.
    if stat.S_ISFIFO(mode):
        with path.open("rb") as stream:
            return _spool(stream, text)
    raise FileError(f"{text} is a device or a socket, not a file: use - for standard input")


def _matches(pattern: Path) -> Iterator[Path]:
    """Return what a glob matches; the part before its first sign is a folder as it stands."""
    parts = pattern.parts
    first = next(i for i, part in enumerate(parts) if glob.has_magic(part))
    return Path(*parts[:first]).glob(str(Path(*parts[first:])))


def _absent(path: Path, text: str) -> str:
    if not path.parent.is_dir():
        return f"{text} does not exist: there is no folder {path.parent}"
    guess = nearest(path.name, sorted(entry.name for entry in path.parent.iterdir()))
    return f"{text} does not exist" + (
        f"; did you mean {path.parent / guess}?" if guess else f" in {path.parent.resolve()}"
    )


def _spool(stream: BinaryIO, name: str) -> File:
    """Copy a stream that can be read once only into a file that can be read again, a chunk at a
    time.
    """
    seen = hashlib.sha256()
    with (
        spooling(name),
        tempfile.NamedTemporaryFile(dir=scratch(), prefix="stdin-", delete=False) as copy,
    ):
        while chunk := stream.read(CHUNK):
            copy.write(chunk)
            seen.update(chunk)
    return File(Path(copy.name), name, spooled=True, digest=seen.hexdigest())
