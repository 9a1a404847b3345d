"""Strata for labelling: items that the votes make look alike, fixed before any label is seen.

The rules, in the order in which they apply:

1. *Sides.* An item's side is its consensus class, from votes only.
2. *How many slices.* A side is cut by the rank of its score into at most three slices, and into no
   more than its size allows: a slice holds at least 4 % of all items and at least 8 items.
3. *Where.* The cuts of a side stand at equal ranks.
4. *Ties.* A cut between equal scores moves to the nearest change of score, the lower one of two
   that are equally near. Two cuts that meet become one.
5. *Too small after all.* While a side has a slice under the minimum, its smallest slice joins the
   smaller of its neighbours. A side that is smaller than the minimum stays one stratum.

With more than two classes the number of slices per side falls, so that there are at most 12 strata;
the smallest of more than 12 sides are taken together.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import ceil

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick.errors import InputError
from tallystick.sampling.labels.consensus import (
    AnyInts,
    Floats,
    Ints,
    VotePatterns,
    consensus,
    patterns_of,
)

__all__ = [
    "OUTSIDE",
    "LabelStrata",
    "class_strata",
    "rank_slices",
    "score_strata",
    "vote_strata",
]

SLICES = 3
"""The most slices of one side; ten strata in all gained nothing and covered less (label.md)."""
MOST = 12
"""The most strata in all, whatever the number of classes."""
LEAST_SHARE, LEAST_ITEMS = 0.04, 8
"""The smallest slice that a side is cut into, as a share of all items and as a count."""
GUESS_FLOOR = 0.02
"""Guesses stay this far from 0 and 1: a posterior is often surer than it is right."""
_PIECE = 1 << 18
"""Items that are counted at once."""
OUTSIDE = -1
"""The stratum of an item that is not in the population: its label is known, or not asked for."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelStrata:
    """Which stratum each item is in, and what the votes make of each stratum.

    Parameters
    ----------
    of
        The stratum of each item, 0 … H - 1, or -1 for an item outside the population.
    side
        The consensus class of each stratum.
    guess
        H x classes: the share of each class that the votes lead one to expect, in [.02, .98].

    Examples
    --------
    >>> strata = LabelStrata(of=[0, 0, 1, -1], side=[0, 1], guess=[[0.9, 0.1], [0.2, 0.8]])
    >>> strata.sizes.tolist(), strata.n_items
    ([2, 1], 3)
    """

    of: AnyInts
    side: Ints
    guess: Floats

    def __post_init__(self) -> None:
        of = np.asarray(self.of)
        if of.ndim != 1 or of.dtype.kind not in "iu":
            raise InputError(f"of must be a flat array of integers, got shape {of.shape}")
        guess = np.atleast_2d(np.asarray(self.guess, dtype=np.float64))
        side = np.asarray(self.side, dtype=np.int64)
        if side.shape != guess.shape[:1]:
            raise InputError(
                f"guess must have one row per stratum ({side.size}), got {guess.shape}"
            )
        if of.size and not (of.min() >= OUTSIDE and of.max() < side.size):
            raise InputError(f"of must be in -1..{side.size - 1}, got {of.min()} to {of.max()}")
        # One or two bytes per item: a million items are common, more than 12 strata are not.
        small = np.int8 if side.size < 128 else np.int32
        for name, value in (("of", of.astype(small)), ("side", side), ("guess", guess)):
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return int(self.side.size)

    @cached_property
    def sizes(self) -> Ints:
        """How many items of the population each stratum holds, N_h."""
        found = np.zeros(len(self) + 1, np.int64)
        # Counting wants eight bytes per item, so it goes piece by piece: they stay in the cache.
        for start in range(0, self.of.size, _PIECE):
            piece = self.of[start : start + _PIECE].astype(np.int64) + 1
            found += np.bincount(piece, minlength=len(self) + 1)
        return found[1:]

    @property
    def n_items(self) -> int:
        """How many items the population holds, N."""
        return int(self.sizes.sum())

    @cached_property
    def members(self) -> Ints:
        """The items of the population, stratum by stratum, in rising order inside each."""
        # A stable sort of small integers is a radix sort: linear in the number of items.
        order = np.argsort(self.of, kind="stable")
        return order[self.of.size - self.n_items :]

    @cached_property
    def starts(self) -> Ints:
        """Where each stratum begins in `members`."""
        return np.cumsum(self.sizes) - self.sizes

    def without(self, items: ArrayLike) -> LabelStrata:
        """Return the same strata with *items* taken out of the population.

        >>> strata = LabelStrata(of=[0, 0, 1], side=[0, 1], guess=[[0.5, 0.5]] * 2)
        >>> strata.without([1]).sizes.tolist()
        [1, 1]
        """
        of = self.of.copy()
        of[np.asarray(items, dtype=np.int64)] = OUTSIDE
        return LabelStrata(of=of, side=self.side, guess=self.guess)


