"""Columns of numbers, read strictly: what is not a number is refused with its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tallystick.errors import InputError
from tallystick.table.cells import (
    as_number,
    identifier,
    is_missing,
    is_nan,
    literal,
    without_missing,
)
from tallystick.table.engine import as_numpy
from tallystick.table.tables import Table
from tallystick.table.words import as_pass_fail, is_no_answer

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_MOST_WORDS = 64
_AT_ONCE = 50
"""Columns in one query: more make DuckDB's plans slow."""


def read_numbers(
    table: Table,
    columns: Sequence[str],
    missing: Sequence[str],
    *,
    low: float | None = None,
    high: float | None = None,
) -> npt.NDArray[np.float64]:
    """Return *columns* as numbers, NaN where there is no answer.

    Words for no answer are missing. A column that holds nothing but words for pass and fail counts
    them as 1 and 0. Everything else that is not a finite number within *low* and *high* raises
    `InputError` with its row.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tallystick.table import scan
    >>> table = scan(pa.table({"a": ["0.5", "NA"], "b": ["pass", "fail"]}))
    >>> read_numbers(table, ["a", "b"], ()).tolist()
    [[0.5, 1.0], [nan, 0.0]]
    """
    import numpy as np

    found: dict[str, npt.NDArray[np.float64]] = {}
    for start in range(0, len(columns), _AT_ONCE):
        block = list(dict.fromkeys(columns[start : start + _AT_ONCE]))
        found.update(_plain(table, block, missing, low, high))
    for name in columns:
        if name not in found:
            found[name] = _column(table, name, missing, low, high)
    return np.stack([found[name] for name in columns], axis=1) if columns else np.zeros((0, 0))


def _plain(
    table: Table,
    names: Sequence[str],
    missing: Sequence[str],
    low: float | None,
    high: float | None,
) -> dict[str, npt.NDArray[np.float64]]:
    """Return the columns that hold numbers within bounds and nothing else, in two queries."""
    import numpy as np

    kinds = {n: table.kinds[n] for n in names if table.kinds[n] != "other"}
    if not kinds:
        return {}
    cells = {name: without_missing(name, kind, missing) for name, kind in kinds.items()}
    counts = ", ".join(f"count({cell})" for cell in cells.values())
    [filled] = table.query(f"select {counts} from rows")
    numbers = ", ".join(
        f"{as_number(f'({cell})', kinds[name])} as c{k}"
        for k, (name, cell) in enumerate(cells.items())
    )
    fetched = table.arrow(f"select {numbers} from rows")

    # What is left to the slow way: a cell that is no number, or a number that is refused there.
    found = {}
    for k, (name, cells_seen) in enumerate(zip(kinds, filled, strict=True)):
        values = np.asarray(as_numpy(fetched[f"c{k}"]), dtype=np.float64)
        held = values[~np.isnan(values)]
        within = (low is None or held >= low) & (high is None or held <= high)
        if len(held) == cells_seen and bool(np.all(np.isfinite(held) & within)):
            found[name] = values
    return found


def _column(
    table: Table, name: str, missing: Sequence[str], low: float | None, high: float | None
) -> npt.NDArray[np.float64]:
    """Return a column that holds words, or a number that is refused by its place."""
    import numpy as np

    kind, tokens = table.kinds[name], tuple(missing)
    words = _words(table, name, tokens) if kind == "text" else []
    # Words for no answer, as they are written.
    tokens += tuple(word.strip() for word in words if is_no_answer(word))
    marks = as_pass_fail([word for word in words if not is_no_answer(word)] or [""])
    cell = without_missing(name, kind, tokens)
    number = as_number(f"({cell})", kind)
    if marks is None or table.query(f"select 1 from rows where isfinite({number}) limit 1"):
        _check_numbers(table, name, tokens, low, high)
    else:
        cases = " ".join(f"when {_text(str(word))} then {worth!r}" for word, worth in marks.items())
        number = f"case {cell} {cases} end"
    fetched = table.arrow(f"select {number} as number from rows")["number"]
    return np.asarray(as_numpy(fetched), dtype=np.float64)


