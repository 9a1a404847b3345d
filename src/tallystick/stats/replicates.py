r"""Several runs per item: pass@k and pass^k, for new items and for new runs of these items.

Item i was run :math:`n_i` times and was right :math:`c_i` times. The unbiased item values are

.. math:: \text{pass@}k = 1 - \binom{n - c}{k} \Big/ \binom{n}{k}, \qquad
          \text{pass\^{}}k = \binom{c}{k} \Big/ \binom{n}{k}   \tag{R1}

*New items:* item values are scores in [0, 1]; their mean gets the adverse empirical likelihood.
*These items, new runs:* mean ± z √(ΣV_i)/m over m items, with

.. math:: V_i = \max \mathrm{Var}(\text{item value}) \text{ under } \mathrm{Bin}(n_i, p'), \quad
          p' \in \{p,\; p \pm ½ \sqrt{p(1-p)/n_i}\}, \quad p = (c_i + ½)/(n_i + 1)   \tag{R2}

cut to [0, 1]. docs/theory/compare.md, *Several runs per item*.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError, NotIdentifiable
from tallystick.stats.adverse_binary import PSEUDOS, least_means, normal_bar
from tallystick.stats.exact_tails import open_unit, positive, whole
from tallystick.stats.intervals import Bounds

Floats = npt.NDArray[np.float64]
PassKind = Literal["pass@k", "pass^k"]

FEWEST = 10
"""Items below which new runs of these items get no interval: coverage was measured from here on."""


@dataclass(frozen=True, kw_only=True)
class PassRate:
    """A pass rate, or a difference of two, with its interval.

    Parameters
    ----------
    estimate
        The mean of the item values.
    low, high
        Its interval, approximate.
    items
        m.
    """

    estimate: float
    low: float
    high: float
    items: int


def item_values(
    correct: npt.ArrayLike, runs: npt.ArrayLike, *, k: int, kind: PassKind = "pass@k"
) -> Floats:
    """Return pass@k or pass^k of each item, (R1).

    Parameters
    ----------
    correct, runs
        c and n of each item. An item with fewer than k runs is refused.
    k
        How many attempts.
    kind
        ``pass@k``: at least one of k is right; ``pass^k``: all k are.

    Examples
    --------
    >>> item_values([3], [10], k=5).round(4).tolist()
    [0.9167]
    >>> item_values([3], [10], k=2, kind="pass^k").round(4).tolist()
    [0.0667]
    """
    c, n = _counts(correct, runs, k, kind)
    return _values(c, n, k, kind)


def item_variances(
    correct: npt.ArrayLike, runs: npt.ArrayLike, *, k: int, kind: PassKind = "pass@k"
) -> Floats:
    """Return V of each item, (R2): how much its value would vary over new runs.

    The plain plug-in at p alone covers as little as .82 when one item is hard among easy ones.

    Examples
    --------
    >>> item_variances([0, 3], [10, 10], k=5).round(4).tolist()
    [0.1013, 0.0649]
    """
    c, n = _counts(correct, runs, k, kind)
    p = (c + 0.5) / (n + 1)
    reach = 0.5 * np.sqrt(p * (1 - p) / n)

    found = np.empty(c.size)
    for size in np.unique(n):
        outcomes = np.arange(size + 1.0)
        values = _values(outcomes, np.full(outcomes.size, size), k, kind)
        at = n == size
        rates = np.clip([p[at], p[at] - reach[at], p[at] + reach[at]], 0.0, 1.0)
        mass = _binomial(outcomes, size, rates)
        mean = mass @ values
        found[at] = np.max(np.maximum(mass @ values**2 - mean**2, 0.0), axis=0)  # (R2)
    return found


def new_items(values: npt.ArrayLike, *, alpha: float = 0.05) -> PassRate:
    """Bound the mean item value over new items; scores in [0, 1].

    Parameters
    ----------
    values
        :func:`item_values`, or any score in [0, 1] per item.
    alpha
        One minus the level.

    Examples
    --------
    >>> found = new_items(item_values([0, 3, 10, 5, 1, 8], [10] * 6, k=5))
    >>> round(found.estimate, 4), round(found.low, 4), round(found.high, 4)
    (0.7354, 0.35, 0.9416)
    """
    return _over_new_items(values, (0.0, 1.0), alpha)


def new_items_difference(
    first: npt.ArrayLike, second: npt.ArrayLike, *, alpha: float = 0.05
) -> PassRate:
    """Bound the difference of two models over new items, from item values of the same items.

    Examples
    --------
    >>> d = np.array([0, .5, -.25, 1, 0, .25, .5, 0])
    >>> found = new_items_difference(np.maximum(d, 0), np.maximum(-d, 0))
    >>> round(found.estimate, 4), round(found.low, 4), round(found.high, 4)
    (0.25, -0.1461, 0.5672)
    """
    x, y = (_scores(values, (0.0, 1.0)) for values in (first, second))
    if x.shape != y.shape:
        raise InputError(
            f"first and second must hold the same items, got {x.size} and {y.size} values"
        )
    return _over_new_items(x - y, (-1.0, 1.0), alpha)


def these_items(
    correct: npt.ArrayLike,
    runs: npt.ArrayLike,
    *,
    k: int,
    kind: PassKind = "pass@k",
    alpha: float = 0.05,
) -> PassRate:
    """Bound the pass rate of these items over new runs; at least 10 items.

    Examples
    --------
    >>> found = these_items([0, 1, 3, 5, 4, 2, 5, 5, 3, 4], [5] * 10, k=1)
    >>> round(found.estimate, 3), round(found.low, 3), round(found.high, 3)
    (0.64, 0.518, 0.762)
    """
    values = item_values(correct, runs, k=k, kind=kind)
    variance = item_variances(correct, runs, k=k, kind=kind)
    return _over_new_runs(values, variance, alpha, least=0.0)


def _over_new_runs(values: Floats, variance: Floats, alpha: float, *, least: float) -> PassRate:
    from scipy.special import ndtri

    open_unit(alpha=alpha)
    m = values.size
    if m < FEWEST:
        raise NotIdentifiable(
            f"{m} items are too few for an interval over new runs: that takes at least {FEWEST}"
        )
    mean = float(values.mean())
    half = -float(ndtri(alpha / 2)) * sqrt(float(variance.sum())) / m
    return PassRate(estimate=mean, low=max(mean - half, least), high=min(mean + half, 1.0), items=m)


def _over_new_items(values: npt.ArrayLike, bounds: Bounds, alpha: float) -> PassRate:
    """Return the adverse empirical likelihood of the item values (AL6).

    Each end is that of least likelihood which first sees a fraction of one more value at its worst.
    """
    open_unit(alpha=alpha)
    u, (least, most) = _scores(values, bounds), bounds
    weights, bar = np.ones((1, u.size)), normal_bar(alpha, 1)
    low = least + least_means(u[None] - least, weights, PSEUDOS[bounds], bar)[0]
    high = most - least_means(most - u[None], weights, PSEUDOS[bounds], bar)[0]
    return PassRate(estimate=float(u.mean()), low=float(low), high=float(high), items=u.size)


def _values(c: Floats, n: Floats, k: int, kind: PassKind) -> Floats:
    """(R1) as a product of k ratios, which neither overflows nor loses digits."""
    left = n - c if kind == "pass@k" else c
    product = np.ones(c.size)
    for j in range(k):
        product *= np.maximum(left - j, 0.0) / (n - j)
    return np.asarray(1 - product if kind == "pass@k" else product)


def _binomial(outcomes: Floats, size: float, rates: Floats) -> Floats:
    """Return the probability of each outcome, on a new last axis."""
    from scipy.special import gammaln, xlog1py, xlogy

    ways = gammaln(size + 1) - gammaln(outcomes + 1) - gammaln(size - outcomes + 1)
    p = rates[..., None]
    return np.asarray(np.exp(ways + xlogy(outcomes, p) + xlog1py(size - outcomes, -p)))


def _counts(
    correct: npt.ArrayLike, runs: npt.ArrayLike, k: int, kind: PassKind
) -> tuple[Floats, Floats]:
    whole(0, correct=correct)
    whole(1, runs=runs, k=k)
    if kind not in get_args(PassKind):
        raise InputError(f"kind must be 'pass@k' or 'pass^k', got {kind!r}")
    c = np.atleast_1d(np.asarray(correct, dtype=float))
    n = np.atleast_1d(np.asarray(runs, dtype=float))
    if c.ndim != 1 or c.shape != n.shape or not c.size:
        raise InputError(
            f"correct and runs must be one number per item, got shapes {c.shape} and {n.shape}"
        )
    if np.any(c > n):
        item = int(np.argmax(c > n))
        raise InputError(f"item {item} is right in {c[item]:g} of {n[item]:g} runs")
    if np.any(n < k):
        item = int(np.argmin(n))
        raise InputError(
            f"{kind} needs at least k = {k} runs of every item, item {item} has {n[item]:g}: "
            "lower k, or leave such items out"
        )
    return c, n


def _scores(values: npt.ArrayLike, bounds: tuple[float, float]) -> Floats:
    u = np.asarray(values, dtype=float)
    if u.ndim != 1 or not u.size or not np.all((u >= bounds[0]) & (u <= bounds[1])):
        raise InputError(f"values must be one number in {list(bounds)} per item, got {values!r}")
    return u


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
