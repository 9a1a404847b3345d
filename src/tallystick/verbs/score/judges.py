"""How good each judge is against the people, whom it favours, and which judge would be enough."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick._rng import as_rng
from tallystick.errors import InputError
from tallystick.results import Interval, Result, Unknown
from tallystick.stats.adverse_binary import Population
from tallystick.stats.agreement import cohen_kappa
from tallystick.stats.few_labels import each_judge
from tallystick.stats.intervals import pseudo_t
from tallystick.stats.label_rates import poststratified_ratio
from tallystick.table import Data
from tallystick.verbs.score.adjust import mixed
from tallystick.verbs.score.grades import Units
from tallystick.verbs.score.pairs import compare_pairs
from tallystick.verbs.score.question import ScoreQuestion
from tallystick.verbs.score.reading import Floats, Graded, read_outputs
from tallystick.verbs.score.result import JudgeRow, Partial, Rate, ScoreResult
from tallystick.verbs.score.sessions import SessionDraws, session_pairs
from tallystick.verbs.score.systems import (
    Fitted,
    System,
    SystemPair,
    estimate_systems,
    fitted,
    judge_means,
    population_of,
    rows_of,
)
from tallystick.verbs.score.verdict import DRAWN_BY_LABEL

FEWEST = 10
"""Human grades of a class, per system, from which a judge is graded on that system alone."""

ENOUGH = 1.1
"""One judge is enough if its intervals are at most this much wider than those of all judges."""

MOST_LEVELS = 20
"""More different grades than this have no weighted kappa: most cells would be empty."""

NUMBERS = "human grades are numbers, not pass and fail"
CHOSEN = "outputs were chosen for grading with unequal probabilities"

Mask = NDArray[np.bool_]


def grade_judges(outputs: Graded, question: ScoreQuestion) -> tuple[JudgeRow, ...]:
    """Return TPR, TNR, kappa and bias of every judge, over all systems and per system.

    TPR is the share of good outputs that a judge passes, TNR the share of bad ones that it fails.
    Both use all the judge's grades beside the labels (P2). A graded judge passes what it grades
    above the middle of the scale.
    """
    population = population_of(question)
    unknown = _no_rates(outputs)
    counts = _Counts.of(outputs)
    overall = _rates(outputs.judges, counts.summed(), question.alpha, population, unknown)
    by_system: dict[str, list[tuple[Rate, Rate] | None]] = {}
    for s, name in enumerate(outputs.systems):
        part = counts.of_system(s)
        enough = part.enough()
        if len(outputs.systems) > 1 and unknown is None and enough.any():
            found = _rates(outputs.judges, part, question.alpha, population, None)
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


def judges_unknown(outputs: Graded, reason: str) -> tuple[JudgeRow, ...]:
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


def _both(outputs: Graded, judge: int) -> Mask:
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
    def of(cls, outputs: Graded) -> _Counts:
        """Count every judge in one pass: the position of an output says all that is needed."""
        k, judges = len(outputs.systems), len(outputs.judges)
        human = np.where(outputs.known, np.where(outputs.truth == 1, 2, 1), 0)
        base = outputs.system * 12 + 3 * (outputs.consensus <= 0.5) + human
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


def _no_rates(outputs: Graded) -> Unknown | None:
    """Return why there are no TPR and TNR here, None if there are."""
    if not outputs.pass_fail:
        return Unknown(NUMBERS)
    return Unknown(CHOSEN) if outputs.probability is not None else None


def _rates(
    judges: tuple[str, ...],
    counts: _Counts,
    alpha: float,
    population: Population,
    unknown: Unknown | None,
) -> list[tuple[Rate, Rate]]:
    """Return TPR and TNR of every judge from all its grades and the labels (P2)."""
    if unknown is not None:
        return [(Rate(unknown, unknown), Rate(unknown, unknown))] * len(judges)
    sizes, labelled, good = counts.sizes.copy(), counts.labelled, counts.good
    silent = sizes.sum(axis=1) == 0
    sizes[silent, 0] = 1.0  # a judge without grades: nothing is known, and nothing is divided
    inside = np.array([True, True, False, False])
    tpr = poststratified_ratio(
        sizes, labelled, good, inside=inside, alpha=alpha, population=population
    )
    tnr = poststratified_ratio(
        sizes, labelled, labelled - good, inside=~inside, alpha=alpha, population=population
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


def _kappa(outputs: Graded, judge: int, alpha: float) -> Rate:
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


def _bias(outputs: Graded, judge: int, alpha: float) -> Rate:
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


def favours(outputs: Graded, alpha: float) -> tuple[Partial, ...]:
    r"""Return which judges treat a system differently from the others, beyond chance.

    For each judge, class (outputs that people pass, or fail) and system with at least ten labels
    inside and outside, the mean error of the judge is compared,

    .. math:: z = (\bar e_s - \bar e_r) \Big/ \sqrt{(SS_s + ½)/n_s^2 + (SS_r + ½)/n_r^2}, \tag{SC1}

    with half a pseudo-square so that perfect agreement is not proof. A judge is named where
    :math:`|z|` exceeds the Šidák quantile over all these tests. A proposal, not measured.
    """
    from scipy.special import ndtri

    outputs, tests = outputs.part(outputs.known), []
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


def alone(outputs: Graded, systems: list[System], question: ScoreQuestion) -> tuple[Alone, ...]:
    """Score the systems with each judge alone, and say what that costs."""
    held = rows_of(outputs)
    if len(outputs.judges) < 2 or question.certified or question.target_mix or held is None:
        return ()
    rows, places = held
    wide = np.array([systems[s].interval.width for s in places])
    found = each_judge(rows, pass_fail=outputs.pass_fail, population=population_of(question))
    means = [one.means(alpha=question.alpha) for one in found]
    return tuple(
        Alone(
            name,
            float(
                np.median(
                    np.divide(one.interval.width, wide, out=np.ones(wide.size), where=wide > 0)
                )
            ),
            float(one.labels_worth.sum()),
        )
        for name, one in zip(outputs.judges, means, strict=True)
    )


# One row per judge, and the judge that would be enough alone.


def judge_rows(scored: Scored, question: ScoreQuestion) -> tuple[tuple[JudgeRow, ...], str | None]:
    """Return every judge, and the one that would be enough alone."""
    if scored.draws is not None:
        return judges_unknown(scored.outputs, DRAWN_BY_LABEL), None
    rows = tuple(
        replace(row, bias=_in_units(row.bias, scored.units))
        for row in grade_judges(scored.outputs, question)
    )
    single = {one.judge: one for one in alone(scored.outputs, scored.systems, question)}
    if not single:
        return rows, None
    rows = tuple(replace(row, wider=single[row.name].wider) for row in rows)
    best = min(single.values(), key=lambda one: one.wider)
    return rows, best.judge if best.enough else None


def _in_units(rate: Rate, units: Units) -> Rate:
    """Return a bias on the scale of the grades."""
    if isinstance(rate.estimate, Unknown) or isinstance(rate.interval, Unknown):
        return rate
    return Rate(units.size(rate.estimate), units.sizes(rate.interval))


# What was learnt of each output: the probability that it passes, and which to grade next.


LEAST = 20
"""Human grades from which probabilities are calibrated."""


def item_columns(result: Result, data: Data) -> dict[str, Any]:
    """Return the rows of *data* with what was learnt of each output.

    ``consensus`` is the judges' view (pass, fail, or a number), ``probability`` the calibrated
    probability of a pass (``support``, below 20 human grades, the judges' own), and ``label_next``
    the order in which to grade outputs: random items, all systems of an item together.
    """
    if not isinstance(result, ScoreResult):
        raise InputError("items are written for one criterion at a time: filter the table first")
    if len(data.roles.systems) == 2:
        raise InputError("items are not written for preferences: use --json")
    outputs = read_outputs(
        data, scale=result.scale, judge_scale=result.judge_scale, turned=result.turned
    )
    values = outputs.consensus
    kept = [name for name in data.table.columns if name not in ("consensus", "label_next")]
    columns: dict[str, Any] = {**data.cells(*kept)}
    if outputs.pass_fail:
        columns["consensus"] = ["pass" if value > 0.5 else "fail" for value in values]
        name = "probability" if outputs.n_labels >= LEAST else "support"
        likely = np.where(outputs.known, outputs.truth, expected_grade(outputs))
        columns[name] = likely.round(4).tolist()
    else:
        low, high = result.scale or (0.0, 1.0)
        columns["consensus"] = (low + (high - low) * values).round(4).tolist()
        columns["expected"] = (low + (high - low) * expected_grade(outputs)).round(4).tolist()
    columns["label_next"] = _order(outputs, result.seed or 0)
    return columns


def expected_grade(outputs: Graded) -> Floats:
    """Return the human grade that each output can expect, within [.005, .995].

    The forecast of the fit behind the scores: what the judges say, corrected by the human grades of
    the system. Below 20 human grades, and for systems without any, it is what the judges say.
    """
    values, found = outputs.consensus.copy(), fitted(outputs, ScoreQuestion(population="these"))
    if found is None or outputs.n_labels < LEAST:
        return values
    mine = np.isin(outputs.system, found.systems) & (outputs.counts > 0)
    values[mine] = np.clip(found.few.expected, 0.005, 0.995)
    return values


def _order(outputs: Graded, seed: int) -> list[int | None]:
    """Return the order of grading; items in random order, an item's systems one after the other.

    A random order is what the intervals need: an order by doubt would bias them.
    """
    draw = as_rng(seed)
    if outputs.item is None:
        keys: tuple[Floats, ...] = (draw.permutation(len(outputs.counts)).astype(np.float64),)
    else:
        items, where = np.unique(outputs.item, return_inverse=True)
        place = draw.permutation(len(items))[where.ravel()].astype(np.float64)
        keys = (outputs.system.astype(np.float64), place)
    order: list[int | None] = [None] * len(outputs.counts)
    rank_now = 0
    for row in np.lexsort(keys):
        if not outputs.known[row]:
            rank_now += 1
            order[int(row)] = rank_now
    return order


# Everything that is estimated of systems, before it is put into rows and words.


@dataclass(frozen=True, eq=False)
class Scored:
    """What is known of every system and pair, on [0, 1].

    Parameters
    ----------
    outputs
        Grades and human grades.
    judges, means
        What the judges alone make of each system: together, and each judge.
    systems, pairs
        The estimates.
    units
        From [0, 1] to what is shown.
    found
        The fit behind them; None without labels, and for a labelling session.
    draws
        How the labels were drawn, where they come from a labelling session.
    """

    outputs: Graded
    judges: Floats
    means: Floats
    systems: list[System]
    pairs: list[SystemPair]
    units: Units
    found: Fitted | None = None
    draws: SessionDraws | None = None


def estimated(
    outputs: Graded, question: ScoreQuestion, *, draws: SessionDraws | None = None
) -> Scored:
    """Estimate systems and pairs: from a session's draws, for a target mix, or as they are.

    Parameters
    ----------
    outputs, question
        The grades, and what is asked.
    draws
        How the labels were drawn, where they come from a labelling session.

    Examples
    --------
    >>> from tallystick.table import read
    >>> from tallystick.verbs.score.reading import read_outputs
    >>> table = {"gpt": [1, 1, 0, 1] * 10, "human": [1, 1, 0, 0] * 3 + [None] * 28}
    >>> outputs = read_outputs(read(table, judges=("gpt",), truth="human"), scale=None)
    >>> found = estimated(outputs, ScoreQuestion())
    >>> round(found.systems[0].score, 3), float(found.judges[0]), found.pairs
    (0.5, 0.75, [])
    """
    found = None
    if draws is not None:
        systems = draws.systems(question.alpha)
        pairs = session_pairs(draws, systems, question)
    elif question.target_mix is not None:
        systems, pairs = mixed(outputs, question)
    else:
        found = fitted(outputs, question)
        systems = estimate_systems(outputs, question, found)
        pairs = compare_pairs(outputs, systems, question, found)
    judges, means = outputs.mean(outputs.mean_grade), judge_means(outputs)
    units = Units(outputs.scale if not outputs.pass_fail else None)
    return Scored(outputs, judges, means, systems, pairs, units, found, draws)
