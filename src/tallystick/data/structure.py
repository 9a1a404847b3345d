"""Tell a long table (one row per vote) from a wide one by its structure, not by its headers.

In a long table two columns repeat on their own and are unique together: who voted, and on what.
Exactly one further column then varies within an item: the vote. A wide table has several columns
that share one set of labels, and they may sit beside any number of facts about the item.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tallystick.data.detect.names import ROUNDS, SLICES, SPLITS, is_truth, plain
from tallystick.data.detect.profile import Profile, look
from tallystick.data.detect.sample import draw, is_unique
from tallystick.io import Table, identifier

__all__ = ["LongShape", "long_readings", "steady_within", "vote_columns"]

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
    >>> from tallystick.io import scan
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
