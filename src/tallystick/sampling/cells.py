"""Build strata from codes and ranks: plain cells of label and difficulty, and the default cells of
history.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick.errors import InputError
from tallystick.sampling.strata import IntArray, Strata, codes, merge_small

__all__ = ["difficulty_cells", "history_cells"]

CELL_EXPECTS = 4.0
"""A cell of its own needs this many expected questions."""
BIN_EXPECTS = 3.0
"""A bin by confidence inside a cell needs only this many: with fewer bins most labels of a large
set had none."""
MOST_BINS = 4
WRONG_COUNTS = 2.0
"""A wrong old answer is worth this many right ones: it flips more often."""


def difficulty_cells(label: ArrayLike, difficulty: ArrayLike, *, bins: int) -> Strata:
    """Return the cells of label by difficulty: each label is cut by rank into *bins* bins of equal
    size.

    [CZZ22]_ (api-shifts), section 3.1, with K = *bins*. A label with fewer items than bins gets one
    bin an item. Equal difficulties are told apart by position, so that bins have equal sizes
    whatever the ties.

    Examples
    --------
    >>> difficulty_cells([0, 0, 0, 0, 1, 1], [0.9, 0.1, 0.8, 0.2, 0.5, 0.4], bins=2).of
    array([1, 0, 1, 0, 3, 2])
    """
    labels, hard = codes(label, "label"), _ranked(difficulty, "difficulty", len(np.asarray(label)))
    if bins < 1:
        raise InputError(f"bins must be at least 1, got {bins!r}")
    of = np.empty(len(labels), np.intp)
    start = 0
    for value in np.unique(labels):
        items = np.flatnonzero(labels == value)
        of[items], used = _cut(items, hard, bins)
        of[items] += start
        start += used
    return Strata(of)


def history_cells(
    true: ArrayLike, old: ArrayLike, *, calls: int, confidence: ArrayLike | None = None
) -> Strata:
    r"""Return strata from what is known of each item: its true code, its old answer and a
    confidence.

    With s = 1 for a right and 2 for a wrong old answer, a group g of items expects

    .. math:: e(g) = N \, \frac{\sum_{i \in g} s_i}{\#\text{right} + 2\,\#\text{wrong}}   \tag{S1}

    of the N = *calls* questions. Per true code there is one cell of right items and one for each
    wrong old answer with e ≥ 4; its other wrong items share a cell. If its wrong side has e < 4, or
    either side fewer than two items, the code is one mixed cell; codes with e < 4 in all are
    pooled. Each cell is then cut by confidence rank into clip(⌊e/3⌋, 1, 4) bins. If two questions a
    stratum would exceed N, the smallest strata merge. Families are (mostly right or not) x (third
    of the mean confidence rank). docs/theory/sampling.md. ⌊e/3⌋ bins
    and not ⌊e/6⌋: with 31 labels and 200 questions most labels would have a single one, and lose to
    MASA's.

    Only codes and ranks are used, so the engine stays ignorant of what they mean. Where codes are
    pooled or mixed, count outcomes in flattened (true, answer) space.

    Parameters
    ----------
    true, old
        Codes of equal meaning: an item is right where they are equal.
    calls
        The budget N.
    confidence
        Anything whose rank foretells change; None makes no bins.

    Examples
    --------
    >>> strata = history_cells([0] * 50 + [1] * 50, [0] * 40 + [1] * 60, calls=60)
    >>> strata.sizes                                  # code 0 right, code 0 wrong, code 1 (never wrong)
    array([40, 10, 50])
    """
    truth, before = codes(true, "true"), codes(old, "old")
    if len(truth) != len(before):
        raise InputError(
            f"true and old must have equal lengths, got {len(truth)} and {len(before)}"
        )
    if calls < 1:
        raise InputError(f"calls must be at least 1, got {calls!r}")
    ranks = None if confidence is None else _ranked(confidence, "confidence", len(truth))
    right = before == truth
    worth = np.where(right, 1.0, WRONG_COUNTS)
    expects = calls * worth / worth.sum()  # (S1), one item's part of e
    of = np.empty(len(truth), np.intp)
    start = 0
    for items in _cells(truth, before, right, expects):
        bins = (
            min(max(math.floor(expects[items].sum() / BIN_EXPECTS), 1), MOST_BINS)
            if ranks is not None
            else 1
        )
        cut, used = _cut(items, ranks, bins) if ranks is not None else (0, 1)
        of[items] = start + cut
        start += used
    size = np.bincount(of)
    mostly_right = 2 * np.bincount(of, weights=right) >= size
    third = np.zeros(len(size), np.intp)
    if ranks is not None:
        third = np.floor(3 * np.bincount(of, weights=ranks) / size / len(ranks)).astype(np.intp)
    strata = Strata(of, 3 * mostly_right + third)
    while len(strata) > 1 and 2 * len(strata) > calls:  # rare: few calls and mostly wrong
        strata = merge_small(strata, least=int(strata.sizes.min()) + 1)
    return strata


def _cells(
    truth: IntArray, before: IntArray, right: NDArray[np.bool_], expects: NDArray[np.float64]
) -> list[IntArray]:
    """Step 1 of the default: the cells before the cut by confidence, as lists of items."""
    cells: list[IntArray] = []
    pool: list[IntArray] = []
    for value in np.unique(truth):
        items = np.flatnonzero(truth == value)
        good, bad = items[right[items]], items[~right[items]]
        if expects[items].sum() < CELL_EXPECTS:
            pool.append(items)
        elif expects[bad].sum() < CELL_EXPECTS or min(len(good), len(bad)) < 2:
            cells.append(items)
        else:
            own = [bad[before[bad] == answer] for answer in np.unique(before[bad])]
            large = [cell for cell in own if expects[cell].sum() >= CELL_EXPECTS and len(cell) >= 2]
            rest = np.setdiff1d(bad, np.concatenate(large)) if large else bad
            if len(rest) == 1 and large:  # one item cannot show its own spread
                large[-1], rest = np.sort(np.append(large[-1], rest)), rest[:0]
            cells += [good, *large, *([rest] if len(rest) else [])]
    return cells + ([np.sort(np.concatenate(pool))] if pool else [])


def _ranked(values: ArrayLike, name: str, length: int) -> IntArray:
    """Rank every value among all, ties by position."""
    array = np.asarray(values, dtype=np.float64)
    if array.shape != (length,) or np.isnan(array).any():
        raise InputError(
            f"{name} must hold {length} numbers, none of them NaN, got shape {array.shape}"
        )
    ranks = np.empty(length, np.intp)
    ranks[np.argsort(array, kind="stable")] = np.arange(length)
    return ranks


def _cut(items: IntArray, ranks: IntArray, bins: int) -> tuple[IntArray, int]:
    """Cut *items* into *bins* groups of equal size by rank; return each one's group and how many
    there are.
    """
    used = min(bins, len(items))
    group = np.empty(len(items), np.intp)
    group[np.argsort(ranks[items], kind="stable")] = np.arange(len(items)) * used // len(items)
    return group, used
