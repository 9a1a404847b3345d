"""The optimal allocation of calls to strata whose uncertainty is known, and its error."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["optimal_allocation", "optimal_loss"]

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
    r"""Return the squared Frobenius error of the optimal allocation, :math:`(\sum_k p_k \sigma_k)^2
    / N`.

    [CZZ22]_, proof of Theorem 2.

    Examples
    --------
    >>> round(optimal_loss([0.5, 0.5], [0.3, 0.1], calls=100), 6)
    0.0004
    """
    return float((np.asarray(shares) * np.asarray(sigma)).sum() ** 2 / calls)
