"""How good each system is: human grades, sharpened by the judges' grades on every output."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tallystick._rng import as_rng
from tallystick.errors import InputError
from tallystick.results import Interval, Unknown
from tallystick.stats.adverse_binary import (
    AdverseEstimate,
    Population,
    adjust,
    adverse_share_weighted,
    adverse_shares,
)
from tallystick.stats.adverse_ends import Spread
from tallystick.stats.adverse_forecast import (
    Outlook,
    certified_mean,
    certified_share,
    mean_outlook,
    share_outlook,
)
from tallystick.stats.adverse_numbers import adverse_mean
from tallystick.stats.adverse_ratios import (
    Levels,
    certified_mean_levels,
    certified_share_levels,
    exact_levels,
    mean_levels,
    share_levels,
)
from tallystick.verbs.score.grades import Units
from tallystick.verbs.score.question import ScoreQuestion
from tallystick.verbs.score.reading import Floats, Ints, ItemGrid, Outputs, strata_of
from tallystick.verbs.score.result import JudgeBreakdown

STRATA = 3


@dataclass(frozen=True, kw_only=True, eq=False)
class System:
    """One system: what the labels and the judges say of it.

    Parameters
    ----------
    found
        The corrected score with its interval; None without labels.
    outlook
        For forecasts of how many labels are needed; None where nothing can be forecast.
    n
        Outputs.
    """

    name: str
    found: AdverseEstimate | None
    outlook: Outlook | None
    n: int
    n_labels: int

    @property
    def score(self) -> float | None:
        """The corrected score, None without labels."""
        if self.found is None or isinstance(self.found.estimate, Unknown):
            return None
        return self.found.estimate


def population_of(question: ScoreQuestion) -> Population:
    """Return the population as stats/ spells it."""
    return "new" if question.population == "new" else "these"


def judge_only(outputs: Outputs) -> Floats:
    """Return each system's mean grade by the judges, NaN where none of its outputs was graded."""
    mean = outputs.mean_grade()
    seen, k = ~np.isnan(mean), len(outputs.systems)
    weight = outputs.counts[seen]
    total = np.bincount(outputs.system[seen], weights=weight * mean[seen], minlength=k)
    times = np.bincount(outputs.system[seen], weights=weight, minlength=k)
    return np.asarray(np.divide(total, times, out=np.full(k, np.nan), where=times > 0))


def judge_means(outputs: Outputs) -> Floats:
    """Return systems x judges: the mean grade, NaN where a judge never graded a system."""
    k = len(outputs.systems)
    found = np.full((k, len(outputs.judges)), np.nan)
    for j in range(len(outputs.judges)):
        seen = ~np.isnan(outputs.grades[:, j])
        place, weight = outputs.system[seen], outputs.counts[seen]
        total = np.bincount(place, weights=weight * outputs.grades[seen, j], minlength=k)
        times = np.bincount(place, weights=weight, minlength=k)
        np.divide(total, times, out=found[:, j], where=times > 0)
    return found


def estimate_systems(
    outputs: Outputs, values: Floats, question: ScoreQuestion, *, alpha: float | None = None
) -> list[System]:
    """Estimate the score of every system.

    Pass/fail grades: the stratified adverse likelihood (AL1, AL2), with strata from the consensus.
    Numbers: the regression-adjusted adverse empirical likelihood (AL5, AL6).

    Parameters
    ----------
    outputs
        The outputs.
    values
        The consensus of every entry.
    question
        Population, certified or not.
    alpha
        Another level than the question's.
    """
    level = question.alpha if alpha is None else alpha
    if outputs.pass_fail:
        return _shares(outputs, values, question, level)
    return [_mean(outputs, values, s, question, level) for s in range(len(outputs.systems))]


