"""How the matrix, the accuracy and the share of flips changed, each with its interval."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tallystick.sampling import Observed, difference, stratified
from tallystick.shift.counts import Counts
from tallystick.shift.intervals import StratumSample, SumBounds, minus, sum_bounds

__all__ = [
    "accuracy_bounds",
    "entry_bounds",
    "flip_bounds",
    "point",
    "unseen_bounds",
    "unseen_error",
]

FloatArray = NDArray[np.float64]


def point(counts: Counts, *, by_item: bool) -> tuple[FloatArray, FloatArray]:
    """Return the estimated change of every counted cell, and its plug-in variance.

    Parameters
    ----------
    counts
        What was seen.
    by_item
        Subtract the old answer item by item (``ours``); otherwise the paper's line 10, the
        stratified mean less the old matrix (or less nothing, where nothing is known of the past).
    """
    if by_item:
        estimate = difference(counts.seen)
        return estimate.value, estimate.variance
    estimate = stratified(counts.seen)
    matrix = counts.items.matrix
    return (
        estimate.value - (0.0 if matrix is None else matrix[counts.true, counts.answer]),
        estimate.variance,
    )


def entry_bounds(counts: Counts, *, alpha: float, by_item: bool) -> SumBounds:
    """Return the interval of the change of every counted cell; axes (…, C).

    With old answers: gains (new in the cell, old not) minus losses, by MOVER. Without: the new
    share, less the old one.
    """
    parts = [
        _row_bounds(counts, label, alpha=alpha, by_item=by_item) for label in np.unique(counts.true)
    ]
    # Cells are numbered row by row of the matrix, so the rows follow one another.
    value, low, high, variance = (
        np.concatenate([getattr(part, name) for part in parts], axis=-1)
        for name in ("value", "low", "high", "variance")
    )
    matrix = counts.items.matrix
    moved = 0.0 if by_item or matrix is None else matrix[counts.true, counts.answer]
    return SumBounds(value - moved, low - moved, high - moved, variance, np.empty(0))


def _row_bounds(counts: Counts, label: int, *, alpha: float, by_item: bool) -> SumBounds:
    """Return the cells of one true label: they can only change in strata that have such items."""
    cells, strata = np.flatnonzero(counts.true == label), np.flatnonzero(counts.of_label[:, label])
    seen = counts.seen
    whole = _sample(seen)
    sample = StratumSample(
        whole.shares[strata], whole.answered[..., strata], whole.fraction[..., strata]
    ).by_event

    def events(table: NDArray[np.intp]) -> FloatArray:
        return np.asarray(np.swapaxes(table[..., strata[:, None], cells], -1, -2), dtype=np.float64)

    new = events(seen.new)
    if by_item and seen.old is not None and seen.same is not None:
        same, at = events(seen.same), np.ix_(cells, strata)
        gain = sum_bounds(new - same, sample, alpha=alpha, possible=counts.can_gain[at])
        loss = sum_bounds(
            events(seen.old) - same, sample, alpha=alpha, possible=counts.can_lose[at]
        )
        return minus(gain, loss, sample)
    return sum_bounds(new, sample, alpha=alpha)


def unseen_bounds(counts: Counts, *, alpha: float) -> SumBounds:
    """Return the interval of a cell in which nothing was, before or now, by true label; axes (…,
    L).
    """
    sample = _sample(counts.seen).by_event
    where = (counts.of_label > 0).T
    return sum_bounds(
        np.zeros((*counts.seen.answered.shape[:-1], *where.shape)),
        sample,
        alpha=alpha,
        possible=where,
    )


def unseen_error(counts: Counts, *, alpha: float) -> float:
    r"""Return how large the Frobenius error can be although no answer showed it.

    Each item that differs from what was seen moves its mass from one cell to another, a step of
    :math:`\sqrt 2 / N`. So the error is at most :math:`\sqrt 2 u`, with u the upper end of a share
    of which nothing was seen. The same holds without old answers, where the items that differ from
    all others of their stratum are the unseen ones.
    """
    none = np.zeros(len(counts.strata))
    return float(np.sqrt(2) * sum_bounds(none, _sample(counts.seen), alpha=alpha).high)


def accuracy_bounds(
    counts: Counts, *, alpha: float, by_item: bool, blind: Observed | None = None
) -> SumBounds:
    """Return the change of accuracy: items that became right minus items that became wrong.

    Parameters
    ----------
    counts
        What was seen.
    alpha, by_item
        As in :func:`entry_bounds`.
    blind
        Counts of the questions that were chosen without regard to answers. Adaptive allocation
        biases a sum; the hull of the interval and of the interval moved half the way to the blind
        estimate covers it.
    """
    right = counts.right
    items = counts.items
    if by_item and items.old is not None:
        was_right = items.old == items.truth
        number = len(counts.strata)
        sizes = counts.strata.sizes
        right_items = np.bincount(counts.strata.of, weights=was_right, minlength=number)

        def bounds(seen: Observed) -> SumBounds:
            assert seen.old is not None  # counted with old answers
            assert seen.same is not None
            sample = _sample(seen)
            same = seen.same[..., right].sum(axis=-1)
            gain = (seen.new[..., right].sum(axis=-1) - same).astype(np.float64)
            loss = (seen.old[..., right].sum(axis=-1) - same).astype(np.float64)
            return minus(
                sum_bounds(gain, sample, alpha=alpha, possible=right_items < sizes),
                sum_bounds(loss, sample, alpha=alpha, possible=right_items > 0),
                sample,
            )

        return _hull(
            bounds(counts.seen), None if blind is None else bounds(_filled(blind, counts.seen))
        )

    def share(seen: Observed) -> SumBounds:
        return sum_bounds(
            seen.new[..., right].sum(axis=-1).astype(np.float64), _sample(seen), alpha=alpha
        )

    moved = _hull(share(counts.seen), None if blind is None else share(_filled(blind, counts.seen)))
    matrix = items.matrix
    return moved if matrix is None else _shifted(moved, -float(np.trace(matrix)))


def flip_bounds(counts: Counts, *, alpha: float, blind: Observed | None = None) -> SumBounds:
    """Return the share of items whose answer changed; needs old answers."""

    def bounds(seen: Observed) -> SumBounds:
        assert seen.same is not None
        flips = (seen.answered - seen.same.sum(axis=-1)).astype(np.float64)
        return sum_bounds(flips, _sample(seen), alpha=alpha)

    return _hull(
        bounds(counts.seen), None if blind is None else bounds(_filled(blind, counts.seen))
    )


def _sample(seen: Observed) -> StratumSample:
    return StratumSample(
        seen.shares, np.maximum(seen.answered, 1).astype(np.float64), np.asarray(seen.fraction)
    )


def _shifted(bounds: SumBounds, by: FloatArray | float) -> SumBounds:
    return replace(bounds, value=bounds.value + by, low=bounds.low + by, high=bounds.high + by)


def _hull(pooled: SumBounds, blind: SumBounds | None) -> SumBounds:
    if blind is None:
        return pooled
    half = (blind.value - pooled.value) / 2
    return replace(
        pooled, low=pooled.low + np.minimum(half, 0), high=pooled.high + np.maximum(half, 0)
    )


def _filled(blind: Observed, pooled: Observed) -> Observed:
    """Let strata with no blind answer (all failed) speak by all their answers."""
    empty = blind.answered == 0
    if not empty.any():
        return blind
    tables = {
        name: np.where(empty[..., None], getattr(pooled, name), getattr(blind, name))
        for name in ("new", "old", "same")
        if getattr(blind, name) is not None
    }
    return replace(
        blind,
        answered=np.where(empty, pooled.answered, blind.answered),
        fraction=np.where(empty, pooled.fraction, blind.fraction),
        **tables,
    )
