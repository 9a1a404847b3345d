"""The paper's own formulas: optimal allocation, conditions of its theorem, bound of its stopping rule."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick.errors import InputError

__all__ = ["loss_bound", "optimal_allocation", "optimal_loss", "theorem_conditions"]

FloatArray = NDArray[np.float64]


def optimal_allocation(shares: ArrayLike, sigma: ArrayLike, *, calls: int) -> FloatArray:
    r"""Return how many of *calls* questions each partition gets if its uncertainty is known.

    .. math:: N^*_k = \frac{p_k \sigma_k}{\sum_l p_l \sigma_l} N   \tag{M1}

    [CZZ22]_ (api-shifts), Lemma 1. (Its proof drops a square in Σ Pr²; the statement is right.)

    Examples
    --------
    >>> optimal_allocation([0.5, 0.5], [0.3, 0.1], calls=100)
    array([75., 25.])
    """
    weight = np.asarray(shares, dtype=np.float64) * np.asarray(sigma, dtype=np.float64)
    total = weight.sum()
    if total == 0:  # nothing is uncertain: any allocation has error 0
        return np.asarray(shares, dtype=np.float64) * calls
    return np.asarray(weight / total * calls)  # (M1)


def optimal_loss(shares: ArrayLike, sigma: ArrayLike, *, calls: int) -> float:
    r"""Return the squared Frobenius error of the optimal allocation, :math:`(\sum_k p_k \sigma_k)^2 / N`.

    [CZZ22]_, proof of Theorem 2.

    Examples
    --------
    >>> round(optimal_loss([0.5, 0.5], [0.3, 0.1], calls=100), 6)
    0.0004
    """
    return float((np.asarray(shares) * np.asarray(sigma)).sum() ** 2 / calls)


def theorem_conditions(*, labels: int, bins: int, calls: int, exploration: float) -> tuple[str, ...]:
    r"""Return, in words, which conditions of Theorem 2 do not hold; nothing if all do.

    .. math:: a > 2 \log L + \log K + \tfrac94 \log N, \qquad N > 4 L K   \tag{M2}

    [CZZ22]_, Theorem 2. The paper itself runs with a = 1, far below; measured, it makes no difference.

    Examples
    --------
    >>> theorem_conditions(labels=2, bins=3, calls=2000, exploration=20)
    ()
    >>> theorem_conditions(labels=10, bins=3, calls=100, exploration=1)[1]
    'Theorem 2 asks for more than 4 L K = 120 calls, the budget has 100'
    """
    least = 2 * math.log(labels) + math.log(bins) + 2.25 * math.log(calls)  # (M2)
    broken = []
    if exploration <= least:
        broken.append(f"Theorem 2 asks for an exploration a above {least:.1f}, this run has {exploration:g}")
    if calls <= 4 * labels * bins:
        broken.append(f"Theorem 2 asks for more than 4 L K = {4 * labels * bins} calls, the budget has {calls}")
    return tuple(broken)


def loss_bound(shares: ArrayLike, answered: ArrayLike, sigma2: ArrayLike, *, delta: float = 0.05) -> float:
    r"""Return the upper bound on the expected squared Frobenius error by which the paper stops.

    .. math:: \sum_k \frac{p_k^2}{n_k} \Bigl( \hat\sigma_k + \sqrt{\tfrac{\log(2/\delta)}{2 n_k}} \Bigr)^2   \tag{M3}

    [CZZ22]_, appendix A (*stopping rule under loss requirements*), with the radius of Lemma 3 for its unnamed constant
    c. It bounds the expected error, not the error, and holds at one time, not at any: for a guarantee use
    :func:`tallystick.shift.frobenius_bound`.

    Parameters
    ----------
    shares, answered, sigma2
        Share, answers and estimated uncertainty of every partition; unknown uncertainty (fewer than two answers) is 1.
    delta
        The δ of Lemma 3, for one partition at one time.

    Examples
    --------
    >>> round(loss_bound([0.5, 0.5], [100, 100], [0.1, 0.0]), 6)
    0.000557
    """
    p, n = np.asarray(shares, dtype=np.float64), np.asarray(answered, dtype=np.float64)
    if not 0 < delta < 1:
        raise InputError(f"delta must be in (0, 1), got {delta!r}")
    if (n < 1).any():
        return math.inf
    variance = np.nan_to_num(np.asarray(sigma2, dtype=np.float64), nan=1.0)
    radius = np.sqrt(math.log(2 / delta) / (2 * n))
    return float((p**2 / n * (np.sqrt(variance) + radius) ** 2).sum())  # (M3)
