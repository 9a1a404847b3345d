"""Old answers in a second file: joined by item."""

from __future__ import annotations

from dataclasses import replace

from tallystick.data.assign import check_usable, find_item, first_repeat
from tallystick.data.layout import Layout
from tallystick.data.roles import Roles
from tallystick.errors import InputError
from tallystick.io import Table, connect, identifier, scan
from tallystick.io.nearest import missing_column

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
        cells = past.derive(
            f"select {_key(item)} as key_, {identifier(old)} as old_ from rows"
        ).to_arrow_table()
        source, files = past.source, past.files
    return _joined(table, given, item, old, cells, (source, files))


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


def _joined(
    table: Table, given: Roles, item: str, old: str, cells: object, past: tuple[str, tuple]
) -> tuple[Table, Roles, tuple[str, ...]]:
    import pyarrow.compute as pc

    source, files = past
    rows = table.derive(f"select *, {_key(item)} as key_ from rows").to_arrow_table()
    keys = rows["key_"].combine_chunks()
    places = pc.index_in(keys, value_set=cells["key_"].combine_chunks())
    if places.null_count:
        absent = keys.filter(pc.is_null(places))
        raise InputError(
            f"item {absent[0].as_py()!r} is missing from the old file {source}, and so are"
            f" {len(absent) - 1:,} more: every item needs its old answer there"
            if len(absent) > 1
            else f"item {absent[0].as_py()!r} is missing from the old file {source}: every item"
            " needs its old answer there"
        )

    # A name that the table has already would stand for two things.
    name = old
    while name in table.columns:
        name = f"{name} (old file)"
    found = cells["old_"].combine_chunks().take(places)
    joined = rows.drop_columns("key_").append_column(name, found)
    relation = connect().from_arrow(joined)
    note = f"{source}: {len(found):,} old answers joined by {item}"
    return (
        replace(
            table,
            relation=relation,
            columns=tuple(relation.columns),
            files=(*table.files, *files),
        ),
        replace(given, item=item, old=name),
        (note,),
    )
