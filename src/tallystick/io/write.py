"""Tables that we write: whole or not at all, and harmless when a spreadsheet opens them."""

from __future__ import annotations

import io
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from tallystick.errors import FileError, InputError
from tallystick.values.missing import NUMBER

__all__ = ["atomic", "check_ending", "escape", "unescape", "write_csv"]

_ENDINGS = (".csv", ".tsv", ".ndjson", ".jsonl", ".parquet")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def write_csv(target: str | Path | TextIO, columns: Mapping[str, Sequence[Any]]) -> None:
    """Write *columns* as CSV, or in the format that the ending names: .tsv, .ndjson, .jsonl or
    .parquet.

    A file is complete or absent: it is written beside its place and moved there at the end. In CSV
    and TSV, None and NaN are blank, and text that a spreadsheet would run as a formula has an
    apostrophe put before it (`escape`; undone by `unescape`); NDJSON and Parquet carry every value
    unchanged.

    Parameters
    ----------
    target
        A path, or an open text stream, which gets CSV.
    columns
        Name to values; lists, NumPy or Arrow arrays of equal length.

    Examples
    --------
    >>> import sys
    >>> write_csv(sys.stdout, {"item": ["a", "=1+1"], "score": [-1.5, None]})
    item,score
    a,-1.5
    '=1+1,
    """
    table = {name: _plain(values) for name, values in columns.items()}
    lengths = {name: len(values) for name, values in table.items()}
    if len(set(lengths.values())) > 1:
        raise InputError(f"the columns of a table have equal lengths, got {lengths}")
    if not isinstance(target, str | Path):
        _delimited(target, table, ",")
        return
    path = Path(target)
    writers: dict[str, Callable[[BinaryIO], None]] = {
        ".csv": lambda stream: _delimited_bytes(stream, table, ","),
        ".tsv": lambda stream: _delimited_bytes(stream, table, "\t"),
        ".ndjson": lambda stream: _ndjson(stream, table),
        ".jsonl": lambda stream: _ndjson(stream, table),
        ".parquet": lambda stream: _parquet(stream, table),
    }
    write = writers[check_ending(path)]
    with atomic(path) as stream:
        write(stream)


def check_ending(path: Path) -> str:
    """Return the ending of a table's name, which chooses its format; one that chooses none is
    refused.

    >>> check_ending(Path("items.CSV"))
    '.csv'
    """
    ending = path.suffix.lower()
    if ending not in _ENDINGS:
        raise InputError(
            f"{path} must end in one of {', '.join(_ENDINGS)}: the ending chooses the format"
        )
    return ending


@contextmanager
def atomic(path: Path) -> Iterator[BinaryIO]:
    """Open a file that takes its place only when it is complete; after an error the old file stays
    as it was.
    """
    path = Path(os.path.realpath(path))  # a link stays, and what it names is replaced
    if path.exists() and not path.is_file():
        raise FileError(f"{path} is not a regular file: nothing is written over it")
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with draft.open("xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        with suppress(OSError):  # where nothing could be written nothing is left, e.g. below a file
            draft.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """Make the new name durable where the system can."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def escape(cell: str) -> str:
    """Return text that no spreadsheet runs as a formula; plain numbers stay as they are.

    >>> [escape(cell) for cell in ("=SUM(A1)", "-1.5", "-x", "yes", "'=1")]
    ["'=SUM(A1)", '-1.5', "'-x", 'yes', "''=1"]
    """
    risky = cell.startswith(_FORMULA) and not NUMBER.fullmatch(cell)
    return "'" + cell if risky or unescape(cell) != cell else cell


def unescape(cell: str) -> str:
    """Return what `escape` was given.

    >>> unescape(escape("=SUM(A1)"))
    '=SUM(A1)'
    """
    return cell[1:] if cell.startswith("'") and cell.lstrip("'").startswith(_FORMULA) else cell


def _plain(values: Sequence[Any]) -> list[Any]:
    for method in ("to_pylist", "tolist"):  # Arrow, NumPy
        if hasattr(values, method):
            return list(getattr(values, method)())
    return list(values)


def _delimited(stream: TextIO, table: Mapping[str, list[Any]], delimiter: str) -> None:
    # Not csv.writer: with lines that end in "\n" it leaves a carriage return unquoted, and the
    # reader breaks the line
    cells = ([escape(name), *map(_cell, values)] for name, values in table.items())
    quoted = ([_quoted(cell, delimiter, len(table) == 1) for cell in column] for column in cells)
    for row in zip(*quoted, strict=True):
        stream.write(delimiter.join(row) + "\n")


def _delimited_bytes(stream: BinaryIO, table: Mapping[str, list[Any]], delimiter: str) -> None:
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
    _delimited(text, table, delimiter)
    text.flush()
    text.detach()


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return escape(value)
    return "" if value is None or _is_nan(value) else str(value)


def _quoted(cell: str, delimiter: str, alone: bool) -> str:
    if any(sign in cell for sign in (delimiter, '"', "\n", "\r")) or (alone and not cell):
        return '"' + cell.replace('"', '""') + '"'
    return cell


def _ndjson(stream: BinaryIO, table: Mapping[str, list[Any]]) -> None:
    for row in zip(*table.values(), strict=True):
        clean = {
            name: None if _is_nan(value) else value for name, value in zip(table, row, strict=True)
        }
        try:
            line = json.dumps(clean, ensure_ascii=False, allow_nan=False)
        except ValueError as error:
            raise InputError(
                f"an infinite number has no JSON form, in {clean}: write .csv or .parquet"
            ) from error
        stream.write(line.encode("utf-8") + b"\n")


def _parquet(stream: BinaryIO, table: Mapping[str, list[Any]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        pq.write_table(pa.table(dict(table)), stream)
    except pa.ArrowException as error:
        raise InputError(
            f"a column mixes types, which Parquet cannot hold ({error}): write .csv or .ndjson"
        ) from error


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)
