"""What stands below the rows of a sheet: blank lines, and rows that sum up the others.

A row called Total or Average is no item. Counted as one, a total of 144 among cells of 0 and 1
turns a clear difference into none.
"""

from __future__ import annotations

from dataclasses import replace

from tallystick.data.detect.names import ITEM_NAMES
from tallystick.data.roles import Roles
from tallystick.io import Table, identifier
from tallystick.values.sql import literal

__all__ = ["without_summary"]

_WORDS = (
    *("total", "totals", "grand total", "subtotal", "sum", "average", "avg", "mean", "median"),
    *("overall", "count", "std", "stdev", "all", "accuracy", "score", "summary"),
    *("summe", "gesamt", "durchschnitt", "mittelwert", "somme", "moyenne", "promedio", "media"),
)
"""How people head such a row, in lower case, without a colon."""

_MOST = 3
_FEWEST_ITEMS = 5
_MOST_BYTES = 64_000_000
"""Size of a file up to which somebody may have written a line below its rows."""


def without_summary(table: Table, given: Roles) -> Table:
    """Return *table* without blank lines at its end, and without totals and means below its rows.

    Only rows at the very end are left out. A total is known by the column of items, and only where
    no other row is called so.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tallystick.data.roles import Roles
    >>> from tallystick.io import scan
    >>> rows = pa.table({"id": ["a", "b", "c", "d", "e", "Total"], "new": [1, 0, 1, 1, 0, 3]})
    >>> table = without_summary(scan(rows), Roles())
    >>> table.query("select count(*) from rows"), table.notes
    ([(5,)], ("the last row ('Total') sums up the others: it is left out",))
    """
    if _is_large(table):
        return table
    table = _without_blank_lines(table)
    names = [given.item] if given.item is not None else _first_names(table)
    for name in names:
        if name not in table.columns or table.kinds[name] != "text":
            continue
        word = f"rtrim(lower(trim({identifier(name)})), ': ')"
        listed = ", ".join(map(literal, _WORDS))
        found = table.query(
            f"select place, rows, cell from (select row_number() over () as place,"
            f" count(*) over () as rows, {identifier(name)} as cell, {word} as word from rows)"
            f" where word in ({listed}) limit {_MOST + 1}"
        )
        if not found:
            continue
        rows = found[0][1]
        places = [place for place, _, _ in found]
        last = list(range(rows - len(found) + 1, rows + 1))
        if len(found) > _MOST or places != last or rows - len(found) < _FEWEST_ITEMS:
            return table
        kept = table.derive(f"select * from rows limit {rows - len(found)}")
        cells = ", ".join(repr(str(cell).strip()) for _, _, cell in found)
        what = "row" if len(found) == 1 else f"{len(found)} rows"
        verb = "sums up the others: it is" if len(found) == 1 else "sum up the others: they are"
        note = f"the last {what} ({cells}) {verb} left out"
        return replace(table, relation=kept, notes=(*table.notes, note))
    return table


def _without_blank_lines(table: Table) -> Table:
    """Leave out lines such as ``,,`` at the end of a text file, as spreadsheets write them."""
    if not table.files or not table.columns:
        return table
    some = ", ".join(f"cast({identifier(name)} as varchar)" for name in table.columns)
    [(rows, last)] = table.query(
        f"select count(*), max(place) filter (cell is not null) from (select row_number() over ()"
        f" as place, coalesce({some}{', null' if len(table.columns) == 1 else ''}) as cell from"
        " rows)"
    )
    if last is None or last == rows:
        return table
    note = f"{rows - last:,} blank {'line' if rows - last == 1 else 'lines'} at the end: left out"
    kept = table.derive(f"select * from rows limit {last}")
    return replace(table, relation=kept, notes=(*table.notes, note))


def _first_names(table: Table) -> list[str]:
    """Return the columns that may name the items: those of a usual name, and the first one."""
    usual = [name for name in table.columns if name.strip().lower() in ITEM_NAMES]
    return list(dict.fromkeys([*usual, *table.columns[:1]]))


def _is_large(table: Table) -> bool:
    return sum(path.stat().st_size for path in table.files if path.is_file()) > _MOST_BYTES
