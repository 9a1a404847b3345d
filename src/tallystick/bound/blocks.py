r"""Rows in random order, cut into blocks; what the earlier blocks say of P(h | z).

Potentials may be learnt from data only if the rows that they are applied to come later: then the
values of the rows are martingale differences around a valid outer bound, also at the kink q = p,
where ordinary cross-fitting undercovers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tallystick._rng import Rng, as_rng

__all__ = [
    "BLOCKS",
    "BoolArray",
    "FloatArray",
    "IntArray",
    "Scheme",
    "earlier",
    "known_rows",
    "label_bins",
    "over_classes",
    "over_rows",
    "shrunk",
    "split",
]

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]

BLOCKS = 10
"""Blocks of rows; the first one only teaches."""

_ORDERS = 5
_MANY_ROWS = 100_000
_BIN_PRIOR = 2.0
_PATTERN_PRIOR = 10.0
_BINS = 8
_SLICES = 3


@dataclass(frozen=True, slots=True)
class Scheme:
    """How the rows are ordered: *blocks* of them, in so many random *orders* whose ends are
    averaged.
    """

    blocks: int = BLOCKS
    orders: int = _ORDERS

    @classmethod
    def fitting(cls, rows: float) -> Scheme:
        """Return the default; from 100,000 rows on one order is enough, since they all give the
        same.
        """
        return cls(orders=_ORDERS if rows < _MANY_ROWS else 1)


def split(counts: IntArray, blocks: int, *, rng: Rng) -> IntArray:
    """Let every row of a table of counts draw its block; the blocks come first.

    >>> parts = split(np.array([[30, 10], [5, 0]]), 4, rng=1)
    >>> parts.shape, parts.sum(axis=0).tolist()
    ((4, 2, 2), [[30, 10], [5, 0]])
    """
    held = np.asarray(counts)
    out = np.zeros((blocks, held.size), dtype=np.int64)
    seen = np.flatnonzero(held)  # most cells of many patterns are empty
    out[:, seen] = as_rng(rng).multinomial(held.reshape(-1)[seen], np.full(blocks, 1 / blocks)).T
    return out.reshape(blocks, *held.shape)


def earlier(parts: IntArray) -> IntArray:
    """Return, for every block but the first, the counts of all the blocks before it."""
    return np.asarray(parts[:-1].cumsum(axis=0))


def known_rows(p: FloatArray) -> BoolArray:
    """Say of which patterns the label model knows something: their row of P(Y | z) is not NaN."""
    return np.asarray(np.isfinite(p).all(axis=-1))


def over_classes(table: FloatArray) -> FloatArray:
    """Return sums over the last axis, kept as an axis of length one.

    A matrix product: NumPy's own sum over an axis of two or three entries takes several times as
    long.
    """
    return np.asarray((table @ np.ones(table.shape[-1]))[..., None])


def over_rows(table: FloatArray) -> FloatArray:
    """Return sums over blocks, the first axis, and patterns, the last but one: (…, labels).

    >>> over_rows(np.ones((9, 4, 2))).tolist()
    [36.0, 36.0]
    """
    return np.asarray((np.ones(table.shape[-2]) @ table).sum(axis=0))


def label_bins(p: FloatArray, weight: FloatArray) -> IntArray:
    """Sort the patterns into bins by what the label model says, and by nothing else.

    Two classes: eight bins of equal mass in p(1 | z). More: the likeliest class, in three slices of
    its probability. Bins only lend strength to rare patterns; they never replace the pattern.

    >>> label_bins(np.array([[0.9, 0.1], [0.2, 0.8], [0.9, 0.1]]), np.array([1.0, 1.0, 1.0])).tolist()
    [0, 1, 0]
    """
    if p.shape[1] == 2:
        found = _slices(p[:, 1], weight, _BINS)
    else:
        found = p.argmax(axis=1) * _SLICES + _slices(p.max(axis=1), weight, _SLICES)
    return np.asarray(np.unique(found, return_inverse=True)[1].reshape(-1), dtype=np.int64)


def _slices(value: FloatArray, weight: FloatArray, n: int) -> IntArray:
    """Return slices of about equal mass; equal values are never told apart."""
    distinct, place = np.unique(value, return_inverse=True)
    place = place.reshape(-1)
    mass = np.bincount(place, weights=weight, minlength=distinct.size)
    middle = (mass.cumsum() - mass / 2) / max(float(mass.sum()), 1e-300)
    return np.asarray(np.minimum((middle * n).astype(np.int64), n - 1)[place])


def shrunk(counts: NDArray[np.generic], bins: IntArray) -> FloatArray:
    r"""Estimate a law for every pattern from counts (…, patterns, labels): the pattern's own, drawn
    to its bin's.

    .. math:: q_b = \frac{T_b + 2 q}{n_b + 2}, \qquad q_z = \frac{T_z + 10\, q_{b(z)}}{n_z + 10}

    >>> shrunk(np.array([[90, 10], [0, 0]]), np.array([0, 0])).round(2)
    array([[0.9, 0.1],
           [0.9, 0.1]])
    """
    held = np.asarray(counts, dtype=np.float64)
    order = np.argsort(bins, kind="stable")
    first = np.flatnonzero(np.diff(bins[order], prepend=-1))
    by_bin = np.add.reduceat(held[..., order, :], first, axis=-2)
    everything = by_bin.sum(axis=-2, keepdims=True)
    total = over_classes(everything)
    labels = held.shape[-1]
    overall = np.where(total > 0, everything / np.maximum(total, 1), 1 / labels)
    q_bin = (by_bin + _BIN_PRIOR * overall) / (over_classes(by_bin) + _BIN_PRIOR)
    return np.asarray(
        (held + _PATTERN_PRIOR * q_bin[..., bins, :]) / (over_classes(held) + _PATTERN_PRIOR)
    )
