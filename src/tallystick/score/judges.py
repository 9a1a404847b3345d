"""How good each judge is against the people, whom it favours, and which judge would be enough."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import median

import numpy as np
from numpy.typing import NDArray

from tallystick.results import Interval, Unknown
from tallystick.score.consensus import consensus
from tallystick.score.outputs import Floats, Outputs
from tallystick.score.question import ScoreQuestion
from tallystick.score.result import JudgeRow, Partial, Rate
from tallystick.score.systems import System, estimate_systems
from tallystick.stats.agreement import cohen_kappa
from tallystick.stats.intervals import pseudo_t
from tallystick.stats.poststratify import Target, poststratified_ratio

__all__ = ["Alone", "alone", "favours", "grade_judges", "judges_unknown"]

FEWEST = 10
"""Human grades of a class, per system, from which a judge is graded on that system alone."""

ENOUGH = 1.1
"""One judge is enough if its intervals are at most this much wider than those of all judges."""

MOST_LEVELS = 20
"""More different grades than this have no weighted kappa: most cells would be empty."""

NUMBERS = "human grades are numbers, not pass and fail"
CHOSEN = "outputs were chosen for grading with unequal probabilities"

Mask = NDArray[np.bool_]


def grade_judges(outputs: Outputs, values: Floats, question: ScoreQuestion) -> tuple[JudgeRow, ...]:
    """Return TPR, TNR, kappa and bias of every judge, over all systems and per system.

    TPR is the share of good outputs that a judge passes, TNR the share of bad ones that it fails.
    Both use all the judge's grades beside the labels (P2). A graded judge passes what it grades
    above the middle of the scale.
    """
    target: Target = "population" if question.population == "new" else "items"
    unknown = _no_rates(outputs)
    counts = _Counts.of(outputs, values)
    overall = _rates(outputs.judges, counts.summed(), question.alpha, target, unknown)
    by_system: dict[str, list[tuple[Rate, Rate] | None]] = {}
    for s, name in enumerate(outputs.systems):
        part = counts.of_system(s)
        enough = part.enough()
        if len(outputs.systems) > 1 and unknown is None and enough.any():
            found = _rates(outputs.judges, part, question.alpha, target, None)
            by_system[name] = [
                rates if graded else None for rates, graded in zip(found, enough, strict=True)
            ]
    rows = []
    for j, name in enumerate(outputs.judges):
        tpr, tnr = overall[j]
        held = {s: rates[j] for s, rates in by_system.items()}
        rows.append(
            JudgeRow(
                name=name,
                tpr=tpr,
                tnr=tnr,
                kappa=_kappa(outputs, j, question.alpha),
                bias=_bias(outputs, j, question.alpha),
                per_system={
                    s: {"tpr": rates[0], "tnr": rates[1]}
                    for s, rates in held.items()
                    if rates is not None
                },
                n_labels=round(float(outputs.counts[_both(outputs, j)].sum())),
            )
        )
    return tuple(rows)


def judges_unknown(outputs: Outputs, reason: str) -> tuple[JudgeRow, ...]:
    """Return every judge without a number, because the labels do not speak for its grades."""
    none = Rate(Unknown(reason), Unknown(reason))
    return tuple(
        JudgeRow(
            name=name,
            tpr=none,
            tnr=none,
            kappa=none,
            bias=none,
            per_system={},
            n_labels=round(float(outputs.counts[_both(outputs, j)].sum())),
            wider=Unknown(reason),
        )
        for j, name in enumerate(outputs.judges)
    )


def _both(outputs: Outputs, judge: int) -> Mask:
    """Return the entries that a judge and a person graded."""
    return np.asarray(outputs.known & ~np.isnan(outputs.grades[:, judge]))


@dataclass(frozen=True, eq=False)
class _Counts:
    """Outputs per judge and cell: all, those with a human grade, and those of them that pass.

    Cells are crossed by vote and consensus: pass/pass, pass/fail, fail/pass, fail/fail. The arrays
    are systems x judges x cells, or judges x cells.
    """

    sizes: Floats
    labelled: Floats
    good: Floats

    @classmethod
    def of(cls, outputs: Outputs, values: Floats) -> _Counts:
        """Count every judge in one pass: the position of an output says all that is needed."""
        k, judges = len(outputs.systems), len(outputs.judges)
        human = np.where(outputs.known, np.where(outputs.truth == 1, 2, 1), 0)
        base = outputs.system * 12 + 3 * (values <= 0.5) + human
        table = np.zeros((k, judges, 4, 3))
        for j in range(judges):
            voted = ~np.isnan(outputs.grades[:, j])
            place = base[voted] + 6 * (outputs.grades[voted, j] <= 0.5)
            counted = np.bincount(place, weights=outputs.counts[voted], minlength=12 * k)
            table[:, j] = counted.reshape(k, 4, 3)
        return cls(table.sum(axis=3), table[..., 1:].sum(axis=3), table[..., 2])

    def summed(self) -> _Counts:
        """Return the counts over all systems."""
        return _Counts(*(part.sum(axis=0) for part in (self.sizes, self.labelled, self.good)))

    def of_system(self, s: int) -> _Counts:
        """Return the counts of one system."""
        return _Counts(self.sizes[s], self.labelled[s], self.good[s])

    def enough(self) -> Mask:
        """Return which judges have ten human grades of each class."""
        good, bad = self.good.sum(axis=1), (self.labelled - self.good).sum(axis=1)
        return np.asarray(np.minimum(good, bad) >= FEWEST)


def _no_rates(outputs: Outputs) -> Unknown | None:
    """Return why there are no TPR and TNR here, None if there are."""
    if not outputs.pass_fail:
        return Unknown(NUMBERS)
    return Unknown(CHOSEN) if outputs.probability is not None else None


def _rates(
    judges: tuple[str, ...],
    counts: _Counts,
    alpha: float,
    target: Target,
    unknown: Unknown | None,
) -> list[tuple[Rate, Rate]]:
    """Return TPR and TNR of every judge from all its grades and the labels (P2)."""
    if unknown is not None:
        return [(Rate(unknown, unknown), Rate(unknown, unknown))] * len(judges)
    sizes, labelled, good = counts.sizes.copy(), counts.labelled, counts.good
    silent = sizes.sum(axis=1) == 0
    sizes[silent, 0] = 1.0  # a judge without grades: nothing is known, and nothing is divided
    inside = np.array([True, True, False, False])
    tpr = poststratified_ratio(sizes, labelled, good, inside=inside, alpha=alpha, target=target)
    tnr = poststratified_ratio(
        sizes, labelled, labelled - good, inside=~inside, alpha=alpha, target=target
    )
    found = []
    for j, name in enumerate(judges):
        pair = []
        for one, class_, seen in ((tpr, "good", good[j]), (tnr, "bad", labelled[j] - good[j])):
            if silent[j] or not seen.sum():
                none = Unknown(f"no output that people call {class_} has a grade of {name}")
                pair.append(Rate(none, none))
            elif np.isnan(one.estimate[j]):
                none = Unknown(f"too few human grades where {name} passes, or where it fails")
                pair.append(Rate(none, one.interval[j]))
            else:
                pair.append(Rate(float(one.estimate[j]), one.interval[j]))
        found.append((pair[0], pair[1]))
    return found


def _kappa(outputs: Outputs, judge: int, alpha: float) -> Rate:
    """Return Cohen's kappa with the people; weighted by squared distance for numbers."""
    both = _both(outputs, judge)
    grades, truth = outputs.grades[both, judge], outputs.truth[both]
    counts = outputs.counts[both]
    if not both.any():
        none = Unknown(f"no output with a human grade has one of {outputs.judges[judge]}")
        return Rate(none, none)
    if outputs.pass_fail:
        codes = np.stack([grades > 0.5, truth == 1], axis=1).astype(np.int64)
        found = cohen_kappa(codes, counts, n_labels=2, level=1 - alpha)
        return Rate(found.estimate, found.interval)
    levels = np.unique(np.concatenate([grades, truth]))
    if len(levels) > MOST_LEVELS:
        none = Unknown(f"kappa is for a few grades, and there are {len(levels)} different ones")
        return Rate(none, none)
    codes = np.stack([np.searchsorted(levels, grades), np.searchsorted(levels, truth)], axis=1)
    found = cohen_kappa(codes, counts, n_labels=len(levels), weights="quadratic", level=1 - alpha)
    return Rate(found.estimate, found.interval)


