"""Two models on the same items, right or wrong: Tango's interval, McNemar's test, for one pair or
for all at once.

Everything rests on three numbers a pair: n items, :math:`b` on which only the first is right,
:math:`c` on which only the second is. The items on which both are right or both wrong say nothing
of the difference, and their split is not needed. From the moments of 0/1 scores, :math:`b = S_1 -
C_{12}` and :math:`c = S_2 - C_{12}`.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray
from scipy import special

from tallystick.results import Interval
from tallystick.stats.exact_tails import at_least, binomial_up_to, open_unit, positive, whole
from tallystick.stats.intervals import Intervals, as_counts, clopper_pearson

Floats = npt.NDArray[np.float64]

HALVINGS = 42
"""Halvings of an interval of width 2: ends are good to 5e-13 and lie outside, never inside."""


def discordance(total: npt.ArrayLike, products: npt.ArrayLike, n: int) -> tuple[Floats, Floats]:
    """Return b and c of every pair, from sums and sums of products of 0/1 scores; pairs as
    ``numpy.triu_indices`` lists them.

    Examples
    --------
    >>> scores = np.array([[1, 1], [1, 0], [1, 0], [0, 1], [0, 0]])
    >>> [found.tolist() for found in discordance(scores.sum(axis=0), scores.T @ scores, 5)]
    [[2.0], [1.0]]
    """
    s, g = np.asarray(total, dtype=float), np.asarray(products, dtype=float)
    first, second = np.triu_indices(len(s), 1)
    both = g[first, second]
    return s[first] - both, s[second] - both


def mcnemar(
    first_only: npt.ArrayLike, second_only: npt.ArrayLike, *, mid_p: npt.ArrayLike = False
) -> Floats:
    r"""Return the two-sided p-value of "both models are equally good", exact; any shape.

    Given :math:`m = b + c` disagreements the wins are fair coin tosses:
    :math:`p = \min\{1, 2 P(\mathrm{Bin}(m, ½) \le \min(b, c))\}`.

    Parameters
    ----------
    first_only, second_only
        b and c.
    mid_p
        Where to count the observed outcome by half. More powerful, and no longer exact.

    Examples
    --------
    >>> mcnemar(9, 1).round(6), mcnemar(9, 1, mid_p=True).round(6), mcnemar(0, 0)
    (np.float64(0.021484), np.float64(0.011719), np.float64(1.0))
    """
    whole(0, first_only=first_only, second_only=second_only)
    b, c = np.asarray(first_only, dtype=float), np.asarray(second_only, dtype=float)
    m, least = b + c, np.minimum(b, c)
    tail = 2 * binomial_up_to(least, m, 0.5)
    log_mass = (
        special.gammaln(m + 1)
        - special.gammaln(least + 1)
        - special.gammaln(m - least + 1)
        - m * np.log(2)
    )
    # At b = c both tails hold the middle outcome, which counts once: the mid-p value is 1 there.
    halved = np.where(b == c, 1.0, tail - np.exp(log_mass))
    return np.asarray(np.where(mid_p, halved, np.minimum(1.0, tail)))[()]


def paired_test(
    first_only: npt.ArrayLike, second_only: npt.ArrayLike, n: int, *, certified: bool = False
) -> Floats:
    r"""Return the p-values by which two models on the same n items are told apart; any shape.

    Up to 100 items the unconditional test (`unconditional_test`), whose size is at most the level.
    Beyond, McNemar's mid-p value where the models disagree on at most half of the items, his exact
    one elsewhere: enumerated for n up to 700 and 400 values of the disagreement, the size is at
    most the level at .05, .05/3 and .01, and at most .1001 at .1; mid-p values alone reach .077, at
    disagreements above .8. *certified* takes McNemar's exact test everywhere.

    Examples
    --------
    >>> paired_test(9, 1, 50).round(4), paired_test(9, 1, 50, certified=True).round(4)
    (np.float64(0.0094), np.float64(0.0215))
    """
    whole(0, first_only=first_only, second_only=second_only)
    b, c = np.asarray(first_only, dtype=float), np.asarray(second_only, dtype=float)
    if n <= LISTED and not certified:
        apart, least = (b + c).astype(int), np.minimum(b, c).astype(int)
        return np.asarray(unconditional_test(n)[apart, least])[()]
    few = np.zeros(b.shape, bool) if certified else 2 * (b + c) <= n
    return mcnemar(b, c, mid_p=few)


LISTED = 100
"""Items up to which every outcome is listed, so that the size of the test is known."""
_GRID = 200
"""Values of the disagreement at which the worst case is sought; between them it is higher by less
than one part in a thousand."""


@lru_cache(maxsize=64)
def unconditional_test(n: int) -> Floats:
    r"""Return the p-value of every outcome on n items: disagreements m x fewer wins.

    Outcomes are ordered by :math:`|b - c|/\sqrt{m}`, then by how likely so large a value is at the
    disagreement that was seen; the p-value is the largest probability, over all disagreements d, of
    an outcome at least as extreme (estimate, then maximise). Enumerated for every n from 2 to 100,
    the size is at most the level.

    >>> unconditional_test(20)[5, 0].round(4)
    np.float64(0.0243)
    """
    m = np.repeat(np.arange(n + 1.0), np.arange(n + 1) // 2 + 1)
    c = np.concatenate([np.arange(k // 2 + 1.0) for k in range(n + 1)])
    lead = m - 2 * c
    z = lead / np.sqrt(np.maximum(m, 1.0))
    # Under equal models: which items differ, which of these the first wins, and either side.
    ways = special.gammaln(n + 1) - special.gammaln(m - c + 1) - special.gammaln(c + 1)
    ways = ways - special.gammaln(n - m + 1) + np.log(2) * (np.where(lead > 0, 1.0, 0.0) - m)

    def beyond(extreme: Floats, d: Floats) -> Floats:
        """Return P(at least as extreme), outcomes x disagreements."""
        rarely = special.xlog1py((n - m)[:, None], -d)
        mass = np.exp(ways[:, None] + special.xlogy(m[:, None], d) + rarely)
        order = np.argsort(-extreme, kind="stable")
        ranked = -extreme[order]
        last = np.searchsorted(ranked, ranked + 1e-9 * (1 + np.abs(ranked)), side="right") - 1
        tails = np.empty_like(mass)
        tails[order] = np.cumsum(mass[order], axis=0)[last]
        return np.asarray(tails)

    seen = beyond(z, np.arange(n + 1.0) / n)[np.arange(m.size), m.astype(int)]
    unlikely = -np.log(np.maximum(np.where(m > 0, seen, 1.0), 1e-300))
    grid = np.sin(np.linspace(0.0, np.pi / 2, _GRID + 1)[1:]) ** 2
    worst = np.minimum(1.0, beyond(unlikely, grid).max(axis=1))

    found = np.ones((n + 1, n // 2 + 1))
    found[m.astype(int), c.astype(int)] = worst
    return found


def tango(
    first_only: npt.ArrayLike, second_only: npt.ArrayLike, n: npt.ArrayLike, *, alpha: float = 0.05
) -> Intervals:
    r"""Bound the difference of two accuracies on the same items by Tango's score interval; any
    number of pairs.

    The differences t that the score test does not reject, :math:`|S(t)| \le z`, with

    .. math:: S(t) = \frac{b - c - nt}{\sqrt{n (2q + t(1-t))}}, \qquad q = \frac{\sqrt{B^2 - 4AC} - B}{2A},   \tag{C1}

    :math:`A = 2n,\ B = -b - c + (2n - b + c)\,t,\ C = -c\,t(1-t)`: q is the likeliest share of
    "only the second is right" if t were the difference. Each end by bisection. Approximate:
    measured coverage stands in ``docs/benchmarks/compare.md``; the formula is derived in
    ``docs/theory/compare.md#pairs``.

    Parameters
    ----------
    first_only, second_only, n
        b, c and the items, :math:`b + c \le n`; real values are allowed, for effective sizes.
        Arrays broadcast.
    alpha
        One minus the level of each interval.

    Examples
    --------
    >>> found = tango([0, 9], [0, 1], 50)
    >>> [str(one) for one in found]
    ['[-0.071, 0.071] (95%, approximate)', '[0.045, 0.293] (95%, approximate)']
    """
    open_unit(alpha=alpha)
    b, c, size = np.broadcast_arrays(
        *(np.atleast_1d(np.asarray(x, dtype=float)) for x in (first_only, second_only, n))
    )
    at_least(
        0,
        first_only=b,
        second_only=c,
        same=size * (1 + 1e-12) - b - c,
    )
    positive(n=size)
    z = float(-special.ndtri(alpha / 2))
    high = _upper_end(b, c, size, z)
    low = -_upper_end(c, b, size, z)  # S changes sign when the two models change places
    return Intervals(low, high, level=1 - alpha, guarantee="approximate", method="tango")


def _upper_end(b: Floats, c: Floats, n: Floats, z: float) -> Floats:
    """Return the largest t with S(t) >= -z: S falls in t, from 0 at the estimate."""
    lead, m, squared = b - c, b + c, z * z
    inside, outside = lead / n, np.ones_like(n)
    for _ in range(HALVINGS):
        t = (inside + outside) / 2
        rest = t * (1 - t)
        slope = (2 * n - lead) * t - m
        q = (np.sqrt(slope * slope + 8 * n * c * rest) - slope) / (4 * n)
        # (C1) squared: t is above the estimate
        kept = (n * t - lead) ** 2 <= squared * n * (2 * q + rest)
        inside, outside = np.where(kept, t, inside), np.where(kept, outside, t)
    return np.asarray(outside)


# The exact interval for a difference of accuracies: Tango's statistic with its true distribution.
#
# The number of disagreements :math:`m \sim \mathrm{Bin}(n, d)` and, given m, the wins of the first
# model :math:`b \sim \mathrm{Bin}(m, π)` with :math:`π = \tfrac12 (1 + t/d)`. The disagreement d is
# not known; Berger and Boos spend a little of the error on a range for it and take the worst d of
# that range.


SPENT_ON_RANGE = 0.04
"""Share of each tail's error that the range for d costs."""
SLACK = 0.98
"""The worst d is sought on a grid; testing at .98 of the level covers what lies between its points.
"""