def score_levels(outputs: Outputs, values: Floats, question: ScoreQuestion) -> list[Levels | None]:
    """Return the score of every system as a function of the level; None without labels.

    The same numbers as `estimate_systems`, for those who need two systems at many levels.
    """
    population, k = population_of(question), len(outputs.systems)
    if not outputs.pass_fail:
        return [_mean_levels(outputs, values, s, question) for s in range(k)]
    codes, *counted = _share_counts(outputs, values)
    found: list[Levels | None] = []
    for s in range(k):
        sizes, labelled, passes = (part[s] for part in counted)
        if not labelled.sum():
            found.append(None)
            continue
        weighted = None
        if outputs.probability is not None:
            chosen = outputs.of(s) & outputs.known
            passed = (outputs.truth[chosen] == 1).astype(np.float64)
            weighted = passed, codes[chosen], outputs.probability[chosen]
        levels = share_levels(sizes, labelled, passes, weighted=weighted, population=population)
        if question.certified:
            levels = exact_levels(
                levels, certified_share_levels(sizes, labelled, passes, population=population)
            )
        found.append(levels)
    return found


def _share_counts(outputs: Outputs, values: Floats) -> tuple[Ints, Floats, Floats, Floats]:
    """Return the stratum of every entry; outputs, labels and passes, systems x strata."""
    k = len(outputs.systems)
    codes = system_strata(outputs, values)
    place = outputs.system * STRATA + codes
    sizes, labelled, passes = (
        np.bincount(place[used], weights=outputs.counts[used], minlength=k * STRATA)
        .reshape(k, STRATA)
        .astype(np.float64)
        for used in (np.ones(len(place), np.bool_), outputs.known, outputs.truth == 1)
    )
    return codes, sizes, labelled, passes


def _shares(
    outputs: Outputs, values: Floats, question: ScoreQuestion, alpha: float
) -> list[System]:
    """Estimate all systems at once from counts per stratum."""
    codes, sizes, labelled, passes = _share_counts(outputs, values)
    population = population_of(question)
    estimates = adverse_shares(sizes, labelled, passes, population=population, alpha=alpha)

    found = []
    for s, name in enumerate(outputs.systems):
        counts = sizes[s], labelled[s], passes[s]
        one: AdverseEstimate | None = estimates[s] if labelled[s].sum() else None
        if one is not None and outputs.probability is not None:
            chosen = outputs.of(s) & outputs.known
            one = adverse_share_weighted(
                sizes[s],
                (outputs.truth[chosen] == 1).astype(np.float64),
                codes[chosen],
                outputs.probability[chosen],
                population=population,
                alpha=alpha,
            )
        if one is not None and question.certified:
            exact = certified_share(*counts, population=population, alpha=alpha)
            one = with_interval(one, exact)
        found.append(
            System(
                name=name,
                found=one,
                outlook=share_outlook(*counts, population=population) if one else None,
                n=round(float(sizes[s].sum())),
                n_labels=round(float(labelled[s].sum())),
            )
        )
    return found


def system_strata(outputs: Outputs, values: Floats) -> Ints:
    """Return the stratum of every entry, made system by system from the judges alone."""
    codes = np.zeros(len(values), np.int64)
    for s in range(len(outputs.systems)):
        inside = outputs.of(s)
        if inside.any():
            codes[inside] = strata_of(values[inside], outputs.counts[inside], votes=outputs.votes)
    return codes


@dataclass(frozen=True, kw_only=True, eq=False)
class _Graded:
    """The labels of one system whose human grades are numbers."""

    labels: Floats
    consensus: Floats
    inclusion: Floats | None
    every: Floats
    spread: Spread

    @classmethod
    def of(cls, outputs: Outputs, values: Floats, s: int) -> _Graded:
        inside = outputs.of(s)
        chosen = inside & outputs.known
        # An entry that stands for several outputs with one grade is that many labels.
        times = outputs.counts[chosen].astype(np.int64)
        weights = outputs.probability
        return cls(
            labels=np.repeat(outputs.truth[chosen], times),
            consensus=np.repeat(values[chosen], times),
            inclusion=None if weights is None else np.repeat(weights[chosen], times),
            every=np.repeat(values[inside], outputs.counts[inside].astype(np.int64)),
            spread=Spread.of(values[inside], outputs.counts[inside]),
        )

    def certified(self, question: ScoreQuestion) -> Levels:
        """Return the exact interval as a function of the level."""
        # The order of the draw is not known, so a random one stands for it.
        order = as_rng(question.seed).permutation(self.labels.size)
        return certified_mean_levels(
            self.labels[order],
            self.consensus[order],
            self.every,
            population=population_of(question),
        )


