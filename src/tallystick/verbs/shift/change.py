"""How the matrix, the accuracy and the share of flips changed, each with its interval."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tallystick.results import Interval, Unknown
from tallystick.sampling import FAILED, Observed, difference, stratified
from tallystick.verbs.shift.design import Items, StratumSample, SumBounds, sum_bounds
from tallystick.verbs.shift.noise import Counts, NoiseShares
from tallystick.verbs.shift.noisy import noisy_accuracy, noisy_entries, noisy_flips, widened
from tallystick.verbs.shift.result import Change, TopCell
from tallystick.verbs.shift.verdict import top_cell_words

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


def entry_bounds(counts: Counts, *, alpha: float) -> SumBounds:
    """Return the interval of the change of every counted cell, without old answers: the new share,
    less the old one; axes (…, C).
    """
    parts = [_row_bounds(counts, label, alpha=alpha) for label in np.unique(counts.true)]
    # Cells are numbered row by row of the matrix, so the rows follow one another.
    value, low, high, variance = (
        np.concatenate([getattr(part, name) for part in parts], axis=-1)
        for name in ("value", "low", "high", "variance")
    )
    matrix = counts.items.matrix
    moved = 0.0 if matrix is None else matrix[counts.true, counts.answer]
    return SumBounds(value - moved, low - moved, high - moved, variance, np.empty(0))


def _row_bounds(counts: Counts, label: int, *, alpha: float) -> SumBounds:
    """Return the cells of one true label: they can only change in strata that have such items."""
    cells, strata = np.flatnonzero(counts.true == label), np.flatnonzero(counts.of_label[:, label])
    whole = _sample(counts.seen)
    sample = StratumSample(
        whole.shares[strata], whole.answered[..., strata], whole.fraction[..., strata]
    ).by_event
    new = np.swapaxes(counts.seen.new[..., strata[:, None], cells], -1, -2)
    return sum_bounds(np.asarray(new, dtype=np.float64), sample, alpha=alpha)


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


def accuracy_bounds(counts: Counts, *, alpha: float) -> SumBounds:
    """Return the change of accuracy, without old answers: the new share of right ones, less the old
    one.
    """
    right = counts.seen.new[..., counts.right].sum(axis=-1).astype(np.float64)
    found = sum_bounds(right, _sample(counts.seen), alpha=alpha)
    matrix = counts.items.matrix
    moved = 0.0 if matrix is None else float(np.trace(matrix))
    return replace(found, value=found.value - moved, low=found.low - moved, high=found.high - moved)


def _sample(seen: Observed) -> StratumSample:
    return StratumSample(
        seen.shares, np.maximum(seen.answered, 1).astype(np.float64), np.asarray(seen.fraction)
    )


# Every estimate of one assessment with its interval, at its noise share.


Ends: TypeAlias = tuple[FloatArray, FloatArray]


@dataclass(frozen=True, kw_only=True)
class Level:
    """One minus the level of every interval, and whether those of all cells hold together."""

    alpha: float
    simultaneous: bool


@dataclass(frozen=True, eq=False, kw_only=True)
class ShiftEstimates:
    """What was counted, and how to turn it into estimates.

    Parameters
    ----------
    counts, blind
        All answers, and those chosen without regard to answers (None where nothing is corrected).
    shares
        λ of every number.
    level
        Of the intervals.
    by_item
        Whether the old answer is subtracted item by item.
    census
        Whether every item was answered by a deterministic API: then shares are counts.
    everything
        Whether every item was answered.
    """

    counts: Counts
    blind: Observed | None
    shares: NoiseShares
    level: Level
    by_item: bool
    census: bool
    everything: bool

    def interval(self, low: float, high: float) -> Interval:
        """Return the interval of a cell."""
        method = "beta of sums" + (", Bonferroni" if self.level.simultaneous else "")
        return Interval(
            low, high, level=1 - self.level.alpha, guarantee="approximate", method=method
        )

    def accuracy(self, share: float | None = None) -> Change:
        """Return the change of accuracy, at its own λ or at a given one."""
        if not self.counts.items.labelled:
            return Change(estimate=Unknown("there are no true labels"), interval=None)
        noise = self.shares.accuracy if share is None else share
        bounds = self._accuracy(noise)
        matrix = self._matrix
        before = float(matrix.trace())
        room = (-before, max(1 - before, 0.0)) if self.by_item else (-1.0, 1.0)
        certain = self.census or (share == 0 and self.everything)
        return self._change(bounds, float(self._shift().trace()), room=room, certain=certain)

    def new_items(self) -> Change:
        """Return the change of accuracy on new items; it needs no assumption about noise."""
        bounds = noisy_accuracy(
            self.counts, share=1.0, alpha=self.level.alpha, blind=self.blind, new_items=True
        )
        value = float(self._shift().trace())
        return self._change(bounds, value, room=(-1.0, 1.0), certain=False)

    def flips(self, share: float | None = None) -> Change:
        """Return the share of changed answers, at its own λ or at a given one."""
        if self.counts.items.old is None:
            return Change(estimate=Unknown("the old answers by item are not known"), interval=None)
        bounds = self.flip_bounds(share)
        certain = self.census or (share == 0 and self.everything)
        return self._change(bounds, float(bounds.value), room=(0.0, 1.0), certain=certain)

    def flip_bounds(self, share: float | None = None) -> SumBounds:
        """Return the bounds of the flip rate."""
        noise = self.shares.flips if share is None else share
        return noisy_flips(self.counts, share=noise, alpha=self.level.alpha, blind=self.blind)

    def as_they_came(self) -> dict[str, Change]:
        """Return accuracy change and flip rate of these answers, without regard to noise."""
        found = {"accuracy_change": self.accuracy(0.0)}
        if self.counts.items.old is not None:
            found["flip_rate"] = self.flips(0.0)
        return found

    def matrix(self) -> tuple[FloatArray, Ends, Ends]:
        """Return the change of every cell, its own interval, and one that holds for all at once."""
        shift, room = self._shift(), self._room()
        counts = self.counts
        possible = int((counts.of_label.sum(axis=0) > 0).sum()) * shift.shape[1]
        alpha = self.level.alpha
        each = alpha / possible if self.level.simultaneous else alpha
        low, high = (np.clip(end, *room) for end in self._cells(shift, each, self.shares.entries))
        sure = self._cells(shift, alpha / possible, self.shares.joint)
        return shift, (shift, shift) if self.census else (low, high), sure

    def recalls(self, shift: FloatArray, ends: Ends) -> dict[str, Change]:
        """Return the change of each label's recall; nothing without true labels."""
        items = self.counts.items
        found: dict[str, Change] = {}
        if not items.labelled:
            return found
        for i, label in enumerate(items.labels):
            mass = items.mass[i]
            if not mass:
                found[label] = Change(estimate=Unknown(f"no item is truly {label}"), interval=None)
                continue
            low, high = (float(np.clip(end[i, i] / mass, -1, 1)) for end in ends)
            estimate = float(np.clip(shift[i, i] / mass, -1, 1))
            found[label] = Change(estimate=estimate, interval=self.interval(low, high))
        return found

    def row_errors(self, variance: FloatArray) -> FloatArray:
        """Return the squared error of every row of the matrix, noise included."""
        counts = self.counts
        if self.by_item:
            # What noise adds to each cell, as its interval has it.
            noise = self._entries(self.level.alpha, self.shares.entries).variance
            variance = variance + noise - self._entries(self.level.alpha, 0.0).variance
        rows = np.bincount(counts.true, weights=variance, minlength=len(counts.items.labels))
        return rows.astype(np.float64)

    @property
    def _matrix(self) -> FloatArray:
        matrix = self.counts.items.matrix
        assert matrix is not None  # checked by assess
        return matrix

    def _room(self) -> Ends:
        """Return how far each cell can move: none can lose more than it had, or hold all."""
        matrix = self._matrix
        if not self.by_item:
            # The paper's estimates stay as they are.
            return np.full_like(matrix, -1.0), np.full_like(matrix, 1.0)
        return -matrix, np.maximum(self.counts.items.mass[:, None] - matrix, 0.0)

    def _shift(self) -> FloatArray:
        """Return the estimated change of every cell."""
        counts, matrix = self.counts, self._matrix
        shift = np.zeros_like(matrix) if self.by_item else -matrix.copy()
        shift[counts.true, counts.answer] = point(counts, by_item=self.by_item)[0]
        shift = np.clip(shift, *self._room())
        if self.everything:  # shares of all items, without the rounding errors of sums over strata
            shift = np.rint(shift * len(counts.items)) / len(counts.items)
        return np.asarray(shift)

    def _accuracy(self, share: float) -> SumBounds:
        alpha = self.level.alpha
        if self.by_item:
            return noisy_accuracy(self.counts, share=share, alpha=alpha, blind=self.blind)
        if not share:
            return accuracy_bounds(self.counts, alpha=alpha)
        before = float(self._matrix.trace())
        bounds = accuracy_bounds(self._endless, alpha=alpha)
        return widened(bounds, share * before * (1 - before) / len(self.counts.items), alpha=alpha)

    @property
    def _endless(self) -> Counts:
        """The counts without a finite-population correction.

        Without old answers by item nothing tells noise from change. Leaving the correction out
        covers the noise of the new answers, and the old ones are given the variance of a draw.
        """
        seen = self.counts.seen
        return replace(self.counts, seen=replace(seen, fraction=np.zeros_like(seen.fraction)))

    def _entries(self, alpha: float, shares: FloatArray | float) -> SumBounds:
        counts = self.counts
        if self.by_item:
            return noisy_entries(counts, shares=shares, alpha=alpha)
        if not self.shares.flips:
            return entry_bounds(counts, alpha=alpha)
        was = self._matrix[counts.true, counts.answer]
        bounds = entry_bounds(self._endless, alpha=alpha)
        return widened(bounds, was * (1 - was) / len(counts.items), alpha=alpha)

    def _cells(self, shift: FloatArray, alpha: float, shares: FloatArray) -> Ends:
        """Return the ends of every cell of the matrix; they always hold the estimate."""
        counts = self.counts
        entries = self._entries(alpha, shares)
        unseen = unseen_bounds(counts, alpha=alpha)
        items = len(counts.items)
        # A cell that nobody has seen was not repeated either: its λ is 1, or 0 by declaration.
        noise = float(self.shares.flips > 0)
        more = widened(unseen, np.full_like(unseen.value, noise / items**2), alpha=alpha)
        low = np.zeros_like(shift)
        high = np.repeat(more.high[:, None], shift.shape[1], axis=1)
        if not self.by_item:
            low, high = low - self._matrix, high - self._matrix
        low[counts.true, counts.answer] = entries.low
        high[counts.true, counts.answer] = entries.high
        return np.minimum(low, shift), np.maximum(high, shift)

    def _change(
        self, bounds: SumBounds, estimate: float, *, room: tuple[float, float], certain: bool
    ) -> Change:
        """Return an estimate with its interval; a count where nothing is left to chance."""
        level, items = 1 - self.level.alpha, len(self.counts.items)
        if certain:
            share = round(estimate * items) / items
            exact = Interval(share, share, level=level, method="every item was asked")
            return Change(estimate=share, interval=exact)
        ends = (min(float(bounds.low), estimate), estimate, max(float(bounds.high), estimate))
        # All three, since each may lie outside by a rounding error.
        low, inside, high = (float(np.clip(end, *room)) for end in ends)
        method = "beta of sums, blind hull, noise"
        return Change(estimate=inside, interval=Interval(low, high, level=level, method=method))


