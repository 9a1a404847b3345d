"""Outputs as arrays: the one shape on which every method of this capability works."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Floats", "Ints", "ItemGrid", "Outputs"]

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ItemGrid:
    """Items x systems: which entry of the outputs each one is, -1 for none.

    Items that look alike are one row; *counts* says how many they are.
    """

    entries: Ints
    counts: Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class Outputs:
    """Outputs of systems with their grades on [0, 1], NaN where there is none.

    An entry is one row of the table, or one pattern of a tally with the number of outputs that show
    it. Scores need nothing else; pairs of systems also need to know the item of each output.

    Parameters
    ----------
    systems, judges
        Their names.
    system
        The position of each entry's system.
    grades
        Entries x judges.
    truth
        Human grade per entry.
    counts
        How many outputs an entry stands for.
    pass_fail
        Whether the human grades are pass and fail; otherwise they are numbers.
    votes
        Whether all judges say pass or fail.
    item
        The number of each entry's item; None if items cannot be told.
    no_items
        Why items cannot be told.
    counted
        Whether the entries are patterns of a tally.
    grid
        For patterns: the items, where an engine could put their outputs side by side.
    probability
        Known probability with which each output was chosen for a human grade; None if all alike.
    slice
        The slice of each entry, -1 for blank; only for a target mix.
    unit
        What one item is called in sentences.
    preferences
        For preferences: the two systems of each "system", whose score is the win rate of the first.
    """

    systems: tuple[str, ...]
    judges: tuple[str, ...]
    system: Ints
    grades: Floats
    truth: Floats
    counts: Floats
    pass_fail: bool
    votes: bool
    item: Ints | None = None
    no_items: str = ""
    counted: bool = False
    grid: ItemGrid | None = None
    probability: Floats | None = None
    slice: Ints | None = None
    slices: tuple[str, ...] = ()
    unit: str = "item"
    scale: tuple[float, float] | None = None
    judge_scale: tuple[float, float] | None = None
    turned: bool = False
    preferences: tuple[tuple[str, str], ...] = ()

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which entries have a human grade."""
        return ~np.isnan(self.truth)

    @property
    def n(self) -> int:
        """How many outputs there are."""
        return round(float(self.counts.sum()))

    @property
    def n_labels(self) -> int:
        """How many outputs have a human grade."""
        return round(float(self.counts[self.known].sum()))

    @property
    def plain(self) -> bool:
        """Whether every entry is one output."""
        return bool((self.counts == 1).all())

    def of(self, system: int) -> NDArray[np.bool_]:
        """Return which entries belong to a system."""
        return np.asarray(self.system == system)

    def part(self, chosen: NDArray[np.bool_]) -> Outputs:
        """Return the chosen entries."""
        return replace(
            self,
            system=self.system[chosen],
            grades=self.grades[chosen],
            truth=self.truth[chosen],
            counts=self.counts[chosen],
            item=None if self.item is None else self.item[chosen],
            probability=None if self.probability is None else self.probability[chosen],
            slice=None if self.slice is None else self.slice[chosen],
        )

    def mean_grade(self) -> Floats:
        """Return the mean grade of the judges per entry, NaN where no judge graded."""
        seen = ~np.isnan(self.grades)
        total = np.where(seen, self.grades, 0.0).sum(axis=1)
        graded = seen.sum(axis=1)
        none = np.full(len(total), np.nan)
        return np.asarray(np.divide(total, graded, out=none, where=graded > 0))
