"""Evidence that may be looked at any time: e-values, wealth, crossings, and means of bounded
scores.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from math import log
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from tallystick.errors import InputError
from tallystick.stats.exact_tails import Floats as BinomialFloats
from tallystick.stats.exact_tails import open_unit, whole
from tallystick.stats.maxt import holm

# E-values: evidence that may be averaged, looked at any time, and combined over many questions.
#
# An e-value is a non-negative statistic with mean at most 1 under the null hypothesis; an
# e-process
# keeps that at every stopping time, so by Ville's inequality :math:`P(\sup_t E_t \ge 1/α) \le α`.
# The
# processes themselves live in :mod:`~tallystick.stats.signs` (paired wins),
# :mod:`~tallystick.stats.bets` (means from moments) and :mod:`~tallystick.stats.anytime` (a
# share of a finite population); here is what is done with many of them.
#
# All functions take *logarithms* of e-values: an e-value of a few thousand items overflows a
# float.


def average_log_e(log_e: npt.ArrayLike) -> BinomialFloats:
    r"""Return the log of the mean of e-values along the last axis, itself an e-value under any
    dependence between them.

    >>> round(float(np.exp(average_log_e(np.log([3.0, 1.0])))), 6)
    2.0
    """
    values = np.atleast_1d(np.asarray(log_e, dtype=float))
    return np.asarray(np.logaddexp.reduce(values, axis=-1) - log(values.shape[-1]))


def p_from_log_e(log_e: npt.ArrayLike) -> BinomialFloats:
    """Return the p-value of an e-value, 1/E and at most 1.

    >>> round(float(p_from_log_e(np.log(20.0))), 6)
    0.05
    """
    return np.asarray(np.exp(-np.maximum(np.asarray(log_e), 0.0)))


def e_holm(peak_log_e: npt.ArrayLike) -> BinomialFloats:
    """Return Holm-adjusted p-values from the largest log E that each question has reached.

    Whatever has an adjusted value of at most alpha may be called decided, at any time and for good:
    the probability that any call is false is at most alpha.

    >>> e_holm(np.log([100.0, 10.0])).round(6).tolist()
    [0.02, 0.1]
    """
    return holm(p_from_log_e(peak_log_e))


# Capital that bets against a mean: which means it has refuted, for many gamblers at once.
#
# A gambler on larger values pays the fair price :math:`s_i m - o_i` of each draw if the mean is m,
# stakes :math:`\lambda_i`, and never more than the share c of the capital on one draw:
#
# .. math:: K_t(m) = \prod_{i \le t} \bigl(1 + \lambda_i (x_i - s_i m + o_i)\bigr), \qquad
#           \lambda_i \le \frac{c}{s_i m - o_i + r_i}.   \tag{I14}
#
# :math:`-r_i` is the least that :math:`x_i` can be. The capital falls as m grows, also where the
# stake is cut, so the largest refuted mean is one crossing, with no grid of means.


RUIN = math.log(1e-300)
"""Capital whose logarithm is below this is given up. A gambler who stops betting still plays fair,
so the ends only widen by it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Wagers:
    """Gamblers on larger values, one per row; every array is rows x draws.

    Parameters
    ----------
    x, stakes
        The values, and the stakes before they are cut.
    slope, offset
        The price of each draw at the mean m is *slope* m - *offset*.
    reach
        How far below 0 each value could have lain.
    floor
        A price below this is impossible, so that m is refuted at once.
    cut
        The largest share c of the capital that one draw can lose.
    """

    x: Floats
    stakes: Floats
    slope: Floats
    offset: Floats
    reach: Floats
    floor: Floats
    cut: float

    def best(self, means: Floats) -> tuple[Floats, Floats]:
        """Return the largest ln K (I14) that each row has ever had against its mean, and its slope.

        Prices below their floor count as possible here.
        """
        price = self.slope * means[:, None] - self.offset
        risk = price + self.reach
        with np.errstate(all="ignore"):  # a risk of 0 is never cut
            over = self.stakes * risk > self.cut
            factor = 1.0 + np.where(over, self.cut / risk, self.stakes) * (self.x - price)
            money = np.cumsum(np.log(factor), axis=1)
            if money.min() < RUIN:
                money[np.logical_or.accumulate(money < RUIN, axis=1)] = -np.inf
            last = money.argmax(axis=1)
            # d ln K/dm, with the cut stakes that change with the price too
            moves = np.where(over, self.cut * (self.x + self.reach) / risk**2, self.stakes)
            slopes = np.cumsum(self.slope * moves / factor, axis=1)
        rows = np.arange(len(means))
        return money[rows, last], -slopes[rows, last]

    def last_refuted(self, threshold: Floats, low: Floats, high: Floats, halvings: int) -> Floats:
        """Return the largest mean between *low* and *high* that each row has refuted.

        *low* where not even that is refuted, infinite where *high* is. The result is rounded down
        to the grid of so many halvings of the bracket, so that it errs outwards.

        Examples
        --------
        >>> x, one, none = np.full((1, 20), 0.9), np.ones((1, 20)), np.zeros((1, 20))
        >>> bets = Wagers(x=x, stakes=one, slope=one, offset=none, reach=none, floor=none, cut=0.75)
        >>> bets.last_refuted(np.array([40.0]), np.zeros(1), np.ones(1), 40).round(3).tolist()
        [0.697]
        """
        # A mean at which some price is impossible is refuted without any bet.
        logic = ((self.floor + self.offset) / self.slope).max(axis=1)
        bar, width = np.log(threshold), high - low

        def rising(at: Floats) -> tuple[Floats, Floats]:
            money, slope = self.best(low + at * width)
            return bar - money, -slope * width

        # The mean less its reach by the normal law is a good first guess.
        middle = (self.x + self.offset).mean(axis=1) / self.slope.mean(axis=1)
        middle -= np.sqrt(2 * bar * (self.x.var(axis=1) + 1 / self.x.shape[1]) / self.x.shape[1])
        with np.errstate(all="ignore"):
            start = np.nan_to_num((middle - low) / width)
            at = np.fmax(crossing(rising, start, 0.0, 1.0), (logic - low) / width)
        found = low + width * (np.floor(at * 2.0**halvings) / 2.0**halvings)
        # At the ends of the bracket the crossing may be there, or beyond.
        found = np.where((self.best(low)[0] < bar) & (low >= logic), low, found)
        return np.where((self.best(high)[0] >= bar) | (high < logic), np.inf, found)


