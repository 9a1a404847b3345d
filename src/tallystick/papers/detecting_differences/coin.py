r"""The coin problem of [DD]_, sections 3.2 to 3.4: tell a fair coin P from a coin Q that shows
heads with probability :math:`(1+ε)/2`.

It is the smallest model of a benchmark, and here it is solved exactly, beside the bounds.

====================================  ===================  ====================
:math:`n ε^2` as :math:`ε \to 0`      TV reaches 1/2       error sum reaches .1
====================================  ===================  ====================
no test can, below (Claim 1)          0.5
no test can, below (Hellinger)        1.15                 6.64
exact                                 1.82                 10.82
Chernoff allows                                            23.97
====================================  ===================  ====================

An accuracy gap :math:`γ` from one half is :math:`ε = 2γ`. The chapter uses ε for both (errata:
``docs/papers/detecting_differences.md#errata``).
"""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt
from scipy import special

from tallystick.errors import InputError
from tallystick.results import Figure
from tallystick.stats.exact_tails import (
    Floats,
    binomial_above,
    binomial_up_to,
    binomial_window,
    closed_unit,
    open_unit,
    smallest,
    whole,
)

# Sections 3.2 and 3.3: the test of the mean.


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


# Section 3.4: total variation is what a test can achieve, Hellinger is what multiplies over draws,
# and
#
# .. math:: H^2 \le \mathrm{TV} \le \sqrt{H^2 (2 - H^2)} \le \sqrt 2\, H   \tag{D1}
#
# takes one to the other.


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


# Section 3.4 for the coin: Claim 1, and how many tosses no test can do without.


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


def claim_1_tosses(epsilon: float) -> int:
    r"""Return the tosses up to which Claim 1 excludes a total variation above 1/2:
    :math:`1/(2ε^2)`.

    The chapter's three roundings: :math:`H^2 \le ε^2/4`, :math:`H_n^2 \le n H^2 \le 1/8` (section
    3.4 says "Hellinger distance", the square is meant) and :math:`\mathrm{TV} \le \sqrt2 H`.
    Section 3.5 says :math:`1/(2ε^2)` for a gap ε as well; a gap γ is :math:`ε = 2γ`, so
    :math:`1/(8γ^2)` (errata).

    >>> claim_1_tosses(0.1), hellinger_tosses(0.1), tosses_for_total_variation(0.1)
    (50, 115, 182)
    """
    return int(1 / (2 * float(_bias(epsilon)) ** 2) + 1e-9)  # 1e-9 is for 50 - ulp


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


def coin_figure(n: int, p: float = 0.5, q: float = 0.51) -> Figure:
    """Draw the number of heads in *n* tosses of two coins: Figure 3.1 of [DD]_, with how far apart
    they are.

    >>> coin_figure(1000).title, coin_figure(10_000).title
    ('1,000 tosses of coins 0.5 and 0.51: TV = 0.25', '10,000 tosses of coins 0.5 and 0.51: TV = 0.68')
    """
    whole(1, n=n)
    closed_unit(p=p, q=q)
    heads: list[float] = []
    mass: list[float] = []
    coin: list[str] = []
    for rate in (p, q):
        count, probability = binomial_window(n, rate)
        seen = probability > 0.02 * probability.max()
        heads += count[seen].tolist()
        mass += probability[seen].tolist()
        coin += [f"coin {rate:g}"] * int(seen.sum())
    apart = float(binomial_total_variation(n, p, q))
    return Figure(
        kind="curve",
        title=f"{n:,} tosses of coins {p:g} and {q:g}: TV = {apart:.2f}",
        columns={"heads": heads, "probability": mass, "coin": coin},
        roles={"x": "heads", "y": "probability", "group": "coin"},
    )


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


def _bias(epsilon: npt.ArrayLike) -> Floats:
    bias = np.asarray(epsilon, dtype=float)
    if not np.all((bias > 0) & (bias <= 1)):
        raise InputError(f"epsilon must be in (0, 1], got {epsilon!r}")
    return bias
