"""The exact interval for a share: never below its level, whatever the share and the size."""

from __future__ import annotations

from typing import overload

import numpy as np

from tallystick.results import Interval
from tallystick.stats.intervals.array import Intervals, Numbers, Vector, as_counts, pack
from tallystick.stats.intervals.side import Side, split_alpha

__all__ = ["clopper_pearson"]


@overload
def clopper_pearson(
    successes: float, trials: float, *, alpha: float = ..., side: Side = ...
) -> Interval: ...
@overload
def clopper_pearson(
    successes: Vector, trials: Numbers, *, alpha: float = ..., side: Side = ...
) -> Intervals: ...
def clopper_pearson(
    successes: Numbers, trials: Numbers, *, alpha: float = 0.05, side: Side = "two"
) -> Interval | Intervals:
    r"""Bound a share for certain, from the *successes* among *trials* independent draws.

    The ends invert the two binomial tail tests,

    .. math:: P(X \ge x \mid p_{lo}) = \alpha/2, \qquad P(X \le x \mid p_{hi}) = \alpha/2,   \tag{I1}

    which are quantiles of :math:`\mathrm{Beta}(x, n - x + 1)` and :math:`\mathrm{Beta}(x + 1, n -
    x)`. Exact: coverage is at least nominal at every share and size; the price is width.

    Parameters
    ----------
    successes, trials
        Whole numbers, ``0 <= successes <= trials``. No trials give [0, 1].
    alpha
        One minus the level.
    side
        ``two``, or ``lower`` / ``upper`` for one bound with all of *alpha*.

    Examples
    --------
    >>> print(clopper_pearson(8, 10))
    [0.444, 0.975] (95 %, exact)
    >>> clopper_pearson([0, 5], 10, side="upper").high.round(4).tolist()
    [0.2589, 0.7776]
    """
    from scipy.special import betainccinv, betaincinv

    x, n = as_counts(successes, trials, names=("successes", "trials"))
    at_low, at_high = split_alpha(alpha, side)
    # (I1); the inner np.where only keeps the parameters of the beta law positive where its quantile
    # is not used
    low = np.where(x > 0, betaincinv(np.where(x > 0, x, 1), n - x + 1, at_low), 0.0)
    high = np.where(x < n, betainccinv(x + 1, np.where(x < n, n - x, 1), at_high), 1.0)
    return pack(low, high, alpha=alpha, guarantee="exact", method="clopper-pearson")
