"""From what the user wrote (a path, a glob, several, ``-``) to files that exist."""

from __future__ import annotations

import atexit
import errno
import glob
import hashlib
import os
import re
import shutil
import stat
import sys
import tempfile
import time
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO

from tallystick.errors import FileError, InputError, meant

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

CHUNK = 1 << 20
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


@dataclass(frozen=True, slots=True)
class File:
    """One file to read: where it is, how messages call it, and whether it is ours to remove.

    A stream is copied once; *digest* is the SHA-256 of what came.
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
        raise _no_file("")
    if [str(one) for one in given].count("-") > 1:
        raise _given_twice("standard input (-)")
    files = tuple(file for one in given for file in _resolve(one, stdin))
    seen: set[Path] = set()
    for file in files:
        if file.path.resolve() in seen:
            raise _given_twice(file.name)
        seen.add(file.path.resolve())
    return files


def _given_twice(name: str) -> InputError:
    return InputError(
        f"{name} is given twice: its rows would be counted twice; name each file once"
    )


def _resolve(one: str | Path, stdin: BinaryIO | None) -> tuple[File, ...]:
    text = str(one)
    if text == "-":
        return (_spool(sys.stdin.buffer if stdin is None else stdin, "standard input"),)
    if _SCHEME.match(text):
        raise FileError(
            f"{text}: Tallystick reads local files only; download it first and name the copy"
        )
    is_text = text.encode("utf-8", "replace").decode() == text and "\0" not in text
    if not (isinstance(one, str | Path) and text and is_text):
        raise _no_file(text)
    path = Path(one).expanduser()
    try:
        if path.exists():
            return (_file(path, text),)
    except OSError as error:
        raise unreadable(text, error.strerror) from error
    if glob.has_magic(text):
        matches = sorted(_matches(path))
        files = tuple(File(match, str(match)) for match in matches if match.is_file())
        if not files:
            raise FileError(f"no file matches {text!r}: check the folder and the ending")
        return files
    raise absent(path, text)


def _file(path: Path, text: str) -> File:
    mode = path.stat().st_mode
    if stat.S_ISREG(mode):
        return File(path, text)
    # Such as <(zcat votes.csv.gz), which the shell calls /dev/fd/63: it can be read once only.
    if stat.S_ISFIFO(mode):
        with path.open("rb") as stream:
            return _spool(stream, text)
    raise _no_file(text)


def _no_file(text: str) -> FileError:
    return FileError(
        f"{text!r} is not a file: name a table, a glob such as 'FOLDER/*.csv', or - for"
        " standard input"
    )


def _matches(pattern: Path) -> Iterator[Path]:
    """Return what a glob matches; the part before its first sign is a folder as it stands."""
    parts = pattern.parts
    first = next(i for i, part in enumerate(parts) if glob.has_magic(part))
    return Path(*parts[:first]).glob(str(Path(*parts[first:])))


def absent(path: Path, text: str) -> FileError:
    """Return the error for a file that is not there, with the nearest name beside it."""
    folder = path.parent
    here = sorted(one.name for one in folder.iterdir()) if folder.is_dir() else []
    near = meant(path.name, here, otherwise=f" in {folder.resolve()}")
    return FileError(f"{text} does not exist{near}")


def _spool(stream: BinaryIO, name: str) -> File:
    seen = hashlib.sha256()
    with (
        spooling(name),
        tempfile.NamedTemporaryFile(dir=scratch(), prefix="stdin-", delete=False) as copy,
    ):
        while chunk := stream.read(CHUNK):
            copy.write(chunk)
            seen.update(chunk)
    return File(Path(copy.name), name, spooled=True, digest=seen.hexdigest())


_MOST_UNPACKED = 32 * 10**9
"""What one compressed file may unpack to; ``TALLYSTICK_UNPACKED`` overrides it."""

_RATIO = 1000
_ALWAYS = 1 << 26
"""Bytes that any file may unpack to, however small it is."""


def size_in(variable: str) -> int | None:
    """Return the bytes that an environment variable names, None if it is not set."""
    given = os.environ.get(variable)
    if given is None:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT])(i?)B", given)
    if found is None or float(found[1]) == 0:
        raise InputError(f"{variable} must be a size such as 512MB or 4GB, got {given!r}")
    unit = (1024 if found[3] else 1000) ** (1 + "KMGT".index(found[2]))
    return int(float(found[1]) * unit)


def most_unpacked(path: Path) -> int:
    """Return how many bytes a compressed file may unpack to.

    That is 1,000 times its size and at most 32 GB.
    """
    given = size_in("TALLYSTICK_UNPACKED")
    usual = max(_ALWAYS, min(_MOST_UNPACKED, _RATIO * path.stat().st_size))
    return usual if given is None else given


def too_large(most: int, name: str) -> FileError:
    """Return the refusal of a file that unpacks to more than *most* bytes."""
    return FileError(
        f"{name} unpacks to more than {most / 1e6:,.0f} MB: if that is meant, allow it with the"
        " environment variable TALLYSTICK_UNPACKED, for instance TALLYSTICK_UNPACKED=64GB"
    )


def damaged(
    name: object, kind: str, error: object, refusal: type[FileError] = FileError
) -> FileError:
    """Return the refusal of a file that is not whole."""
    told = str(error).splitlines()[0] if str(error) else type(error).__name__
    return refusal(f"{name} is a truncated or damaged {kind} ({told}): copy it or write it again")


def unreadable(name: object, reason: object) -> FileError:
    """Return the refusal of a file that the system, or the engine, cannot read."""
    return FileError(f"{name} cannot be read: {reason}")


BATCH = 50_000
"""Rows held in memory at a time by the readers that are written in Python."""


_IN_MEMORY = 1 << 24
"""Bytes up to which a table stays in memory: that is faster than a file."""


class Spool:
    """A growing table; a batch with other columns than the last one starts a new scratch file."""

    def __init__(self) -> None:
        self.held: list[pa.RecordBatch] = []
        self.paths: list[Path] = []
        self.rows = 0
        self._writer: pq.ParquetWriter | None = None

    def add(self, names: Sequence[str], cells: Sequence[Sequence[str | None]]) -> None:
        """Append rows of text given column by column; a blank cell is NULL."""
        import pyarrow as pa

        arrays = [pa.array([cell or None for cell in column], pa.string()) for column in cells]
        self.add_batch(pa.record_batch(arrays, names=list(names)))

    def add_batch(self, batch: pa.RecordBatch) -> None:
        """Append a batch in which blank cells are null already."""
        self.rows += batch.num_rows
        self.held.append(batch)
        if self.paths or sum(one.nbytes for one in self.held) > _IN_MEMORY:
            self._write()

    def take(self, other: Spool) -> None:
        """Append all that *other* holds."""
        if other.paths:
            self._write()
            self.finish()
            other.finish()
            self.paths += other.paths
            self.rows += other.rows
        for batch in other.held:
            self.add_batch(batch)

    def _write(self) -> None:
        """Write to scratch files what is held in memory."""
        import pyarrow.parquet as pq

        for batch in self.held:
            if self._writer is None or batch.schema.names != self._writer.schema.names:
                self.finish()
                with tempfile.NamedTemporaryFile(
                    dir=scratch(), prefix="spool-", suffix=".parquet", delete=False
                ) as made:
                    self.paths.append(Path(made.name))
                # Nobody filters by the least and the greatest text of a page.
                self._writer = pq.ParquetWriter(
                    self.paths[-1], batch.schema, compression="lz4", write_statistics=False
                )
            self._writer.write_batch(batch)
        self.held = []

    def finish(self) -> None:
        """Complete the scratch file that is being written."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def __enter__(self) -> Spool:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.finish()
        if error is not None:
            for path in self.paths:
                path.unlink(missing_ok=True)


