r"""The exact interval for a difference of accuracies: Tango's statistic with its true distribution.

The number of disagreements :math:`m \sim \mathrm{Bin}(n, d)` and, given m, the wins of the first
model :math:`b \sim \mathrm{Bin}(m, π)` with :math:`π = \tfrac12 (1 + t/d)`. The disagreement d is
not known; Berger and Boos spend a little of the error on a range for it and take the worst d of
that range.
"""

from __future__ import annotations

from dataclasses import replace

from tallystick.compare._exact_ends import HALVINGS, lower_end
from tallystick.errors import InputError
from tallystick.results import Interval
from tallystick.stats.intervals import clopper_pearson
from tallystick.stats.ranges import open_unit, whole

__all__ = ["across_zero", "exact_score"]

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
    shown by enumeration of all outcomes (``docs/coverage/pairs.md``), not by proof between the
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
    [0.039, 0.296] (95 %, exact)
    >>> print(exact_score(0, 0, 50))
    [-0.072, 0.072] (95 %, exact)
    """
    open_unit(alpha=alpha)
    whole(0, first_only=first_only, second_only=second_only)
    whole(1, n=n)
    b, c, size = int(first_only), int(second_only), int(n)
    if b + c > size:
        raise InputError(f"first_only + second_only must be at most n = {size}, got {b} + {c}")
    spent = SPENT_ON_RANGE * alpha / 2
    level = SLACK * (alpha / 2 - spent)
    d_low, d_high = clopper_pearson(b + c, size, alpha=spent)
    low = float(lower_end(b, c, size, d_low, d_high, level))
    high = -float(lower_end(c, b, size, d_low, d_high, level))
    return Interval(low, high, level=1 - alpha, guarantee="exact", method="exact-score")


def across_zero(interval: Interval) -> Interval:
    """Return *interval*, widened to hold 0 if it does not: for a pair that its own test does not
    tell apart.

    (C2) can exclude 0 where McNemar's exact test, which conditions on the disagreements, does not;
    an interval that is printed, or that a gate rests on, must not claim more than the verdict
    beside it. Wider, it keeps its level.

    >>> print(across_zero(exact_score(5, 0, 10)))
    [-0.000, 0.816] (95 %, exact)
    """
    beyond = 2.0 ** (1 - HALVINGS)  # what an end is good to: 0 itself lies inside
    return replace(interval, low=min(interval.low, -beyond), high=max(interval.high, beyond))