def _bias(outputs: Outputs, judge: int, alpha: float) -> Rate:
    """Return how much higher a judge grades than the people do, on the outputs that both graded."""
    both = _both(outputs, judge)
    counts = outputs.counts[both]
    n = float(counts.sum())
    if n < 2:
        none = Unknown(
            f"fewer than two outputs have a human grade and one of {outputs.judges[judge]}"
        )
        return Rate(none, none)
    gap = outputs.grades[both, judge] - outputs.truth[both]
    mean = float(counts @ gap) / n
    variance = float(counts @ (gap - mean) ** 2) / (n - 1)
    interval = pseudo_t(mean, variance, n, alpha=alpha, bounds=(-1.0, 1.0))
    return Rate(mean, interval if isinstance(interval, Interval) else interval[0])


def favours(outputs: Outputs, alpha: float) -> tuple[Partial, ...]:
    r"""Return which judges treat a system differently from the others, beyond chance.

    For each judge, class (outputs that people pass, or fail) and system with at least ten labels
    inside and outside, the mean error of the judge is compared,

    .. math:: z = (\bar e_s - \bar e_r) \Big/ \sqrt{(SS_s + ½)/n_s^2 + (SS_r + ½)/n_r^2}, \tag{SC1}

    with half a pseudo-square so that perfect agreement is not proof. A judge is named where
    :math:`|z|` exceeds the Šidák quantile over all these tests. A proposal, not measured.
    """
    from scipy.special import ndtri

    tests = []
    for j, judge in enumerate(outputs.judges):
        both = _both(outputs, j)
        error = outputs.grades[:, j] - outputs.truth
        classes: tuple[tuple[str, float | None], ...] = (("", None),)
        if outputs.pass_fail:
            classes = (("good", 1.0), ("bad", 0.0))
        for name, value in classes:
            used = both if value is None else both & (outputs.truth == value)
            for s, system in enumerate(outputs.systems):
                inside, rest = used & outputs.of(s), used & ~outputs.of(s)
                one, two = (_moments(error[m], outputs.counts[m]) for m in (inside, rest))
                if min(one[0], two[0]) >= FEWEST:
                    spread = np.sqrt((one[2] + 0.5) / one[0] ** 2 + (two[2] + 0.5) / two[0] ** 2)
                    z = (one[1] - two[1]) / spread
                    tests.append((z, _partial(judge, system, name, one, two)))
    if not tests:
        return ()
    bar = float(ndtri(1 - (1 - (1 - alpha) ** (1 / len(tests))) / 2))
    beyond = [(z, found) for z, found in tests if abs(z) > bar]
    # A judge that favours one of two systems is harsh on the other: the favour is named first.
    return tuple(found for z, found in sorted(beyond, key=lambda one: (one[0] < 0, -abs(one[0]))))


