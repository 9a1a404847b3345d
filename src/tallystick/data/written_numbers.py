"""Numbers as people write them: ``90%``, ``0,854`` and ``1.034,5`` are 0.9, 0.854 and 1034.5.

A column is read so only if every one of its cells is written like that, words for no answer aside.
``1,234`` and ``1.234`` may be a thousand or a little more than one. They are a thousand where the
column shows it: by a number such as 1.234,5 or 1,234,567, or because its other cells are whole
numbers from 100 to 999 and none is longer. A column of nothing but such cells with a comma is left
as it is, and is asked about where scores are needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tallystick.io import Table, identifier
from tallystick.values import is_missing, is_no_answer
from tallystick.values.sql import literal

__all__ = ["with_plain_numbers"]

_PER_CENT = r"\s*[+-]?[0-9]+([.,][0-9]+)?\s*%\s*"
_COMMA = r"\s*[+-]?[0-9]+(,[0-9]+)?\s*"
_THOUSANDS = r"\s*[+-]?[1-9][0-9]{0,2}(,[0-9]{3})+\s*"

_GROUPED = (
    (",", "."),
    (".", ","),
    ("[ \u00a0\u202f\u2009']", ","),
    ("[ \u00a0\u202f\u2009']", "."),
)
"""What stands between thousands, and before decimals: English, German, French, Swiss."""

_LEAST_WHOLE = 0.1
"""Share of whole numbers from 100 to 999 that shows that longer ones are written in groups."""
_LEAST_DIFFERENT = 5

_ANY_GROUPS = "\\s*[+-]?[1-9][0-9]{0,2}([., \u00a0\u202f\u2009'][0-9]{3})+([.,][0-9]+)?\\s*"

_LOOKED = 500
_MOST_WORDS = 20


def with_plain_numbers(table: Table, missing: Sequence[str] = ()) -> Table:
    """Return *table* with per cent signs and decimal commas read, and a note on each column.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tallystick.io import scan
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
    cells = _in_groups(table, texts, missing)
    for name in texts:
        cell = None if name in cells else _cell(table, name, missing)
        if cell is not None:
            cells[name] = cell
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
    """Say whether the first rows show such a number anywhere, so that it is worth looking."""
    tests = " or ".join(
        f"(regexp_full_match({identifier(name)}, {literal(_PER_CENT)})"
        f" or regexp_full_match({identifier(name)}, {literal(_COMMA)})"
        f" and contains({identifier(name)}, ',')"
        f" or regexp_full_match({identifier(name)}, {literal(_ANY_GROUPS)}))"
        for name in texts
    )
    return bool(table.query(f"select 1 from (select * from rows limit {_LOOKED}) where {tests}"))


def _cell(table: Table, name: str, missing: Sequence[str]) -> str | None:
    """Return the SQL of a column with its numbers in plain digits; None if it is left as it is."""
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
    """Return the SQL of the columns whose thousands are written in groups.

    A table is written in one way: what one column shows holds for all that can be read so.
    """
    for group, point in _GROUPED:
        found: dict[str, str] = {}
        sure = False
        for name in names:
            cell = _groups_of(table, identifier(name), group, point, missing)
            if cell is not None:
                found[name], shows = cell
                sure |= shows
        if sure:
            return found
    return {}


def _groups_of(
    table: Table, cell: str, group: str, point: str, missing: Sequence[str]
) -> tuple[str, bool] | None:
    """Return a column read in groups, and whether it shows that it is written so."""
    mark = group if group.startswith("[") else f"[{group}]"
    sign = r"\s*[+-]?"
    long = f"{sign}[1-9][0-9]{{0,2}}({mark}[0-9]{{3}})+([{point}][0-9]+)?\\s*"
    clear = f"{sign}[1-9][0-9]{{0,2}}({mark}[0-9]{{3}})+([{point}][0-9]+|{mark}[0-9]{{3}})\\s*"
    short = f"{sign}[0-9]{{1,3}}([{point}][0-9]+)?\\s*"
    is_long, is_clear, is_short, is_whole = (
        f"regexp_full_match({cell}, {literal(pattern)})"
        for pattern in (long, clear, short, r"\s*[1-9][0-9]{2}\s*")
    )
    [(cells, longs, clears, wholes, different)] = table.query(
        f"select count({cell}), count(*) filter ({is_long}), count(*) filter ({is_clear}),"
        f" count(*) filter ({is_whole}), count(distinct {cell}) filter ({is_whole}) from rows"
    )
    if not longs or not _fits_all(table, cell, f"({is_long} or {is_short})", missing):
        return None
    shown = wholes >= _LEAST_WHOLE * cells and min(different, longs) >= _LEAST_DIFFERENT
    digits = f"regexp_replace(trim({cell}), {literal(mark)}, '', 'g')"
    number = f"replace({digits}, '{point}', '.')"
    written = f"case when {is_long} or {is_short} then {number} else {cell} end"
    return written, clears > 0 or shown or group.startswith("[")


def _fits_all(table: Table, cell: str, fits: str, missing: Sequence[str]) -> bool:
    """Say whether every cell is written so, words for no answer aside."""
    others = table.query(
        f"select distinct {cell} from rows where {cell} is not null and not {fits}"
        f" limit {_MOST_WORDS + 1}"
    )
    tokens = frozenset(missing)
    silent = all(is_missing(word, tokens) or is_no_answer(word) for (word,) in others)
    return silent and len(others) <= _MOST_WORDS


def _note(table: Table, name: str, cell: str) -> str:
    written = identifier(name)
    odd = f"trim({written}) <> {cell}"
    [(before, after)] = table.query(
        f"select {written}, {cell} from rows where {written} is not null"
        f" and ({odd}) order by {written} desc limit 1"
    )
    return f"column {name!r}: {before.strip()!r} is read as {after}"