def stakes_before(x: Floats, log: Floats) -> Floats:
    """Return one stake per value, made from the values before it (I11).

    Parameters
    ----------
    x
        Rows x values.
    log
        ln of the threshold, per row.

    Examples
    --------
    >>> stakes_before(np.array([[1.0, 1.0]]), np.array([3.0])).round(3).tolist()
    [[3.464, 4.382]]
    """
    t = np.arange(1, x.shape[1] + 1)
    mean = (0.5 + np.cumsum(x, axis=1)) / (t + 1)
    after = 0.25 + np.cumsum((x - mean) ** 2, axis=1)
    before = np.concatenate([np.full((len(x), 1), 0.25), after[:, :-1]], axis=1)
    return np.asarray(np.sqrt(2.0 * log[:, None] * t / (before * x.shape[1])))


# Where rising functions cross a bar: many at once, by Newton's steps inside a bracket.


Floats: TypeAlias = NDArray[np.float64]
Rising: TypeAlias = Callable[[Floats], tuple[Floats, Floats]]
"""Values and slopes at one point per row; a value is below 0 on the left of the crossing."""

STEPS = 100
"""The most steps. Newton takes about six; if it never helped, halving would need 60."""
CLOSE = 1e-9
"""The last step. Newton's error is squared by it, so what is left is about 1e-16."""
SAME = 1e-13
"""A bracket this narrow is a point."""


def crossing(rising: Rising, start: Floats, low: float, high: float) -> Floats:
    """Return where each row's function crosses 0 between *low* and *high*.

    The end of the bracket if it does not cross there. Each value narrows the bracket, and a step of
    Newton that would leave it is replaced by its middle.

    Parameters
    ----------
    rising
        Values and slopes of all rows at one point each. What is not finite is halved, and NaN is
        taken for a value on the left of the crossing.
    start
        A first guess per row.
    low, high
        The bracket.

    Examples
    --------
    >>> def cube(x): return x**3 - np.array([8.0, 27.0]), 3 * x**2
    >>> crossing(cube, np.array([9.0, 0.1]), 0.0, 10.0).round(12).tolist()
    [2.0, 3.0]
    >>> crossing(cube, np.array([1.0, 1.0]), 0.0, 2.5).round(12).tolist()
    [2.0, 2.5]
    """
    left, right = np.full(start.shape, low), np.full(start.shape, high)
    at, moved = np.clip(start, low, high), np.full(start.shape, np.inf)
    tried = np.zeros((2, *start.shape), np.bool_)  # whether the ends themselves were looked at
    done = np.zeros(start.shape, np.bool_)
    for _ in range(STEPS):
        with np.errstate(all="ignore"):
            value, slope = rising(at)
            below = ~(value >= 0.0)  # also a logarithm of what rounding made negative
            left, right = np.where(below, at, left), np.where(below, right, at)
            step = np.clip(at - value / slope, low, high)
            near = np.abs(step - at) <= CLOSE
            # A step that is not half of the last one may be one of many to and fro.
            fine = (step > left) & (step < right) & (np.abs(step - at) <= 0.5 * moved)

        # Beyond an end, that end is tried once: the crossing may lie there, or not exist.
        tried |= np.stack([at == low, at == high])
        fine |= near | ((step == low) & ~tried[0]) | ((step == high) & ~tried[1])
        step = np.where(fine, step, 0.5 * (left + right))
        moved, at = np.abs(step - at), np.where(done, at, step)
        # What has arrived stays: rounding must not send it off again.
        done |= near | (moved <= SAME)
        if done.all():
            break
    return at


