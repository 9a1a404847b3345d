"""Tables of outputs: which column is the system, and wide tables turned into one row per output.

A wide table has one row per item and the columns ``A.gpt``, ``A.human``, ``B.gpt``, …: the system,
a separator, and the judge or the human grade. A table of preferences has two columns that name the
two systems of each row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tallystick.data.detect.names import QUALITIES, plain, tokens
from tallystick.data.grade_columns import is_human
from tallystick.data.layout import Layout
from tallystick.data.roles import Roles
from tallystick.errors import InputError
from tallystick.io import Table, identifier, scan
from tallystick.values.sql import literal

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyRelation

__all__ = ["PREFERENCES", "SYSTEM_NAMES", "find_outputs"]

SYSTEM_NAMES = (
    "system",
    "model",
    "system_id",
    "model_id",
    "system_name",
    "model_name",
    "variant",
    "bot",
    "agent",
    "assistant",
    "pipeline",
)
"""How people head the column of systems."""

PREFERENCES = (("a", "b"), ("system_a", "system_b"), ("model_a", "model_b"))
"""How people head the two columns of systems in a table of preferences."""

_SEPARATORS = (".", "__", "/", ":", "|")
"""Separators that are looked for where no system is named."""

_MORE_SEPARATORS = (*_SEPARATORS, "_", "-", " ")
"""Separators that are tried where the systems are named."""

_SYSTEM = "system"


@dataclass(frozen=True)
class _Grid:
    """Columns by system and by what they hold of it."""

    separator: str
    columns: Mapping[str, Mapping[str, str]]

    @property
    def parts(self) -> tuple[str, ...]:
        """What the columns hold of a system, in the order of the table."""
        return tuple(dict.fromkeys(part for held in self.columns.values() for part in held))


def find_outputs(
    table: Table, given: Roles, layout: Layout
) -> tuple[Table, Roles, tuple[str, ...]]:
    """Return a table with one row per output, the roles with the system, and notes.

    Parameters
    ----------
    table
        What was read.
    given
        The roles that the caller named. *systems* names the systems of a wide table, or the two
        columns of a table of preferences.
    layout
        May name the separator.

    Examples
    --------
    >>> import pyarrow as pa
    >>> wide = scan(pa.table({"id": [1, 2], "A.gpt": [1, 0], "B.gpt": [1, 1], "A.human": [1, None]}))
    >>> long, roles, notes = find_outputs(wide, Roles(truth="human"), Layout())
    >>> long.columns, roles.system
    (('id', 'system', 'gpt', 'human'), 'system')
    >>> print(notes[0])
    columns like 'A.gpt' hold 2 systems (A, B): read as one row per output
    """
    if given.system is not None:
        if given.systems:
            raise InputError(
                "system names the column of a long table and systems those of a wide one: name one"
                " of them"
            )
        return table, given, ()
    named = _named(given.systems)
    if len(named) == 2 and all(name in table.columns for name in named):
        return table, replace(given, systems=named), ()
    grid = _grid(table, named, layout.separator)
    usual = {plain(name) for name in table.columns} & set(SYSTEM_NAMES)
    if grid is None and not named and layout.separator is None and not usual:
        grid = _human_grid(table)
    if grid is not None:
        return _unfolded(table, given, grid)
    if named or layout.separator:
        raise InputError(_no_grid(table, named, layout.separator))
    return table, *_found_by_name(table, given)


def _named(systems: Iterable[str]) -> tuple[str, ...]:
    return tuple(part.strip() for text in systems for part in text.split(",") if part.strip())


def _found_by_name(table: Table, given: Roles) -> tuple[Roles, tuple[str, ...]]:
    """Return the roles with a column of systems, or two, that has a usual name."""
    lower = {plain(name): name for name in table.columns}
    held = given.holders()
    for pair in PREFERENCES:
        both = tuple(lower[name] for name in pair if name in lower)
        if len(both) == 2 and not any(name in held for name in both):
            note = f"columns {both[0]!r} and {both[1]!r} name the two systems of each row"
            return replace(given, systems=both), (note,)
    for name in SYSTEM_NAMES:
        if name in lower and lower[name] not in held:
            note = f"column {lower[name]!r} names the systems"
            return replace(given, system=lower[name]), (note,)
    return given, ()


def _grid(table: Table, systems: Sequence[str], separator: str | None) -> _Grid | None:
    """Return the columns by system, None if the table has no such columns."""
    tried = (separator,) if separator else (_MORE_SEPARATORS if systems else _SEPARATORS)
    for sign in tried:
        found = _split(table.columns, systems, sign)
        shared = set.intersection(*map(set, found.values())) if found else set()
        # Two systems of which the same thing is known: less than that is an accident of names.
        if shared and (len(found) >= 2 or systems) and (not systems or set(found) == set(systems)):
            return _Grid(sign, found)
        if systems:
            found = _split(table.columns, systems, sign, last=True)
            if set(found) == set(systems) and set.intersection(*map(set, found.values())):
                return _Grid(sign, found)
    return None


def _human_grid(table: Table) -> _Grid | None:
    """Return the columns by system where people's grades give the systems away.

    ``old_gpt, old_human, new_gpt, new_human``: a name before ``human`` is a system only if the same
    judges are there for each of them. So is a name after it (``gpt_old, human_old``). Names of what
    is graded (``human_style``) are no systems.
    """
    for sign in _MORE_SEPARATORS:
        heads = {
            column[: -len(part) - len(sign)]: part
            for column in table.columns
            for part in [column.rpartition(sign)[2]]
            if is_human(part) and column != part
        }
        tails = {
            column[len(part) + len(sign) :]: part
            for column in table.columns
            for part in [column.partition(sign)[0]]
            if is_human(part) and column != part
        }
        # Words such as "human_score" name what people gave, and no system.
        last = len(heads) < 2 and len(tails) >= 2
        systems = [name for name in (tails if last else heads) if name]
        if len(systems) < 2 or any(set(tokens(name)) & QUALITIES for name in systems):
            continue
        found = _split(table.columns, systems, sign, last=last)
        parts = list(map(set, found.values()))
        if (
            len(found) == len(systems)
            and all(one == parts[0] for one in parts)
            and len(parts[0]) > 1
        ):
            return _Grid(sign, found)
    return None


def _split(
    columns: Sequence[str], systems: Sequence[str], separator: str, *, last: bool = False
) -> dict[str, dict[str, str]]:
    """Return the columns by system and part; the system stands first, or *last*."""
    found: dict[str, dict[str, str]] = {name: {} for name in systems}
    for column in columns:
        if last:
            tails = [name for name in systems if column.endswith(separator + name)]
            system = max(tails, key=len, default="")
            part = column[: -len(separator + system)]
        elif systems:
            heads = [name for name in systems if column.startswith(name + separator)]
            system = max(heads, key=len, default="")
            part = column[len(system) + len(separator) :]
        else:
            # The last separator counts: "gpt-4.1.claude" is what claude says of gpt-4.1.
            system, _, part = column.rpartition(separator)
        if system and part:
            found.setdefault(system, {})[part] = column
    return {system: parts for system, parts in found.items() if parts}


def _no_grid(table: Table, systems: Sequence[str], separator: str | None) -> str:
    sign = separator or "."
    wanted = systems[0] if systems else "A"
    shown = ", ".join(table.columns[:8])
    return (
        f"{table.source}: no columns like '{wanted}{sign}JUDGE' for each of"
        f" {', '.join(systems) or 'the systems'}. It has {shown}. Name the separator (--separator),"
        " or the column of systems of a long table (--system)"
    )


def _unfolded(table: Table, given: Roles, grid: _Grid) -> tuple[Table, Roles, tuple[str, ...]]:
    """Return one row per item and system, the systems of an item one after the other."""
    taken = {column for held in grid.columns.values() for column in held.values()}
    shared = [name for name in table.columns if name not in taken]
    clash = next((name for name in (_SYSTEM, *grid.parts) if name in shared), None)
    if clash is not None:
        raise InputError(
            f"{table.source} has a column {clash!r} beside columns like"
            f" {next(iter(taken))!r}: rename one of them"
        )
    relation = _relation(table, grid, shared)
    if relation is None:
        relation = scan(_stacked(table, grid, shared)).relation
    long = replace(
        table,
        relation=relation,
        columns=tuple(relation.columns),
        parts=(),  # a row of the table is no row of a file any more
        left_out={k: v for k, v in table.left_out.items() if k not in taken},
        doubtful={k: v for k, v in table.doubtful.items() if k not in taken},
    )
    names = ", ".join(grid.columns)
    example = next(iter(next(iter(grid.columns.values())).values()))
    note = (
        f"columns like {example!r} hold {len(grid.columns)} systems ({names}): read as one row per"
        " output"
    )
    return long, replace(given, system=_SYSTEM, systems=()), (note,)


def _relation(table: Table, grid: _Grid, shared: Sequence[str]) -> DuckDBPyRelation | None:
    """Return the outputs as a query, so that rows stay in the engine; None where types differ."""
    types = dict(zip(table.columns, map(str, table.relation.types), strict=True))
    lists = {_SYSTEM: [literal(name) for name in grid.columns]}
    for part in grid.parts:
        columns = [held.get(part) for held in grid.columns.values()]
        if len({types[name] for name in columns if name is not None}) > 1:
            return None
        lists[part] = ["null" if name is None else identifier(name) for name in columns]
    # Lists of one length are unfolded together: one row per system, in the order of the table.
    unfolded = (
        f"unnest([{', '.join(cells)}]) as {identifier(name)}" for name, cells in lists.items()
    )
    return table.derive(f"select {', '.join([*map(identifier, shared), *unfolded])} from rows")


def _stacked(table: Table, grid: _Grid, shared: Sequence[str]) -> pa.Table:
    """Return the outputs as a table in memory, with types that hold those of every system."""
    import numpy as np
    import pyarrow as pa

    arrow = table.arrow("select * from rows")
    blocks = []
    for system, held in grid.columns.items():
        columns = {name: arrow[name] for name in shared}
        columns[_SYSTEM] = pa.chunked_array([pa.array([system] * arrow.num_rows, pa.string())])
        columns |= {
            part: arrow[held[part]] if part in held else pa.nulls(arrow.num_rows)
            for part in grid.parts
        }
        blocks.append(pa.table(columns))
    try:
        joined = pa.concat_tables(blocks, promote_options="permissive")
    except pa.ArrowTypeError as error:
        raise InputError(
            f"{table.source}: the columns of one judge hold numbers for one system and words for"
            f" another ({str(error).partition(': ')[2]}): write both alike"
        ) from error
    order = np.arange(joined.num_rows).reshape(len(blocks), -1).T.ravel()
    return joined.take(pa.array(order))
