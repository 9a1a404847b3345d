r"""What labels say at a planned stop: one estimate and one approximate interval per measure.

Sessions draw uniformly, so their labels are a random sample, and the estimator that all verbs share
(`tallystick.stats.few_labels`) answers: it may stop a session, since it covers under stopping
(``docs/benchmarks/label.md``). Sessions of the second version drew by strata with unequal spreads;
they keep the stratified adverse likelihood (AL2, AL19) until they end.

An item that was skipped counts as the least value for the low end and as the largest for the high
end. Labels of unknown origin are counted apart (`Apart`): taken for random ones they covered .86 at
a nominal .95; counted apart, .996.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from tallystick.results import Interval, Unknown
from tallystick.sampling.draws import LabelStrata
from tallystick.sampling.tasks import LabelTask, Measure, Read, measured
from tallystick.sampling.votes import AnyInts, Floats, Ints
from tallystick.stats.adverse_binary import adverse_mean
from tallystick.stats.few_labels import METHOD, FewLabels, Rows, fit
from tallystick.stats.intervals import Vector
from tallystick.table.data import RowPatterns

GAP = (-1.0, 1.0)
"""The values of a difference of two labels."""

Found: TypeAlias = tuple[float | Unknown, Interval | Unknown]
"""An estimate and its interval, or why there is none."""


@dataclass(frozen=True, kw_only=True)
class Apart:
    """Items whose values are known and that are no part of the population that is sampled.

    Parameters
    ----------
    known
        How many items were counted apart.
    total
        The sum of their values.
    sampled
        How many items are left to sample from.

    Examples
    --------
    >>> apart = Apart(known=20, total=5.0, sampled=80)
    >>> round(apart.whole(0.9), 3), apart.part(0.77)
    (0.77, 0.9)
    """

    known: int
    total: float
    sampled: int

    def whole(self, mean: float) -> float:
        """Return the mean of all items, given the mean of those that are sampled."""
        return (self.total + self.sampled * mean) / (self.known + self.sampled)

    def part(self, mean: float) -> float:
        """Return the mean of the items that are sampled, given the mean of all: the way back."""
        return ((self.known + self.sampled) * mean - self.total) / self.sampled

    def interval(self, inner: Interval) -> Interval:
        """Return the interval for all items, with the promise of the interval for the sampled ones.

        >>> apart = Apart(known=50, total=10.0, sampled=50)
        >>> print(apart.interval(Interval(0.8, 0.9, guarantee="anytime")))
        [0.500, 0.550] (95%, anytime)
        """
        return replace(inner, low=self.whole(inner.low), high=self.whole(inner.high))


def apart_of(known: Read, measure: Measure, task: LabelTask) -> Apart:
    """Return what labels that are counted apart add to the mean of a measure."""
    total = float(measured(known, measure)[0].sum()) if known.n else 0.0
    return Apart(known=known.n, total=total, sampled=task.strata.n_items)


@dataclass(frozen=True, kw_only=True)
class OwnUnits:
    """The way from the mean over the units of one measure to its number, and back.

    A measure may count some units only: those of one system, or on which one judge voted. Its
    labels are a random draw from these, whatever else was drawn.

    Parameters
    ----------
    measure, apart
        The measure, and what is known apart from the sample.
    part
        Which part of all units that are sampled counts for the measure.
    """

    measure: Measure
    apart: Apart
    part: float

    def shown(self, mean: float) -> float:
        """Return the number that belongs to a mean over the measure's own units."""
        return self.measure.shown(self.apart.whole(self.part * mean))

    def mean(self, shown: float) -> float:
        """Return the mean over the measure's own units that belongs to a number."""
        return self.apart.part(self.measure.mean(shown)) / self.part

    def interval(self, own: Interval) -> Interval:
        """Return the interval of the number."""
        low, high = sorted((self.shown(own.low), self.shown(own.high)))
        return replace(own, low=low, high=high)


def own_units(task: LabelTask, measure: Measure, apart: Apart) -> OwnUnits:
    """Return which units count for a measure."""
    part = float(measure.cell_sizes(task.strata).sum()) / task.strata.n_items
    return OwnUnits(measure=measure, apart=apart, part=part)


# The rule of sessions: labels are a random sample, and all measures of a task are fitted at once.


def shared_measures(
    task: LabelTask, read: Read, known: Read, *, alpha: float = 0.05
) -> tuple[Found, ...]:
    """Return estimate and interval of every measure by the estimator that all verbs share.

    Parameters
    ----------
    task
        With an estimator (`LabelTask.shared`).
    read, known
        The answers that may be read, and the labels that are counted apart.
    alpha
        One minus the level.
    """
    assert task.shared is not None
    outside = np.stack([one.cells(task.strata, read.units) < 0 for one in task.measures], axis=1)
    both = [measured(read, one) for one in task.measures]
    # Skips at the least values for the low ends, and at the largest for the high ends.
    sides = [np.where(outside, np.nan, np.stack([one[k] for one in both], axis=1)) for k in (0, 1)]
    fits = [task.shared(read.units, sides[0], alpha)]
    if read.skipped.any():
        fits.append(task.shared(read.units, sides[1], alpha))

    found: list[Found] = []
    for j, measure in enumerate(task.measures):
        low, high = fits[0][j], fits[-1][j]
        if low is None or high is None:
            found.append(_nothing(measure))
            continue
        own = own_units(task, measure, apart_of(known, measure, task))
        inner = Interval(low[1].low, high[1].high, level=1 - alpha, method=METHOD)
        found.append((own.shown((low[0] + high[0]) / 2), own.interval(inner)))
    return tuple(found)


