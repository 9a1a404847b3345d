"""Hold what the caller says of the columns against the table: every column exists, has one role,
and names items only once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any

from tallystick.data.detect.names import ITEM_NAMES, is_identifier, is_item, plain
from tallystick.data.roles import GROUPS, Roles
from tallystick.errors import InputError
from tallystick.io import Table, identifier
from tallystick.io.nearest import missing_column

__all__ = ["ColumnNames", "assign", "check_usable", "expand", "find_item", "first_repeat"]

_NEARLY = 0.9
"""Share of rows that are different outputs, above which repeated ones are a mistake."""


@dataclass(frozen=True, kw_only=True)
class ColumnNames:
    """The columns of something that is counted already: all that roles need of a table.

    Parameters
    ----------
    columns, source, left_out, doubtful
        As in `tallystick.io.Table`.
    """

    columns: tuple[str, ...]
    source: str
    left_out: Mapping[str, str] = field(default_factory=dict)
    doubtful: Mapping[str, str] = field(default_factory=dict)


def assign(table: Table | ColumnNames, given: Roles, *, coerce: bool = False) -> Roles:
    """Return *given* with commas and globs expanded; refuse by name what the table does not have.

    One column has one role, except that a table may be sliced by any of its columns.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tallystick.io import scan
    >>> table = scan(pa.table({"id": [1, 2], "gold": [0, 1], "lr_a": [0, 1], "lr_b": [1, 1]}))
    >>> assign(table, Roles(truth="gold", judges=("lr_?",))).judges
    ('lr_a', 'lr_b')
    """
    taken: dict[str, str] = {}
    for role, column in given.__dict__.items():
        if role in GROUPS or column is None:
            continue
        check_usable(table, column, coerce=coerce)
        if column in taken and "by" not in (role, taken[column]):
            raise InputError(
                f"column {column!r} is given as {taken[column]} and as {role}: name two different"
                " columns"
            )
        taken.setdefault(column, role)

    # A slice may be cut by any column, so that role takes nothing away from the groups.
    held = {column: role for column, role in taken.items() if role != "by"}
    groups: dict[str, Any] = {
        role: expand(getattr(given, role), table, held) for role in sorted(GROUPS)
    }
    for columns in groups.values():
        for column in columns:
            check_usable(table, column, coerce=coerce)
    return replace(given, **groups)


def expand(
    patterns: Sequence[str], table: Table | ColumnNames, taken: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    """Return the columns that names, comma lists and globs mean, each once, in the order given.

    A glob passes over columns that have another role; naming such a column outright is refused.
    """
    held = taken or {}
    found: dict[str, None] = {}
    for pattern in patterns:
        if not isinstance(pattern, str):
            raise InputError(f"a column is named by its text, got {pattern!r}")
        pieces = [pattern] if pattern in table.columns else pattern.split(",")
        for piece in pieces:
            name = piece if piece in table.columns else piece.strip()
            if name in table.columns and name in held:
                raise InputError(
                    f"column {name!r} is given as {held[name]} and in a group of columns: choose"
                    " one"
                )
            found.update(dict.fromkeys(_matches(table, name, held)))
    return tuple(found)


def _matches(table: Table | ColumnNames, name: str, taken: Mapping[str, str]) -> list[str]:
    if name in table.columns:
        return [name]
    usable = [column for column in table.columns if column not in {*taken, *table.left_out}]
    matches = [column for column in usable if fnmatchcase(column, name)] if name else []
    if not matches and any(sign in name for sign in "*?["):
        raise InputError(
            f"no column of {table.source} matches {name!r}. It has {', '.join(table.columns[:8])}"
        )
    if not matches:
        raise InputError(_reason(table, name) or missing_column(name, table.columns, table.source))
    return matches


def check_usable(table: Table | ColumnNames, column: str, *, coerce: bool = False) -> None:
    """Refuse a column that is not there, holds nested values, or mixes types."""
    if not isinstance(column, str):
        raise InputError(f"a column is named by its text, got {column!r}")
    reason = _reason(table, column)
    if reason is not None:
        raise InputError(reason)
    if column not in table.columns:
        raise InputError(missing_column(column, table.columns, table.source))
    if column in table.doubtful and not coerce:
        raise InputError(f"{table.source}: {table.doubtful[column]}")


def _reason(table: Table | ColumnNames, column: str) -> str | None:
    return f"{table.source}: {table.left_out[column]}" if column in table.left_out else None


def find_item(
    table: Table, roles: Roles, *, repeats: bool, beside: Sequence[str] = ()
) -> tuple[Roles, tuple[str, ...]]:
    """Return the roles with the column of items, where one can be told, and notes.

    Parameters
    ----------
    table, roles
        What was read, and what the caller named.
    repeats
        Whether an item may have several rows (replicates, systems, rounds).
    beside
        Columns, such as the system, with which an item is named once.
    """
    if roles.item is not None:
        blank = table.row_of(roles.item, None)
        if blank is not None:
            raise InputError(
                f"{blank}: the item column {roles.item!r} is blank. Name every item, or remove the"
                " row"
            )
        twice = None if repeats else first_repeat(table, roles.item)
        if twice is not None:
            raise InputError(
                f"duplicate item {twice[0]} in column {roles.item!r}, at {twice[1]} and"
                f" {twice[2]}: keep one row per item. If each row is one vote, say --shape long"
            )
        return roles, ()

    # A usual name and a different value in every row: both are needed to call it the item.
    holders = roles.holders()
    doubtful: tuple[str, ...] = ()
    for name in table.columns:
        free = name not in holders and name not in table.left_out and name not in table.doubtful
        if not (free and plain(name) in ITEM_NAMES):
            continue
        if table.row_of(name, None) is None and first_repeat(table, name, *beside) is None:
            return replace(roles, item=name), (f"column {name!r} names the items",)
        doubtful = (*doubtful, name)
    if beside:
        found = _item_of_outputs(table, roles, doubtful, beside)
        if found is not None:
            return replace(roles, item=found), (f"column {found!r} names the items",)
    if repeats or not doubtful:
        return roles, ()
    return roles, (
        f"column {doubtful[0]!r} is named like the items but repeats or has blanks, so every row"
        " counts as an item of its own. Keep one row per item, or rename the column",
    )


def _item_of_outputs(
    table: Table, roles: Roles, doubtful: Sequence[str], beside: Sequence[str]
) -> str | None:
    """Return an identifier that systems share, and that names an output once per system.

    A usual name whose values repeat in a few rows only is a mistake in the table, and is refused.
    """
    held = {*roles.holders(), *table.left_out, *table.doubtful}
    for name in table.columns:
        if name in held or name in doubtful or not (is_identifier(name) or is_item(name)):
            continue
        shared = first_repeat(table, name) is not None
        whole = table.row_of(name, None) is None
        if shared and whole and first_repeat(table, name, *beside) is None:
            return name
    for name in doubtful:
        keys = ", ".join(identifier(part) for part in (name, *beside))
        [(rows, outputs)] = table.query(
            f"select count(*), (select count(*) from (select distinct {keys} from rows)) from rows"
        )
        twice = first_repeat(table, name, *beside)
        if twice is not None and rows > outputs >= _NEARLY * rows:
            raise InputError(
                f"{name} and {' and '.join(beside)} {twice[0]} occur twice, at {twice[1]} and"
                f" {twice[2]}: keep one row per output. If {name!r} does not name the items, say"
                " which column does (--item)"
            )
    return None


def first_repeat(table: Table, column: str, *beside: str) -> tuple[str, str, str] | None:
    """Return the first value that occurs twice, and the two places; None if all differ.

    With *beside*, values of several columns together are looked at.
    """
    if not table.repeats(column, *beside):
        return None
    names = ", ".join(f"{identifier(name)} as key{i}" for i, name in enumerate((column, *beside)))
    held = ", ".join(f"key{i}" for i in range(1 + len(beside)))
    [(*values, places)] = table.query(
        f"select {held}, list(place order by place) from "
        f"(select {names}, row_number() over () as place from rows) "
        f"group by {held} having count(*) > 1 order by min(place) limit 1"
    )
    shown = " and ".join(map(repr, values))
    return shown, str(table.place(places[0])), str(table.place(places[1]))
