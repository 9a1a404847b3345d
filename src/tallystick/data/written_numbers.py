"""Numbers as people write them: ``90%`` and ``0,854`` are read as 0.9 and 0.854.

A column is read so only if every one of its cells is written like that, words for no answer aside.
``1,234`` may be a thousand or a little more than one: a column of nothing but such cells is left as
it is, and is asked about where scores are needed.
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
    cells = {name: cell for name in texts if (cell := _cell(table, name, missing)) is not None}
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
        f" and contains({identifier(name)}, ','))"
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
        others = table.query(
            f"select distinct {cell} from rows where {cell} is not null and not {fits}"
            f" limit {_MOST_WORDS + 1}"
        )
        tokens = frozenset(missing)
        silent = all(is_missing(word, tokens) or is_no_answer(word) for (word,) in others)
        # One such cell among plain numbers is a slip of the pen.
        some = f"select distinct {cell} from rows where {sure} and contains({cell}, '{sign}')"
        enough = 2 if sign == "," else 1
        if len(others) <= _MOST_WORDS and silent and len(table.query(f"{some} limit 2")) >= enough:
            return f"case when {fits} then {number} else {cell} end"
    return None


def _note(table: Table, name: str, cell: str) -> str:
    written = identifier(name)
    odd = f"contains({written}, '%') or contains({written}, ',')"
    [(before, after)] = table.query(
        f"select {written}, {cell} from rows where {written} is not null"
        f" and ({odd}) order by {written} desc limit 1"
    )
    return f"column {name!r}: {before.strip()!r} is read as {after}"
