"""How good each system is: human grades, sharpened by the judges' grades on every output."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tallystick._rng import as_rng
from tallystick.results import Interval, Unknown
from tallystick.score.consensus import strata_of
from tallystick.score.outputs import Floats, Ints, Outputs
from tallystick.score.question import ScoreQuestion
from tallystick.stats.adverse import (
    AdverseEstimate,
    Levels,
    Outlook,
    Population,
    Spread,
    adjust,
    adverse_mean,
    adverse_share_weighted,
    adverse_shares,
    certified_mean,
    certified_mean_levels,
    certified_share,
    certified_share_levels,
    exact_levels,
    mean_levels,
    mean_outlook,
    share_levels,
    share_outlook,
)

__all__ = [
    "System",
    "estimate_systems",
    "judge_means",
    "judge_only",
    "population_of",
    "score_levels",
    "system_strata",
    "with_interval",
]

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
            anytime=question.anytime,
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
            anytime=question.anytime,
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
