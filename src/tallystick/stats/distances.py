r"""How far apart two distributions are: total variation, Hellinger, Kullback-Leibler, and their
rules for many draws.

Total variation is what a test can achieve, Hellinger is what multiplies over independent draws; the
sandwich

.. math:: H^2 \le \mathrm{TV} \le \sqrt{H^2 (2 - H^2)} \le \sqrt 2\, H   \tag{D1}

takes one to the other. ``hellinger_squared`` and ``hellinger`` are named apart on purpose: section
3.4 of [DD]_ says "Hellinger distance at most 1/8" where the square is meant (errata).

Errata to the text: ``docs/theory/differences.md#errata``.
"""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt
from scipy import special

from tallystick.errors import InputError
from tallystick.stats.binomial import Floats, binomial_above, binomial_up_to
from tallystick.stats.ranges import closed_unit, whole

__all__ = [
    "binomial_overlap",
    "binomial_total_variation",
    "hellinger",
    "hellinger_squared",
    "hellinger_squared_of_product",
    "kl",
    "kl_bernoulli",
    "total_variation",
    "total_variation_from_hellinger",
    "total_variation_of_power",
]

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
