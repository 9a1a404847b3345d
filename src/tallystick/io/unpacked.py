"""How much a compressed file may unpack to: a small file must not fill the disk."""

from __future__ import annotations

import os
import re
from pathlib import Path

from tallystick.errors import FileError, InputError

__all__ = ["MOST_UNPACKED", "most_unpacked", "too_large"]

MOST_UNPACKED = "32GB"
"""What one compressed file may unpack to; ``TALLYSTICK_UNPACKED`` overrides it."""

_RATIO = 1000
_ALWAYS = 1 << 26
"""Bytes that any file may unpack to, however small it is."""

_UNITS = {"K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def most_unpacked(path: Path) -> int:
    """Return how many bytes a compressed file may unpack to.

    That is 1,000 times its size and at most 32 GB, unless ``TALLYSTICK_UNPACKED`` says otherwise.
    """
    given = os.environ.get("TALLYSTICK_UNPACKED")
    size = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT])B", given or MOST_UNPACKED)
    if size is None:
        raise InputError(f"TALLYSTICK_UNPACKED must be a size such as 500MB or 64GB, got {given!r}")
    limit = int(float(size[1]) * _UNITS[size[2]])
    if given is not None:
        return limit
    return max(_ALWAYS, min(limit, _RATIO * path.stat().st_size))


def too_large(most: int, name: str) -> FileError:
    """Return the refusal of a file that unpacks to more than *most* bytes."""
    return FileError(
        f"{name} unpacks to more than {most / 1e6:,.0f} MB: if that is meant, allow it with the"
        " environment variable TALLYSTICK_UNPACKED, for instance TALLYSTICK_UNPACKED=64GB"
    )
