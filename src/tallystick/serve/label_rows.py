"""Between which rows the labels of a stream stand: what counts do not know.

Labels on one block of rows speak for the others only if rows come in random order. The command line
warns of that from the order of the rows, and so does a stream.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from tallystick.serve.rows import StreamBook
from tallystick.serve.span import Span
from tallystick.serve.store import Reader

__all__ = ["label_rows"]

_GLANCE = 2_000
"""Rows at either end among which the outermost label usually is."""

_AT_ONCE = 500


def label_rows(
    reader: Reader, book: StreamBook, span: Span, labelled: Collection[int], rows: int
) -> tuple[int, int] | None:
    """Return the first and the last row of a span with a label that counts, from 1; None if none.

    Parameters
    ----------
    reader, book, span
        Which rows.
    labelled
        The patterns with a label.
    rows
        How many rows the span has.
    """
    ends = []
    for order in ("asc", "desc"):
        place = _near(reader, book, span, labelled, order)
        ends.append(_far(reader, book, span, labelled, order) if place is None else place)
    first, last = ends
    return None if first is None or last is None else (first, rows + 1 - last)


def _wanted(book: StreamBook, span: Span) -> str:
    """Return the slices of a span as a list in SQL."""
    held = sorted(ident for ident, body in book.slices.items() if span.holds(body))
    return ", ".join(map(str, held)) or "-1"


def _counts(book: StreamBook, row: int, pattern: int, labelled: Collection[int]) -> bool:
    return row in book.counted if book.counted is not None else pattern in labelled


def _near(
    reader: Reader, book: StreamBook, span: Span, labelled: Collection[int], order: str
) -> int | None:
    """Return the place of the outermost label if it is near its end, counted from that end."""
    where, values = span.condition("r")
    found = reader.all(
        f"select r.id, r.pattern from rows r where r.stream = ?{where} and r.slice in"
        f" ({_wanted(book, span)}) order by {reader.in_order(last_first=order == 'desc')}"
        f" limit {_GLANCE}",
        (book.stream.id, *values),
    )
    places = enumerate(found, start=1)
    return next((n for n, (row, pattern) in places if _counts(book, row, pattern, labelled)), None)


def _far(
    reader: Reader, book: StreamBook, span: Span, labelled: Collection[int], order: str
) -> int | None:
    """Return the same where it is far from its end, by a look at all rows of the span."""
    where, values = span.condition()
    wanted = _wanted(book, span)
    outermost, beyond = ("min", "<=") if order == "asc" else ("max", ">=")
    found: list[Any] = []
    if book.counted is not None:
        held = (book.chances.rows[row] for row in book.counted)
        found = [one.id for one in held if span.holds(book.slices[one.slice])]
    else:
        numbers = sorted(labelled)
        for start in range(0, len(numbers), _AT_ONCE):
            marks = ", ".join(map(str, numbers[start : start + _AT_ONCE]))
            [(row,)] = reader.all(
                f"select {outermost}(id) from rows where stream = ?{where} and pattern in ({marks})"
                f" and slice in ({wanted})",
                (book.stream.id, *values),
            )
            found += [row] if row is not None else []
    if not found:
        return None
    end = min(found) if order == "asc" else max(found)
    [(place,)] = reader.all(
        f"select count(*) from rows where stream = ?{where} and slice in ({wanted})"
        f" and id {beyond} ?",
        (book.stream.id, *values, end),
    )
    return int(place)
