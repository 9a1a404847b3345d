"""One number of a session at a planned stop: the adverse likelihood on the cells of a measure."""

from __future__ import annotations

import numpy as np

from tallystick.results import Interval, Unknown
from tallystick.sampling.labels.answers import Read, measured
from tallystick.sampling.labels.existing import Apart
from tallystick.sampling.labels.planned_mean import planned_mean
from tallystick.sampling.labels.task import LabelTask, Measure

__all__ = ["apart_of", "planned_measure"]

GAP = (-1.0, 1.0)
"""The values of a difference of two labels."""


def apart_of(known: Read, measure: Measure, task: LabelTask) -> Apart:
    """Return what labels that are counted apart add to the mean of a measure."""
    total = float(measured(known, measure)[0].sum()) if known.n else 0.0
    return Apart(known=known.n, total=total, sampled=task.strata.n_items)


def planned_measure(
    task: LabelTask, read: Read, measure: Measure, apart: Apart, *, alpha: float = 0.05
) -> tuple[float | Unknown, Interval | Unknown]:
    """Return the estimate and the interval of a planned stop, on the cells of the measure.

    Parameters
    ----------
    task, measure
        What is asked, and which of its numbers is wanted.
    read
        The answers that may be read.
    apart
        Labels that are known and no part of the sample.
    alpha
        One minus the level.
    """
    values = measured(read, measure)
    drawn = measure.cells(task.strata, read.units)
    if not (drawn >= 0).any():
        reason = Unknown(f"no item that counts for {measure.name} is labelled yet")
        return reason, reason
    sizes = measure.cell_sizes(task.strata)
    inside = drawn >= 0
    # Differences and grades take more than two values, so their own likelihood is narrower.
    gap = measure.bounds == GAP
    floor, span = (0.0, 1.0) if gap else (measure.bounds[0], float(np.ptp(measure.bounds)))
    low, high = ((part[inside] - floor) / span for part in values)
    estimate, interval = planned_mean(
        sizes,
        drawn[inside],
        (low, high),
        bounds=GAP if gap else (0.0, 1.0),
        counted=not gap and task.scale is None,
        alpha=alpha,
    )

    # Units outside the cells have value 0, so the mean over all drawn units is a part of it.
    part = float(sizes.sum()) / task.strata.n_items

    def over_all(mean: float) -> float:
        return measure.shown(apart.whole(part * (floor + span * mean)))

    ends = sorted((over_all(interval.low), over_all(interval.high)))
    shown = Interval(ends[0], ends[1], level=interval.level, method=interval.method)
    return over_all(estimate), shown
