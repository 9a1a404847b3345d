"""Delimited exports of evaluation tools as rows, before any rule for tables applies."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping

from tallystick.errors import FileError
from tallystick.io.delimited import wide_cells
from tallystick.io.sources import File
from tallystick.io.text import checked

__all__ = ["csv_header", "csv_rows", "csv_table"]


def csv_table(file: File) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of a CSV file; headers may repeat."""
    with checked(file) as text, text.path.open(encoding="utf-8-sig", newline="") as stream:
        try:
            with wide_cells():
                rows = list(csv.reader(stream))
        except csv.Error as error:
            message = f"{file.name} is not CSV ({error}): export the results again"
            raise FileError(message) from error
    if len(rows) < 2:
        raise FileError(f"{file.name} has no rows: export the results again")
    return rows[0], [row for row in rows[1:] if row]


def csv_rows(file: File) -> Iterator[Mapping[str, str]]:
    """Yield the rows of a CSV file by header."""
    header, rows = csv_table(file)
    for row in rows:
        yield dict(zip(header, row, strict=False))


def csv_header(head: str) -> list[str]:
    r"""Return the header of a text that starts like this; empty if it is not CSV.

    >>> csv_header("user_input,faithfulness\nwho?,0.5\n")
    ['user_input', 'faithfulness']
    """
    if not head or head[0] in "{[<" or "," not in head.partition("\n")[0]:
        return []
    try:
        return next(csv.reader([head.partition("\n")[0]]))
    except (csv.Error, StopIteration):
        return []
