"""What a file is: by its content first, by its name second."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from tallystick.errors import FileError
from tallystick.table.log_runs import sniff_archive, sniff_text
from tallystick.table.sources import File
from tallystick.table.texts import is_gzip, opening

Format: TypeAlias = str
"""``delimited``, ``json`` (lines, an array or a document), ``parquet``, ``arrow-file``,
``arrow-stream``, ``workbook``, or the name of a log format in `tallystick.table.logs`."""

_MAGIC: tuple[tuple[bytes, Format], ...] = (
    (b"PAR1", "parquet"),
    (b"ARROW1\0\0", "arrow-file"),
    (b"\xff\xff\xff\xff", "arrow-stream"),
)

_REFUSED: tuple[tuple[bytes, str], ...] = (
    (b"PARE", "an encrypted Parquet file; decrypt it first"),
    (b"FEA1", "a Feather file of version 1; write it again with pyarrow (version 2)"),
    (b"BZh", "compressed with bzip2; decompress it first (bunzip2)"),
    (b"\xfd7zXZ\0", "compressed with xz; decompress it first (unxz)"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd; decompress it first (unzstd)"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive; unpack it and name the file inside"),
    (b"Rar!", "a RAR archive; unpack it and name the file inside"),
    (
        b"\xd0\xcf\x11\xe0",
        "an old or password-protected Office document; save the sheet as CSV (UTF-8)",
    ),
    (b"SQLite format 3\0", "an SQLite database; export the table as CSV"),
    (b"\x89HDF", "an HDF5 file; export the table as Parquet"),
    (b"\x93NUMPY", "a NumPy array; load it and pass its columns to Tallystick in Python"),
    (b"%PDF", "a PDF document; export the table as CSV"),
    *(
        (
            bytes((0x80, version)),
            "a Python pickle, which Tallystick never opens; write the table as Parquet or CSV",
        )
        for version in range(2, 6)
    ),
)


def detect(file: File) -> Format:
    """Return the format of *file*, or refuse it by the name of what it is."""
    head = opening(file)
    packed = is_gzip(file.path)
    if not head:
        raise FileError(f"{file.name} is empty: a table needs a header line and at least one row")
    for magic, kind in _MAGIC:
        if head.startswith(magic):
            if packed:
                raise FileError(
                    f"{file.name} is a gzipped {kind} file; unpack it first (gunzip), it is"
                    " compressed inside"
                )
            return kind
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        entries = _entries(file.path)
        names = [entry.filename for entry in entries]
        log = sniff_archive(names)
        if log is not None:
            return log
        if any(name.startswith("xl/") for name in names):
            return "workbook"
        raise FileError(f"{file.name} is {_archive(entries)}")
    for magic, what in _REFUSED:
        if head.startswith(magic):
            raise FileError(f"{file.name} is {what}")
    if head[8:12] == b"DUCK":
        raise FileError(f"{file.name} is a DuckDB database; export the table as Parquet")
    return _text(file, head)


def _text(file: File, head: bytes) -> Format:
    text = head.decode("utf-8", errors="replace").removeprefix("\ufeff").lstrip()
    log = sniff_text(text)
    if log is not None:
        return log
    if text[:1] == "{" and (_is_object(text.partition("\n")[0]) or not _named_delimited(file.name)):
        return "json"
    if text[:1] == "[" and not _named_delimited(file.name):
        if text[1:].lstrip()[:1] in ("{", "]", ""):
            return "json"
        raise FileError(
            f"{file.name} is a JSON array without objects: write one object per row,"
            " [{'item': 1, 'gpt': 'yes'}, …]"
        )
    if text[:9].lower().startswith(("<!doctype", "<html", "<?xml")):
        raise FileError(
            f"{file.name} is a web page or XML, not a table; perhaps a download that failed"
        )
    return "delimited"


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _named_delimited(name: str) -> bool:
    return name.lower().removesuffix(".gz").endswith((".csv", ".tsv"))


def _entries(path: Path) -> list[zipfile.ZipInfo]:
    """Return what is inside a zip archive; nothing if it is damaged."""
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.infolist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError):
        return []


def _archive(entries: Sequence[zipfile.ZipInfo]) -> str:
    """Say which sort of zip this is."""
    names = [entry.filename for entry in entries]
    if not names:
        return "a damaged zip archive; copy it again, unpack it and name the file inside"
    if any(entry.flag_bits & 1 for entry in entries):
        return "a password-protected zip archive; unpack it and name the file inside"
    if "mimetype" in names and "content.xml" in names:
        return "an OpenDocument spreadsheet; save the sheet as CSV (UTF-8)"
    if all(name.endswith(".npy") for name in names):
        return "a NumPy archive; load it and pass its columns to Tallystick in Python"
    return f"a zip archive ({', '.join(names[:3])}…); unpack it and name the file inside"
