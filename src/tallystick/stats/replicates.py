r"""Several runs per item: pass@k and pass^k, for new items and for new runs of these items.

Item i was run :math:`n_i` times and was right :math:`c_i` times. The unbiased item values are

.. math:: \text{pass@}k = 1 - \binom{n - c}{k} \Big/ \binom{n}{k}, \qquad
          \text{pass\^{}}k = \binom{c}{k} \Big/ \binom{n}{k}   \tag{R1}

*New items:* item values are scores in [0, 1], which the estimator of few labels takes as all known.
*These items, new runs:* mean ± z √(ΣV_i)/m over m items, with

.. math:: V_i = \max \mathrm{Var}(\text{item value}) \text{ under } \mathrm{Bin}(n_i, p'), \quad
          p' \in \{p,\; p \pm ½ \sqrt{p(1-p)/n_i}\}, \quad p = (c_i + ½)/(n_i + 1)   \tag{R2}

cut to [0, 1]. docs/theory/compare.md, *Several runs per item*.
"""

from __future__ import annotations

from math import sqrt
from typing import Literal

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError, NotIdentifiable
from tallystick.results import Interval
from tallystick.stats.exact_tails import open_unit, whole
from tallystick.stats.intervals import as_counts

Floats = npt.NDArray[np.float64]
PassKind = Literal["pass@k", "pass^k"]

FEWEST = 10
"""Items below which new runs of these items get no interval: coverage was measured from here on."""


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


def these_items(
    correct: npt.ArrayLike,
    runs: npt.ArrayLike,
    *,
    k: int,
    kind: PassKind = "pass@k",
    alpha: float = 0.05,
) -> Interval:
    """Bound the pass rate of these items over new runs; at least 10 items.

    Examples
    --------
    >>> print(these_items([0, 1, 3, 5, 4, 2, 5, 5, 3, 4], [5] * 10, k=1))
    [0.518, 0.762] (95%, approximate)
    """
    from scipy.special import ndtri

    open_unit(alpha=alpha)
    values = item_values(correct, runs, k=k, kind=kind)
    if values.size < FEWEST:
        raise NotIdentifiable(
            f"{values.size} items are too few for an interval over new runs: that takes at least"
            f" {FEWEST}"
        )
    variance = item_variances(correct, runs, k=k, kind=kind)
    mean = float(values.mean())
    half = -float(ndtri(alpha / 2)) * sqrt(float(variance.sum())) / values.size
    return Interval(
        max(mean - half, 0.0), min(mean + half, 1.0), level=1 - alpha, method="new runs"
    )


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


def _of_items(correct: npt.ArrayLike, runs: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Return right runs and runs, one of each per item."""
    whole(1, runs=runs)
    c, n = as_counts(np.atleast_1d(correct), np.atleast_1d(runs), names=("correct", "runs"))
    return c, n


def _counts(
    correct: npt.ArrayLike, runs: npt.ArrayLike, k: int, kind: PassKind
) -> tuple[Floats, Floats]:
    whole(1, k=k)
    c, n = _of_items(correct, runs)
    if np.any(n < k):
        item = int(np.argmin(n))
        raise InputError(
            f"{kind} needs at least k = {k} runs of every item, item {item} has {n[item]:g}: "
            "lower k, or leave such items out"
        )
    return c, n


# How much runs and items vary, for pass@1.
#
# .. math::
#
#    σ_w^2 = \text{mean of } \frac{c (n - c)}{n (n - 1)}, \qquad
#    σ_b^2 = \max(0, \text{variance of item values} - \text{mean of } σ_w^2/n)   \tag{R3}
#
# docs/theory/compare.md, *Several runs per item*.


def variance_parts(
    correct: npt.ArrayLike,
    runs: npt.ArrayLike,
    *,
    against: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
) -> tuple[float, float]:
    """Return the variance of pass@1 over runs and between items, σ²_w and σ²_b of (R3).

    Every item needs at least two runs.

    Parameters
    ----------
    correct, runs
        c and n of each item.
    against
        (correct, runs) of a second model on the same items: then the parts are those of the
        difference, and both models' σ²_w are added.

    Examples
    --------
    >>> [round(part, 4) for part in variance_parts([0, 1, 3, 5, 4, 2, 5, 5], [5] * 8)]
    [0.125, 0.1286]
    """
    values, within, share = _model(correct, runs)
    if against is not None:
        other, other_within, other_share = _model(*against)
        values, within, share = values - other, within + other_within, share + other_share
    between = max(0.0, float(np.var(values, ddof=1)) - share)  # (R3)
    return within, between


def _model(correct: npt.ArrayLike, runs: npt.ArrayLike) -> tuple[Floats, float, float]:
    """Return the item values, σ²_w, and what runs add to the variance of item values."""
    c, n = _of_items(correct, runs)
    whole(2, items=c.size)
    if np.any(n < 2):
        item = int(np.argmin(n))
        raise InputError(
            f"item {item} has one run: at least two runs of every item show how much runs vary"
        )
    own = c * (n - c) / (n * (n - 1))
    # Item by item, so that the split stays unbiased where hard items were run more often.
    return c / n, float(own.mean()), float(np.mean(own / n))
