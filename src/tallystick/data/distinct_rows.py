"""The distinct rows of a matrix of codes, in little memory: four bytes per row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["distinct_rows"]

_DENSE = 1 << 22
"""Up to this many possible rows are counted in a table; more are sorted."""


def distinct_rows(
    codes: NDArray[np.integer], size: int
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int32]]:
    """Return where each distinct row first stands, how often it occurs, and which each row is.

    The columns are taken in one after the other. Between two of them rows are known by their number
    among those that differ so far, so no product of many columns overflows.

    Parameters
    ----------
    codes
        Rows x columns of codes in -1..size - 1.
    size
        How many codes there are.

    Examples
    --------
    >>> codes = np.array([[0, 1], [-1, 1], [0, 1]])
    >>> first, counts, place = distinct_rows(codes, 2)
    >>> codes[first].tolist(), counts.tolist(), place.tolist()
    ([[-1, 1], [0, 1]], [1.0, 2.0], [1, 0, 1])
    """
    place = np.zeros(len(codes), np.int32)
    count = 1
    for column in codes.T:
        # A column that shows few of the codes is numbered by those that it shows.
        seen = np.flatnonzero(np.bincount(column + 1, minlength=size + 1))
        rank = np.zeros(size + 1, np.int64)
        rank[seen] = np.arange(seen.size)
        joined = place * np.int64(seen.size)
        joined += rank[column + 1]
        place, count = _numbered(joined, count * seen.size)
    counts = np.bincount(place, minlength=count).astype(np.float64)
    # Any row of a pattern stands for all of them; written backwards, the first one stays.
    first = np.zeros(count, np.int64)
    first[place[::-1]] = np.arange(len(codes) - 1, -1, -1)
    return first, counts, place


def _numbered(joined: NDArray[np.int64], most: int) -> tuple[NDArray[np.int32], int]:
    """Return numbers 0, 1, … in the order of *joined*, and how many there are."""
    if most <= _DENSE:
        seen = np.flatnonzero(np.bincount(joined, minlength=most))
        rank = np.zeros(most, np.int32)
        rank[seen] = np.arange(seen.size)
        return rank[joined], int(seen.size)
    seen, place = np.unique(joined, return_inverse=True)
    return place.astype(np.int32), int(seen.size)