def exact_score(first_only: int, second_only: int, n: int, *, alpha: float = 0.05) -> Interval:
    r"""Bound the difference of two accuracies on the same items, for certain.

    For each end, of the error :math:`α/2` the share .04 buys a Clopper-Pearson range :math:`[d_L,
    d_U]` for the disagreement; t is outside the interval if

    .. math:: \max_{d \in [\max(d_L, |t|),\, d_U]} P\bigl(S(B, M - B; t) \ge S_{obs} \mid d, π\bigr)
              \le .98 \cdot .96 \cdot α/2   \tag{C2}

    with S of (C1), at 16 points of d. That no difference is covered less often than promised is
    shown by enumeration of all outcomes (``docs/benchmarks/compare.md``), not by proof between the
    points: hence the .98. Two to six per cent wider than Tango's interval.

    Parameters
    ----------
    first_only, second_only, n
        Items on which only the first, only the second is right, and all items.
    alpha
        One minus the level.

    Examples
    --------
    >>> print(exact_score(9, 1, 50))
    [0.039, 0.296] (95%, exact)
    >>> print(exact_score(0, 0, 50))
    [-0.072, 0.072] (95%, exact)
    """
    open_unit(alpha=alpha)
    whole(0, first_only=first_only, second_only=second_only)
    whole(1, n=n)
    b, c, size = int(first_only), int(second_only), int(n)
    as_counts(b + c, size, names=("disagreements", "n"))
    spent = SPENT_ON_RANGE * alpha / 2
    level = SLACK * (alpha / 2 - spent)
    d_low, d_high = clopper_pearson(b + c, size, alpha=spent)
    low = float(lower_end(b, c, size, d_low, d_high, level))
    high = -float(lower_end(c, b, size, d_low, d_high, level))
    return Interval(low, high, level=1 - alpha, guarantee="exact", method="exact-score")


