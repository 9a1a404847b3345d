"""Exports as rows: a JSON array, one object with a list inside, or one object per line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tallystick.errors import FileError
from tallystick.io.logs.json_text import document, each_line
from tallystick.io.sources import File
from tallystick.io.text import checked

__all__ = ["content_key", "first_of", "json_rows"]

_LISTS = ("data", "results", "testCases", "test_results", "rows", "samples")


def json_rows(file: File, *lists: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield every object of an export with its place.

    Parameters
    ----------
    file
        A JSON array of objects, an object that holds such a list, or one object per line.
    lists
        Names of the list inside an object; usual names by default.
    """
    if _is_lines(file):
        yield from ((f"line {line}", row) for line, row in each_line(file))
        return
    held = document(file)
    if isinstance(held, dict):
        names = lists or _LISTS
        held = next((held[name] for name in names if isinstance(held.get(name), list)), [held])
    if not isinstance(held, list):
        raise FileError(f"{file.name} is neither a list of objects nor one object per line")
    for place, row in enumerate(held, start=1):
        if not isinstance(row, dict):
            raise FileError(f"{file.name}, entry {place} is not an object: the export is damaged")
        yield f"entry {place}", row


def _is_lines(file: File) -> bool:
    """Say whether the first line is an object by itself."""
    import json

    with checked(file) as text, text.path.open(encoding="utf-8-sig") as stream:
        first = stream.readline().strip()
        more = any(not line.isspace() for line in stream)
    if not first.startswith("{") or not more:
        return False
    try:
        json.loads(first)
    except ValueError:
        return False
    return True


def content_key(*parts: Any) -> str:
    """Return a short hash of what was asked, by which items without a name are matched.

    >>> content_key("2 + 2", None) == content_key("2 + 2", None)
    True
    """
    import hashlib
    import json

    text = json.dumps(parts, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def first_of(row: Mapping[str, Any], names: Sequence[str]) -> Any:
    """Return the first of these fields that is there."""
    return next((row[name] for name in names if row.get(name) is not None), None)
