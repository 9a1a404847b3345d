r"""How much of the difference is the API's own randomness, and whether it became less stable.

An API may answer at random. Where the first new answer n1 flips the old answer o, the item is asked
again (n2). For right/wrong, P(n1 flips o, n2 reverts n1) = E[r(1 - r)] exactly, with r the item's
chance of a right answer: the within-item variance. So repeats of flips identify all noise, and
repeats of items that did not flip would add nothing. With m repeats, x of them not confirmed
(weighted),

.. math:: ρ = \frac{x + ½}{m + 1}, \qquad
          λ = \min\Bigl(1, 2ρ + \sqrt{\frac{ρ(1 - ρ)}{m + 1}}\Bigr)   \tag{N1}

is the noise share. No repeats give λ = 1: all flips may be noise. The factor 2 says "the old API
was as noisy as the new one"; λ = 1 needs no such assumption. For values in [0, 1] (grades),

.. math::

   λ = \min\Bigl(1, 2 \frac{\sum w h + q/2}{\sum w d^2 + q}\Bigr), \quad
   h = ½ (g_1 - g_2)^2 (1 + [g_2 = o]), \quad q = \overline{d^2} \text{ of the repeats}   \tag{N8}

With a repeats confirmed, b back to the old answer and c a third one, U the chance that two answers
of one API to an item differ, P and Q an item's old and new distributions of answers,

.. math::

   U_{new} = F \frac{2b + c}{m}, \qquad U_{old} \le 2F - U_{new} = F \frac{2a + c}{m}, \qquad
   E[½‖P - Q‖²] = F - ½ U_{new} - ½ U_{old}   \tag{N10}

whatever the noise. Several old draws measure U_old; without them the estimate takes U_old = U_new,
which gives F κ with κ = (a - b)/m. So b > a proves that the new API is less stable, and the excess
F - U_old is 0 for an API that did not change, however noisy it is: a gate on it no flaky API can
pass.

"Nothing changed but chance" is tested by confirmed against reverted repeats: under it a decided
repeat confirms or reverts with probability ½. docs/theory/shift.md, *Change, or chance?*.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick.errors import InputError
from tallystick.sampling import FAILED, Strata
from tallystick.stats.intervals import score_ends
from tallystick.verbs.shift.design import FloatArray, IntArray, Items
from tallystick.verbs.shift.intervals import SumBounds

AnswersAre: TypeAlias = Literal["random", "recorded", "deterministic"]

# The numbers that noisy shift rests on, each with its reason. They were measured together
# (docs/theory/shift.md): change one only with a new measurement (benchmarks/truth/shift_noise.py).

# Flips that are asked again: a tenth of the budget, at least 30. If 30 all confirm, the API shows
# no noise and repeating stops. They are repeated in the order in which they were asked, which must
# be uniformly random over the blind items: in proportional order large strata come first and noise
# looks like change.
REPEAT_SHARE, FEWEST_REPEATS = 10, 30

# Below this p-value the repeats refute that chance explains every flip between right and wrong;
# until then λ of the accuracy is 1. An estimated λ is below 1 in a third of all runs on an
# unchanged API, by luck alone, and its narrower interval then says "changed" too often: with every
# item asked in .052 of runs, with this rule in .047 (8 simulated populations, 900 runs each); the
# power against a change of 3 points goes from .460 to .447.
CHANCE_REFUTED = 0.05

# From this share of items on, an interval with λ < 1 leans on "the old API was as noisy".
WIDELY_ASKED = 0.2

# Old draws that disagree as no repeats of one version would: the chance of a false refusal.
NOT_REPEATS = 1e-3


def chance_p_value(confirmed: float, reverted: float) -> float:
    """Return the one-sided p-value of "nothing changed but chance": P(X >= a), X of (a + b, ½).

    It is exact for whole counts of items drawn with equal probability; repeats that gave a third
    answer do not count. Weighted counts have the binomial tail as a beta integral.

    >>> [round(chance_p_value(a, b), 4) for a, b in ((7, 0), (6.5, 0.2), (0, 0))]
    [0.0078, 0.0159, 1.0]
    """
    from scipy.special import betainc

    return float(betainc(confirmed, reverted + 1, 0.5)) if confirmed > 0 else 1.0


@dataclass(frozen=True, kw_only=True)
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

    repeats: float
    confirmed: float
    reverted: float
    size: float

    @property
    def share(self) -> float:
        """λ, (N1); 1 without a repeat."""
        m = self.repeats
        if m <= 0:
            return 1.0
        rate = (m - self.confirmed + 0.5) / (m + 1)
        return min(1.0, 2 * rate + sqrt(max(rate * (1 - rate), 0.0) / (m + 1)))  # (N1)

    @property
    def p_values(self) -> tuple[float, float]:
        """Of "only chance" against more confirmed repeats than reverted ones, and against fewer."""
        worth = self.size / self.repeats if self.repeats > 0 else 0.0
        a, b = self.confirmed * worth, self.reverted * worth
        return chance_p_value(a, b), chance_p_value(b, a)


@dataclass(frozen=True, eq=False, kw_only=True)
class Repeats:
    """Flips of the blind phase that were asked again by a fresh call.

    A repeat from a cache confirms everything and makes noise look like change.

    Parameters
    ----------
    old, first, second
        Codes of the old answer and of the two new ones.
    weight
        p_k/n_k(blind) of the stratum of each; only ratios matter.
    truth
        Codes of the true labels.
    """

    old: IntArray
    first: IntArray
    second: IntArray
    weight: FloatArray
    truth: IntArray

    @classmethod
    def of(
        cls,
        items: Items,
        strata: Strata,
        first: tuple[IntArray, IntArray],
        second: tuple[IntArray, IntArray],
        blind: FloatArray,
    ) -> Repeats:
        """Take first and second answers, each as items and codes; what failed is left out.

        *blind* holds the answers of each stratum that were chosen without regard to answers.
        """
        weight = (strata.shares / np.maximum(blind, 1))[strata.of]
        code = np.full(len(items), FAILED, np.intp)
        code[first[0]] = first[1]
        again, codes = second
        known = code[again]
        keep = (codes != FAILED) & (known != FAILED) & (known != items.old[again])
        again = again[keep]
        return cls(
            old=items.old[again],
            first=known[keep],
            second=codes[keep],
            weight=weight[again],
            truth=items.truth[again],
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

    def correctness(self, labels: int) -> Confirmed:
        """Return the counts over flips between right and wrong, for the accuracy."""
        was, first, second = (codes == self.truth for codes in (self.old, self.first, self.second))
        return self._counted(was, first, second, (was != first) & (self.truth < labels))

    def entry(self, true: int, answer: int) -> Confirmed:
        """Return the counts over flips into or out of one entry of the matrix."""
        was, first, second = (codes == answer for codes in (self.old, self.first, self.second))
        return self._counted(was, first, second, (self.truth == true) & (was != first))

    def _counted(
        self,
        old: NDArray[np.generic],
        first: NDArray[np.generic],
        second: NDArray[np.generic],
        keep: NDArray[np.bool_],
    ) -> Confirmed:
        """Count by weight, scaled to mean 1 over the repeats that are counted here."""
        w = self.weight[keep]
        w = w / w.mean() if w.size else w
        return Confirmed(
            repeats=float(w.sum()),
            confirmed=float(w[(second == first)[keep]].sum()),
            reverted=float(w[(second == old)[keep]].sum()),
            size=float(w.sum() ** 2 / np.square(w).sum()) if w.size else 0.0,
        )

    def values(
        self, scale: FloatArray | None, labels: int
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return h of (N8), d = first - old, and the weights scaled to mean 1, for each repeat.

        Values are grades on *scale*; without one right (1) or wrong (0), where the truth is known.
        """
        told, known = (self.old, self.first, self.second), self.truth < labels
        if scale is None:
            o, g1, g2 = (np.where(known, codes == self.truth, np.nan) for codes in told)
        else:
            o, g1, g2 = (scale[codes] for codes in told)
        keep = np.isfinite(o + g1 + g2) & (o != g1)
        o, g1, g2, w = o[keep], g1[keep], g2[keep], self.weight[keep]
        h = 0.5 * (g1 - g2) ** 2 * (1 + np.isclose(g2, o, rtol=0, atol=1e-12))
        return h, g1 - o, w / w.mean() if w.size else w


