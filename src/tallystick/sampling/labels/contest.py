"""Who competes for the first place: k models by their answers, or k systems by their outputs.

`Contest` holds the answers of models: items of one stratum on which all models answer alike are one
cell, and only items on which the live models differ need a label. `JudgedContest` holds systems
whose outputs people grade: any item may tell two of them apart, and what judges made of an output
only says how likely it is to pass.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick.errors import InputError
from tallystick.sampling.labels.consensus import AnyInts, Floats, Ints

__all__ = ["AnyContest", "Contest", "ContestView", "JudgedContest", "contest_of"]


@dataclass(frozen=True, kw_only=True, eq=False)
class ContestView:
    """What is believed of the items that are left, frozen while a batch is read.

    Parameters
    ----------
    left
        How many items may still be drawn, |C|.
    expected
        How many of them each competitor is expected to have right.
    worst
        Competitors x competitors: the largest guess of d on any of them, for the bound of (W8).
    chance
        The chance of each competitor to be right on one item.
    """

    left: int
    expected: Floats
    worst: Floats
    chance: Callable[[int], Floats]


class AnyContest(Protocol):
    """What `tallystick.sampling.labels.best_of` asks of a contest."""

    @property
    def guess(self) -> Floats:
        """Strata x classes: what the votes lead one to expect."""

    @property
    def n_items(self) -> int:
        """How many items there are."""

    @property
    def n_models(self) -> int:
        """How many compete."""

    def contested(self, live: NDArray[np.bool_], drawn: Ints) -> Ints:
        """Return how many items may still be drawn, by cell."""

    def items(self, live: NDArray[np.bool_], drawn: Ints) -> Ints:
        """Return the items that may still be drawn."""

    def view(self, p: Floats, live: NDArray[np.bool_], drawn: Ints) -> ContestView:
        """Return what class shares *p* in each stratum make one believe of the items left."""

    def labels(self, given: ArrayLike, n: int) -> Floats:
        """Return the labels of *n* items, checked."""

    def hit(self, item: int, label: Floats, chance: Floats) -> Floats | None:
        """Return 1 for everybody who is right on an item; None where a person skipped it."""

    def learnt(self, counts: Floats, items: Ints, labels: Floats) -> Floats:
        """Return the labels of each class in each stratum, with these added."""


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

    def contested(self, live: NDArray[np.bool_], drawn: Ints) -> Ints:
        """Return, for each cell, how many items of C it holds."""
        return self.left(drawn) * self.split(live)

    def items(self, live: NDArray[np.bool_], drawn: Ints) -> Ints:
        """Return the items of C."""
        keep = (self.contested(live, drawn) > 0)[self.cell]
        keep[drawn] = False
        return np.flatnonzero(keep)

    def view(self, p: Floats, live: NDArray[np.bool_], drawn: Ints) -> ContestView:
        """Return what class shares *p* make one believe of the items of C."""
        count, rho = self.contested(live, drawn).astype(np.float64), self.chance(p)
        return ContestView(
            left=int(count.sum()),
            expected=count @ rho,
            worst=self.largest_gap(rho, count > 0),
            chance=lambda item: rho[self.cell[item]],
        )

    def labels(self, given: ArrayLike, n: int) -> Floats:
        """Return one class per item; the number of classes itself where no model is right."""
        found = np.asarray(given, dtype=np.int64)
        if found.shape != (n,):
            raise InputError(f"labels must be one class for each of {n} items, got {found.shape}")
        return found.astype(np.float64)

    def hit(self, item: int, label: Floats, chance: Floats) -> Floats | None:
        """Return 1 for every model whose answer is the label."""
        return np.asarray(self.answers[self.cell[item]] == label, dtype=np.float64)

    def learnt(self, counts: Floats, items: Ints, labels: Floats) -> Floats:
        """Add labels to the counts; one outside the classes teaches nothing of the classes."""
        found, codes = counts.copy(), labels.astype(np.int64)
        known = codes < counts.shape[1]
        np.add.at(found, (self.stratum[self.cell[items[known]]], codes[known]), 1.0)
        return found

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


@dataclass(frozen=True, kw_only=True, eq=False)
class JudgedContest:
    """Systems whose outputs people grade pass or fail, item by item, all live systems together.

    Parameters
    ----------
    strata
        Items x systems: the stratum of each output. Strata belong to one system each, since the
        same votes mean different things on different systems.
    guess
        Strata x 2: the share of fails and passes that the judges lead one to expect.

    Examples
    --------
    >>> contest = JudgedContest(strata=np.tile([[0, 1], [0, 2]], (5, 1)), guess=[[0.5, 0.5]] * 3)
    >>> contest.n_items, contest.n_models
    (10, 2)
    """

    strata: AnyInts
    guess: Floats

    def __post_init__(self) -> None:
        table = np.asarray(self.strata)
        shares = np.asarray(self.guess, dtype=np.float64)
        if table.ndim != 2 or table.shape[1] < 2 or not len(table):
            raise InputError(f"strata must be items x systems, got {table.shape}")
        if table.min() < 0 or table.max() >= len(shares) or shares.shape[1:] != (2,):
            raise InputError(f"strata must be in 0..{len(shares) - 1}, with two shares each")
        object.__setattr__(self, "strata", table)
        object.__setattr__(self, "guess", shares)

    @cached_property
    def sizes(self) -> Ints:
        """Systems x strata: how many outputs of each system lie in each stratum."""
        count = len(self.guess)
        return np.array([np.bincount(column, minlength=count) for column in self.strata.T])

    @property
    def n_items(self) -> int:
        """How many items there are, N."""
        return int(self.strata.shape[0])

    @property
    def n_models(self) -> int:
        """How many systems compete, k."""
        return int(self.strata.shape[1])

    def contested(self, live: NDArray[np.bool_], drawn: Ints) -> Ints:
        """Return how many items are not labelled: any of them may tell two systems apart."""
        return np.array([self.n_items - np.unique(drawn).size], dtype=np.int64)

    def items(self, live: NDArray[np.bool_], drawn: Ints) -> Ints:
        """Return the items that are not labelled."""
        keep = np.ones(self.n_items, np.bool_)
        keep[drawn] = False
        return np.flatnonzero(keep)

    def view(self, p: Floats, live: NDArray[np.bool_], drawn: Ints) -> ContestView:
        """Return what pass rates in each stratum make one believe of the items left."""
        rate, systems = p[:, 1], range(self.n_models)
        gone = [np.bincount(self.strata[drawn, s], minlength=len(rate)) for s in systems]
        # The largest guess of a lead is at most one's best stratum less the other's worst.
        best, least = (
            np.array([end(rate[self.sizes[s] > 0]) for s in systems]) for end in (np.max, np.min)
        )
        return ContestView(
            left=self.n_items - drawn.size,
            expected=(self.sizes - np.array(gone)) @ rate,
            worst=best[:, None] - least[None, :],
            chance=lambda item: rate[self.strata[item]],
        )

    def labels(self, given: ArrayLike, n: int) -> Floats:
        """Return items x systems of 1, 0 and 1/2; NaN for an output that nobody was asked about.

        A row of -1 is an item that a person skipped.
        """
        found = np.asarray(given, dtype=np.float64).reshape(-1, self.n_models)
        if len(found) != n:
            raise InputError(f"labels must be {n} items x {self.n_models} systems")
        return found

    def hit(self, item: int, label: Floats, chance: Floats) -> Floats | None:
        """Return the labels; a system that has left counts with its guess, which adds nothing."""
        if (label < 0).any():
            return None
        return np.where(np.isnan(label), chance, label)

    def learnt(self, counts: Floats, items: Ints, labels: Floats) -> Floats:
        """Add labels to the counts; readers who disagree count half for each."""
        found = counts.copy()
        known = ~np.isnan(labels) & (labels >= 0)
        where, passed = self.strata[items][known], labels[known]
        np.add.at(found[:, 1], where, passed)
        np.add.at(found[:, 0], where, 1 - passed)
        return found


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