def vote_strata(
    votes: ArrayLike, *, n_classes: int = 2, counts: ArrayLike | None = None
) -> LabelStrata:
    """Return the strata of items by the votes of any number of judges.

    The score is the log-odds of the consensus class under two-coin Dawid-Skene, fitted to the
    votes alone; with fewer than three judges whose votes vary, it is the mean vote.

    Parameters
    ----------
    votes
        Items x judges of class codes, -1 where a judge gave no vote.
    n_classes
        How many classes there are.
    counts
        How many items each row of *votes* stands for; one by default.

    Examples
    --------
    Three judges, 400 items; they agree on most.

    >>> rng = np.random.default_rng(1)
    >>> truth = rng.random(400) < 0.6
    >>> votes = np.where(rng.random((400, 3)) < 0.85, truth[:, None], ~truth[:, None]).astype(int)
    >>> strata = vote_strata(votes)
    >>> strata.sizes.tolist(), strata.side.tolist(), strata.guess[:, 1].round(2).tolist()
    ([96, 24, 45, 93, 142], [0, 0, 0, 1, 1], [0.02, 0.21, 0.25, 0.9, 0.98])
    """
    patterns = patterns_of(votes, n_classes=n_classes, counts=counts)
    believed = consensus(patterns, n_classes=n_classes)
    if n_classes == 2:
        return _by_score(
            believed.score, believed.posterior, patterns=patterns, middle=believed.middle
        )
    return _by_class(believed.posterior, believed.score, patterns=patterns)


def score_strata(
    score: ArrayLike,
    *,
    middle: float = 0.5,
    posterior: ArrayLike | None = None,
    counts: ArrayLike | None = None,
) -> LabelStrata:
    """Return the strata of items by one score of class 1, calibrated or not.

    Parameters
    ----------
    score
        One number per item, larger where class 1 is likelier.
    middle
        The consensus is class 1 above it.
    posterior
        The probability of class 1 of each item; by default the score itself, if it lies in [0, 1].
    counts
        How many items each entry stands for; one by default.

    Examples
    --------
    A judge that votes 0 or 1 gives two strata, however many items there are.

    >>> score_strata([0.0] * 30 + [1.0] * 70).sizes.tolist()
    [30, 70]
    >>> score_strata(np.linspace(0, 1, 100)).sizes.tolist()
    [17, 16, 17, 17, 16, 17]
    """
    values = np.asarray(score, dtype=np.float64)
    if values.ndim != 1 or not values.size or not np.isfinite(values).all():
        raise InputError("score must be a flat array of finite numbers with at least one item")
    chance = values if posterior is None else np.asarray(posterior, dtype=np.float64)
    if chance.shape != values.shape or not ((chance >= 0) & (chance <= 1)).all():
        raise InputError(
            "posterior must hold one probability per item: pass it, or scale the score"
        )
    distinct, place = np.unique(values, return_inverse=True)
    weight = np.ones(values.size) if counts is None else np.asarray(counts, dtype=np.float64)
    held = np.bincount(place, weights=weight).astype(np.float64)
    patterns = VotePatterns(codes=np.empty((distinct.size, 0), np.int64), counts=held, place=place)
    mean = np.bincount(place, weights=chance * weight) / held
    return _by_score(distinct, np.column_stack((1 - mean, mean)), patterns=patterns, middle=middle)


def class_strata(posterior: ArrayLike) -> LabelStrata:
    """Return the strata of items by a posterior over any number of classes.

    >>> rows = np.repeat([[0.8, 0.1, 0.1], [0.1, 0.6, 0.3], [0.3, 0.3, 0.4]], 20, axis=0)
    >>> class_strata(rows).sizes.tolist()
    [20, 20, 20]
    """
    table = np.asarray(posterior, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] < 2 or not table.shape[0]:
        raise InputError(f"posterior must be items x classes, got shape {table.shape}")
    each = np.arange(table.shape[0])
    patterns = VotePatterns(
        codes=np.empty((each.size, 0), np.int64), counts=np.ones(each.size), place=each
    )
    return _by_class(table, table.max(axis=1), patterns=patterns)