def _words(table: Table, name: str, tokens: Sequence[str]) -> list[str]:
    """Return cells that are no numbers or NaN, each once."""
    kind = table.kinds[name]
    cell = without_missing(name, kind, tokens)
    number = as_number("word", kind)
    rows = table.query(
        f"select distinct word from (select {cell} as word from rows) where word is not null and"
        f" coalesce({is_nan(number)}, true) limit {_MOST_WORDS + 1}"
    )
    return sorted(str(word) for (word,) in rows)


def _text(word: str) -> str:
    if "\x00" in word:
        raise InputError(f"a cell holds a zero byte: {word!r}")
    return literal(word)


# Numbers as people write them: ``90%``, ``0,854`` and ``1.034,5`` are 0.9, 0.854 and 1034.5.
#
# Only if every cell is written like that, words for no answer aside. ``1,234`` may be a thousand or
# a little more than one: a column that shows groups of thousands is refused where it is used.


_PER_CENT = r"\s*[+-]?[0-9]+([.,][0-9]+)?\s*%\s*"
_COMMA = r"\s*[+-]?[0-9]+(,[0-9]+)?\s*"
_THOUSANDS = r"\s*[+-]?[1-9][0-9]{0,2}(,[0-9]{3})+\s*"

_GROUP = "[., \u00a0\u202f\u2009'][0-9]{3}"
_LONG = f"[+-]?[1-9][0-9]{{0,2}}({_GROUP})+([.,][0-9]+)?"
"""A number whose thousands stand apart, in English, German, French or Swiss writing."""
_CLEAR = f"[+-]?[1-9][0-9]{{0,2}}(({_GROUP}){{2,}}|{_GROUP}[.,][0-9]+|[^.,][0-9]{{3}})"
"""Such a number that cannot be a little more than one: two groups, or decimals behind a group."""
_SHORT = "[+-]?[0-9]{1,3}([.,][0-9]+)?"

_LEAST_WHOLE = 0.1
"""Share of whole numbers from 100 to 999 that shows that longer ones are written in groups."""
_LEAST_DIFFERENT = 5

_LOOKED = 500
_WRITTEN_NUMBERS_MOST_WORDS = 20


def with_plain_numbers(table: Table, missing: Sequence[str] = ()) -> Table:
    """Return *table* with per cent signs and decimal commas read, and a note on each column.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tallystick.table import scan
    >>> table = with_plain_numbers(scan(pa.table({"gpt": ["90%", "5 %", ""], "x": ["0,5", "0,1", "NA"]})))
    >>> table.query("select * from rows")
    [('0.9', '0.5'), ('0.05', '0.1'), ('', 'NA')]
    >>> print(*table.notes, sep="; ")
    column 'gpt': '90%' is read as 0.9; column 'x': '0,5' is read as 0.5
    """
    texts = [
        name for name, kind in table.kinds.items() if kind == "text" and name not in table.left_out
    ]
    if not texts or not _is_likely(table, texts):
        return table
    table = replace(table, doubtful={**table.doubtful, **_in_groups(table, texts, missing)})
    free = [name for name in texts if name not in table.doubtful]
    found = {name: _cell(table, name, missing) for name in free}
    cells = {name: cell for name, cell in found.items() if cell is not None}
    if not cells:
        return table
    notes = tuple(_note(table, name, cell) for name, cell in cells.items())
    every = ", ".join(
        f"{cells[name]} as {identifier(name)}" if name in cells else identifier(name)
        for name in table.columns
    )
    relation = table.derive(f"select {every} from rows")
    return replace(table, relation=relation, notes=(*table.notes, *notes))


def _is_likely(table: Table, texts: Sequence[str]) -> bool:
    """Say whether the first rows show such a number anywhere."""
    tests = " or ".join(
        f"(regexp_full_match({identifier(name)}, {literal(_PER_CENT)})"
        f" or regexp_full_match({identifier(name)}, {literal(_COMMA)})"
        f" and contains({identifier(name)}, ',')"
        f" or regexp_full_match(trim({identifier(name)}), {literal(_LONG)}))"
        for name in texts
    )
    return bool(table.query(f"select 1 from (select * from rows limit {_LOOKED}) where {tests}"))


