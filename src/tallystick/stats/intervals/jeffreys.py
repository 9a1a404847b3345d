"""The equal-tailed interval of Jeffreys' prior: short, and right on average."""

from __future__ import annotations

from typing import overload

import numpy as np

from tallystick.results import Interval
from tallystick.stats.intervals.array import Intervals, Numbers, Vector, as_counts, pack
from tallystick.stats.intervals.side import Side, split_alpha

__all__ = ["jeffreys"]


@overload
def jeffreys(
    successes: float, trials: float, *, alpha: float = ..., side: Side = ...
) -> Interval: ...
@overload
def jeffreys(
    successes: Vector, trials: Numbers, *, alpha: float = ..., side: Side = ...
) -> Intervals: ...
def jeffreys(
    successes: Numbers, trials: Numbers, *, alpha: float = 0.05, side: Side = "two"
) -> Interval | Intervals:
    r"""Bound a share approximately, by the equal tails of the posterior under Jeffreys' prior.

    .. math:: [B_{\alpha/2}, B_{1 - \alpha/2}], \qquad B \sim \mathrm{Beta}(x + \tfrac12, n - x + \tfrac12)   \tag{I3}

    with the lower end 0 at x = 0 and the upper end 1 at x = n. Approximate: its coverage swings
    around nominal, with spikes down beside the ends of the scale
    (``docs/coverage/binomial-approximate.md`` has the figures).

    Parameters
    ----------
    successes, trials
        ``0 <= successes <= trials``; real values are allowed, for effective sizes. No trials give
        [0, 1].
    alpha, side
        As in :func:`clopper_pearson`.

    Examples
    --------
    >>> print(jeffreys(8, 10))
    [0.497, 0.956] (95 %, approximate)
    """
    from scipy.special import betainccinv, betaincinv

    x, n = as_counts(successes, trials, names=("successes", "trials"), integer=False)
    at_low, at_high = split_alpha(alpha, side)
    low = np.where(x > 0, betaincinv(x + 0.5, n - x + 0.5, at_low), 0.0)  # (I3)
    high = np.where(x < n, betainccinv(x + 0.5, n - x + 0.5, at_high), 1.0)
    return pack(low, high, alpha=alpha, guarantee="approximate", method="jeffreys")
