"""CSV and TSV: the separator found or refused by name, every record checked, cells kept exactly as
written.

Where every double quote stands as CSV wants it, Arrow parses at full speed; all else goes through
the strict parser of the standard library, which knows the line of every fault.
"""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path

from tallystick.errors import FileError
from tallystick.table.sources import BATCH, CHUNK, Spool, check_names
from tallystick.table.tables import Part
from tallystick.table.texts import CheckedText, wide_cells

_BLOCK = 1 << 23
_SEPARATORS = {",": "comma", "\t": "tab", ";": "semicolon", "|": "vertical bar"}
_QUOTE, _LINE, _RETURN = b'"\n\r'
_SAMPLE_ROWS = 50
_SAMPLE_CHARACTERS = 1 << 16


def read_delimited(text: CheckedText, spool: Spool) -> tuple[Part, tuple[str, ...]]:
    """Write every record of *text* to *spool*; return what was read and notes on it."""
    separator = _separator(text)
    with text.path.open(encoding="utf-8-sig", newline="") as stream, wide_cells():
        first = stream.readline()
        header = _header(first, text, stream, separator)
    names, notes = check_names(header, text.name)
    before = spool.rows
    # The header is read by now: a quote inside one of its names says nothing about the rows.
    quoting = _quoting(text, separator, len(first.encode())) if text.quoted else "none"
    simple = quoting != "irregular" and not any("\n" in name or "\r" in name for name in header)
    if simple and _parse_fast(text, spool, names, separator, quoting):
        whole = quoting != "lines" and text.lines - 1 <= spool.rows - before <= text.lines
        one_line_a_row = whole
    else:
        one_line_a_row = _parse_strictly(text, spool, names, separator)
    rows = spool.rows - before
    return Part(text.name, rows, 2 if one_line_a_row else None), (*text.notes, *notes)


def _quoting(text: CheckedText, separator: str, start: int) -> str:
    """Say how quotes stand from byte *start*: ``none``, in ``cells``, ``lines`` or ``irregular``.

    In ``cells`` they enclose cells, and in ``lines`` some of these cells hold a line end.

    From 0 on, an even quote opens a cell or doubles the one before; an odd one closes a cell or
    is doubled. So before an even one, and behind an odd one, is a separator, line end or quote.
    """
    import numpy as np

    ends = np.zeros(256, bool)
    ends[[ord(separator), *b'\r\n"']] = True
    number, last, found = 0, ord("\n"), "cells"
    with text.path.open("rb") as stream:
        mark = codecs.BOM_UTF8
        stream.seek(start + (len(mark) if stream.read(len(mark)) == mark else 0))
        while chunk := stream.read(CHUNK):
            signs = np.frombuffer(bytes((last,)) + chunk, np.uint8)
            at = np.flatnonzero(signs == _QUOTE)
            own = at[at > 0]
            first = number - (len(at) > len(own))
            odd = (first + np.arange(len(at))) % 2 == 1
            behind = at[odd & (at + 1 < len(signs))] + 1
            if not (ends[signs[at[~odd & (at > 0)] - 1]].all() and ends[signs[behind]].all()):
                return "irregular"
            breaks = np.flatnonzero((signs == _LINE) | (signs == _RETURN))
            inside = (number + np.searchsorted(own, breaks[breaks > 0])) % 2 == 1
            found = "lines" if inside.any() else found
            number, last = number + len(own), int(signs[-1])
    if number % 2:
        return "irregular"
    return found if number else "none"


def _header(line: str, text: CheckedText, rest: Iterator[str], separator: str) -> list[str]:
    if not line.strip():
        raise FileError(f"{text.name}, line 1 is blank: the first line must name the columns")

    def lines() -> Iterator[str]:
        yield line
        yield from rest

    try:
        return next(csv.reader(lines(), delimiter=separator, strict=True))
    except csv.Error as error:
        raise FileError(f"{text.name}, line 1: {_fault(error)}") from error


