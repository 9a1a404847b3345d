"""The ends of (C2) for many items: compiled sums that step from one number of disagreements to the
next.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from tallystick.compare._exact_search import HALVINGS, POINTS, REACH

__all__ = ["lower_end"]

_compile = numba.njit(cache=True, nogil=True, error_model="numpy")


def _score(b: float, c: float, n: float, t: float) -> float:
    """(C1), with the limits where its denominator vanishes."""
    rest = t * (1.0 - t)
    slope = (2.0 * n - b + c) * t - b - c
    q = (math.sqrt(max(0.0, slope * slope + 8.0 * n * c * rest)) - slope) / (4.0 * n)
    variance = n * (2.0 * q + rest)
    lead = b - c - n * t
    if variance <= 1e-14 * n:
        return 0.0 if abs(lead) <= 1e-9 * n else math.copysign(math.inf, lead)
    return lead / math.sqrt(variance)


_score_of: Any = _compile(_score)


def _log_mass(k: float, n: float, p: float) -> float:
    """Log of the binomial probability of k; p strictly inside (0, 1)."""
    ways = math.lgamma(n + 1.0) - math.lgamma(k + 1.0) - math.lgamma(n - k + 1.0)
    return ways + k * math.log(p) + (n - k) * math.log1p(-p)


_log_mass_of: Any = _compile(_log_mass)


def _above(k: int, m: int, p: float) -> float:
    """Return P(Bin(m, p) >= k) by summing down from the larger terms; stops where nothing more can
    be added.
    """
    if k <= 0:
        return 1.0
    if k > m:
        return 0.0
    total = 0.0
    term = math.exp(_log_mass_of(float(k), float(m), p))
    odds = p / (1.0 - p)
    for j in range(k, m + 1):
        total += term
        term *= odds * (m - j) / (j + 1.0)
        if term < 1e-18 * total and j > m * p:
            break
    return min(1.0, total)


_above_of: Any = _compile(_above)


def _cuts(observed: float, n: int, t: float, lowest: int, highest: int) -> NDArray[np.int64]:
    """For each number of disagreements m, the fewest wins whose score is at least the observed
    one.
    """
    cuts = np.empty(highest - lowest + 1, np.int64)
    k = (lowest + int(n * t)) // 2
    slack = 1e-9 * (1.0 + abs(observed)) if math.isfinite(observed) else 0.0
    for m in range(lowest, highest + 1):
        k = min(max(k, 0), m)
        while k <= m and _score_of(float(k), float(m - k), float(n), t) < observed - slack:
            k += 1
        while k > 0 and _score_of(float(k - 1), float(m - k + 1), float(n), t) >= observed - slack:
            k -= 1
        cuts[m - lowest] = k
    return cuts


_cuts_of: Any = _compile(_cuts)


def _tail(cuts: NDArray[np.int64], lowest: int, n: int, d: float, t: float) -> float:
    """Return P(S >= observed) at disagreement d: wins beyond the cut, over the binomial law of
    m.
    """
    lean = min(1.0, max(0.0, 0.5 * (1.0 + t / d)))
    reach = REACH * math.sqrt(n * d * (1.0 - d)) + 20.0
    start = max(lowest, int(n * d - reach))
    end = min(lowest + len(cuts) - 1, int(n * d + reach) + 1)
    total = 0.0
    k, above, edge = 0, 1.0, 0.0  # cut, P(B >= k), P(B = k - 1), all at the current m
    weight = 0.0
    for m in range(start, end + 1):
        if d >= 1.0:
            weight = 1.0 if m == n else 0.0
        elif m == start:
            weight = math.exp(_log_mass_of(float(m), float(n), d))
        else:
            weight *= (n - m + 1.0) / m * d / (1.0 - d)
        cut = cuts[m - lowest]
        if lean <= 0.0 or lean >= 1.0:
            wins = 0 if lean <= 0.0 else m
            total += weight if wins >= cut else 0.0
            continue
        if m == start or edge < 1e-250:  # begin, or begin again after an underflow
            k = cut
            above = _above_of(k, m, lean)
            edge = math.exp(_log_mass_of(k - 1.0, float(m), lean)) if 0 < k <= m + 1 else 0.0
        else:
            above += lean * edge  # P(B_m >= k) from P(B_{m-1} >= k)
            edge *= (1.0 - lean) * m / (m - k + 1.0) if k <= m else 0.0
            while k < cut and edge > 0.0:
                mass = edge * lean / (1.0 - lean) * (m - k + 1.0) / k  # P(B = k)
                above -= mass
                edge = mass
                k += 1
            while k > cut and edge > 0.0:
                above += edge
                edge *= (1.0 - lean) / lean * (k - 1.0) / (m - k + 2.0)
                k -= 1
            if k != cut:
                k = cut
                above = _above_of(k, m, lean)
                edge = 0.0
        total += weight * min(1.0, max(0.0, above))
    return total


_tail_of: Any = _compile(_tail)


def _rejected(b: int, c: int, n: int, t: float, d_low: float, d_high: float, level: float) -> bool:
    """Say whether t is too small a difference for what was seen, at every d of the range (C2)."""
    least = max(d_low, abs(t))
    if least > d_high:
        return True
    observed = _score_of(float(b), float(c), float(n), t)
    widest = min(max(0.5, least), d_high)  # the d of the range with the largest variance
    reach = REACH * math.sqrt(n * widest * (1.0 - widest)) + 21.0
    lowest = max(0, int(n * least - reach))
    highest = min(n, int(n * d_high + reach) + 2)
    cuts = _cuts_of(observed, n, t, lowest, highest)
    for point in range(POINTS):
        d = least + (d_high - least) * point / (POINTS - 1)
        if d > 0.0 and _tail_of(cuts, lowest, n, d, t) > level:
            return False
        if d <= 0.0 and cuts[0] <= 0 and lowest == 0:
            return False  # no disagreement at all, and even that is as extreme as what was seen
    return True


_rejected_of: Any = _compile(_rejected)


def _lower_end_loop(b: int, c: int, n: int, d_low: float, d_high: float, level: float) -> float:
    outside, inside = -1.0, (b - c) / n
    if not _rejected_of(b, c, n, outside, d_low, d_high, level):
        return outside
    for _ in range(HALVINGS):
        t = 0.5 * (outside + inside)
        if _rejected_of(b, c, n, t, d_low, d_high, level):
            outside = t
        else:
            inside = t
    return outside


lower_end: Any = _compile(_lower_end_loop)
