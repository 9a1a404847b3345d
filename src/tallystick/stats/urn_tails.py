"""How unusual a draw from an urn is: the smaller tail of the hypergeometric law, term by term."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["smaller_tail"]

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