# An anytime-valid test and interval for a bounded mean from three numbers: n, the sum, and the
# sum of squares.
#
# For :math:`y \ge -1` with mean at most 0 and :math:`0 \le λ < 1`,
#
# .. math:: \exp\bigl(λ y - ψ(λ)\, y^2\bigr) \le 1 + λ y, \qquad ψ(λ) = -\ln(1 - λ) - λ   \tag{E2}
#
# (Fan, Grama and Liu's inequality, checked in the tests), so :math:`\exp(λ \sum y - ψ(λ) \sum y^2)`
# never grows on average, and neither does a mixture over λ. The order of the items is not needed:
# moments that were counted on shards will do. The price against betting item by item, which sees
# the order, is a wider interval: about twice that of a t interval.


LAMBDAS: BinomialFloats = np.geomspace(0.58, 1e-3, 16)
r"""The mixture, in equal parts. Up to λ = .583, where :math:`2ψ(λ) = λ`, every exponent falls as
the tested mean rises, so that an interval can be found by halving."""

PSI: BinomialFloats = -np.log1p(-LAMBDAS) - LAMBDAS


def bounded_mean_log_e(
    n: npt.ArrayLike,
    total: npt.ArrayLike,
    squares: npt.ArrayLike,
    *,
    mean: npt.ArrayLike = 0.0,
    low: float = -1.0,
    high: float = 1.0,
) -> tuple[BinomialFloats, BinomialFloats]:
    r"""Return log E against "the mean is at most *mean*" and against "at least *mean*".

    Each item lies in [*low*, *high*]; :math:`y = (x - μ)/(\text{high} - \text{low}) \ge -1` enters
    (E2). For a two-sided question average the two with
    :func:`~tallystick.stats.bets.average_log_e`.

    Parameters
    ----------
    n, total, squares
        Items, sum of x, sum of x²; arrays broadcast.
    mean
        The tested mean μ.
    low, high
        Bounds of every single x, known beforehand. Paired differences of scores in [0, 1] lie in
        [-1, 1].

    Examples
    --------
    >>> above, below = bounded_mean_log_e(1000, 80.0, 200.0)
    >>> round(float(above), 2), round(float(below), 2)
    (7.82, -0.86)
    """
    size, s, q = _moments(n, total, squares, low, high)
    mu, width = np.asarray(mean, dtype=float), high - low
    lead = (s - size * mu) / width
    spread = np.maximum(0.0, q - 2 * mu * s + size * mu**2) / width**2
    return _mixture(lead, spread), _mixture(-lead, spread)


def bounded_mean_interval(
    n: npt.ArrayLike,
    total: npt.ArrayLike,
    squares: npt.ArrayLike,
    *,
    low: float = -1.0,
    high: float = 1.0,
    alpha: float = 0.05,
) -> tuple[BinomialFloats, BinomialFloats]:
    r"""Return the means that (E2) does not refute: an interval that holds at *every* n at once,
    with level 1 - α.

    Each end spends α/2. Both ends are found by halving, for all entries of the arrays together.

    >>> low, high = bounded_mean_interval(1000, 80.0, 200.0)
    >>> round(float(low), 3), round(float(high), 3)
    (0.024, 0.136)
    """
    open_unit(alpha=alpha)
    size, s, q = np.broadcast_arrays(*_moments(n, total, squares, low, high))
    need = log(2 / alpha)
    estimate = s / size
    ends = []
    for side, edge in ((0, low), (1, high)):
        # the edge itself may be kept: then it is returned
        refuted, kept = np.full(size.shape, float(edge)), estimate
        for _ in range(60):
            middle = (refuted + kept) / 2
            evidence = bounded_mean_log_e(size, s, q, mean=middle, low=low, high=high)[side]
            refuted, kept = (
                np.where(evidence >= need, middle, refuted),
                np.where(evidence >= need, kept, middle),
            )
        ends.append(refuted)
    return ends[0], ends[1]


def _mixture(lead: BinomialFloats, spread: BinomialFloats) -> BinomialFloats:
    exponents = lead[..., None] * LAMBDAS - spread[..., None] * PSI  # (E2)
    return np.asarray(np.logaddexp.reduce(exponents, axis=-1) - log(LAMBDAS.size))


def _moments(
    n: npt.ArrayLike, total: npt.ArrayLike, squares: npt.ArrayLike, low: float, high: float
) -> tuple[BinomialFloats, BinomialFloats, BinomialFloats]:
    whole(1, n=n)
    size, s, q = (np.asarray(value, dtype=float) for value in (n, total, squares))
    if (s * s > q * size * (1 + 1e-9)).any() or (
        np.abs(s) > size * max(abs(low), abs(high)) * (1 + 1e-9)
    ).any():
        raise InputError("total and squares must be sums over n values within the bounds")
    return size, s, q
