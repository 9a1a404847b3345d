"""Items that have several rows although one is expected: copies of a row, or several criteria.

A file that was appended twice holds rows that are equal in every column. Counted twice, they make
every interval too narrow. Rows that answer different questions about one output (helpful, harmless)
are told apart by a column of criteria, and are answered one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tallystick.data.detect.names import CRITERIA, ITEM_NAMES, is_identifier, is_item, plain
from tallystick.data.roles import Roles
from tallystick.io import Table, identifier, scan

__all__ = ["find_criterion", "several_rows", "without_copies"]

_MOST_ROWS = 2_000_000
"""Rows of which copies are dropped; a larger table is left as it is."""

_MOST_COPIES = 3
"""Rows per different row above which a column names groups of rows rather than items."""

_ACCIDENT = 0.001
"""Probability with which equal rows may be an accident, such as two outputs that both passed."""

_LEAST_ITEMS = 20


def without_copies(
    table: Table, roles: Roles, beside: Sequence[str]
) -> tuple[Table, tuple[str, ...]]:
    """Return *table* with each row once, where every repeated item is a copy of the whole row.

    Two rows that are not copies are equal in everything but the item with the probability *p* that
    two rows drawn at random are. All *m* repeated rows are then equal with probability
    :math:`p^m`: where that may be an accident, the rows stay, and are refused or said as before.

    Parameters
    ----------
    table, roles
        What was read, and the roles known so far.
    beside
        Columns, such as the system, with which an item is named once.

    Examples
    --------
    >>> import pyarrow as pa
    >>> rows = pa.table({"id": range(40), "gpt": [0, 1] * 20, "answer": ["a", "b", "c", "d"] * 10})
    >>> kept, notes = without_copies(scan(pa.concat_tables([rows, rows[:8]])), Roles(), ())
    >>> kept.query("select count(*) from rows"), notes
    ([(40,)], ("8 rows are copies of another row with the same 'id': each is counted once",))
    """
    if roles.weight is not None:
        return table, ()
    for name in _names(table, roles):
        if not table.repeats(name, *beside):
            continue
        every = ", ".join(map(identifier, table.columns))
        keys = ", ".join(map(identifier, (name, *beside)))
        [(rows, outputs)] = table.query(
            f"select count(*), count(distinct ({keys})) from rows where {identifier(name)}"
            " is not null"
        )
        [(whole, different)] = table.query(
            f"select (select count(*) from rows), count(*) from (select distinct {every} from rows)"
        )
        if not (rows == whole <= _MOST_ROWS and different == outputs < rows):
            continue
        if rows > _MOST_COPIES * different or _may_be_accident(table, (name, *beside), rows):
            continue
        kept = table.arrow(
            f"select {every} from (select *, row_number() over () as place_ from rows)"
            f" qualify row_number() over (partition by {every} order by place_) = 1 order by place_"
        )
        copies = rows - different
        what = "1 row is a copy" if copies == 1 else f"{copies:,} rows are copies"
        note = f"{what} of another row with the same {name!r}: each is counted once"
        # A row of what is left has no line of its own in the file.
        return replace(table, relation=scan(kept).relation, parts=()), (note,)
    return table, ()


def _may_be_accident(table: Table, keys: Sequence[str], rows: int) -> bool:
    """Say whether rows with equal keys may be equal in all other columns by chance."""
    others = ", ".join(identifier(name) for name in table.columns if name not in keys)
    if not others:
        return True
    named = ", ".join(map(identifier, keys))
    [(same, different)] = table.query(
        "select (select sum(n * n) from (select count(*)::double as n from rows group by"
        f" {others})), (select count(*) from (select distinct {named} from rows))"
    )
    return bool(float(same / rows**2) ** (rows - different) > _ACCIDENT)


def find_criterion(
    table: Table, roles: Roles, ignored: Sequence[str] = ()
) -> tuple[Roles, tuple[str, ...]]:
    """Return the roles with the column of criteria, where one tells the rows of an output apart.

    It has a usual name, and the item and the system repeat without it and not with it.
    """
    if roles.criterion is not None or roles.system is None:
        return roles, ()
    held = {*roles.holders(), *ignored, *table.left_out, *table.doubtful}
    likely = [name for name in table.columns if plain(name) in CRITERIA and name not in held]
    for item in _names(table, roles):
        if not likely or not table.repeats(item, roles.system):
            continue
        telling = [name for name in likely if not table.repeats(item, roles.system, name)]
        if len(telling) == 1:
            note = (
                f"column {telling[0]!r} tells the rows of each {item!r} apart: one answer for each"
                f" of its values. To pool them, add --ignore {telling[0]}"
            )
            return replace(roles, criterion=telling[0]), (note,)
    return roles, ()


def several_rows(table: Table, roles: Roles, beside: Sequence[str]) -> str | None:
    """Return a warning where items have several rows per system and none of them is named."""
    if roles.item is not None or not beside:
        return None
    for name in _names(table, roles):
        if not table.repeats(name, *beside):
            continue
        keys = ", ".join(map(identifier, (name, *beside)))
        [(rows, outputs, items)] = table.query(
            f"select count(*), count(distinct ({keys})), count(distinct {identifier(name)})"
            f" from rows where {identifier(name)} is not null"
        )
        # Few values with many rows each are groups, such as tasks, and no items.
        if items < _LEAST_ITEMS or rows > _MOST_COPIES * outputs:
            continue
        return (
            f"{rows:,} rows are {outputs:,} different pairs of {name!r} and {beside[0]!r}: every"
            " row counts as an output of its own, so the intervals may be too narrow. Keep one row"
            " per output, or name the column that tells them apart (--criterion)"
        )
    return None


def _names(table: Table, roles: Roles) -> list[str]:
    """Return the columns that may name items, the likeliest first."""
    if roles.item is not None:
        return [roles.item]
    held = {*roles.holders(), *table.left_out, *table.doubtful}
    free = [name for name in table.columns if name not in held]
    usual = [name for name in free if plain(name) in ITEM_NAMES]
    return usual or [name for name in free if is_identifier(name) or is_item(name)]
