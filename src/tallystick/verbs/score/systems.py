"""How good each system is: human grades, sharpened by the judges' grades on every output.

All means, differences and forecasts come from one fit (`tallystick.stats.few_labels`), which uses
all judges. Exact intervals (`certified`) have estimates of their own kind: `certified_levels`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tallystick._rng import as_rng
from tallystick.errors import InputError
from tallystick.results import Interval, Unknown
from tallystick.stats.adverse_binary import Ends, Population, graded_strata, vote_strata
from tallystick.stats.certified import (
    LabelRange,
    Levels,
    certified_mean,
    certified_shares,
    label_range,
)
from tallystick.stats.few_labels import FewLabels, Rows, fit
from tallystick.stats.intervals import Intervals
from tallystick.table.panel import Floats, Ints
from tallystick.table.panel_grades import GradePanel
from tallystick.verbs.score.question import ScoreQuestion

Places: TypeAlias = NDArray[np.intp]

PRECISION = 0.03
"""Half the width of an interval that is narrow enough."""

FORECAST = (0.77, 1.36)
"""Usual ratios of forecast to actual width, so of forecast to actual spread."""

TOO_FEW = "there are too few human grades (of a pair, on the same items) to forecast"
NO_FORECAST = "nothing is forecast for a target mix"
MIX = "target mix, MOVER"


@dataclass(frozen=True, kw_only=True, eq=False)
class System:
    """One system: what the labels and the judges say of it.

    Parameters
    ----------
    n, n_labels
        Outputs, and those with a human grade.
    score, interval
        The corrected score; None without labels.
    worth
        How many labels alone would be as informative.
    needed
        Labels in all for ± 3 points.
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


def rows_of(outputs: GradePanel) -> tuple[Rows, tuple[int, ...]] | None:
    """Return the outputs of systems that have human grades, and which systems these are.

    A system that nobody graded takes no part: what the judges say of it moves no other.
    """
    graded = outputs.labels > 0
    if not graded.any():
        return None
    held = outputs if graded.all() else outputs.part(graded[outputs.system])
    rows = Rows(
        y=held.truth,
        grades=held.grades,
        system=(np.cumsum(graded) - 1)[held.system],
        item=held.item if held.alike else None,
        count=held.counts,
        weight=held.weight if held.slice is None else None,  # a target mix weighs slices itself
        probability=held.probability,
    )
    return rows, tuple(np.flatnonzero(graded).tolist())


def fitted(outputs: GradePanel, question: ScoreQuestion) -> Fitted | None:
    """Fit all systems that have human grades at once; None where there are none."""
    found = rows_of(outputs)
    if found is None:
        return None
    few = fit(found[0], pass_fail=outputs.pass_fail, population=population_of(question))
    return Fitted(few, found[1])


def estimate_systems(
    outputs: GradePanel, question: ScoreQuestion, found: Fitted | None
) -> list[System]:
    """Return the score of every system, from the fit of all of them."""
    systems = [
        System(name=name, n=int(n), n_labels=int(m))
        for name, n, m in zip(outputs.systems, outputs.sizes, outputs.labels, strict=True)
    ]
    if found is None:
        return systems
    means, needed = found.few.means(alpha=question.alpha), _for_precision(found.few, question)
    for k, s in enumerate(found.systems):
        score, interval = float(means.estimate[k]), means.interval[k]
        if question.certified:
            interval = certified(outputs, s, question, question.alpha)
            score = min(max(score, interval.low), interval.high)
        systems[s] = replace(
            systems[s],
            score=score,
            interval=interval,
            worth=float(means.labels_worth[k]),
            needed=needed[k],
        )
    return systems


def _for_precision(few: FewLabels, question: ScoreQuestion) -> list[LabelRange | Unknown]:
    """Return how many human grades every system needs in all to be known to ± 3 points."""
    low, high = (
        few.labels_for(PRECISION * factor, alpha=question.alpha) for factor in FORECAST[::-1]
    )
    return [
        as_range(least, most, round(n)) if units > 1 else Unknown(TOO_FEW)
        for least, most, n, units in zip(low, high, few.outputs, few.design.units, strict=True)
    ]


