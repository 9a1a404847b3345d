"""How much memory a run may take: one limit for the engine and for arrays alike.

``TALLYSTICK_MEMORY`` sets it, by default half of what the machine (or its container) has. DuckDB
gets half of the limit and spills to disk beyond it. The other half is for arrays of rows, and
`require` refuses a question before it would exceed it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from tallystick.errors import InputError

__all__ = ["engine_memory", "fits", "memory_limit", "require", "written"]

_UNITS = {"K": 1, "M": 2, "G": 3, "T": 4}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT])(i?)B")

_FALLBACK = 4 * 1024**3
"""The memory of a machine that does not say how much it has."""

_CONTAINER = Path("/sys/fs/cgroup/memory.max")


def memory_limit() -> int:
    """Return the limit in bytes.

    Examples
    --------
    >>> memory_limit() > 0
    True
    """
    asked = os.environ.get("TALLYSTICK_MEMORY")
    if asked is None:
        return _machine() // 2
    found = _SIZE.fullmatch(asked)
    if found is None or float(found[1]) == 0:
        raise InputError(f"TALLYSTICK_MEMORY must be a size such as 512MB or 4GB, got {asked!r}")
    unit = (1024 if found[3] else 1000) ** _UNITS[found[2]]
    return int(float(found[1]) * unit)


def engine_memory() -> int:
    """Return the share of the limit that DuckDB may hold before it spills to disk, in bytes."""
    return memory_limit() // 2


def fits(size: float) -> bool:
    """Say whether arrays of *size* bytes fit into the share of the limit that is left for them."""
    return size <= memory_limit() - engine_memory()


def require(size: float, what: str, instead: str) -> None:
    """Refuse arrays that would not fit into the share of the limit that is left for them.

    Parameters
    ----------
    size
        Bytes that are needed at the peak.
    what
        What would take them, as the start of a sentence.
    instead
        The way out.

    Examples
    --------
    >>> require(1e18, "A table of 1e16 rows", "Give fewer rows.")
    Traceback (most recent call last):
    tallystick.errors.InputError: A table of 1e16 rows needs about 1,000,000,000 GB ...
    """
    room = memory_limit() - engine_memory()
    if not fits(size):
        raise InputError(
            f"{what} needs about {written(size)} of memory, and {written(room)} may be used."
            f" {instead} Or allow more with the environment variable TALLYSTICK_MEMORY, for"
            f" instance TALLYSTICK_MEMORY={max(1, round(2.2 * size / 1e9))}GB"
        )


def written(size: float) -> str:
    """Write a number of bytes.

    >>> written(3.2e9), written(145e6)
    ('3.2 GB', '145 MB')
    """
    if size >= 1e10:
        return f"{size / 1e9:,.0f} GB"
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"


def _machine() -> int:
    """Return the memory of this machine, or of the container that the process runs in."""
    try:
        physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # Windows has no sysconf
        physical = _FALLBACK
    try:
        inside = int(_CONTAINER.read_text(encoding="ascii"))
    except (OSError, ValueError):  # no container, or one without a limit ("max")
        return physical
    return min(physical, inside)
