"""Logs of inspect_ai as ``.eval``: a zip archive, possibly with zstd inside."""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tallystick.errors import FileError
from tallystick.io.logs.inspect_log import inspect_log
from tallystick.io.logs.json_text import parsed
from tallystick.io.logs.log import Log
from tallystick.io.logs.registry import LogReader
from tallystick.io.sources import File
from tallystick.io.unpacked import most_unpacked, too_large

__all__ = ["READER", "read_inspect_archive"]

_ZSTD = 93
_LOCAL = 30
"""Bytes of a zip entry's own header before its name."""
_MOST = 1 << 30
"""A sample beyond a gigabyte is refused."""


def read_inspect_archive(file: File) -> Log:
    """Read one log, sample by sample."""
    try:
        with zipfile.ZipFile(file.path) as archive:
            names = archive.namelist()
            if "header.json" not in names:
                raise FileError(
                    f"{file.name} has no header: the run did not finish; finish it or run it again"
                )
            if sum(entry.file_size for entry in archive.infolist()) > most_unpacked(file.path):
                raise too_large(most_unpacked(file.path), file.name)
            header = parsed(_content(archive, "header.json", file), f"{file.name} (header.json)")
            return inspect_log(file, header, _samples(archive, file))
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, struct.error) as error:
        raise FileError(f"{file.name} is a damaged archive ({error}): copy it again") from error


def _samples(archive: zipfile.ZipFile, file: File) -> Iterator[Mapping[str, Any]]:
    for name in sorted(archive.namelist()):
        if name.startswith("samples/") and name.endswith(".json"):
            yield parsed(_content(archive, name, file), f"{file.name} ({name})")


def _content(archive: zipfile.ZipFile, name: str, file: File) -> bytes:
    """Return one entry; pyarrow unpacks zstd, which zipfile cannot before Python 3.14."""
    entry = archive.getinfo(name)
    if entry.file_size > _MOST:
        raise FileError(f"{file.name} ({name}) is larger than a gigabyte: it is not a sample")
    if entry.compress_type != _ZSTD:
        return archive.read(name)
    import pyarrow as pa

    packed = _packed(file.path, entry)
    try:
        content = pa.decompress(
            packed, decompressed_size=entry.file_size, codec="zstd", asbytes=True
        )
    except (OSError, pa.ArrowException) as error:
        raise FileError(f"{file.name} ({name}) is damaged ({error}): copy the log again") from error
    if zlib.crc32(content) != entry.CRC:
        raise FileError(
            f"{file.name} ({name}) is damaged (its checksum differs): copy the log again"
        )
    return bytes(content)


def _packed(path: Path, entry: zipfile.ZipInfo) -> bytes:
    with path.open("rb") as stream:
        stream.seek(entry.header_offset)
        head = stream.read(_LOCAL)
        name_length, extra_length = struct.unpack("<HH", head[26:30])
        stream.seek(name_length + extra_length, 1)
        return stream.read(entry.compress_size)


def _is_archive(names: Sequence[str]) -> bool:
    journal = "_journal/start.json" in names
    samples = any(name.startswith("samples/") for name in names)
    return journal or (samples and "header.json" in names)


def _read(files: Sequence[File]) -> list[list[Log]]:
    return [[read_inspect_archive(file)] for file in files]


READER = LogReader(name="inspect-eval", read=_read, holds=_is_archive)
