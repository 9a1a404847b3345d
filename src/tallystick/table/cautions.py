"""What a table shows that a reader must know before relying on an answer from it.

Every capability answers through `tallystick.table.conclude`, so these checks are made once, for all
of them: numbers that may mean no answer, parts of a data set that were pooled, labels that mean
something else than the votes. Doubts that leave the answer open are in `tallystick.table.doubts`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from shlex import quote
from typing import TYPE_CHECKING, Any, TypeVar

from tallystick.results import Interval, Result, percent
from tallystick.table.cells import identifier
from tallystick.table.data import Data
from tallystick.table.one_spelling import answer_counts
from tallystick.table.reading_names import ROLE_NAMES, plain
from tallystick.table.roles import Roles
from tallystick.table.scanning import scan
from tallystick.table.tables import Table
from tallystick.table.tally import Tally
from tallystick.table.truth import reversed_votes, unrelated_truth
from tallystick.table.words import as_word

if TYPE_CHECKING:
    pass

_R = TypeVar("_R", bound=Result)


@dataclass(frozen=True, kw_only=True)
class Caution:
    """A warning that the table itself gives rise to.

    Parameters
    ----------
    warning
        What was seen and what to do about it.
    assumption
        What every interval rests on because of it; empty if intervals stay as they are.
    """

    warning: str
    assumption: str = ""


def find_cautions(data: Data, *, sliced: bool, sampled: bool = True) -> tuple[Caution, ...]:
    """Return the cautions of *data*, from what the answer has counted where that is enough.

    *sliced* says that the verb knows slices, *sampled* that a few labels speak for all rows in it.
    """
    found = [Caution(warning=one) for one in data.warnings]
    split = pooled_split(data)
    if split is not None and sliced:
        found.append(_split_caution(split))
    return (*found, *_of_counts(data)) if sampled else tuple(found)


def _of_counts(data: Data) -> list[Caution]:
    """Return the cautions that show in how often answers meet true labels."""
    counts = answer_counts(data)
    if counts is None:
        return []
    found = []
    turned = reversed_votes(counts)
    if turned is not None:
        found.append(_reversed_caution(*turned))
    pairwise = len(data.roles.systems) == 2
    stray = unrelated_truth(counts) if data.session is None and not pairwise else None
    if stray is not None:
        found.append(_stray_caution(stray))
    return found


def _stray_caution(truth: str) -> Caution:
    return Caution(
        warning=(
            f"{truth!r} agrees with no column more than by chance, while the columns agree with one"
            " another. Are its labels on the right rows? Check the names of the items, and whether"
            " the labels were sorted apart from them"
        ),
        assumption=f"the labels of {truth!r} stand on the right rows",
    )


def _reversed_caution(truth: str, agreement: float) -> Caution:
    return Caution(
        warning=(
            f"no column equals {truth!r} on more than {percent(agreement)} of the labelled rows,"
            " with two labels. Are the labels of one side written the other way round (0 for pass"
            " here, 1 for pass there)? Then turn one side round before you rely on any figure here"
        ),
        assumption=f"{truth!r} and the votes mean the same by the same label",
    )


def _split_caution(split: PooledSplit) -> Caution:
    return Caution(
        warning=(
            f"column {split.column!r} says {' and '.join(split.parts[:4])}, and these figures pool"
            f" them. For each of them, add --by {quote(split.column)}"
        )
    )


def with_cautions(result: _R, cautions: Sequence[Caution]) -> _R:
    """Return *result* with the warnings, and with the assumptions in every interval."""
    if not cautions:
        return result
    warnings = tuple(dict.fromkeys((*result.warnings, *(one.warning for one in cautions))))
    result = replace(result, warnings=warnings)
    for text in dict.fromkeys(one.assumption for one in cautions if one.assumption):
        basis = f"{result.basis} They hold only if {text}." if result.basis else ""
        result = _resting_on(result, text)
        result = replace(result, assumptions=(*result.assumptions, text), basis=basis)
    return result


def _resting_on(held: Any, text: str) -> Any:
    """Return *held* with every interval in it valid only under *text*."""
    if isinstance(held, Interval):
        rests = f"{held.assumption}; {text}" if held.assumption else text
        return replace(held, guarantee="under", assumption=rests)
    if dataclasses.is_dataclass(held) and not isinstance(held, type):
        changed = {}
        for one in dataclasses.fields(held):
            own = getattr(held, one.name)
            if one.init and (new := _resting_on(own, text)) is not own:
                changed[one.name] = new
        return replace(held, **changed) if changed else held
    if isinstance(held, tuple | list):
        parts = [_resting_on(one, text) for one in held]
        same = all(new is old for new, old in zip(parts, held, strict=True))
        return held if same else type(held)(parts)
    if isinstance(held, Mapping):
        made = {key: _resting_on(one, text) for key, one in held.items()}
        return held if all(made[key] is held[key] for key in held) else made
    return held


# Parts of a data set, such as train and test, that one answer would pool.
#
# A model that has seen the training items is not as good as its score on them. Nobody who has a
# column of splits wants train and test in one number without knowing it.


_TRAIN = frozenset({"train", "training", "trn", "fit"})
_HELD_OUT = frozenset(
    {
        "dev",
        "devtest",
        "development",
        "eval",
        "evaluation",
        "held out",
        "heldout",
        "holdout",
        "test",
        "testing",
        "tst",
        "val",
        "valid",
        "validation",
    }
)

_MOST = 8
"""Different values that a column of splits has at most."""

_LOOKED = 100_000
_GLANCE = 200
"""Rows that show whether a column holds such words at all."""


@dataclass(frozen=True, kw_only=True)
class PooledSplit:
    """A column of splits that the answer does not tell apart, and its values."""

    column: str
    parts: tuple[str, ...]


def pooled_split(data: Data) -> PooledSplit | None:
    """Return the column that says train and test, if the answer pools both.

    The values decide, whatever the column is called. Among a table's first rows all of them are
    words for parts of a data set, and one of them is the training part.

    Examples
    --------
    >>> from tallystick.table import read
    >>> table = {"split": ["train", "test"] * 3, "a": [0, 1] * 3, "b": [1, 1] * 3}
    >>> pooled_split(read(table, models=("a", "b"))).parts
    ('test', 'train')
    """
    for name, cells in _texts(data):
        words = {as_word(word): word.strip() for word in cells if word.strip()}
        known = words.keys() <= _TRAIN | _HELD_OUT and len(cells) <= _MOST
        if known and words.keys() & _TRAIN and words.keys() & _HELD_OUT:
            return PooledSplit(column=name, parts=tuple(sorted(words.values())))
    return None


def _texts(data: Data) -> Iterator[tuple[str, Collection[str]]]:
    """Yield the columns of text that have no role, each with its different cells."""
    taken, table = data.roles.holders(), data.held
    if isinstance(table, Tally):
        counted = {
            name: [label for label in table.labels[name] if isinstance(label, str)]
            for name in table.names
        }
        beside = {} if data.beside is None else data.beside.texts
        yield from (
            (name, cells) for name, cells in {**counted, **beside}.items() if name not in taken
        )
    elif isinstance(table, Table):
        for name in _likely(table, taken):
            cell = identifier(name)
            rows = table.query(
                f"select distinct {cell} from (select {cell} from rows limit {_LOOKED})"
                f" where {cell} is not null limit {_MOST + 1}"
            )
            yield name, [word for (word,) in rows]


def _likely(table: Table, taken: Collection[str]) -> list[str]:
    """Return the columns of text whose first cells are words for parts of a data set.

    One query for all of them: a table may have two thousand columns.
    """
    kinds = table.kinds
    free = [
        name
        for name in table.columns
        if name not in taken and name not in table.left_out and kinds[name] == "text"
    ]
    if not free:
        return []
    cells = ", ".join(f"{identifier(name)} as c{k}" for k, name in enumerate(free))
    seen = table.arrow(f"select {cells} from (select * from rows limit {_GLANCE})")
    found = []
    for k, name in enumerate(free):
        words = seen[f"c{k}"].drop_null().unique().to_pylist()
        if words and all(as_word(word) in _TRAIN | _HELD_OUT for word in words if word.strip()):
            found.append(name)
    return found


# Items that have several rows although one is expected: copies of a row, or several criteria.
#
# A file that was appended twice holds rows that are equal in every column. Counted twice, they make
# every interval too narrow. Rows that answer different questions about one output (helpful,
# harmless) are told apart by a column of criteria, and are answered one by one.


_REPEATED_ROWS_MOST_ROWS = 2_000_000
"""Rows of which copies are dropped; a larger table is left as it is."""

_MOST_COPIES = 3
"""Rows per different row above which a column names groups of rows rather than items."""

_ACCIDENT = 0.001
"""Probability with which equal rows may be an accident, such as two outputs that both passed."""

_LEAST_ITEMS = 20


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
    ([(40,)], ("8 rows are copies of another row with the same 'id': each is counted once",))
    """
    if roles.weight is not None:
        return table, ()
    for name in _names(table, roles):
        if not table.repeats(name, *beside):
            continue
        [(whole,)] = table.query("select count(*) from rows")
        if whole > _REPEATED_ROWS_MOST_ROWS:
            continue
        every = ", ".join(map(identifier, table.columns))
        keys = ", ".join(map(identifier, (name, *beside)))
        [(rows, outputs)] = table.query(
            f"select count(*), count(distinct ({keys})) from rows where {identifier(name)}"
            " is not null"
        )
        [(different,)] = table.query(f"select count(*) from (select distinct {every} from rows)")
        if rows != whole or not different == outputs < rows:
            continue
        if rows > _MOST_COPIES * different or _may_be_accident(table, (name, *beside), rows):
            continue
        kept = table.arrow(
            f"select {every} from (select *, row_number() over () as place_ from rows)"
            f" qualify row_number() over (partition by {every} order by place_) = 1 order by place_"
        )
        copies = rows - different
        what = "1 row is a copy" if copies == 1 else f"{copies:,} rows are copies"
        note = f"{what} of another row with the same {name!r}: each is counted once"
        # A row of what is left has no line of its own in the file.
        return replace(table, relation=scan(kept).relation, parts=()), (note,)
    return table, ()


