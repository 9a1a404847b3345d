r"""How many items does a comparison need, and what can be told apart with those at hand.

Two models on the *same* items that disagree on a share :math:`d` of them need about

.. math:: n \approx (z_{1-α/2} + z_{power})^2\, d/ε^2 = 7.85\, d/ε^2 \qquad (α = .05,\ \text{power } .8)   \tag{P1}

items to show a difference :math:`ε`: from about :math:`1/ε` (one dominates, :math:`d = ε`) to
:math:`1/ε^2`. Section 3.1 of [DD]_ calls two independent coins near one half "the hardest case so
that we really don't give up anything"; for models on the same items it gives up a factor of 4 to 20
(errata).

Errata to the text: ``docs/papers/detecting_differences.md#errata``.
"""

from __future__ import annotations

from math import ceil, sqrt

import numpy as np
from scipy import special

from tallystick.errors import InputError, NotIdentifiable
from tallystick.stats.clusters import ADVERSE
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
from tallystick.stats.two_accuracies import LISTED, unconditional_test


def exact_paired_power(
    n: int,
    difference: float,
    disagreement: float,
    *,
    alpha: float = 0.05,
    certified: bool = False,
) -> float:
    r"""Return the exact power on *n* items of the test that
    :func:`~tallystick.stats.two_accuracies.paired_test` runs.

    The disagreements are :math:`M \sim \mathrm{Bin}(n, d)`; given :math:`M = m` the test rejects if
    the smaller count is at most :math:`k_m`. With :math:`π = \tfrac12 (1 + ε/d)`,

    .. math:: \text{power} = \sum_m P(M = m)\,
              \bigl[P(\mathrm{Bin}(m, π) \le k_m) + P(\mathrm{Bin}(m, 1-π) \le k_m)\bigr] .

    >>> exact = [exact_paired_power(n, 0.02, 0.02, certified=True) for n in (393, 394)]
    >>> exact[1] >= 0.8 > exact[0]
    True
    """
    whole(1, n=n)
    open_unit(alpha=alpha)
    e, d = _pair(difference, disagreement)
    m, weight = binomial_window(n, d)
    if n <= LISTED and not certified:
        told = unconditional_test(n)[m.astype(int)] <= alpha
        k = told.sum(axis=1) - 1.0  # fewer wins on one side are more extreme
    else:
        k = _sign_test_cut(m, alpha)
        if not certified:
            # A mid-p value lets in at most one outcome more than the exact test.
            wider = binomial_up_to(k, m, 0.5) + binomial_up_to(k + 1, m, 0.5)
            k = k + ((wider <= alpha) & (2 * m <= n) & (2 * (k + 1) < m))
    lean = (1 + e / d) / 2
    return float(np.sum(weight * (binomial_up_to(k, m, lean) + binomial_up_to(k, m, 1 - lean))))


def exact_paired_items(
    difference: float,
    disagreement: float,
    *,
    alpha: float = 0.05,
    power: float = 0.8,
    certified: bool = False,
) -> int:
    """Return the items from which on McNemar's test keeps this power; *certified*: the exact one.

    A test on whole counts gains and loses a little as n grows (visibly only when the models
    disagree nearly everywhere), so the answer is the n after which no later one in sight falls
    below the power.

    >>> exact_paired_items(0.02, 0.1), exact_paired_items(0.02, 0.1, certified=True)
    (1949, 2043)
    """
    open_unit(power=power)

    def enough(n: int) -> bool:
        pair = (difference, disagreement)
        return exact_paired_power(n, *pair, alpha=alpha, certified=certified) >= power

    n = smallest(enough)
    while short := [later for later in range(n, n + 32) if not enough(later)]:
        n = short[-1] + 1
    return n


