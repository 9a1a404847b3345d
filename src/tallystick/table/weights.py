"""What a row stands for: how many rows it counts as, how much it weighs, whether it is a copy.

``count`` says how many identical rows one row stands for. Such rows are written out, so every
method sees the same table as without the column. ``weight`` is a sampling weight: it moves means
and never the number of rows, so equal weights are the same as none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tallystick.errors import InputError
from tallystick.table.cells import as_number, identifier, literal
from tallystick.table.reading_names import ROLE_NAMES, plain
from tallystick.table.roles import Roles
from tallystick.table.scanning import scan
from tallystick.table.tables import Table
from tallystick.table.tally import Tally

MOST_REPEATED = 50_000_000
"""Rows that counts are spread to at most, for questions that need rows."""

_COPY = "copy of a row"
_WANTED = {
    "count": "a whole number from 0 on: how many identical rows it stands for. Sampling weights are"
    " named by --weight",
    "weight": "a number from 0 on",
}


@dataclass(frozen=True, eq=False)
class Settled:
    """Rows whose counts and weights were checked, the roles that are left, and a note."""

    held: Table | Tally
    roles: Roles
    notes: tuple[str, ...] = ()


def settle(held: Table | Tally, roles: Roles, source: str, *, spread: bool) -> Settled:
    """Check counts and weights; leave out rows of count or weight 0, and weights that are equal.

    Parameters
    ----------
    held
        A table or a tally.
    roles
        Which columns count and weigh the rows.
    source
        What messages call it.
    spread
        Whether to write rows out as often as their count says.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tallystick.table import scan
    >>> found = settle(scan(pa.table({"a": [1, 0], "n": [2, 1]})), Roles(count="n"), "", spread=True)
    >>> found.held.query("select * from rows"), found.roles.count
    ([(1,), (1,), (0,)], None)
    """
    notes: tuple[str, ...] = ()
    for role in ("count", "weight"):
        name = getattr(roles, role)
        if name is None:
            continue
        low, high = _range(held, name, role, source)
        if role == "count" and roles.item is not None and isinstance(held, Table):
            _refuse_two_counts(held, name, roles.item)
        if high == 0:
            raise InputError(f"{source}: every {role} in {name!r} is 0, so no row is left")
        held = _positive(held, name) if low == 0 else held
        if role == "weight" and (low == high or _range(held, name, role, source)[0] == high):
            held, roles = _without(held, name), replace(roles, weight=None)
        elif role == "count" and spread and isinstance(held, Table):
            held, roles = written_out(held, name, roles.item), replace(roles, count=None)
    return Settled(held, roles, notes)


def refuse_weight(roles: Roles, verb: str) -> None:
    """Refuse unequal sampling weights where a method rests on numbers of rows."""
    if roles.weight is not None:
        raise InputError(
            f"{verb} counts rows, and the sampling weights {roles.weight!r} are unequal: leave out"
            f" --weight {roles.weight}. If a row stands for several identical ones, say --count"
            f" {roles.weight}"
        )


def written_out(table: Table, count: str, item: str | None) -> Table:
    """Return the table with each row as often as its count says, each copy an item of its own."""
    number = _number(table, count)
    [(total, most)] = table.query(f"select sum({number}), max({number}) from rows")
    if total > MOST_REPEATED:
        raise InputError(
            f"{table.source} stands for {int(total):,} rows, and they are needed one by one: count"
            f" it first (tallystick tally FILE --count {count} -o T.tally), and give the tally"
        )
    kept = tuple(name for name in table.columns if name != count)
    cells = {name: identifier(name) for name in kept}
    if item in cells and most > 1:
        # The copies of one item in several rows (systems, runs) belong together again.
        again = f"' #' || ({identifier(_COPY)} + 1)"
        text = f"cast({identifier(item)} as varchar)"
        cells[item] = f"{text} || case when {identifier(_COPY)} = 0 then '' else {again} end"
    chosen = ", ".join(f"{cell} as {identifier(name)}" for name, cell in cells.items())
    copies = f"unnest(range(cast({number} as bigint))) as {identifier(_COPY)}"
    return _derived(table, f"select {chosen} from (select *, {copies} from rows)", kept)


def _derived(table: Table, sql: str, columns: tuple[str, ...] | None = None) -> Table:
    """Return the table that *sql* makes; its rows no longer stand where they stood in the file."""
    source = f"{table.source}, as counts and weights leave it"
    columns = table.columns if columns is None else columns
    relation = table.derive(sql)
    return replace(table, relation=relation, columns=columns, source=source, parts=())


def _number(table: Table, name: str) -> str:
    return as_number(identifier(name), table.kinds[name])


def _range(held: Table | Tally, name: str, role: str, source: str) -> tuple[float, float]:
    """Return the least and the greatest number; a cell that is none is refused with its row."""
    if isinstance(held, Table):
        return _range_of_table(held, name, role)
    if role == "count":
        raise InputError(
            f"{source} is counted already: name {name!r} when the table is counted"
            f" (tallystick tally FILE --count {name} -o T.tally)"
        )
    numbers = list(numbers_in(held, name).values())
    return min(numbers), max(numbers)


def _range_of_table(table: Table, name: str, role: str) -> tuple[float, float]:
    number = _number(table, name)
    fits = f"{number} >= 0 and isfinite({number})"
    fits += f" and {number} = floor({number})" if role == "count" else ""
    bad = table.query(
        "select place, cell from (select row_number() over () as place,"
        f" {identifier(name)} as cell,"
        f" coalesce({fits}, false) as fits from rows) where not fits order by place limit 1"
    )
    if bad:
        [(row, cell)] = bad
        shown = "blank" if cell is None or not str(cell).strip() else repr(cell)
        raise _no_number(table.place(int(row)), role, name, shown)
    [(low, high)] = table.query(f"select min({number}), max({number}) from rows")
    if low is None:
        raise InputError(f"{table.source} has no rows")
    return float(low), float(high)


def _no_number(place: object, role: str, name: str, shown: str) -> InputError:
    return InputError(f"{place}: the {role} {name!r} is {shown}; it must be {_WANTED[role]}")


def _refuse_two_counts(table: Table, count: str, item: str) -> None:
    """Refuse an item whose rows say two counts: its copies could not be put together again."""
    number = _number(table, count)
    for name, low, high in table.query(
        f"select {identifier(item)}, min({number}), max({number}) from rows"
        f" group by all having min({number}) < max({number}) limit 1"
    ):
        raise InputError(
            f"item {name!r} has the count {low:g} in one row and {high:g} in another: give its rows"
            " one count"
        )


def numbers_in(tally: Tally, name: str) -> Mapping[Any, float]:
    """Return the weight that each label of a counted column stands for."""
    found: dict[Any, float] = {}
    for label in tally.labels[name]:
        try:
            found[label] = float("nan" if label is None else label)
        except ValueError:
            found[label] = float("nan")
        if not 0 <= found[label] < float("inf"):
            shown = "blank" if label is None else repr(label)
            raise _no_number("a counted row", "weight", name, shown)
    return found


def _positive(held: Table | Tally, name: str) -> Table | Tally:
    """Return the rows that count, or weigh, more than 0."""
    if isinstance(held, Table):
        return _derived(held, f"select * from rows where {_number(held, name)} > 0")
    kept = [label for label, number in numbers_in(held, name).items() if number > 0]
    return sum((held.where(**{name: label}) for label in kept), Tally())


def _without(held: Table | Tally, name: str) -> Table | Tally:
    """Return the rows without a column that says nothing, so that nobody takes it for a vote."""
    if isinstance(held, Table):
        kept = tuple(one for one in held.columns if one != name)
        return replace(
            held, relation=held.relation.project(", ".join(map(identifier, kept))), columns=kept
        )
    return held.marginal([one for one in held.names if one != name])


# Copies of a row: a file that was appended twice holds rows that are equal in every column. Counted
# twice, they make every interval too narrow.


_MOST_ROWS = 2_000_000
"""Rows of which copies are dropped; a larger table is left as it is."""

_MOST_COPIES = 3
"""Rows per different row above which a column names groups of rows rather than items."""

_ACCIDENT = 0.001
"""Probability with which equal rows may be an accident, such as two outputs that both passed."""


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
    ([(40,)], ("copies of other rows with the same 'id', left out: 8",))
    """
    if roles.weight is not None:
        return table, ()
    every = ", ".join(map(identifier, table.columns))
    for name in _items(table, roles):
        keys = (name, *beside)
        others = ", ".join(identifier(one) for one in table.columns if one not in keys)
        if not others or not table.repeats(*keys):
            continue
        [(rows, named)] = table.query(f"select count(*), count({identifier(name)}) from rows")
        if named < rows or rows > _MOST_ROWS:
            continue
        [(different, outputs, alike)] = table.query(
            f"select (select count(*) from (select distinct {every} from rows)), (select count(*)"
            f" from (select distinct {', '.join(map(identifier, keys))} from rows)), (select"
            f" sum(n * n) from (select count(*)::double as n from rows group by {others}))"
        )
        accident = float(alike / rows**2) ** (rows - different)
        if different > outputs or rows > _MOST_COPIES * different or accident > _ACCIDENT:
            continue
        kept = table.arrow(
            f"select {every} from (select *, row_number() over () as place_ from rows)"
            f" qualify row_number() over (partition by {every} order by place_) = 1 order by place_"
        )
        note = f"copies of other rows with the same {name!r}, left out: {rows - different:,}"
        # A row of what is left has no line of its own in the file.
        return replace(table, relation=scan(kept).relation, parts=()), (note,)
    return table, ()


