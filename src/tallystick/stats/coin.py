r"""The coin problem: the tosses that tell a fair coin from one that shows heads with probability
:math:`(1+ε)/2`.

It is the smallest model of a benchmark, and here it is solved exactly, beside the bounds of [DD]_,
sections 3.2-3.4. An accuracy gap :math:`γ` from one half is :math:`ε = 2γ`; the chapter uses
:math:`ε` for both, so that the ":math:`1/(2ε^2)`" of section 3.5 reads :math:`1/(8γ^2)` for a gap
(errata).

====================================  ===================  ==================
:math:`n ε^2` as :math:`ε \to 0`      TV reaches 1/2       error sum reaches .1
====================================  ===================  ==================
no test can, below (chapter)          0.5
no test can, below (Hellinger)        1.15                 6.64
exact                                 1.82                 10.82
Chernoff allows                                            23.97
====================================  ===================  ==================

Errata to the text: ``docs/theory/differences.md#errata``.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError
from tallystick.stats.binomial import Floats, binomial_above, binomial_up_to
from tallystick.stats.distances import (
    binomial_overlap,
    hellinger_squared_of_product,
    total_variation_from_hellinger,
)
from tallystick.stats.ranges import open_unit, whole
from tallystick.stats.smallest import smallest

__all__ = [
    "chernoff_error",
    "chernoff_tosses",
    "coin_hellinger_squared",
    "hellinger_tosses",
    "mean_test_error",
    "mean_test_tosses",
    "tosses_for_error",
    "tosses_for_total_variation",
]


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
