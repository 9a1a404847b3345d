"""The compiled heart: rows of small bytes become counts, several rows an instruction.

Two ways to count a chunk of rows, a chunk being so short that everything between the columns and
the table stays in the processor's cache:

- **ANDs.** Of up to three 0/1 columns every count follows from the sizes of the intersections, and
  those are sums of
  ``a & b & c``: plain byte arithmetic on eight rows a word, which the compiler vectorises.
- **Packing.** Otherwise each row gets its cell number, one byte-wise multiply-add a column, and the
  cells are counted
  into four interleaved tables, so that equal neighbours do not wait for one another's store.

Numba takes longer to load than a small table takes to count, so this module is imported only by
large inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np

__all__ = ["add_column", "add_intersections", "histogram"]

_ONES = np.uint64(0x0101010101010101)
_LOW = np.uint64(0x00FF00FF00FF00FF)
_FOLD = np.uint64(0x0001000100010001)
# at most 255, so that 0/1 bytes add up without a carry; a multiple of 16, so that no scalar rest is
# left
_RUN = 240


def _compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile *function*, once and for all where a cache can be written."""
    try:
        made: Callable[..., Any] = numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # neither beside this file nor in the home folder can anything be written
        made = numba.njit(nogil=True)(function)
    return made


@_compiled
def _byte_sum(word: Any) -> Any:
    """Add up the eight bytes of *word*."""
    pairs = (word & _LOW) + ((word >> np.uint64(8)) & _LOW)
    return np.int64((pairs * _FOLD) >> np.uint64(48))


@_compiled
def _aligned(column: Any) -> Any:
    return column if column.ctypes.data % 8 == 0 else column.copy()


@_compiled
def _intersect(a: Any, b: Any, c: Any, sizes: Any) -> Any:
    """Add the sizes of all intersections of a short run of words; return which bits were seen.

    A run of its own, with indices from zero: the compiler vectorises nothing else.
    """
    sa = sb = sc = sab = sac = sbc = sabc = seen = np.uint64(0)
    for i in range(len(a)):
        x, y, z = a[i], b[i], c[i]
        seen |= x | y | z
        xy = x & y
        sa += x
        sb += y
        sc += z
        sab += xy
        sac += x & z
        sbc += y & z
        sabc += xy & z
    sizes[0] += _byte_sum(sa)
    sizes[1] += _byte_sum(sb)
    sizes[2] += _byte_sum(sc)
    sizes[3] += _byte_sum(sab)
    sizes[4] += _byte_sum(sac)
    sizes[5] += _byte_sum(sbc)
    sizes[6] += _byte_sum(sabc)
    return seen


@_compiled
def add_intersections(a: Any, b: Any, c: Any, table: Any) -> Any:
    """Count the patterns of three 0/1 byte columns into *table* (8 cells); False, and nothing done,
    if one is not 0/1.

    ``n(a and b and not c) = n(ab) - n(abc)`` and so on.
    """
    a, b, c = _aligned(a.view(np.uint8)), _aligned(b.view(np.uint8)), _aligned(c.view(np.uint8))
    n_rows = len(a) // 8 * 8
    wa, wb, wc = a[:n_rows].view(np.uint64), b[:n_rows].view(np.uint64), c[:n_rows].view(np.uint64)
    sizes = np.zeros(7, np.int64)
    seen = np.uint64(0)
    for i in range(0, len(wa), _RUN):
        seen |= _intersect(wa[i : i + _RUN], wb[i : i + _RUN], wc[i : i + _RUN], sizes)
    for i in range(n_rows, len(a)):
        seen |= np.uint64(a[i] | b[i] | c[i])
    if seen & ~_ONES:
        return False
    for i in range(n_rows, len(a)):
        table[4 * a[i] + 2 * b[i] + c[i]] += 1
    na, nb, nc, nab, nac, nbc, nabc = sizes
    table[7] += nabc
    table[6] += nab - nabc
    table[5] += nac - nabc
    table[3] += nbc - nabc
    table[4] += na - nab - nac + nabc
    table[2] += nb - nab - nbc + nabc
    table[1] += nc - nac - nbc + nabc
    table[0] += n_rows - na - nb - nc + nab + nac + nbc - nabc
    return True


@_compiled
def add_column(cells: Any, column: Any, low: Any, size: Any) -> Any:
    """Append one column to the cell numbers: ``cells = cells * size + (column - low)``; False if a
    value is outside.
    """
    largest = np.uint8(0)
    factor = cells.dtype.type(size)
    column = column.view(np.uint8)
    for i in range(len(cells)):
        value = np.uint8(column[i] - low)
        largest = max(largest, value)
        cells[i] = cells[i] * factor + value
    return largest < size


@_compiled
def histogram(cells: Any, tables: Any) -> None:
    """Add one to the cell of each row; *tables* has four rows, to be added up by the caller."""
    n = len(cells) // 4 * 4
    for i in range(0, n, 4):
        tables[0, cells[i]] += 1
        tables[1, cells[i + 1]] += 1
        tables[2, cells[i + 2]] += 1
        tables[3, cells[i + 3]] += 1
    for i in range(n, len(cells)):
        tables[0, cells[i]] += 1
