"""Compiled part of the exact finite-population intervals: tails of the hypergeometric law,
inverted.

Everything is written for the *fewest* right items that the sample allows; the most follow by
counting wrong items.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

__all__ = ["fewest_in_strata", "fewest_in_urn", "least_shares"]

_compile = numba.njit(cache=True, nogil=True, error_model="numpy")

Ints = NDArray[np.int64]

BOX_SHARE = 0.05
"""The part of the allowed error that goes to saying where the two strata can lie at all."""
SLACK = 1.0 - 1e-7
"""A count is excluded only if its tail is below this share of the allowed error: tails are good to
about 1e-8 for a population of a million, and rounding must never exclude what it should not."""


def _law(good: int, draws: int, population: int, out: NDArray[np.float64]) -> None:
    """Write P(X = j) for j = 0..draws into *out*: by recursion from the mode, scaled to sum to
    one.
    """
    out[: draws + 1] = 0.0
    first, last = max(0, draws - (population - good)), min(draws, good)
    mode = min(max((draws + 1) * (good + 1) // (population + 2), first), last)
    out[mode] = 1.0
    total = 1.0
    for j in range(mode, last):
        out[j + 1] = (
            out[j] * ((good - j) * (draws - j)) / ((j + 1.0) * (population - good - draws + j + 1))
        )
        total += out[j + 1]
    for j in range(mode, first, -1):
        out[j - 1] = (
            out[j]
            * (j * (population - good - draws + j + 0.0))
            / ((good - j + 1.0) * (draws - j + 1))
        )
        total += out[j - 1]
    for j in range(first, last + 1):
        out[j] /= total


law: Any = _compile(_law)


def _least_kept(
    x: int,
    draws: int,
    population: int,
    budget: float,
    ends: tuple[int, int],
    chance: NDArray[np.float64],
) -> int:
    """Return the least K between *ends* with P(X >= x | K) above the budget; the tail grows with K:
    bisection.

    The lower end is known to be excluded, the upper one not to be; *chance* is room to work in.
    """
    low, high = ends
    while high - low > 1:
        middle = (low + high) // 2
        law(middle, draws, population, chance)
        if chance[x:].sum() <= budget * SLACK:
            low = middle
        else:
            high = middle
    return high


least_kept: Any = _compile(_least_kept)


def _fewest(x: int, draws: int, population: int, budget: float) -> int:
    """Return the least K with P(X >= x | K) above the budget."""
    if budget <= 0.0 or x == 0:
        return x
    return int(
        least_kept(
            x, draws, population, budget, (x - 1, population - (draws - x)), np.empty(draws + 1)
        )
    )


fewest: Any = _compile(_fewest)


def _fewest_in_urn(x: Ints, draws: Ints, population: Ints, budget: float) -> Ints:
    out = np.empty(len(x), np.int64)
    for i in range(len(x)):
        out[i] = fewest(x[i], draws[i], population[i], budget)
    return out


fewest_in_urn: Any = _compile(_fewest_in_urn)


def _tail_of_two(
    first: NDArray[np.float64], above: NDArray[np.float64], a: int, b: int, seen: int
) -> float:
    """Return P(a X1 + b X2 >= seen), with P(X1 = j) in *first* and P(X2 >= j) in *above*, which
    ends with a 0.
    """
    total = 0.0
    for j in range(len(first)):
        short = seen - a * j
        if short <= 0:
            total += first[j]
        elif b > 0:
            total += first[j] * above[min(-(-short // b), len(above) - 1)]
    return total


tail_of_two: Any = _compile(_tail_of_two)


def _at_least(good: int, draws: int, population: int, above: NDArray[np.float64]) -> None:
    """Write P(X >= j), j = 0..draws + 1, into *above*."""
    law(good, draws, population, above)
    above[draws + 1] = 0.0
    for j in range(draws - 1, -1, -1):
        above[j] += above[j + 1]


at_least: Any = _compile(_at_least)


def _least_second(
    first: NDArray[np.float64],
    above: NDArray[np.float64],
    weights: tuple[int, int, int],
    draws: int,
    size: int,
    bounds: tuple[int, int],
    allowed: float,
) -> int:
    """Return the least K2 within *bounds* whose tail is above what is allowed, one more than all if
    none is.

    *weights* are a, b and the value seen of the statistic; *first* is the law of X1 and *above* is
    room to work in.
    """
    a, b, seen = weights
    low, high = bounds[0] - 1, bounds[1] + 1
    while high - low > 1:
        middle = (low + high) // 2
        at_least(middle, draws, size, above)
        if tail_of_two(first, above, a, b, seen) <= allowed:
            low = middle
        else:
            high = middle
    return high


least_second: Any = _compile(_least_second)


def _fewest_of_two(x: Ints, draws: Ints, size: Ints, budget: float) -> int:
    """Return the least K1 + K2 that the statistic of (I12) does not exclude, over every K1 in its
    box.

    The tail grows with K1 and with K2, so the least K2 falls as K1 grows: between a and b no sum is
    below a + 1 plus the least K2 of b. Halves that cannot beat the best sum so far are left out;
    every other K1 is tried.
    """
    if budget <= 0.0:
        return int(x[0] + x[1])
    side = BOX_SHARE * budget / 4  # two strata, two ends each
    least, most = np.empty(2, np.int64), np.empty(2, np.int64)
    for h in range(2):
        least[h] = fewest(x[h], draws[h], size[h], side)
        most[h] = size[h] - fewest(draws[h] - x[h], draws[h], size[h], side)
    allowed = (1 - BOX_SHARE) * budget * SLACK
    # whole numbers: equal statistics stay equal
    a, b = size[0] * max(draws[1], 1), size[1] * max(draws[0], 1)
    if draws[0] == 0:
        a = 0
    if draws[1] == 0:
        b = 0
    weights = (a, b, a * x[0] + b * x[1])
    first, above = np.empty(draws[0] + 1), np.empty(draws[1] + 2)
    best = size[0] + size[1]
    # K1 of both ends, least K2 of both: a depth of 64 halvings is never reached
    stack = np.empty((128, 4), np.int64)
    for end in range(2):
        k1 = (least[0], most[0])[end]
        law(k1, draws[0], size[0], first)
        k2 = least_second(first, above, weights, draws[1], size[1], (least[1], most[1]), allowed)
        stack[0, end], stack[0, 2 + end] = k1, k2
        if k2 <= most[1]:
            best = min(best, k1 + k2)
    depth = 1
    while depth:
        depth -= 1
        left, right, at_left, at_right = (
            stack[depth, 0],
            stack[depth, 1],
            stack[depth, 2],
            stack[depth, 3],
        )
        if right - left < 2 or left + 1 + at_right >= best:
            continue
        k1 = (left + right) // 2
        law(k1, draws[0], size[0], first)
        k2 = least_second(
            first, above, weights, draws[1], size[1], (at_right, min(at_left, most[1])), allowed
        )
        if k2 <= most[1]:
            best = min(best, k1 + k2)
        stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3] = left, k1, at_left, k2
        stack[depth + 1, 0], stack[depth + 1, 1], stack[depth + 1, 2], stack[depth + 1, 3] = (
            k1,
            right,
            k2,
            at_right,
        )
        depth += 2
    return int(best)


fewest_of_two: Any = _compile(_fewest_of_two)


def _fewest_in_strata(x: Ints, draws: Ints, size: Ints, budget: float) -> Ints:
    out = np.empty(len(x), np.int64)
    for i in range(len(x)):
        out[i] = fewest_of_two(x[i], draws[i], size[i], budget)
    return out


fewest_in_strata: Any = _compile(_fewest_in_strata)


def _least_share(
    x: int, draws: int, sizes: tuple[int, int], budget: float, most_steps: int
) -> tuple[int, int]:
    """Return K and Q of the least share K/Q over populations Q within *sizes*, K the fewest that
    *budget* leaves in Q.

    K grows with Q, by at most 1 each step, so each K is looked for from the one before. More than
    *most_steps* populations are taken in equal strides, each with its smallest K over its largest
    Q: never above the true least.
    """
    size, last = sizes
    if budget <= 0.0 or x == 0:
        return x, last
    chance = np.empty(draws + 1)
    stride = (last - size) // most_steps + 1
    low, high = x - 1, size - (draws - x)
    best, of = 1, 1
    while True:
        k = least_kept(x, draws, size, budget, (low, high), chance)
        end = min(size + stride - 1, last)
        if k * of < best * end:
            best, of = k, end
        if end == last:
            return best, of
        size += stride
        low, high = k - 1, k + stride


least_share: Any = _compile(_least_share)


def _least_shares(
    x: Ints, draws: Ints, first: Ints, last: Ints, budget: float, most_steps: int
) -> Ints:
    out = np.empty((2, len(x)), np.int64)
    for i in range(len(x)):
        out[0, i], out[1, i] = least_share(x[i], draws[i], (first[i], last[i]), budget, most_steps)
    return out


least_shares: Any = _compile(_least_shares)
