"""How uncertain is a categorical answer? The score 1 - Σp², and its unbiased estimates."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick.errors import InputError

__all__ = ["next_uncertainty", "spread", "uncertainty", "uncertainty_score"]

FloatArray = NDArray[np.float64]


def uncertainty_score(p: ArrayLike, *, weights: ArrayLike | None = None) -> FloatArray:
    r"""Return how uncertain a categorical variable with probabilities *p* (last axis) is.

    .. math:: \sigma^2 = \sum_j w_j^2 p_j (1 - p_j) \quad (= 1 - \sum_j p_j^2 \text{ without weights})   \tag{U1}

    This is the trace of the covariance of :math:`w_j 1[y = j]`, so N draws cost σ²/N in squared
    Frobenius error.
    [CZZ22]_ (api-shifts), Definition 1; *weights* are a row of the W of its section 3.2.

    Parameters
    ----------
    p
        Probabilities, summing to 1 along the last axis.
    weights
        Weight of an error in each entry, broadcast against *p*; None means 1.

    Examples
    --------
    >>> uncertainty_score([0.5, 0.5])
    array(0.5)
    >>> uncertainty_score([1 / 3, 1 / 3, 1 / 3])   # the paper's third example prints 1/3 by mistake
    array(0.66666667)
    """
    prob = np.asarray(p, dtype=np.float64)
    if np.any(prob < 0) or not np.allclose(prob.sum(axis=-1), 1):
        raise InputError("p must hold probabilities that sum to 1 along the last axis")
    return np.asarray(np.sum(_squared(weights) * prob * (1 - prob), axis=-1))


def uncertainty(counts: ArrayLike, *, weights: ArrayLike | None = None) -> FloatArray:
    r"""Return the unbiased estimate of the uncertainty score from counts (last axis) of n ≥ 2
    independent answers.

    .. math:: \hat\sigma^2 = \sum_j w_j^2 \frac{H_j (n - H_j)}{n (n - 1)}
              \quad \Bigl(= 1 - \sum_j \frac{H_j (H_j - 1)}{n (n - 1)} \Bigr)   \tag{U2}

    [CZZ22]_, equation (3.1), which counts the pairs of answers that agree. Where n < 2 it is NaN:
    unknown, not zero.

    Parameters
    ----------
    counts
        How often each answer was seen.
    weights
        As in :func:`uncertainty_score`.

    Examples
    --------
    >>> uncertainty([3, 1])
    array(0.5)
    >>> uncertainty([[2, 2], [1, 0]])
    array([0.66666667,        nan])
    """
    H = np.asarray(counts, dtype=np.float64)
    if np.any(H < 0):
        raise InputError("counts must not be negative")
    n = H.sum(axis=-1)
    pairs = np.sum(_squared(weights) * H * (n[..., None] - H), axis=-1)
    return np.asarray(np.where(n < 2, np.nan, pairs / np.where(n < 2, 1, n * (n - 1))))


def next_uncertainty(sigma2: float, n: int, seen: int) -> float:
    r"""Return the estimate after one more answer, from the estimate before it: O(1).

    .. math:: \hat\sigma^2_{n+1} = \hat\sigma^2_n + \frac{2}{n+1} \Bigl( 1 - \frac{H_j}{n} - \hat\sigma^2_n \Bigr)
              \tag{U3}

    with :math:`H_j` = *seen*, how often the new answer j was seen among the first *n* ≥ 1. This is
    the recursion of proof B.3 of [CZZ22]_; line 7 of its Algorithm 1 is misprinted and collapses to
    0 (ERRATA, api-shifts). Start with ``sigma2 = 0`` at n = 1.

    Examples
    --------
    >>> next_uncertainty(next_uncertainty(0.0, 1, 1), 2, 0) == uncertainty([2, 1])
    np.True_
    """
    if n < 1 or not 0 <= seen <= n:
        raise InputError(
            f"the recursion starts from n >= 1 answers of which 0..n agree, got n={n!r},"
            f" seen={seen!r}"
        )
    return sigma2 + 2 / (n + 1) * (1 - seen / n - sigma2)


def spread(n: Any, square: Any, length: Any) -> Any:
    r"""Return the unbiased trace of the covariance of n vectors from three running sums; 0 where n
    < 2.

    .. math:: \hat\sigma^2 = \frac{n \sum_i \lVert x_i \rVert^2 - \lVert \sum_i x_i \rVert^2}{n (n - 1)}   \tag{U4}

    For one-hot vectors this is (U2); a running sum changes in O(1) a vector. Works element by
    element on numbers and on arrays alike, without branches, because a sampler calls it once an
    answer.

    Parameters
    ----------
    n
        How many vectors.
    square
        Sum of their squared lengths.
    length
        Squared length of their sum.

    Examples
    --------
    >>> spread(4, 4, 3 * 3 + 1 * 1)   # counts 3 and 1
    0.5
    """
    # By Cauchy-Schwarz the numerator is >= 0; abs only removes a rounding below it. n < 2 gives
    # 0/1.
    return abs(n * square - length) / (n * (n - 1) + (n < 2))  # (U4)


def _squared(weights: ArrayLike | None) -> FloatArray:
    return np.square(np.asarray(1.0 if weights is None else weights, dtype=np.float64))