def value_noise_share(h: FloatArray, d: FloatArray, w: FloatArray) -> float:
    """Return λ, (N8), from `Repeats.values`; 1 without a repeat.

    >>> h, d = np.array([.25, 0, 0, 0]), np.array([.5, .5, -.5, .5])
    >>> round(value_noise_share(h, d, np.ones(4)), 3)
    0.6
    """
    q = float((w * d**2).sum() / w.sum()) if h.size else 0.0
    if q <= 0:
        return 1.0  # nothing flipped, so nothing was repeated that could tell
    rate = (float((w * h).sum()) + q / 2) / (float((w * d**2).sum()) + q)
    return min(1.0, 2 * rate)  # (N8)


@dataclass(frozen=True, eq=False, kw_only=True)
class NoiseShares:
    """λ of every number: 0 for a deterministic API, 1 where nothing was asked again.

    Parameters
    ----------
    mean, flips
        Of the accuracy (or the mean grade), and of all flips.
    cells, joint
        Of each counted cell of the matrix, for a statement about that cell, and for one about all
        cells at once ("some cell changed"). There no λ is below that of all flips: an entry has few
        repeats, so the smallest of many own λ is too small by luck. On an unchanged API some cell
        was "proved" in up to .12 of runs with own λ, in at most .05 with this (27 cells).
    """

    mean: float
    flips: float
    cells: FloatArray
    joint: FloatArray

    @classmethod
    def of(
        cls,
        repeats: Repeats,
        answers_are: AnswersAre,
        *,
        cells: tuple[IntArray, IntArray],
        labels: int,
        scale: FloatArray | None,
    ) -> NoiseShares:
        """Return λ of every number from what was asked again.

        *cells* are the rows and columns of the counted cells; *scale* the grades of the labels,
        where the mean is that of a grade.
        """
        if answers_are == "deterministic" or not len(repeats):
            share = 0.0 if answers_are == "deterministic" else 1.0
            each = np.full(len(cells[0]), share)
            return cls(mean=share, flips=share, cells=each, joint=each)
        flips = repeats.flips()
        own = [repeats.entry(i, j).share for i, j in zip(*cells, strict=True)]
        if scale is not None:
            mean = value_noise_share(*repeats.values(scale, labels))
        else:
            moved = repeats.correctness(labels)
            # 1 until the repeats refute that chance explains all flips between right and wrong.
            mean = 1.0 if moved.p_values[0] > CHANCE_REFUTED else moved.share
        each = np.array(own, dtype=np.float64)
        return cls(mean=mean, flips=flips.share, cells=each, joint=np.maximum(each, flips.share))


