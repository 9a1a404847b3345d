"""Long tables (one row per vote): pivoted to one column per judge, out of core."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote

from tallystick.errors import AskError, InputError
from tallystick.table.cells import identifier, literal
from tallystick.table.columnar import parquet_relation
from tallystick.table.detect_doubts import Profile, look
from tallystick.table.detect_names import (
    ITEM_NAMES,
    REPLICATE_NAMES,
    ROUNDS,
    SLICES,
    SPLITS,
    VOTE_NAMES,
    VOTER_NAMES,
    is_item,
    is_truth,
    lower_word,
    plain,
)
from tallystick.table.detect_sample import draw, is_unique
from tallystick.table.engine import connect, reading
from tallystick.table.roles import Layout, Roles
from tallystick.table.sources import MAX_COLUMNS, check_names, missing_column, scratch
from tallystick.table.tables import Table

_KEY = "item and run "
"""The column that stands for item and run while a table is pivoted."""


def to_wide(
    table: Table,
    layout: Layout,
    *,
    item: str | None,
    taken: Sequence[str] = (),
    replicate: str | None = None,
    beside: Sequence[str] = (),
) -> tuple[Table, tuple[str, ...], str | None]:
    """Return *table* with one row per item; if it was long, also its votes and its item.

    Parameters
    ----------
    table
        What was read.
    layout
        What the caller says of the shape; ``auto`` looks at the structure.
    item
        The column of items, if the caller named it.
    taken
        Columns that the caller gave another role than item.
    replicate
        The column that numbers the runs of an item, if there is one: then a row of the wide table
        is one run of an item.
    beside
        Columns, such as the system and the run, with which an item has one row in the wide table.
    """
    if beside and item is not None:
        return _keyed_to_wide(table, layout, item, taken, beside)
    if replicate is not None:
        return _runs_to_wide(table, layout, item, [*taken, replicate], replicate)
    roles = long_shape(table, layout, item=item, taken=taken)
    if roles is None:
        return table, (), item
    sure = _is_long(layout)
    _check_pairs(table, roles, sure)
    extras = [
        name
        for name in table.columns
        if name not in (roles.item, roles.judge, roles.vote) and name not in table.left_out
    ]
    steady = [name for name in extras if steady_within(table, roles.item, name)]
    varying = [name for name in extras if name not in steady]
    wide, votes = _pivot(table, roles, steady, varying)
    return wide, votes, roles.item


def long_shape(
    table: Table, layout: Layout, *, item: str | None, taken: Sequence[str] = ()
) -> LongShape | None:
    """Return which columns hold items, judges and votes; None if the table is wide.

    The parameters are those of `to_wide`.
    """
    named = {"item": item, "judge": layout.judge, "vote": layout.vote}
    for column in named.values():
        if column is not None and column not in table.columns:
            raise InputError(missing_column(column, table.columns, table.source))
    sure = _is_long(layout)
    if layout.shape == "wide" or (not sure and len(table.columns) < 3):
        return None
    return _roles(table, named, taken, sure)


def one_column_of_models(table: Table, given: Roles, layout: Layout) -> tuple[Roles, Layout]:
    """Read ``--models agent``, one column of names, as the column that says who answered.

    One column of answers cannot be compared with anything, so only this reading is left.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tallystick.table import scan
    >>> table = scan(pa.table({"task": [1, 1, 2, 2], "agent": ["x", "y"] * 2, "done": [1, 0, 1, 1]}))
    >>> one_column_of_models(table, Roles(models=("agent",)), Layout(vote="done"))[1].judge
    'agent'
    """
    if layout.judge is not None or layout.shape == "wide" or len(given.models) != 1:
        return given, layout
    [name] = given.models
    # A glob or a list is no plain name; names of models are text, and each has several rows.
    if name not in table.columns or table.kinds[name] != "text" or not table.repeats(name):
        return given, layout
    if layout.vote is None and not long_readings(table, taken=given.columns("truth", "cluster")):
        return given, layout
    return replace(given, models=()), replace(layout, judge=name)


def _is_long(layout: Layout) -> bool:
    """Say whether the caller says that the table is long."""
    return layout.shape == "long" or layout.judge is not None or layout.vote is not None


def with_replicate(table: Table, given: Roles) -> tuple[Roles, tuple[str, ...]]:
    """Return the roles with the column that numbers the runs of an item, and a note.

    It is taken by its name, and only if items repeat.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tallystick.table import scan
    >>> table = scan(pa.table({"item": ["q", "q"], "epoch": [1, 2], "a": [1, 0], "b": [0, 0]}))
    >>> with_replicate(table, Roles())[0].replicate
    'epoch'
    """
    if given.replicate is not None or _item(table, given.item) is None:
        return given, ()
    likely = [name for name in table.columns if plain(name) in REPLICATE_NAMES]
    free = [name for name in likely if name not in given.holders()]
    item = _item(table, given.item)
    if len(free) != 1 or item is None or not table.repeats(item):
        return given, ()
    note = f"column {free[0]!r} numbers the runs of an item (--replicate)"
    return replace(given, replicate=free[0]), (note,)


def _item(table: Table, item: str | None) -> str | None:
    """Return the column of items: the one given, or one with a usual name.

    Of two such columns the one that repeats names the items, and the other numbers the rows.
    """
    usual = [name for name in table.columns if name.strip().lower() in ITEM_NAMES]
    if item is not None or len(usual) < 2:
        return item if item is not None else next(iter(usual), None)
    return next((name for name in usual if table.repeats(name)), usual[0])


def _runs_to_wide(
    table: Table, layout: Layout, item: str | None, taken: Sequence[str], replicate: str
) -> tuple[Table, tuple[str, ...], str | None]:
    """Pivot a long table whose items were run several times: a key stands for item and run."""
    own = _item(table, item)
    for column in (own, replicate):
        if column is not None and column not in table.columns:
            raise InputError(missing_column(column, table.columns, table.source))
    if own is None:
        raise InputError(
            f"{table.source}: {replicate!r} numbers the runs of an item, so name the column of the"
            " items too (--item)"
        )
    key = _KEY
    text = (
        f"cast({identifier(own)} as varchar) || '\x1f' || cast({identifier(replicate)} as varchar)"
    )
    keyed = replace(
        table,
        relation=table.derive(f"select *, {text} as {identifier(key)} from rows"),
        columns=(*table.columns, key),
    )
    wide, votes, _ = to_wide(keyed, layout, item=key, taken=[*taken, own])
    if not votes:
        return table, (), own
    columns = [name for name in wide.columns if name != key]
    chosen = ", ".join(map(identifier, columns))
    notes = tuple(note.replace(f"item {key!r}", f"item {own!r}") for note in wide.notes)
    relation = wide.derive(f"select {chosen} from rows")
    return replace(wide, relation=relation, columns=tuple(columns), notes=notes), votes, own


def _keyed_to_wide(
    table: Table, layout: Layout, item: str, taken: Sequence[str], beside: Sequence[str]
) -> tuple[Table, tuple[str, ...], str | None]:
    """Pivot a long table in which item and further columns together name a row."""
    texts = [f"cast({identifier(name)} as varchar)" for name in (item, *beside)]
    key = " || '\x1f' || ".join(texts)
    keyed = replace(
        table,
        relation=table.derive(f"select *, {key} as {identifier(_KEY)} from rows"),
        columns=(*table.columns, _KEY),
    )
    wide, votes, _ = to_wide(keyed, layout, item=_KEY, taken=[*taken, item, *beside])
    columns = [name for name in wide.columns if name != _KEY]
    relation = wide.derive(f"select {', '.join(map(identifier, columns))} from rows")
    notes = tuple(note.replace(f"item {_KEY!r}", f"item {item!r}") for note in wide.notes)
    return replace(wide, relation=relation, columns=tuple(columns), notes=notes), votes, item


def _roles(
    table: Table, named: Mapping[str, str | None], taken: Sequence[str], sure: bool
) -> LongShape | None:
    """Return which column is what, None if the table is wide; ask where two readings fit."""
    whole = [column for column in named.values() if column is not None]
    if len(whole) == 3:
        return _three(named["item"] or "", named["judge"] or "", named["vote"] or "")
    found = [
        one
        for one in long_readings(table, taken=taken)
        if all(column in (None, getattr(one, role)) for role, column in named.items())
    ]
    if len(found) == 1:
        return found[0]
    if found:
        # What the caller named is in the command already.
        left = [role for role, column in named.items() if column is None]
        ways = [" ".join(f"--{role} {quote(getattr(r, role))}" for role in left) for r in found]
        raise AskError(
            f"{table.source}: who voted on what? It has one row per vote and can be read in"
            f" {len(found)} ways. If every row is an item of its own, add --shape wide.",
            role="judge",
            candidates=tuple(r.judge for r in found),
            calls=tuple(ways),
        )
    by_name = _by_name(table, named)
    if by_name is None and sure:
        shown = ", ".join(name for name in table.columns[:8] if name != _KEY)
        raise InputError(
            f"{table.source} is to be read as a long table, but its columns ({shown}) do not show"
            " which is what: name the columns of items, voters and votes (--item C --judge C"
            " --vote C)"
        )
    # Headers alone never make a table long, but they turn a repeated vote into a clear message.
    return by_name if sure or (by_name is not None and table.repeats(by_name.item)) else None


def _by_name(table: Table, named: Mapping[str, str | None]) -> LongShape | None:
    usual = {"item": ITEM_NAMES, "judge": VOTER_NAMES, "vote": VOTE_NAMES}
    chosen = {}
    for role, names in usual.items():
        given = named[role]
        found = [given] if given else [n for n in table.columns if n.strip().lower() in names]
        if len(found) != 1:
            return None
        chosen[role] = found[0]
    return _three(chosen["item"], chosen["judge"], chosen["vote"])


def _three(item: str, judge: str, vote: str) -> LongShape:
    if len({item, judge, vote}) < 3:
        raise InputError(
            f"item, judge and vote must be three different columns, got {item!r}, {judge!r} and"
            f" {vote!r}"
        )
    return LongShape(item, judge, vote)


def _check_pairs(table: Table, shape: LongShape, sure: bool) -> None:
    """Every row must name its item and its judge, and no judge may vote twice on an item."""
    for role, column in (("item", shape.item), ("judge", shape.judge)):
        place = table.row_of(column, None)
        if place is not None:
            raise InputError(
                f"{place}: the {role} column {column!r} is blank. Fill it, or remove the row"
            )

    if not table.repeats(shape.item, shape.judge):
        return
    # Only a table that is refused pays for the places of its votes.
    item, judge = identifier(shape.item), identifier(shape.judge)
    twice = table.query(
        f"select {item}, {judge}, list(place order by place) from "
        f"(select {item}, {judge}, row_number() over () as place from rows) "
        "group by 1, 2 having count(*) > 1 order by min(place) limit 1"
    )
    if twice:
        [(name, by, rows)] = twice
        places = f"{table.place(rows[0])} and {table.place(rows[1])}"
        other = "" if sure else "; if every row is an item of its own, say --shape wide"
        raise InputError(
            f"duplicate vote: item {name!r} has two votes of judge {by!r}, at {places}. Keep one of"
            f" them{other}"
        )


def _pivot(
    table: Table, shape: LongShape, steady: Sequence[str], varying: Sequence[str]
) -> tuple[Table, tuple[str, ...]]:
    """Write the wide table to a scratch file: facts that are steady within an item stay."""
    judges = _judges(table, shape)
    check_names([shape.item, *steady, *judges], f"{table.source}, with one column per judge,")
    with tempfile.NamedTemporaryFile(
        dir=scratch(), prefix="wide-", suffix=".parquet", delete=False
    ) as made:
        path = Path(made.name)
    with reading(table.source):
        table.derive(_pivot_sql(shape, steady, judges)).write_parquet(str(path))
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
    item, judge = identifier(shape.item), identifier(shape.judge)
    found = table.query(
        f"select cast({judge} as varchar) from rows group by 1 order by min({item}), 1"
        f" limit {MAX_COLUMNS + 1}"
    )
    return sorted((name for (name,) in found), key=_natural)


def _pivot_sql(shape: LongShape, steady: Sequence[str], judges: Sequence[str]) -> str:
    item, judge, vote = map(identifier, (shape.item, shape.judge, shape.vote))
    facts = "".join(f", first({identifier(name)}) as {identifier(name)}" for name in steady)
    chosen = ", ".join(f"heads.{identifier(name)}" for name in [shape.item, *steady])
    columns = ", ".join(f"votes.{identifier(name)}" for name in judges)
    return (
        "with numbered as (select *, row_number() over () as place_ from rows), "
        f"heads as (select {item}, min(place_) as place_{facts} from numbered group by {item}), "
        f"votes as (pivot (select {item}, cast({judge} as varchar) as judge_, {vote} as vote_"
        f" from rows) on judge_ in ({', '.join(map(literal, judges))}) using first(vote_)"
        f" group by {item}) "
        f"select {chosen}, {columns} from heads join votes on heads.{item} = votes.{item}"
        " order by heads.place_"
    )


def _natural(name: str) -> tuple[bool, int, str]:
    """Order w2 before w10 where names are plain numbers, else by text."""
    return (not name.isdecimal(), int(name) if name.isdecimal() else 0, name)


# Tell a long table (one row per vote) from a wide one by its structure, not by its headers.
#
# In a long table two columns repeat on their own and are unique together: who voted, and on what.
# Exactly one further column then varies within an item: the vote. A wide table has several columns
# that share one set of labels, and they may sit beside any number of facts about the item.


_LEAST_ROWS = 6
_LEAST_REPEATS = 1.5
"""Rows per item from which a column repeats like the item of a long table."""

_MANY = 1_000
"""Values in the sample from which a column may have many more in the whole table."""

_MOST_CANDIDATES = 12
"""Columns that are tried as item or voter; more of them are facts of a wide table."""

_DENSE = 0.01
"""Least share of (item, voter) cells that are filled; below it a pair is unique by accident."""


@dataclass(frozen=True)
class LongShape:
    """One way to read a table as long: the column of items, of voters, and of votes."""

    item: str
    judge: str
    vote: str


def long_readings(table: Table, *, taken: Sequence[str] = ()) -> tuple[LongShape, ...]:
    """Return every way in which *table* can be read as long; none if it looks wide.

    Parameters
    ----------
    table
        What was read.
    taken
        Columns that the caller gave another role: they are not the item, the voter or the vote.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tallystick.table import scan
    >>> rows = [(i, who, (i * 7 + k) % 2) for i in range(10) for k, who in enumerate("xyz")]
    >>> review, annotator, label = zip(*rows)
    >>> long_readings(scan(pa.table({"review": review, "by": annotator, "said": label})))
    (LongShape(item='review', judge='by', vote='said'),)
    >>> long_readings(scan(pa.table({"gpt": [0, 1, 1] * 9, "claude": [0, 1, 0] * 9})))
    ()
    """
    profiles = look(draw(table))
    free = [name for name in profiles if name not in taken and name not in table.doubtful]
    [(rows,)] = table.query("select count(*) from rows")
    if rows < _LEAST_ROWS or len(free) < 3:
        return ()

    distinct = _distinct(table, profiles, free)
    keys = [name for name in free if profiles[name].filled == rows and distinct[name] > 1]
    found = []
    for item, judge in _unique_pairs(table, keys, distinct, rows):
        rest = [name for name in free if name not in (item, judge)]
        # What is said once of every voter, such as a name beside an id, is no vote either.
        rest = [name for name in rest if not steady_within(table, judge, name)]
        votes = vote_columns(table, profiles, rest, item)
        # Several columns that vary within an item are the votes of a wide table of outputs, and
        # nobody is called like a label: two columns of yes and no are two columns of votes.
        if len(votes) == 1 and not profiles[judge].values & profiles[votes[0]].values:
            found.append(LongShape(item, judge, votes[0]))
    return tuple(found)


def vote_columns(
    table: Table, profiles: Mapping[str, Profile], columns: Sequence[str], item: str
) -> tuple[str, ...]:
    """Return the columns that could be votes: labels or short numbers that vary within an item."""
    likely = [
        name
        for name in columns
        if profiles[name].nature in ("labels", "constant") and not is_truth(name)
    ]
    varying = [name for name in likely if not steady_within(table, item, name)]
    if varying:
        return tuple(varying)
    # Scores with many values can be votes too, where nothing else is.
    numbers = [name for name in columns if profiles[name].nature == "numbers"]
    return tuple(name for name in numbers if not steady_within(table, item, name))


def steady_within(table: Table, item: str, column: str) -> bool:
    """Return whether *column* says one thing only about each item."""
    group, value = identifier(item), identifier(column)
    return not table.query(
        f"select 1 from rows group by {group} having min({value}) <> max({value}) "
        f"or (count({value}) > 0 and count({value}) < count(*)) limit 1"
    )


def _distinct(
    table: Table, profiles: Mapping[str, Profile], columns: Sequence[str]
) -> dict[str, int]:
    """Return about how many values each column has: of few values a sample shows all that matter.

    Only columns with many values in the sample are counted in the whole table.
    """
    found = {name: profiles[name].distinct for name in columns}
    many = [
        name
        for name in columns
        if found[name] > _MANY and profiles[name].seen < profiles[name].filled
    ]
    if many:
        counts = ", ".join(f"approx_count_distinct({identifier(name)})" for name in many)
        [row] = table.query(f"select {counts} from rows")
        found |= dict(zip(many, row, strict=True))
    return found


def _unique_pairs(
    table: Table, keys: Sequence[str], distinct: Mapping[str, int], rows: int
) -> list[tuple[str, str]]:
    """Return pairs (item, voter) that repeat apart and are unique together.

    Two columns that say the same of every row, such as the id and the name of an annotator, make
    one pair: the first of them stands for both.
    """
    repeating = [name for name in keys if rows >= _LEAST_REPEATS * distinct[name]]
    if len(repeating) > _MOST_CANDIDATES:
        return []
    pairs: list[tuple[str, str]] = []
    for item in repeating:
        for judge in repeating:
            # Parts of a data set and rounds are facts about items: nobody votes by being one.
            if plain(judge) in SPLITS | SLICES | ROUNDS:
                continue
            dense = rows >= _DENSE * distinct[item] * distinct[judge]
            if distinct[judge] >= distinct[item] or not dense:
                continue
            if is_unique(table, [item, judge]) and not _known(table, pairs, item, judge):
                pairs.append((item, judge))
    return pairs


def _known(table: Table, pairs: Sequence[tuple[str, str]], item: str, judge: str) -> bool:
    """Whether the pair is one of *pairs* under other names."""
    return any(
        (item == i or _same(table, item, i)) and (judge == j or _same(table, judge, j))
        for i, j in pairs
    )


def _same(table: Table, a: str, b: str) -> bool:
    one, other = identifier(a), identifier(b)
    [(pairs, left, right)] = table.query(
        f"select count(distinct ({one}, {other})), count(distinct {one}), count(distinct {other})"
        " from rows"
    )
    return bool(pairs == left == right)


# Long tables with one column more: a column of metrics, or items that start again in each task.
#
# ``id, model, metric, value`` holds several scores of every answer, one per row: one of them is
# chosen. ``id, model, correct, task`` numbers the items of each task from 1: an item is then named
# by both, or the items of all tasks would be taken for runs of one another.


_METRICS = frozenset({"metric", "metric_name", "measure", "score_name"})
_VALUES = frozenset({"value", "score", "result", "metric_value"})
_WHO = (VOTER_NAMES | {"system", "agent", "run"}) - {"worker", "annotator"}
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
        raise InputError(
            f"{table.source}: column {column!r} holds {', '.join(map(repr, metrics[:8]))}{asked}:"
            f" choose one (--metric {metrics[0]})"
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


def named_by_task(table: Table, given: Roles) -> Table:
    """Return a long table whose items are named by task and number, where the numbers start again.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tallystick.table import scan
    >>> rows = {"id": [1, 1, 1, 1], "model": list("abab"), "task": list("xxyy"), "correct": [1, 0, 0, 1]}
    >>> named_by_task(scan(pa.table(rows)), Roles()).query("select distinct id from rows order by 1")
    [('x:1',), ('y:1',)]
    """
    items = [name for name in table.columns if is_item(name) and plain(name) not in SLICES]
    who = [name for name in table.columns if plain(name) in _WHO and table.kinds[name] == "text"]
    tasks = [
        name for name in table.columns if plain(name) in SLICES and name not in given.holders()
    ]
    if len(items) != 1 or len(who) != 1 or not tasks or given.replicate is not None:
        return table
    item, model = items[0], who[0]
    if (given.item or item) != item or not table.repeats(item) or is_unique(table, [item, model]):
        return table
    task = next((name for name in tasks if is_unique(table, [item, name, model])), None)
    if task is None:
        return table
    both = f"cast({identifier(task)} as varchar) || ':' || cast({identifier(item)} as varchar)"
    columns = ", ".join(
        f"{both} as {identifier(name)}" if name == item else identifier(name)
        for name in table.columns
    )
    note = f"the numbers in {item!r} start again in each {task!r}: items are named by both"
    return replace(
        table,
        relation=table.derive(f"select {columns} from rows"),
        notes=(*table.notes, note),
    )
