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

from dataclasses import dataclass
from math import ceil, inf, sqrt

import numpy as np
import numpy.typing as npt
from scipy import special

from tallystick.errors import InputError, NotIdentifiable
from tallystick.stats.exact_tails import Floats as BinomialFloats
from tallystick.stats.exact_tails import (
    binomial_up_to,
    binomial_window,
    closed_unit,
    open_unit,
    positive,
    smallest,
    whole,
)


def paired_items(
    difference: float, disagreement: float, *, alpha: float = 0.05, power: float = 0.8
) -> int:
    r"""Return the items that two models on the same items need, by the normal approximation to
    McNemar's test.

    .. math:: n = \bigl(z_{1-α/2} \sqrt{d} + z_{power} \sqrt{d - ε^2}\bigr)^2 / ε^2   \tag{P2}

    Parameters
    ----------
    difference
        The difference ε in accuracy that is to be shown.
    disagreement
        The share d of items on which exactly one of the two is right; at least ε.
    alpha, power
        Two-sided level, and the probability of success at this difference.

    Examples
    --------
    >>> paired_items(0.02, 0.02), paired_items(0.02, 0.1), unpaired_items(0.02, 0.7)
    (391, 1960, 8241)
    """
    e, d = _pair(difference, disagreement)
    return _items_at(_z(alpha), e, d, power)


def exact_paired_power(
    n: int,
    difference: float,
    disagreement: float,
    *,
    alpha: float = 0.05,
    certified: bool = False,
) -> float:
    r"""Return the exact power of McNemar's test on *n* items, as
    :func:`~tallystick.stats.two_accuracies.paired_test` runs it.

    The disagreements are :math:`M \sim \mathrm{Bin}(n, d)`; given :math:`M = m` the test rejects if
    the smaller count is at most :math:`k_m`, the largest k with :math:`2 P(\mathrm{Bin}(m, ½) \le
    k) \le α`. With :math:`π = \tfrac12 (1 + ε/d)`,

    .. math:: \text{power} = \sum_m P(M = m)\,
              \bigl[P(\mathrm{Bin}(m, π) \le k_m) + P(\mathrm{Bin}(m, 1-π) \le k_m)\bigr] .

    With mid-p values, :math:`k_m` counts the outcome itself by half.

    >>> exact = [exact_paired_power(n, 0.02, 0.02, certified=True) for n in (393, 394)]
    >>> exact[1] >= 0.8 > exact[0]
    True
    """
    whole(1, n=n)
    open_unit(alpha=alpha)
    e, d = _pair(difference, disagreement)
    m, weight = binomial_window(n, d)
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
        found = exact_paired_power(n, difference, disagreement, alpha=alpha, certified=certified)
        return found >= power

    n = smallest(enough)
    while short := [later for later in range(n, n + 32) if not enough(later)]:
        n = short[-1] + 1
    return n


def unpaired_items(
    difference: float, mean: float, *, alpha: float = 0.05, power: float = 0.8
) -> int:
    r"""Return the items *for each model* when each is tried on items of its own.

    With accuracies :math:`p ± ε/2` around the *mean* p:
    :math:`n = (z_{1-α/2}\sqrt{2p(1-p)} + z_{power}\sqrt{p_1(1-p_1) + p_2(1-p_2)})^2/ε^2`.

    >>> unpaired_items(0.02, 0.7)
    8241
    """
    open_unit(difference=difference, mean=mean, power=power)
    low, high = mean - difference / 2, mean + difference / 2
    closed_unit(**{"mean - difference/2": low, "mean + difference/2": high})
    null, spread = 2 * mean * (1 - mean), low * (1 - low) + high * (1 - high)
    return ceil((_z(alpha) * sqrt(null) + _quantile(power) * sqrt(spread)) ** 2 / difference**2)


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
    tested.

    (P2) with :func:`range_critical` in the place of :math:`z_{1-α/2}`: the critical value of the
    largest of all :math:`k(k-1)/2` statistics when the models are exchangeable. Its square grows
    with the logarithm of k, and so do the items, as [DD]_ section 3.5 says, at the paired price.

    >>> leaderboard_items(0.02, 2, 0.1) == paired_items(0.02, 0.1)
    True
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


def _items_at(critical: float, e: float, d: float, power: float) -> int:
    open_unit(power=power)
    return ceil((critical * sqrt(d) + _quantile(power) * sqrt(d - e * e)) ** 2 / e**2)  # (P2)