# Flips that are more than noise, and the randomness of each API.


@dataclass(frozen=True, kw_only=True)
class OldDraws:
    """What several old answers per item show: U_old, and the number of items that show it."""

    unstable: float
    items: int

    @classmethod
    def of(cls, draws: IntArray) -> OldDraws:
        """Count how often two old answers to an item differ; *draws* are codes, items x K.

        >>> OldDraws.of(np.array([[0, 1, 2], [0, 0, 1], [1, 1, 1], [0, 0, 0]])).unstable
        0.4166666666666667
        """
        pairs = combinations(draws.T, 2)
        return cls(unstable=float(np.mean([(a != b).mean() for a, b in pairs])), items=len(draws))


@dataclass(frozen=True, kw_only=True)
class ShareBounds:
    """A share with its ends."""

    value: float | None
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Randomness:
    """What (N10) makes of flips, repeats and old draws.

    Parameters
    ----------
    beyond
        E[½‖P - Q‖²]: the flips beyond both APIs' own randomness.
    excess
        F - U_old: how many more answers differ than two old answers would.
    new, old
        U_new and U_old: the share of repeated calls that disagree.
    less_stable
        Whether it is shown that U_new is above U_old.
    """

    beyond: ShareBounds
    excess: ShareBounds
    new: ShareBounds
    old: ShareBounds
    less_stable: bool


