"""Long tables (item, judge, vote): recognised with care, pivoted to one column a judge, out of
core.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, TypeAlias

from tallystick.errors import InputError
from tallystick.io.columnar import parquet_relation
from tallystick.io.engine import connect, reading, scratch
from tallystick.io.names import MAX_COLUMNS, check_names
from tallystick.io.nearest import missing_column
from tallystick.io.table import Table
from tallystick.values.sql import identifier, literal

__all__ = ["ITEM_NAMES", "ShapeOption", "to_wide"]

ShapeOption: TypeAlias = Literal["auto", "wide", "long"]

ITEM_NAMES = frozenset(
    {
        "item",
        "item_id",
        "itemid",
        "id",
        "uid",
        "task",
        "task_id",
        "question",
        "question_id",
        "example",
        "example_id",
        "doc_id",
        "sample_id",
        "prompt_id",
    }
)
_JUDGE_NAMES = frozenset(
    {
        "judge",
        "judge_id",
        "worker",
        "worker_id",
        "annotator",
        "annotator_id",
        "rater",
        "rater_id",
        "labeler",
        "labeller",
        "coder",
        "performer",
        "model",
    }
)
_VOTE_NAMES = frozenset(
    {
        "vote",
        "label",
        "answer",
        "response",
        "annotation",
        "verdict",
        "prediction",
        "decision",
        "judgment",
        "judgement",
    }
)


def to_wide(
    table: Table, *, shape: ShapeOption, item: str | None, judge: str | None, vote: str | None
) -> Table:
    """Return *table* with one row an item and one column a judge, pivoted if it is long."""
    if shape not in ("auto", "wide", "long"):
        raise InputError(f"shape must be 'auto', 'wide' or 'long', got {shape!r}")
    given = {"item": item, "judge": judge, "vote": vote}
    for column in given.values():
        if column is not None and column not in table.columns:
            raise InputError(missing_column(column, table.columns, table.source))
    if shape == "wide" or (shape == "auto" and not (judge or vote or _could_be_long(table, given))):
        if judge or vote:
            raise InputError(
                "judge and vote name the columns of a long table: leave them out, or say"
                " shape='long'"
            )
        return table
    sure = shape == "long" or judge is not None or vote is not None
    roles = _roles(table, given, sure)
    extras = [
        name for name in table.columns if name not in roles.values() and name not in table.left_out
    ]
    if not sure and not _items_repeat(table, roles["item"]):
        once = f"{table.source} has each {roles['item']!r} once and is read as wide"
        note = f"{once}; if its rows are votes, say --shape long"
        return replace(table, notes=(*table.notes, note))
    _check_pairs(table, roles, sure)
    steady = [name for name in extras if _is_steady(table, roles["item"], name)]
    varying = [name for name in extras if name not in steady]
    if varying and not sure:
        raise InputError(
            f"{table.source} looks like a long table (item {roles['item']!r}, judge"
            f" {roles['judge']!r}, vote {roles['vote']!r}), but column {varying[0]!r} changes"
            " within an item: say shape='long' (--shape long) to leave it out, or shape='wide' if"
            " every row is an item of its own"
        )
    return _pivot(table, roles, steady, varying)


def _could_be_long(table: Table, given: Mapping[str, str | None]) -> bool:
    """Only names decide whether to look closer: each of the three parts must be there under a usual
    name.
    """
    return (
        bool(given["item"] or _named(table, ITEM_NAMES))
        and bool(_named(table, _JUDGE_NAMES))
        and bool(_named(table, _VOTE_NAMES))
    )


def _named(table: Table, names: frozenset[str]) -> list[str]:
    return [column for column in table.columns if column.strip().lower() in names]


def _roles(table: Table, given: Mapping[str, str | None], sure: bool) -> dict[str, str]:
    usual = {"item": ITEM_NAMES, "judge": _JUDGE_NAMES, "vote": _VOTE_NAMES}
    taken = {column for column in given.values() if column is not None}
    roles: dict[str, str] = {}
    for role, names in usual.items():
        column = given[role]
        if column is None:
            found = [name for name in _named(table, names) if name not in taken]
            if len(found) != 1:
                said = (
                    f"could be any of {found}"
                    if found
                    else f"is none of {list(table.columns[:8])} by its name"
                )
                raise InputError(
                    f"{table.source} {'is' if sure else 'looks like'} a long table, but its {role}"
                    f" column {said}: name it with {role}=… (--{role})"
                    + ("" if sure else ", or say shape='wide' (--shape wide)")
                )
            column = found[0]
        roles[role] = column
    if len(set(roles.values())) < 3:
        raise InputError(f"item, judge and vote must be three different columns, got {roles}")
    for role, column in roles.items():
        if column in table.left_out:
            raise InputError(f"{table.source}: {table.left_out[column]}; it cannot be the {role}")
    return roles


def _items_repeat(table: Table, item: str) -> bool:
    return bool(
        table.query(f"select 1 from rows group by {identifier(item)} having count(*) > 1 limit 1")
    )


def _check_pairs(table: Table, roles: Mapping[str, str], sure: bool) -> None:
    """Every row must name its item and its judge, and no judge may vote twice on an item."""
    item, judge = identifier(roles["item"]), identifier(roles["judge"])
    for role in ("item", "judge"):
        place = table.row_of(roles[role], None)
        if place is not None:
            raise InputError(
                f"{place}: the {role} column {roles[role]!r} is blank; fill it or remove the row"
            )
    twice = table.query(
        f"select {item}, {judge}, list(place order by place) from "
        f"(select {item}, {judge}, row_number() over () as place from rows) "
        "group by 1, 2 having count(*) > 1 order by min(place) limit 1"
    )
    if twice:
        [(name, by, rows)] = twice
        places = f"{table.place(rows[0])} and {table.place(rows[1])}"
        other = (
            "" if sure else "; if every row is an item of its own, say shape='wide' (--shape wide)"
        )
        raise InputError(
            f"duplicate vote: item {name!r} has two votes of judge {by!r}, at {places}; keep one of"
            f" them{other}"
        )


def _is_steady(table: Table, item: str, column: str) -> bool:
    """Return whether a further column says one thing only about each item."""
    group, value = identifier(item), identifier(column)
    return not table.query(
        f"select 1 from rows group by {group} having count(distinct {value}) > 1 "
        f"or (count({value}) > 0 and count({value}) < count(*)) limit 1"
    )


def _pivot(
    table: Table, roles: Mapping[str, str], steady: Sequence[str], varying: Sequence[str]
) -> Table:
    item, judge, vote = (identifier(roles[role]) for role in ("item", "judge", "vote"))
    judges = [
        name
        for (name,) in table.query(
            f"select cast({judge} as varchar) from rows group by 1 order by min({item}), 1 limit"
            f" {MAX_COLUMNS + 1}"
        )
    ]
    judges.sort(key=_natural)
    check_names([roles["item"], *steady, *judges], f"{table.source}, with one column a judge,")
    extras = "".join(f", first({identifier(name)}) as {identifier(name)}" for name in steady)
    chosen = ", ".join(f"heads.{identifier(name)}" for name in [roles["item"], *steady])
    columns = ", ".join(f"votes.{identifier(name)}" for name in judges)
    sql = (
        "with numbered as (select *, row_number() over () as place_ from rows), heads as (select"
        f" {item}, min(place_) as place_{extras} from numbered group by {item}), votes as (pivot"
        f" (select {item}, cast({judge} as varchar) as judge_, {vote} as vote_ from rows) on judge_"
        f" in ({', '.join(map(literal, judges))}) using first(vote_) group by {item}) select"
        f" {chosen}, {columns} from heads join votes on heads.{item} = votes.{item} order by"
        " heads.place_"
    )
    with tempfile.NamedTemporaryFile(
        dir=scratch(), prefix="wide-", suffix=".parquet", delete=False
    ) as made:
        path = Path(made.name)
    with reading(table.source):
        table.derive(sql).write_parquet(str(path))
    table.close()
    relation = parquet_relation(connect(), [path])
    doubtful = {}
    if roles["vote"] in table.doubtful:
        doubtful = dict.fromkeys(judges, table.doubtful[roles["vote"]])
    dropped = tuple(f"column {name!r} changes within an item and is left out" for name in varying)
    note = (
        f"{table.source} is a long table: item {roles['item']!r}, judge {roles['judge']!r}, vote"
        f" {roles['vote']!r}; {len(judges):,} judges"
    )
    return replace(
        table,
        relation=relation,
        columns=tuple(relation.columns),
        shape="long",
        notes=(*table.notes, note, *dropped),
        left_out={
            **table.left_out,
            **{name: f"column {name!r} changes within an item" for name in varying},
        },
        doubtful=doubtful,
        parts=(),
        spools=(path,),
    )


def _natural(name: str) -> tuple[bool, int, str]:
    """Order w2 before w10 where names are plain numbers, else by text."""
    return (not name.isdecimal(), int(name) if name.isdecimal() else 0, name)