def _items(table: Table, roles: Roles) -> list[str]:
    """Return the columns that may name items, the likeliest first."""
    if roles.item is not None:
        return [roles.item]
    held = {*roles.holders(), *table.left_out, *table.doubtful}
    free = [name for name in table.columns if name not in held]
    return [name for name in free if plain(name) in ROLE_NAMES["item"]]


# What stands below the rows of a sheet: blank lines, and rows that sum up the others.
#
# A row called Total or Average is no item. Counted as one, a total of 144 among cells of 0 and 1
# turns a clear difference into none.


_SUMS = (
    *("total", "totals", "grand total", "subtotal", "sum", "average", "avg", "mean", "median"),
    *("overall", "count", "std", "stdev", "all", "accuracy", "score", "summary"),
    *("summe", "gesamt", "durchschnitt", "mittelwert", "somme", "moyenne", "promedio", "media"),
)
"""How people head such a row, in lower case, without a colon."""

_MOST_SUMS, _FEWEST_ITEMS = 3, 5
_MOST_BYTES, _LONGEST_SHEET = 64_000_000, 1 << 20
"""Size and rows of a file up to which somebody may have written a line below its rows."""


def without_summary(table: Table, given: Roles) -> Table:
    """Return *table* without blank lines at its end, and without totals and means below its rows.

    Only rows at the very end are left out. A total is known by the column of items, and only where
    no other row is called so.

    Examples
    --------
    >>> import pyarrow as pa
    >>> rows = pa.table({"id": ["a", "b", "c", "d", "e", "Total"], "new": [1, 0, 1, 1, 0, 3]})
    >>> table = without_summary(scan(rows), Roles())
    >>> table.query("select count(*) from rows"), table.notes
    ([(5,)], ("left out below the rows, as they sum up the others: 'Total'",))
    """
    size = sum(path.stat().st_size for path in table.files if path.is_file())
    if size > _MOST_BYTES or not table.columns:
        return table
    [(rows,)] = table.query("select count(*) from rows")
    if rows > _LONGEST_SHEET:
        return table
    usual = [name for name in table.columns if plain(name) in ROLE_NAMES["item"]]
    named = given.item or next(iter(usual), table.columns[0])
    item = identifier(named)
    filled = " or ".join(f"{identifier(name)} is not null" for name in table.columns)
    sums = f"rtrim(lower(trim({item}::varchar)), ': ') in ({', '.join(map(literal, _SUMS))})"
    numbered = (
        f"(select row_number() over () as place, {item}::varchar as cell, ({filled}) as filled,"
        f" {sums} as sums from rows)"
    )
    # Numbering a million rows takes longer than to see that none of them is blank.
    [(blank,)] = table.query(f"select count(*) from rows where not ({filled})")
    last = rows
    if blank and table.files:
        [(last,)] = table.query(f"select coalesce(max(place), {rows}) from {numbered} where filled")
    found = []
    if table.kinds.get(named) not in ("integer", "float"):  # a number is never a word
        found = table.query(
            f"select place, cell from {numbered} where sums order by place limit {_MOST_SUMS + 1}"
        )
    left, notes = last - len(found), table.notes
    below = [place for place, _ in found] == list(range(left + 1, last + 1))
    if below and 0 < len(found) <= _MOST_SUMS and left >= _FEWEST_ITEMS:
        cells, last = ", ".join(repr(cell.strip()) for _, cell in found), left
        notes = (*notes, f"left out below the rows, as they sum up the others: {cells}")
    if last == rows:
        return table
    return replace(table, relation=table.derive(f"select * from rows limit {last}"), notes=notes)