def _may_be_accident(table: Table, keys: Sequence[str], rows: int) -> bool:
    """Say whether rows with equal keys may be equal in all other columns by chance."""
    others = ", ".join(identifier(name) for name in table.columns if name not in keys)
    if not others:
        return True
    named = ", ".join(map(identifier, keys))
    [(same, different)] = table.query(
        "select (select sum(n * n) from (select count(*)::double as n from rows group by"
        f" {others})), (select count(*) from (select distinct {named} from rows))"
    )
    return bool(float(same / rows**2) ** (rows - different) > _ACCIDENT)


def find_criterion(
    table: Table, roles: Roles, ignored: Sequence[str] = ()
) -> tuple[Roles, tuple[str, ...]]:
    """Return the roles with the column of criteria, where one tells the rows of an output apart.

    It has a usual name, and the item and the system repeat without it and not with it.
    """
    if roles.criterion is not None or roles.system is None:
        return roles, ()
    held = {*roles.holders(), *ignored, *table.left_out, *table.doubtful}
    likely = [name for name in table.columns if plain(name) == "criterion" and name not in held]
    for item in _names(table, roles):
        if not likely or not table.repeats(item, roles.system):
            continue
        telling = [name for name in likely if not table.repeats(item, roles.system, name)]
        if len(telling) == 1:
            note = (
                f"column {telling[0]!r} tells the rows of each {item!r} apart: one answer for each"
                f" of its values. To pool them, add --ignore {telling[0]}"
            )
            return replace(roles, criterion=telling[0]), (note,)
    return roles, ()