def _mean_levels(
    outputs: Outputs, values: Floats, s: int, question: ScoreQuestion
) -> Levels | None:
    graded = _Graded.of(outputs, values, s)
    if not graded.labels.size:
        return None
    found = mean_levels(
        graded.labels,
        graded.consensus,
        graded.spread,
        inclusion=graded.inclusion,
        population=population_of(question),
    )
    return exact_levels(found, graded.certified(question)) if question.certified else found


def _mean(
    outputs: Outputs, values: Floats, s: int, question: ScoreQuestion, alpha: float
) -> System:
    """Estimate one system whose human grades are numbers."""
    graded = _Graded.of(outputs, values, s)
    y, c, every = graded.labels, graded.consensus, graded.spread
    name, n = outputs.systems[s], every.n
    if not y.size:
        return System(name=name, found=None, outlook=None, n=n, n_labels=0)
    population = population_of(question)
    found = adverse_mean(
        y, c, every, population=population, inclusion=graded.inclusion, alpha=alpha
    )
    if question.certified:
        # The order of the draw is not known, so a random one stands for it.
        order = as_rng(question.seed).permutation(y.size)
        exact = certified_mean(
            y[order],
            c[order],
            graded.every,
            population=population,
            alpha=alpha,
        )
        found = with_interval(found, exact)
    outlook = None
    if y.size >= 2:
        moved = adjust(y[None], c[None], every, bounds=(0.0, 1.0), weights=np.ones((1, y.size)))
        between = float(moved.slope[0] ** 2 * every.variance) if population == "new" else None
        outlook = mean_outlook(moved.values[0], n, between=between)
    return System(name=name, found=found, outlook=outlook, n=n, n_labels=int(y.size))


def with_interval(found: AdverseEstimate, interval: Interval) -> AdverseEstimate:
    """Return an estimate with an exact interval; the estimate is moved inside if it must."""
    value = found.estimate
    if not isinstance(value, Unknown):
        value = min(max(value, interval.low), interval.high)
    return AdverseEstimate(
        estimate=value,
        interval=interval,
        labels_only=found.labels_only,
        n_labels=found.n_labels,
        worth=found.worth,
    )


# One pair of systems: its difference, interval and p-value, which have to tell one story.


Places: TypeAlias = NDArray[np.intp]

SMALLEST = 1e-6
"""No p-value from an inverted interval is looked for below this."""
HALVINGS = 24


@dataclass(frozen=True, kw_only=True)
class SystemPair:
    """Two systems, by position: how much better the first is.

    *outlook* is that of one pair of labels, for forecasts; None where there is none. *decided* is 1
    or -1 where a labelling session has settled who is better by its own rule, 0 where it has not,
    and None where the test decides.
    """

    first: int
    second: int
    difference: float
    interval: Interval
    p_value: float
    adjusted_p: float
    outlook: Outlook | None
    common: int
    decided: int | None = None


def crossed(interval: Interval) -> bool:
    """Return whether an interval leaves the sign of a difference open."""
    return interval.low <= 0 <= interval.high


def agreeing(
    interval: Interval, difference: float, tested: float, p: float, alpha: float
) -> Interval:
    """Make the interval and the test tell one story.

    Not settled: the interval holds 0. Settled by step-down while the simultaneous interval, which
    takes no step down, still holds 0: its nearer end is 0 ([HH94]_).
    """
    settled = p <= alpha and difference * tested > 0
    if not settled:
        return replace(interval, low=min(interval.low, 0.0), high=max(interval.high, 0.0))
    if difference > 0:
        return replace(interval, low=max(interval.low, 0.0))
    return replace(interval, high=min(interval.high, 0.0))