# The private folder for what does not fit in memory: made on first use, removed at the end.
#
# Its owner holds a lock inside it; the next process removes what a killed one left.


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
    lock(handle, str(folder))
    atexit.register(_remove, folder, process, handle)
    return folder


def _remove(folder: Path, process: int, handle: int) -> None:
    if os.getpid() != process:  # a forked child inherits the handler, not the folder
        return
    with suppress(OSError):
        os.close(handle)  # an open file cannot be removed on Windows
    shutil.rmtree(folder, ignore_errors=True)


def _remove_leftovers(root: Path) -> None:
    for own in root.glob(f"{_PREFIX}*/{_LOCK}"):
        with suppress(OSError, FileError):
            if time.time() - own.stat().st_mtime < _YOUNG:
                continue
            handle = os.open(own, os.O_RDWR)
            try:
                lock(handle, "in use")
            finally:
                os.close(handle)
            shutil.rmtree(own.parent, ignore_errors=True)


# One writer at a time: lock an open file by what the system offers.


_LOCKED_BYTE = 1 << 40
"""Windows locks bytes: this one lies behind the end of every file."""


def lock(handle: int, busy: str) -> None:
    """Lock an open file until it is closed; another owner raises `FileError` with *busy*."""
    try:
        import fcntl
    except ImportError:  # Windows
        msvcrt: Any = import_module("msvcrt")
        os.lseek(handle, _LOCKED_BYTE, os.SEEK_SET)
        take: Any = msvcrt.locking
        how: tuple[int, ...] = (msvcrt.LK_NBLCK, 1)
    else:
        take, how = fcntl.flock, (fcntl.LOCK_EX | fcntl.LOCK_NB,)
    try:
        take(handle, *how)
    except OSError as error:
        raise FileError(busy) from error