def as_range(least: float, most: float, n: int) -> LabelRange:
    """Return a forecast as a range of two digits within n items; infinity is never enough."""
    return label_range(min(least, n), None if math.isinf(most) else most, n)


def score_of(system: System) -> float:
    """Return the score of a system that has one."""
    assert system.score is not None
    return system.score


def joint_intervals(
    outputs: GradePanel, question: ScoreQuestion, found: Fitted
) -> Mapping[str, Interval]:
    """Return intervals of the scores that hold for all graded systems together, by Bonferroni."""
    level = question.alpha / len(found.systems)
    means = None if question.certified else found.few.means(alpha=level).interval
    return {
        outputs.systems[s]: certified(outputs, s, question, level) if means is None else means[k]
        for k, s in enumerate(found.systems)
    }


# Exact intervals: strata of the judges' mean grade for pass and fail, bets for numbers.


def system_strata(outputs: GradePanel) -> Ints:
    """Return the stratum of every entry, made system by system from the judges alone."""
    codes = np.zeros(len(outputs.counts), np.int64)
    for s in range(len(outputs.systems)):
        inside = outputs.of(s)
        if inside.any():
            values, counts = outputs.consensus[inside], outputs.counts[inside]
            codes[inside] = vote_strata(values) if outputs.votes else graded_strata(values, counts)
    return codes


def certified(outputs: GradePanel, s: int, question: ScoreQuestion, alpha: float) -> Interval:
    """Return the exact interval of one system."""
    low, high = certified_levels(outputs, s, question)(np.array([alpha]))
    method = "hypergeometric" if outputs.pass_fail else "betting with a control variate"
    return Interval(float(low[0]), float(high[0]), 1 - alpha, "exact", None, method)


def certified_levels(outputs: GradePanel, s: int, question: ScoreQuestion) -> Levels:
    """Return the exact interval of a system as a function of the level."""
    held = outputs.part(outputs.of(s))
    held = replace(held, systems=(outputs.systems[s],), system=np.zeros_like(held.system))
    population = population_of(question)
    if outputs.pass_fail:
        codes, every = system_strata(held), np.ones(len(held.counts), np.bool_)
        sizes, labelled, passes = (
            np.bincount(codes[used], weights=held.counts[used], minlength=3).astype(np.float64)
            for used in (every, held.known, held.truth == 1)
        )
        return certified_shares(sizes, labelled, passes, population=population)

    # An entry that stands for several outputs with one grade is that many labels. The order of the
    # draw is not known, so a random one stands for it.
    held = held.part(np.repeat(np.arange(len(held.counts)), held.counts.astype(np.int64)))
    held = replace(held, counts=np.ones(len(held.truth)))
    chosen = np.flatnonzero(held.known)
    chosen = chosen[as_rng(question.seed).permutation(chosen.size)]
    return certified_mean(
        held.truth[chosen], held.consensus[chosen], held.consensus, population=population
    )


# Another mix of slices than the table has, such as the traffic of production.
#
# One fit has a mean for every system and slice. They are put together with the shares w of the
# target mix, and the ends follow MOVER,
#
# .. math:: L = \hat\theta - \sqrt{\sum_s w_s^2 (\hat\theta_s - L_s)^2}, \qquad
#           \hat\theta = \sum_s w_s \hat\theta_s,   \tag{SC3}
#
# with U alike, and differences alike. G. Zou and A. Donner, *Construction of confidence limits
# about effect measures*, Statistics in Medicine 27 (2008). A weighted mean of the outputs is
# shorter, and covers .82 where one label speaks for half of the target.


