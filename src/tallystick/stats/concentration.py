"""How far can a mean stray? Six inequalities behind one small interface.

Every :class:`TailBound` answers three questions on the mean of *n* independent items:

* ``tail(t, n)``: at most how probable is a deviation of t or more;
* ``radius(n, alpha)``: which deviation is exceeded with probability at most alpha, the half-width
  of an interval;
* ``items(t, alpha)``: from which n on is the tail at most alpha.

``sides=1`` bounds deviations above the mean only (below it, apply the bound to the negated items,
for :class:`Chernoff` to :math:`1 - p`). What each one assumes stands in ``assumes``. Source: [DD]_,
sections 3.2-3.3 and notes, with errata: a variance in [0, 1] is at most 1/4 (the text says 1), and
Theorem 3 lacks its "≥ a".

Errata to the text: ``docs/theory/differences.md#errata``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt
from scipy import special

from tallystick.errors import InputError
from tallystick.stats.exact_tails import (
    Floats,
    binomial_above,
    binomial_up_to,
    closed_unit,
    open_unit,
    positive,
    smallest,
    whole,
)

__all__ = [
    "Bernstein",
    "Chebyshev",
    "Chernoff",
    "Hoeffding",
    "Markov",
    "McDiarmid",
    "TailBound",
    "binomial_overlap",
    "binomial_total_variation",
    "chernoff_error",
    "chernoff_tosses",
    "coin_hellinger_squared",
    "hellinger",
    "hellinger_squared",
    "hellinger_squared_of_product",
    "hellinger_tosses",
    "kl",
    "kl_bernoulli",
    "mean_test_error",
    "mean_test_tosses",
    "tosses_for_error",
    "tosses_for_total_variation",
    "total_variation",
    "total_variation_from_hellinger",
    "total_variation_of_power",
]


@dataclass(frozen=True, kw_only=True)
class TailBound(ABC):
    """A concentration inequality for the mean of n items; see the module for its three
    questions.
    """

    assumes: ClassVar[str]
    sides: Literal[1, 2] = 2

    def __post_init__(self) -> None:
        if self.sides not in (1, 2):
            raise InputError(f"sides must be 1 or 2, got {self.sides!r}")

    def tail(self, t: npt.ArrayLike, n: npt.ArrayLike) -> Floats:
        """Bound the probability that the mean of n items strays by t or more; never above 1."""
        positive(t=t)
        whole(1, n=n)
        return np.minimum(1.0, self._tail(np.asarray(t, dtype=float), np.asarray(n, dtype=float)))

    def radius(self, n: npt.ArrayLike, alpha: npt.ArrayLike) -> Floats:
        """Return the deviation that is exceeded with probability at most alpha."""
        whole(1, n=n)
        open_unit(alpha=alpha)
        return self._radius(np.asarray(n, dtype=float), np.asarray(alpha, dtype=float))

    def items(self, t: float, alpha: float) -> int:
        """Return the smallest n whose tail at t is at most alpha."""
        open_unit(alpha=alpha)
        return smallest(lambda n: bool(self.tail(t, n) <= alpha))

    @abstractmethod
    def _tail(self, t: Floats, n: Floats) -> Floats: ...

    @abstractmethod
    def _radius(self, n: Floats, alpha: Floats) -> Floats: ...


@dataclass(frozen=True, kw_only=True)
class Markov(TailBound):
    r"""The weakest: only non-negativity and the mean :math:`μ` are known, and more items do not
    help.

    .. math:: P(\bar X \ge μ + t) \le \frac{μ}{μ + t}

    [DD]_, Proposition 1. It speaks of one side; that side is also all that a non-negative variable
    needs.

    >>> float(Markov(mean=0.1, sides=1).tail(0.4, 1000))
    0.2
    """

    assumes: ClassVar[str] = "non-negative items with a known mean; not even independence"
    mean: float
    sides: Literal[1, 2] = 1

    def __post_init__(self) -> None:
        positive(mean=self.mean)
        if self.sides != 1:
            raise InputError(
                f"Markov's inequality has one side, got sides={self.sides!r}: use Chebyshev for two"
            )

    def _tail(self, t: Floats, n: Floats) -> Floats:
        return self.mean / (self.mean + t) + 0 * n

    def _radius(self, n: Floats, alpha: Floats) -> Floats:
        return self.mean * (1 / alpha - 1) + 0 * n


@dataclass(frozen=True, kw_only=True)
class Chebyshev(TailBound):
    r"""Only the variance :math:`σ^2` is known (or bounded: 1/4 for anything in [0, 1]).

    .. math:: P(|\bar X - μ| \ge t) \le \frac{σ^2}{n t^2}, \qquad
              P(\bar X - μ \ge t) \le \frac{σ^2}{σ^2 + n t^2} \quad\text{(one side, Cantelli)}

    [DD]_, section 3.2; items need to be uncorrelated, not independent.

    >>> Chebyshev().items(0.02, 0.05)
    12500
    """

    assumes: ClassVar[str] = "uncorrelated items with a known bound on their variance"
    variance: float = 0.25

    def __post_init__(self) -> None:
        super().__post_init__()
        positive(variance=self.variance)

    def _tail(self, t: Floats, n: Floats) -> Floats:
        mine = self.variance / n
        return mine / (t**2 + (mine if self.sides == 1 else 0))

    def _radius(self, n: Floats, alpha: Floats) -> Floats:
        return np.sqrt(self.variance / n * (1 / alpha - (self.sides == 1)))


@dataclass(frozen=True, kw_only=True)
class Hoeffding(TailBound):
    r"""Independent items, each in an interval of known width :math:`w`.

    .. math:: P(|\bar X - μ| \ge t) \le 2 \exp(-2 n t^2 / w^2)

    [DD]_, Theorem 2, for the mean. Items of unequal widths: pass their root mean square. With
    :math:`w = 2` and :math:`t = a/n` this is the chapter's Chernoff bound :math:`\exp(-a^2/2n)` for
    coins in {-1, 1}, fair or not: the proof is Hoeffding's lemma, because the "magic inequality"
    for biased coins fails for :math:`λ < 0` (errata).

    >>> Hoeffding().items(0.02, 0.05)
    4612
    >>> round(float(Hoeffding().radius(1000, 0.05)), 4)
    0.0429
    """

    assumes: ClassVar[str] = "independent items in intervals of known width"
    width: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        positive(width=self.width)

    def _tail(self, t: Floats, n: Floats) -> Floats:
        return self.sides * np.exp(-2 * n * (t / self.width) ** 2)

    def _radius(self, n: Floats, alpha: Floats) -> Floats:
        return self.width * np.sqrt(np.log(self.sides / alpha) / (2 * n))


@dataclass(frozen=True, kw_only=True)
class McDiarmid(TailBound):
    r"""Any statistic of n independent items that moves by at most :math:`c/n` when one of them is
    changed.

    .. math:: P(|f - E f| \ge t) \le 2 \exp\Bigl(-\frac{2 t^2}{\sum_i c_i^2}\Bigr) = 2 \exp(-2 n t^2/c^2)
              \quad\text{with every } c_i = c/n

    [DD]_, Theorem 3, whose printed event lacks "≥ a" (errata). Unequal :math:`c_i`: pass
    :math:`c = \sqrt{n \sum_i c_i^2}`. For the mean, :math:`c` is the width and this is Hoeffding's
    inequality.

    >>> McDiarmid(sensitivity=1.0).items(0.02, 0.05) == Hoeffding(width=1.0).items(0.02, 0.05)
    True
    """

    assumes: ClassVar[str] = "a statistic with bounded differences of independent items"
    sensitivity: float

    def __post_init__(self) -> None:
        super().__post_init__()
        positive(sensitivity=self.sensitivity)

    def _tail(self, t: Floats, n: Floats) -> Floats:
        return self._of_the_mean()._tail(t, n)

    def _radius(self, n: Floats, alpha: Floats) -> Floats:
        return self._of_the_mean()._radius(n, alpha)

    def _of_the_mean(self) -> Hoeffding:
        return Hoeffding(width=self.sensitivity, sides=self.sides)


@dataclass(frozen=True, kw_only=True)
class Bernstein(TailBound):
    r"""Independent items with variance at most :math:`σ^2` that never stray further than :math:`b`
    from their mean.

    .. math:: P(|\bar X - μ| \ge t) \le 2 \exp\Bigl(-\frac{n t^2}{2 (σ^2 + b t/3)}\Bigr)

    The classical form (S. Bernstein; the chapter's notes point to Boucheron, Lugosi and Massart for
    it). Far below Hoeffding when the variance is small: rare failures, or paired differences that
    are mostly zero.

    >>> Bernstein(variance=0.01).items(0.02, 0.05), Hoeffding().items(0.02, 0.05)
    (308, 4612)
    """

    assumes: ClassVar[str] = "independent items with bounded variance and bounded deviation"
    variance: float
    deviation: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        positive(variance=self.variance, deviation=self.deviation)

    def _tail(self, t: Floats, n: Floats) -> Floats:
        return self.sides * np.exp(-n * t**2 / (2 * (self.variance + self.deviation * t / 3)))

    def _radius(self, n: Floats, alpha: Floats) -> Floats:
        share = np.log(self.sides / alpha) / n  # t² = 2 share (σ² + b t/3), solved for t
        linear = self.deviation * share / 3
        return linear + np.sqrt(linear**2 + 2 * share * self.variance)


@dataclass(frozen=True, kw_only=True)
class Chernoff(TailBound):
    r"""Independent items in [0, 1] with known mean :math:`p`: the exponent that cannot be improved.

    .. math:: P(\bar X \ge p + t) \le e^{-n\,\mathrm{kl}(p + t,\, p)}, \qquad
              P(\bar X \le p - t) \le e^{-n\,\mathrm{kl}(p - t,\, p)}

    The optimised form of the recipe of [DD]_, Theorem 1 (which stops at :math:`\exp(-a^2/2n)`;
    Pinsker's inequality leads back to it). Deviations beyond [0, 1] have probability 0.

    >>> Chernoff(p=0.01, sides=1).items(0.01, 0.05), Hoeffding(sides=1).items(0.01, 0.05)
    (766, 14979)
    """

    assumes: ClassVar[str] = "independent items in [0, 1] with a known mean"
    p: float

    def __post_init__(self) -> None:
        super().__post_init__()
        open_unit(p=self.p)

    def _tail(self, t: Floats, n: Floats) -> Floats:
        above = self._one_side(self.p + t, n)
        return above if self.sides == 1 else above + self._one_side(self.p - t, n)

    def _one_side(self, value: Floats, n: Floats) -> Floats:
        reachable = (value >= 0) & (value <= 1)
        rate = kl_bernoulli(np.clip(value, 0.0, 1.0), self.p)
        return np.where(reachable, np.exp(-n * rate), 0.0)

    def _radius(self, n: Floats, alpha: Floats) -> Floats:
        n, alpha = np.broadcast_arrays(n, alpha)
        furthest = 1 - self.p if self.sides == 1 else max(self.p, 1 - self.p)
        low, high = np.zeros(n.shape), np.full(n.shape, furthest)
        # the tail falls in t; halving 60 times ends below the spacing of doubles
        for _ in range(60):
            middle = (low + high) / 2
            enough = self._tail(middle, n) <= alpha
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        return high


# How far apart two distributions are: total variation, Hellinger, Kullback-Leibler, and their
# rules for many draws.
#
# Total variation is what a test can achieve, Hellinger is what multiplies over independent draws;
# the
# sandwich
#
# .. math:: H^2 \le \mathrm{TV} \le \sqrt{H^2 (2 - H^2)} \le \sqrt 2\, H   \tag{D1}
#
# takes one to the other. ``hellinger_squared`` and ``hellinger`` are named apart on purpose:
# section
# 3.4 of [DD]_ says "Hellinger distance at most 1/8" where the square is meant (errata).
#
# Errata to the text: ``docs/theory/differences.md#errata``.


MOST_PATTERNS = 2_000_000
"""Above this many count vectors the exact distance between products is refused."""


def total_variation(p: npt.ArrayLike, q: npt.ArrayLike) -> Floats:
    r"""Return how well the best test can tell one draw from *p* from one draw from *q*.

    .. math:: \mathrm{TV}(P, Q) = \tfrac12 \sum_x |P(x) - Q(x)| = \sup_T |P(T) - Q(T)|

    [DD]_, section 3.4. For the fair coin and the coin of bias :math:`(1+ε)/2` this is :math:`ε/2`;
    the text prints :math:`ε` (errata). Distributions lie along the last axis.

    >>> float(total_variation([0.5, 0.5], [0.25, 0.75]))
    0.25
    """
    a, b = _distributions(p, q)
    return np.asarray(0.5 * np.abs(a - b).sum(axis=-1))


def hellinger_squared(p: npt.ArrayLike, q: npt.ArrayLike) -> Floats:
    r"""Return the *squared* Hellinger distance, which multiplies over independent draws.

    .. math:: H^2(P, Q) = \tfrac12 \sum_x \bigl(\sqrt{P(x)} - \sqrt{Q(x)}\bigr)^2 = 1 - \sum_x \sqrt{P(x) Q(x)}

    [DD]_, section 3.4. The first form is computed: the second loses all digits when the
    distributions are close.

    >>> float(hellinger_squared([1.0, 0.0], [0.0, 1.0]))
    1.0
    """
    a, b = _distributions(p, q)
    return np.asarray(0.5 * ((np.sqrt(a) - np.sqrt(b)) ** 2).sum(axis=-1))


def hellinger(p: npt.ArrayLike, q: npt.ArrayLike) -> Floats:
    r"""Return the Hellinger distance :math:`H`, the root of :func:`hellinger_squared`; a metric, at
    most 1.

    >>> round(float(hellinger([0.5, 0.5], [0.0, 1.0])), 4)
    0.5412
    """
    return np.sqrt(hellinger_squared(p, q))


def kl(p: npt.ArrayLike, q: npt.ArrayLike) -> Floats:
    r"""Return the Kullback-Leibler divergence :math:`\sum_x P \ln (P/Q)` in nats, infinite where Q
    misses mass of P.

    It adds over independent draws, :math:`\mathrm{KL}(P^n, Q^n) = n\,\mathrm{KL}(P, Q)`, and is the
    exponent of Chernoff's bound.

    >>> float(kl([0.5, 0.5], [0.5, 0.5]))
    0.0
    """
    a, b = _distributions(p, q)
    return np.asarray(special.rel_entr(a, b).sum(axis=-1))


def kl_bernoulli(p: npt.ArrayLike, q: npt.ArrayLike) -> Floats:
    """Return the Kullback-Leibler divergence between coins that show heads with probability *p* and
    *q*.

    >>> round(float(kl_bernoulli(0.6, 0.5)), 6)
    0.020136
    """
    closed_unit(p=p, q=q)
    a, b = np.asarray(p, dtype=float), np.asarray(q, dtype=float)
    return np.asarray(special.rel_entr(a, b) + special.rel_entr(1 - a, 1 - b))


def hellinger_squared_of_product(squared: npt.ArrayLike, n: npt.ArrayLike = 1) -> Floats:
    r"""Return :math:`H^2` of independent draws, *n* from each component along the last axis.

    .. math:: H^2\Bigl(\prod_i P_i, \prod_i Q_i\Bigr) = 1 - \prod_i \bigl(1 - H^2(P_i, Q_i)\bigr)
              \le \sum_i H^2(P_i, Q_i)

    [DD]_, section 3.4, "direct sum theorem". For n draws of one pair pass its single squared
    distance and *n*.

    >>> float(hellinger_squared_of_product([0.5, 0.5]))
    0.75
    >>> float(hellinger_squared_of_product([0.5], 2))
    0.75
    """
    closed_unit(squared=squared)
    whole(0, n=n)
    each = np.atleast_1d(np.asarray(squared, dtype=float))
    total = special.xlog1py(np.asarray(n, dtype=float), -each).sum(axis=-1)
    return np.asarray(-np.expm1(total))


def total_variation_from_hellinger(squared: npt.ArrayLike) -> tuple[Floats, Floats]:
    r"""Return the least and the greatest total variation that a squared Hellinger distance allows,
    (D1).

    The upper end is :math:`\sqrt{H^2(2 - H^2)}` (Cauchy-Schwarz on :math:`|P - Q| = |\sqrt P -
    \sqrt Q|\,(\sqrt P + \sqrt Q)`); the text's :math:`\sqrt 2 H` drops a term and can pass 1.

    >>> low, high = total_variation_from_hellinger(0.125)
    >>> float(low), round(float(high), 4)
    (0.125, 0.4841)
    """
    closed_unit(squared=squared)
    h2 = np.asarray(squared, dtype=float)
    return h2, np.sqrt(h2 * (2 - h2))


def binomial_overlap(n: npt.ArrayLike, p: npt.ArrayLike, q: npt.ArrayLike) -> Floats:
    r"""Return :math:`1 - \mathrm{TV}`: the least possible sum of the two errors when n tosses of
    coin p or q are seen.

    The likelihood ratio rises with the number of heads, so for :math:`p < q` the best test is a cut
    at :math:`k`,

    .. math:: 1 - \mathrm{TV} = P_p(X > k) + P_q(X \le k), \qquad
              k = \Bigl\lfloor n \ln\tfrac{1-p}{1-q} \Big/ \ln\tfrac{q(1-p)}{p(1-q)} \Bigr\rfloor .

    Both terms are small positive tails, so the sum keeps its relative precision down to about
    1e-300.

    >>> float(binomial_overlap(1, 0.5, 0.75))
    0.75
    >>> f"{float(binomial_overlap(10**6, 0.5, 0.51)):.3e}"
    '1.512e-23'
    """
    whole(0, n=n)
    closed_unit(p=p, q=q)
    count, a, b = np.broadcast_arrays(*(np.asarray(value, dtype=float) for value in (n, p, q)))
    low, high = np.minimum(a, b), np.maximum(a, b)
    with np.errstate(divide="ignore", invalid="ignore"):
        fall = np.log1p(-low) - np.log1p(-high)
        rise = np.log(high) - np.log(low)
        cut = count * fall / (fall + rise)
    # One coin without tails: only all heads speaks for it. One without heads: a single head speaks
    # against it. Where both hold (0 against 1), any cut between serves; where the coins are equal,
    # any cut at all.
    cut = np.where(high == 1, count - 1, cut)
    cut = np.where(low == 0, 0, cut)
    cut = np.where(low == high, 0, np.floor(cut))
    return np.asarray(binomial_above(cut, count, low) + binomial_up_to(cut, count, high))


def binomial_total_variation(n: npt.ArrayLike, p: npt.ArrayLike, q: npt.ArrayLike) -> Floats:
    r"""Return how well *n* tosses can tell coin *p* from coin *q*: the exact TV between the two
    binomials.

    The number of heads is sufficient, so this is also the distance between the products :math:`P^n`
    and :math:`Q^n`.

    >>> float(binomial_total_variation(7, 0.5, 0.75)) >= 0.5 > float(binomial_total_variation(6, 0.5, 0.75))
    True
    """
    return np.clip(1 - binomial_overlap(n, p, q), 0.0, 1.0)


def total_variation_of_power(p: npt.ArrayLike, q: npt.ArrayLike, n: int) -> float:
    r"""Return the exact TV between *n* draws from *p* and *n* draws from *q*, for one pair of small
    distributions.

    The counts are sufficient, so the sum runs over the :math:`\binom{n+K-1}{K-1}` count vectors;
    more than two million of them are refused. Two labels go through the closed form at any n.

    >>> round(total_variation_of_power([0.5, 0.3, 0.2], [0.4, 0.4, 0.2], 20), 4)
    0.3878
    """
    whole(0, n=n)
    a, b = _distributions(p, q)
    if a.ndim != 1:
        raise InputError(f"p and q must be one distribution each, got shape {a.shape}")
    k = len(a)
    if k == 2:
        return float(binomial_total_variation(n, a[1], b[1]))
    if comb(n + k - 1, k - 1) > MOST_PATTERNS:
        raise InputError(
            f"n = {n} draws of {k} labels have {comb(n + k - 1, k - 1):,} count vectors, above"
            f" {MOST_PATTERNS:,}: use total_variation_from_hellinger on"
            " hellinger_squared_of_product"
        )
    bars = np.array(list(combinations(range(n + k - 1), k - 1)), dtype=np.int64).reshape(-1, k - 1)
    edges = np.hstack([np.full((len(bars), 1), -1), bars, np.full((len(bars), 1), n + k - 1)])
    counts = np.diff(edges, axis=1) - 1
    log_ways = special.gammaln(n + 1) - special.gammaln(counts + 1).sum(axis=1)
    mass_p, mass_q = (np.exp(log_ways + special.xlogy(counts, each).sum(axis=1)) for each in (a, b))
    return float(0.5 * np.abs(mass_p - mass_q).sum())


def _distributions(p: npt.ArrayLike, q: npt.ArrayLike) -> tuple[Floats, Floats]:
    a, b = np.asarray(p, dtype=float), np.asarray(q, dtype=float)
    for name, each in (("p", a), ("q", b)):
        if (
            each.ndim == 0
            or not np.all(each >= 0)
            or not np.allclose(each.sum(axis=-1), 1, rtol=0, atol=1e-9)
        ):
            raise InputError(
                f"{name} must be non-negative and sum to 1 along its last axis: divide by its sum"
            )
    if a.shape[-1] != b.shape[-1]:
        raise InputError(
            f"p has {a.shape[-1]} labels and q {b.shape[-1]}: give both the same labels, 0 where"
            " absent"
        )
    return a, b


# The coin problem: the tosses that tell a fair coin from one that shows heads with probability
# :math:`(1+ε)/2`.
#
# It is the smallest model of a benchmark, and here it is solved exactly, beside the bounds of
# [DD]_,
# sections 3.2-3.4. An accuracy gap :math:`γ` from one half is :math:`ε = 2γ`; the chapter uses
# :math:`ε` for both, so that the ":math:`1/(2ε^2)`" of section 3.5 reads :math:`1/(8γ^2)` for a
# gap
# (errata).
#
# ====================================  ===================  ==================
# :math:`n ε^2` as :math:`ε \to 0`      TV reaches 1/2       error sum reaches .1
# ====================================  ===================  ==================
# no test can, below (chapter)          0.5
# no test can, below (Hellinger)        1.15                 6.64
# exact                                 1.82                 10.82
# Chernoff allows                                            23.97
# ====================================  ===================  ==================
#
# Errata to the text: ``docs/theory/differences.md#errata``.


def mean_test_error(epsilon: npt.ArrayLike, n: npt.ArrayLike) -> tuple[Floats, Floats]:
    r"""Return the exact errors of the mean test: false alarm on the fair coin, miss of the biased
    one.

    The test of [DD]_, section 3.2, with tosses in {-1, 1} and their sum :math:`S`, says "biased" if
    :math:`S > εn/2`, that is if the heads exceed :math:`n(2+ε)/4`. Both errors are binomial tails,
    exact to about 12 digits for any n.

    >>> alarm, miss = mean_test_error(0.1, 800)
    >>> round(float(alarm + miss), 3)  # at n = 8/ε², where the Chernoff bound still says .74
    0.157
    """
    bias = _bias(epsilon)
    whole(1, n=n)
    count = np.asarray(n, dtype=float)
    cut = count * (2 + bias) / 4
    nearest = np.round(cut)
    # n(2+ε)/4 may be a whole number that binary fractions miss by an ulp: a tie is then "fair", as
    # S > t says.
    cut = np.where(np.abs(cut - nearest) <= 1e-12 * count, nearest, np.floor(cut))
    return binomial_above(cut, count, 0.5), binomial_up_to(cut, count, (1 + bias) / 2)


def chernoff_error(epsilon: npt.ArrayLike, n: npt.ArrayLike) -> Floats:
    r"""Bound the error sum of the mean test by :math:`\min(1, 2 e^{-ε^2 n/8})`; [DD]_, section 3.3.

    >>> round(float(chernoff_error(0.1, 800)), 2)
    0.74
    """
    bias = _bias(epsilon)
    whole(1, n=n)
    return np.asarray(np.minimum(1.0, 2 * np.exp(-(bias**2) * np.asarray(n, dtype=float) / 8)))


def chernoff_tosses(epsilon: float, error: float) -> int:
    r"""Return the n at which Chernoff's bound on the error sum falls to *error*: :math:`8
    \ln(2/\text{error})/ε^2`.

    >>> chernoff_tosses(0.1, 0.1)
    2397
    """
    open_unit(error=error)
    return smallest(lambda n: bool(chernoff_error(epsilon, n) <= error))


def coin_hellinger_squared(epsilon: npt.ArrayLike) -> Floats:
    r"""Return :math:`H^2` between the two coins, without cancellation.

    With :math:`s = \sqrt{1 - ε^2}` and :math:`u = \sqrt{(1+s)/2}`,

    .. math:: H^2 = 1 - \tfrac12\bigl(\sqrt{1+ε} + \sqrt{1-ε}\bigr) = \frac{ε^2}{2 (1 + s)(1 + u)}   \tag{C1}

    so :math:`ε^2/8 \le H^2 \le (1 - 1/\sqrt2)\,ε^2`, with :math:`H^2 \approx ε^2/8`. Claim 1 of
    [DD]_ (:math:`H^2 \le ε^2/4`) is loose by two for small ε and fails for ε above .990; its
    proof's remainder bound fails at :math:`ε = -1/2` (errata). (C1) needs no expansion.

    >>> float(coin_hellinger_squared(1e-6)) / 1e-12
    0.125...
    """
    bias = _bias(epsilon)
    s = np.sqrt((1 - bias) * (1 + bias))
    u = np.sqrt((1 + s) / 2)
    return np.asarray(bias**2 / (2 * (1 + s) * (1 + u)))  # (C1)


def hellinger_tosses(epsilon: float, total_variation: float = 0.5) -> int:
    r"""Return the n below which Hellinger proves that *no* test reaches this total variation.

    From :math:`\mathrm{TV} \le \sqrt{H_n^2 (2 - H_n^2)}` with :math:`1 - H_n^2 = (1 - H^2)^n`. For
    1/2 it is :math:`1.15/ε^2`, against :math:`0.5/ε^2` by the chapter's three roundings and
    :math:`1.82/ε^2` in truth.

    >>> hellinger_tosses(0.1)
    115
    """
    open_unit(total_variation=total_variation)
    single = coin_hellinger_squared(epsilon)

    def not_excluded(n: int) -> bool:
        _, most = total_variation_from_hellinger(hellinger_squared_of_product(single, n))
        return bool(most >= total_variation)

    return smallest(not_excluded)


def tosses_for_total_variation(epsilon: float, total_variation: float = 0.5) -> int:
    r"""Return the exact smallest n with :math:`\mathrm{TV}(P^n, Q^n)` at least this much.

    >>> [tosses_for_total_variation(e) for e in (0.5, 0.2, 0.1, 0.05, 0.02, 0.01)]
    [7, 45, 182, 727, 4549, 18198]
    """
    open_unit(total_variation=total_variation)
    return tosses_for_error(epsilon, 1 - total_variation)


def tosses_for_error(epsilon: float, error: float = 0.1) -> int:
    r"""Return the exact smallest n at which the best possible test has an error sum of at most
    *error*.

    The best error sum is :math:`1 - \mathrm{TV}(P^n, Q^n)` and never rises with n.

    >>> [tosses_for_error(e) for e in (0.5, 0.2, 0.1, 0.05, 0.02, 0.01)]
    [39, 267, 1079, 4325, 27052, 108218]
    """
    open_unit(error=error)
    heads = (1 + float(_bias(epsilon))) / 2
    return smallest(lambda n: bool(binomial_overlap(n, 0.5, heads) <= error))


def mean_test_tosses(epsilon: float, error: float = 0.1) -> int:
    r"""Return the smallest n at which the *mean test* has an error sum of at most *error*.

    The mean test cuts almost where the best test does, but its error is not quite monotone in n:
    the search scans upwards from the best test's answer, below which no test is good enough.

    >>> mean_test_tosses(0.1)
    1079
    """
    n = tosses_for_error(epsilon, error)
    while True:
        block = np.arange(n, n + 256)
        alarm, miss = mean_test_error(epsilon, block)
        good = np.flatnonzero(alarm + miss <= error)
        if good.size:
            return int(block[good[0]])
        n += 256


def _bias(epsilon: npt.ArrayLike) -> Floats:
    bias = np.asarray(epsilon, dtype=float)
    if not np.all((bias > 0) & (bias <= 1)):
        raise InputError(f"epsilon must be in (0, 1], got {epsilon!r}")
    return bias
