"""Counting rows of whole numbers: one open dense table, chunk by chunk; sorted packed rows where
that is too wide.

A :class:`Counter` is what a stream counts into. It knows nothing of labels: its columns hold
integers, and its layout (the lowest value and the number of values of each column) grows with what
it meets.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.tally.kernel import MOST_BITS, add_cells, add_intersections
from tallystick.tally.store import Counts, group, pack, unpack

__all__ = ["Counter", "count_integers"]

_CHUNK = 1 << 18
"""Rows a step: the cell numbers of a chunk stay in the processor's cache."""
_MOST_CELLS = 1 << 20
"""The open table is kept under this many cells (8 MiB); beyond, rows are packed and sorted."""
_MOST_COLUMNS = 32
"""Beyond so many columns there is no use in trying a dense table."""
_MANY_ROWS = 1 << 14
"""Rows of a chunk from which the bits of 0/1 columns are counted instead of cells."""


class Counter:
    """A dense table of the rows met so far, open for more.

    Parameters
    ----------
    n_columns
        How many columns every chunk has.
    weighted
        Whether rows come with weights.

    Examples
    --------
    >>> counter = Counter(2, weighted=False)
    >>> counter.add([np.array([0, 1, 1]), np.array([5, 5, 7])])
    3
    >>> values, counts = counter.patterns()
    >>> values.tolist(), counts.tolist()
    ([[0, 5], [1, 5], [1, 7]], [1, 1, 1])
    """

    def __init__(self, n_columns: int, *, weighted: bool) -> None:
        self.rows = 0
        self._weighted = weighted
        self._lows: list[int] = [0] * n_columns
        self._sizes: list[int] = [0] * n_columns
        self._table: Counts = np.zeros(0, np.float64 if weighted else np.int64)
        self._bytes: _Bytes | None = None

    def add(
        self, columns: Sequence[NDArray[Any]], weights: NDArray[np.float64] | None = None
    ) -> int:
        """Count the rows of *columns*; return how many were taken before the table would have
        become too wide.
        """
        n = len(columns[0])
        if n <= _CHUNK:  # the common case of a stream: no slicing
            return n if self._take(columns, weights) else 0
        for start in range(0, n, _CHUNK):
            chunk = [column[start : start + _CHUNK] for column in columns]
            weight = None if weights is None else weights[start : start + _CHUNK]
            if not self._take(chunk, weight):
                return start
        return n

    def add_bytes(self, columns: Sequence[NDArray[Any]], n: int) -> bool:
        """Count *n* rows of contiguous one-byte columns at once; False, and nothing done, if that
        takes more thought.

        The short way of a stream, whose batches take the kernel less time than Python needs for a
        few calls.
        """
        if self._bytes is None or n > _CHUNK or not self._bytes.count_bytes(columns, n):
            return False
        self.rows += n
        return True

    def patterns(self) -> tuple[NDArray[np.int64], Counts]:
        """Return the rows that occurred, one a pattern, and how often."""
        self._fold()
        cells = np.flatnonzero(self._table)
        values = np.empty((len(cells), len(self._sizes)), np.int64)
        rest = cells
        for j in reversed(range(len(self._sizes))):
            rest, value = np.divmod(rest, max(1, self._sizes[j]))
            values[:, j] = value + self._lows[j]
        return values, self._table[cells]

    def _take(self, chunk: Sequence[NDArray[Any]], weights: NDArray[np.float64] | None) -> bool:
        """Count one chunk; False if the table cannot hold it."""
        if not len(chunk[0]):
            return True
        if not self._count(chunk, weights):
            if not self._grow(chunk):
                return False
            self._count(chunk, weights)
        self.rows += len(chunk[0])
        return True

    def _count(self, chunk: Sequence[NDArray[Any]], weights: NDArray[np.float64] | None) -> bool:
        """Count the chunk within the present layout; False, and nothing done, if a value is outside
        it.
        """
        if not len(self._table):
            return False
        if self._bytes is None and weights is None and _small(self._sizes):
            self._bytes = _Bytes(self._lows, self._sizes)
        if self._bytes is not None:
            return self._bytes.count(chunk)
        cells = np.zeros(len(chunk[0]), np.intp)
        for column, low, size in zip(chunk, self._lows, self._sizes, strict=True):
            if int(column.min()) < low or int(column.max()) >= low + size:
                return False
            cells *= size
            np.add(cells, column, out=cells, casting="unsafe")
            if low:
                cells -= low
        self._table += np.bincount(cells, weights, minlength=len(self._table))
        return True

    def _grow(self, chunk: Sequence[NDArray[Any]]) -> bool:
        """Widen the layout so that it holds the chunk; False if that takes too many cells."""
        self._fold()
        lows, sizes = [], []
        for column, low, size in zip(chunk, self._lows, self._sizes, strict=True):
            least, most = int(column.min()), int(column.max())
            # a judge who always says the same so far is still a 0/1 judge
            if least >= 0 and most <= 1:
                least, most = 0, 1
            if size:
                least, most = min(least, low), max(most, low + size - 1)
            lows.append(least)
            sizes.append(most - least + 1)
        if len(sizes) > _MOST_COLUMNS or math.prod(sizes) > _MOST_CELLS:
            return False
        table = np.zeros(math.prod(sizes), self._table.dtype)
        if len(self._table):
            old = tuple(
                slice(a - b, a - b + size)
                for a, b, size in zip(self._lows, lows, self._sizes, strict=True)
            )
            table.reshape(sizes)[old] = self._table.reshape(self._sizes)
        self._lows, self._sizes, self._table = lows, sizes, table
        return True

    def _fold(self) -> None:
        """Take over what was counted in bytes."""
        if self._bytes is not None:
            self._table += self._bytes.table
            self._bytes = None


