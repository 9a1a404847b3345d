"""``tallystick judge - --follow``: votes from stdin as they come, one JSON line a window."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, TextIO

from tallystick.errors import InputError
from tallystick.results import to_json

if TYPE_CHECKING:
    from tallystick.judge import JudgeResult
    from tallystick.tally import Tally

__all__ = ["follow_stdin", "records"]


def follow_stdin(
    size: int,
    judges: Sequence[str],
    truth: str | None,
    item: str | None,
    evaluation: Callable[[Tally], JudgeResult],
    *,
    alpha: float,
    missing: tuple[str, ...],
    coerce: bool,
) -> None:
    """Evaluate stdin window by window until it ends; nothing is kept of a window that is told."""
    from tallystick.judge import Windows

    stream = Windows(
        size=size, evaluation=evaluation, alpha=alpha, truth=truth, missing=missing, coerce=coerce
    )
    names: tuple[str, ...] | None = None
    for record in records(sys.stdin):
        if names is None:
            names = _columns(tuple(record), judges, truth, item)
        absent = [name for name in names if name not in record]
        if absent:
            raise InputError(f"a row lacks column {absent[0]!r}: every row needs {list(names)}")
        for window in stream.push({name: [record[name]] for name in names}):
            sys.stdout.write(to_json(window.to_dict()) + "\n")
            sys.stdout.flush()  # whoever follows wants it now


def records(lines: TextIO) -> Iterator[dict[str, Any]]:
    r"""Return rows of NDJSON or of comma-separated text with a header, one by one, told apart by
    the first character.

    >>> import io
    >>> list(records(io.StringIO('{"a": 1}\n{"a": 2}\n')))
    [{'a': 1}, {'a': 2}]
    >>> list(records(io.StringIO('a,b\n1,\n')))
    [{'a': '1', 'b': None}]
    """
    first = lines.readline()
    if first.lstrip().startswith("{"):
        number = 0
        while first:
            number += 1
            if first.strip():
                try:
                    row = json.loads(first)
                except ValueError as error:
                    raise InputError(
                        f"line {number} of stdin is not a JSON object ({error})"
                    ) from error
                yield row
            first = lines.readline()
        return
    header = next(csv.reader([first]), [])
    if len(set(header)) != len(header) or not header:
        raise InputError(f"the header of stdin must name different columns, got {header}")
    for number, cells in enumerate(csv.reader(iter(lines.readline, "")), start=2):
        if not cells:
            continue
        if len(cells) != len(header):
            raise InputError(
                f"line {number} of stdin has {len(cells)} cells, the header has {len(header)}"
            )
        yield {
            name: cell if cell.strip() else None for name, cell in zip(header, cells, strict=True)
        }


def _columns(
    header: tuple[str, ...], judges: Sequence[str], truth: str | None, item: str | None
) -> tuple[str, ...]:
    from tallystick.io.shapes import ITEM_NAMES

    others = [name for name in header if name not in (truth, item)]
    if judges:
        patterns = [piece for option in judges for piece in option.split(",")]
        chosen = tuple(
            name for name in others if any(fnmatchcase(name, pattern) for pattern in patterns)
        )
    else:
        chosen = tuple(name for name in others if name.strip().lower() not in ITEM_NAMES)
    if not chosen or (truth is not None and truth not in header):
        raise InputError(
            f"stdin has columns {list(header)}: no judge among them, or no truth {truth!r}"
        )
    return (*chosen, *([truth] if truth is not None else []))
