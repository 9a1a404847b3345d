"""Counting rows of whole numbers: one open dense table, chunk by chunk; sorted packed rows where
that is too wide.

A :class:`Counter` is what a stream counts into. It knows nothing of labels: its columns hold
integers, and its layout (the lowest value and the number of values of each column) grows with what
it meets.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import MergeError
from tallystick.table.cells import ItemSketch, SharedRows
from tallystick.table.patterns import Counts, group, pack, unpack

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


# What a tally has counted already, so that nothing is counted twice.
#
# A file or a stream is known by the SHA-256 of its content, whatever its name; a batch by the id
# that its caller gives. The same rows in another file, such as a later export that holds the
# earlier one, are found by a sketch of their items. Data in memory has none of these, and so takes
# no part in the check.


_BATCH = "batch:"
_SHOWN = 5


@dataclass(frozen=True, kw_only=True)
class Sources:
    """The files and batches inside a tally.

    Parameters
    ----------
    names
        Id to name: ``sha256:…`` to the name of the file, ``batch:…`` to the id of the batch.
    repeated
        Ids of what was counted more than once, because the caller allowed it.
    items
        A sketch of the items that were counted, by the hash function that made it.
    overlaps
        Which rows of different files were counted more than once, because the caller allowed it.

    Examples
    --------
    >>> monday, tuesday = Sources.of_batch("mon"), Sources.of_batch("tue")
    >>> monday.joined(tuesday).batches
    ('mon', 'tue')
    >>> monday.joined(tuesday).joined(monday)
    Traceback (most recent call last):
    tallystick.errors.MergeError: both tallies count batch mon: its rows would be counted twice. ...
    """

    names: Mapping[str, str] = field(default_factory=dict)
    repeated: frozenset[str] = frozenset()
    items: Mapping[str, ItemSketch] = field(default_factory=dict)
    overlaps: frozenset[str] = frozenset()

    @classmethod
    def of_contents(cls, contents: Iterable[tuple[str, str]]) -> Sources:
        """Return the sources of files, given as pairs of SHA-256 and name.

        Two files of one content are both counted, as the caller named both, and are repeated.
        """
        names: dict[str, str] = {}
        repeated = set()
        for digest, name in contents:
            key = f"sha256:{digest}"
            if key in names:
                repeated.add(key)
            names.setdefault(key, name)
        return cls(names=names, repeated=frozenset(repeated))

    @classmethod
    def of_batch(cls, batch_id: str) -> Sources:
        """Return the source of one batch that its caller named."""
        return cls(names={f"{_BATCH}{batch_id}": f"batch {batch_id}"})

    @property
    def batches(self) -> tuple[str, ...]:
        """The ids of the batches, in order."""
        return tuple(sorted(key[len(_BATCH) :] for key in self.names if key.startswith(_BATCH)))

    @property
    def repeats(self) -> tuple[str, ...]:
        """The names of what was counted more than once, in order."""
        return tuple(sorted({*(self.names[key] for key in self.repeated), *self.overlaps}))

    def shared(self, other: Sources) -> tuple[str, ...]:
        """Return the names of what both have counted, in order."""
        return tuple(sorted(self.names[key] for key in self.names.keys() & other.names.keys()))

    def clash(self, other: Sources) -> str | None:
        """Say what both have counted, after the words "they both count"; None for nothing."""
        shared = self.shared(other)
        if shared:
            more = f" and {len(shared) - _SHOWN} more" if len(shared) > _SHOWN else ""
            its = "its" if len(shared) == 1 else "their"
            return f"{', '.join(shared[:_SHOWN])}{more}: {its} rows would be counted twice"
        rows = self._rows_shared(other)
        return None if rows is None else f"{rows}: they would be counted twice"

    def joined(self, other: Sources, *, allow_overlap: bool = False) -> Sources:
        """Return the sources of both; what both have counted raises `MergeError`, unless that is
        allowed.
        """
        # Most tallies are made in memory and have no sources: nothing to copy.
        if not (self.names and other.names):
            return self if self.names else other
        clash = self.clash(other)
        if clash is not None and not allow_overlap:
            raise MergeError(
                f"both tallies count {clash}. Leave one tally out, or allow it (--allow-overlap,"
                " allow_overlap=True)"
            )

        shared = self.names.keys() & other.names.keys()
        overlaps = self.overlaps | other.overlaps
        if clash is not None and not shared:
            files = sorted({*self.names.values(), *other.names.values()})
            named = ", ".join(files[:_SHOWN]) + (", …" if len(files) > _SHOWN else "")
            overlaps |= {f"{named} ({self._rows_shared(other)})"}

        # The smaller name wins where two files of one content differ in name: + commutes.
        names = {**self.names, **other.names}
        names.update({key: min(self.names[key], other.names[key]) for key in shared})
        items = {
            kind: self.items.get(kind, _NO_ITEMS).joined(other.items.get(kind, _NO_ITEMS))
            for kind in sorted({*self.items, *other.items})
        }
        return Sources(
            names=names,
            repeated=self.repeated | other.repeated | shared,
            items=items,
            overlaps=overlaps,
        )

    def _rows_shared(self, other: Sources) -> SharedRows | None:
        """Return how many rows of different files both have counted."""
        for kind in self.items.keys() & other.items.keys():
            rows = self.items[kind].shared(other.items[kind])
            if rows is not None:
                return rows
        return None

    def to_json(self) -> dict[str, Any]:
        """Return what a saved tally keeps."""
        return {
            "names": dict(sorted(self.names.items())),
            "repeated": sorted(self.repeated),
            "items": {kind: sketch.to_json() for kind, sketch in sorted(self.items.items())},
            "overlaps": sorted(self.overlaps),
        }

    @classmethod
    def from_json(cls, written: Any) -> Sources:
        """Read what :meth:`to_json` returned; a tally of an earlier version has less, or None."""
        if written is None:
            return cls()
        names = {str(key): str(name) for key, name in written["names"].items()}
        items = written.get("items", {})
        return cls(
            names=names,
            repeated=frozenset(map(str, written["repeated"])) & names.keys(),
            items={str(kind): ItemSketch.from_json(one) for kind, one in items.items()},
            overlaps=frozenset(map(str, written.get("overlaps", ()))),
        )


_NO_ITEMS = ItemSketch()

# The heart of counting: rows of small bytes become counts, many rows an instruction.
#
# Two ways to count a chunk of rows, a chunk being so short that everything between the columns and
# the table stays in the processor's cache:
#
# - **Bits.** Of a few 0/1 columns every count follows from the sizes of the intersections, and
# those
#   are the bits that are set in ``a & b & c``: 64 rows a word.
# - **Packing.** Otherwise each row gets its cell number, one multiply and one add on bytes per
#   column, and the cells are counted, two rows at a time where a cell is one byte.


MOST_BITS = 5
"""0/1 columns up to which intersections, of which there are 2 to that power, beat packing."""
MANY = 1 << 14
"""Rows from which a table of pairs of rows pays."""

Bytes = NDArray[np.uint8]


def add_intersections(columns: Sequence[Bytes], table: NDArray[np.int64]) -> bool:
    """Count the patterns of 0/1 byte columns into *table*; False, counting nothing, if one is not.

    ``n(a and b and not c) = n(ab) - n(abc)`` and so on.

    >>> table = np.zeros(4, np.int64)
    >>> add_intersections([np.uint8([0, 1, 1]), np.uint8([1, 0, 1])], table), table.tolist()
    (True, [0, 1, 1, 1])
    """
    n, k = len(columns[0]), len(columns)
    if n and any(column.max() > 1 for column in columns):
        return False
    words = []
    for column in columns:
        bits = np.zeros(-(-n // 64) * 8, np.uint8)
        packed = np.packbits(column)
        bits[: packed.size] = packed
        words.append(bits.view(np.uint64))

    # The first column is the highest bit of a pattern, as in the order of the cells.
    sizes, inside = np.zeros(1 << k, np.int64), {0: np.zeros(0, np.uint64)}
    sizes[0] = n
    for pattern in range(1, 1 << k):
        rest = pattern & (pattern - 1)
        word = words[k - (pattern ^ rest).bit_length()]
        inside[pattern] = inside[rest] & word if rest else word
        sizes[pattern] = np.bitwise_count(inside[pattern]).sum(dtype=np.int64)

    # From "at least these columns are 1" to "exactly these are", one column at a time.
    counts = sizes.reshape((2,) * k)
    for axis in range(k):
        part = np.moveaxis(counts, axis, 0)
        part[0] -= part[1]
    table += counts.ravel()
    return True


def add_cells(
    columns: Sequence[Bytes],
    lows: Sequence[int],
    sizes: Sequence[int],
    cells: NDArray[Any],
    table: NDArray[np.int64],
) -> bool:
    """Count rows of byte columns into *table*; False, counting nothing, if a value is outside.

    Parameters
    ----------
    columns
        Bytes; a negative value is the byte that it is written as.
    lows, sizes
        The lowest value and the number of values of each column.
    cells
        Room for one cell number per row: bytes, or two bytes where there are more than 256 cells.
    table
        One entry per cell.

    Examples
    --------
    >>> table = np.zeros(6, np.int64)
    >>> columns = np.uint8([0, 1, 1]), np.uint8([7, 9, 9])
    >>> add_cells(columns, (0, 7), (2, 3), np.empty(3, np.uint8), table), table.tolist()
    (True, [1, 0, 0, 0, 0, 2])
    """
    cells.fill(0)
    for column, low, size in zip(columns, lows, sizes, strict=True):
        value = (
            column - np.uint8(low & 0xFF) if low else column
        )  # modulo 256, as negative bytes are
        if len(value) and value.max() >= size:
            return False
        cells *= cells.dtype.type(size) if size < 256 or cells.itemsize > 1 else 0
        cells += value
    if cells.itemsize > 1 or len(cells) < MANY:
        table += np.bincount(cells, minlength=len(table))
        return True

    # Two rows are one number of two bytes: half as many to count.
    even = len(cells) // 2 * 2
    pairs = np.bincount(cells[:even].view(np.uint16), minlength=1 << 16).reshape(256, 256)
    table += (pairs.sum(axis=0) + pairs.sum(axis=1))[: len(table)]
    if even < len(cells):
        table[cells[-1]] += 1
    return True
