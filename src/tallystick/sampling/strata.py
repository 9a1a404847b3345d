"""Finite strata: which item belongs where, and which strata may learn from one another."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick.errors import BudgetError, InputError
from tallystick.sampling.policies import Policy

IntArray = NDArray[np.intp]


def codes(values: ArrayLike, name: str) -> IntArray:
    """Return *values* as a flat array of non-negative codes, or say what is wrong with the argument
    *name*.
    """
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "iu" or array.min(initial=0) < 0:
        raise InputError(
            f"{name} must be a flat array of integers from 0, got shape {array.shape} of"
            f" {array.dtype}"
        )
    return array.astype(np.intp)


@dataclass(frozen=True, eq=False)
class Strata:
    """A partition of items 0 … M - 1 into strata 0 … S - 1, none of them empty.

    Parameters
    ----------
    of
        The stratum of every item.
    family
        For every stratum, the group of strata whose rates resemble its own; None puts all into one.

    Examples
    --------
    >>> strata = Strata([0, 0, 1, 0])
    >>> strata.sizes, strata.shares
    (array([3, 1]), array([0.75, 0.25]))
    """

    of: IntArray
    family: IntArray | None = None

    def __post_init__(self) -> None:
        of = codes(self.of, "of")
        sizes = np.bincount(of)
        if not of.size or not sizes.all():
            raise InputError(
                "strata must be numbered 0 … S - 1 without gaps, with at least one item each"
            )
        family = (
            np.zeros(len(sizes), np.intp) if self.family is None else codes(self.family, "family")
        )
        object.__setattr__(self, "of", of)
        object.__setattr__(self, "family", family)

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def n_items(self) -> int:
        """How many items there are, M."""
        return len(self.of)

    @cached_property
    def sizes(self) -> IntArray:
        """How many items each stratum has, N_k."""
        return np.bincount(self.of)

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """The part of all items in each stratum, p_k."""
        return self.sizes / self.n_items

    @cached_property
    def families(self) -> IntArray:
        """The family of each stratum (never None)."""
        return np.zeros(len(self), np.intp) if self.family is None else self.family

    def regroup(self, into: ArrayLike) -> Strata:
        """Return the strata with stratum k renamed ``into[k]``; a merged one takes the family of
        its largest part.
        """
        target = np.unique(codes(into, "into"), return_inverse=True)[1]
        family = np.zeros(target.max() + 1, np.intp)
        by_size = np.argsort(self.sizes, kind="stable")  # the largest part writes last
        family[target[by_size]] = self.families[by_size]
        return Strata(target[self.of], family)


def merge_small(strata: Strata, *, least: int) -> Strata:
    """Return strata of at least *least* items each: the smallest joins the next smallest until none
    is too small.

    It joins inside its family where the family has another stratum, else the smallest of all.

    Examples
    --------
    >>> merge_small(Strata([0] * 30 + [1] * 4 + [2] * 3), least=5).sizes
    array([30,  7])
    """
    while len(strata) > 1 and strata.sizes.min() < least:
        smallest = int(strata.sizes.argmin())
        other = np.arange(len(strata)) != smallest
        kin = np.flatnonzero(other & (strata.families == strata.families[smallest]))
        hosts = kin if kin.size else np.flatnonzero(other)
        into = np.arange(len(strata))
        into[smallest] = hosts[strata.sizes[hosts].argmin()]
        strata = strata.regroup(into)
    return strata


# The default strata, from codes and ranks; the paper's are `papers.api_shifts.partitions`.


CELL_EXPECTS = 4.0
"""A cell of its own needs this many expected questions."""
BIN_EXPECTS = 3.0
"""A bin by confidence inside a cell needs only this many: with fewer bins most labels of a large
set had none."""
MOST_BINS = 4
WRONG_COUNTS = 2.0
"""A wrong old answer is worth this many right ones: it flips more often."""


def history_cells(
    true: ArrayLike, old: ArrayLike, *, calls: int, confidence: ArrayLike | None = None
) -> Strata:
    r"""Return strata from what is known of each item: its true code, its old answer and a
    confidence.

    With s = 1 for a right and 2 for a wrong old answer, a group g of items expects

    .. math:: e(g) = N \, \frac{\sum_{i \in g} s_i}{\#\text{right} + 2\,\#\text{wrong}}   \tag{S1}

    of the N = *calls* questions. Per true code there is one cell of right items and one for each
    wrong old answer with e ≥ 4; its other wrong items share a cell. If its wrong side has e < 4, or
    either side fewer than two items, the code is one mixed cell; codes with e < 4 in all are
    pooled. Each cell is then cut by confidence rank into clip(⌊e/3⌋, 1, 4) bins. If two questions a
    stratum would exceed N, the smallest strata merge. Families are (mostly right or not) x (third
    of the mean confidence rank). docs/theory/shift.md. ⌊e/3⌋ bins
    and not ⌊e/6⌋: with 31 labels and 200 questions most labels would have a single one, and lose to
    MASA's.

    Only codes and ranks are used, so the engine stays ignorant of what they mean. Where codes are
    pooled or mixed, count outcomes in flattened (true, answer) space.

    Parameters
    ----------
    true, old
        Codes of equal meaning: an item is right where they are equal.
    calls
        The budget N.
    confidence
        Anything whose rank foretells change; None makes no bins.

    Examples
    --------
    >>> strata = history_cells([0] * 50 + [1] * 50, [0] * 40 + [1] * 60, calls=60)
    >>> strata.sizes                                  # code 0 right, code 0 wrong, code 1 (never wrong)
    array([40, 10, 50])
    """
    truth, before = codes(true, "true"), codes(old, "old")
    ranks = None if confidence is None else _ranked(confidence)
    right = before == truth
    worth = np.where(right, 1.0, WRONG_COUNTS)
    expects = calls * worth / worth.sum()  # (S1), one item's part of e
    of = np.empty(len(truth), np.intp)
    start = 0
    for items in _cells(truth, before, right, expects):
        bins = (
            min(max(math.floor(expects[items].sum() / BIN_EXPECTS), 1), MOST_BINS)
            if ranks is not None
            else 1
        )
        cut, used = _cut(items, ranks, bins) if ranks is not None else (0, 1)
        of[items] = start + cut
        start += used
    size = np.bincount(of)
    mostly_right = 2 * np.bincount(of, weights=right) >= size
    third = np.zeros(len(size), np.intp)
    if ranks is not None:
        third = np.floor(3 * np.bincount(of, weights=ranks) / size / len(ranks)).astype(np.intp)
    strata = Strata(of, 3 * mostly_right + third)
    while len(strata) > 1 and 2 * len(strata) > calls:  # rare: few calls and mostly wrong
        strata = merge_small(strata, least=int(strata.sizes.min()) + 1)
    return strata


def _cells(
    truth: IntArray, before: IntArray, right: NDArray[np.bool_], expects: NDArray[np.float64]
) -> list[IntArray]:
    """Step 1 of the default: the cells before the cut by confidence, as lists of items."""
    cells: list[IntArray] = []
    pool: list[IntArray] = []
    for value in np.unique(truth):
        items = np.flatnonzero(truth == value)
        good, bad = items[right[items]], items[~right[items]]
        if expects[items].sum() < CELL_EXPECTS:
            pool.append(items)
        elif expects[bad].sum() < CELL_EXPECTS or min(len(good), len(bad)) < 2:
            cells.append(items)
        else:
            own = [bad[before[bad] == answer] for answer in np.unique(before[bad])]
            large = [cell for cell in own if expects[cell].sum() >= CELL_EXPECTS and len(cell) >= 2]
            rest = np.setdiff1d(bad, np.concatenate(large)) if large else bad
            if len(rest) == 1 and large:  # one item cannot show its own spread
                large[-1], rest = np.sort(np.append(large[-1], rest)), rest[:0]
            cells += [good, *large, *([rest] if len(rest) else [])]
    return cells + ([np.sort(np.concatenate(pool))] if pool else [])


def _ranked(confidence: ArrayLike) -> IntArray:
    """Rank every value among all, ties by position."""
    order = np.argsort(np.asarray(confidence, dtype=np.float64), kind="stable")
    ranks = np.empty(order.size, np.intp)
    ranks[order] = np.arange(order.size)
    return ranks


def _cut(items: IntArray, ranks: IntArray, bins: int) -> tuple[IntArray, int]:
    """Cut *items* into *bins* groups of equal size by rank; return each one's group and how many
    there are.
    """
    used = min(bins, len(items))
    group = np.empty(len(items), np.intp)
    group[np.argsort(ranks[items], kind="stable")] = np.arange(len(items)) * used // len(items)
    return group, used


# Everything that decides a run except its seed and its answers.


FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False, kw_only=True)
class Plan:
    """What to sample, by which policy, for how many questions.

    A run is a function of its plan, its seed and its answers in the order in which they were asked
    for; nothing else. In particular neither the order nor the time in which answers arrive can
    change it.

    Parameters
    ----------
    strata
        The items and their strata.
    policy
        Which stratum to ask next.
    budget
        The most questions.
    n_outcomes
        Answers are codes 0 … n_outcomes - 1.
    baseline
        The earlier answer to every item, in the same codes: then an answer counts as its *change*,
        e(new) - e(old).
    weights
        How much an error in each outcome matters, of shape (J,), or (S, J) for weights that differ
        by stratum.
    in_flight
        How many answers may be outstanding. The choice number t uses the answers to the first t -
        in_flight questions and no more, even if more have arrived: so any run with the same plan,
        seed and answers is the same run.
    replacement
        Draw with replacement (to remake published experiments); otherwise an item is asked at most
        once.

    Examples
    --------
    >>> from tallystick.sampling import Masa
    >>> plan = Plan(strata=Strata([0] * 60 + [1] * 40), policy=Masa(), budget=10, n_outcomes=2)
    >>> plan.calls
    10
    """

    strata: Strata
    policy: Policy
    budget: int
    n_outcomes: int
    baseline: ArrayLike | None = None
    weights: ArrayLike | None = None
    in_flight: int = 1
    replacement: bool = False

    def __post_init__(self) -> None:
        for name in ("budget", "n_outcomes", "in_flight"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} must be at least 1, got {getattr(self, name)!r}")
        _ = self.weight, self.old  # refused now if they do not fit, not at the first answer
        floors, rest = int(self.floors.sum()), self.calls - self.policy.opening(self.calls)
        if floors > rest:
            raise BudgetError(
                f"{len(self.strata)} strata with at least {self.policy.minimum} questions each need"
                f" {floors} calls, the budget has {rest} for them: merge strata, lower the policy's"
                " minimum or raise the budget"
            )

    @cached_property
    def weight(self) -> FloatArray:
        """The weight of each outcome in each stratum, (S, J + 1): no baseline weighs nothing."""
        S, J = len(self.strata), self.n_outcomes
        given = np.ones(J) if self.weights is None else self.weights
        weight = np.atleast_2d(np.asarray(given, dtype=np.float64))
        if weight.shape not in ((1, J), (S, J)) or not np.isfinite(weight).all():
            raise InputError(
                f"weights must be finite, of shape ({J},) or ({S}, {J}), got {weight.shape}"
            )
        return np.broadcast_to(np.column_stack([weight, np.zeros(len(weight))]), (S, J + 1))

    @cached_property
    def old(self) -> IntArray:
        """The earlier answer to every item; the code n_outcomes where there is none."""
        if self.baseline is None:
            return np.full(self.strata.n_items, self.n_outcomes, np.intp)
        old = codes(self.baseline, "baseline")
        if len(old) != self.strata.n_items or old.max() >= self.n_outcomes:
            raise InputError(
                f"baseline must hold {self.strata.n_items} codes below n_outcomes ="
                f" {self.n_outcomes}, got {len(old)} up to {old.max()}"
            )
        return old

    @property
    def calls(self) -> int:
        """The planned number of questions, N."""
        return self.budget if self.replacement else min(self.budget, self.strata.n_items)

    @cached_property
    def limits(self) -> FloatArray:
        """How many questions each stratum can take."""
        return (
            np.full(len(self.strata), np.inf)
            if self.replacement
            else self.strata.sizes.astype(np.float64)
        )

    @cached_property
    def floors(self) -> FloatArray:
        """How many questions each stratum gets before anything else."""
        return np.minimum(float(self.policy.minimum), self.limits)

    @cached_property
    def fingerprint(self) -> str:
        """A digest of everything that decides a run, so that a saved one is not continued under
        another plan.
        """
        digest = hashlib.sha256(
            repr((self.policy, self.calls, self.in_flight, self.replacement)).encode()
        )
        for part in (self.strata.of, self.strata.families, self.old, self.weight):
            digest.update(np.ascontiguousarray(part).tobytes())
        return digest.hexdigest()
