"""Ratings as arrays: the checked input of every agreement statistic."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError

__all__ = ["FloatArray", "IntArray", "Ratings", "as_ratings"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Ratings:
    """Rating patterns with the number of items that show each, checked.

    Parameters
    ----------
    codes
        Patterns x raters: the code of the label, -1 where the rater gave none.
    counts
        How many items show each pattern (whole numbers).
    n_labels
        Size of the label set, at least 2.
    """

    codes: IntArray
    counts: FloatArray
    n_labels: int

    @property
    def n_raters(self) -> int:
        """Number of raters."""
        return int(self.codes.shape[1])

    @cached_property
    def table(self) -> FloatArray:
        """Patterns x labels: how many raters gave each label."""
        n_patterns, n_labels = self.codes.shape[0], self.n_labels
        pattern, rater = np.nonzero(self.codes >= 0)
        cells = pattern * n_labels + self.codes[pattern, rater]
        flat = np.bincount(cells, minlength=n_patterns * n_labels)
        return flat.reshape(n_patterns, n_labels).astype(np.float64)

    def rated(self, at_least: int) -> Ratings:
        """Return the patterns with at least this many ratings."""
        keep = (self.codes >= 0).sum(axis=1) >= at_least
        return Ratings(codes=self.codes[keep], counts=self.counts[keep], n_labels=self.n_labels)


def as_ratings(
    codes: npt.ArrayLike, counts: npt.ArrayLike | None = None, *, n_labels: int | None = None
) -> Ratings:
    """Check arrays and return them as Ratings.

    Parameters
    ----------
    codes
        Items or patterns x raters of label codes; -1 is a missing rating.
    counts
        Items that show each pattern; by default every row is one item.
    n_labels
        Size of the label set; by default the largest code plus 1, and at least 2.

    Examples
    --------
    >>> as_ratings([[0, 1], [1, -1]]).table
    array([[1., 1.],
           [0., 1.]])
    >>> as_ratings([[0, 2]], n_labels=2)
    Traceback (most recent call last):
    tallystick.errors.InputError: codes must be in -1..1, got 2: pass a larger n_labels
    """
    table = np.asarray(codes)
    if table.ndim != 2 or table.shape[1] < 2:
        raise InputError(
            f"codes must be items x raters with at least two raters, got shape {table.shape}"
        )
    if table.dtype.kind not in "iu":
        raise InputError(f"codes must be integers, got {table.dtype}: number the labels from 0")
    table = table.astype(np.int64)

    weights = np.ones(table.shape[0]) if counts is None else np.asarray(counts, dtype=np.float64)
    if weights.shape != table.shape[:1]:
        raise InputError(
            f"counts must have one entry per row of codes ({table.shape[0]}), "
            f"got shape {weights.shape}"
        )
    if not (np.isfinite(weights).all() and (weights >= 0).all() and (weights % 1 == 0).all()):
        raise InputError("counts must be whole numbers of items, none of them negative")

    # The jackknife adds one item with the second commonest label, so there must be one.
    largest = int(table.max(initial=-1))
    size = max(2, largest + 1) if n_labels is None else n_labels
    if size < 2:
        raise InputError(f"n_labels must be at least 2, got {n_labels!r}")
    if table.min(initial=0) < -1 or largest >= size:
        wrong = table.min(initial=0) if table.min(initial=0) < -1 else largest
        raise InputError(f"codes must be in -1..{size - 1}, got {wrong}: pass a larger n_labels")

    # Rows without an item or without a rating say nothing and only cost time.
    used = (weights > 0) & (table >= 0).any(axis=1)
    return Ratings(codes=table[used], counts=weights[used], n_labels=size)
