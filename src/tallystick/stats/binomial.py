"""Binomial tails and masses that stay exact where the textbook forms lose their digits."""

from __future__ import annotations

from math import sqrt

import numpy as np
import numpy.typing as npt

from tallystick.stats.ranges import closed_unit, whole

__all__ = ["binomial_above", "binomial_up_to", "binomial_window"]

Floats = npt.NDArray[np.float64]


def binomial_up_to(k: npt.ArrayLike, n: npt.ArrayLike, p: npt.ArrayLike) -> Floats:
    r"""Return :math:`P(X \le k) = I_{1-p}(n-k, k+1)` for a binomial count; k may be -1 or n.

    >>> float(binomial_up_to(1, 2, 0.5))
    0.75
    """
    return _tail(k, n, p, upper=False)


def binomial_above(k: npt.ArrayLike, n: npt.ArrayLike, p: npt.ArrayLike) -> Floats:
    r"""Return :math:`P(X > k) = I_p(k+1, n-k)`: a tail of its own, not one minus the other.

    >>> float(binomial_above(1, 2, 0.5))
    0.25
    """
    return _tail(k, n, p, upper=True)


def binomial_window(n: int, p: float) -> tuple[Floats, Floats]:
    """Return the counts that matter and their probabilities; what is left out weighs less than
    1e-30.

    >>> counts, mass = binomial_window(2, 0.5)
    >>> counts.tolist(), [round(x, 12) for x in mass.tolist()]
    ([0.0, 1.0, 2.0], [0.25, 0.5, 0.25])
    """
    from scipy import special

    whole(0, n=n)
    closed_unit(p=p)
    reach = 12 * sqrt(n * p * (1 - p)) + 30
    m = np.arange(max(0, int(n * p - reach)), min(n, int(n * p + reach)) + 1, dtype=float)
    log_ways = special.gammaln(n + 1) - special.gammaln(m + 1) - special.gammaln(n - m + 1)
    return m, np.exp(log_ways + special.xlogy(m, p) + special.xlog1py(n - m, -p))


def _tail(k: npt.ArrayLike, n: npt.ArrayLike, p: npt.ArrayLike, *, upper: bool) -> Floats:
    from scipy import special

    at, size, rate = np.broadcast_arrays(*(np.asarray(value, dtype=float) for value in (k, n, p)))
    inside = (at >= 0) & (at < size)
    heads, tails = np.where(inside, at + 1, 1), np.where(inside, size - at, 1)
    value = (
        special.betainc(heads, tails, rate) if upper else special.betainc(tails, heads, 1 - rate)
    )
    return np.where(at < 0, float(upper), np.where(at >= size, float(not upper), value))
