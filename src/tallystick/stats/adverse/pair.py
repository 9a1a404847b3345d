"""Two systems labelled on different items, or on partly common ones."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tallystick.errors import InputError
from tallystick.results import Interval, Unknown
from tallystick.stats.adverse.estimate import AdverseEstimate
from tallystick.stats.adverse.population import Ends
from tallystick.stats.intervals.array import Floats, Numbers, Vector

__all__ = ["CommonItems", "difference_ends", "difference_of_estimates", "mover_reach"]

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


def mover_reach(
    first: Numbers, second: Numbers, *, shared: Numbers, correlation: Numbers
) -> Floats:
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
    >>> round(float(mover_reach(0.10, 0.08, shared=0.5, correlation=-0.5)), 4)
    0.1428
    >>> round(float(mover_reach(0.10, 0.08, shared=0.5, correlation=0.3)), 4)
    0.1281
    """
    a, b, r = (np.asarray(part, dtype=np.float64) for part in (first, second, correlation))
    return np.asarray(np.sqrt(a**2 + b**2 + 2 * np.maximum(0.0, -r) * shared * a * b))  # (AL9)


def difference_ends(
    first: tuple[Numbers, Numbers, Numbers],
    second: tuple[Numbers, Numbers, Numbers],
    *,
    shared: Numbers,
    correlation: Numbers,
) -> Ends:
    """Return both ends of a difference from the estimate, the lower and the upper end of each part.

    Parameters
    ----------
    first, second
        Estimate, lower and upper end: numbers, or arrays of many pairs.
    shared, correlation
        As in :func:`mover_reach`.

    Examples
    --------
    >>> low, high = difference_ends((0.8, 0.7, 0.9), (0.5, 0.4, 0.6), shared=0.0, correlation=0.0)
    >>> round(float(low), 3), round(float(high), 3)
    (0.159, 0.441)
    """
    (a, low_a, high_a), (b, low_b, high_b) = (
        tuple(np.asarray(part, dtype=np.float64) for part in side) for side in (first, second)
    )

    def reach(one: Floats, two: Floats) -> Floats:
        # An estimate from the strata can lie outside the interval from the labels alone.
        one, two = np.maximum(0.0, one), np.maximum(0.0, two)
        return mover_reach(one, two, shared=shared, correlation=correlation)

    low = np.maximum(-1.0, a - b - reach(a - low_a, high_b - b))
    return low, np.minimum(1.0, a - b + reach(high_a - a, b - low_b))


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
        low, high = difference_ends(
            (a, one.low, one.high), (b, two.low, two.high), shared=shared, correlation=correlation
        )
        return Interval(float(low), float(high), one.level, "approximate", None, METHOD)

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