# The ends of (C2): all disagreements and all d at once.


POINTS = 16
EXACT_ENDS_HALVINGS = 30
"""Halvings of an interval of width at most 2: ends are good to 2e-9 and always lie outside."""
REACH = 8.0
"""Standard deviations of the number of disagreements that are summed over; beyond lies less than
1e-14."""

_NO_WEIGHT = 1e-17
"""Numbers of disagreements less likely than this change no tail that is compared with a level."""


def lower_end(b: int, c: int, n: int, d_low: float, d_high: float, level: float) -> float:
    """Return the smallest difference that is not rejected, from outside.

    >>> round(lower_end(9, 1, 50, 0.08, 0.4, 0.023), 3)
    0.039
    """
    outside, inside = -1.0, (b - c) / n
    if not _rejected(b, c, n, outside, d_low, d_high, level):
        return outside
    for _ in range(EXACT_ENDS_HALVINGS):
        t = 0.5 * (outside + inside)
        if _rejected(b, c, n, t, d_low, d_high, level):
            outside = t
        else:
            inside = t
    return outside


def _rejected(b: int, c: int, n: int, t: float, d_low: float, d_high: float, level: float) -> bool:
    """Say whether t is too small a difference for what was seen, at every d of the range (C2)."""
    least = max(d_low, abs(t))
    if least > d_high:
        return True
    observed = float(_score(np.asarray(b, np.float64), np.asarray(c, np.float64), n, t))

    # Only these numbers of disagreements can occur, at any d of the range.
    widest = min(max(0.5, least), d_high)
    reach = REACH * math.sqrt(n * widest * (1.0 - widest)) + 21.0
    lowest, highest = max(0, int(n * least - reach)), min(n, int(n * d_high + reach) + 2)
    m = np.arange(lowest, highest + 1.0)
    cut = _cuts(observed, n, t, m)

    d = least + (d_high - least) * np.arange(POINTS) / (POINTS - 1)
    if d[0] <= 0.0 and lowest == 0 and cut[0] <= 0:
        return False  # no disagreement at all, and even that is as extreme as what was seen
    return not bool((_tails(cut, m, n, d[d > 0.0], t) > level).any())