def several_rows(table: Table, roles: Roles, beside: Sequence[str]) -> str | None:
    """Return a warning where items have several rows per system and none of them is named."""
    if roles.item is not None or not beside:
        return None
    for name in _names(table, roles):
        if not table.repeats(name, *beside):
            continue
        keys = ", ".join(map(identifier, (name, *beside)))
        [(rows, outputs, items)] = table.query(
            f"select count(*), count(distinct ({keys})), count(distinct {identifier(name)})"
            f" from rows where {identifier(name)} is not null"
        )
        # Few values with many rows each are groups, such as tasks, and no items.
        if items < _LEAST_ITEMS or rows > _MOST_COPIES * outputs:
            continue
        return (
            f"{rows:,} rows are {outputs:,} different pairs of {name!r} and {beside[0]!r}: every"
            " row counts as an output of its own, so the intervals may be too narrow. Keep one row"
            " per output, or name the column that tells them apart (--criterion)"
        )
    return None


def _names(table: Table, roles: Roles) -> list[str]:
    """Return the columns that may name items, the likeliest first."""
    if roles.item is not None:
        return [roles.item]
    held = {*roles.holders(), *table.left_out, *table.doubtful}
    free = [name for name in table.columns if name not in held]
    return [name for name in free if plain(name) in ROLE_NAMES["item"]]
