"""Strata for labelling: items that the votes make look alike, fixed before any label is seen.

The rules, in the order in which they apply:

1. *Sides.* An item's side is its consensus class, from votes only.
2. *How many slices.* A side is cut by the rank of its score into at most three slices, and into no
   more than its size allows: a slice holds at least 4% of all items and at least 8 items.
3. *Where.* The cuts of a side stand at equal ranks.
4. *Ties.* A cut between equal scores moves to the nearest change of score, the lower one of two
   that are equally near. Two cuts that meet become one.
5. *Too small after all.* While a side has a slice under the minimum, its smallest slice joins the
   smaller of its neighbours. A side that is smaller than the minimum stays one stratum.

With more than two classes the number of slices per side falls, so that there are at most 12 strata;
the smallest of more than 12 sides are taken together.
"""

from __future__ import annotations

import dataclasses
from bisect import insort
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from tallystick._rng import Rng, as_rng
from tallystick.errors import BudgetError
from tallystick.sampling.votes import (
    AnyInts,
    Consensus,
    Floats,
    Ints,
    consensus,
    patterns_of,
)
from tallystick.table.data import RowPatterns

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
        guess = np.atleast_2d(np.asarray(self.guess, dtype=np.float64))
        side = np.asarray(self.side, dtype=np.int64)
        # One or two bytes per item: a million items are common, more than 12 strata are not.
        small = np.int8 if side.size < 128 else np.int32
        of = np.asarray(self.of).astype(small)
        for name, value in (("of", of), ("side", side), ("guess", guess)):
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
    return strata_of(patterns, consensus(patterns))