def detectable_difference(
    n: int, disagreement: float, *, models: int = 2, alpha: float = 0.05, power: float = 0.8
) -> float:
    r"""Return the difference that *n* paired items show with this power: (P2) solved for ε.

    .. math:: ε = \sqrt d\, \frac{z_a \sqrt n + z_b \sqrt{n + z_b^2 - z_a^2}}{n + z_b^2}

    With more than two *models*, all pairs of which are tested, :func:`range_critical` takes the
    place of :math:`z_a`. No difference can exceed the disagreement; if ε would, n is too small for
    any and that is said.

    >>> round(detectable_difference(1960, 0.1), 4), round(detectable_difference(5264, 0.1, models=30), 4)
    (0.02, 0.02)
    >>> detectable_difference(20, 0.1)
    Traceback (most recent call last):
    tallystick.errors.NotIdentifiable: 20 items at disagreement 0.1 show no difference with power 0.8: use at least 77
    """
    whole(1, n=n)
    open_unit(power=power)
    positive(disagreement=disagreement)
    closed_unit(disagreement=disagreement)
    za, zb = range_critical(models, alpha), _quantile(power)
    inside = n + zb**2 - za**2
    e = (
        sqrt(disagreement) * (za * sqrt(n) + zb * sqrt(inside)) / (n + zb**2)
        if inside >= 0
        else 1.0
    )
    if e > disagreement:
        least = leaderboard_items(disagreement, models, disagreement, alpha=alpha, power=power)
        raise NotIdentifiable(
            f"{n} items at disagreement {disagreement:g} show no difference with power {power:g}:"
            f" use at least {least}"
        )
    return e


def leaderboard_items(
    difference: float, models: int, disagreement: float, *, alpha: float = 0.05, power: float = 0.8
) -> int:
    r"""Return the items at which a pair among *k* models is told apart although all pairs are
    tested, by the normal approximation to McNemar's test.

    .. math:: n = \bigl(z_{1-α/2} \sqrt{d} + z_{power} \sqrt{d - ε^2}\bigr)^2 / ε^2   \tag{P2}

    for two models that disagree on the share d of items and differ by ε. For more,
    :func:`range_critical` takes the place of :math:`z_{1-α/2}`: the critical value of the
    largest of all :math:`k(k-1)/2` statistics when the models are exchangeable. Its square grows
    with the logarithm of k, and so do the items, as [DD]_ section 3.5 says, at the paired price.

    >>> leaderboard_items(0.02, 2, 0.02), leaderboard_items(0.02, 2, 0.1)
    (391, 1960)
    >>> leaderboard_items(0.02, 30, 0.1)
    5264
    """
    e, d = _pair(difference, disagreement)
    return _items_at(range_critical(models, alpha), e, d, power)


def range_critical(models: int, alpha: float = 0.05) -> float:
    r"""Return the critical value of :math:`\max_{i<j} |Z_i - Z_j|/\sqrt2` over *k* independent
    normal variables.

    The range :math:`R` of k standard normal variables has

    .. math:: P(R \le r) = k \int φ(z)\,\bigl[Φ(z) - Φ(z - r)\bigr]^{k-1} dz ,

    Tukey's studentised range with known variance. For two models it is the usual :math:`z_{1-α/2}`.

    >>> round(range_critical(2), 4), round(range_critical(30), 3), round(range_critical(200), 3)
    (1.96, 3.749, 4.593)
    """
    whole(2, models=models)
    open_unit(alpha=alpha)
    z, step = np.linspace(-10.0, 10.0, 4001, retstep=True)
    density = np.exp(-z * z / 2) / sqrt(2 * np.pi)

    def inside(r: float) -> float:
        # The trapezoid rule is spectrally accurate for a smooth integrand that vanishes at both
        # ends.
        spans = special.ndtr(z) - special.ndtr(z - r)
        return float(step) * models * float(np.sum(density * spans ** (models - 1)))

    low, high = 0.0, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if inside(middle) >= 1 - alpha else (middle, high)
    return high / sqrt(2)


def t_power(
    n: int,
    difference: float,
    spread: float,
    *,
    alpha: float = 0.05,
    width: float = 0.0,
) -> float:
    r"""Return the power of the paired t test on *n* rows whose differences have the standard
    deviation *spread*.

    Student's T has the noncentral law with :math:`δ\sqrt n/σ`. With a pseudo-item (*width* above 0,
    as in `stats.intervals.pseudo_t`) the mean must reach

    .. math:: m^* = q \sqrt{\frac{(n+1)\,((n-1) σ^2 + w^2)}{n (n^2 - q^2)}} .

    >>> round(t_power(34, 0.5, 1.0), 3), round(t_power(34, 0.5, 1.0, width=2.0), 3)
    (0.808, 0.773)
    """
    whole(2, n=n)
    open_unit(alpha=alpha)
    positive(difference=difference, spread=spread)
    reach, root = float(special.stdtrit(n - 1, 1 - alpha / 2)), sqrt(n)
    if width:
        if reach >= n:
            return 0.0
        squares = (n - 1) * spread**2 + width**2
        reach *= sqrt((n + 1) * squares / (n * (n * n - reach * reach))) * root / spread
    return _noncentral_above(n - 1, difference / spread * root, reach)


