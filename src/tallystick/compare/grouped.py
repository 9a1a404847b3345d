"""Rows of one item are its runs: which row belongs to which item, and what its runs add up to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError
from tallystick.values import Label

__all__ = ["Grouped"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Places = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False, kw_only=True)
class Grouped:
    """Rows sorted into items.

    Parameters
    ----------
    places
        The item of each row, -1 for a row that is not used.
    first
        The first row of each item.
    used
        Which rows are used.
    lost, total
        Items that are left out because a model has no score there, and all items; rows where
        items have no names.
    """

    places: Places
    first: Places
    used: Bools
    lost: int
    total: int

    @classmethod
    def of(cls, items: Sequence[Label] | None, answered: Bools, *, own_runs: bool) -> Grouped:
        """Sort rows into items.

        Parameters
        ----------
        items
            The item of each row; None if every row is one.
        answered
            Rows x models: whether there is a score.
        own_runs
            Whether each model counts by its own runs of an item. Otherwise a row counts only if
            every model has a score in it.

        Examples
        --------
        >>> answered = np.array([[True, True], [True, False], [False, True]])
        >>> Grouped.of(["q1", "q1", "q2"], answered, own_runs=True).places.tolist()
        [0, 0, -1]
        >>> Grouped.of(["q1", "q1", "q2"], answered, own_runs=False).places.tolist()
        [0, -1, -1]
        """
        whole = np.asarray(answered.all(axis=1))
        if items is None:
            rows = np.flatnonzero(whole)
            places = np.full(len(whole), -1, np.int64)
            places[rows] = np.arange(len(rows))
            lost = int((~whole).sum())
            return cls(places=places, first=rows, used=whole, lost=lost, total=len(whole))

        codes = _codes(items)
        total = int(codes.max()) + 1 if len(codes) else 0
        if own_runs:
            runs = np.stack(
                [
                    np.bincount(codes, answered[:, j], minlength=total)
                    for j in range(answered.shape[1])
                ]
            )
            complete = np.asarray((runs > 0).all(axis=0))
            used = complete[codes] & answered.any(axis=1)
            lost, count = int((~complete).sum()), total
        else:
            used, lost, count = whole, int((~whole).sum()), len(whole)
        return cls._renumbered(codes, used, lost, count)

    @classmethod
    def _renumbered(cls, codes: Places, used: Bools, lost: int, total: int) -> Grouped:
        """Give the items that are left their numbers, in the order of their first used row."""
        rows = np.flatnonzero(used)
        found, first = np.unique(codes[rows], return_index=True)
        order = np.argsort(first, kind="stable")
        number = np.full(int(codes.max()) + 2 if len(codes) else 1, -1, np.int64)
        number[found[order]] = np.arange(len(found))
        places = np.where(used, number[codes], -1)
        return cls(places=places, first=rows[first[order]], used=used, lost=lost, total=total)

    @property
    def repeated(self) -> bool:
        """Whether an item has several rows."""
        return len(self.first) < int(self.used.sum())

    def runs(self, answered: Bools) -> Floats:
        """Return how many scores each model has of each item."""
        return self._added(answered.astype(float))

    def sums(self, scores: Floats) -> Floats:
        """Return the sum of each model's scores of each item, missing ones left out."""
        return self._added(np.nan_to_num(scores))

    def _added(self, values: Floats) -> Floats:
        n, used = len(self.first), self.used
        columns = [
            np.bincount(self.places[used], values[used, j], minlength=n)
            for j in range(values.shape[1])
        ]
        return np.stack(columns, axis=1)


def _codes(items: Sequence[Label]) -> Places:
    seen: dict[Label, int] = {}
    codes = np.empty(len(items), np.int64)
    for row, item in enumerate(items):
        if item is None:
            raise InputError(f"row {row + 1}: the item is blank; name every item or remove the row")
        codes[row] = seen.setdefault(item, len(seen))
    return codes
