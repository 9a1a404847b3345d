"""The mean of a session's values at a planned stop, each skip counted both ways.

Passes and fails are counted, and the interval is that of a share (`planned_share`). Grades and the
differences of two systems take more values, and have the likelihood of these values (AL19).
"""

from __future__ import annotations

import numpy as np

from tallystick.results import Interval
from tallystick.sampling.labels.consensus import Floats, Ints
from tallystick.sampling.labels.planned_share import planned_share
from tallystick.stats.adverse.stratified import adverse_stratified_mean
from tallystick.stats.intervals.array import Vector

__all__ = ["planned_mean"]


def planned_mean(
    sizes: Vector,
    stratum: Ints,
    values: tuple[Floats, Floats],
    *,
    bounds: tuple[float, float] = (0.0, 1.0),
    counted: bool = True,
    alpha: float = 0.05,
) -> tuple[float, Interval]:
    """Return the estimate and the interval of the mean over all units of the strata.

    Parameters
    ----------
    sizes
        How many units each stratum has.
    stratum
        The stratum of each draw that was read.
    values
        The value of each draw, with skips at the least and at the largest value.
    bounds
        The least and the largest value.
    counted
        Whether a value is one of two, pass or fail. False for grades and differences.
    alpha
        One minus the level.

    Examples
    --------
    Twenty of 100 items were labelled: four in five passed.

    >>> passed = np.array([1.0] * 16 + [0.0] * 4)
    >>> estimate, interval = planned_mean([100], np.zeros(20, int), (passed, passed))
    >>> print(round(estimate, 2), interval)
    0.8 [0.600, 0.930] (95 %, approximate)
    """
    if counted:
        count = np.size(sizes)
        labelled = np.bincount(stratum, minlength=count)
        sums = [np.bincount(stratum, weights=part, minlength=count) for part in values]
        share = planned_share(sizes, labelled, *sums, alpha=alpha)
        return float(share.estimate[0]), share.interval(alpha=alpha)
    low = adverse_stratified_mean(values[0], stratum, sizes, bounds=bounds, alpha=alpha)
    high = low
    if not np.array_equal(*values):
        high = adverse_stratified_mean(values[1], stratum, sizes, bounds=bounds, alpha=alpha)
    ends = low.interval
    interval = Interval(
        ends.low, high.interval.high, ends.level, ends.guarantee, ends.assumption, ends.method
    )
    return (low.estimate + high.estimate) / 2, interval