def inverted(
    holds: Callable[[Places, Floats], NDArray[np.bool_]], rows: int, *, halvings: int = HALVINGS
) -> list[float]:
    """Return the p-values that intervals imply: for each the least α at which it excludes 0.

    All rows are halved together, so that each step is one question for all of them.

    Parameters
    ----------
    holds
        Given some rows and one α for each, whether their intervals hold 0.
    rows
        How many there are.
    halvings
        Steps of bisection in ln α.

    Examples
    --------
    >>> least = np.array([0.03, 0.0, 2.0])
    >>> found = inverted(lambda rows, alpha: alpha < least[rows], 3)
    >>> [round(p, 6) for p in found]
    [0.03, 1e-06, 1.0]
    """
    every = np.arange(rows)
    p_values = np.where(holds(every, np.full(rows, 1 - 1e-9)), 1.0, SMALLEST)
    left = every[p_values < 1.0]
    if left.size:  # an interval of no rows at all is not asked for
        left = left[holds(left, np.full(left.size, SMALLEST))]
    low, high = np.full(left.size, math.log(SMALLEST)), np.zeros(left.size)
    for _ in range(halvings if left.size else 0):
        middle = (low + high) / 2
        inside = holds(left, np.exp(middle))
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    p_values[left] = np.exp(high)
    return [float(p) for p in p_values]


def score_of(system: System) -> float:
    """Return the score of a system that has one."""
    if system.score is None:
        raise InputError(f"{system.name!r} has no human grades")
    return system.score


def number_of(found: AdverseEstimate) -> float:
    """Return an estimate that is known."""
    if isinstance(found.estimate, Unknown):
        raise InputError(str(found.estimate))
    return found.estimate


# Outputs side by side, item by item: the ground on which systems are compared.


FEWEST = 3
"""Common items below which pairs are not tested on the differences themselves."""

