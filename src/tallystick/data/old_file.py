"""Old answers in a second file: joined by item."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tallystick.data.assign import check_usable, find_item, first_repeat
from tallystick.data.layout import Layout
from tallystick.data.roles import Roles
from tallystick.errors import InputError
from tallystick.io import Table, connect, identifier, scan
from tallystick.io.nearest import missing_column

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["join_old"]


def join_old(table: Table, given: Roles, layout: Layout) -> tuple[Table, Roles, tuple[str, ...]]:
    """Return *table* with the old answers of the second file, the roles, and a note.

    The second file may hold more items than the table. It must hold every item of the table, once.
    Its column may have the name of a column of the table (the truth of that time, say): the joined
    column then gets a name of its own.

    Parameters
    ----------
    table
        What was read.
    given
        The roles that the caller named; the item joins the two files.
    layout
        Names the second file.
    """
    roles, _ = find_item(table, replace(given, old=None), repeats=False)
    item = roles.item
    with scan([str(layout.old_file)], delimiter=layout.delimiter) as past:
        if item is None:
            raise InputError(
                f"{past.source} holds old answers and is joined by item: name the column of items"
                " (--item)"
            )
        for one in (table, past):
            if item not in one.columns:
                raise InputError(missing_column(item, one.columns, one.source))
        old = _old(past, item, given)
        twice = first_repeat(past, item)
        if twice is not None:
            raise InputError(
                f"{past.source} has item {twice[0]} twice, at {twice[1]} and {twice[2]}: keep one"
                " old answer per item"
            )
        cells = past.arrow(f"select {_key(item)} as key_, {identifier(old)} as old_ from rows")
        source, files = past.source, past.files

    rows = _joined(table, item, cells, source)
    # A name that the table has already would stand for two things.
    name = old
    while name in table.columns:
        name = f"{name} (old file)"
    relation = connect().from_arrow(rows.rename_columns([*table.columns, name]))
    joined = replace(
        table,
        relation=relation,
        columns=tuple(relation.columns),
        files=(*table.files, *files),
    )
    note = f"{source}: {rows.num_rows:,} old answers joined by {item}"
    return joined, replace(given, item=item, old=name), (note,)


def _old(past: Table, item: str, given: Roles) -> str:
    """Return the column of old answers: the one that is named, or the only one there is."""
    if given.old is not None:
        check_usable(past, given.old)
        return given.old
    others = [name for name in past.columns if name != item]
    if len(others) != 1:
        listed = ", ".join(map(repr, others[:6])) or "no other column"
        raise InputError(
            f"{past.source} has {listed} beside {item!r}: name the column of old answers (--old)"
        )
    return others[0]


def _key(item: str) -> str:
    # Compared as trimmed text: one file may hold numbers where the other holds their digits.
    return f"trim(cast({identifier(item)} as varchar))"


def _joined(table: Table, item: str, cells: pa.Table, source: str) -> pa.Table:
    """Return the rows with their old answers as the last column."""
    import pyarrow.compute as pc

    rows = table.arrow(f"select *, {_key(item)} as key_ from rows")
    keys = rows["key_"].combine_chunks()
    places = pc.index_in(keys, value_set=cells["key_"].combine_chunks())
    absent = keys.filter(pc.is_null(places))
    if len(absent):
        more = f" and so are {len(absent) - 1:,} more" if len(absent) > 1 else ""
        raise InputError(
            f"item {absent[0].as_py()!r} is missing from the old file {source}{more}: every item"
            " needs its old answer there"
        )
    found = cells["old_"].combine_chunks().take(places)
    return rows.drop_columns("key_").append_column("old_", found)
