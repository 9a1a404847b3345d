"""Logs of inspect_ai: ``.eval`` (a zip archive, also with zstd inside) and ``.json``."""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tallystick.errors import FileError
from tallystick.io.logs.json_text import document, parsed
from tallystick.io.logs.log import Log, Scores, number
from tallystick.io.sources import File

__all__ = ["read_inspect_archive", "read_inspect_json"]

VERSION = 2
"""The version of the log format that is read; inspect_ai has written it since 2024."""

_LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
"""Correct, incorrect, partial, no answer: the numbers inspect_ai itself gives to these letters."""
_ZSTD = 93
_LOCAL = 30
"""Bytes of a zip entry's own header before its name."""
_MOST = 1 << 30
"""A sample beyond a gigabyte is refused."""


def read_inspect_json(file: File) -> Log:
    """Read a log in JSON."""
    log = document(file)
    return _log(file, log, log.get("samples") or [])


def read_inspect_archive(file: File) -> Log:
    """Read a log in an archive, sample by sample."""
    try:
        with zipfile.ZipFile(file.path) as archive:
            names = archive.namelist()
            if "header.json" not in names:
                raise FileError(
                    f"{file.name} has no header: the run did not finish; finish it or run it again"
                )
            header = parsed(_content(archive, "header.json", file), f"{file.name} (header.json)")
            return _log(file, header, _samples(archive, file))
    except zipfile.BadZipFile as error:
        raise FileError(f"{file.name} is a damaged archive ({error}): copy it again") from error


def _samples(archive: zipfile.ZipFile, file: File) -> Iterator[Mapping[str, Any]]:
    for name in sorted(archive.namelist()):
        if name.startswith("samples/") and name.endswith(".json"):
            yield parsed(_content(archive, name, file), f"{file.name} ({name})")


def _content(archive: zipfile.ZipFile, name: str, file: File) -> bytes:
    """Return one entry; zstd, which zipfile does not know before Python 3.14, is unpacked with
    pyarrow.
    """
    entry = archive.getinfo(name)
    if entry.file_size > _MOST:
        raise FileError(f"{file.name} ({name}) is larger than a gigabyte: it is no sample")
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


def _log(file: File, header: Any, samples: Any) -> Log:
    if not isinstance(header, dict) or header.get("version") != VERSION:
        found = header.get("version") if isinstance(header, dict) else None
        raise FileError(
            f"{file.name} is an inspect_ai log of version {found!r}, version {VERSION} is read:"
            " convert it with 'inspect log convert'"
        )
    if header.get("status") != "success":
        raise FileError(
            f"{file.name} is the log of a run that ended with {header.get('status')!r}: what it"
            " scored is no fair sample; finish it with 'inspect eval-retry'"
        )
    scores: Scores = {}
    unscored = 0
    for sample in samples:
        found = {
            key: value
            for scorer, score in (sample.get("scores") or {}).items()
            for key, value in _values(scorer, score.get("value"))
        }
        unscored += not found
        for key, value in found.items():
            scores.setdefault(key, {}).setdefault(str(sample["id"]), []).append(value)
    if not scores:
        raise FileError(f"{file.name} holds no score that is a number or one of C, I, P, N")
    told = header["eval"]
    return Log(str(told["model"]), str(told.get("task", "")), file.name, scores, unscored)


def _values(scorer: str, value: object) -> list[tuple[str, float]]:
    """Return the numbers of one score: itself, or each part of a score with several parts."""
    if isinstance(value, dict):
        return [
            (f"{scorer}/{part}", number_)
            for part, one in value.items()
            for _, number_ in _values("", one)
        ]
    as_number = _LETTERS.get(value) if isinstance(value, str) else number(value)
    return [] if as_number is None else [(scorer, as_number)]