def _small(sizes: Sequence[int]) -> bool:
    """Say whether values fit a byte, and cells two."""
    return max(sizes) <= 256 and math.prod(sizes) <= 1 << 16


class _Bytes:
    """Counts of columns of bytes in one layout."""

    def __init__(self, lows: Sequence[int], sizes: Sequence[int]) -> None:
        self._lows, self._sizes = lows, sizes
        self._binary = len(sizes) <= MOST_BITS and set(lows) == {0} and set(sizes) == {2}
        self.table = np.zeros(math.prod(sizes), np.int64)
        self._cells = np.empty(0, np.uint8 if len(self.table) <= 256 else np.uint16)

    def count(self, chunk: Sequence[NDArray[Any]]) -> bool:
        """Count the chunk; False, and nothing done, if a value is outside the layout."""
        columns = []
        for column, low, size in zip(chunk, self._lows, self._sizes, strict=True):
            if column.itemsize == 1:
                columns.append(column if column.flags.c_contiguous else column.copy())
            elif int(column.min()) < low or int(column.max()) >= low + size:
                return False
            else:
                # modulo 256, as the kernel subtracts the lowest value
                columns.append(column.astype(np.uint8))
        return self.count_bytes(columns, len(chunk[0]))

    def count_bytes(self, columns: Sequence[NDArray[Any]], n: int) -> bool:
        """Count *n* rows of contiguous one-byte columns; False, and nothing done, if a value is
        outside the layout.
        """
        held = [column.view(np.uint8) for column in columns]
        if self._binary and n >= _MANY_ROWS:
            return add_intersections(held, self.table)
        if n > len(self._cells):
            self._cells = np.empty(n, self._cells.dtype)
        return add_cells(held, self._lows, self._sizes, self._cells[:n], self.table)


def count_integers(
    columns: Sequence[NDArray[Any]], weights: NDArray[np.float64] | None = None
) -> tuple[NDArray[np.int64], Counts]:
    """Return the distinct rows of integer *columns* and how often (or with what weight) each
    occurs.

    >>> values, counts = count_integers([np.array([3, 3, 9]), np.array([1, 1, 1])])
    >>> values.tolist(), counts.tolist()
    ([[3, 1], [9, 1]], [2, 1])
    """
    counter = Counter(len(columns), weighted=weights is not None)
    taken = counter.add(columns, weights)
    values, counts = counter.patterns()
    if taken == len(columns[0]):
        return values, counts
    rest = [column[taken:] for column in columns]
    more, more_counts = _count_wide(rest, None if weights is None else weights[taken:])
    return np.concatenate([values, more]), np.concatenate([counts, more_counts])


def _count_wide(
    columns: Sequence[NDArray[Any]], weights: NDArray[np.float64] | None
) -> tuple[NDArray[np.int64], Counts]:
    """Pack each row into words, sort, count; in steps, so that memory follows the patterns and not
    the rows.
    """
    lows = [int(column.min()) for column in columns]
    sizes = [int(column.max()) - low + 1 for column, low in zip(columns, lows, strict=True)]
    n, step = len(columns[0]), 8 * _CHUNK
    keys: NDArray[Any] | None = None
    counts: Counts = np.zeros(0, np.int64)
    for start in range(0, n, step):
        chunk = [
            np.subtract(column[start : start + step], low, dtype=np.int64)
            for column, low in zip(columns, lows, strict=True)
        ]
        found = pack(np.stack(chunk, axis=1), sizes)
        weight: Counts = (
            np.ones(len(found), np.int64) if weights is None else weights[start : start + step]
        )
        found, weight = group(found, weight)
        keys, counts = (
            (found, weight)
            if keys is None
            else group(np.concatenate([keys, found]), np.concatenate([counts, weight]))
        )
    assert keys is not None
    return unpack(keys, sizes).astype(np.int64) + np.asarray(lows), counts