FIRST = 20
"""Random items that systems should have grades on before anything can be forecast."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SystemBoard:
    """Outputs by item and system, for the systems that have human grades.

    Parameters
    ----------
    systems
        Positions of these systems.
    truth, values
        Items x systems: human grades (NaN for none) and consensus.
    counts
        How many items each row stands for. A row with a human grade is always one item.
    complete
        Whether every item has an output of each of them.
    """

    systems: tuple[int, ...]
    truth: Floats
    values: Floats
    counts: Floats
    complete: bool

    @property
    def n(self) -> int:
        """How many items there are."""
        return round(float(self.counts.sum()))

    def every(self, values: Floats) -> Floats:
        """Return one value per row as one value per item."""
        return np.repeat(values, self.counts.astype(np.int64))

    def common(self, a: int, b: int) -> NDArray[np.bool_]:
        """Return the items on which two systems (columns) were both graded."""
        return np.asarray(~np.isnan(self.truth[:, a]) & ~np.isnan(self.truth[:, b]))

    def ungraded(self, columns: Sequence[int], items: int) -> int | None:
        """Return how many grades are missing until some systems (columns) have this many items.

        The best graded items come first. None where fewer items have an output of each system.
        """
        some = list(columns)
        whole = ~np.isnan(self.values[:, some]).any(axis=1)
        missing, counts = np.isnan(self.truth[whole][:, some]).sum(axis=1), self.counts[whole]
        if counts.sum() < items:
            return None
        order = np.argsort(missing, kind="stable")
        left = items - np.append(0.0, np.cumsum(counts[order])[:-1])
        return round(float(missing[order] @ np.clip(left, 0.0, counts[order])))

    @property
    def shared(self) -> NDArray[np.bool_]:
        """Items that were graded for every system."""
        return np.asarray(~np.isnan(self.truth).any(axis=1))

    @property
    def same_items(self) -> bool:
        """Whether all systems have all their outputs and all their grades on the same items."""
        graded = ~np.isnan(self.truth)
        return self.complete and bool((graded == graded[:, :1]).all())


def board_of(outputs: Outputs, values: Floats, systems: tuple[int, ...]) -> SystemBoard | None:
    """Put the outputs of some systems side by side, item by item; None if items are not known."""
    if outputs.grid is not None:
        return _board_of_grid(outputs, outputs.grid, values, systems)
    if outputs.item is None or not outputs.plain:
        return None
    column = np.full(len(outputs.systems), -1, np.int64)
    column[list(systems)] = np.arange(len(systems))
    used = column[outputs.system] >= 0
    items, row = np.unique(outputs.item[used], return_inverse=True)
    shape = (len(items), len(systems))
    truth, c = np.full(shape, np.nan), np.full(shape, np.nan)
    place = row.ravel(), column[outputs.system[used]]
    truth[place], c[place] = outputs.truth[used], values[used]
    return SystemBoard(
        systems=systems,
        truth=truth,
        values=c,
        counts=np.ones(len(items)),
        complete=not bool(np.isnan(c).any()),
    )


def _board_of_grid(
    outputs: Outputs, grid: ItemGrid, values: Floats, systems: tuple[int, ...]
) -> SystemBoard:
    """Look up grades and consensus of items that an engine put side by side."""
    entries = grid.entries[:, list(systems)]
    seen = (entries >= 0).any(axis=1)
    entries, counts = entries[seen], grid.counts[seen]
    graded = np.append(outputs.known, False)[entries].any(axis=1)
    # Labelled items enter the tests one by one; they are few.
    times = np.where(graded, counts, 1).astype(np.int64)
    entries, counts = np.repeat(entries, times, axis=0), np.repeat(counts / times, times)
    c = np.append(values, np.nan)[entries]
    return SystemBoard(
        systems=systems,
        truth=np.append(outputs.truth, np.nan)[entries],
        values=c,
        counts=counts,
        complete=not bool(np.isnan(c).any()),
    )


def adjusted_labels(truth: Floats, values: Floats, every: Floats, counts: Floats) -> Floats:
    """Return u of (AL5) for every system, each with its own slope."""
    ones = np.ones((1, len(truth)))
    columns = [
        adjust(
            truth[None, :, s],
            values[None, :, s],
            Spread.of(every[:, s], counts),
            bounds=(0.0, 1.0),
            weights=ones,
        ).values[0]
        for s in range(truth.shape[1])
    ]
    return np.stack(columns, axis=1)


def pair_outlook(
    adjusted: Floats, labels: Floats, items: int, *, new: bool, paired: bool = True
) -> Outlook | None:
    """Return what forecasts the labels of a pair, from labels and adjusted labels (items x 2).

    None where so few items are graded that a forecast would be a guess. (AL9) makes no use
    of what two systems have in common, so without *paired* neither does this.
    """
    if len(labels) < min(FIRST, items):
        return None

    def of(values: Floats) -> Outlook:
        found = mean_outlook(values[:, 0] - values[:, 1], items, bounds=(-1.0, 1.0))
        if paired:
            return found
        apart = sum(mean_outlook(values[:, s], items).variance for s in (0, 1))
        return replace(found, variance=max(found.variance, apart))

    found = of(adjusted)
    if not new:
        return found
    # What the judges explain of the labels still varies from one set of items to the next.
    return replace(found, between=max(0.0, of(labels).variance - found.variance))


# Without human grades: what the judges say, and how wrong they would have to be.
#
# If the judges err on at most a share e of a system's outputs, its pass rate lies within e of their
# mean. So A leads B unless the judges err on more than
#
# .. math:: e = (J_A - J_B)/2   \tag{SC2}
#
# of the outputs of each. That is arithmetic and needs no assumption. It is no interval: nothing in
# the data says how large e is.


MOST = 20
"""Neighbours beyond this many systems are not listed."""


def breakdown(names: tuple[str, ...], judges: Floats, units: Units) -> tuple[JudgeBreakdown, ...]:
    """Return, for neighbours by the judges' means, how wrong the judges would have to be (SC2).

    Examples
    --------
    >>> [one] = breakdown(("a", "b"), np.array([0.90, 0.84]), Units(None))
    >>> one.a, round(one.lead, 3), round(one.error, 3)
    ('a', 0.06, 0.03)
    """
    order = [int(s) for s in np.argsort(-judges, kind="stable") if np.isfinite(judges[s])]
    found = []
    for a, b in pairwise(order[: MOST + 1]):
        lead = float(judges[a] - judges[b])
        found.append(JudgeBreakdown(a=names[a], b=names[b], lead=units.size(lead), error=lead / 2))
    return tuple(found)
