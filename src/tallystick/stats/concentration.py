r"""How far can a mean stray? Six inequalities behind one small interface.

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
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError
from tallystick.stats.binomial import Floats
from tallystick.stats.distances import kl_bernoulli
from tallystick.stats.ranges import open_unit, positive, whole
from tallystick.stats.smallest import smallest

__all__ = ["Bernstein", "Chebyshev", "Chernoff", "Hoeffding", "Markov", "McDiarmid", "TailBound"]


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
