"""Votes as arrays: the checked input of the latent-class model, and its one-hot operator.

Every sum that the model needs is a product with the one-hot matrix :math:`X` (patterns x all votes
of all judges). It is dense when most judges vote on most items and sparse when most votes are
missing; nothing else in this package knows which.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError

if TYPE_CHECKING:
    import scipy.sparse as sp

__all__ = ["FloatArray", "IntArray", "OneHot", "Votes", "as_votes"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]

_SPARSE_FROM = 0.1
"""Share of ones from which on downwards the matrix is kept sparse.

At .1 (ten labels, 4,000 patterns) both storages take the same time on one core. Below it the sparse
product is faster, and on a busy machine by a factor of 100: BLAS splits the dense one over threads
that wait for one another.
"""
_DENSE_CELLS = 50_000_000  # a dense matrix above 400 MB is never built


@dataclass(frozen=True, eq=False)
class Votes:
    """Weighted vote patterns, checked: ``codes[i, j]`` is judge j's vote in pattern i, -1 where it
    gave none.

    Parameters
    ----------
    codes
        Patterns x judges.
    counts
        How many items show each pattern (any non-negative weight).
    n_votes
        The size of each judge's alphabet; it may exceed the number of classes (an abstention that
        means something is a vote of its own).
    truth
        The true class of the items of each pattern where it is known, -1 elsewhere.
    """

    codes: IntArray
    counts: FloatArray
    n_votes: IntArray
    truth: IntArray

    @property
    def n_judges(self) -> int:
        """Number of judges."""
        return int(self.codes.shape[1])

    @property
    def n_items(self) -> float:
        """Sum of the counts."""
        return float(self.counts.sum())

    @cached_property
    def one_hot(self) -> OneHot:
        """The one-hot operator of these patterns."""
        return OneHot.of(self.codes, self.n_votes)

    @cached_property
    def weights(self) -> FloatArray:
        """The counts, with 0 where a pattern has neither vote nor truth: it says nothing and would
        only slow EM.
        """
        says = (self.codes >= 0).any(axis=1) | (self.truth >= 0)
        return np.where(says, self.counts, 0.0)

    @cached_property
    def varied(self) -> npt.NDArray[np.bool_]:
        """Which judges gave at least two different votes."""
        used = self.one_hot.add(self.counts[None, :])[0] > 0
        return np.asarray(np.add.reduceat(used.astype(np.int64), self.one_hot.start) > 1)


@dataclass(frozen=True, eq=False)
class OneHot:
    """The matrix :math:`X` with one column for each (judge, vote), in one of two storages.

    Class-by-pattern arrays go in and out, since NumPy reduces fastest over a short first axis.
    """

    columns: npt.NDArray[np.float64] | sp.csr_array
    rows: npt.NDArray[np.float64] | sp.csr_array
    judge: IntArray
    start: IntArray

    @classmethod
    def of(cls, codes: IntArray, n_votes: IntArray) -> OneHot:
        """Return the operator of *codes*, sparse where most of the matrix would be zeros."""
        start = np.concatenate(([0], np.cumsum(n_votes)[:-1]))
        judge = np.repeat(np.arange(n_votes.size), n_votes)
        width = int(n_votes.sum())
        pattern, voter = np.nonzero(codes >= 0)
        place = start[voter] + codes[pattern, voter]
        cells = codes.shape[0] * width
        if cells > _DENSE_CELLS or (cells > 10_000 and pattern.size <= _SPARSE_FROM * cells):
            import scipy.sparse as sp

            ones = np.ones(pattern.size)
            matrix = sp.csr_array((ones, (pattern, place)), shape=(codes.shape[0], width))
            return cls(sp.csr_array(matrix.T), matrix, judge, start)
        dense = np.zeros((codes.shape[0], width))
        dense[pattern, place] = 1.0
        return cls(np.ascontiguousarray(dense.T), dense, judge, start)

    def score(self, values: FloatArray) -> FloatArray:
        """Return, per class and pattern, the sum of *values* (classes x columns) over the votes of
        the pattern.
        """
        if isinstance(self.columns, np.ndarray):
            return values @ self.columns
        return np.ascontiguousarray((self.rows @ values.T).T)

    def add(self, values: FloatArray) -> FloatArray:
        """Return, per class and column, the sum of *values* (classes x patterns) over the patterns
        with that vote.
        """
        if isinstance(self.rows, np.ndarray):
            return values @ self.rows
        return np.ascontiguousarray((self.columns @ values.T).T)

    def total(self, values: FloatArray) -> FloatArray:
        """Return the sums of *values* (classes x columns) over the votes of each judge, spread back
        over them.
        """
        return np.add.reduceat(values, self.start, axis=1)[:, self.judge]


def as_votes(
    codes: npt.ArrayLike,
    counts: npt.ArrayLike,
    *,
    n_classes: int,
    n_votes: int | npt.ArrayLike | None = None,
    truth: npt.ArrayLike | None = None,
) -> Votes:
    """Check arrays and return them as Votes.

    >>> as_votes([[0, 1], [1, -1]], [3, 2], n_classes=2).n_items
    5.0
    >>> as_votes([[0, 2]], [1], n_classes=2)
    Traceback (most recent call last):
    tallystick.errors.InputError: codes of judge 1 must be in -1..1, got 2: pass n_votes for a larger alphabet
    """
    if n_classes < 2:
        raise InputError(f"n_classes must be at least 2, got {n_classes!r}")
    table = _integers("codes", codes, ndim=2)
    n_patterns, n_judges = table.shape
    if not n_patterns or not n_judges:
        raise InputError(f"codes needs at least one pattern and one judge, got shape {table.shape}")
    weights = np.asarray(counts, dtype=np.float64)
    if weights.shape != (n_patterns,):
        raise InputError(
            f"counts must have one entry per pattern ({n_patterns}), got shape {weights.shape}"
        )
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.sum() > 0):
        raise InputError("counts must be finite, non-negative and not all zero")
    sizes = np.broadcast_to(
        _integers("n_votes", n_classes if n_votes is None else n_votes), (n_judges,)
    ).copy()
    if (sizes < 2).any():
        raise InputError(
            f"n_votes must be at least 2, got {sizes.min()} for judge {int(sizes.argmin())}"
        )
    wrong = (table < -1) | (table >= sizes)
    if wrong.any():
        i, j = (int(k) for k in np.argwhere(wrong)[0])
        raise InputError(
            f"codes of judge {j} must be in -1..{sizes[j] - 1}, got {table[i, j]}: pass n_votes for"
            " a larger alphabet"
        )
    known = np.full(n_patterns, -1) if truth is None else _integers("truth", truth, ndim=1)
    if known.shape != (n_patterns,) or known.min() < -1 or known.max() >= n_classes:
        raise InputError(f"truth must hold one code in -1..{n_classes - 1} per pattern")
    return Votes(table, weights, sizes, known)


def _integers(name: str, values: npt.ArrayLike, *, ndim: int | None = None) -> IntArray:
    array = np.asarray(values)
    if array.dtype.kind not in "iu":
        raise InputError(f"{name} must be integers, got {array.dtype}")
    if ndim is not None and array.ndim != ndim:
        raise InputError(f"{name} must have {ndim} dimensions, got {array.ndim}")
    return array.astype(np.int64)
