r"""Hardt, *The Emerging Science of Machine Learning Benchmarks*, chapter 3 ([DD]_): detecting
differences.

How many items tell two models apart? This file has the rule, the inequalities and the sample
sizes; `coin` has the coin problem and the distances between distributions.

| statement | function | test: `pytest tests/papers/test_detecting_differences.py -k` |
|---|---|---|
| 3.1: the rule | `wrong_pick`, `wrong_pick_bound` | rule_errs, bound_of_the_rule |
| 3.2: the coin test | `coin.mean_test_error`, `coin.mean_test_tosses` | exact_tosses |
| 3.2: Figure 3.1 | `coin.coin_figure` | pictures, bars |
| 3.2: Chebyshev | `Chebyshev` | no_bound_is_below |
| 3.2, 3.5: the exception, 1/ε | `zero_failure_items` | clean_items, without_tails |
| Proposition 1: Markov | `Markov` | markov |
| Theorem 1: Chernoff | `Hoeffding(width=2, sides=1)` | closed_forms |
| ... sharper | `Chernoff` | sharpest |
| 3.3: error of the coin test | `coin.chernoff_error`, `coin.chernoff_tosses` | eight_over |
| Theorem 2: Hoeffding | `Hoeffding` | no_bound_is_below, unequal_widths |
| 3.4: total variation | `coin.total_variation` | best_event |
| ... of n draws | `coin.binomial_total_variation` | binomial_overlap |
| ... of more than two labels | `coin.total_variation_of_power` | between_powers |
| 3.4: Hellinger | `coin.hellinger_squared`, `coin.hellinger` | sandwich |
| Claim 1 | `coin.coin_hellinger_squared` | claim_1, closed_form_of_hellinger |
| 3.4: direct sum | `coin.hellinger_squared_of_product` | direct_sum |
| 3.4: H² ≤ TV ≤ √2 H | `coin.total_variation_from_hellinger` | sandwich |
| 3.4: no test below 1/(2ε²) | `coin.claim_1_tosses` | claim_1_excludes |
| ... sharper | `coin.hellinger_tosses` | constants, hellinger_never |
| ... exact | `coin.tosses_for_total_variation`, `coin.tosses_for_error` | exact_tosses |
| 3.5: sizes both ways | `radius` and `items` of each | items_is_the_first, at_the_radius |
| 3.5: k models, the union bound | `union_radius`, `union_items` | union_bound, grow |
| ... as a picture | `trade_off_figure` | pictures |
| notes, Theorem 3: McDiarmid | `McDiarmid` | mcdiarmid |
| not in the chapter: Bernstein | `Bernstein` | no_bound_is_below |

"The hardest case, so that we really don't give up anything" (3.1) ignores that models answer the
same items: `stats.power.leaderboard_items` needs 4 to 20 times fewer. All errata:
``docs/papers/detecting_differences.md#errata``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log, log1p, sqrt
from typing import ClassVar, Literal, get_args

import numpy as np
import numpy.typing as npt
from scipy import special

from tallystick._rng import Rng, as_rng
from tallystick.errors import InputError
from tallystick.results import Figure
from tallystick.stats.exact_tails import (
    Floats,
    binomial_up_to,
    binomial_window,
    closed_unit,
    open_unit,
    positive,
    smallest,
    whole,
)
from tallystick.stats.power import leaderboard_items

# Section 3.1: "If R_S(f) < R_S(g) pick f, else g". How often that errs, exactly and by the bound.


def wrong_pick(n: int, difference: float, disagreement: float) -> float:
    r"""Return the exact probability that the canonical rule does not pick the better of two models.

    Model f is better by *difference*, and the two disagree on a share *disagreement* of the items:
    :math:`P(b \le c)` with :math:`b + c \sim \mathrm{Bin}(n, d)` and :math:`b \sim \mathrm{Bin}(b +
    c, (1 + ε/d)/2)`. A tie goes to g, as the rule says.

    >>> round(wrong_pick(1000, 0.02, 0.1), 4), round(wrong_pick_bound(1000, 0.02), 4)
    (0.0249, 1.0)
    """
    whole(1, n=n)
    positive(difference=difference, disagreement=disagreement)
    closed_unit(disagreement=disagreement)
    closed_unit(**{"difference / disagreement": difference / disagreement})
    lean = (1 + difference / disagreement) / 2
    m, weight = binomial_window(n, disagreement)
    return float(np.sum(weight * binomial_up_to(np.floor(m / 2), m, lean)))


def wrong_pick_bound(n: int, difference: float) -> float:
    r"""Bound the same probability as the chapter does: both risks within :math:`ε/2`, so :math:`2
    e^{-nε^2/2}`.

    Each of the two one-sided deviations has probability at most
    :math:`e^{-2n(ε/2)^2}`. It needs nothing but independent items in [0, 1].

    >>> round(wrong_pick_bound(20_000, 0.02), 4)
    0.0366
    """
    return min(1.0, 2 * float(Hoeffding(sides=1).tail(difference / 2, n)))


# Section 3.3 and notes: the inequalities. Each answers three questions on the mean of n independent
# items: `tail`, `radius` and `items`. `sides=1` bounds deviations above the mean only; below it,
# apply the bound to the negated items, for `Chernoff` to 1 - p.


@dataclass(frozen=True, kw_only=True)
class TailBound(ABC):
    """A concentration inequality for the mean of n items: its tail, and the two ways of a sample
    size.
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

    Proposition 1. It has one side, which is all that a non-negative variable needs.

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
        return self.mean / (self.mean + t) + 0 * n  # Proposition 1

    def _radius(self, n: Floats, alpha: Floats) -> Floats:
        return self.mean * (1 / alpha - 1) + 0 * n