def randomness(
    flips: SumBounds, repeats: Confirmed, *, old: OldDraws | None = None, alpha: float = 0.05
) -> Randomness:
    r"""Bound the flips beyond noise and the instability of each API, (N10).

    The interval of (a + c/2)/m = (κ + 1)/2 is Wilson's at m²/Σw², and the reaches of F, κ and U_old
    are combined as the root of the sum of their squares.

    Parameters
    ----------
    flips
        The flip rate, moved to the blind estimate.
    repeats
        Over all flips, :meth:`Repeats.flips`.
    old
        What old draws show. Without them U_old is at most what the repeats leave.
    alpha
        One minus the level.

    Examples
    --------
    >>> rate = SumBounds(*(np.asarray(one) for one in (0.13, 0.0878, 0.1590, 0.0, 0.0)))
    >>> def shown(a, b, old=None):
    ...     some = Confirmed(repeats=39.0, confirmed=a, reverted=b, size=39.0)
    ...     found = randomness(rate, some, old=old)
    ...     one = found.beyond
    ...     return f"{one.value:.4f} [{one.low:.4f}, {one.high:.4f}] {found.less_stable}"
    >>> shown(19.0, 16.0), shown(19.0, 16.0, OldDraws(unstable=0.12, items=500))
    ('0.0100 [0.0000, 0.0946] False', '0.0100 [0.0000, 0.0377] False')
    >>> shown(4.0, 35.0), shown(4.0, 35.0, OldDraws(unstable=0.0, items=500))
    ('0.0000 [0.0000, 0.1590] True', '0.0133 [0.0034, 0.1590] True')
    """
    from scipy.special import ndtri

    z = np.asarray(-float(ndtri(alpha / 2)))
    rate, down_f, up_f = (
        float(flips.value),
        float(flips.value - flips.low),
        float(flips.high - flips.value),
    )
    m = repeats.repeats
    kept = (repeats.confirmed - repeats.reverted) / m / 2 + 0.5 if m > 0 else 0.5
    low_kept, high_kept = 0.0, 1.0
    if m > 0:
        ends = score_ends(np.asarray(kept), np.asarray(repeats.size), z)
        low_kept, high_kept = float(ends[0]), float(ends[1])

    new = _product(2 * (1 - kept), 2 * (1 - high_kept), 2 * (1 - low_kept), rate, down_f, up_f)
    if old is not None:
        fewest, most = score_ends(np.asarray(old.unstable), np.asarray(float(old.items)), z)
        before = ShareBounds(value=old.unstable, low=float(fewest), high=float(most))
        fewer, more = old.unstable - before.low, before.high - old.unstable
        gap = new.value - old.unstable if new.value is not None else 0.0
        less_stable = m > 0 and gap > _root((new.value or 0.0) - new.low, more)
        excess = ShareBounds(
            value=max(rate - old.unstable, 0.0),
            low=max(rate - old.unstable - _root(down_f, more), 0.0),
            high=min(max(rate - old.unstable, 0.0) + _root(up_f, fewer), float(flips.high)),
        )
        value = rate * kept - old.unstable / 2  # (N10)
        down = _root(kept * down_f, rate * (kept - low_kept), more / 2)
        up = _root(kept * up_f, rate * (high_kept - kept), fewer / 2)
        top = max(rate * kept - old.unstable / 2, 0.0) + up
    else:
        # What the repeats leave for the old API: U_old <= 2F - U_new.
        left = _product(2 * kept, 2 * low_kept, 2 * high_kept, rate, down_f, up_f)
        before = ShareBounds(value=None, low=0.0, high=left.high if m > 0 else 1.0)
        less_stable = m > 0 and repeats.p_values[1] <= alpha / 2
        excess = ShareBounds(value=None, low=0.0, high=float(flips.high))
        kappa = 2 * kept - 1
        value = rate * kappa  # equal noise
        down = _root(kappa * (down_f if kappa >= 0 else up_f), 2 * rate * (kept - low_kept))
        # Equal noise makes confirmed repeats at least as likely as reverted ones.
        held = max(kept, 0.5)
        top = rate * held + _root(held * up_f, rate * (high_kept - kept))
    high = float(flips.high) if less_stable or m == 0 else min(top, float(flips.high))
    # Without a repeat nothing is known of the new API but by its flips.
    beyond = ShareBounds(
        value=max(value, 0.0) if m > 0 else None,
        low=max(value - down, 0.0) if m > 0 else 0.0,
        high=high,
    )
    new = new if m > 0 else ShareBounds(value=None, low=0.0, high=min(1.0, 2 * float(flips.high)))
    return Randomness(beyond=beyond, excess=excess, new=new, old=before, less_stable=less_stable)


