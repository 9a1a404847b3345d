"""The heart of counting: rows of small bytes become counts, many rows an instruction.

Two ways to count a chunk of rows, a chunk being so short that everything between the columns and
the table stays in the processor's cache:

- **Bits.** Of a few 0/1 columns every count follows from the sizes of the intersections, and those
  are the bits that are set in ``a & b & c``: 64 rows a word.
- **Packing.** Otherwise each row gets its cell number, one multiply and one add on bytes per
  column, and the cells are counted, two rows at a time where a cell is one byte.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["MOST_BITS", "add_cells", "add_intersections"]

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
