"""A second file of labels, joined by item, and by system where there is one."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from tallystick.errors import InputError
from tallystick.table.cells import identifier, literal
from tallystick.table.columnar import parquet_relation
from tallystick.table.engine import connect, reading
from tallystick.table.reading_names import ROLE_NAMES, plain
from tallystick.table.roles import Layout, Roles, check_usable
from tallystick.table.scanning import scan
from tallystick.table.sources import missing_column, scratch
from tallystick.table.tables import Table, blank_cell

_LEAST_SHARED = 20
"""Items of a table from which a file that labels every one of them is taken to be its own."""

_KEY = "'\x1f'"
"""Joins item and system into one key; no name holds this control character."""


def join_truth(
    table: Table, given: Roles, layout: Layout, *, outputs: bool = False
) -> tuple[Table, Roles, tuple[str, ...]]:
    """Return *table* with the truth of the second file, the roles, and how many labels landed.

    A key of the second file that repeats or contradicts a truth in the table raises `InputError`.
    So do keys that match no row, unless the file labels every item of the table, as a file does
    that serves several tables: the others are then left out, and a note says it.

    Parameters
    ----------
    table
        What was read.
    given
        The roles that the caller named: the item (and the system) join the two files.
    layout
        Names the second file.
    outputs
        Whether the labels are of outputs: where an item was run several times, each has its own.
    """
    with scan([str(layout.truth_file)]) as labels:
        keys = _keys(table, labels, given, outputs)
        truth = _column(labels, keys, given.truth)
        left_over = _check(table, labels, keys, truth)
        said, source = _written(labels, keys, truth), labels.source
        joined, landed = with_labels(table, truth, said, _key_sql(keys), source)
    note = f"{source}: {landed:,} labels joined by {' and '.join(keys)}"
    if left_over:
        note += f"; {left_over:,} are for items that {table.source} does not have, and are left out"
    joined = replace(joined, files=(*table.files, *labels.files))
    return joined, replace(given, truth=truth), (note,)


def _keys(table: Table, labels: Table, given: Roles, outputs: bool) -> tuple[str, ...]:
    """Return the columns that join the two files: the item, the system, and the replicate."""
    usual = [n for n in table.columns if plain(n) in ROLE_NAMES["item"] and n in labels.columns]
    item = given.item or next(iter(usual), None)
    if item is None:
        shared = [name for name in table.columns if name in labels.columns and name != given.truth]
        hint = f"; both files have {', '.join(map(repr, shared[:4]))}" if shared else ""
        raise InputError(
            f"{labels.source} is joined by item: name the column of items (--item){hint}"
        )
    wanted = [item, *([given.system] if given.system else [])]
    if given.system and given.system not in labels.columns:
        # With one system there is nothing to tell apart: people grade items.
        systems = f"select count(distinct {identifier(given.system)}) from rows"
        if given.system in table.columns and table.query(systems)[0][0] == 1:
            wanted = [item]
    if outputs and given.replicate is not None:
        wanted.append(given.replicate)
    for name in wanted:
        for one in (table, labels):
            if name not in one.columns:
                raise InputError(missing_column(name, one.columns, one.source))
    return tuple(wanted)


def _written(labels: Table, keys: tuple[str, ...], column: str) -> Path:
    """Write the labels with their keys to a scratch file."""
    said = scratch_file("labels-")
    with reading(labels.source):
        cells = f"select {_key_sql(keys)} as key_, {identifier(column)} as label_ from rows"
        labels.derive(cells).write_parquet(str(said))
    return said


def _column(labels: Table, keys: tuple[str, ...], named: str | None) -> str:
    """Return the column of labels: the one that is named, or the only one there is."""
    if named is not None:
        check_usable(labels, named)
        return named
    others = [name for name in labels.columns if name not in keys]
    if len(others) == 1:
        return others[0]
    listed = ", ".join(map(repr, others[:6])) or "nothing"
    raise InputError(
        f"{labels.source} has {listed} beside {' and '.join(map(repr, keys))}: name the column of"
        " the truth (--truth)"
    )


def _key_sql(keys: tuple[str, ...]) -> str:
    # Compared as trimmed text: one file may hold numbers where the other holds their digits.
    parts = (f"trim(cast({identifier(name)} as varchar))" for name in keys)
    return f" || {_KEY} || ".join(parts)


def _check(table: Table, labels: Table, keys: tuple[str, ...], truth: str) -> int:
    """Refuse keys that match nothing; return how many labels are over."""
    _refuse_twice(labels, keys, truth)
    key, value = _key_sql(keys), identifier(truth)
    known = {name for (name,) in table.query(f"select distinct {key} from rows")}
    given = [name for (name,) in labels.query(f"select {key} from rows where {value} is not null")]
    strangers = [name for name in given if name not in known]
    # One file of labels may serve several tables: then it has a label for every item of this one.
    shared = known <= set(given) and len(known) >= _LEAST_SHARED
    if strangers and not shared:
        listed = ", ".join(_readable(name) for name in strangers[:3])
        raise InputError(
            f"{labels.source}: {len(strangers):,} of {len(given):,} labels are for items that"
            f" {table.source} does not have, such as {listed}. Check"
            f" {' and '.join(map(repr, keys))} in both files"
        )
    return len(strangers)


def _refuse_twice(labels: Table, keys: tuple[str, ...], column: str) -> None:
    """Refuse keys that are blank or repeat."""
    for name in keys:
        place = labels.row_of(name, None)
        if place is not None:
            raise blank_cell(place, "item", name)
    for name, values in labels.query(
        f"select {_key_sql(keys)}, count(distinct {identifier(column)}) from rows group by 1"
        " having count(*) > 1 limit 1"
    ):
        say = "with different labels" if values > 1 else "twice"
        raise InputError(
            f"{labels.source} names {_readable(name)} ({' and '.join(map(repr, keys))}) {say}: keep"
            " one label per item"
        )


def with_labels(
    table: Table, truth: str, said: Path, key: str, source: str | None = None
) -> tuple[Table, int]:
    """Return the table with labels in its column *truth*, and how many of its rows have one.

    *said* is a scratch file of ``key_`` and ``label_``, and *key* the SQL of a row's key. A label
    that the table holds stays; one that differs from the file named *source* is refused.
    """
    value, path = identifier(truth), scratch_file("truth-")
    cells = {name: identifier(name) for name in table.columns}
    cells[truth] = "label_"
    own = f"nullif(trim(cast({value} as varchar)), '')"
    if truth in table.columns:
        kind = table.relation.select(value).types[0]
        cells[truth] = f"cast(coalesce({own}, cast(label_ as varchar)) as {kind})"
    chosen = ", ".join(f"{cell} as {identifier(name)}" for name, cell in cells.items())
    with reading(table.source):
        both = table.derive(
            f"select * from (select *, {key} as key_, row_number() over () as place_ from rows)"
            f" left join read_parquet({literal(str(said))}) using (key_)"
        )
        if truth in table.columns and source is not None:
            clashes = both.filter(f"{own} <> trim(cast(label_ as varchar))").order("place_")
            for mine, other in clashes.limit(1).project(f"{value}, label_").fetchall():
                raise InputError(
                    f"{table.source} and {source} disagree on {truth!r}: {mine!r} and {other!r} for"
                    " one item. Correct one of them"
                )
        [(landed,)] = both.aggregate("count(label_)").fetchall()
        both.order("place_").project(chosen).write_parquet(str(path))
    said.unlink()
    relation = parquet_relation(connect(), [path])
    spools = (*table.spools, path)
    held = replace(table, relation=relation, columns=tuple(relation.columns), spools=spools)
    return held, int(landed)


def scratch_file(prefix: str) -> Path:
    """Return a new Parquet file among the scratch files."""
    with tempfile.NamedTemporaryFile(
        dir=scratch(), prefix=prefix, suffix=".parquet", delete=False
    ) as made:
        return Path(made.name)


def _readable(key: str) -> str:
    return " / ".join(repr(part) for part in str(key).split("\x1f"))