def strata_of(patterns: RowPatterns, believed: Consensus) -> LabelStrata:
    """Return the strata of `vote_strata`, from patterns and their consensus.

    Both sides of two classes are cut, and the strata rise with the score. Of several classes the
    rarest of more than twelve sides make one.
    """
    posterior, counts = believed.posterior, patterns.counts
    if posterior.shape[1] == 2:
        side, slices = (believed.score > believed.middle).astype(np.int64), SLICES
    else:
        side = posterior.argmax(axis=1)
        mass = np.bincount(side, weights=counts, minlength=posterior.shape[1])
        if (mass > 0).sum() > MOST:
            rare = np.argsort(-mass, kind="stable")[MOST - 1 :]
            side = np.where(np.isin(side, rare), rare[0], side)
        slices = max(1, min(SLICES, MOST // np.unique(side).size))
    return _sliced(
        side, believed.score, posterior, counts=counts, place=patterns.place, slices=slices
    )


def score_strata(
    score: ArrayLike,
    *,
    middle: float = 0.5,
    counts: ArrayLike | None = None,
) -> LabelStrata:
    """Return the strata of items by one score of class 1, taken for its probability.

    Parameters
    ----------
    score
        One number in [0, 1] per item, larger where class 1 is likelier.
    middle
        The consensus is class 1 above it.
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
    distinct, place = np.unique(values, return_inverse=True)
    weight = np.ones(values.size) if counts is None else np.asarray(counts, dtype=np.float64)
    held = np.bincount(place, weights=weight).astype(np.float64)
    mean = np.bincount(place, weights=values * weight) / held
    side = (distinct > middle).astype(np.int64)
    posterior = np.column_stack((1 - mean, mean))
    return _sliced(side, distinct, posterior, counts=held, place=place, slices=SLICES)


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


def _sliced(
    side: Ints, score: Floats, posterior: Floats, *, counts: Floats, place: AnyInts, slices: int
) -> LabelStrata:
    total = counts.sum()
    least = max(LEAST_ITEMS, ceil(LEAST_SHARE * total))  # rule 2
    stratum, sides, made = np.empty(side.size, np.int64), [], 0
    for one in np.unique(side):
        inside = side == one
        part = rank_slices(score[inside], slices=slices, least=least, counts=counts[inside])
        stratum[inside] = made + part
        sides += [int(one)] * (int(part.max()) + 1)
        made = len(sides)

    sizes = np.bincount(stratum, weights=counts, minlength=made)
    mean = np.column_stack(
        [np.bincount(stratum, weights=counts * column) / sizes for column in posterior.T]
    )
    guess = np.clip(mean, GUESS_FLOOR, 1 - GUESS_FLOOR)
    small: AnyInts = stratum.astype(np.int8) if made <= 128 else stratum.astype(np.int32)
    return LabelStrata(of=small[place], side=np.array(sides), guess=guess)


# The mean of something known of every unit, in each stratum: how guesses are made.


def stratum_means(
    strata: LabelStrata, values: ArrayLike, *, bounds: tuple[float, float] = (0.0, 1.0)
) -> Floats:
    """Return the mean of *values* in each stratum, a little inside *bounds*.

    A guess at the very end of the range would say that nothing can be learnt; guesses from votes
    are often surer than they are right.

    >>> strata = LabelStrata(of=[0, 0, 1, -1], side=[0, 1], guess=[[0.5, 0.5]] * 2)
    >>> stratum_means(strata, [0.0, 1.0, 1.0, 0.0]).tolist()
    [0.5, 0.98]
    """
    worth = np.asarray(values, dtype=np.float64)
    inside = strata.of >= 0
    total = np.bincount(strata.of[inside], weights=worth[inside], minlength=len(strata))
    low, high = bounds
    room = 0.02 * (high - low)
    return np.asarray(np.clip(total / np.maximum(strata.sizes, 1), low + room, high - room))


# The journal of draws: what was drawn, in which order, and with which probability.


HALF_WIDTH = 0.05
"""The half-width that bets aim at if none is asked for."""


@dataclass(frozen=True, kw_only=True, eq=False)
class DrawJournal:
    """All draws so far, as arrays, with the spreads that each batch was drawn by.

    Parameters
    ----------
    sizes
        The items of each stratum before anything was drawn, N_h.
    item, stratum, q, batch
        One entry per draw: the item, its stratum, the probability that the draw fell into that
        stratum, and the batch, from 0.
    spreads
        Batches x strata: the frozen s_h of (W1).
    half_width
        The half-width that anytime bets aim at, w of (W6). It is fixed with the first draw: old
        bets that are computed again with another w are not valid.

    Examples
    --------
    >>> DrawJournal.empty([30, 70]).n_draws
    0
    """

    sizes: Ints
    item: Ints
    stratum: Ints
    q: Floats
    batch: Ints
    spreads: Floats
    half_width: float = HALF_WIDTH

    @classmethod
    def empty(cls, sizes: ArrayLike, *, half_width: float = HALF_WIDTH) -> DrawJournal:
        """Return a journal without draws, for a session that wants this half-width."""
        n = np.asarray(sizes, dtype=np.int64)
        none = np.empty(0, np.int64)
        return cls(
            sizes=n,
            item=none,
            stratum=none,
            q=np.empty(0),
            batch=none,
            spreads=np.empty((0, n.size)),
            half_width=half_width,
        )

    @property
    def n_draws(self) -> int:
        """How many items were drawn."""
        return int(self.item.size)

    @property
    def n_batches(self) -> int:
        """How many batches were drawn."""
        return int(self.spreads.shape[0])

    def remaining(self) -> Ints:
        """Return R_h before each draw, draws x strata."""
        hit = np.zeros((self.n_draws, self.sizes.size), np.int64)
        hit[np.arange(self.n_draws), self.stratum] = 1
        return np.asarray(self.sizes - np.cumsum(hit, axis=0) + hit)

    def probabilities(self) -> Floats:
        """Return q_h of every stratum at each draw, draws x strata."""
        return drawing_probabilities(self.remaining(), self.spreads[self.batch])


def drawing_probabilities(remaining: ArrayLike, spread: ArrayLike) -> Floats:
    """Return q_h of (W1); strata along the last axis, any number of rows.

    >>> drawing_probabilities([400, 100], [0.5, 0.5]).tolist()
    [0.8, 0.2]
    >>> drawing_probabilities([400, 100], [0.2, 0.4]).round(4).tolist()
    [0.7333, 0.2667]
    """
    s = np.asarray(spread, dtype=np.float64)
    left = np.asarray(remaining, dtype=np.float64) * (s > 0)
    weighted = left * s
    whole, part = left.sum(axis=-1, keepdims=True), weighted.sum(axis=-1, keepdims=True)
    return np.asarray(0.5 * left / whole + 0.5 * weighted / part)  # (W1)


# Which item is labelled next: draws with known probabilities, in strata that are fixed.
#
# Half of every draw is plain random, so nothing starves; the other half goes where labels still
# vary.
# With :math:`R_h` items of stratum h not yet drawn and :math:`s_h` its *spread*,
#
# .. math:: q_h = \tfrac12 \frac{R_h}{\sum_j R_j} + \tfrac12 \frac{R_h s_h}{\sum_j R_j s_j},
#           \qquad s_h = \sqrt{p_h (1 - p_h)}, \quad p_h = \frac{x_h + 2}{k_h + 4}   \tag{W1}
#
# and inside the stratum every item that was not drawn yet is equally likely. The spreads are frozen
# while a batch is drawn; the :math:`R_h` are not. A stratum of spread 0 takes no part in its batch,
# and equal spreads draw uniformly.
#
# The journal keeps every draw and the spreads of every batch, so each probability can be computed
# again. Values are read in draw order up to the first one that is missing: any prefix of the draws
# is a valid sample, so a person may stop in the middle of a batch that is shown in draw order.


SpreadRule: TypeAlias = Callable[[Ints, Floats, int], Floats]
"""Takes stratum and value of every draw so far, and H; returns one spread per stratum."""


def share_spread(stratum: Ints, values: Floats, n_strata: int) -> Floats:
    """Return the spreads of (W1) for values in [0, 1], from all draws that were read.

    >>> share_spread(np.array([0, 0, 1]), np.array([1.0, 1.0, 0.0]), 3).round(3).tolist()
    [0.471, 0.49, 0.5]
    """
    k = np.bincount(stratum, minlength=n_strata)
    p = (np.bincount(stratum, weights=values, minlength=n_strata) + 2) / (k + 4)
    return np.asarray(np.sqrt(p * (1 - p)))


def class_spread(stratum: Ints, codes: Floats, n_strata: int, *, n_classes: int) -> Floats:
    r"""Return the spreads for labels of several classes, :math:`\sqrt{1 - \sum_c p_c^2}`.

    With two classes they are those of `share_spread` times a constant, so the draws are the same.
    Use it as a rule with ``functools.partial(class_spread, n_classes=K)``.

    >>> class_spread(np.array([0, 0]), np.array([2, 2]), 2, n_classes=3).round(3).tolist()
    [0.77, 0.816]
    """
    k = np.bincount(stratum, minlength=n_strata)
    cell = stratum * n_classes + np.asarray(codes, dtype=np.int64)
    x = np.bincount(cell, minlength=n_strata * n_classes).reshape(n_strata, n_classes)
    p = (x + 4 / n_classes) / (k[:, None] + 4)
    return np.asarray(np.sqrt(1 - (p**2).sum(axis=1)))


def uniform_spread(stratum: Ints, values: Floats, n_strata: int) -> Floats:
    """Return equal spreads: every item that is left is equally likely, whatever was seen.

    >>> uniform_spread(np.array([0]), np.array([1.0]), 2).tolist()
    [1.0, 1.0]
    """
    return np.ones(n_strata)


def draw_batch(
    strata: LabelStrata, journal: DrawJournal, *, size: int, spread: ArrayLike, rng: Rng
) -> DrawJournal:
    """Return the journal with one more batch.

    Parameters
    ----------
    strata
        Which item is where.
    journal
        The draws so far, of these strata.
    size
        How many items to draw; fewer come back if fewer are left.
    spread
        One spread per stratum, from a rule such as `share_spread`.
    rng
        A seed or generator; sessions give ``spawn(seed, b + 1)[b]`` for batch b.

    Examples
    --------
    >>> strata = LabelStrata(of=[0] * 30 + [1] * 70, side=[0, 1], guess=[[0.5, 0.5]] * 2)
    >>> journal = draw_batch(strata, DrawJournal.empty(strata.sizes), size=4, spread=[1, 1], rng=1)
    >>> journal.item.tolist(), journal.stratum.tolist(), journal.q.round(3).tolist()
    ([96, 28, 59, 57], [1, 0, 1, 1], [0.7, 0.303, 0.704, 0.701])
    """
    s = np.asarray(spread, dtype=np.float64)
    left = journal.sizes - np.bincount(journal.stratum, minlength=s.size)
    size = min(size, int(left[s > 0].sum()))
    if not size:
        raise BudgetError("every item that may be drawn has been drawn")

    # Two numbers per draw, all drawn at once: what comes out does not depend on what was seen.
    chance = as_rng(rng).random((size, 2))
    where, probability = drawn_strata(left, s, chance[:, 0])
    taken = _taken(strata, journal)
    items = []
    for h, at_item in zip(where.tolist(), chance[:, 1], strict=True):
        free = _free(taken[h], min(int(at_item * left[h]), int(left[h]) - 1))
        insort(taken[h], free)
        items.append(int(strata.members[strata.starts[h] + free]))
        left[h] -= 1

    return dataclasses.replace(
        journal,
        item=np.concatenate((journal.item, np.array(items, dtype=np.int64))),
        stratum=np.concatenate((journal.stratum, where)),
        q=np.concatenate((journal.q, probability)),
        batch=np.concatenate((journal.batch, np.full(size, journal.n_batches))),
        spreads=np.vstack((journal.spreads, s)),
    )


def drawn_strata(left: ArrayLike, spread: ArrayLike, chance: ArrayLike) -> tuple[Ints, Floats]:
    """Return the stratum of each draw by (W1), and the probability that it had.

    This is the draw of sessions and of the service's queue.

    Parameters
    ----------
    left
        How many items of each stratum may still be drawn.
    spread
        One spread per stratum.
    chance
        One random number in [0, 1) per draw; no more than there are items left.

    Examples
    --------
    >>> strata, q = drawn_strata([2, 1], [1.0, 1.0], [0.5, 0.9, 0.1])
    >>> strata.tolist(), q.round(2).tolist()
    ([0, 1, 0], [0.67, 0.5, 1.0])
    """
    rest = np.array(left, dtype=np.int64)
    where, probability = [], []
    for u in np.asarray(chance, dtype=np.float64):
        q = drawing_probabilities(rest, spread)
        upto = np.cumsum(q)
        # Rounding at the top never picks an empty stratum.
        h = min(int(np.searchsorted(upto, u * upto[-1], side="right")), int(np.flatnonzero(q)[-1]))
        where.append(h)
        probability.append(float(q[h]))
        rest[h] -= 1
    return np.array(where, dtype=np.int64), np.array(probability)


def _taken(strata: LabelStrata, journal: DrawJournal) -> list[list[int]]:
    """Return, for each stratum, the positions in it that were drawn, in rising order."""
    taken = []
    for h, (start, size) in enumerate(zip(strata.starts, strata.sizes, strict=True)):
        inside = strata.members[start : start + size]
        mine = journal.item[journal.stratum == h]
        taken.append(np.sort(np.searchsorted(inside, mine)).tolist())
    return taken


def _free(taken: list[int], rank: int) -> int:
    """Return the position of the *rank*-th one that is not taken, both from 0."""
    if not taken:
        return rank
    # Before taken[i] there are taken[i] - i free ones; one search finds how many to step over.
    before = np.asarray(taken) - np.arange(len(taken))
    return rank + int(np.searchsorted(before, rank, side="right"))
