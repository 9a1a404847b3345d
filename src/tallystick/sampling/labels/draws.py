r"""Which item is labelled next: draws with known probabilities, in strata that are fixed.

Half of every draw is plain random, so nothing starves; the other half goes where labels still vary.
With :math:`R_h` items of stratum h not yet drawn and :math:`s_h` its *spread*,

.. math:: q_h = \tfrac12 \frac{R_h}{\sum_j R_j} + \tfrac12 \frac{R_h s_h}{\sum_j R_j s_j},
          \qquad s_h = \sqrt{p_h (1 - p_h)}, \quad p_h = \frac{x_h + 2}{k_h + 4}   \tag{W1}

and inside the stratum every item that was not drawn yet is equally likely. The spreads are frozen
while a batch is drawn; the :math:`R_h` are not. A stratum of spread 0 takes no part in its batch,
and equal spreads draw uniformly.

The journal keeps every draw and the spreads of every batch, so each probability can be computed
again. Values are read in draw order up to the first one that is missing: any prefix of the draws is
a valid sample, so a person may stop in the middle of a batch that is shown in draw order.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick._rng import Rng, as_rng, spawn
from tallystick.errors import BudgetError, InputError
from tallystick.sampling.labels.consensus import Floats, Ints
from tallystick.sampling.labels.strata import LabelStrata

__all__ = [
    "Draw",
    "Journal",
    "SpreadRule",
    "draw_batch",
    "drawing_probabilities",
    "readable",
    "replay",
    "share_spread",
    "uniform_spread",
]

SpreadRule: TypeAlias = Callable[[Ints, Floats, int], Floats]
"""Takes stratum and value of every draw so far, and H; returns one spread per stratum."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """One draw, as the journal keeps it.

    Parameters
    ----------
    t
        Its place in the order of draws, from 0.
    item
        The item.
    stratum
        The stratum of the item.
    q
        The probability that this draw fell into that stratum.
    batch
        The batch it belongs to, from 0.
    """

    t: int
    item: int
    stratum: int
    q: float
    batch: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Journal:
    """All draws so far, as arrays, with the spreads that each batch was drawn by.

    Parameters
    ----------
    sizes
        The items of each stratum before anything was drawn, N_h.
    item, stratum, q, batch
        One entry per draw, as in `Draw`.
    spreads
        Batches x strata: the frozen s_h of (W1).

    Examples
    --------
    >>> Journal.empty([30, 70]).n_draws
    0
    """

    sizes: Ints
    item: Ints
    stratum: Ints
    q: Floats
    batch: Ints
    spreads: Floats

    @classmethod
    def empty(cls, sizes: ArrayLike) -> Journal:
        """Return a journal without draws."""
        n = np.asarray(sizes, dtype=np.int64)
        none = np.empty(0, np.int64)
        return cls(
            sizes=n,
            item=none,
            stratum=none,
            q=np.empty(0),
            batch=none,
            spreads=np.empty((0, n.size)),
        )

    @classmethod
    def of(cls, sizes: ArrayLike, draws: Sequence[Draw], spreads: ArrayLike) -> Journal:
        """Return the journal of written draws, and refuse one that its own numbers contradict.

        >>> one = Draw(t=0, item=4, stratum=1, q=0.7, batch=0)
        >>> Journal.of([30, 70], [one], [[1.0, 1.0]]).n_draws
        1
        """
        table = np.asarray(spreads, dtype=np.float64).reshape(-1, np.size(sizes))
        journal = cls(
            sizes=np.asarray(sizes, dtype=np.int64),
            item=np.array([draw.item for draw in draws], dtype=np.int64),
            stratum=np.array([draw.stratum for draw in draws], dtype=np.int64),
            q=np.array([draw.q for draw in draws], dtype=np.float64),
            batch=np.array([draw.batch for draw in draws], dtype=np.int64),
            spreads=table,
        )
        journal.check([draw.t for draw in draws])
        return journal

    @property
    def n_draws(self) -> int:
        """How many items were drawn."""
        return int(self.item.size)

    @property
    def n_batches(self) -> int:
        """How many batches were drawn."""
        return int(self.spreads.shape[0])

    def draws(self) -> Iterator[Draw]:
        """Yield the draws as records."""
        columns = (self.item, self.stratum, self.q, self.batch)
        for t, (item, stratum, q, batch) in enumerate(zip(*columns, strict=True)):
            yield Draw(t=t, item=int(item), stratum=int(stratum), q=float(q), batch=int(batch))

    def remaining(self) -> Ints:
        """Return R_h before each draw, draws x strata."""
        hit = np.zeros((self.n_draws, self.sizes.size), np.int64)
        hit[np.arange(self.n_draws), self.stratum] = 1
        return np.asarray(self.sizes - np.cumsum(hit, axis=0) + hit)

    def probabilities(self) -> Floats:
        """Return q_h of every stratum at each draw, draws x strata."""
        return drawing_probabilities(self.remaining(), self.spreads[self.batch])

    def check(self, numbers: Sequence[int]) -> None:
        """Refuse draws that are out of order, doubled, impossible or of another probability."""
        if list(numbers) != list(range(self.n_draws)):
            raise InputError("draws must be numbered t = 0, 1, 2, … without gaps, in that order")
        steps = np.diff(np.concatenate(([0], self.batch)))
        if self.n_draws and (steps.min() < 0 or self.batch[-1] >= self.n_batches):
            raise InputError(
                f"batches must rise from 0 and have spreads, got {self.batch.tolist()}"
            )
        if np.unique(self.item).size != self.n_draws:
            raise InputError("an item was drawn twice: draws are without replacement")
        if self.n_draws and not (self.stratum.min() >= 0 and self.stratum.max() < self.sizes.size):
            raise InputError(f"strata must be in 0..{self.sizes.size - 1}")
        q = self.probabilities()[np.arange(self.n_draws), self.stratum]
        if not np.allclose(q, self.q, rtol=1e-9, atol=0.0) or (q <= 0).any():
            wrong = int(np.argmax(~np.isclose(q, self.q, rtol=1e-9, atol=0.0) | (q <= 0)))
            raise InputError(
                f"draw {wrong} is written with probability {self.q[wrong]!r} and had {q[wrong]!r}: "
                "the journal was changed, or belongs to other strata"
            )


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
    if not (whole > 0).all():
        raise BudgetError("every item that may be drawn has been drawn")
    return np.asarray(0.5 * left / whole + 0.5 * weighted / part)  # (W1)


def share_spread(stratum: Ints, values: Floats, n_strata: int) -> Floats:
    """Return the spreads of (W1) for values in [0, 1], from all draws that were read.

    >>> share_spread(np.array([0, 0, 1]), np.array([1.0, 1.0, 0.0]), 3).round(3).tolist()
    [0.471, 0.49, 0.5]
    """
    k = np.bincount(stratum, minlength=n_strata)
    p = (np.bincount(stratum, weights=values, minlength=n_strata) + 2) / (k + 4)
    return np.asarray(np.sqrt(p * (1 - p)))


def uniform_spread(stratum: Ints, values: Floats, n_strata: int) -> Floats:
    """Return equal spreads: every item that is left is equally likely, whatever was seen.

    >>> uniform_spread(np.array([0]), np.array([1.0]), 2).tolist()
    [1.0, 1.0]
    """
    return np.ones(n_strata)


def draw_batch(
    strata: LabelStrata, journal: Journal, *, size: int, spread: ArrayLike, rng: Rng
) -> Journal:
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
        A seed or generator. `replay` can draw a batch again if it got ``spawn(seed, b + 1)[b]``,
        b being the number of the batch.

    Examples
    --------
    >>> strata = LabelStrata(of=[0] * 30 + [1] * 70, side=[0, 1], guess=[[0.5, 0.5]] * 2)
    >>> journal = draw_batch(strata, Journal.empty(strata.sizes), size=4, spread=[1, 1], rng=1)
    >>> [(draw.item, draw.stratum, round(draw.q, 3)) for draw in journal.draws()]
    [(96, 1, 0.7), (28, 0, 0.303), (59, 1, 0.704), (57, 1, 0.701)]
    """
    if size < 1:
        raise InputError(f"size must be at least 1, got {size!r}")
    if not np.array_equal(strata.sizes, journal.sizes):
        raise InputError("strata and journal differ in size: a journal belongs to its own strata")
    s = np.asarray(spread, dtype=np.float64)
    if s.shape != journal.sizes.shape or not (np.isfinite(s) & (s >= 0)).all():
        raise InputError(
            f"spread must be one finite number per stratum, at least 0, got {spread!r}"
        )
    left = journal.sizes - np.bincount(journal.stratum, minlength=s.size)
    size = min(size, int(left[s > 0].sum()))
    if not size:
        raise BudgetError("every item that may be drawn has been drawn")

    # Two numbers per draw, all drawn at once: what comes out does not depend on what was seen.
    chance = as_rng(rng).random((size, 2))
    taken = _taken(strata, journal)
    items, where, probability = [], [], []
    for at_stratum, at_item in chance:
        q = drawing_probabilities(left, s)
        h = _pick(q, at_stratum)
        free = _free(taken[h], min(int(at_item * left[h]), int(left[h]) - 1))
        insort(taken[h], free)
        items.append(int(strata.members[strata.starts[h] + free]))
        where.append(h)
        probability.append(float(q[h]))
        left[h] -= 1

    return Journal(
        sizes=journal.sizes,
        item=np.concatenate((journal.item, np.array(items, dtype=np.int64))),
        stratum=np.concatenate((journal.stratum, np.array(where, dtype=np.int64))),
        q=np.concatenate((journal.q, probability)),
        batch=np.concatenate((journal.batch, np.full(size, journal.n_batches))),
        spreads=np.vstack((journal.spreads, s)),
    )