def _cell(table: Table, name: str, missing: Sequence[str]) -> str | None:
    """Return the SQL of a column in plain digits; None if it stays."""
    cell = identifier(name)
    plain = f"replace(replace(replace(trim({cell}), '%', ''), ' ', ''), ',', '.')"
    for pattern, number in (
        (_PER_CENT, f"cast(round(cast({plain} as double) / 100, 12) as varchar)"),
        (_COMMA, plain),
    ):
        fits = f"regexp_full_match({cell}, {literal(pattern)})"
        sure = f"{fits} and not regexp_full_match({cell}, {literal(_THOUSANDS)})"
        sign = "%" if pattern == _PER_CENT else ","
        # One such cell among plain numbers is a slip of the pen.
        some = f"select distinct {cell} from rows where {sure} and contains({cell}, '{sign}')"
        enough = 2 if sign == "," else 1
        if _fits_all(table, cell, fits, missing) and len(table.query(f"{some} limit 2")) >= enough:
            return f"case when {fits} then {number} else {cell} end"
    return None


def _in_groups(table: Table, names: Sequence[str], missing: Sequence[str]) -> dict[str, str]:
    """Return why columns of numbers in groups of thousands cannot be used as they are."""
    found: dict[str, str] = {}
    is_shown = False
    for name in names:
        cell = identifier(name)
        is_long, is_clear, is_short, is_whole = (
            f"regexp_full_match(trim({cell}), {literal(pattern)})"
            for pattern in (_LONG, _CLEAR, _SHORT, "[1-9][0-9]{2}")
        )
        [(cells, longs, clear, whole, different, example)] = table.query(
            f"select count({cell}), count(*) filter ({is_long}), count(*) filter ({is_clear}),"
            f" count(*) filter ({is_whole}), count(distinct {cell}) filter ({is_whole}),"
            f" max(trim({cell})) filter ({is_long}) from rows"
        )
        if longs and _fits_all(table, cell, f"({is_long} or {is_short})", missing):
            shown = whole >= _LEAST_WHOLE * cells and min(different, longs) >= _LEAST_DIFFERENT
            is_shown |= bool(clear) or shown
            found[name] = (
                f"column {name!r} writes thousands in groups, as {example!r}: write plain numbers,"
                " such as 1234.5"
            )
    return found if is_shown else {}


def _fits_all(table: Table, cell: str, fits: str, missing: Sequence[str]) -> bool:
    """Say whether every cell is written so, words for no answer aside."""
    others = table.query(
        f"select distinct {cell} from rows where {cell} is not null and not {fits}"
        f" limit {_WRITTEN_NUMBERS_MOST_WORDS + 1}"
    )
    tokens = frozenset(missing)
    silent = all(is_missing(word, tokens) or is_no_answer(word) for (word,) in others)
    return silent and len(others) <= _WRITTEN_NUMBERS_MOST_WORDS


def _note(table: Table, name: str, cell: str) -> str:
    written = identifier(name)
    odd = f"trim({written}) <> {cell}"
    [(before, after)] = table.query(
        f"select {written}, {cell} from rows where {written} is not null"
        f" and ({odd}) order by {written} desc limit 1"
    )
    return f"column {name!r}: {before.strip()!r} is read as {after}"


# Columns of numbers that hold something else.


def _check_numbers(
    table: Table, column: str, missing: Sequence[str], low: float | None, high: float | None
) -> None:
    """Refuse a column of numbers that holds anything but finite numbers within bounds."""
    cell = without_missing(column, table.kinds[column], missing)
    number = as_number("cell", table.kinds[column])
    faults = ["number is null and cell is not null", "not isfinite(number)"]
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
    # A probability of 57.8 is one in per cent: every row is off, not this one.
    hint = "; if the column is in per cent, divide it by 100" if (low, high) == (0.0, 1.0) else ""
    token = "" if "," in str(value) else f", or add --missing={value} if it means no answer"
    raise InputError(
        f"{table.place(row)}: column {column!r} is {value!r}, but must be {wanted}: correct the"
        f" cell, or remove the row{token}{hint}"
    )
