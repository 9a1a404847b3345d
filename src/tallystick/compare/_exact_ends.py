"""The ends of (C2): all disagreements and all d at once."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import special

__all__ = ["HALVINGS", "lower_end"]

POINTS = 16
HALVINGS = 30
"""Halvings of an interval of width at most 2: ends are good to 2e-9 and always lie outside."""
REACH = 8.0
"""Standard deviations of the number of disagreements that are summed over; beyond lies less than
1e-14."""
FEW = 300
"""Numbers of disagreements from which stepping from one to the next takes less time."""

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
    for _ in range(HALVINGS):
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

    lean = np.clip(0.5 * (1.0 + t / by_d), 0.0, 1.0)
    steps = np.diff(cut)
    many = m.size > FEW and bool(((steps == 0) | (steps == 1)).all())
    above = _stepped(cut, m, lean) if many else _above(cut, m, lean, weight > _NO_WEIGHT)
    return np.asarray((weight * above).sum(axis=1))


def _above(
    cut: NDArray[np.float64],
    m: NDArray[np.float64],
    lean: NDArray[np.float64],
    where: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Return P(Bin(m, lean) >= cut), which is certain at a cut of 0 and impossible beyond m."""
    above = np.zeros(where.shape)
    special.betainc(
        np.maximum(cut, 1.0),
        np.maximum(m - cut + 1.0, 1.0),
        np.broadcast_to(lean, where.shape),
        out=above,
        where=where,
    )
    return np.where(cut <= 0.0, 1.0, np.where(cut > m, 0.0, above))


def _stepped(
    cut: NDArray[np.float64], m: NDArray[np.float64], lean: NDArray[np.float64]
) -> NDArray[np.float64]:
    r"""Return the same from one m to the next, where the cut rises by 0 or 1 each time.

    .. math:: P(B_{m+1} \ge k) = P(B_m \ge k) + π P(B_m = k - 1), \qquad
              P(B_{m+1} \ge k + 1) = P(B_{m+1} \ge k) - P(B_{m+1} = k).
    """

    def mass(k: NDArray[np.float64], n: NDArray[np.float64]) -> NDArray[np.float64]:
        inside = (k >= 0.0) & (k <= n)
        k = np.where(inside, k, 0.0)
        ways = special.gammaln(n + 1.0) - special.gammaln(k + 1.0) - special.gammaln(n - k + 1.0)
        chance = np.exp(ways + special.xlogy(k, lean) + special.xlog1py(n - k, -lean))
        return np.asarray(np.where(inside, chance, 0.0))

    gain = lean * mass(cut[:-1] - 1.0, m[:-1])
    gain -= np.where(np.diff(cut) > 0.0, mass(cut[:-1], m[1:]), 0.0)
    first = _above(cut[:1], m[:1], lean, np.ones((len(lean), 1), np.bool_))
    above = np.cumsum(np.concatenate([first, gain], axis=1), axis=1)
    return np.asarray(np.clip(above, 0.0, 1.0))
