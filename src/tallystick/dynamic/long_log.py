"""The shape of a long log: which row holds which model and item, and whether it is a path."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallystick.dynamic.population import Array
from tallystick.errors import InputError

__all__ = ["LongGrid", "arrange"]


@dataclass(frozen=True, eq=False)
class LongGrid:
    """Where the row of each model (or round of a path) and item stands.

    Parameters
    ----------
    items, heads
        The items, and the models of a panel or the places of a path's rounds.
    cells
        (heads, items): the row, -1 where there is none.
    on_path
        Whether the heads are rounds.
    dropped
        Path: items that were left out because they were not tried in every round.
    """

    items: tuple[str, ...]
    heads: tuple[Any, ...]
    cells: Array
    on_path: bool
    dropped: int = 0

    def of_item(self, values: Array, name: str) -> Array:
        """Return the value of each item, which must be the same in all of its rows."""
        first = np.array([column[column >= 0][0] for column in self.cells.T])
        steady = values[first]
        cells = np.where(self.cells >= 0, values[self.cells], steady)
        differs = np.flatnonzero((cells != steady).any(axis=0))
        if differs.size:
            k = int(differs[0])
            other = next(cell for cell in cells[:, k] if cell != steady[k])
            raise InputError(
                f"item {self.items[k]!r} has the {name} {steady[k].item()!r} in one row and"
                f" {other.item()!r} in another: an item has one"
            )
        return np.asarray(steady)


def arrange(
    names: Sequence[str], when: Sequence[int], whose: Sequence[str], *, path: bool | None = None
) -> LongGrid:
    """Put the rows of a long log into a grid of models, or rounds, by items.

    A log is a path if every item was tried exactly once in every round, and a panel if every item
    belongs to one round. A panel may have gaps.

    Parameters
    ----------
    names, when, whose
        The item, the place of the round and the model of each row.
    path
        True reads the rows as a path, whatever they look like: items that were not tried in every
        round are left out.

    Examples
    --------
    >>> grid = arrange(["x", "y", "x", "y"], [0, 0, 1, 1], ["h", "h", "i", "i"])
    >>> grid.on_path, grid.heads, grid.cells.tolist()
    (True, (0, 1), [[0, 1], [2, 3]])
    >>> arrange(["x", "x", "y"], [0, 0, 0], ["h", "i", "h"]).cells.tolist()
    [[0, 2], [1, -1]]
    """
    count = len(set(when))
    tried = Counter(zip(names, when, strict=True))
    rounds_of = Counter(name for name, _ in tried)
    once = len(tried) == len(names)
    steady = once and count > 1 and all(many == count for many in rounds_of.values())
    if path or steady:
        return _path_grid(names, when, tried, rounds_of, count)

    home: dict[str, int] = {}
    for name, number in zip(names, when, strict=True):
        if home.setdefault(name, number) != number:
            raise InputError(
                f"item {name!r} was tried in more than one round, but not every item in every"
                " round, so the log is neither a panel nor a path. If some items are a fixed"
                " held-out set, mark them in a column (--held-out COLUMN)"
            )
    heads = tuple(dict.fromkeys(whose))
    items = tuple(dict.fromkeys(names))
    return LongGrid(items, heads, _grid(names, whose, items, heads, whose), on_path=False)


def _path_grid(
    names: Sequence[str],
    when: Sequence[int],
    tried: Counter[tuple[str, int]],
    rounds_of: Counter[str],
    count: int,
) -> LongGrid:
    twice = next((pair for pair, many in tried.items() if many > 1), None)
    if twice is not None:
        raise InputError(
            f"item {twice[0]!r} has two rows in one round: a path has one model per round"
        )
    items = tuple(name for name in dict.fromkeys(names) if rounds_of[name] == count)
    if not items:
        raise InputError(
            "no held-out item was tried in every round: rounds can only be compared on items that"
            " all of them were tried on"
        )
    kept = set(items)
    heads = tuple(sorted(set(when)))
    rows = [k for k, name in enumerate(names) if name in kept]
    cells = _grid(names, when, items, heads, when, rows)
    return LongGrid(items, heads, cells, on_path=True, dropped=len(rounds_of) - len(items))


def _grid(
    names: Sequence[str],
    which: Sequence[Any],
    items: Sequence[str],
    heads: Sequence[Any],
    shown: Sequence[Any],
    rows: Sequence[int] | None = None,
) -> Array:
    at, head_at = {n: k for k, n in enumerate(items)}, {h: k for k, h in enumerate(heads)}
    cells = np.full((len(heads), len(items)), -1, dtype=np.int64)
    for k in range(len(names)) if rows is None else rows:
        where = head_at[which[k]], at[names[k]]
        if cells[where] >= 0:
            raise InputError(f"item {names[k]!r} has two rows for model {shown[k]!r}: keep one")
        cells[where] = k
    return cells
