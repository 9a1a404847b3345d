"""A stream of batches of small integers, counted without looking at labels until somebody asks.

A batch of ten thousand rows takes the kernel some ten microseconds, so all that is checked here is
that the batch looks like the ones before; whatever else arrives goes the general way.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tallystick.tally.counter import Counter
from tallystick.tally.engines.encode import Encoded
from tallystick.tally.engines.memory import Counted, decode
from tallystick.tally.patterns import Patterns
from tallystick.tally.recipe import Recipe

__all__ = ["Stream"]


_CONTIGUOUS = (1,)  # the strides of bytes that lie side by side


class Stream:
    """An open counter for batches that are dictionaries of integer (or all boolean) arrays."""

    def __init__(
        self, names: tuple[str, ...], dtypes: tuple[np.dtype[Any], ...], recipe: Recipe
    ) -> None:
        self.recipe = recipe
        self._names = names
        self._columns = tuple(zip(names, dtypes, strict=True))
        self._bytes = all(dtype.itemsize == 1 for dtype in dtypes)
        self._boolean = dtypes[0].kind == "b"
        self._exactly = recipe.columns is None
        self._counter = Counter(len(names), weighted=False)

    @classmethod
    def open(cls, batch: Any, held: Patterns, recipe: Recipe) -> Stream | None:
        """Return a stream that goes on from *held*, if batches like this one can be counted without
        looking at labels.

        That is so if nothing is cut or weighted and all labels, those of *held* included, are of
        one type: then no two spellings of one value can meet.
        """
        if type(batch) is not dict or recipe.cut or recipe.weight is not None:
            return None
        columns = [batch[name] for name in held.names]
        if not all(
            isinstance(column, np.ndarray) and column.dtype.kind in "biu" for column in columns
        ):
            return None
        boolean = {column.dtype.kind == "b" for column in columns}
        kind = bool if boolean == {True} else int
        known = {
            type(label) for labels in held.labels.values() for label in labels if label is not None
        }
        if len(boolean) > 1 or not known <= {kind}:
            return None
        return cls(held.names, tuple(column.dtype for column in columns), recipe)

    @property
    def rows(self) -> int:
        """How many rows wait to be taken over."""
        return self._counter.rows

    def take(self, batch: Any) -> int | None:
        """Count the batch: None if all of it was taken, else how many of its first rows were."""
        names = self._names
        if type(batch) is not dict or (self._exactly and len(batch) != len(names)):
            return 0
        columns, plain = [], self._bytes
        shape = None
        for name, dtype in self._columns:
            column = batch.get(name)
            if type(column) is not np.ndarray or column.dtype is not dtype:
                return 0
            if shape is None:
                shape = column.shape
            if column.shape != shape or len(shape) != 1:
                return 0
            plain = plain and column.strides == _CONTIGUOUS
            columns.append(column)
        n = len(columns[0])
        if self._boolean:
            columns = [column.view(np.uint8) for column in columns]
        if plain and self._counter.add_bytes(columns, n):
            return None
        taken = self._counter.add(columns)
        return None if taken == n else taken

    def drain(self) -> Counted:
        """Return what was counted, and start again."""
        values, counts = self._counter.patterns()
        self._counter = Counter(len(self._names), weighted=False)
        stand_in = Encoded(np.zeros(0, np.int64), boolean=self._boolean)
        return decode(self._names, [stand_in] * len(self._names), values, counts)