def t_items(
    difference: float,
    spread: float,
    *,
    models: int = 2,
    alpha: float = 0.05,
    power: float = 0.8,
    width: float = 0.0,
) -> int:
    """Return the rows at which `t_power` reaches *power*; of more models, with all pairs tested.

    >>> t_items(0.5, 1.0), t_items(0.5, 1.0, models=10)
    (34, 70)
    """
    open_unit(power=power)
    level = pair_level(models, alpha)
    return smallest(
        lambda n: t_power(n, difference, spread, alpha=level, width=width) >= power, start=2
    )


def cluster_power(
    clusters: int, difference: float, spread: float, *, width: float = 1.0, alpha: float = 0.05
) -> float:
    r"""Return about the power of the sign-flip test on new clusters, whose differences have the
    standard deviation *spread*.

    Over the subsets P of (K1), :math:`\sum_P d` is nearly normal around S/2 with variance Q/4, for
    :math:`S = \sum d` and :math:`Q = \sum d^2`. So with :math:`u = S/\sqrt Q` the test asks for

    .. math:: Φ(2v/\sqrt Q - u) + Φ(-u) \le α, \qquad
              t = u \sqrt{\frac{G - 1}{G - u^2}} \text{ noncentral with } δ \sqrt G/σ.

    >>> round(cluster_power(30, 0.1, 0.15), 2)
    0.92
    """
    whole(2, clusters=clusters)
    open_unit(alpha=alpha)
    positive(difference=difference, spread=spread)
    adverse = 2 * ADVERSE * width / sqrt(clusters * (spread**2 + difference**2))
    u = np.linspace(0.0, 20.0 + adverse, 8001)
    told = special.ndtr(adverse - u) + special.ndtr(-u) <= alpha
    least = float(u[np.argmax(told)])
    if least**2 >= clusters:
        return 0.0
    reach = least * sqrt((clusters - 1) / (clusters - least**2))
    return _noncentral_above(clusters - 1, difference / spread * sqrt(clusters), reach)


def _noncentral_above(freedom: int, noncentrality: float, reach: float) -> float:
    """Return the probability that a noncentral t exceeds *reach*."""
    if noncentrality > 30:  # its numerator hardly varies then, and the law has no digits left
        return float(special.chdtr(freedom, freedom * (noncentrality / reach) ** 2))
    return 1.0 - float(special.nctdtr(freedom, noncentrality, reach))


def cluster_items(
    difference: float,
    spread: float,
    *,
    models: int = 2,
    width: float = 1.0,
    alpha: float = 0.05,
    power: float = 0.8,
) -> int:
    """Return the clusters at which `cluster_power` reaches *power*.

    >>> cluster_items(0.1, 0.15)
    23
    """
    positive(difference=difference, spread=spread)
    level = pair_level(models, alpha)
    return smallest(
        lambda g: cluster_power(g, difference, spread, width=width, alpha=level) >= power, start=6
    )


def pair_level(models: int, alpha: float) -> float:
    """Return the level at which one pair is tested, when all pairs of *models* are:
    `range_critical` as a p-value.
    """
    return alpha if models == 2 else float(2 * special.ndtr(-range_critical(models, alpha)))


def _items_at(critical: float, e: float, d: float, power: float) -> int:
    open_unit(power=power)
    return ceil((critical * sqrt(d) + _quantile(power) * sqrt(d - e * e)) ** 2 / e**2)  # (P2)


def _sign_test_cut(m: Floats, alpha: float) -> Floats:
    """Return the largest k with 2 P(Bin(m, ½) <= k) <= alpha, -1 if there is none, for every m."""
    # the normal guess is never lower than this
    k = np.floor(m / 2 + special.ndtri(alpha / 2) * np.sqrt(m) / 2) + 2
    while np.any(over := (k >= 0) & (binomial_up_to(k, m, 0.5) > alpha / 2)):
        k = k - over
    return np.asarray(np.maximum(k, -1.0))


def _pair(difference: float, disagreement: float) -> tuple[float, float]:
    positive(difference=difference)
    closed_unit(disagreement=disagreement)
    if difference > disagreement:
        raise InputError(
            f"difference must be at most the disagreement, got {difference!r} > {disagreement!r}: "
            "two models cannot differ by more than the share of items on which they differ"
        )
    return float(difference), float(disagreement)


def _quantile(power: float) -> float:
    return float(special.ndtri(power))