def _partial(
    judge: str,
    system: str,
    outputs: str,
    one: tuple[float, float, float],
    two: tuple[float, float, float],
) -> Partial:
    # Of good outputs a judge passes 1 + e, of bad ones e; of numbers e is its bias.
    here, elsewhere = (1 + part[1] if outputs == "good" else part[1] for part in (one, two))
    return Partial(
        judge=judge,
        system=system,
        outputs=outputs,
        here=here,
        elsewhere=elsewhere,
        n_here=round(one[0]),
        n_elsewhere=round(two[0]),
        kinder=one[1] > two[1],
    )


def _moments(values: Floats, counts: Floats) -> tuple[float, float, float]:
    """Return number, mean and sum of squared deviations."""
    n = float(counts.sum())
    if not n:
        return 0.0, 0.0, 0.0
    mean = float(counts @ values) / n
    return n, mean, float(counts @ (values - mean) ** 2)


@dataclass(frozen=True)
class Alone:
    """What a judge would do without the others: how much wider intervals get, and labels' worth."""

    judge: str
    wider: float
    worth: float

    @property
    def enough(self) -> bool:
        """Whether this judge would be enough."""
        return self.wider <= ENOUGH


def alone(outputs: Outputs, systems: list[System], question: ScoreQuestion) -> tuple[Alone, ...]:
    """Score the systems with each judge alone, and say what that costs."""
    approximate = replace(question, certified=False, anytime=False)
    wide = [one.found.interval.width for one in systems if one.found is not None]
    if len(outputs.judges) < 2 or not wide or question.certified:
        return ()
    found = []
    for j, name in enumerate(outputs.judges):
        one = replace(outputs, judges=(name,), grades=outputs.grades[:, [j]])
        votes = bool(np.isin(one.grades[~np.isnan(one.grades)], (0.0, 1.0)).all())
        one = replace(one, votes=votes)
        graded = [
            part.found
            for part in estimate_systems(one, consensus(one), approximate)
            if part.found is not None
        ]
        ratios = [
            part.interval.width / width if width > 0 else 1.0
            for part, width in zip(graded, wide, strict=True)
        ]
        found.append(Alone(name, median(ratios), sum(part.worth for part in graded)))
    return tuple(found)