# Column names: none missing, none twice, not absurdly many.


MAX_COLUMNS = 2_000
"""Columns that are looked at: 2,000 take some 10 s, 10,000 took 100 s and more."""


def check_names(header: Sequence[Any], name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return usable column names and notes on nameless ones; refuse duplicates and far too many."""
    if len(header) > MAX_COLUMNS:
        raise InputError(
            f"{name} has {len(header):,} columns, more than {MAX_COLUMNS:,}. Items go in rows and"
            " judges in columns: transpose it, give it as a long table (item, judge, vote), or keep"
            " only the columns in use"
        )
    notes = []
    names: list[str] = []
    for position, column in enumerate(header, start=1):
        if not isinstance(column, str):
            raise InputError(f"{name}: columns must be named by text, got {column!r}: rename them")
        if not column.strip():
            notes.append(f"{name}: column {position} has no name and is called 'column_{position}'")
            column = f"column_{position}"
        if any(unicodedata.category(sign) == "Cc" and sign not in "\t\n\r" for sign in column):
            raise InputError(
                f"{name}: the name of column {position} holds a control character ({column!r}):"
                " rename it, or copy the file again if it should not be there"
            )
        names.append(column)
    first: dict[str, int] = {}
    for position, column in enumerate(names, start=1):
        # DuckDB tells columns apart without regard to case, so these cannot both be reached either
        key = column.casefold()
        if key in first:
            other = names[first[key] - 1]
            same = (
                f"{column!r} twice"
                if other == column
                else f"both {other!r} and {column!r}, alike but for case"
            )
            raise InputError(
                f"{name} has {same} (columns {first[key]} and {position}): rename one; if the first"
                " line is data, put a line with column names above it"
            )
        first[key] = position
    return tuple(names), tuple(notes)


_SHOWN = 8


def missing_column(name: str, columns: Sequence[str], source: str) -> str:
    """Return the message for a column that is not there.

    >>> missing_column("jugde", ["item", "judge"], "votes.csv")
    "votes.csv has no column 'jugde': did you mean 'judge'? (columns: 'item', 'judge')"
    """
    more = f", … {len(columns):,} in all" if len(columns) > _SHOWN else ""
    shown = ", ".join(map(repr, columns[:_SHOWN])) + more
    return f"{source} has no column {name!r}{meant(name.strip(), columns)} (columns: {shown})"
