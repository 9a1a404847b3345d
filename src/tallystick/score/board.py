"""Outputs side by side, item by item: the ground on which systems are compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tallystick.score.outputs import Floats, ItemGrid, Outputs
from tallystick.stats.adverse import Outlook, Spread, adjust, mean_outlook

__all__ = ["FEWEST", "FIRST", "SystemBoard", "adjusted_labels", "board_of", "pair_outlook"]

FEWEST = 3
"""Common items below which pairs are not tested on the differences themselves."""

FIRST = 20
"""Random items that systems should have grades on before anything can be forecast."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SystemBoard:
    """Outputs by item and system, for the systems that have human grades.

    Parameters
    ----------
    systems
        Positions of these systems.
    truth, values
        Items x systems: human grades (NaN for none) and consensus.
    counts
        How many items each row stands for. A row with a human grade is always one item.
    complete
        Whether every item has an output of each of them.
    """

    systems: tuple[int, ...]
    truth: Floats
    values: Floats
    counts: Floats
    complete: bool

    @property
    def n(self) -> int:
        """How many items there are."""
        return round(float(self.counts.sum()))

    def every(self, values: Floats) -> Floats:
        """Return one value per row as one value per item."""
        return np.repeat(values, self.counts.astype(np.int64))

    def common(self, a: int, b: int) -> NDArray[np.bool_]:
        """Return the items on which two systems (columns) were both graded."""
        return np.asarray(~np.isnan(self.truth[:, a]) & ~np.isnan(self.truth[:, b]))

    def ungraded(self, columns: Sequence[int], items: int) -> int | None:
        """Return how many grades are missing until some systems (columns) have this many items.

        The best graded items come first. None where fewer items have an output of each system.
        """
        some = list(columns)
        whole = ~np.isnan(self.values[:, some]).any(axis=1)
        missing, counts = np.isnan(self.truth[whole][:, some]).sum(axis=1), self.counts[whole]
        if counts.sum() < items:
            return None
        order = np.argsort(missing, kind="stable")
        left = items - np.append(0.0, np.cumsum(counts[order])[:-1])
        return round(float(missing[order] @ np.clip(left, 0.0, counts[order])))

    @property
    def shared(self) -> NDArray[np.bool_]:
        """Items that were graded for every system."""
        return np.asarray(~np.isnan(self.truth).any(axis=1))

    @property
    def same_items(self) -> bool:
        """Whether all systems have all their outputs and all their grades on the same items."""
        graded = ~np.isnan(self.truth)
        return self.complete and bool((graded == graded[:, :1]).all())


def board_of(outputs: Outputs, values: Floats, systems: tuple[int, ...]) -> SystemBoard | None:
    """Put the outputs of some systems side by side, item by item; None if items are not known."""
    if outputs.grid is not None:
        return _board_of_grid(outputs, outputs.grid, values, systems)
    if outputs.item is None or not outputs.plain:
        return None
    column = np.full(len(outputs.systems), -1, np.int64)
    column[list(systems)] = np.arange(len(systems))
    used = column[outputs.system] >= 0
    items, row = np.unique(outputs.item[used], return_inverse=True)
    shape = (len(items), len(systems))
    truth, c = np.full(shape, np.nan), np.full(shape, np.nan)
    place = row.ravel(), column[outputs.system[used]]
    truth[place], c[place] = outputs.truth[used], values[used]
    return SystemBoard(
        systems=systems,
        truth=truth,
        values=c,
        counts=np.ones(len(items)),
        complete=not bool(np.isnan(c).any()),
    )


def _board_of_grid(
    outputs: Outputs, grid: ItemGrid, values: Floats, systems: tuple[int, ...]
) -> SystemBoard:
    """Look up grades and consensus of items that an engine put side by side."""
    entries = grid.entries[:, list(systems)]
    seen = (entries >= 0).any(axis=1)
    entries, counts = entries[seen], grid.counts[seen]
    graded = np.append(outputs.known, False)[entries].any(axis=1)
    # Labelled items enter the tests one by one; they are few.
    times = np.where(graded, counts, 1).astype(np.int64)
    entries, counts = np.repeat(entries, times, axis=0), np.repeat(counts / times, times)
    c = np.append(values, np.nan)[entries]
    return SystemBoard(
        systems=systems,
        truth=np.append(outputs.truth, np.nan)[entries],
        values=c,
        counts=counts,
        complete=not bool(np.isnan(c).any()),
    )


def adjusted_labels(truth: Floats, values: Floats, every: Floats, counts: Floats) -> Floats:
    """Return u of (AL5) for every system, each with its own slope."""
    ones = np.ones((1, len(truth)))
    columns = [
        adjust(
            truth[None, :, s],
            values[None, :, s],
            Spread.of(every[:, s], counts),
            bounds=(0.0, 1.0),
            weights=ones,
        ).values[0]
        for s in range(truth.shape[1])
    ]
    return np.stack(columns, axis=1)


def pair_outlook(
    adjusted: Floats, labels: Floats, items: int, *, new: bool, paired: bool = True
) -> Outlook | None:
    """Return what forecasts the labels of a pair, from labels and adjusted labels (items x 2).

    None where so few items are graded that a forecast would be a guess. (AL9) makes no use
    of what two systems have in common, so without *paired* neither does this.
    """
    if len(labels) < min(FIRST, items):
        return None

    def of(values: Floats) -> Outlook:
        found = mean_outlook(values[:, 0] - values[:, 1], items, bounds=(-1.0, 1.0))
        if paired:
            return found
        apart = sum(mean_outlook(values[:, s], items).variance for s in (0, 1))
        return replace(found, variance=max(found.variance, apart))

    found = of(adjusted)
    if not new:
        return found
    # What the judges explain of the labels still varies from one set of items to the next.
    return replace(found, between=max(0.0, of(labels).variance - found.variance))
