"""Excel workbooks (.xlsx): the one sheet with data, written as CSV and read like any other."""

from __future__ import annotations

import csv
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

from tallystick.errors import FileError, MissingExtra
from tallystick.io.scratch import scratch
from tallystick.io.sources import File
from tallystick.io.unpacked import most_unpacked, too_large

__all__ = ["as_csv"]


_LOOKED = 60
"""Rows of a sheet among which its header is looked for."""

_FEW = 8
"""Rows below a header that show whether its words are names."""


def as_csv(file: File) -> File:
    """Return the sheet of a workbook as a CSV file in the scratch folder.

    Cells are written as people read them: a whole number has no decimal point, a date is ISO, a
    formula is its last computed value. A workbook with several filled sheets is refused by name.
    """
    try:
        import openpyxl
    except ImportError as error:
        raise MissingExtra("openpyxl", "xlsx") from error
    from openpyxl.utils.exceptions import InvalidFileException

    # What damage raises depends on the part that is hit: the archive, its XML, or its contents.
    damaged = (InvalidFileException, zipfile.BadZipFile, OSError, KeyError, ValueError, SyntaxError)
    try:
        with zipfile.ZipFile(file.path) as archive:
            unpacked = sum(entry.file_size for entry in archive.infolist())
        if unpacked > most_unpacked(file.path):
            raise too_large(most_unpacked(file.path), file.name)
        book = openpyxl.load_workbook(file.path, read_only=True, data_only=True)
    except damaged as error:
        raise FileError(f"{file.name} is a damaged Excel workbook ({error})") from error

    sheets = [sheet for sheet in book.worksheets if sheet.max_row and sheet.max_row > 1]
    if len(sheets) != 1:
        names = ", ".join(sheet.title for sheet in sheets) or "none"
        raise FileError(
            f"{file.name} must have one sheet with a header and rows, and has {names}: save the"
            " sheet that you mean as CSV (UTF-8)"
        )
    _refuse_titles(sheets[0], file.name)
    with tempfile.NamedTemporaryFile(
        "w",
        dir=scratch(),
        prefix="sheet-",
        suffix=".csv",
        delete=False,
        newline="",
        encoding="utf-8",
    ) as made:
        writer = csv.writer(made)
        for row in sheets[0].iter_rows(values_only=True):
            if any(cell is not None for cell in row):
                writer.writerow([_text(cell) for cell in row])
    book.close()
    return replace(file, path=Path(made.name), spooled=True)


def _refuse_titles(sheet: Any, name: str) -> None:
    """Refuse a sheet whose first rows are a title: the header would be read as a row of cells."""
    rows = [
        ["" if cell is None else str(cell).strip() for cell in row]
        for row in sheet.iter_rows(max_row=_LOOKED, values_only=True)
    ]
    filled = [sum(map(bool, row)) for row in rows]
    widest = max(filled, default=0)
    header = next((k for k, cells in enumerate(filled) if cells == widest), 0)
    above = [cells for cells in filled[:header] if cells]
    if not above:
        return
    # Blank cells in a header are common; a title fills one cell or two.
    narrow = widest >= 3 and 2 * max(above) <= widest
    if narrow or _are_names(rows[header], rows[header + 1 :]):
        raise FileError(
            f"{name}: the header of sheet {sheet.title!r} seems to be in row {header + 1}, below a"
            " title. Remove the rows above it"
        )


def _are_names(row: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Say whether a row looks like the names of the columns: words that differ, and that no cell
    below them repeats, as the labels of a row of votes would.
    """
    words = [cell for cell in row if cell]
    if len(words) < 2 or len(set(words)) < len(words) or len(below) < _FEW:
        return False
    if any(word.replace(".", "", 1).lstrip("-").isdigit() for word in words):
        return False
    return not any(
        cell and cell == other for under in below for cell, other in zip(row, under, strict=False)
    )


def _text(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, datetime) and cell.time() == time():
        return cell.date().isoformat()  # a day without a time is what the sheet shows
    return cell.isoformat() if isinstance(cell, date | datetime) else str(cell)
