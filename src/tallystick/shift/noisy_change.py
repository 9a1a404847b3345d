"""How accuracy, matrix and flip rate changed when answers are random: intervals from counts.

The counterpart of :mod:`tallystick.shift.change` for an API whose answers vary from call to call;
with a noise share of 0 the accuracy and the entries are those of that module, except that exhausted
strata no longer stretch an interval.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick.errors import InputError
from tallystick.sampling import Observed
from tallystick.shift.counts import Counts
from tallystick.shift.intervals import StratumSample, SumBounds
from tallystick.shift.noise_rules import ACCURACY_HULL, FLIP_HULL
from tallystick.shift.noisy_intervals import (
    Moves,
    blind_gap,
    change_bounds,
    flip_rate_bounds,
    new_item_bounds,
    stretched,
)

__all__ = ["accuracy_moves", "noisy_accuracy", "noisy_entries", "noisy_flips"]

FloatArray = NDArray[np.float64]


def noisy_accuracy(
    counts: Counts,
    *,
    share: ArrayLike,
    alpha: float,
    blind: Observed | None = None,
    new_items: bool = False,
) -> SumBounds:
    """Bound the change of accuracy: items that became right minus items that became wrong.

    Parameters
    ----------
    counts
        What was seen, with old answers by item.
    share
        λ over flips of correctness; ignored for new items.
    alpha
        One minus the level.
    blind
        Counts of the questions that were chosen without regard to answers. The interval is
        stretched by half the gap to their estimate.
    new_items
        Speak of new items instead of these.
    """
    items = len(counts.items)
    sample = sample_of(counts.seen)
    moves = accuracy_moves(counts, counts.seen)
    found = (
        new_item_bounds(moves, sample, items=items, alpha=alpha)
        if new_items
        else change_bounds(moves, sample, share=share, items=items, alpha=alpha)
    )
    if blind is None:
        return found
    gap = blind_gap(moves.net, sample, accuracy_moves(counts, blind).net, _floats(blind.answered))
    return stretched(found, gap, part=ACCURACY_HULL)


def noisy_flips(
    counts: Counts, *, share: ArrayLike, alpha: float, blind: Observed | None = None
) -> SumBounds:
    """Bound the share of items whose answer changed; the estimate moves to the blind one.

    Parameters
    ----------
    counts, alpha, blind
        As in :func:`noisy_accuracy`.
    share
        λ over all flips.
    """
    sample = sample_of(counts.seen)
    flips = _flips(counts.seen)
    found = flip_rate_bounds(flips, sample, share=share, items=len(counts.items), alpha=alpha)
    if blind is None:
        return found
    gap = blind_gap(flips, sample, _flips(blind), _floats(blind.answered))
    moved = stretched(found, gap, part=FLIP_HULL, move=True)
    # A share stays a share, also where the blind estimate overshoots.
    value, low, high = (np.clip(end, 0.0, 1.0) for end in (moved.value, moved.low, moved.high))
    return SumBounds(value, low, high, moved.variance, moved.rate)


def noisy_entries(counts: Counts, *, shares: ArrayLike, alpha: float) -> SumBounds:
    """Bound the change of every counted cell of the matrix; axes (…, C).

    Parameters
    ----------
    counts, alpha
        As in :func:`noisy_accuracy`.
    shares
        λ of each cell, :meth:`~tallystick.shift.noise_share.Repeats.entry_shares`.
    """
    each = np.broadcast_to(np.asarray(shares, dtype=np.float64), counts.true.shape)
    parts = [_row(counts, int(label), each, alpha) for label in np.unique(counts.true)]
    # Cells are numbered row by row of the matrix, so the rows follow one another.
    value, low, high, variance = (
        np.concatenate([getattr(part, name) for part in parts], axis=-1)
        for name in ("value", "low", "high", "variance")
    )
    return SumBounds(value, low, high, variance, np.empty(0))


def _row(counts: Counts, label: int, shares: FloatArray, alpha: float) -> SumBounds:
    """Return the cells of one true label: they can only change in strata that have such items."""
    seen = _with_old(counts.seen)
    cells, strata = np.flatnonzero(counts.true == label), np.flatnonzero(counts.of_label[:, label])
    whole = sample_of(seen)
    sample = StratumSample(
        whole.shares[strata], whole.answered[..., strata], whole.fraction[..., strata]
    ).by_event

    def events(table: NDArray[np.intp] | None) -> FloatArray:
        assert table is not None  # counted with old answers
        return _floats(np.swapaxes(table[..., strata[:, None], cells], -1, -2))

    same, at = events(seen.same), np.ix_(cells, strata)
    moves = Moves(
        gain=events(seen.new) - same,
        loss=events(seen.old) - same,
        can_gain=counts.can_gain[at],
        can_lose=counts.can_lose[at],
    )
    items = len(counts.items)
    return change_bounds(moves, sample, share=shares[cells], items=items, alpha=alpha)


def accuracy_moves(counts: Counts, seen: Observed) -> Moves:
    """Return which answers became right and which became wrong, by stratum."""
    told = _with_old(seen)
    right, items = counts.right, counts.items
    assert told.old is not None  # checked by _with_old
    assert told.same is not None
    assert items.old is not None
    was_right = items.old == items.truth
    strata = counts.strata
    right_items = np.bincount(strata.of, weights=was_right, minlength=len(strata))
    same = told.same[..., right].sum(axis=-1)
    return Moves(
        gain=_floats(told.new[..., right].sum(axis=-1) - same),
        loss=_floats(told.old[..., right].sum(axis=-1) - same),
        can_gain=right_items < strata.sizes,
        can_lose=right_items > 0,
    )


def sample_of(seen: Observed) -> StratumSample:
    """Return what was answered in every stratum."""
    return StratumSample(seen.shares, _floats(np.maximum(seen.answered, 1)), _floats(seen.fraction))


def _flips(seen: Observed) -> FloatArray:
    same = _with_old(seen).same
    assert same is not None  # checked by _with_old
    return _floats(seen.answered - same.sum(axis=-1))


def _with_old(seen: Observed) -> Observed:
    if seen.old is None or seen.same is None:
        raise InputError("old answers by item are needed to see a flip: give old=… for every item")
    return seen


def _floats(values: NDArray[np.generic]) -> FloatArray:
    return np.asarray(values, dtype=np.float64)
