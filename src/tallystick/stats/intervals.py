"""Intervals for shares and means, one function each; each says what it guarantees."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError
from tallystick.results import Guarantee, Interval
from tallystick.stats.exact_tails import at_least, open_unit, whole, within

# Wilson's score interval: the good short answer for a share, and the brick of the stratified
# ones.


@overload
def wilson(successes: float, trials: float, *, alpha: float = ...) -> Interval: ...
@overload
def wilson(successes: Vector, trials: Numbers, *, alpha: float = ...) -> Intervals: ...
def wilson(successes: Numbers, trials: Numbers, *, alpha: float = 0.05) -> Interval | Intervals:
    r"""Bound a share approximately, without collapsing at 0 or 1.

    The shares p that a score test does not reject, :math:`|\hat p - p| \le q \sqrt{p (1 - p) / n}`.
    With :math:`r = q^2/n`,

    .. math:: p_{lo} = \frac{\hat p^2}{\hat p + r/2 + \sqrt{\hat p (1 - \hat p) r + r^2/4}}, \qquad
              p_{hi}(\hat p) = 1 - p_{lo}(1 - \hat p).   \tag{I2}

    Approximate: right on average, but a share close to 0 or 1 can be covered far less often: 0.85
    at n = 20, p = 0.008, nominal 0.95 (``docs/benchmarks/intervals.md``).

    Parameters
    ----------
    successes, trials
        ``0 <= successes <= trials``; real values are allowed, for effective sizes. No trials give
        [0, 1].
    alpha
        One minus the level.

    Examples
    --------
    >>> print(wilson(8, 10))
    [0.490, 0.943] (95%, approximate)
    """
    from scipy.special import ndtri

    open_unit(alpha=alpha)
    x, n = as_counts(successes, trials, names=("successes", "trials"), integer=False)
    share = np.divide(x, n, out=np.full_like(x, 0.5), where=n > 0)
    ends = score_ends(share, n, np.asarray(ndtri(1 - alpha / 2)))
    return pack(*ends, alpha=alpha, guarantee="approximate", method="wilson")


def score_ends(share: Floats, size: Floats, quantile: Floats) -> tuple[Floats, Floats]:
    """Return both ends (I2) for shares seen in samples of any real *size*: 0 gives [0, 1], infinity
    a point.

    >>> score_ends(np.array([0.5, 0.5]), np.array([0.0, np.inf]), np.array(1.96))
    (array([0. , 0.5]), array([1. , 0.5]))
    """
    squared = np.square(quantile)
    r = np.divide(
        squared, size, out=np.full(np.broadcast(share, size, squared).shape, np.inf), where=size > 0
    )
    return _lower_end(share, r), 1 - _lower_end(1 - share, r)


def _lower_end(share: Floats, r: Floats) -> Floats:
    # This form of (I2) subtracts nothing, so it is exactly 0 at share 0 and loses no digits beside
    # it.
    below = share + r / 2 + np.sqrt(share * (1 - share) * r + r**2 / 4)
    return np.divide(share**2, below, out=np.zeros_like(below), where=below > 0)


# The exact interval for a share: never below its level, whatever the share and the size.


@overload
def clopper_pearson(successes: float, trials: float, *, alpha: float = ...) -> Interval: ...
@overload
def clopper_pearson(successes: Vector, trials: Numbers, *, alpha: float = ...) -> Intervals: ...
def clopper_pearson(
    successes: Numbers, trials: Numbers, *, alpha: float = 0.05
) -> Interval | Intervals:
    r"""Bound a share for certain, from the *successes* among *trials* independent draws.

    The ends invert the two binomial tail tests,

    .. math:: P(X \ge x \mid p_{lo}) = \alpha/2, \qquad P(X \le x \mid p_{hi}) = \alpha/2,   \tag{I1}

    which are quantiles of :math:`\mathrm{Beta}(x, n - x + 1)` and :math:`\mathrm{Beta}(x + 1, n -
    x)`. Exact: coverage is at least nominal at every share and size; the price is width.

    Parameters
    ----------
    successes, trials
        Whole numbers, ``0 <= successes <= trials``. No trials give [0, 1].
    alpha
        One minus the level.

    Examples
    --------
    >>> print(clopper_pearson(8, 10))
    [0.444, 0.975] (95%, exact)
    >>> clopper_pearson([0, 5], 10).high.round(4).tolist()
    [0.3085, 0.8129]
    """
    from scipy.special import betainccinv, betaincinv

    x, n = as_counts(successes, trials, names=("successes", "trials"))
    open_unit(alpha=alpha)
    # (I1); the inner np.where only keeps the parameters of the beta law positive where its quantile
    # is not used
    low = np.where(x > 0, betaincinv(np.where(x > 0, x, 1), n - x + 1, alpha / 2), 0.0)
    high = np.where(x < n, betainccinv(x + 1, np.where(x < n, n - x, 1), alpha / 2), 1.0)
    return pack(low, high, alpha=alpha, guarantee="exact", method="clopper-pearson")


# Student's interval with half a pseudo-item at each bound: short, and it never collapses.


@overload
def pseudo_t(
    mean: float, variance: float, n: float, *, alpha: float = ..., bounds: Bounds = ...
) -> Interval: ...
@overload
def pseudo_t(
    mean: Vector, variance: Numbers, n: Numbers, *, alpha: float = ..., bounds: Bounds = ...
) -> Intervals: ...
def pseudo_t(
    mean: Numbers,
    variance: Numbers,
    n: Numbers,
    *,
    alpha: float = 0.05,
    bounds: Bounds = (0.0, 1.0),
) -> Interval | Intervals:
    r"""Bound the mean of bounded values approximately, also when some values are rare and far away.

    Half an item is added at each bound. On the scale from -1 to 1, with :math:`\nu = n + 1`,

    .. math:: m = \frac{\sum x}{\nu}, \qquad v = \frac{\sum x^2 + 1 - \nu m^2}{\nu - 1}, \qquad
              m \mp t_{n-1} \sqrt{v/\nu}.   \tag{I7}

    Clipped to the bounds. Approximate; where few values differ from the rest, the plain t interval
    can cover a third (``docs/benchmarks/intervals.md``).

    Parameters
    ----------
    mean, variance, n
        Sample mean, sample variance with divisor n - 1, and count, n at least 2.
    alpha
        One minus the level.
    bounds
        Between what the values must lie, whatever was seen.

    Examples
    --------
    Fifty paired differences of scores, all zero: the plain t interval would be the point 0.

    >>> print(pseudo_t(0.0, 0.0, 50, bounds=(-1, 1)))
    [-0.040, 0.040] (95%, approximate)
    """
    from scipy.special import stdtrit

    unit, spread, n_items = as_moments(mean, variance, n, bounds)
    centre, nu = 2 * unit - 1, n_items + 1
    squares = 4 * spread * (n_items - 1) + n_items * centre**2
    m = n_items * centre / nu
    v = (squares + 1 - nu * m**2) / (nu - 1)  # (I7)
    open_unit(alpha=alpha)
    half = stdtrit(n_items - 1, 1 - alpha / 2) * np.sqrt(v / nu)
    low, high = (
        from_unit((np.clip(end, -1.0, 1.0) + 1) / 2, bounds) for end in (m - half, m + half)
    )
    return pack(low, high, alpha=alpha, guarantee="approximate", method="pseudo-t")


# MOVER: the interval of a sum, recovered from the intervals of its independent parts.


def mover_sum(
    estimates: Floats, low: Floats, high: Floats, *, weights: Floats
) -> tuple[Floats, Floats, Floats]:
    r"""Bound :math:`\theta = \sum_h w_h \theta_h`, given an interval for each independent part.

    How far a part reaches to one side stands for its standard error on that side,

    .. math:: \theta_{lo} = \hat\theta - \sqrt{\textstyle\sum_h w_h^2 d_h^2}, \qquad d_h =
              \begin{cases}\hat\theta_h - l_h & w_h > 0\\ u_h - \hat\theta_h & w_h < 0\end{cases}   \tag{I8}

    and the upper end likewise. A difference is a sum with weights 1 and -1.

    Parameters
    ----------
    estimates, low, high
        The parts and their intervals, parts along the last axis.
    weights
        One a part, of either sign.

    Returns
    -------
    estimate, low, high
        Without the last axis. Nothing is clipped.

    Examples
    --------
    >>> parts, low, high = np.array([0.5, 0.9]), np.array([0.4, 0.8]), np.array([0.6, 0.95])
    >>> [float(end.round(3)) for end in mover_sum(parts, low, high, weights=np.array([0.5, 0.5]))]
    [0.7, 0.629, 0.756]
    """
    estimate = (weights * estimates).sum(axis=-1)
    reaches = np.where(weights > 0, estimates - low, estimates - high) * weights
    above = np.where(weights > 0, high - estimates, low - estimates) * weights
    down, up = (np.sqrt((reach**2).sum(axis=-1)) for reach in (reaches, above))  # (I8)
    return estimate, estimate - down, estimate + up


# Many intervals at once: the array form of :class:`tallystick.results.Interval`.
#
# One rule holds for the whole subpackage: scalars in, an ``Interval`` out; arrays in, ``Intervals``
# out, in the shape to which the arguments broadcast. What takes rows (of values, of strata) gives
# one interval a row; one sequence is one row.


Floats: TypeAlias = NDArray[np.float64]
Vector: TypeAlias = NDArray[np.number[Any] | np.bool_] | Sequence[float] | Sequence[Sequence[float]]
"""An array of real numbers, or what NumPy makes one of."""
Numbers: TypeAlias = float | Vector


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """Ranges for many unknown numbers, made in one way and with one promise.

    Parameters
    ----------
    low, high
        The ends, arrays of one shape, ``low <= high`` everywhere; they are copied and made
        read-only.
    level, guarantee, assumption, method
        As in :class:`tallystick.results.Interval`, the same for all.

    Examples
    --------
    >>> found = Intervals([0.1, 0.4], [0.3, 0.9], level=0.95, guarantee="exact", method="example")
    >>> len(found), found.width.round(2).tolist()
    (2, [0.2, 0.5])
    >>> print(found[1])
    [0.400, 0.900] (95%, exact)
    >>> found.covers([0.2, 0.2]).tolist()
    [True, False]
    """

    low: Floats
    high: Floats
    level: float = 0.95
    guarantee: Guarantee = "approximate"
    assumption: str | None = None
    method: str = ""

    def __post_init__(self) -> None:
        low, high = np.array(self.low, dtype=np.float64), np.array(self.high, dtype=np.float64)
        wrong = np.argwhere(~(low <= high))  # also catches NaN
        if len(wrong):
            at = tuple(int(i) for i in wrong[0])
            raise InputError(f"an interval needs low <= high, got [{low[at]}, {high[at]}] at {at}")
        self._one(0.0, 0.0)  # level, guarantee and assumption are held to Interval's own rules
        for name, end in (("low", low), ("high", high)):
            end.flags.writeable = False
            object.__setattr__(self, name, end)

    def _one(self, low: float, high: float) -> Interval:
        return Interval(
            low,
            high,
            level=self.level,
            guarantee=self.guarantee,
            assumption=self.assumption,
            method=self.method,
        )

    @property
    def width(self) -> Floats:
        """Distance between the ends."""
        return self.high - self.low

    def covers(self, truth: Numbers) -> NDArray[np.bool_]:
        """Say which intervals contain *truth*, a number or an array of this shape."""
        value = np.asarray(truth, dtype=np.float64)
        return (self.low <= value) & (value <= self.high)

    def __len__(self) -> int:
        return len(self.low)

    def __getitem__(self, index: int | tuple[int, ...]) -> Interval:
        return self._one(float(self.low[index]), float(self.high[index]))

    def __iter__(self) -> Iterator[Interval]:
        return (
            self._one(low, high) for low, high in zip(self.low.flat, self.high.flat, strict=True)
        )


def pack(
    low: Floats,
    high: Floats,
    *,
    alpha: float,
    guarantee: Guarantee,
    method: str,
    assumption: str | None = None,
) -> Interval | Intervals:
    """Return an ``Interval`` for 0-dimensional ends, ``Intervals`` for all others: the rule of this
    subpackage.
    """
    if np.ndim(low):
        return Intervals(low, high, 1 - alpha, guarantee, assumption, method)
    return Interval(float(low), float(high), 1 - alpha, guarantee, assumption, method)


def as_counts(
    part: Numbers, every: Numbers, *, names: tuple[str, str], integer: bool = True
) -> tuple[Floats, Floats]:
    """Broadcast two counts against each other and refuse what cannot be a *part* of *every*.

    >>> as_counts(3, 2, names=("successes", "trials"))
    Traceback (most recent call last):
    tallystick.errors.InputError: successes must be between 0 and trials, got 3.0 of 2.0
    """
    x, n = np.broadcast_arrays(
        np.asarray(part, dtype=np.float64), np.asarray(every, dtype=np.float64)
    )
    (whole if integer else at_least)(0, **dict(zip(names, (x, n), strict=True)))
    outside = x > n
    if outside.any():
        raise InputError(
            f"{names[0]} must be between 0 and {names[1]}, got {x[outside].flat[0]} of"
            f" {n[outside].flat[0]}"
        )
    return x, n


# Values between known bounds, brought to the scale from 0 to 1 and back.


Bounds: TypeAlias = tuple[float, float]

_ROUNDING = 1e-9
"""How far outside its bounds, in units of their width, a mean may lie by rounding alone; it is then
moved onto them."""


def check_bounds(bounds: Bounds) -> Bounds:
    """Return the bounds if they enclose anything.

    >>> check_bounds((1, 1))
    Traceback (most recent call last):
    tallystick.errors.InputError: bounds must be two finite numbers, the lower one first, got (1, 1)
    """
    low, high = bounds
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise InputError(f"bounds must be two finite numbers, the lower one first, got {bounds!r}")
    return low, high


def as_unit(values: Numbers, bounds: Bounds, *, name: str) -> Floats:
    """Bring *values* from their bounds to [0, 1]; refuse what lies outside.

    >>> as_unit([-1, 0, 1], (-1, 1), name="values")
    array([0. , 0.5, 1. ])
    """
    low, high = check_bounds(bounds)
    given, slack = np.asarray(values, dtype=np.float64), _ROUNDING * (high - low)
    within((low - slack, high + slack), **{name: given})
    unit = (given - low) / (high - low)
    return np.clip(unit, 0.0, 1.0)


def from_unit(values: Floats, bounds: Bounds) -> Floats:
    """Bring values from [0, 1] back to their bounds, the two ends exactly.

    >>> from_unit(np.array([0.0, 0.5, 1.0]), (-1, 1))
    array([-1.,  0.,  1.])
    """
    low, high = bounds
    return np.where(values == 1.0, high, low + (high - low) * values)


def as_moments(
    mean: Numbers, variance: Numbers, n: Numbers, bounds: Bounds
) -> tuple[Floats, Floats, Floats]:
    """Bring mean and variance to the scale from 0 to 1.

    >>> as_moments(0.0, 0.8, 2, (-1, 1))
    (array(0.5), array(0.2), array(2.))
    """
    low, high = check_bounds(bounds)
    centre, spread, size = np.broadcast_arrays(
        as_unit(mean, bounds, name="mean"),
        np.asarray(variance, dtype=np.float64) / (high - low) ** 2,
        np.asarray(n, dtype=np.float64),
    )
    at_least(2, n=size)
    at_least(0, variance=spread)
    return centre, spread, size


# A difference of two estimates on different items, or on partly common ones.


def difference_ends(
    first: tuple[Numbers, Numbers, Numbers],
    second: tuple[Numbers, Numbers, Numbers],
    *,
    shared: Numbers,
    correlation: Numbers,
) -> tuple[Floats, Floats]:
    r"""Return both ends of a difference from estimate, lower and upper end of each part.

    With a and b how far the two parts reach to one side, the difference reaches

    .. math:: \sqrt{a^2 + b^2 + 2 \max(0, -r) \frac{m_c}{\sqrt{m_A m_B}}\, a b}   \tag{AL9}

    A negative correlation on common items widens the difference; a positive one would narrow it,
    and is not used.

    Parameters
    ----------
    first, second
        Estimate, lower and upper end: numbers, or arrays of many pairs.
    shared
        :math:`m_c/\sqrt{m_A m_B}`: common items against the labels of both systems.
    correlation
        r.

    Examples
    --------
    >>> low, high = difference_ends((0.8, 0.7, 0.9), (0.5, 0.4, 0.6), shared=0.0, correlation=0.0)
    >>> round(float(low), 3), round(float(high), 3)
    (0.159, 0.441)
    """
    (a, low_a, high_a), (b, low_b, high_b) = (
        tuple(np.asarray(part, dtype=np.float64) for part in side) for side in (first, second)
    )
    against = 2 * np.maximum(0.0, -np.asarray(correlation)) * np.asarray(shared)

    def reach(one: Floats, two: Floats) -> Floats:
        # An estimate from the strata can lie outside the interval from the labels alone.
        one, two = np.maximum(0.0, one), np.maximum(0.0, two)
        return np.asarray(np.sqrt(one**2 + two**2 + against * one * two))  # (AL9)

    low = np.maximum(-1.0, a - b - reach(a - low_a, high_b - b))
    return low, np.minimum(1.0, a - b + reach(high_a - a, b - low_b))
