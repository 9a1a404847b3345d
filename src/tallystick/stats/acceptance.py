r"""How many items does a *rate* need: to rule out failures, to accept a limit, to reach a width.

The exception to the :math:`1/ε^2` law: a perfect predictor is told from one that fails on a share ε
with about :math:`1/ε` items ([DD]_, sections 3.2 and 3.5), because a single failure settles it.

Errata to the text: ``docs/theory/differences.md#errata``.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log, log1p, sqrt

import numpy as np
from scipy import special

from tallystick.errors import InputError
from tallystick.stats.binomial import binomial_up_to
from tallystick.stats.ranges import open_unit, whole
from tallystick.stats.smallest import smallest

__all__ = ["Acceptance", "acceptance_plan", "interval_items", "zero_failure_items"]


@dataclass(frozen=True, slots=True)
class Acceptance:
    """Try *items* of them and accept if at most *failures* fail."""

    items: int
    failures: int


def zero_failure_items(rate: float, *, alpha: float = 0.05, population: int | None = None) -> int:
    r"""Return how many clean items prove that fewer than a share *rate* fail.

    .. math:: (1 - x)^n \le α \iff n \ge \ln α / \ln(1 - x) \approx 3/x \ (α = .05), \qquad
              \binom{M - K}{n} \Big/ \binom{M}{n} \le α,\ K = \lceil xM \rceil

    with replacement, and without from a *population* of M items. Exact.

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


def acceptance_plan(
    limit: float, rate: float = 0.0, *, alpha: float = 0.05, power: float = 0.8
) -> Acceptance:
    r"""Return the smallest trial that proves a failure rate below *limit* when it truly is *rate*.

    The smallest c, and its smallest n, with

    .. math:: P(\mathrm{Bin}(n, \text{limit}) \le c) \le α \quad\text{and}\quad
              P(\mathrm{Bin}(n, \text{rate}) \le c) \ge \text{power} .

    Exact. With rate 0 it is :func:`zero_failure_items`.

    >>> acceptance_plan(0.05, 0.01)
    Acceptance(items=124, failures=2)
    """
    open_unit(limit=limit, alpha=alpha, power=power)
    if not 0 <= rate < limit:
        raise InputError(
            f"rate must be in [0, limit = {limit!r}), got {rate!r}: a rate at the limit cannot be"
            " accepted"
        )

    def trial(failures: int) -> int:
        return smallest(
            lambda n: bool(binomial_up_to(failures, n, limit) <= alpha), start=failures + 1
        )

    failures = smallest(lambda c: bool(binomial_up_to(c, trial(c), rate) >= power), start=0)
    return Acceptance(trial(failures), failures)


def interval_items(
    half_width: float, *, rate: float = 0.5, alpha: float = 0.05, population: int | None = None
) -> int:
    r"""Return the labels at which a Wilson interval for *rate* is no wider than ± *half_width*.

    .. math:: h(n) = \frac{z}{1 + z^2/n} \sqrt{\frac{p(1-p)}{n} + \frac{z^2}{4n^2}}

    From a *population* of M items, drawn without replacement, n labels count as :math:`n
    (M-1)/(M-n)`. Approximate, as Wilson's interval is;
    :class:`~tallystick.stats.concentration.Hoeffding` gives the certified number.

    >>> interval_items(0.05), interval_items(0.05, rate=0.9), interval_items(0.05, population=500)
    (381, 141, 217)
    """
    open_unit(half_width=half_width, rate=rate, alpha=alpha)
    if population is not None:
        whole(2, population=population)
    z = float(-special.ndtri(alpha / 2))

    def narrow(n: int) -> bool:
        if population is not None and n >= population:
            return True
        size = n if population is None else n * (population - 1) / (population - n)
        return (
            z / (1 + z * z / size) * sqrt(rate * (1 - rate) / size + (z / (2 * size)) ** 2)
            <= half_width
        )

    return smallest(narrow)
