"""The answers of k models as cells: items of one stratum on which all models answer alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick.errors import InputError
from tallystick.sampling.labels.consensus import Floats, Ints

__all__ = ["Contest", "contest_of"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Contest:
    """Items sorted into cells, so that a million of them cost no more than their cells.

    Parameters
    ----------
    cell
        The cell of each item.
    answers
        Cells x models: the class that each model gives, -1 for no answer.
    stratum
        The stratum of each cell.
    sizes
        How many items each cell holds.
    guess
        Strata x classes: the share of each class that the votes lead one to expect.
    """

    cell: Ints
    answers: Ints
    stratum: Ints
    sizes: Ints
    guess: Floats

    @property
    def n_items(self) -> int:
        """How many items there are, N."""
        return int(self.cell.size)

    @property
    def n_models(self) -> int:
        """How many models there are, k."""
        return int(self.answers.shape[1])

    def left(self, drawn: Ints) -> Ints:
        """Return how many items of each cell are not among *drawn*."""
        return np.asarray(self.sizes - np.bincount(self.cell[drawn], minlength=self.sizes.size))

    def split(self, live: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Say of each cell whether the live models do not all agree there."""
        mine = self.answers[:, live]
        return np.asarray((mine != mine[:, :1]).any(axis=1))

    def items_of(self, cells: NDArray[np.bool_], *, without: Ints) -> Ints:
        """Return the items of the flagged cells that are not among *without*."""
        keep = cells[self.cell]
        keep[without] = False
        return np.flatnonzero(keep)

    def chance(self, p: Floats) -> Floats:
        """Return cells x models: the chance that each model is right, given class shares *p*."""
        right = p[self.stratum[:, None], np.maximum(self.answers, 0)]
        return np.asarray(np.where(self.answers >= 0, right, 0.0))

    def largest_gap(self, rho: Floats, cells: NDArray[np.bool_]) -> Floats:
        """Return models x models: the largest guess of d where both differ.

        (W8) needs it for the least value that Z can have: d is at least -1 where both differ, and 0
        elsewhere.
        """
        k = self.n_models
        gap = np.full((k, k), -np.inf)
        mine, chance = self.answers[cells], rho[cells]
        for a in range(k):
            differ = mine[:, a, None] != mine
            lead = np.where(differ, chance[:, a, None] - chance, -np.inf)
            gap[a] = lead.max(axis=0, initial=-np.inf)
        return np.where(np.isneginf(gap), -1.0, gap)  # never: -1 - gap = 0, nothing can change


def contest_of(answers: ArrayLike, stratum: ArrayLike, *, guess: ArrayLike) -> Contest:
    """Return the contest of some models on some items.

    Parameters
    ----------
    answers
        Items x models of class codes; -1 for no answer, which is always wrong.
    stratum
        The stratum of each item, from votes only.
    guess
        Strata x classes.

    Examples
    --------
    >>> contest_of([[0, 1], [0, 1], [1, 1]], [0, 0, 0], guess=[[0.5, 0.5]]).sizes.tolist()
    [2, 1]
    """
    table, where = np.asarray(answers), np.asarray(stratum, dtype=np.int64)
    shares = np.atleast_2d(np.asarray(guess, dtype=np.float64))
    if table.ndim != 2 or table.shape[1] < 2 or where.shape != table.shape[:1]:
        raise InputError(f"answers must be items x models with a stratum each, got {table.shape}")
    n_strata, n_classes = shares.shape
    if table.min() < -1 or table.max() >= n_classes:
        raise InputError(
            f"answers must be in -1..{n_classes - 1}, got {table.min()}..{table.max()}"
        )
    if where.min() < 0 or where.max() >= n_strata:
        raise InputError(f"stratum must be in 0..{n_strata - 1}: every item takes part")

    base = n_classes + 1
    if base ** table.shape[1] * n_strata < 2**62:
        code = where.copy()
        for j in range(table.shape[1]):
            code = code * base + (table[:, j] + 1)
        _, first, cell, sizes = np.unique(
            code, return_index=True, return_inverse=True, return_counts=True
        )
    else:
        rows = np.column_stack((where, table))
        _, first, cell, sizes = np.unique(
            rows, axis=0, return_index=True, return_inverse=True, return_counts=True
        )
    return Contest(
        cell=cell.ravel(),
        answers=table[first].astype(np.int64),
        stratum=where[first],
        sizes=sizes,
        guess=shares,
    )