def _product(
    value: float, low: float, high: float, rate: float, down: float, up: float
) -> ShareBounds:
    """Return *rate* times *value*, each with its reaches."""
    below = _root(value * down, rate * (value - low))
    above = _root(value * up, rate * (high - value))
    at = rate * value
    return ShareBounds(value=min(at, 1.0), low=max(at - below, 0.0), high=min(at + above, 1.0))


def _root(*reaches: float) -> float:
    """Return the root of the sum of squares."""
    return float(np.sqrt(sum(reach**2 for reach in reaches)))


# K old draws per item: the old noise is measured, not assumed.
#
# .. math::
#
#    z^2 (ν_{new} + ν_{old}/K)/M, \qquad ν_{old} = \frac{K}{K - 1} \overline{\bar c (1 - \bar c)},
#    \qquad ν_{new} = F\, \frac{\sum w h + ¼}{m + 1}   \tag{N9}
#
# over the repeats of flips between right and wrong, c̄ the mean of an item's old draws.


def old_noise(draws: ArrayLike) -> float:
    """Return ν_old of (N9): the variance of one old value around the item's own mean.

    Parameters
    ----------
    draws
        Values in [0, 1], right (1) or wrong (0) for instance: items x K, K at least 2.

    Examples
    --------
    >>> round(old_noise([[1, 0]] * 100 + [[1, 1]] * 500), 4)
    0.0833
    """
    return float(np.mean(np.var(np.asarray(draws, dtype=np.float64), axis=1, ddof=1)))


def fresh_noise(flip_rate: float, h: FloatArray, w: FloatArray) -> float:
    """Return ν_new of (N9) from h and weights of the repeats of flips between right and wrong.

    >>> h = np.r_[np.ones(10), np.zeros(30)]
    >>> round(fresh_noise(0.2, h, np.ones(40)), 4)
    0.05
    """
    return flip_rate * (float((w * h).sum()) + 0.25) / (float(w.sum()) + 1)


def refuse_other_versions(draws: IntArray, names: Sequence[str], labels: Sequence[str]) -> None:
    """Refuse columns that disagree more than repeated calls of one version could.

    "a then b" is as frequent as "b then a" (Bowker), and any two columns differ equally often.

    >>> draws = np.array([[0, 0]] * 50 + [[0, 1]] * 40)
    >>> refuse_other_versions(draws, ["spring", "fall"], ["no", "yes"])
    Traceback (most recent call last):
    tallystick.errors.InputError: fall is not a repeat of spring: ...
    """
    from scipy.special import bdtr, chdtrc

    pairs = list(combinations(range(draws.shape[1]), 2))
    bar = NOT_REPEATS / (len(pairs) * (len(pairs) + 1) / 2)
    L = int(draws.max()) + 1
    apart = {}
    for i, j in pairs:
        table = np.bincount(draws[:, i] * L + draws[:, j], minlength=L * L).reshape(L, L)
        both, more = np.triu(table + table.T, 1), np.triu(table - table.T, 1)
        some = both > 0
        p = float(chdtrc(max(int(some.sum()), 1), (more[some] ** 2 / both[some]).sum()))
        apart[i, j] = draws[:, i] != draws[:, j]
        if p < bar:
            a, b = np.unravel_index(int(np.abs(more).argmax()), more.shape)
            text = [*labels, "(other)"]
            raise InputError(
                f"{names[j]} is not a repeat of {names[i]}: {table[a, b]} answers went from"
                f" {text[a]} to {text[b]} and {table[b, a]} back, and repeated calls of one version"
                " go both ways equally often. Name the column of one version (--old)"
            )
    for one, two in combinations(pairs, 2):
        only, other = (int((apart[a] & ~apart[b]).sum()) for a, b in ((one, two), (two, one)))
        if only + other and 2 * float(bdtr(min(only, other), only + other, 0.5)) < bar:
            odd = one if only > other else two
            raise InputError(
                f"{names[odd[0]]} and {names[odd[1]]} differ more often than repeats of one version"
                " could: name the columns of one version (--old, --old-draws)"
            )
