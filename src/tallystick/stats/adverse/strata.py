"""Strata from the judges' consensus, made before any label is seen."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError
from tallystick.stats.intervals.array import Floats, Vector

__all__ = ["certified_strata", "graded_strata", "stratum_counts", "vote_strata"]

Codes: TypeAlias = NDArray[np.int64]
"""The position of each item's stratum, from 0."""


_TIE = 1e-9
"""A consensus this near 1/2 is a tie: no digit of a fitted posterior should tell items apart."""


def vote_strata(consensus: Vector) -> Codes:
    """Split items by what the judges' consensus says: 0 if c < 1/2, 1 at a tie, 2 if c > 1/2.

    Two judges often tie. With ties among the fails, the score of the passes and that of the fails
    of one table would not add up to one: swapping the two words has to swap the strata.

    Parameters
    ----------
    consensus
        Probability of a pass per item, from votes only.

    Examples
    --------
    >>> vote_strata([0.2, 0.5, 0.9]).tolist()
    [0, 1, 2]
    """
    c = _finite(consensus)
    return np.where(np.abs(c - 0.5) <= _TIE, 1, np.where(c > 0.5, 2, 0)).astype(np.int64)


def graded_strata(consensus: Vector, counts: Vector | None = None) -> Codes:
    r"""Split items with a graded consensus into three bins of nearly equal mass.

    The cuts are the 1/3 and 2/3 quantiles of c, and equal values stay together. A value whose mass
    straddles a cut goes where the middle of its mass lies: with :math:`F` the share of items below
    c and f the share equal to it, the bin is

    .. math:: \min(2, \lfloor 3 (F + f/2) \rfloor),   \tag{AL8}

    so that reversing the scale reverses the bins (unless a middle lies exactly on a cut). Empty
    bins are dropped: if 90 % of the items share the top value, two bins are left.

    Parameters
    ----------
    consensus
        Mean grade per item, or distinct values.
    counts
        How many items have each value, if values are given once. None: one each.

    Returns
    -------
    Codes
        0, 1 and 2 from the lowest grades to the highest, fewer if bins are empty.

    Examples
    --------
    >>> graded_strata([0.1, 0.9, 0.5, 0.4, 0.8, 0.2]).tolist()
    [0, 2, 1, 1, 2, 0]
    >>> graded_strata([0.5, 1.0], counts=[10, 90]).tolist()
    [0, 1]
    """
    c = _finite(consensus)
    times = np.ones_like(c) if counts is None else np.asarray(counts, dtype=np.float64)
    if times.shape != c.shape or (times < 0).any() or times.sum() <= 0:
        raise InputError(
            f"counts must be one number of at least 0 per value, not all 0, got shape {times.shape}"
        )
    _, where = np.unique(c, return_inverse=True)
    mass = np.bincount(where, weights=times)
    # Whole counts are compared as 3(2F + f) against 2N, so that a middle on a cut is seen exactly.
    doubled = 3 * (2 * np.cumsum(mass) - mass)
    bins = np.minimum(2, doubled // (2 * times.sum())).astype(np.int64)  # (AL8)
    _, codes = np.unique(bins, return_inverse=True)
    return np.asarray(codes[where], dtype=np.int64)


def certified_strata(codes: Vector) -> Codes:
    """Merge three bins into the two that exact intervals can use: the middle joins the upper one.

    The rule looks at no label, so the merged strata are as valid as the three. Fewer bins stay.

    Examples
    --------
    >>> certified_strata([0, 1, 2, 2]).tolist()
    [0, 1, 1, 1]
    """
    h = np.asarray(codes, dtype=np.int64)
    if h.size and (h.min() < 0 or h.max() > 2):
        raise InputError(f"codes must be 0, 1 or 2, got {h.min()} to {h.max()}")
    return np.minimum(h, 1)


def stratum_counts(
    codes: Vector, labelled: Vector, passed: Vector, *, strata: int | None = None
) -> tuple[Codes, Codes, Codes]:
    """Count items, labels and passes per stratum: the input of :func:`adverse_share`.

    Parameters
    ----------
    codes
        The stratum of every item.
    labelled, passed
        For every item whether it is labelled, and whether it passed; *passed* is read only where
        *labelled* is true.
    strata
        How many strata there are. None: as many as *codes* show.

    Examples
    --------
    >>> counts = stratum_counts([0, 0, 1, 1, 1], [1, 0, 1, 1, 0], [0, 0, 1, 1, 0])
    >>> [part.tolist() for part in counts]
    [[2, 3], [1, 2], [0, 2]]
    """
    h = np.asarray(codes, dtype=np.int64)
    seen, right = np.asarray(labelled, dtype=np.bool_), np.asarray(passed, dtype=np.bool_)
    if h.ndim != 1 or seen.shape != h.shape or right.shape != h.shape:
        raise InputError(
            "codes, labelled and passed must have one entry per item, "
            f"got shapes {h.shape}, {seen.shape} and {right.shape}"
        )
    parts = (h, h[seen], h[seen & right])
    least = (int(h.max()) + 1 if h.size else 0) if strata is None else strata
    sizes, labels, passes = (np.bincount(part, minlength=least) for part in parts)
    return sizes, labels, passes


def _finite(consensus: Vector) -> Floats:
    c = np.asarray(consensus, dtype=np.float64)
    if c.ndim != 1 or not np.isfinite(c).all():
        raise InputError(
            f"consensus must be one sequence of finite numbers, got shape {c.shape}: "
            "leave out items that no judge graded"
        )
    return c