def _separator(text: CheckedText) -> str:
    """Return the one separator under which the opening is a table; the name of the file decides
    between several.
    """
    name = text.name.lower().removesuffix(".gz")
    by_name = "\t" if name.endswith(".tsv") else "," if name.endswith(".csv") else None
    fits, cuts = [], []
    for candidate in _SEPARATORS:
        widths = _widths(text.path, candidate)
        if widths and widths[0] > 1:
            cuts.append(candidate)
            if set(widths) == {widths[0]}:
                fits.append(candidate)
    if len(fits) == 1:
        return fits[0]
    if not fits:
        return cuts[0] if len(cuts) == 1 else by_name or ","
    if by_name in fits:
        return by_name
    names = " and ".join(f"{_SEPARATORS[one]} ({one!r})" for one in fits)
    raise FileError(
        f"{text.name} could be separated by {names}: call it .csv if that is a comma, .tsv if a tab"
    )


def _widths(path: Path, separator: str) -> list[int]:
    """Return how many fields each of the first records has."""
    widths: list[int] = []
    with path.open(encoding="utf-8-sig", newline="") as stream, wide_cells():
        sample = stream.read(_SAMPLE_CHARACTERS)
        whole = len(sample) < _SAMPLE_CHARACTERS
    try:
        for row in csv.reader(io.StringIO(sample, newline=""), delimiter=separator):
            if row:
                widths.append(len(row))
            if len(widths) > _SAMPLE_ROWS:
                break
    except csv.Error:
        return widths
    return widths if whole or len(widths) < 2 or len(widths) > _SAMPLE_ROWS else widths[:-1]


def _parse_fast(
    text: CheckedText, spool: Spool, names: Sequence[str], separator: str, quoting: str
) -> bool:
    import pyarrow as pa
    import pyarrow.csv

    options = {
        "read_options": pa.csv.ReadOptions(
            column_names=list(names), skip_rows=1, block_size=_BLOCK
        ),
        "parse_options": pa.csv.ParseOptions(
            delimiter=separator,
            quote_char=False if quoting == "none" else '"',
            ignore_empty_lines=len(names) > 1,
            newlines_in_values=quoting == "lines",
        ),
        "convert_options": pa.csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            null_values=[""],
            strings_can_be_null=True,
        ),
    }
    try:
        with (
            Spool() as trial,
            pa.OSFile(str(text.path)) as source,
            pa.csv.open_csv(source, **options) as reader,
        ):
            for batch in reader:
                trial.add_batch(batch)
    except pa.ArrowInvalid:
        return False
    spool.take(trial)
    return True


def _parse_strictly(text: CheckedText, spool: Spool, names: Sequence[str], separator: str) -> bool:
    """Parse with the standard library, naming the line of any fault; return whether each row was
    one line.
    """
    width, before = len(names), spool.rows
    batch: list[list[str]] = []
    start = 1
    blank = False
    with text.path.open(encoding="utf-8-sig", newline="") as stream, wide_cells():
        reader = csv.reader(stream, delimiter=separator, strict=True)
        next(reader)
        start = reader.line_num + 1
        first = start
        try:
            for row in reader:
                if len(row) != width:
                    if row:
                        raise FileError(_ragged(text.name, start, row, names, separator))
                    blank = True
                    if width == 1:
                        batch.append([""])
                else:
                    batch.append(row)
                start = reader.line_num + 1
                if len(batch) >= BATCH:
                    spool.add(names, list(zip(*batch, strict=True)))
                    batch.clear()
        except csv.Error as error:
            raise FileError(f"{text.name}, line {start}: {_fault(error)}") from error
    if batch:
        spool.add(names, list(zip(*batch, strict=True)))
    return first == 2 and not blank and start == spool.rows - before + 2


def _ragged(name: str, line: int, row: Sequence[str], names: Sequence[str], separator: str) -> str:
    found, wanted = len(row), len(names)
    odd = f"no {names[found]!r}" if found < wanted else f"{row[wanted]!r} beyond them"
    return (
        f"{name}, line {line} has {found} field{'s' * (found != 1)}, the header has {wanted}: there"
        f" is {odd}. Complete the line (starts {row[0]!r}) or remove it, name every column, and"
        f" quote a cell that holds a {_SEPARATORS.get(separator, 'separator')}"
    )


def _fault(error: csv.Error) -> str:
    words = str(error)
    if any(one in words for one in ("unexpected end", "field larger", "expected after")):
        return 'a quote (") is not closed, or text follows it; double quotes that belong to text'
    return f"this is not CSV ({words})"