@dataclass(frozen=True, eq=False)
class MixFit:
    """The fit of systems x slices; *shares* are those of the slices in the target mix."""

    fit: Fitted
    shares: Floats
    graded: Ints

    @classmethod
    def of(cls, outputs: GradePanel, question: ScoreQuestion) -> MixFit | None:
        """Fit the systems that people graded in every slice that counts; None if there is none."""
        mix = question.mix() or {}
        shares = np.array([mix[name] for name in outputs.slices])
        used = np.flatnonzero(shares > 0)
        assert outputs.slice is not None
        labelled = np.zeros((len(outputs.systems), len(shares)))
        np.add.at(labelled, (outputs.system, outputs.slice), outputs.counts * outputs.known)
        graded = np.flatnonzero((labelled[:, used] > 0).min(axis=1))
        if not graded.size:
            return None
        held = outputs.part(np.isin(outputs.system, graded) & np.isin(outputs.slice, used))
        cell = np.searchsorted(graded, held.system) * used.size
        cell = cell + np.searchsorted(used, np.asarray(held.slice))
        named = tuple(str(one) for one in range(graded.size * used.size))
        found = fitted(replace(held, systems=named, system=cell), question)
        return None if found is None else cls(found, shares[used], graded)

    def mean(self, estimate: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats, Floats]:
        """Put slices together (SC3); the last axis holds the slices of each mean in turn."""
        cut = (-1, self.shares.size)
        value = estimate.reshape(cut) @ self.shares
        down, up = (
            np.sqrt(np.maximum(0.0, part).reshape(cut) ** 2 @ self.shares**2)
            for part in (estimate - low, high - estimate)
        )
        return value, value - down, value + up

    def systems(self, plain: list[System], alpha: float) -> list[System]:
        """Return the systems with their scores under the mix."""
        means = self.fit.few.means(alpha=alpha)
        value, low, high = self.mean(means.estimate, means.interval.low, means.interval.high)
        alone = self.mean(means.estimate, means.labels_only.low, means.labels_only.high)
        ends = Intervals(np.maximum(low, 0.0), np.minimum(high, 1.0), level=1 - alpha, method=MIX)
        found = list(plain)
        for k, s in enumerate(self.graded):
            ratio = (alone[2] - alone[1])[k] / ends[k].width if ends[k].width > 0 else 1.0
            found[s] = replace(
                plain[s],
                score=float(value[k]),
                interval=ends[k],
                worth=float(plain[s].n_labels * ratio**2),
                needed=Unknown(NO_FORECAST),
            )
        return found

    def differences(self, first: Places, second: Places) -> Callable[[Floats], Ends]:
        """Return both ends of the differences of some systems, as a function of their levels."""
        k = self.shares.size
        a, b = ((part[:, None] * k + np.arange(k)).ravel() for part in (first, second))
        estimate, ends_at = self.fit.few.means().estimate, self.fit.few.difference_levels(a, b)

        def at(alpha: Floats) -> Ends:
            _, low, high = self.mean(estimate[a] - estimate[b], *ends_at(np.repeat(alpha, k)))
            return np.maximum(-1.0, low), np.minimum(1.0, high)

        return at

    def in_common(self, first: Places, second: Places) -> Ints:
        """Return how many items people graded for both systems of each pair, in the same slice."""
        k = self.shares.size
        graded = self.fit.in_common()[0]
        both = [graded[first * k + one, second * k + one] for one in range(k)]
        return np.asarray(np.sum(both, axis=0), dtype=np.int64)


def with_mix(outputs: GradePanel, mix: Mapping[str, float], column: str) -> GradePanel:
    """Return the outputs with what each counts in the target mix; refuse a mix that does not fit.

    A system without an output in a slice that has a share counts nothing.
    """
    known = set(outputs.slices)
    wrong = [name for name, share in mix.items() if share > 0 and name not in known]
    wrong += [name for name in outputs.slices if name not in mix]
    if wrong:
        raise InputError(
            f"target_mix and column {column!r} do not name the same slices: see {wrong[0]!r}. Write"
            f" the slices of the column ({', '.join(outputs.slices[:8])}), with 0 for one that does"
            " not occur in the target"
        )
    if outputs.slice is None or (outputs.slice < 0).any():
        raise InputError(
            f"column {column!r} is blank in some rows, so they belong to no slice of target_mix:"
            " name their slice, or remove them"
        )
    shares = np.array([mix[name] for name in outputs.slices])
    place = outputs.system * len(shares) + outputs.slice
    sizes = np.bincount(place, outputs.counts, len(outputs.systems) * len(shares))
    sizes = sizes.reshape(-1, len(shares))
    whole = np.min(sizes[:, shares > 0], axis=1, keepdims=True) > 0
    share = np.where(whole, shares, 0.0)
    weight = np.divide(share, sizes, out=np.zeros_like(sizes), where=sizes > 0)
    weight *= sizes.sum(axis=1)[:, None]
    return replace(outputs, weight=weight.ravel()[place])
