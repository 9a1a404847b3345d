"""How good each system is: human grades, sharpened by the judges' grades on every output.

All means, differences and forecasts come from one fit (`tallystick.stats.few_labels`). Exact
intervals (`certified`) have estimates of their own kind: `certified_levels`.
"""

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
from tallystick.stats.adverse_binary import Population, graded_strata, vote_strata
from tallystick.stats.adverse_forecast import (
    LabelRange,
    certified_mean,
    certified_share,
    label_range,
)
from tallystick.stats.adverse_ratios import (
    Levels,
    certified_mean_levels,
    certified_share_levels,
)
from tallystick.stats.few_labels import FewLabels, Rows, fit
from tallystick.verbs.score.grades import Units
from tallystick.verbs.score.question import ScoreQuestion
from tallystick.verbs.score.reading import Floats, Graded, Ints
from tallystick.verbs.score.result import JudgeBreakdown

PRECISION = 0.03
"""Half the width of an interval that is narrow enough."""

FORECAST = (0.77, 1.36)
"""Usual ratios of forecast to actual width, so of forecast to actual spread."""

TOO_FEW = "fewer than two human grades: nothing can be forecast"


@dataclass(frozen=True, kw_only=True, eq=False)
class System:
    """One system: what the labels and the judges say of it.

    Parameters
    ----------
    score, interval
        The corrected score; None without labels.
    worth
        How many labels alone would be as informative.
    needed
        Labels in all for ± 3 points.
    n
        Outputs.
    """

    name: str
    n: int
    n_labels: int
    score: float | None = None
    interval: Interval = Interval(0.0, 1.0)
    worth: float = 0.0
    needed: LabelRange | Unknown = Unknown(TOO_FEW)


@dataclass(frozen=True, eq=False)
class Fitted:
    """One fit for all systems that people graded; *systems* says which they are."""

    few: FewLabels
    systems: tuple[int, ...]

    def place(self, system: int) -> int:
        """Return the position of a system in the fit."""
        return self.systems.index(system)

    def in_common(self) -> tuple[Ints, Ints]:
        """Return systems x systems: items that people graded for both, and items of both."""
        design = self.few.design
        graded = (design.share > 0).astype(np.float64)
        held = np.zeros((int(design.unit.max()) + 1, len(self.systems)))
        held[design.unit, design.system] = 1.0
        copies = np.zeros(len(held))
        copies[design.unit] = design.count
        return (
            np.rint(graded.T @ (graded * design.times[:, None])).astype(np.int64),
            np.rint(held.T @ (held * copies[:, None])).astype(np.int64),
        )


def population_of(question: ScoreQuestion) -> Population:
    """Return the population as stats/ spells it."""
    return "new" if question.population == "new" else "these"


def judge_means(outputs: Graded) -> Floats:
    """Return systems x judges: the mean grade, NaN where a judge never graded a system."""
    return np.stack([outputs.mean(column) for column in outputs.grades.T], axis=1)


def fitted(outputs: Graded, question: ScoreQuestion) -> Fitted | None:
    """Fit all systems that have human grades at once; None where there are none.

    A system that nobody graded takes no part: what the judges say of it moves no other.
    """
    found = rows_of(outputs)
    if found is None:
        return None
    rows, systems = found
    few = fit(rows, pass_fail=outputs.pass_fail, population=population_of(question))
    return Fitted(few, systems)


def rows_of(outputs: Graded) -> tuple[Rows, tuple[int, ...]] | None:
    """Return the outputs of systems that have human grades, and which systems these are."""
    graded = outputs.by_system(outputs.counts * outputs.known) > 0
    if not graded.any():
        return None
    held = outputs if graded.all() else outputs.part(graded[outputs.system])
    rows = Rows(
        y=held.truth,
        grades=held.grades,
        system=(np.cumsum(graded) - 1)[held.system],
        item=held.item if alike(held) else None,
        count=held.counts,
        weight=held.weight if held.slice is None else None,  # a target mix weighs slices itself
        probability=held.probability,
    )
    return rows, tuple(np.flatnonzero(graded).tolist())


def alike(outputs: Graded) -> bool:
    """Say whether every output of an item stands for as many items."""
    if outputs.item is None:
        return False
    first = np.zeros(int(outputs.item.max(initial=-1)) + 1)
    first[outputs.item] = outputs.counts
    return bool((first[outputs.item] == outputs.counts).all())


def estimate_systems(
    outputs: Graded, question: ScoreQuestion, found: Fitted | None
) -> list[System]:
    """Return the score of every system, from the fit of all of them."""
    sizes, labels = (
        np.rint(outputs.by_system(part)).astype(int)
        for part in (outputs.counts, outputs.counts * outputs.known)
    )
    systems = [
        System(name=name, n=int(sizes[s]), n_labels=int(labels[s]))
        for s, name in enumerate(outputs.systems)
    ]
    if found is None:
        return systems
    means = found.few.means(alpha=question.alpha)
    needed = _for_precision(found.few, question.alpha)
    for k, s in enumerate(found.systems):
        one = replace(
            systems[s],
            score=float(means.estimate[k]),
            interval=means.interval[k],
            worth=float(means.labels_worth[k]),
            needed=needed[k],
        )
        if question.certified:
            exact = _certified(outputs, s, question)
            score = min(max(float(means.estimate[k]), exact.low), exact.high)
            one = replace(one, score=score, interval=exact)
        systems[s] = one
    return systems


