"""Count answers by stratum and by cell of the matrix, and which events were possible where."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tallystick.sampling import FAILED, Budget, Observed, Plan, Strata, Uniform, observe
from tallystick.shift.items import Items

__all__ = ["Counts", "collapse", "count"]

IntArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, eq=False, kw_only=True)
class Counts:
    """Counts of one run, or of many side by side.

    Parameters
    ----------
    items, strata
        What was sampled.
    seen
        Counts over the cells of the matrix that occurred before or in the answers, C of them.
    true, answer
        The row and the column of each of those cells.
    of_label
        Items by stratum and true label, shape (S, L).
    before
        Items by stratum and old cell, shape (S, C); None without old answers.
    """

    items: Items
    strata: Strata
    seen: Observed
    true: IntArray
    answer: IntArray
    of_label: IntArray
    before: IntArray | None

    @property
    def right(self) -> BoolArray:
        """Which cells are on the diagonal."""
        return np.asarray(self.true == self.answer)

    @property
    def can_gain(self) -> BoolArray:
        """Where an item can move into a cell: shape (C, S)."""
        own = self.of_label[:, self.true]
        return np.asarray((own > (0 if self.before is None else self.before)).T)

    @property
    def can_lose(self) -> BoolArray:
        """Where an item can move out of a cell: shape (C, S)."""
        if self.before is None:
            return np.zeros((len(self.true), len(self.strata)), bool)
        return (self.before > 0).T


def count(
    items: Items,
    strata: Strata,
    asked: IntArray,
    answers: IntArray,
    *,
    keep: BoolArray | None = None,
) -> Counts:
    """Count *answers* (codes 0 … L, or FAILED) to the items *asked*, along the last axis.

    Parameters
    ----------
    items, strata
        What was sampled.
    asked, answers
        Shape (questions,) or (runs, questions).
    keep
        Which questions to count; None counts all.
    """
    width = len(items.labels) + 1
    failed = answers == FAILED
    flat = np.where(failed, items.truth[asked] * width, items.truth[asked] * width + answers)
    parts = (
        [np.unique(flat)]
        if items.old is None
        else [np.unique(flat), np.unique(items.flat(items.old))]
    )
    cells = np.unique(np.concatenate(parts))
    old = None if items.old is None else np.searchsorted(cells, items.flat(items.old))
    # Only the counting of a plan is wanted here: its policy plays no part.
    plan = Plan(
        strata=strata, policy=Uniform(), budget=Budget(calls=1), n_outcomes=len(cells), baseline=old
    )
    seen = observe(plan, asked, np.where(failed, FAILED, np.searchsorted(cells, flat)), keep=keep)
    L = len(items.labels)
    of_label = np.bincount(strata.of * L + items.truth, minlength=len(strata) * L).reshape(-1, L)
    before = None
    if old is not None:
        C = len(cells)
        before = np.bincount(strata.of * C + old, minlength=len(strata) * C).reshape(-1, C)
    return Counts(
        items=items,
        strata=strata,
        seen=seen,
        true=cells // width,
        answer=cells % width,
        of_label=of_label,
        before=before,
    )


def collapse(strata: Strata, answered: IntArray, *, least: int = 2) -> Strata:
    """Join every stratum with fewer than *least* answers to another, so that no part of the whole
    is a guess.

    Strata run short of answers where a run ended early, where calls failed, or where a gate took
    the budget. The one with the fewest answers joins the one with the fewest among its family (else
    among all). Which strata join depends on how many answers there are, not on what they say.

    Examples
    --------
    >>> collapse(Strata([0, 0, 0, 1, 1, 2]), np.array([3, 1, 1])).sizes
    array([3, 3])
    """
    got = np.asarray(answered).copy()
    while len(strata) > 1:
        short = got < np.minimum(least, strata.sizes)
        if not short.any():
            break
        k = int(np.where(short, got, got.max() + 1).argmin())
        other = np.arange(len(strata)) != k
        kin = np.flatnonzero(other & (strata.families == strata.families[k]))
        hosts = kin if kin.size else np.flatnonzero(other)
        into = np.arange(len(strata))
        into[k] = hosts[got[hosts].argmin()]
        number = np.unique(into, return_inverse=True)[1]
        got = np.bincount(number, weights=got).astype(np.intp)
        strata = strata.regroup(into)
    return strata
