"""Exact intervals for a finite population: how many of *these* items are right, from the labels of
some.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from tallystick.results import Interval
from tallystick.stats.exact_tails import open_unit, whole
from tallystick.stats.intervals import Floats, Intervals, Vector, as_counts


def hypergeometric(
    successes: float, draws: float, population: float, *, alpha: float = 0.05
) -> Interval:
    r"""Bound the share of right items among *these* N, for certain, from k of them drawn without
    replacement.

    With K right items of N, the right ones among k draws follow the hypergeometric law; the ends
    are

    .. math:: K_{lo} = \min\{K: P(X \ge x \mid K) > \alpha/2\}, \qquad
              K_{hi} = \max\{K: P(X \le x \mid K) > \alpha/2\},   \tag{I4}

    divided by N. Exact for every (N, K, k); all N labelled give a point.

    Parameters
    ----------
    successes, draws, population
        x of k draws from N items, whole numbers, ``0 <= x <= k <= N``, N at least 1.
    alpha
        One minus the level.

    Returns
    -------
    Interval
        For the share K/N; times N it is the number of right items.

    Examples
    --------
    >>> print(hypergeometric(45, 50, 60))
    [0.850, 0.917] (95%, exact)
    """
    open_unit(alpha=alpha)
    x, k, n = _whole(successes, draws, population, names=("successes", "draws", "population"))
    whole(1, population=n)
    low, high = _fewest(x, k, n, alpha / 2) / n, (n - _fewest(k - x, k, n, alpha / 2)) / n
    return Interval(low, high, 1 - alpha, "exact", None, "hypergeometric")


def _whole(*counts: float, names: tuple[str, ...]) -> tuple[int, ...]:
    """Return counts of which each is a part of the next one as whole numbers."""
    for (part, every), pair in zip(pairwise(counts), pairwise(names), strict=True):
        as_counts(part, every, names=pair)
    return tuple(int(count) for count in counts)


def hypergeometric_strata(
    successes: Vector, draws: Vector, sizes: Vector, *, alpha: float = 0.05
) -> Intervals:
    r"""Bound the share of right items among *these*, for certain, from labels in two strata.

    The number K of right items is tested with :math:`S = \sum_h N_h X_h/k_h`. How K divides into
    strata is unknown, so the lower end is the least K with

    .. math:: p(K) = \max_{(K_1, K - K_1) \in B} P(S \ge s \mid K_1, K - K_1) > (1 - \gamma) \alpha/2,   \tag{I12}

    every :math:`K_1` tried; the upper end counts wrong items. The box B holds both counts with
    error :math:`\gamma \alpha/2`, :math:`\gamma` = .05, so the two errors add up to
    :math:`\alpha/2`; it keeps out divisions that the labels themselves refute, which else decide
    the maximum. Exact, given how many labels fell into each stratum, also when that was by chance.
    A stratum without labels adds nothing to S and may hold anything. Narrower than
    :func:`hypergeometric` where the strata differ.

    Parameters
    ----------
    successes, draws, sizes
        :math:`x_h, k_h, N_h`, whole numbers, the two strata along the last axis; one pair is one
        row.
    alpha
        One minus the level.

    Returns
    -------
    Intervals
        For the share of right items among all, one a row.

    Examples
    --------
    >>> print(hypergeometric_strata([28, 2], [30, 20], [120, 80])[0])
    [0.490, 0.705] (95%, exact)
    >>> print(hypergeometric(30, 50, 200))
    [0.475, 0.715] (95%, exact)
    """
    open_unit(alpha=alpha)
    x, k = as_counts(successes, draws, names=("successes", "draws"))
    k, n = as_counts(k, sizes, names=("draws", "sizes"))
    x = np.broadcast_to(x, n.shape)
    x, k, n = (np.atleast_2d(part) for part in (x, k, n))
    every = n.sum(axis=-1)
    whole(1, sum_of_sizes=every)
    right, drawn, size = (np.reshape(part, (-1, 2)).astype(np.int64) for part in (x, k, n))
    low = fewest_in_strata(right, drawn, size, alpha / 2).reshape(every.shape) / every
    high = (
        every - fewest_in_strata(drawn - right, drawn, size, alpha / 2).reshape(every.shape)
    ) / every
    return Intervals(low, high, level=1 - alpha, guarantee="exact", method="hypergeometric-strata")


# Exact finite-population intervals: tails of the hypergeometric law, inverted.
#
# Everything is written for the *fewest* right items that the sample allows; the most follow by
# counting wrong items.


Ints = NDArray[np.int64]

BOX_SHARE = 0.05
"""The part of the allowed error that goes to saying where the two strata can lie at all."""
SLACK = 1.0 - 1e-7
"""A count is excluded only if its tail is below this share of the allowed error: rounding must
never exclude what it should not."""
PARTS = 16
"""Parts into which a range of counts is cut at once."""


def laws(good: Ints, draws: int, population: Ints | int) -> Floats:
    """Return P(X = j), j = 0..draws, one row per number of right items.

    By the ratios of neighbours, added up in logarithms and scaled to sum to one, so that no digits
    are lost to factorials.

    >>> laws(np.array([2]), 2, 4).round(4).tolist()
    [[0.1667, 0.6667, 0.1667]]
    """
    rest = (population - good)[:, None]
    good = good[:, None]
    j = np.arange(draws)
    first, last = np.maximum(0, draws - rest), np.minimum(draws, good)
    inside = (j >= first) & (j < last)
    up = np.where(inside, (good - j) * (draws - j).astype(np.float64), 1.0)
    down = np.where(inside, (j + 1.0) * (rest - draws + j + 1), 1.0)
    log = np.zeros((len(good), draws + 1))
    np.cumsum(np.log(up / down), axis=1, out=log[:, 1:])
    k = np.arange(draws + 1)
    log = np.where((k >= first) & (k <= last), log, -np.inf)
    chance = np.exp(log - log.max(axis=1, keepdims=True))
    return np.asarray(chance / chance.sum(axis=1, keepdims=True))


@lru_cache(maxsize=4096)
def _fewest(x: int, draws: int, population: int, budget: float) -> int:
    """Return the least K with P(X >= x | K) above the budget; the tail grows with K."""
    if x == 0:
        return x

    def excluded(points: Ints) -> int:
        return int((laws(points, draws, population)[:, x:].sum(axis=1) <= budget * SLACK).sum())

    return _first_kept(x - 1, population - (draws - x), excluded)


def _first_kept(low: int, high: int, excluded: Callable[[Ints], int]) -> int:
    """Return the least count that is not excluded: *low* is, *high* is not, and of any points in
    order the excluded ones come first.
    """
    while high - low > 1:
        points = np.unique(low + (high - low) * np.arange(1, PARTS) // PARTS)
        points = points[points > low]
        out = excluded(points)
        low, high = [low, *points.tolist(), high][out : out + 2]
    return high


def _at_least(chance: Floats) -> Floats:
    """Return P(X >= j), j = 0..draws + 1, from rows of P(X = j)."""
    above = np.cumsum(chance[:, ::-1], axis=1)[:, ::-1]
    return np.concatenate([above, np.zeros((len(above), 1))], axis=1)


def _joint(first: Floats, above: Floats, draws: tuple[int, int], weights: _Weights) -> Floats:
    """Return P(a X1 + b X2 >= seen) for rows of laws of X1 and rows of tails of X2."""
    a, b, seen = weights
    short = seen - a * np.arange(draws[0] + 1)
    least = -(-short // b) if b else np.where(short > 0, draws[1] + 1, 0)
    needed = np.where(short <= 0, 0, np.minimum(least, draws[1] + 1)).astype(np.int64)
    return np.asarray(first @ above[:, needed].T)


_Weights = tuple[int, int, int]


def _weights(x: Ints, draws: Ints, size: Ints) -> _Weights:
    """Return a, b and the value seen of a X1 + b X2, the statistic S of (I12) in whole numbers.

    Equal statistics stay equal. A stratum without labels adds nothing.
    """
    a = int(size[0]) * max(int(draws[1]), 1) if draws[0] else 0
    b = int(size[1]) * max(int(draws[0]), 1) if draws[1] else 0
    return a, b, a * int(x[0]) + b * int(x[1])


def fewest_in_strata(x: Ints, draws: Ints, size: Ints, budget: float) -> Ints:
    """Return for each row the least K1 + K2 that the statistic of (I12) does not exclude."""
    return np.array(
        [_fewest_of_two(*row, budget) for row in zip(x, draws, size, strict=True)], np.int64
    )


def _fewest_of_two(x: Ints, draws: Ints, size: Ints, budget: float) -> int:
    side = BOX_SHARE * budget / 4  # two strata, two ends each
    allowed = (1 - BOX_SHARE) * budget * SLACK
    least = [_fewest(int(x[h]), int(draws[h]), int(size[h]), side) for h in range(2)]
    most = [
        int(size[h]) - _fewest(int(draws[h] - x[h]), int(draws[h]), int(size[h]), side)
        for h in range(2)
    ]
    weights = _weights(x, draws, size)
    return _search(draws, size, weights, (least, most), allowed)


def _search(
    draws: Ints,
    size: Ints,
    weights: _Weights,
    box: tuple[list[int], list[int]],
    allowed: float,
) -> int:
    """Return the least K1 + K2 of a large box.

    The tail grows with K1 and with K2, so the least K2 falls as K1 grows: between a and b no sum is
    below a + 1 plus the least K2 of b. Parts that cannot beat the best sum so far are left out;
    every other K1 is tried.
    """
    (low1, low2), (high1, high2) = box
    k1, k2 = int(draws[0]), int(draws[1])

    def least_second(good: int, low: int, high: int) -> int:
        """Return the least K2 from *low* to *high* that is not excluded, *high* + 1 if all are."""
        first = laws(np.array([good]), k1, int(size[0]))

        def excluded(points: Ints) -> int:
            above = _at_least(laws(points, k2, int(size[1])))
            return int((_joint(first, above, (k1, k2), weights)[0] <= allowed).sum())

        return _first_kept(low - 1, high + 1, excluded)

    best = int(size.sum())
    ends = [least_second(good, low2, high2) for good in (low1, high1)]
    for good, second in zip((low1, high1), ends, strict=True):
        best = min(best, good + second) if second <= high2 else best
    stack = [(low1, high1, *ends)]
    while stack:
        left, right, at_left, at_right = stack.pop()
        if right - left < 2 or left + 1 + at_right >= best:
            continue
        good = (left + right) // 2
        second = least_second(good, at_right, min(at_left, high2))
        best = min(best, good + second) if second <= high2 else best
        stack += [(left, good, at_left, second), (good, right, second, at_right)]
    return best


# How unusual a draw from an urn is: the smaller tail of the hypergeometric law, term by term.


_CHUNK = 4096
_NEGLIGIBLE = 1e-17
"""Terms below this share of the sum change nothing."""


def smaller_tail(seen: int, population: int, good: int, draws: int) -> float:
    r"""Return the smaller of :math:`P(X \le x)` and :math:`P(X \ge x)`.

    X is the number of good items among *draws* from *population* items of which *good* are good.
    The terms of the tail that points away from the mean fall from x on, so a few are enough,
    however large the urn is.

    Parameters
    ----------
    seen
        x, the good items that were drawn.
    population, good, draws
        The urn and the size of the draw.

    Examples
    --------
    >>> round(smaller_tail(1, 20, 10, 10), 6)
    0.000547
    """
    first, last = max(0, draws - (population - good)), min(draws, good)
    step = -1 if seen * population <= draws * good else 1
    end = first if step < 0 else last
    total = 0.0
    for start in range(seen, end + step, step * _CHUNK):
        stop = max(start - _CHUNK + 1, end) if step < 0 else min(start + _CHUNK - 1, end)
        terms = _chances(np.arange(start, stop + step, step), population, good, draws)
        total += float(terms.sum())
        if terms[-1] <= _NEGLIGIBLE * total:
            break
    return min(1.0, total)


def _chances(
    x: npt.NDArray[np.int64], population: int, good: int, draws: int
) -> npt.NDArray[np.float64]:
    from scipy.special import gammaln

    def choose(n: int, k: npt.NDArray[np.int64] | int) -> npt.NDArray[np.float64]:
        return np.asarray(gammaln(n + 1) - gammaln(np.add(k, 1)) - gammaln(np.subtract(n + 1, k)))

    inside = choose(good, x) + choose(population - good, np.subtract(draws, x))
    return np.exp(inside - choose(population, draws))
