"""Shapes: a long table gets one column per judge, a wide one of outputs one row per output.

A wide table of outputs has the columns ``A.gpt``, ``A.human``, ``B.gpt``: system and judge.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from shlex import quote
from typing import TYPE_CHECKING

from tallystick.errors import AskError, InputError
from tallystick.table.cells import identifier, literal
from tallystick.table.columnar import parquet_relation
from tallystick.table.engine import connect, reading
from tallystick.table.reading_names import ROLE_NAMES, is_truth_name, lower_word, plain
from tallystick.table.roles import Layout, Roles, first_repeat
from tallystick.table.sources import MAX_COLUMNS, check_names
from tallystick.table.tables import Table, blank_cell
from tallystick.table.truth import scratch_file

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

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
    >>> from tallystick.table import scan
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
    if not named and layout.separator is None and _are_columns(table, given):
        return table, *_found_by_name(table, given)
    grid = _grid(table, named, layout.separator)
    usual = {plain(name) for name in table.columns} & set(ROLE_NAMES["system"])
    if grid is None and not named and layout.separator is None and not usual:
        grid = _human_grid(table)
    if grid is not None:
        return _unfolded(table, given, grid)
    if named or layout.separator:
        raise InputError(_no_grid(table, named, layout.separator))
    return table, *_found_by_name(table, given)


def _are_columns(table: Table, given: Roles) -> bool:
    named = _named(given.judges)
    return bool(named) and all(name in table.columns for name in named)


def _named(systems: Iterable[str]) -> tuple[str, ...]:
    return tuple(part.strip() for text in systems for part in text.split(",") if part.strip())


def _found_by_name(table: Table, given: Roles) -> tuple[Roles, tuple[str, ...]]:
    lower = {plain(name): name for name in table.columns}
    held = given.holders()
    for pair in PREFERENCES:
        both = tuple(lower[name] for name in pair if name in lower)
        if len(both) == 2 and _are_words(table, both) and not any(name in held for name in both):
            return replace(given, systems=both), ()
    return given, ()


def _are_words(table: Table, columns: Sequence[str]) -> bool:
    if not all(table.kinds[name] == "text" for name in columns):
        return False
    number = " or ".join(f"try_cast({identifier(name)} as double) is not null" for name in columns)
    return not table.query(f"select 1 from rows where {number} limit 1")


def _grid(table: Table, systems: Sequence[str], separator: str | None) -> _Grid | None:
    tried = (separator,) if separator else (_MORE_SEPARATORS if systems else _SEPARATORS)
    for sign in tried:
        for last in (False, True) if systems else (False,):
            found = _split(table.columns, systems, sign, last=last)
            # Two systems of which the same thing is known: less is an accident of names.
            alike = found and set.intersection(*map(set, found.values()))
            if alike and (set(found) == set(systems) if systems else len(found) > 1):
                return _Grid(sign, found)
    return None


def _human_grid(table: Table) -> _Grid | None:
    """Return the columns by system where people's grades give the systems away.

    ``old_gpt, old_human, new_gpt, new_human``: a system has the same judges as every other one. A
    name after ``human`` may be what is graded (``human_style``) as well, and is asked about.
    """
    for sign in _MORE_SEPARATORS:
        for last in (False, True):
            every = _split(table.columns, (), sign, last=last)
            systems = [
                name
                for name, parts in every.items()
                if any(is_truth_name(part, whole=True) for part in parts)
            ]
            found = _split(table.columns, systems, sign, last=last) if len(systems) > 1 else {}
            parts = [*map(set, found.values())]
            # Words such as "human_score" name what people gave, and no system.
            if not parts or len(parts[0]) < 2 or any(one != parts[0] for one in parts):
                continue
            if last:
                raise _systems_or_questions(table, found)
            return _Grid(sign, found)
    return None


def _systems_or_questions(table: Table, found: Mapping[str, Mapping[str, str]]) -> AskError:
    first = next(iter(found.values()))
    truth = next(column for part, column in first.items() if is_truth_name(part, whole=True))
    judges = [column for column in first.values() if column != truth]
    systems = ",".join(found)
    return AskError(
        f"{table.source}: are {' and '.join(list(found)[:8])} systems, or questions that each row"
        " is graded on?",
        role="systems",
        candidates=tuple(found),
        calls=(
            f"--systems {quote(systems)}",
            f"--judges {quote(','.join(judges))} --truth {quote(truth)}",
        ),
    )


def _split(
    columns: Sequence[str], systems: Sequence[str], separator: str, *, last: bool = False
) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {name: {} for name in systems}
    for column in columns:
        pieces = column.split(separator)
        cuts = [(pieces[:place], pieces[place:]) for place in range(1, len(pieces))]
        ends = [tuple(map(separator.join, cut[::-1] if last else cut)) for cut in cuts]
        fitting = [end for end in ends if all(end) and (not systems or end[0] in systems)]
        if fitting:
            # The longest counts: "gpt-4.1.claude" is what claude says of gpt-4.1.
            system, part = max(fitting, key=lambda end: len(end[0]))
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
    taken = {column for held in grid.columns.values() for column in held.values()}
    shared = [name for name in table.columns if name not in taken]
    clash = next((name for name in (_SYSTEM, *grid.parts) if name in shared), None)
    if clash is not None:
        raise InputError(
            f"{table.source} has a column {clash!r} beside columns like"
            f" {next(iter(taken))!r}: rename one of them"
        )
    relation = _relation(table, grid, shared)
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


def _relation(table: Table, grid: _Grid, shared: Sequence[str]) -> DuckDBPyRelation:
    lists = {_SYSTEM: [literal(name) for name in grid.columns]}
    for part in grid.parts:
        columns = [held.get(part) for held in grid.columns.values()]
        kinds = {table.kinds[name] for name in columns if name is not None}
        if "text" in kinds and len(kinds - {"other"}) > 1:
            raise InputError(
                f"{table.source}: the columns of {part!r} hold numbers for one system and words for"
                " another: write both alike"
            )
        lists[part] = ["null" if name is None else identifier(name) for name in columns]
    # Lists of one length are unfolded together: one row per system.
    unfolded = (
        f"unnest([{', '.join(cells)}]) as {identifier(name)}" for name, cells in lists.items()
    )
    return table.derive(f"select {', '.join([*map(identifier, shared), *unfolded])} from rows")


# Long tables: pivoted to one column per judge, out of core.


def to_wide(
    table: Table, shape: LongShape, beside: Sequence[str] = ()
) -> tuple[Table, tuple[str, ...]]:
    """Return a table of votes with one row per item, and its voters.

    Parameters
    ----------
    table
        What was read.
    shape
        Its columns of items, voters and votes.
    beside
        Columns, such as the system and the run, with which an item has one row in the wide table.
    """
    keys = (shape.item, *beside)
    if len({*keys, shape.judge, shape.vote}) < len(keys) + 2:
        raise InputError(
            f"item, judge and vote must be three different columns, got {shape.item!r},"
            f" {shape.judge!r} and {shape.vote!r}"
        )
    _check_pairs(table, shape, keys)
    used = {*keys, shape.judge, shape.vote, *table.left_out}
    extras = [name for name in table.columns if name not in used]
    steady = [name for name in extras if steady_within(table, keys, name)]
    varying = [name for name in extras if name not in steady]
    return _pivot(table, shape, keys, steady, varying)


def _check_pairs(table: Table, shape: LongShape, keys: Sequence[str]) -> None:
    """Every row must name its item and its judge, and no judge may vote twice on an item."""
    for role, column in (*(("item", key) for key in keys), ("judge", shape.judge)):
        place = table.row_of(column, None)
        if place is not None:
            raise blank_cell(place, role, column)

    twice = first_repeat(table, *keys, shape.judge)
    if twice is not None:
        raise InputError(
            f"duplicate vote: {' and '.join((*keys, shape.judge))} {twice[0]} occur twice, at"
            f" {twice[1]} and {twice[2]}. Keep one of them; if every row is an item of its own,"
            f" leave {shape.judge!r} out (--ignore)"
        )


def _pivot(
    table: Table,
    shape: LongShape,
    keys: Sequence[str],
    steady: Sequence[str],
    varying: Sequence[str],
) -> tuple[Table, tuple[str, ...]]:
    judges = _voters(table, shape)
    check_names([*keys, *steady, *judges], f"{table.source}, with one column per judge,")
    path = scratch_file("wide-")
    with reading(table.source):
        table.derive(_pivot_sql(shape, keys, steady, judges)).write_parquet(str(path))
    table.close()

    relation = parquet_relation(connect(), [path])
    doubtful = {}
    if shape.vote in table.doubtful:
        doubtful = dict.fromkeys(judges, table.doubtful[shape.vote])
    gone = {name: f"column {name!r} changes within an item: left out" for name in varying}
    # The votes lose the name of their column here, and of a loss less is better.
    measure = shape.vote if lower_word(shape.vote) else None
    wide = replace(
        table,
        relation=relation,
        columns=tuple(relation.columns),
        shape="long",
        notes=(*table.notes, *gone.values()),
        long=(shape.judge, shape.vote),
        left_out={**table.left_out, **gone},
        doubtful=doubtful,
        metric=table.metric or measure,
        parts=(),
        spools=(path,),
    )
    return wide, tuple(judges)


def _voters(table: Table, shape: LongShape) -> list[str]:
    judge = identifier(shape.judge)
    found = table.query(
        f"select distinct cast({judge} as varchar) from rows order by 1 limit {MAX_COLUMNS + 1}"
    )
    return sorted((name for (name,) in found), key=_natural)


def _pivot_sql(
    shape: LongShape, keys: Sequence[str], steady: Sequence[str], judges: Sequence[str]
) -> str:
    names, judge, vote = [*map(identifier, keys)], identifier(shape.judge), identifier(shape.vote)
    key = ", ".join(names)
    facts = "".join(f", first({identifier(name)}) as {identifier(name)}" for name in steady)
    chosen = ", ".join(f"heads.{identifier(name)}" for name in [*keys, *steady])
    columns = ", ".join(f"votes.{identifier(name)}" for name in judges)
    same = " and ".join(f"heads.{name} = votes.{name}" for name in names)
    return (
        "with numbered as (select *, row_number() over () as place_ from rows), "
        f"heads as (select {key}, min(place_) as place_{facts} from numbered group by {key}), "
        f"votes as (pivot (select {key}, cast({judge} as varchar) as judge_, {vote} as vote_"
        f" from rows) on judge_ in ({', '.join(map(literal, judges))}) using first(vote_)"
        f" group by {key}) "
        f"select {chosen}, {columns} from heads join votes on {same} order by heads.place_"
    )


def _natural(name: str) -> tuple[bool, int, str]:
    """Order w2 before w10 where names are plain numbers, else by text."""
    return (not name.isdecimal(), int(name) if name.isdecimal() else 0, name)


@dataclass(frozen=True)
class LongShape:
    """One way to read a table as long: the column of items, of voters, and of votes."""

    item: str
    judge: str
    vote: str


def steady_within(table: Table, keys: Sequence[str], column: str) -> bool:
    """Return whether *column* says one thing only about each item, which *keys* name."""
    group, value = ", ".join(map(identifier, keys)), identifier(column)
    return not table.query(
        f"select 1 from rows group by {group} having min({value}) <> max({value}) "
        f"or (count({value}) > 0 and count({value}) < count(*)) limit 1"
    )


# Long tables with one column more: ``id, model, metric, value`` holds several scores of every
# answer, one per row, and one of them is chosen.


_METRICS = frozenset({"metric"})
_VALUES = frozenset({"value", "score"})
_MOST_METRICS = 40


def chosen_metric(table: Table, layout: Layout) -> tuple[Table, Layout]:
    """Return the rows of one metric of a tidy table, and the column that holds its values.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tallystick.table import scan
    >>> rows = {"id": [1, 1], "model": ["a", "a"], "metric": ["f1", "nll"], "value": [0.5, 2.0]}
    >>> table, layout = chosen_metric(scan(pa.table(rows)), Layout(vote="nll"))
    >>> table.query("select * from rows"), layout.vote, table.metric
    ([(1, 'a', 2.0)], 'value', 'nll')
    """
    names = [name for name in table.columns if plain(name) in _METRICS]
    values = [name for name in table.columns if plain(name) in _VALUES]
    if len(names) != 1 or len(values) != 1 or layout.vote in table.columns:
        return table, layout
    column, cell = names[0], identifier(names[0])
    found = table.query(
        f"select distinct cast({cell} as varchar) from rows where {cell} is not null"
        f" limit {_MOST_METRICS + 1}"
    )
    metrics = sorted(value for (value,) in found)
    if not metrics or len(metrics) > _MOST_METRICS:
        return table, layout
    alone = layout.vote is None and len(metrics) == 1
    chosen = metrics[0] if alone else layout.vote or ""
    if chosen not in metrics:
        asked = "" if layout.vote is None else f" and not {layout.vote!r}"
        raise AskError(
            f"{table.source}: which metric? {column} holds {', '.join(metrics[:8])}{asked}.",
            role="metric",
            candidates=tuple(metrics[:8]),
            calls=tuple(f"--metric {quote(one)}" for one in metrics[:2]),
        )
    rest = tuple(name for name in table.columns if name != column)
    shown = ", ".join(map(identifier, rest))
    kept = f"select {shown} from rows where cast({cell} as varchar) = {literal(chosen)}"
    note = f"the rows whose {column!r} is {chosen!r}, with the scores in {values[0]!r}"
    table = replace(
        table,
        relation=table.derive(kept),
        columns=rest,
        metric=chosen,
        parts=(),
        notes=(*table.notes, note),
    )
    return table, replace(layout, vote=values[0])
