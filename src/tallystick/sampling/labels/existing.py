"""Labels that were there already, and answers that were not given.

What may be done with a label depends on how its item came to be labelled:

============================  =====================================================================
origin                        use
============================  =====================================================================
``random``                    a uniform draw like any other: `as_draws`
``disagreements``             random among the items on which two judges differ: fine for their
                              difference; for a share, the disagreements become strata: `crossed`
``unknown``                   *counted apart*: known exactly, taken out of the population, while the
                              rest is sampled: `count_apart`
============================  =====================================================================

Only a claim is ever refused, never a label: `refused_claim`. Labels of unknown origin that were
taken for random ones covered .86 at a nominal .95; counted apart, .996.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick._rng import Rng, as_rng
from tallystick.errors import InputError
from tallystick.results import Interval
from tallystick.sampling.labels.consensus import Floats
from tallystick.sampling.labels.journal import HALF_WIDTH, DrawJournal
from tallystick.sampling.labels.strata import LabelStrata

__all__ = [
    "Apart",
    "Origin",
    "as_draws",
    "both_ways",
    "count_apart",
    "crossed",
    "for_drawing",
    "refused_claim",
]

Origin: TypeAlias = Literal["random", "disagreements", "unknown"]
Claim: TypeAlias = Literal["share", "accuracies", "difference", "best-of"]

LEARN_EVERY = 10
"""Labels that were there are read in batches of this size, so that guesses learn on the way."""


@dataclass(frozen=True, kw_only=True)
class Apart:
    """Items whose values are known and that are no part of the population that is sampled.

    Parameters
    ----------
    known
        How many items were counted apart.
    total
        The sum of their values.
    sampled
        How many items are left to sample from.

    Examples
    --------
    >>> apart = Apart(known=20, total=5.0, sampled=80)
    >>> round(apart.whole(0.9), 3), apart.part(0.77)
    (0.77, 0.9)
    """

    known: int
    total: float
    sampled: int

    def whole(self, mean: float) -> float:
        """Return the mean of all items, given the mean of those that are sampled."""
        return (self.total + self.sampled * mean) / (self.known + self.sampled)

    def part(self, mean: float) -> float:
        """Return the mean of the items that are sampled, given the mean of all: the way back."""
        return ((self.known + self.sampled) * mean - self.total) / self.sampled

    def interval(self, inner: Interval) -> Interval:
        """Return the interval for all items, with the promise of the interval for the sampled ones.

        >>> apart = Apart(known=50, total=10.0, sampled=50)
        >>> print(apart.interval(Interval(0.8, 0.9, guarantee="anytime")))
        [0.500, 0.550] (95 %, anytime)
        """
        return Interval(
            self.whole(inner.low),
            self.whole(inner.high),
            level=inner.level,
            guarantee=inner.guarantee,
            assumption=inner.assumption,
            method=inner.method,
        )


def count_apart(
    strata: LabelStrata, items: ArrayLike, values: ArrayLike
) -> tuple[LabelStrata, Apart]:
    """Take items with known values out of the population; their origin does not matter then.

    >>> strata = LabelStrata(of=[0, 0, 1, 1], side=[0, 1], guess=[[0.5, 0.5]] * 2)
    >>> rest, apart = count_apart(strata, [0, 3], [1.0, 0.0])
    >>> rest.sizes.tolist(), apart.total
    ([1, 1], 1.0)
    """
    known, worth = np.asarray(items, dtype=np.int64), np.asarray(values, dtype=np.float64)
    if known.shape != worth.shape or np.unique(known).size != known.size:
        raise InputError("items must be distinct, with one value each")
    if not np.isfinite(worth).all():
        raise InputError("values must be finite: leave out items without a label")
    if known.size and (strata.of[known] < 0).any():
        raise InputError("items must be in the population: one of them was counted apart already")
    rest = strata.without(known)
    return rest, Apart(known=int(known.size), total=float(worth.sum()), sampled=rest.n_items)


def as_draws(
    strata: LabelStrata, items: ArrayLike, *, rng: Rng, half_width: float = HALF_WIDTH
) -> DrawJournal:
    """Return labels that were drawn uniformly as the first batches of a journal.

    Their order is not known, so a random one is drawn; a uniform sample in random order is a
    sequence of uniform draws.

    Parameters
    ----------
    strata
        The strata of all items.
    items
        The labelled items, declared to be a uniform random sample of the population.
    rng
        Seeds the order; the journal keeps it.
    half_width
        The half-width that the session asks for, which the journal keeps from its first draw on.

    Examples
    --------
    >>> strata = LabelStrata(of=[0, 0, 1, 1], side=[0, 1], guess=[[0.5, 0.5]] * 2)
    >>> journal = as_draws(strata, [0, 3], rng=1)
    >>> sorted(journal.item.tolist()), journal.q[0]
    ([0, 3], np.float64(0.5))
    """
    order = as_rng(rng).permutation(np.asarray(items, dtype=np.int64))
    if np.unique(order).size != order.size:
        raise InputError("items must be distinct")
    stratum = strata.of[order].astype(np.int64)
    if order.size and stratum.min() < 0:
        raise InputError("items must be in the population: one of them was counted apart already")
    journal = DrawJournal(
        sizes=strata.sizes,
        item=order,
        stratum=stratum,
        q=np.empty(order.size),
        batch=np.arange(order.size) // LEARN_EVERY,
        spreads=np.ones((-(-order.size // LEARN_EVERY), len(strata))),
        half_width=half_width,
    )
    if not order.size:
        return journal
    return replace(journal, q=journal.probabilities()[np.arange(order.size), stratum])


def crossed(strata: LabelStrata, disagree: ArrayLike) -> LabelStrata:
    """Return each stratum cut in two, by whether the judges in question disagree.

    Labels that are random among disagreements are random inside such a stratum. The other strata
    need draws of their own before anything is said of a share.

    >>> strata = LabelStrata(of=[0, 0, 1, 1], side=[0, 1], guess=[[0.5, 0.5]] * 2)
    >>> crossed(strata, [True, False, False, False]).sizes.tolist()
    [1, 1, 2]
    """
    apart = np.asarray(disagree, dtype=np.bool_)
    if apart.shape != strata.of.shape:
        raise InputError(
            f"disagree must flag each of the {strata.of.size} items, got {apart.shape}"
        )
    code = np.where(strata.of >= 0, 2 * strata.of.astype(np.int64) + apart, -1)
    kept = np.unique(code[code >= 0])
    renamed = np.full(2 * len(strata) + 1, -1)
    renamed[kept] = np.arange(kept.size)
    return LabelStrata(of=renamed[code], side=strata.side[kept // 2], guess=strata.guess[kept // 2])


def refused_claim(
    origin: Origin, claim: Claim, *, target: Literal["these", "new"], drawn: int
) -> str | None:
    """Return why *claim* can not rest on labels of this origin, or None if it can.

    Parameters
    ----------
    origin
        How the items came to be labelled.
    claim
        What is to be said.
    target
        Of these items, or of new items like them.
    drawn
        How many labels were drawn by us from the rest of the items.

    Examples
    --------
    >>> refused_claim("disagreements", "difference", target="these", drawn=0) is None
    True
    >>> refused_claim("unknown", "share", target="new", drawn=100)
    'labels of unknown origin say nothing of new items: draw labels at random'
    """
    if origin == "unknown" and target == "new":
        return "labels of unknown origin say nothing of new items: draw labels at random"
    if origin == "random" or drawn:
        return None
    if origin == "disagreements" and claim in ("share", "accuracies"):
        return "only disagreements are labelled: draw labels from the other items too"
    if origin == "unknown":
        return (
            "no label was drawn at random: draw some from the items that are not labelled. If those"
            " that are there were drawn at random, begin with --label-draw random"
        )
    return None


def both_ways(
    values: ArrayLike, skipped: NDArray[np.bool_], *, bounds: tuple[float, float] = (0.0, 1.0)
) -> tuple[Floats, Floats]:
    """Return the values with skips at the least value, for the low end, and at the largest.

    A skipped item is never drawn again: people skip what is hard, and hard items are not like the
    others.

    >>> low, high = both_ways([1.0, np.nan], np.array([False, True]))
    >>> low.tolist(), high.tolist()
    ([1.0, 0.0], [1.0, 1.0])
    """
    known = np.asarray(values, dtype=np.float64)
    flags = np.asarray(skipped, dtype=np.bool_)
    if flags.shape != known.shape:
        raise InputError(f"skipped must flag each of the {known.size} values, got {flags.shape}")
    return np.where(flags, bounds[0], known), np.where(flags, bounds[1], known)


def for_drawing(
    values: ArrayLike, skipped: NDArray[np.bool_], *, bounds: tuple[float, float] = (0.0, 1.0)
) -> Floats:
    """Return the values with skips in the middle: what drawing probabilities take them for.

    Any rule would be valid, as long as it is one: a replay has to draw the same items.

    >>> for_drawing([1.0, np.nan], np.array([False, True])).tolist()
    [1.0, 0.5]
    """
    low, high = both_ways(values, skipped, bounds=bounds)
    return np.asarray((low + high) / 2)
