"""The journal of draws: what was drawn, in which order, and with which probability."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick.errors import BudgetError, InputError
from tallystick.sampling.labels.consensus import Floats, Ints

__all__ = ["HALF_WIDTH", "Draw", "DrawJournal", "drawing_probabilities", "readable"]

HALF_WIDTH = 0.05
"""The half-width that bets aim at if none is asked for."""


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
class DrawJournal:
    """All draws so far, as arrays, with the spreads that each batch was drawn by.

    Parameters
    ----------
    sizes
        The items of each stratum before anything was drawn, N_h.
    item, stratum, q, batch
        One entry per draw, as in `Draw`.
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

    def __post_init__(self) -> None:
        if not 0 < self.half_width < 1:
            raise InputError(f"half_width must be in (0, 1), got {self.half_width!r}")

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

    @classmethod
    def of(
        cls,
        sizes: ArrayLike,
        draws: Sequence[Draw],
        spreads: ArrayLike,
        *,
        half_width: float = HALF_WIDTH,
    ) -> DrawJournal:
        """Return the journal of written draws, and refuse one that its own numbers contradict.

        >>> one = Draw(t=0, item=4, stratum=1, q=0.7, batch=0)
        >>> DrawJournal.of([30, 70], [one], [[1.0, 1.0]]).n_draws
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
            half_width=half_width,
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


def readable(values: ArrayLike, *, skipped: NDArray[np.bool_] | None = None) -> int:
    """Return how many values may be read: all before the first that is neither there nor skipped.

    >>> readable([1.0, 0.0, np.nan, 1.0])
    2
    """
    missing = np.isnan(np.asarray(values, dtype=np.float64))
    if skipped is not None:
        missing &= ~skipped
    return int(missing.argmax()) if missing.any() else int(missing.size)
