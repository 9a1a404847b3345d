"""The shape of a long log: which row holds which model and item, and whether it is a path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallystick.dynamic.population import Array
from tallystick.errors import InputError

__all__ = ["LongGrid", "arrange"]


@dataclass(frozen=True, eq=False)
class LongGrid:
    """Where the row of each model (or round of a path) and item stands."""

    items: tuple[str, ...]
    models: tuple[str, ...]
    cells: Array
    on_path: bool

    def of_item(self, values: Array, name: str) -> Array:
        """Return the value of each item, which must be the same in all of its rows."""
        cells = values[self.cells]
        differs = np.flatnonzero((cells != cells[0]).any(axis=0))
        if differs.size:
            k = int(differs[0])
            other = next(cell for cell in cells[:, k] if cell != cells[0, k])
            raise InputError(
                f"item {self.items[k]!r} has the {name} {cells[0, k].item()!r} in one row and"
                f" {other.item()!r} in another: an item has one"
            )
        return np.asarray(cells[0])


def arrange(names: Sequence[str], when: Sequence[int], whose: Sequence[str]) -> LongGrid:
    """Put the rows of a long log into a grid of models by items; refuse gaps and doubles.

    Parameters
    ----------
    names, when, whose
        The item, the round and the model of each row.

    Examples
    --------
    >>> grid = arrange(["x", "y", "x", "y"], [1, 1, 2, 2], ["h", "h", "i", "i"])
    >>> grid.on_path, grid.models, grid.cells.tolist()
    (True, ('h (round 1)', 'i (round 2)'), [[0, 1], [2, 3]])
    """
    # On a path every item was tried exactly once in every round.
    tried = set(zip(names, when, strict=True))
    on_path = len(tried) == len(names) == len(set(names)) * len(set(when))
    if on_path and min(when) > 1:
        raise InputError(
            f"the path begins in round {min(when)}: what its model was trained on is not in the"
            " log. Give all rounds from the first on, or number these from 1 if they are the first"
        )
    items = list(dict.fromkeys(names))
    heads: list[Any] = sorted(set(when)) if on_path else list(dict.fromkeys(whose))
    at, head_at = {n: k for k, n in enumerate(items)}, {h: k for k, h in enumerate(heads)}
    cells = np.full((len(heads), len(items)), -1, dtype=np.int64)
    for k, name in enumerate(names):
        where = head_at[when[k] if on_path else whose[k]], at[name]
        if cells[where] >= 0:
            raise InputError(f"item {name!r} has two rows for model {whose[k]!r}: keep one")
        cells[where] = k
    if on_path:
        heads = [f"{whose[int(row[0])]} (round {r})" for row, r in zip(cells, heads, strict=True)]
    else:
        _check_panel(cells, heads, items, names, when)
    return LongGrid(tuple(items), tuple(heads), cells, on_path)


def _check_panel(
    cells: Array,
    models: Sequence[str],
    items: Sequence[str],
    names: Sequence[str],
    when: Sequence[int],
) -> None:
    home: dict[str, int] = {}
    for name, number in zip(names, when, strict=True):
        if home.setdefault(name, number) != number:
            raise InputError(
                f"item {name!r} belongs to round {home[name]} and to round {number}: an item has"
                " one round"
            )
    rounds = np.array([home[name] for name in items])
    for number in np.unique(rounds):
        absent = np.flatnonzero((cells[:, rounds == number] < 0).all(axis=1))
        if absent.size:
            raise InputError(
                f"models differ between rounds: {models[absent[0]]!r} was not tried in round"
                f" {number}. Choose the models that were tried in all rounds (--models)"
            )
    gaps = np.argwhere(cells < 0)
    if gaps.size:
        raise InputError(f"item {items[gaps[0][1]]!r} has no row for model {models[gaps[0][0]]!r}")