def rank_slices(
    score: ArrayLike, *, slices: int, least: float, counts: ArrayLike | None = None
) -> Ints:
    """Return the slice of each entry: equal ranks, ties together, none under *least* items.

    Parameters
    ----------
    score
        What the entries are ranked by.
    slices
        The most slices there may be.
    least
        The fewest items of a slice, unless there is only one.
    counts
        How many items each entry stands for; one each by default.

    Examples
    --------
    >>> rank_slices([1, 2, 2, 2, 3, 4], slices=2, least=2).tolist()
    [0, 0, 0, 0, 1, 1]
    """
    values = np.asarray(score, dtype=np.float64)
    weight = np.ones(values.size) if counts is None else np.asarray(counts, dtype=np.float64)
    distinct, place = np.unique(values, return_inverse=True)
    upto = np.cumsum(np.bincount(place, weights=weight))
    total = upto[-1]
    wanted = max(1, min(slices, int(total // max(least, 1))))

    # Rule 4: a cut stands after a distinct score, the one whose rank is nearest to the ideal.
    ideal = total * np.arange(1, wanted) / wanted
    after = np.abs(upto[:, None] - ideal).argmin(axis=0)
    cuts = np.unique(after[after < distinct.size - 1])

    # Rule 5: ties can leave a slice too small; it joins the smaller neighbour.
    ends = [*upto[cuts].tolist(), total]
    while len(ends) > 1:
        sizes = np.diff([0.0, *ends])
        small = int(sizes.argmin())
        if sizes[small] >= least:
            break
        left = sizes[small - 1] if small else np.inf
        right = sizes[small + 1] if small + 1 < sizes.size else np.inf
        del ends[small - 1 if left <= right else small]
    return np.asarray(np.searchsorted(ends, upto, side="left")[place])


def _by_score(
    score: Floats, posterior: Floats, *, patterns: VotePatterns, middle: float
) -> LabelStrata:
    """Cut both sides of a binary score; the strata rise with the score."""
    side = (score > middle).astype(np.int64)
    return _sliced(side, score, posterior, patterns=patterns, slices=SLICES)


def _by_class(posterior: Floats, certainty: Floats, *, patterns: VotePatterns) -> LabelStrata:
    """Cut the sides of several classes; the rarest of more than twelve sides make one."""
    side = posterior.argmax(axis=1)
    mass = np.bincount(side, weights=patterns.counts, minlength=posterior.shape[1])
    grouped = side
    if (mass > 0).sum() > MOST:
        rare = np.argsort(-mass, kind="stable")[MOST - 1 :]
        grouped = np.where(np.isin(side, rare), rare[0], side)
    slices = max(1, min(SLICES, MOST // np.unique(grouped).size))
    return _sliced(grouped, certainty, posterior, patterns=patterns, slices=slices)


def _sliced(
    side: Ints, score: Floats, posterior: Floats, *, patterns: VotePatterns, slices: int
) -> LabelStrata:
    total = patterns.counts.sum()
    least = max(LEAST_ITEMS, ceil(LEAST_SHARE * total))  # rule 2
    stratum, sides, made = np.empty(side.size, np.int64), [], 0
    for one in np.unique(side):
        inside = side == one
        part = rank_slices(
            score[inside], slices=slices, least=least, counts=patterns.counts[inside]
        )
        stratum[inside] = made + part
        sides += [int(one)] * (int(part.max()) + 1)
        made = len(sides)

    sizes = np.bincount(stratum, weights=patterns.counts, minlength=made)
    mean = np.column_stack(
        [np.bincount(stratum, weights=patterns.counts * column) / sizes for column in posterior.T]
    )
    guess = np.clip(mean, GUESS_FLOOR, 1 - GUESS_FLOOR)
    return LabelStrata(of=_spread(stratum, patterns.place), side=np.array(sides), guess=guess)


def _spread(stratum: Ints, place: NDArray[np.int64]) -> Ints:
    return np.asarray(stratum.astype(np.int8 if stratum.max() < 128 else np.int32)[place])