def _score(b: NDArray[np.float64], c: NDArray[np.float64], n: int, t: float) -> NDArray[np.float64]:
    """(C1), with the limits where its denominator vanishes."""
    rest = t * (1.0 - t)
    slope = (2.0 * n - b + c) * t - b - c
    q = (np.sqrt(np.maximum(0.0, slope * slope + 8.0 * n * c * rest)) - slope) / (4.0 * n)
    variance = n * (2.0 * q + rest)
    lead = b - c - n * t
    flat = variance <= 1e-14 * n
    limit = np.where(np.abs(lead) <= 1e-9 * n, 0.0, np.copysign(np.inf, lead))
    return np.where(flat, limit, lead / np.sqrt(np.where(flat, 1.0, variance)))


def _cuts(observed: float, n: int, t: float, m: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each number of disagreements m, the fewest wins whose score is at least the observed
    one; m + 1 if no number is enough.
    """
    slack = 1e-9 * (1.0 + abs(observed)) if math.isfinite(observed) else 0.0
    low, high = np.zeros(len(m)), m + 1.0
    for _ in range(int(m[-1] + 1).bit_length()):  # the score grows with the wins: halve
        middle = np.floor((low + high) / 2)
        enough = _score(middle, m - middle, n, t) >= observed - slack
        high = np.where(enough & (low < high), middle, high)
        low = np.where(~enough & (low < high), middle + 1.0, low)
    return high


def _tails(
    cut: NDArray[np.float64], m: NDArray[np.float64], n: int, d: NDArray[np.float64], t: float
) -> NDArray[np.float64]:
    """Return P(S >= observed) at each disagreement d: wins beyond the cut, over the binomial law of
    m.
    """
    by_d = d[:, np.newaxis]
    ways = special.gammaln(n + 1.0) - special.gammaln(m + 1.0) - special.gammaln(n - m + 1.0)
    weight = np.exp(ways + special.xlogy(m, by_d) + special.xlog1py(n - m, -by_d))

    # Wins beyond the cut are certain at a cut of 0 and impossible beyond m.
    lean, above = np.clip(0.5 * (1.0 + t / by_d), 0.0, 1.0), np.zeros(weight.shape)
    special.betainc(
        np.maximum(cut, 1.0),
        np.maximum(m - cut + 1.0, 1.0),
        np.broadcast_to(lean, weight.shape),
        out=above,
        where=weight > _NO_WEIGHT,
    )
    above = np.where(cut <= 0.0, 1.0, np.where(cut > m, 0.0, above))
    return np.asarray((weight * above).sum(axis=1))