def _sign_test_cut(m: BinomialFloats, alpha: float) -> BinomialFloats:
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


def _z(alpha: float) -> float:
    open_unit(alpha=alpha)
    return float(-special.ndtri(alpha / 2))


def _quantile(power: float) -> float:
    return float(special.ndtri(power))


# More items or more runs per item: what the next money should buy, for pass@1.
#
# .. math::
#
#    σ_w^2 = \text{mean of } \frac{c (n - c)}{n (n - 1)}, \qquad
#    σ_b^2 = \max(0, \text{variance of item values} - \text{mean of } σ_w^2/n), \qquad
#    V = (σ_b^2 + σ_w^2/r)/m   \tag{R3}
#
# .. math:: r^* = \max\Bigl(1, \sqrt{\frac{\text{price of item}}{\text{price of run}} \cdot
#           \frac{σ_w^2}{σ_b^2}}\Bigr)   \tag{R4}
#
# docs/theory/compare.md, *Several runs per item*. If items are free, buy items: at equal runs r = 2
# has 1.23-1.76 times the variance of r = 1.


Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class VarianceParts:
    """How much a score varies within items (over runs) and between them.

    Parameters
    ----------
    within, between
        σ²_w and σ²_b of (R3); for a pair both models' σ²_w are added.
    items
        m.
    """

    within: float
    between: float
    items: int

    @property
    def floor(self) -> float:
        """The variance that no number of runs of these items can go below, σ²_b/m."""
        return self.between / self.items

    def variance(self, *, items: int, runs: float) -> float:
        """Return V of (R3) for *items* with *runs* each."""
        whole(1, items=items)
        positive(runs=runs)
        return (self.between + self.within / runs) / items


def variance_parts(
    correct: npt.ArrayLike,
    runs: npt.ArrayLike,
    *,
    against: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
) -> VarianceParts:
    """Split the variance of pass@1 into runs and items; every item needs at least two runs.

    Parameters
    ----------
    correct, runs
        c and n of each item.
    against
        (correct, runs) of a second model on the same items: then the parts are those of the
        difference.

    Examples
    --------
    >>> parts = variance_parts([0, 1, 3, 5, 4, 2, 5, 5], [5] * 8)
    >>> round(parts.within, 4), round(parts.between, 4)
    (0.125, 0.1286)
    """
    values, within, share = _model(correct, runs)
    if against is not None:
        other, other_within, other_share = _model(*against)
        if other.size != values.size:
            raise InputError(f"against must hold the same {values.size} items, got {other.size}")
        values, within, share = values - other, within + other_within, share + other_share
    between = max(0.0, float(np.var(values, ddof=1)) - share)  # (R3)
    return VarianceParts(within=within, between=between, items=values.size)


def runs_per_item(parts: VarianceParts, *, item_price: float, run_price: float) -> float:
    """Return the runs per item r* that buy the most, (R4); infinite means "buy runs only".

    Parameters
    ----------
    parts
        From a pilot.
    item_price
        What a further item costs before it is run: writing it, labelling it.
    run_price
        What one run costs.

    Examples
    --------
    >>> parts = variance_parts([0, 1, 3, 5, 4, 2, 5, 5], [5] * 8)
    >>> round(runs_per_item(parts, item_price=4, run_price=1), 2)
    1.97
    """
    positive(item_price=item_price, run_price=run_price)
    if parts.between <= 0:
        return inf if parts.within > 0 else 1.0
    return max(1.0, sqrt(item_price / run_price * parts.within / parts.between))  # (R4)


def _model(correct: npt.ArrayLike, runs: npt.ArrayLike) -> tuple[Floats, float, float]:
    """Return the item values, σ²_w, and what runs add to the variance of item values."""
    whole(0, correct=correct)
    whole(1, runs=runs)
    c, n = (np.atleast_1d(np.asarray(part, dtype=float)) for part in (correct, runs))
    if c.ndim != 1 or c.shape != n.shape or c.size < 2 or np.any(c > n):
        raise InputError(
            "correct and runs must be one number per item, at least two items, correct at most "
            f"runs, got shapes {c.shape} and {n.shape}"
        )
    if np.any(n < 2):
        item = int(np.argmin(n))
        raise InputError(
            f"item {item} has one run: at least two runs of every item show how much runs vary"
        )
    own = c * (n - c) / (n * (n - 1))
    # Item by item, so that the split stays unbiased where hard items were run more often.
    return c / n, float(own.mean()), float(np.mean(own / n))