@dataclass(frozen=True, kw_only=True)
class Chebyshev(TailBound):
    r"""Only the variance :math:`σ^2` is known (or bounded: 1/4 for anything in [0, 1]).

    .. math:: P(|\bar X - μ| \ge t) \le \frac{σ^2}{n t^2}, \qquad
              P(\bar X - μ \ge t) \le \frac{σ^2}{σ^2 + n t^2} \quad\text{(one side, Cantelli)}

    Section 3.2; items need to be uncorrelated, not independent. A loss in [0, 1] has variance at
    most 1/4, so :math:`\mathrm{Var} R_S \le 1/(4n)`; section 3.5 says 1 (errata).

    >>> Chebyshev().items(0.02, 0.05)
    12500
    """

    assumes: ClassVar[str] = "uncorrelated items with a known bound on their variance"
    variance: float = 0.25  # errata

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

    Theorem 2, for the mean. Items of unequal widths: pass their root mean square. With
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
        return self.sides * np.exp(-2 * n * (t / self.width) ** 2)  # Theorem 2

    def _radius(self, n: Floats, alpha: Floats) -> Floats:
        return self.width * np.sqrt(np.log(self.sides / alpha) / (2 * n))


@dataclass(frozen=True, kw_only=True)
class McDiarmid(TailBound):
    r"""Any statistic of n independent items that moves by at most :math:`c/n` when one of them is
    changed.

    .. math:: P(|f - E f| \ge t) \le 2 \exp\Bigl(-\frac{2 t^2}{\sum_i c_i^2}\Bigr) = 2 \exp(-2 n t^2/c^2)
              \quad\text{with every } c_i = c/n

    Theorem 3, whose printed event lacks "≥ a" (errata). Unequal :math:`c_i`: pass
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
        return self._of_the_mean()._tail(t, n)  # Theorem 3

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

    The optimised form of the recipe of Theorem 1 (which stops at :math:`\exp(-a^2/2n)`;
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
        return np.where(reachable, np.exp(-n * rate), 0.0)  # Theorem 1, optimised

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


def kl_bernoulli(p: npt.ArrayLike, q: npt.ArrayLike) -> Floats:
    """Return the Kullback-Leibler divergence between coins that show heads with probability *p* and
    *q*.

    >>> round(float(kl_bernoulli(0.6, 0.5)), 6)
    0.020136
    """
    closed_unit(p=p, q=q)
    a, b = np.asarray(p, dtype=float), np.asarray(q, dtype=float)
    return np.asarray(special.rel_entr(a, b) + special.rel_entr(1 - a, 1 - b))


# Section 3.5: sample sizes both ways, for one model and, by the union bound, for k.


def union_radius(n: int, models: int, *, width: float = 1.0, alpha: float = 0.05) -> float:
    r"""Return how far any of *k* empirical risks may lie from its risk, at once:
    :math:`w\sqrt{\ln(2k/α)/(2n)}`.

    Section 3.5: :math:`P\{\exists f: |R_S[f] - R[f]| \ge t/\sqrt n\} \le 2k\,e^{-2t^2}`, for scores in
    a range of this *width*. With one model and t = 2 the chapter's :math:`2/\sqrt n`.

    >>> round(union_radius(10_000, 1), 4), round(union_radius(10_000, 100), 4)
    (0.0136, 0.0204)
    """
    whole(1, models=models)
    open_unit(alpha=alpha)
    return float(Hoeffding(width=width).radius(n, alpha / models))


def union_items(difference: float, models: int, *, alpha: float = 0.05) -> int:
    r"""Return the items at which *k* scores are all within ε/2 of the truth: :math:`n = 2
    \ln(2k/α)/ε^2`.

    Section 3.5 with :math:`t/\sqrt n = ε/2`. Certain under nothing but independent items in [0, 1],
    and far more than is needed: see :func:`~tallystick.stats.power.leaderboard_items`.

    >>> union_items(0.02, 30)
    35451
    """
    whole(1, models=models)
    open_unit(alpha=alpha, difference=difference)
    return Hoeffding().items(difference / 2, alpha / models)


def zero_failure_items(rate: float, *, alpha: float = 0.05, population: int | None = None) -> int:
    r"""Return how many clean items prove that fewer than a share *rate* fail: the exception, 1/ε.

    .. math:: (1 - x)^n \le α \iff n \ge \ln α / \ln(1 - x) \approx 3/x \ (α = .05), \qquad
              \binom{M - K}{n} \Big/ \binom{M}{n} \le α,\ K = \lceil xM \rceil

    with replacement, and without from a *population* of M items. Exact. Sections 3.2 and 3.5: a
    perfect predictor is told from one that fails on a share ε by :math:`O(1/ε)` items, because a
    single failure settles it.

    >>> zero_failure_items(0.01), zero_failure_items(0.01, population=1000)
    (299, 258)
    """
    open_unit(rate=rate, alpha=alpha)
    if population is None:
        return smallest(lambda n: n * log1p(-rate) <= log(alpha))
    whole(1, population=population)
    failing = ceil(round(rate * population, 9))  # 0.07 * 100 is 7.000000000000001

    def unlikely(n: int) -> bool:
        if n > population - failing:
            return True
        # the ratio of binomials is symmetric in n and K: multiply over the fewer
        few, many = sorted((n, failing))
        return float(np.log1p(-many / (population - np.arange(few))).sum()) <= log(alpha)

    return smallest(unlikely)


def trade_off_figure(
    *,
    models: Sequence[int] = (2, 10, 100, 1000),
    disagreement: float = 0.1,
    alpha: float = 0.05,
    power: float = 0.8,
) -> Figure:
    r"""Draw items against the difference they show, for several numbers of models: section 3.5.

    Quadratic in :math:`1/ε`, logarithmic in k, by Hoeffding and the union bound and by paired tests
    of all pairs.

    >>> figure = trade_off_figure(models=(2, 100))
    >>> len(figure.columns["items"]), sorted(set(figure.columns["method"]))[0]
    (32, '100 models, Hoeffding and the union bound')
    """
    gaps = np.geomspace(0.005, min(0.1, 0.99 * disagreement), 8)
    rows = [
        (float(gap), items, f"{k} models, {name}")
        for k in models
        for gap in gaps
        for name, items in (
            ("Hoeffding and the union bound", union_items(float(gap), k, alpha=alpha)),
            (
                "all pairs, paired",
                leaderboard_items(float(gap), k, disagreement, alpha=alpha, power=power),
            ),
        )
    ]
    gap_column, items_column, method = (list(column) for column in zip(*rows, strict=True))
    return Figure(
        kind="curve",
        title=f"Items needed by difference (paired: models that disagree on {disagreement:g})",
        columns={"difference": gap_column, "items": items_column, "method": method},
        roles={"x": "difference", "y": "items", "group": "method"},
    )
