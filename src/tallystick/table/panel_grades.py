"""Outputs of systems as grades: the panel of a table that judges and people grade.

A `GradePanel` holds outputs x judges as numbers on [0, 1] beside the human grade of the few outputs
that have one. Like a `Panel` it is made of counted entries, so an entry is one row of a table, or a
pattern with the number of outputs that show it. What belongs to single outputs (the item, the
probability of being graded, a weight) is there where rows are at hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tallystick.table.cells import Label
from tallystick.table.panel import Floats, Ints

if TYPE_CHECKING:
    from tallystick.table.data import RowPatterns


@dataclass(frozen=True, kw_only=True, eq=False)
class GradePanel:
    """Outputs with their grades on [0, 1], NaN where there is none.

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
    unit
        What one item is called in sentences.
    coding, coded
        The words behind the entries, where these are patterns: what the columns *coded* say, and
        which entry each row of the table shows. None where each entry is a row.
    probability
        Known probability with which each output was chosen for a human grade; None if all alike.
    weight
        The sampling weight of each output, or what it counts in a target mix; None if all alike.
    slice, slices
        The slice of each entry, -1 for blank, and their names.
    scale, judge_scale
        Least and greatest grade of people, and of the judges where it is another; None for pass and
        fail.
    turned
        Whether less was better, so that all grades were turned round.
    preferences
        For preferences: the two systems of each "system", whose score is the win rate of the first.

    Examples
    --------
    >>> none = np.nan
    >>> panel = GradePanel(systems=("a", "b"), judges=("x",), system=np.array([0, 0, 1]),
    ...     grades=np.array([[1.0], [0.0], [none]]), truth=np.array([1.0, none, none]),
    ...     counts=np.array([2.0, 2.0, 1.0]), pass_fail=True, votes=True)
    >>> panel.n, panel.n_labels, panel.mean(panel.grades[:, 0]).tolist()
    (5, 2, [0.5, nan])
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
    unit: str = "item"
    coding: RowPatterns | None = None
    coded: tuple[str, ...] = ()
    probability: Floats | None = None
    weight: Floats | None = None
    slice: Ints | None = None
    slices: tuple[str, ...] = ()
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

    @cached_property
    def sizes(self) -> Ints:
        """How many outputs each system has."""
        return np.rint(self.by_system(self.counts)).astype(np.int64)

    @cached_property
    def labels(self) -> Ints:
        """How many outputs of each system have a human grade."""
        return np.rint(self.by_system(self.counts * self.known)).astype(np.int64)

    def of(self, system: int) -> NDArray[np.bool_]:
        """Return which entries belong to a system."""
        return np.asarray(self.system == system)

    def by_system(self, values: Floats) -> Floats:
        """Sum values of the entries within systems."""
        found = np.bincount(self.system, weights=values, minlength=len(self.systems))
        return found.astype(np.float64)

    def mean(self, values: Floats, *, weighed: bool = True) -> Floats:
        """Return the mean over each system's outputs, NaN where no entry has a value."""
        heavy = self.counts if self.weight is None or not weighed else self.counts * self.weight
        seen = ~np.isnan(values)
        times = self.by_system(np.where(seen, heavy, 0.0))
        total = self.by_system(np.where(seen, values, 0.0) * heavy)
        none = np.full(len(times), np.nan)
        return np.asarray(np.divide(total, times, out=none, where=times > 0))

    def part(self, chosen: NDArray[Any]) -> GradePanel:
        """Return the chosen entries: a mask, or places that may repeat."""
        held = ("system", "grades", "truth", "counts", "item", "probability", "weight", "slice")
        columns = {name: getattr(self, name) for name in held}
        return replace(
            self, **{name: one[chosen] for name, one in columns.items() if one is not None}
        )

    @cached_property
    def mean_grade(self) -> Floats:
        """The mean grade of the judges per entry, NaN where no judge graded."""
        seen = ~np.isnan(self.grades)
        total, graded = np.where(seen, self.grades, 0.0).sum(axis=1), seen.sum(axis=1)
        return np.asarray(
            np.divide(total, graded, out=np.full(len(total), np.nan), where=graded > 0)
        )

    @cached_property
    def consensus(self) -> Floats:
        """The same; where no judge graded, the mean of the system: it says nothing."""
        middle = np.nan_to_num(self.mean(self.mean_grade, weighed=False), nan=0.5)
        return np.where(np.isnan(self.mean_grade), middle[self.system], self.mean_grade)

    @property
    def alike(self) -> bool:
        """Whether items are known and every output of an item stands for as many items."""
        if self.item is None:
            return False
        first = np.zeros(int(self.item.max(initial=-1)) + 1)
        first[self.item] = self.counts
        return bool((first[self.item] == self.counts).all())

    @property
    def place(self) -> NDArray[np.integer]:
        """The entry of each row of the table."""
        assert self.coding is not None, "outputs were read row by row"
        return self.coding.place

    def words(self, column: str) -> list[Label]:
        """Return what a column of the table says, each word once; nothing where entries are rows."""
        return [] if self.coding is None else coded_words(self.coding, self.coded, column)


def coded_words(cells: RowPatterns, columns: Sequence[str], name: str) -> list[Label]:
    """Return what a column says, each word once."""
    codes = cells.codes[:, columns.index(name)]
    return [cells.labels[code] for code in np.unique(codes) if code >= 0]
