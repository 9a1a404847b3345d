r"""The mean of graded labels on these items, exactly covered and at any stopping time.

N items with a consensus grade c; labels y in [0, 1] on items drawn uniformly, without replacement.
The i-th draw gives :math:`x_i = y_i - b_{i-1} (c_i - \bar c_i)`, with :math:`\bar c_i` the mean of
c over the items not yet drawn and b from the earlier labels, so its expectation is the mean of the
labels that are left: if the mean of all is θ,

.. math:: m_i = \frac{N \theta - \sum_{j<i} y_j}{N - i + 1}, \qquad
          b = \frac{S_{cy}}{S_{cc} + 16 v}, \quad v = \frac1N \sum (c - \bar c)^2   \tag{W11}

Two gamblers bet on x against every θ by the stakes of (I11), cut at :math:`.75/(m_i + t_{lo})` and
:math:`.75/(1 - m_i + t_{hi})`, where t is the farthest that :math:`b (c - \bar c_i)` reaches among
the items not yet drawn. A reach around the mean of *all* items would not be exact.
"""

from __future__ import annotations

from math import log

import numpy as np
from numpy.typing import ArrayLike

from tallystick.errors import InputError
from tallystick.results import Guarantee, Interval
from tallystick.sampling.labels.bets import CUT
from tallystick.sampling.labels.consensus import Floats, Ints

__all__ = ["certified_mean"]

SHRINK = 16.0
"""Labels of shrinkage of the slope towards 0."""
HALVINGS = 40


def certified_mean(
    consensus: ArrayLike,
    items: ArrayLike,
    values: ArrayLike,
    *,
    alpha: float = 0.05,
    anytime: bool = False,
) -> Interval:
    """Bound the mean label of all items; exact, whatever the consensus is worth.

    Parameters
    ----------
    consensus
        One grade per item, any scale, from judges only.
    items
        The labelled items in the order in which they were drawn, uniformly at random.
    values
        Their labels, scaled to [0, 1]. A difference D in [-1, 1] goes in as (D + 1)/2.
    alpha
        One minus the level.
    anytime
        If True the bets are spread over all time and you may stop whenever you like; if False the
        number of labels was fixed beforehand.

    Examples
    --------
    >>> print(certified_mean(np.ones(100), range(30), np.ones(30)))
    [0.874, 1.000] (95 %, exact)
    """
    c, y = np.asarray(consensus, dtype=np.float64), np.asarray(values, dtype=np.float64)
    order = np.asarray(items, dtype=np.int64)
    if not 0 < alpha < 1:
        raise InputError(f"alpha must be in (0, 1), got {alpha!r}")
    if order.shape != y.shape or np.unique(order).size != order.size or not np.isfinite(c).all():
        raise InputError("items must be distinct, with one value each, and consensus finite")
    if not ((y >= 0) & (y <= 1)).all():
        raise InputError("values must be in [0, 1]: scale them, a difference as (D + 1)/2")
    if order.size and not (order.min() >= 0 and order.max() < c.size):
        raise InputError(f"items must be positions in 0..{c.size - 1}")

    x, reach_down, reach_up = _rectified(c, order, y)
    stakes = _stakes(x, log(2 / alpha), 0 if anytime else y.size)
    low = _end(x, y, reach_down, stakes, c.size, alpha)
    high = 1 - _end(1 - x, 1 - y, reach_up, stakes, c.size, alpha)
    promise: Guarantee = "anytime" if anytime else "exact"
    return Interval(low, max(low, high), level=1 - alpha, guarantee=promise, method="betting")


def _rectified(c: Floats, order: Ints, y: Floats) -> tuple[Floats, Floats, Floats]:
    """Return x of (W11), and how far below and above it the control variate can reach."""
    n, n_items = y.size, c.size
    drawn = c[order]
    count = np.arange(n)

    # Sums over the draws before each one; the slope needs two labels before it is not 0.
    before = [
        np.concatenate(([0.0], np.cumsum(part)[:-1])) for part in (drawn, y, drawn**2, drawn * y)
    ]
    safe = np.maximum(count, 1)
    s_cc = np.maximum(before[2] - before[0] ** 2 / safe, 0.0)
    s_cy = before[3] - before[0] * before[1] / safe
    shrunk = s_cc + SHRINK * c.var()
    b = np.divide(s_cy, shrunk, out=np.zeros(n), where=shrunk > 0)

    rest = (c.sum() - before[0]) / (n_items - count)
    lowest, highest = _extremes_left(c, order)
    ends = np.stack((b * (lowest - rest), b * (highest - rest)))
    x = y - b * (drawn - rest)
    return x, np.maximum(ends.max(axis=0), 0.0), np.maximum(-ends.min(axis=0), 0.0)


def _extremes_left(c: Floats, order: Ints) -> tuple[Floats, Floats]:
    """Return the least and largest c among the items not drawn before each draw."""
    never = np.ones(c.size, dtype=np.bool_)
    never[order] = False
    start = c[never]
    later = c[order][::-1]
    low = np.minimum(np.minimum.accumulate(later), start.min(initial=np.inf))[::-1]
    high = np.maximum(np.maximum.accumulate(later), start.max(initial=-np.inf))[::-1]
    return low, high


def _stakes(x: Floats, needed: float, horizon: int) -> Floats:
    """Return the bets of (I11), before they are cut."""
    t = np.arange(1, x.size + 1)
    mean = (0.5 + np.cumsum(x)) / (t + 1)
    scatter = np.concatenate(([0.25], 0.25 + np.cumsum((x - mean) ** 2)))[: x.size]
    time = np.full(x.size, float(horizon)) if horizon else t * np.log(1.0 + t)
    return np.asarray(np.sqrt(2 * needed * t / (scatter * time)))


def _end(x: Floats, y: Floats, reach: Floats, stakes: Floats, n_items: int, alpha: float) -> float:
    """Bisect for the largest mean of all items that the gambler on larger ones has refuted."""
    left = n_items - np.arange(y.size)
    seen = np.cumsum(y) - y

    def refuted(theta: float) -> bool:
        price = (n_items * theta - seen) / left  # (W11)
        risk = price + reach
        cut = np.divide(CUT, risk, out=np.full(y.size, np.inf), where=risk > 0)
        growth = np.cumprod(1 + np.minimum(stakes, cut) * (x - price))
        return bool((growth >= 2 / alpha).any())

    # What logic allows; inside it every price lies in [0, 1].
    low, high = y.sum() / n_items, (y.sum() + n_items - y.size) / n_items
    if not refuted(low):
        return float(low)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if refuted(middle) else (low, middle)
    return float(low)
