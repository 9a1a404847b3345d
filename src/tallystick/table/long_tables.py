"""Long tables (one row per vote): pivoted to one column per judge, out of core."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from shlex import quote

from tallystick.errors import AskError, InputError
from tallystick.table.cells import identifier, literal
from tallystick.table.columnar import parquet_relation
from tallystick.table.engine import connect, reading
from tallystick.table.reading_names import lower_word, plain
from tallystick.table.roles import Layout, first_repeat
from tallystick.table.sources import MAX_COLUMNS, check_names
from tallystick.table.tables import Table
from tallystick.table.truth import scratch_file


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
            raise InputError(
                f"{place}: the {role} column {column!r} is blank. Fill it, or remove the row"
            )

    twice = first_repeat(table, *keys, shape.judge)
    if twice is not None:
        raise InputError(
            f"duplicate vote: {' and '.join((*keys, shape.judge))} {twice[0]} occur twice, at"
            f" {twice[1]} and {twice[2]}. Keep one of them; if every row is an item of its own, say"
            " --shape wide"
        )


def _pivot(
    table: Table,
    shape: LongShape,
    keys: Sequence[str],
    steady: Sequence[str],
    varying: Sequence[str],
) -> tuple[Table, tuple[str, ...]]:
    """Write the wide table to a scratch file: facts that are steady within an item stay."""
    judges = _judges(table, shape)
    check_names([*keys, *steady, *judges], f"{table.source}, with one column per judge,")
    path = scratch_file("wide-")
    with reading(table.source):
        table.derive(_pivot_sql(shape, keys, steady, judges)).write_parquet(str(path))
    table.close()

    relation = parquet_relation(connect(), [path])
    doubtful = {}
    if shape.vote in table.doubtful:
        doubtful = dict.fromkeys(judges, table.doubtful[shape.vote])
    dropped = tuple(f"column {name!r} changes within an item: left out" for name in varying)
    gone = {name: f"column {name!r} changes within an item" for name in varying}
    # The votes lose the name of their column here, and of a loss less is better.
    measure = shape.vote if lower_word(shape.vote) else None
    wide = replace(
        table,
        relation=relation,
        columns=tuple(relation.columns),
        shape="long",
        notes=(*table.notes, *dropped),
        long=(shape.judge, shape.vote),
        left_out={**table.left_out, **gone},
        doubtful=doubtful,
        metric=table.metric or measure,
        parts=(),
        spools=(path,),
    )
    return wide, tuple(judges)


def _judges(table: Table, shape: LongShape) -> list[str]:
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