def _for_precision(few: FewLabels, alpha: float) -> list[LabelRange | Unknown]:
    """Return how many human grades every system needs in all to be known to ± 3 points."""
    low, high = (
        few.labels_for(PRECISION * factor, alpha=alpha) for factor in (FORECAST[1], FORECAST[0])
    )
    return [
        label_range(min(least, n), None if math.isinf(most) else most, round(n))
        if units > 1
        else Unknown(TOO_FEW)
        for least, most, n, units in zip(low, high, few.outputs, few.design.units, strict=True)
    ]


# Exact intervals: strata of the judges' mean grade for pass and fail, bets for numbers.


def system_strata(outputs: Graded) -> Ints:
    """Return the stratum of every entry, made system by system from the judges alone."""
    codes = np.zeros(len(outputs.counts), np.int64)
    for s in range(len(outputs.systems)):
        inside = outputs.of(s)
        if inside.any():
            values, counts = outputs.consensus[inside], outputs.counts[inside]
            codes[inside] = vote_strata(values) if outputs.votes else graded_strata(values, counts)
    return codes


def _certified(outputs: Graded, s: int, question: ScoreQuestion) -> Interval:
    population = population_of(question)
    if outputs.pass_fail:
        return certified_share(*_cells(outputs, s), population=population, alpha=question.alpha)
    labels = _labels(outputs, s, question)
    return certified_mean(*labels, population=population, alpha=question.alpha)


def certified_levels(outputs: Graded, s: int, question: ScoreQuestion) -> Levels:
    """Return the exact interval of a system as a function of the level."""
    population = population_of(question)
    if outputs.pass_fail:
        return certified_share_levels(*_cells(outputs, s), population=population)
    return certified_mean_levels(*_labels(outputs, s, question), population=population)


def _alone(outputs: Graded, s: int) -> Graded:
    held = outputs.part(outputs.of(s))
    return replace(held, systems=(outputs.systems[s],), system=np.zeros_like(held.system))


def _cells(outputs: Graded, s: int) -> tuple[Floats, Floats, Floats]:
    """Return outputs, labels and passes of one system by stratum."""
    held = _alone(outputs, s)
    codes, every = system_strata(held), np.ones(len(held.counts), np.bool_)
    sizes, labelled, passes = (
        np.bincount(codes[used], weights=held.counts[used], minlength=3).astype(np.float64)
        for used in (every, held.known, held.truth == 1)
    )
    return sizes, labelled, passes


def _labels(outputs: Graded, s: int, question: ScoreQuestion) -> tuple[Floats, Floats, Floats]:
    """Return human grades, consensus there, and consensus of all outputs of one system."""
    held = _alone(outputs, s)
    # An entry that stands for several outputs with one grade is that many labels.
    held = held.part(np.repeat(np.arange(len(held.counts)), held.counts.astype(np.int64)))
    held = replace(held, counts=np.ones(len(held.truth)))
    # The order of the draw is not known, so a random one stands for it.
    chosen = np.flatnonzero(held.known)
    chosen = chosen[as_rng(question.seed).permutation(chosen.size)]
    return held.truth[chosen], held.consensus[chosen], held.consensus


# One pair of systems: its difference, interval and p-value, which have to tell one story.


Places: TypeAlias = NDArray[np.intp]

SMALLEST = 1e-6
"""No p-value from an inverted interval is looked for below this."""
HALVINGS = 24


@dataclass(frozen=True, kw_only=True)
class SystemPair:
    """Two systems, by position: how much better the first is.

    *needed* are labels of both in all that would settle it. *decided* is 1 or -1 where a labelling
    session has settled who is better by its own rule, 0 where it has not, and None where the test
    decides.
    """

    first: int
    second: int
    difference: float
    interval: Interval
    p_value: float
    adjusted_p: float
    needed: LabelRange | Unknown
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


# Outputs side by side, item by item: the ground on which systems are compared.


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
        How many items each row stands for.
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


def board_of(outputs: Graded, systems: tuple[int, ...]) -> SystemBoard | None:
    """Put the outputs of some systems side by side, item by item; None if items are not known."""
    if outputs.item is None or not alike(outputs):
        return None
    column = np.full(len(outputs.systems), -1, np.int64)
    column[list(systems)] = np.arange(len(systems))
    used = column[outputs.system] >= 0
    items, row = np.unique(outputs.item[used], return_inverse=True)
    shape = (len(items), len(systems))
    truth, c, counts = np.full(shape, np.nan), np.full(shape, np.nan), np.zeros(len(items))
    place = row.ravel(), column[outputs.system[used]]
    truth[place], c[place] = outputs.truth[used], outputs.consensus[used]
    counts[place[0]] = outputs.counts[used]
    return SystemBoard(
        systems=systems,
        truth=truth,
        values=c,
        counts=counts,
        complete=not bool(np.isnan(c).any()),
    )


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
