"""The marginals of a coupling: what may be passed in, and how a bad row is named.

A pattern is one value z of what is observed of every item. Its marginals are a law of the
prediction (or of any atoms) and a law of the label, both given z; a weight says how much of the
population shows z.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick.errors import InputError

__all__ = [
    "FloatArray",
    "as_cost",
    "as_delta",
    "as_laws",
    "as_probabilities",
    "as_same_shape",
    "as_weights",
    "normalised",
]

FloatArray: TypeAlias = NDArray[np.float64]

_SUM_TOLERANCE = 1e-9


def as_laws(values: ArrayLike, *, name: str, dimensions: int = 2) -> FloatArray:
    """Return *values* as floats, each ``values[z]`` a probability law, or name the row that is
    none.

    >>> as_laws([[0.25, 0.75]], name="p")
    array([[0.25, 0.75]])
    >>> as_laws([[0.5, 0.5], [0.5, 0.4]], name="p")
    Traceback (most recent call last):
    tallystick.errors.InputError: p[1] sums to 0.9, not to 1: divide the row by its sum, or drop the pattern
    """
    laws = as_probabilities(values, name=name, dimensions=dimensions)
    if laws.shape[-1] < 2:
        raise InputError(f"{name} must have at least two labels, got shape {laws.shape}")
    totals = laws.sum(axis=tuple(range(1, dimensions)))
    wrong = np.abs(totals - 1) > _SUM_TOLERANCE
    if wrong.any():
        row = int(wrong.argmax())
        raise InputError(
            f"{name}[{row}] sums to {float(totals[row])!r}, not to 1: divide the row by its sum, or"
            " drop the pattern"
        )
    return laws


def normalised(laws: FloatArray) -> FloatArray:
    """Take away the rounding that :func:`as_laws` lets pass, where equations have to agree to the
    last digit.
    """
    return np.asarray(laws / laws.sum(axis=1, keepdims=True))


def as_probabilities(values: ArrayLike, *, name: str, dimensions: int = 1) -> FloatArray:
    """Return *values* as floats in [0, 1] with one row a pattern, or name the first row that holds
    anything else.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != dimensions or array.size == 0:
        raise InputError(
            f"{name} must be a non-empty array of {dimensions} dimension(s), got shape"
            f" {array.shape}"
        )
    # A NaN fails both comparisons, so it is caught here as well.
    wrong = ~((array >= 0) & (array <= 1 + _SUM_TOLERANCE))
    if wrong.any():
        place = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise InputError(
            f"{name}[{place[0]}] holds {float(array[place])!r}, which is not a probability"
        )
    return array


def as_same_shape(q: FloatArray, p: FloatArray) -> None:
    """Refuse marginals of different shapes."""
    if q.shape != p.shape:
        raise InputError(
            f"q and p must have one shape (patterns, labels), got {q.shape} and {p.shape}"
        )


def as_weights(weights: ArrayLike | None, patterns: int) -> FloatArray:
    """Return the shares of the patterns, of sum one; None means equal shares. Counts are
    welcome.
    """
    if weights is None:
        return np.full(patterns, 1 / patterns)
    array = np.asarray(weights, dtype=np.float64)
    if array.shape != (patterns,):
        raise InputError(
            f"weights must have one entry for each of the {patterns} patterns, got shape"
            f" {array.shape}"
        )
    wrong = ~(np.isfinite(array) & (array >= 0))
    if wrong.any():
        row = int(wrong.argmax())
        raise InputError(
            f"weights[{row}] is {float(array[row])!r}; a weight is finite and not negative"
        )
    total = float(array.sum())
    if total == 0:
        raise InputError("weights are all zero: no pattern occurs")
    return array / total


def as_delta(delta: ArrayLike, patterns: int) -> FloatArray:
    """Return a total-variation radius in [0, 1] for each pattern; one number serves all of them."""
    array = np.asarray(delta, dtype=np.float64)
    if array.shape not in {(), (patterns,)} or not ((array >= 0) & (array <= 1)).all():
        raise InputError(
            f"delta must be in [0, 1], one number or one for each of {patterns} pattern(s), got"
            f" {delta!r}"
        )
    return np.broadcast_to(array, (patterns,))


def as_cost(cost: ArrayLike, *, patterns: int, atoms: int, labels: int) -> FloatArray:
    """Return g(atom, label) for every pattern; a single (atoms, labels) table serves all of
    them.
    """
    array = np.asarray(cost, dtype=np.float64)
    if array.shape not in {(atoms, labels), (patterns, atoms, labels)}:
        raise InputError(
            f"cost must have shape {(atoms, labels)} or {(patterns, atoms, labels)} (patterns,"
            f" atoms, labels), got {array.shape}"
        )
    if not np.isfinite(array).all():
        raise InputError("cost must be finite: a bound on an unbounded cost does not exist")
    return np.broadcast_to(array, (patterns, atoms, labels))