def _nothing(measure: Measure) -> Found:
    reason = Unknown(f"no item that counts for {measure.name} is labelled yet")
    return reason, reason


def pooled_rows(
    place: AnyInts,
    left: Floats,
    units: Ints,
    y: Floats,
    grades: Floats,
    *,
    classes: Ints | None = None,
    system: Ints | None = None,
    item: AnyInts | None = None,
) -> Rows:
    """Return labelled units one by one, and all others counted by pattern.

    Parameters
    ----------
    place
        The pattern of every unit.
    left
        How many units of each pattern are in the population.
    units, y
        The labelled units, and their labels.
    grades, classes, system
        What judges say of each pattern, the class voted, and whose output it is.
    item
        The item of every unit, where several units belong to one.
    """
    mine = place[units]
    rest = left - np.bincount(mine, minlength=left.size)
    others = np.flatnonzero(rest > 0)
    at = np.concatenate((mine, others))
    own = np.arange(units.size) if item is None else np.unique(item[units], return_inverse=True)[1]
    return Rows(
        y=np.concatenate((y, np.full(others.size, np.nan))),
        grades=grades[at],
        classes=None if classes is None else classes[at],
        system=None if system is None else system[at],
        item=np.concatenate((own, units.size + np.arange(others.size))),
        count=np.concatenate((np.ones(units.size), rest[others])),
    )


def mean_of(few: FewLabels, column: int, alpha: float) -> tuple[float, Interval]:
    """Return one mean of a fit with its interval."""
    means = few.means(alpha=alpha)
    return float(means.estimate[column]), means.interval[column]


Estimator: TypeAlias = Callable[[Ints, Floats, float], Sequence[tuple[float, Interval] | None]]
"""From units, their values (units x measures, NaN outside a measure) and alpha to estimates."""


def accuracy_estimator(
    patterns: RowPatterns, strata: LabelStrata, columns: Sequence[int]
) -> Estimator:
    """Return the estimator of how often columns of votes are right (few labels, E1).

    What the other columns say of a vote forecasts whether it is right.
    """
    left = _population(patterns, strata)

    def estimate(units: Ints, values: Floats, alpha: float) -> list[tuple[float, Interval] | None]:
        found: list[tuple[float, Interval] | None] = []
        for k, j in enumerate(columns):
            own = patterns.codes[:, j].astype(np.int64)
            others = np.delete(patterns.codes, j, axis=1)
            agrees = np.where(others >= 0, others == own[:, None], np.nan)
            known = ~np.isnan(values[:, k])
            mine = np.where(own >= 0, left(), 0.0)
            if not known.any():
                found.append(None)
                continue
            rows = pooled_rows(
                patterns.place, mine, units[known], values[known, k], agrees, classes=own
            )
            found.append(mean_of(fit(rows, pass_fail=_counted(values[known, k])), 0, alpha))
        return found

    return estimate


def share_estimator(
    patterns: RowPatterns, strata: LabelStrata, classes: Sequence[int]
) -> Estimator:
    """Return the estimator of how common classes are: a vote for the class is a judge's grade."""
    left = _population(patterns, strata)

    def estimate(units: Ints, values: Floats, alpha: float) -> list[tuple[float, Interval] | None]:
        if not units.size:
            return [None for _ in classes]
        found: list[tuple[float, Interval] | None] = []
        for k, code in enumerate(classes):
            grades = np.where(patterns.codes >= 0, patterns.codes == code, np.nan)
            rows = pooled_rows(patterns.place, left(), units, values[:, k], grades)
            found.append(mean_of(fit(rows, pass_fail=_counted(values[:, k])), 0, alpha))
        return found

    return estimate


def _population(patterns: RowPatterns, strata: LabelStrata) -> Callable[[], Floats]:
    """Return how many units of each pattern are drawn from, counted when it is first asked."""
    held: list[Floats] = []

    def left() -> Floats:
        if not held:
            inside = strata.of >= 0
            held.append(
                np.bincount(patterns.place[inside], minlength=len(patterns.codes)).astype(
                    np.float64
                )
            )
        return held[0]

    return left


def _counted(values: Floats) -> bool:
    """Say whether labels are all 0 or 1: readers who disagree for good count one half."""
    return bool(np.isin(values, (0.0, 1.0)).all())


# The rule of the second version: strata of unequal rates, and the adverse likelihood.


def planned_measure(
    task: LabelTask, read: Read, measure: Measure, apart: Apart, *, alpha: float = 0.05
) -> Found:
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
    inside = drawn >= 0
    if not inside.any():
        return _nothing(measure)
    # Differences and grades take more than two values, so their own likelihood is narrower.
    gap = measure.bounds == GAP
    floor, span = (0.0, 1.0) if gap else (measure.bounds[0], float(np.ptp(measure.bounds)))
    low, high = ((part[inside] - floor) / span for part in values)
    estimate, interval = planned_mean(
        measure.cell_sizes(task.strata),
        drawn[inside],
        (low, high),
        bounds=GAP if gap else (0.0, 1.0),
        counted=not gap and task.scale is None,
        alpha=alpha,
    )
    own = own_units(task, measure, apart)
    ends = replace(interval, low=floor + span * interval.low, high=floor + span * interval.high)
    return own.shown(floor + span * estimate), own.interval(ends)


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
    0.8 [0.600, 0.930] (95%, approximate)
    """
    least, most = (
        adverse_mean(part, stratum, sizes, bounds=bounds, pass_fail=counted, alpha=alpha)
        for part in values
    )
    interval = replace(least.interval, high=most.interval.high)
    return (least.estimate + most.estimate) / 2, interval