# The cells of the matrix that changed most for their doubt.


IntArray = NDArray[np.intp]
TOP = 10
"""Cells that are named."""


def top_cells(
    items: Items,
    asked: IntArray,
    codes: IntArray,
    shift: FloatArray,
    ends: Ends,
    sure: Ends,
    interval: Callable[[float, float], Interval],
) -> tuple[TopCell, ...]:
    """Return the cells that changed most for their doubt.

    Parameters
    ----------
    items, asked, codes
        What was known, asked and answered.
    shift, ends, sure
        The change of every cell, its own interval, and the one that holds for all cells at once.
    interval
        Makes the interval of two ends.
    """
    half = np.maximum((ends[1] - ends[0]) / 2, 1e-12)
    surprise = np.where(shift == 0, 0.0, np.abs(shift) / half)
    columns = items.columns
    told = codes != FAILED
    asked, codes = asked[told], codes[told]
    cells = []
    for at in np.argsort(-surprise, axis=None, kind="stable")[:TOP]:
        i, j = divmod(int(at), shift.shape[1])
        if surprise[i, j] == 0:
            break
        moved = (items.truth[asked] == i) & (codes == j)
        if items.old is not None:
            was = items.old[asked] == j
            moved = (items.truth[asked] == i) & (
                ((codes == j) & ~was) if shift[i, j] > 0 else ((codes != j) & was)
            )
        true, answered = items.labels[i], columns[j]
        cells.append(
            TopCell(
                true=true,
                answered=answered,
                change=float(shift[i, j]),
                interval=interval(ends[0][i, j], ends[1][i, j]),
                words=top_cell_words(true, answered, float(shift[i, j]), float(half[i, j])),
                survives=bool(sure[0][i, j] > 0 or sure[1][i, j] < 0),
                examples=tuple(items.names[item] for item in asked[moved][:3]),
            )
        )
    return tuple(cells)