def replay(
    strata: LabelStrata,
    values: ArrayLike,
    *,
    batches: Sequence[int],
    rule: SpreadRule = share_spread,
    seed: int,
) -> Journal:
    """Draw a whole session again from its seed, its batch sizes and the values that came back.

    Batch b is drawn with ``spawn(seed, b + 1)[b]`` and by the values of all earlier batches, so a
    session that was drawn that way comes out the same, item by item.

    >>> strata = LabelStrata(of=[0] * 30 + [1] * 70, side=[0, 1], guess=[[0.5, 0.5]] * 2)
    >>> replay(strata, [1.0, 0.0], batches=[2, 2], seed=7).batch.tolist()
    [0, 0, 1, 1]
    """
    known = np.asarray(values, dtype=np.float64)
    journal = Journal.empty(strata.sizes)
    for number, size in enumerate(batches):
        done = journal.n_draws
        if done > known.size:
            raise InputError(f"batch {number} needs the {done} values before it, got {known.size}")
        spread = rule(journal.stratum, known[:done], len(strata))
        rng = spawn(seed, number + 1)[number]
        journal = draw_batch(strata, journal, size=size, spread=spread, rng=rng)
    return journal


def readable(values: ArrayLike, *, skipped: NDArray[np.bool_] | None = None) -> int:
    """Return how many values may be read: all before the first that is neither there nor skipped.

    >>> readable([1.0, 0.0, np.nan, 1.0])
    2
    """
    missing = np.isnan(np.asarray(values, dtype=np.float64))
    if skipped is not None:
        missing &= ~skipped
    return int(missing.argmax()) if missing.any() else int(missing.size)


def _pick(q: Floats, u: float) -> int:
    """Return the stratum that *u* falls into; rounding at the top never picks an empty one."""
    upto = np.cumsum(q)
    return int(min(np.searchsorted(upto, u * upto[-1], side="right"), np.flatnonzero(q)[-1]))


def _taken(strata: LabelStrata, journal: Journal) -> list[list[int]]:
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
