"""Two systems labelled on different items, or on partly common ones."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tallystick.errors import InputError
from tallystick.results import Interval, Unknown
from tallystick.stats.adverse.estimate import AdverseEstimate
from tallystick.stats.intervals.array import Vector

__all__ = ["CommonItems", "difference_of_estimates", "mover_reach"]

FEWEST = 5
"""Fewer common items than this do not show a correlation: the worst one is assumed."""
METHOD = "adverse likelihood, MOVER"


@dataclass(frozen=True, kw_only=True)
class CommonItems:
    """Items on which both systems were labelled.

    Parameters
    ----------
    count
        How many there are.
    correlation
        Correlation of the two systems' labels on them; -1 if there are fewer than five.
    """

    count: int
    correlation: float

    @classmethod
    def of(cls, first: Vector, second: Vector) -> CommonItems:
        """Measure the correlation of two systems' labels on their common items.

        Labels of one system that are all equal have no correlation with anything: it is 0.

        Examples
        --------
        >>> common = CommonItems.of([1, 1, 0, 0, 1, 0], [0, 1, 1, 1, 0, 1])
        >>> common.count, round(common.correlation, 4)
        (6, -0.7071)
        >>> CommonItems.of([1, 0], [1, 0])
        CommonItems(count=2, correlation=-1.0)
        """
        a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
        if a.ndim != 1 or a.shape != b.shape:
            raise InputError(
                "first and second must hold one label per common item, "
                f"got shapes {a.shape} and {b.shape}"
            )
        if a.size < FEWEST:
            return cls(count=a.size, correlation=-1.0)
        if np.ptp(a) == 0 or np.ptp(b) == 0:
            return cls(count=a.size, correlation=0.0)
        return cls(count=a.size, correlation=float(np.corrcoef(a, b)[0, 1]))


def mover_reach(first: float, second: float, *, shared: float, correlation: float) -> float:
    r"""Return how far a difference reaches to one side, from the reaches of its two parts.

    .. math:: \sqrt{a^2 + b^2 + 2 \max(0, -r) \frac{m_c}{\sqrt{m_A m_B}}\, a b}   \tag{AL9}

    A negative correlation on common items widens the difference; a positive one would narrow it,
    and is not used.

    Parameters
    ----------
    first, second
        The reaches a and b.
    shared
        :math:`m_c/\sqrt{m_A m_B}`: common items against the labels of both systems.
    correlation
        r.

    Examples
    --------
    >>> round(mover_reach(0.10, 0.08, shared=0.5, correlation=-0.5), 4)
    0.1428
    >>> round(mover_reach(0.10, 0.08, shared=0.5, correlation=0.3), 4)
    0.1281
    """
    cross = 2 * max(0.0, -correlation) * shared * first * second
    return math.sqrt(first**2 + second**2 + cross)  # (AL9)


def difference_of_estimates(
    first: AdverseEstimate, second: AdverseEstimate, *, common: CommonItems | None = None
) -> AdverseEstimate:
    r"""Estimate how much better one system is than another, from one estimate of each.

    For systems labelled on different items, or on partly common ones. The ends are

    .. math:: \hat\Delta - R(\hat p_A - L_A, U_B - \hat p_B), \qquad
              \hat\Delta + R(U_A - \hat p_A, \hat p_B - L_B),

    R being the reach (AL9), clipped to [-1, 1]. Approximate. Where all labels are on the same
    items, use :func:`adverse_difference`, which sees what the two systems have in common.

    Parameters
    ----------
    first, second
        Estimates of two shares or means on [0, 1], at one level.
    common
        The items labelled for both systems. None: there are none.

    Returns
    -------
    AdverseEstimate
        Its ``n_labels`` counts the labels of both systems, and its ``labels_only`` is the
        difference of the two labels-only intervals, from the same estimates.

    Examples
    --------
    >>> from tallystick.stats.adverse import adverse_share
    >>> a = adverse_share([28, 80], [10, 20], [3, 19])
    >>> b = adverse_share([58, 50], [16, 14], [4, 11])
    >>> print(difference_of_estimates(a, b))
    0.2835 [0.096, 0.447] (95 %, approximate)
    """
    a, b = first.estimate, second.estimate
    if isinstance(a, Unknown) or isinstance(b, Unknown):
        raise InputError("first and second must both have an estimate: label some items of each")
    if first.interval.level != second.interval.level:
        raise InputError(
            "first and second must have one level, "
            f"got {first.interval.level} and {second.interval.level}"
        )
    shared, correlation = 0.0, 0.0
    if common is not None:
        if common.count > min(first.n_labels, second.n_labels):
            raise InputError(
                f"common: {common.count} common items are more than the {first.n_labels} and "
                f"{second.n_labels} labels of the two systems"
            )
        shared = common.count / math.sqrt(first.n_labels * second.n_labels)
        correlation = common.correlation

    def ends(one: Interval, two: Interval) -> Interval:
        down = _reach(a - one.low, two.high - b)
        up = _reach(one.high - a, b - two.low)
        low, high = max(-1.0, a - b - down), min(1.0, a - b + up)
        return Interval(low, high, one.level, "approximate", None, METHOD)

    def _reach(one: float, two: float) -> float:
        # An estimate from the strata can lie outside the interval from the labels alone.
        return mover_reach(max(0.0, one), max(0.0, two), shared=shared, correlation=correlation)

    interval = ends(first.interval, second.interval)
    labels_only = ends(first.labels_only, second.labels_only)
    labels = first.n_labels + second.n_labels
    ratio = labels_only.width / interval.width if interval.width > 0 else 1.0
    return AdverseEstimate(
        estimate=a - b,
        interval=interval,
        labels_only=labels_only,
        n_labels=labels,
        worth=labels * ratio**2,
    )
