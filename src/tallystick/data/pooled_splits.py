"""Parts of a data set, such as train and test, that one answer would pool.

A model that has seen the training items is not as good as its score on them. Nobody who has a
column of splits wants train and test in one number without knowing it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from tallystick.data.data import Data
from tallystick.io import Table, identifier
from tallystick.tally import Tally
from tallystick.values.words import as_word

__all__ = ["PooledSplit", "pooled_split"]

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
    >>> from tallystick.data import read
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
