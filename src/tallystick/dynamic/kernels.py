"""Inner steps of the rollouts: rows are rollouts, columns items."""

from __future__ import annotations

import numpy as np

from tallystick.dynamic.population import Array

__all__ = ["add_errors", "count_votes", "fill"]

_BINS = 256
_AT_ONCE = 1 << 15
"""Numbers of a block of rollouts: what lies between two steps stays in the processor's cache."""


def _blocks(rows: int, size: int) -> list[slice]:
    step = max(1, _AT_ONCE // max(1, size))
    return [slice(start, start + step) for start in range(0, rows, step)]


def fill(
    scores: Array, weights: Array, clean: Array, epsilon: Array, luck: Array, errors: Array
) -> None:
    """Mark the clean items of highest score as *errors* until their mass reaches *epsilon*, per
    row.

    The item on the boundary is taken if *luck* (uniform, one per row) falls below the part of it
    that still fits; luck above one never takes it. A histogram of scores finds the boundary, so
    only the few items beside it are sorted.

    >>> errors = np.empty((1, 4), bool)
    >>> scores, weights = np.array([[0.1, 0.9, 0.5, 0.7]]), np.full((1, 4), 0.25)
    >>> fill(scores, weights, np.ones(4, bool), np.array([0.5]), np.array([2.0]), errors)
    >>> errors.tolist()
    [[False, True, False, True]]
    """
    items = np.flatnonzero(clean)
    some = items if items.size < clean.size else slice(None)
    for block in _blocks(*scores.shape):
        part = scores[block, some], weights[block, some], epsilon[block], luck[block]
        errors[block] = False
        if items.size:
            errors[block, some] = _filled(*part)


def _filled(score: Array, weight: Array, epsilon: Array, luck: Array) -> Array:
    rows = len(score)

    # Bins from the highest score downwards. What is infinite lies in the first or the last one.
    high, low = score.max(axis=1, keepdims=True), score.min(axis=1, keepdims=True)
    if not (np.isfinite(high) & np.isfinite(low)).all():
        finite = np.isfinite(score)
        high = np.where(finite, score, -np.inf).max(axis=1, keepdims=True)
        low = np.where(finite, score, np.inf).min(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.where(high > low, (_BINS - 1) / (high - low), 0.0)
        place = np.clip((high - score) * scale, 0.0, _BINS - 1.0)
    if (high <= low).any() or not np.isfinite(place).all():
        place = np.where(score >= high, 0, np.where(score <= low, _BINS - 1, place))
    place = place.astype(np.intp)

    # The first bin that does not fit as a whole is the boundary.
    place += np.arange(rows)[:, None] * _BINS
    mass = np.bincount(place.ravel(), weight.ravel(), rows * _BINS).reshape(rows, _BINS)
    reached = np.cumsum(mass, axis=1)
    edge = (reached <= epsilon[:, None]).sum(axis=1)
    before = np.where(edge > 0, reached[np.arange(rows), edge - 1], 0.0)
    bounds = (edge + np.arange(rows) * _BINS)[:, None]
    taken = place < bounds

    # Its items in order of their scores, one row per rollout, filled up with what never fits.
    row, column = np.nonzero(place == bounds)
    order = np.lexsort((-score[row, column], row))
    row, column = row[order], column[order]
    count = np.bincount(row, minlength=rows)
    position = np.arange(row.size) - np.repeat(np.cumsum(count) - count, count)
    beside = np.zeros((rows, int(count.max()) + 2 if row.size else 2))
    beside[:, 0] = before
    beside[row, position + 1] = weight[row, column]
    together = np.cumsum(beside, axis=1)
    fits = together[row, position + 1] <= epsilon[row]
    # The first that does not fit is left to luck, and nothing after it is taken.
    last = np.full(rows, row.size)
    np.minimum.at(last, row[~fits], position[~fits])
    with np.errstate(invalid="ignore"):  # luck that never comes, on an item without weight
        lucky = luck[row] * weight[row, column] < epsilon[row] - together[row, position]
    taken[row, column] = (position < last[row]) | ((position == last[row]) & lucky)
    return np.asarray(taken)


def count_votes(
    errors: Array,
    ballot: float,
    half: float,
    close: float,
    clean: Array,
    weights: Array,
    wrong: Array,
    out: Array,
) -> None:
    """Add a round's votes to *wrong*; write majority risk, model risk and excess risk of each
    rollout into *out*.

    >>> wrong, out = np.zeros((1, 2)), np.zeros((1, 3))
    >>> share = np.array([0.4, 0.6])
    >>> count_votes(np.array([[True, False]]), 1.0, 0.5, 1e-9, share, share[None], wrong, out)
    >>> wrong.tolist(), out.tolist()
    ([[1.0, 0.0]], [[0.4, 0.4, 0.4]])
    """
    for block in _blocks(*errors.shape):
        failed = errors[block].astype(np.float64)
        wrong[block] += ballot * failed
        # A tie counts half: it is above one of two bars.
        votes = wrong[block]
        out[block, 0] = 0.5 * (
            (votes > half + close).astype(np.float64) @ clean
            + (votes >= half - close).astype(np.float64) @ clean
        )
        out[block, 1] = failed @ clean
        out[block, 2] = np.einsum("ij,ij->i", failed, weights[block])


def add_errors(errors: Array, coin: Array, population: Array, total: Array, count: Array) -> None:
    """Add the error distribution of each rollout, as ideal annotators return it, to the running sum
    *total*.

    >>> total, count = np.zeros((1, 2)), np.zeros(1)
    >>> add_errors(np.array([[True, False]]), np.zeros(2, bool), np.full(2, 0.5), total, count)
    >>> total.tolist(), count.tolist()
    ([[1.0, 0.0]], [1.0])
    """
    for block in _blocks(*errors.shape):
        found = np.where(coin, 0.5, errors[block]) * population
        mass = found.sum(axis=1)
        some = mass > 0
        count[block] += some
        total[block] += found / np.where(some, mass, 1.0)[:, None]
