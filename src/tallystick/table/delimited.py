"""CSV and TSV: the separator found or refused by name, every record checked, cells kept exactly as
written.

Two parsers, one meaning. Text without a double quote goes through Arrow's parser at full speed;
text with quotes, and whatever Arrow refuses, goes through the strict parser of the standard
library, which knows the line of every fault.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tallystick.errors import FileError, InputError
from tallystick.table.cells import Kind, Label, as_number, is_missing, without_missing
from tallystick.table.sources import BATCH, Spool, check_names, missing_column
from tallystick.table.tables import Part, Table
from tallystick.table.texts import MAX_CELL, CheckedText, wide_cells

_BLOCK = 1 << 23
_SEPARATORS = {",": "comma", "\t": "tab", ";": "semicolon", "|": "vertical bar"}
_SAMPLE_ROWS = 50
_SAMPLE_CHARACTERS = 1 << 16


def read_delimited(
    text: CheckedText, spool: Spool, *, delimiter: str | None = None
) -> tuple[Part, tuple[str, ...]]:
    """Write every record of *text* to *spool*; return what was read and notes on it."""
    separator = delimiter if delimiter is not None else _separator(text)
    with text.path.open(encoding="utf-8-sig", newline="") as stream, wide_cells():
        header = _header(stream.readline(), text, stream, separator)
    names, notes = check_names(header, text.name)
    before = spool.rows
    plain = not text.quoted and _parse_fast(text, spool, names, separator)
    one_line_a_row = plain and text.lines - 1 <= spool.rows - before <= text.lines
    if not plain:
        one_line_a_row = _parse_strictly(text, spool, names, separator)
    rows = spool.rows - before
    if rows == 0:
        raise FileError(f"{text.name} has a header but no rows: nothing to count")
    if separator != "," and delimiter is None:
        notes = (f"{text.name}: columns are separated by a {_SEPARATORS[separator]}", *notes)
    return Part(text.name, rows, 2 if one_line_a_row else None), notes


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
        f"{text.name} could be separated by {names}: say which with delimiter (--delimiter)"
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


def _parse_fast(text: CheckedText, spool: Spool, names: Sequence[str], separator: str) -> bool:
    """Parse quote-free text with Arrow; False, with nothing kept, if Arrow finds a fault."""
    import pyarrow as pa
    import pyarrow.csv

    options = {
        "read_options": pa.csv.ReadOptions(
            column_names=list(names), skip_rows=1, block_size=_BLOCK
        ),
        "parse_options": pa.csv.ParseOptions(
            delimiter=separator,
            quote_char=False,
            ignore_empty_lines=len(names) > 1,
            newlines_in_values=False,
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
    where = f"{name}, line {line} has {found} field{'s' * (found != 1)}, the header has {wanted}"
    if found < wanted:
        return (
            f"{where}: there is nothing for column {names[found]!r}; complete the line (starts"
            f" {row[0]!r}) or remove it"
        )
    return (
        f"{where}: {row[wanted]!r} is one too many; quote a cell that holds a "
        f"{_SEPARATORS.get(separator, 'separator')}, or name the column"
    )


def _fault(error: csv.Error) -> str:
    words = str(error)
    if "unexpected end" in words:
        return (
            'a quote (") is opened and never closed; close it, or double it if it belongs to the'
            " text"
        )
    if "expected after" in words:
        return 'text follows a closing quote ("); double the quotes that belong to the text'
    if "field larger" in words:
        return f'a quote (") is opened and not closed within {MAX_CELL:,} characters; close it'
    return f"this is not CSV ({words})"


# Tokens that stand nowhere, and columns of numbers that hold something else.


_AT_ONCE = 200
"""Columns that one query looks at: an expression of thousands is too deep for the engine."""


def unmatched(
    table: Table, columns: Sequence[str], tokens: Sequence[str], *, option: str = "--missing"
) -> tuple[str, ...]:
    """Return one sentence for each token of *option* that stands in none of *columns*.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tallystick.table import scan
    >>> table = scan(pa.table({"gpt": ["yes", "NA"], "claude": ["-1.0", "no"]}))
    >>> unmatched(table, table.columns, ("NA", "-1", "none"))
    ("--missing none: no cell of 'gpt', 'claude' is 'none' (upper and lower case matter)",)
    """
    kinds = table.kinds

    def stands(token: str) -> bool:
        return any(
            _stands_in(
                table, {name: kinds[name] for name in columns[start : start + _AT_ONCE]}, token
            )
            for start in range(0, len(columns), _AT_ONCE)
        )

    absent = [token for token in tokens if token and not stands(token)]
    return _not_there(columns, absent, option)


def unmatched_labels(
    labels: Mapping[str, Sequence[Label]], columns: Sequence[str], tokens: Sequence[str]
) -> tuple[str, ...]:
    """Return what `unmatched` says of a table, from the different labels of its columns.

    >>> unmatched_labels({"gpt": ("yes", "NA", None)}, ["gpt"], ("NA", "none"))
    ("--missing none: no cell of 'gpt' is 'none' (upper and lower case matter)",)
    """

    def stands(token: str) -> bool:
        only = frozenset((token,))
        held = (label for name in columns for label in labels[name])
        return any(is_missing(label, only) and not is_missing(label) for label in held)

    absent = [token for token in tokens if token and not stands(token)]
    return _not_there(columns, absent, "--missing")


def _not_there(columns: Sequence[str], tokens: Sequence[str], option: str) -> tuple[str, ...]:
    shown = ", ".join(map(repr, columns[:4])) + (
        f" … ({len(columns)} in all)" if len(columns) > 4 else ""
    )
    return tuple(
        f"{option} {token}: no cell of {shown} is {token!r} (upper and lower case matter)"
        for token in tokens
    )


def _stands_in(table: Table, kinds: Mapping[str, Kind], token: str) -> bool:
    found = [
        f"({without_missing(name, kind, ())} is not null and"
        f" {without_missing(name, kind, (token,))} is null)"
        for name, kind in kinds.items()
    ]
    return bool(table.query(f"select 1 from rows where {' or '.join(found)} limit 1"))


def check_numbers(
    table: Table,
    column: str,
    *,
    missing: Sequence[str] | None = None,
    low: float | None = None,
    high: float | None = None,
) -> None:
    """Refuse a column of numbers that holds anything but finite numbers within bounds.

    Parameters
    ----------
    table, column
        What to check.
    missing
        Tokens for "no number", besides blank and NaN; None means that no number may be missing.
    low, high
        The bounds, themselves allowed.
    """
    if column not in table.columns:
        raise InputError(missing_column(column, table.columns, table.source))
    cell = without_missing(column, table.kinds[column], missing or ())
    number = as_number("cell", table.kinds[column])
    faults = ["number is null and cell is not null", "not isfinite(number)"]
    faults += ["cell is null"] if missing is None else []
    faults += [f"number < {float(low)!r}"] if low is not None else []
    faults += [f"number > {float(high)!r}"] if high is not None else []
    found = table.query(
        f"select place, cell from (select row_number() over () as place, cell, {number} as number"
        f" from (select {cell} as cell from rows)) where {' or '.join(faults)} order by place"
        " limit 1"
    )
    if not found:
        return
    [(row, value)] = found
    ends = [
        f"{word} {end:g}" for word, end in (("at least", low), ("at most", high)) if end is not None
    ]
    wanted = ", ".join(["a finite number", *ends])
    told = "is missing" if value is None else f"is {value!r}"
    # A probability of 57.8 is one in per cent: every row is off, not this one.
    hint = "; if the column is in per cent, divide it by 100" if high == 1.0 and low == 0.0 else ""
    is_token = missing is not None and value is not None and "," not in str(value)
    token = f", or add --missing={value} if it means no answer" if is_token else ""
    raise InputError(
        f"{table.place(row)}: column {column!r} {told}, but must be {wanted}: correct the cell, or"
        f" remove the row{token}{hint}"
    )
