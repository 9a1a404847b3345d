r"""How much of the flips is noise: λ, from asking flipped items again.

An API may answer at random. Where the first new answer n1 flips the old answer o, the item is asked
again. For right/wrong, P(n1 flips o, n2 reverts n1) = E[r(1 - r)] exactly, with r the item's chance
of a right answer: the within-item variance. So repeats of flips identify all noise, and repeats of
items that did not flip would add nothing. With m repeats, x of them not confirmed,

.. math:: ρ = \frac{x + ½}{m + 1}, \qquad
          λ = \min\Bigl(1, 2ρ + \sqrt{\frac{ρ(1 - ρ)}{m + 1}}\Bigr)   \tag{N1}

No repeats give λ = 1: all flips may be noise. The factor 2 says "the old API was as noisy as the
new one"; λ = 1 needs no such assumption. docs/theory/shift.md, *Change, or chance?*.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick.errors import InputError
from tallystick.shift.noise_rules import WIDELY_ASKED
from tallystick.stats.ranges import at_least

__all__ = ["Confirmed", "Repeats", "assumes_equal_noise", "noise_share"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]


def noise_share(repeats: ArrayLike, unconfirmed: ArrayLike) -> FloatArray:
    """Return λ, (N1), from (weighted) counts of any shape.

    Parameters
    ----------
    repeats
        m; 0 gives λ = 1.
    unconfirmed
        x, at most m.

    Examples
    --------
    >>> noise_share([30, 30, 0], [9, 0, 0]).round(4).tolist()
    [0.6957, 0.0549, 1.0]
    """
    at_least(0, repeats=repeats, unconfirmed=unconfirmed)
    m, x = np.asarray(repeats, dtype=np.float64), np.asarray(unconfirmed, dtype=np.float64)
    if np.any(x > m * (1 + 1e-9)):
        raise InputError(f"unconfirmed must be at most repeats, got {unconfirmed!r} of {repeats!r}")
    rate = (x + 0.5) / (m + 1)
    share = 2 * rate + np.sqrt(np.maximum(rate * (1 - rate), 0.0) / (m + 1))  # (N1)
    return np.asarray(np.where(m > 0, np.minimum(share, 1.0), 1.0))


def assumes_equal_noise(share: float, *, asked: int, items: int) -> bool:
    """Say whether "the old API was as noisy as the new one" must be printed, with λ = 1 beside it.

    Examples
    --------
    >>> assumes_equal_noise(0.4, asked=500, items=1000)
    True
    >>> assumes_equal_noise(0.4, asked=100, items=1000), assumes_equal_noise(1, asked=9, items=9)
    (False, False)
    """
    return share < 1 and asked > WIDELY_ASKED * items


@dataclass(frozen=True, eq=False)
class Confirmed:
    """Weighted counts of repeated flips.

    Parameters
    ----------
    repeats
        m, the sum of weights; weights have mean 1, so it is also the number of repeats.
    confirmed, reverted
        a (the second answer equals the first) and b (it equals the old one).
    size
        m²/Σw², what the repeats are worth.
    """

    repeats: FloatArray
    confirmed: FloatArray
    reverted: FloatArray
    size: FloatArray

    @property
    def unconfirmed(self) -> FloatArray:
        """X: the second answer differs from the first."""
        return self.repeats - self.confirmed

    @property
    def decided(self) -> tuple[FloatArray, FloatArray]:
        """Confirmed and reverted, as counts of so many repeats as the weights are worth."""
        worth = np.where(
            self.repeats > 0, self.size / np.where(self.repeats > 0, self.repeats, 1), 0
        )
        return self.confirmed * worth, self.reverted * worth


@dataclass(frozen=True, eq=False, kw_only=True)
class Repeats:
    """Flips of the blind phase that were asked again by a fresh call.

    A repeat from a cache, with a fixed seed or in the same batch confirms everything and makes
    noise look like change. Leave out repeats that failed.

    Parameters
    ----------
    old, first, second
        Codes of the old answer and of the two new ones. Items that did not flip are refused.
    weight
        p_k/n_k(blind) of the stratum of each; only ratios matter.
    truth
        Codes of the true labels; None where there are none.
    """

    old: IntArray
    first: IntArray
    second: IntArray
    weight: FloatArray
    truth: IntArray | None = None

    def __post_init__(self) -> None:
        for name, kind in (("old", np.intp), ("first", np.intp), ("second", np.intp)):
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=kind))
        object.__setattr__(self, "weight", np.asarray(self.weight, dtype=np.float64))
        if self.truth is not None:
            object.__setattr__(self, "truth", np.asarray(self.truth, dtype=np.intp))
        parts = [self.old, self.first, self.second, self.weight]
        parts += [] if self.truth is None else [self.truth]
        if any(part.ndim != 1 or part.shape != self.old.shape for part in parts):
            raise InputError(
                "old, first, second, weight and truth must be equally long, got "
                + ", ".join(str(part.shape) for part in parts)
            )
        if not np.all((self.weight > 0) & np.isfinite(self.weight)):
            raise InputError(f"weight must be positive, got {self.weight.min()!r}")
        if np.any(self.old == self.first):
            place = int(np.argmax(self.old == self.first))
            raise InputError(
                f"repeat {place} did not flip (old and first are {self.old[place]}): "
                "only flips are asked again"
            )

    def __len__(self) -> int:
        return len(self.old)

    @property
    def decided(self) -> tuple[int, int]:
        """Unweighted counts (a, b): second answer as the first, second answer as the old one."""
        return int((self.second == self.first).sum()), int((self.second == self.old).sum())

    def flips(self) -> Confirmed:
        """Return the counts over all flips, for the flip rate and for change beyond noise."""
        return self._counted(self.old, self.first, self.second, np.ones(len(self), bool))

    def correctness(self) -> Confirmed:
        """Return the counts over flips between right and wrong, for the accuracy."""
        truth = self._truths()
        was, first, second = (codes == truth for codes in (self.old, self.first, self.second))
        return self._counted(was, first, second, was != first)

    def entry(self, true: int, answer: int) -> Confirmed:
        """Return the counts over flips into or out of one entry of the matrix."""
        here = self._truths() == true
        was, first, second = (codes == answer for codes in (self.old, self.first, self.second))
        return self._counted(was, first, second, here & (was != first))

    def entry_shares(
        self, true: ArrayLike, answer: ArrayLike, *, joint: bool = False
    ) -> FloatArray:
        """Return λ of each entry; 1 for an entry of which no flip was repeated.

        Parameters
        ----------
        true, answer
            Codes of the entries.
        joint
            For a statement about many entries at once ("some cell changed"): no λ is below that of
            all flips. An entry has few repeats, so the smallest of many own λ is too small by
            luck: on an unchanged API some cell was "proved" in up to .12 of runs with own λ, in at
            most .05 with this (27 cells, ``docs/benchmarks/shift-noise-unchanged.md``).
        """
        cells = zip(np.asarray(true).tolist(), np.asarray(answer).tolist(), strict=True)
        found = [self.entry(i, j) for i, j in cells]
        own = noise_share([f.repeats for f in found], [f.unconfirmed for f in found])
        if not joint:
            return own
        flips = self.flips()
        return np.maximum(own, noise_share(flips.repeats, flips.unconfirmed))

    def _truths(self) -> IntArray:
        if self.truth is None:
            raise InputError("truth is None: accuracy and matrix entries need true labels")
        return self.truth

    def _counted(
        self,
        old: NDArray[np.generic],
        first: NDArray[np.generic],
        second: NDArray[np.generic],
        keep: BoolArray,
    ) -> Confirmed:
        """Count by weight, scaled to mean 1 over the repeats that are counted here."""
        w = self.weight[keep]
        w = w / w.mean() if w.size else w
        sums = (w.sum(), w[(second == first)[keep]].sum(), w[(second == old)[keep]].sum())
        size = w.sum() ** 2 / np.square(w).sum() if w.size else 0.0
        return Confirmed(*(np.asarray(value, dtype=np.float64) for value in (*sums, size)))
