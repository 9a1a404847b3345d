"""How good each judge is against the people, whom it favours, which judge would be enough, and what
was learnt of each output.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick._rng import as_rng
from tallystick.errors import InputError
from tallystick.results import Result, Unknown
from tallystick.stats.adverse_binary import Population
from tallystick.stats.adverse_ratios import RatioEstimate, recalls
from tallystick.stats.agreement import cohen_kappa
from tallystick.stats.few_labels import each_judge
from tallystick.stats.intervals import pseudo_t
from tallystick.table import Data
from tallystick.table.panel import Floats
from tallystick.table.panel_grades import GradePanel, read_outputs
from tallystick.verbs.score.question import ScoreQuestion
from tallystick.verbs.score.result import JudgeRow, Partial, Rate, ScoreResult, Units
from tallystick.verbs.score.systems import System, fitted, population_of, rows_of

FEWEST = 10
"""Human grades of a class, per system, from which a judge is graded on that system alone."""

ENOUGH = 1.1
"""One judge is enough if its intervals are at most this much wider than those of all judges."""

_STEPS = 100
"""Steps of a scale for the weighted kappa, where grades are no multiples of a larger step."""

NO_RATES = "rates need outputs that people pass or fail, each as likely to be graded as the others"
DRAWN_BY_LABEL = (
    "labels of a session were not drawn at random among the votes: ask tallystick judge, with a"
    " session of its own"
)


def judge_rows(
    outputs: GradePanel, systems: Sequence[System], question: ScoreQuestion, units: Units
) -> tuple[tuple[JudgeRow, ...], str | None]:
    """Return every judge, and the one that would be enough alone."""
    rows = grade_judges(outputs, question)
    rows = tuple(replace(row, bias=_in_units(row.bias, units)) for row in rows)
    wider = _alone(outputs, systems, question)
    rows = tuple(replace(row, wider=wider.get(row.name, row.wider)) for row in rows)
    best = min(wider, key=wider.__getitem__, default=None)
    return rows, best if best is not None and wider[best] <= ENOUGH else None


def _alone(
    outputs: GradePanel, systems: Sequence[System], question: ScoreQuestion
) -> dict[str, float]:
    """Return how much wider the intervals would be with each judge alone (median over systems).

    The systems are scored again by the same estimator, with the grades of this judge only.
    """
    held = rows_of(outputs)
    if len(outputs.judges) < 2 or question.certified or question.target_mix or held is None:
        return {}
    rows, places = held
    wide = np.array([systems[s].interval.width for s in places])
    found = each_judge(rows, pass_fail=outputs.pass_fail, population=population_of(question))
    widths = [one.means(alpha=question.alpha).interval.width for one in found]
    ratios = [np.divide(own, wide, out=np.ones(wide.size), where=wide > 0) for own in widths]
    return {
        name: float(np.median(ratio)) for name, ratio in zip(outputs.judges, ratios, strict=True)
    }


def judges_unknown(outputs: GradePanel, reason: str) -> tuple[JudgeRow, ...]:
    """Return every judge without a number, because the labels do not speak for its grades."""
    none = Rate(Unknown(reason), Unknown(reason))
    return tuple(
        replace(row, wider=Unknown(reason))
        for row in _rows(outputs, [(none,) * 4] * len(outputs.judges))
    )


def _rows(
    outputs: GradePanel,
    rates: Sequence[tuple[Rate, ...]],
    per_system: Sequence[Mapping[str, Mapping[str, Rate]]] | None = None,
) -> tuple[JudgeRow, ...]:
    """Return one row per judge from its TPR, TNR, kappa and bias."""
    return tuple(
        JudgeRow(
            name=name,
            tpr=tpr,
            tnr=tnr,
            kappa=kappa,
            bias=bias,
            per_system={} if per_system is None else per_system[j],
            n_labels=round(float(outputs.counts[_both(outputs, j)].sum())),
        )
        for j, (name, (tpr, tnr, kappa, bias)) in enumerate(zip(outputs.judges, rates, strict=True))
    )


def grade_judges(outputs: GradePanel, question: ScoreQuestion) -> tuple[JudgeRow, ...]:
    """Return TPR, TNR, kappa and bias of every judge, over all systems and per system.

    TPR is the share of good outputs that a judge passes, TNR the share of bad ones that it fails.
    Both use all the judge's grades beside the labels (AL15). A graded judge passes what it grades
    above the middle of the scale.
    """
    alpha, population = question.alpha, population_of(question)
    unknown = _no_rates(outputs)
    counts = _Counts.of(outputs)
    overall = counts.summed().rates(outputs.judges, alpha, population, unknown)
    per_system: list[dict[str, dict[str, Rate]]] = [{} for _ in outputs.judges]
    for s, name in enumerate(outputs.systems if len(outputs.systems) > 1 else ()):
        part = _Counts(counts.sizes[s], counts.labelled[s], counts.good[s])
        enough = np.flatnonzero(part.enough())
        if unknown is None and enough.size:
            found = part.rates(outputs.judges, alpha, population, None)
            for j in enough.tolist():
                per_system[j][name] = dict(zip(("tpr", "tnr"), found[j], strict=True))
    rates = [
        (*overall[j], _kappa(outputs, j, alpha), _bias(outputs, j, alpha))
        for j in range(len(outputs.judges))
    ]
    return _rows(outputs, rates, per_system)


def _both(outputs: GradePanel, judge: int) -> NDArray[np.bool_]:
    """Return the entries that a judge and a person graded."""
    return np.asarray(outputs.known & ~np.isnan(outputs.grades[:, judge]))


def _no_rates(outputs: GradePanel) -> Unknown | None:
    """Return why there are no TPR and TNR here, None if there are."""
    known = outputs.pass_fail and not outputs.preferences and outputs.probability is None
    return None if known else Unknown(NO_RATES)


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
    def of(cls, outputs: GradePanel) -> _Counts:
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

    def enough(self) -> NDArray[np.bool_]:
        """Return which judges have ten human grades of each class."""
        good, bad = self.good.sum(axis=1), (self.labelled - self.good).sum(axis=1)
        return np.asarray(np.minimum(good, bad) >= FEWEST)

    def rates(
        self,
        judges: tuple[str, ...],
        alpha: float,
        population: Population,
        unknown: Unknown | None,
    ) -> list[tuple[Rate, Rate]]:
        """Return TPR and TNR of every judge from all its grades and the labels (AL15)."""
        if unknown is not None:
            return [(Rate(unknown, unknown), Rate(unknown, unknown))] * len(judges)
        # A class is found where the judge gives it: for bad outputs the cells in reverse order.
        good = recalls(self.sizes, self.labelled, self.good, alpha=alpha, population=population)
        back = (part[:, ::-1] for part in (self.sizes, self.labelled, self.labelled - self.good))
        bad = recalls(*back, alpha=alpha, population=population)
        every = zip(good, bad, judges, strict=True)
        return [(_rate(one, judge), _rate(other, judge)) for one, other, judge in every]


def _rate(found: RatioEstimate, judge: str) -> Rate:
    known = not isinstance(found.estimate, Unknown)
    return Rate(found.estimate, found.interval) if known else _nothing(judge)


def _nothing(judge: str) -> Rate:
    none = Unknown(f"too few outputs that people graded have a grade of {judge}")
    return Rate(none, none)


def _kappa(outputs: GradePanel, judge: int, alpha: float) -> Rate:
    """Return Cohen's kappa with the people; weighted by squared distance for numbers."""
    both = _both(outputs, judge)
    if not both.any():
        return _nothing(outputs.judges[judge])
    held = np.stack([outputs.grades[both, judge], outputs.truth[both]], axis=1)
    counts, level = outputs.counts[both], 1 - alpha
    if outputs.pass_fail:
        codes = np.stack([held[:, 0] > 0.5, held[:, 1] == 1], axis=1).astype(np.int64)
        found = cohen_kappa(codes, counts, n_labels=2, level=level)
        return Rate(found.estimate, found.interval)
    # Codes are as far apart as the grades: steps of the scale, not places among those that occur.
    whole = (k for k in range(1, _STEPS) if np.abs(held * k - np.rint(held * k)).max() < 1e-6)
    steps = next(whole, _STEPS)
    codes = np.rint(held * steps).astype(np.int64)
    found = cohen_kappa(codes, counts, n_labels=steps + 1, weights="quadratic", level=level)
    return Rate(found.estimate, found.interval)


def _bias(outputs: GradePanel, judge: int, alpha: float) -> Rate:
    """Return how much higher a judge grades than the people do, on the outputs that both graded."""
    both = _both(outputs, judge)
    n, mean, square = _moments(
        (outputs.grades[:, judge] - outputs.truth)[both], outputs.counts[both]
    )
    if n < 2:
        return _nothing(outputs.judges[judge])
    interval = pseudo_t(mean, square / (n - 1), n, alpha=alpha, bounds=(-1.0, 1.0))
    return Rate(mean, interval)


def _in_units(rate: Rate, units: Units) -> Rate:
    """Return a bias on the scale of the grades."""
    if isinstance(rate.estimate, Unknown) or isinstance(rate.interval, Unknown):
        return rate
    return Rate(units.size(rate.estimate), units.sizes(rate.interval))


def favours(outputs: GradePanel, alpha: float) -> tuple[Partial, ...]:
    r"""Return which judges treat a system differently from the others, beyond chance.

    For each judge, class (outputs that people pass, or fail) and system with at least ten labels
    inside and outside, the mean error of the judge is compared,

    .. math:: z = (\bar e_s - \bar e_r) \Big/ \sqrt{(SS_s + ½)/n_s^2 + (SS_r + ½)/n_r^2}, \tag{SC1}

    with half a pseudo-square so that perfect agreement is not proof. A judge is named where
    :math:`|z|` exceeds the Šidák quantile over all these tests. A proposal, not measured.
    """
    from scipy.special import ndtri

    outputs, tests = outputs.part(outputs.known), []
    classes: dict[str, float | None] = (
        {"good": 1.0, "bad": 0.0} if outputs.pass_fail else {"": None}
    )
    for j, judge in enumerate(outputs.judges):
        error = outputs.grades[:, j] - outputs.truth
        for name, value in classes.items():
            used = _both(outputs, j)
            used = used if value is None else used & (outputs.truth == value)
            for s, system in enumerate(outputs.systems):
                inside, rest = used & outputs.of(s), used & ~outputs.of(s)
                one, two = (_moments(error[m], outputs.counts[m]) for m in (inside, rest))
                if min(one[0], two[0]) < FEWEST:
                    continue
                spread = np.sqrt((one[2] + 0.5) / one[0] ** 2 + (two[2] + 0.5) / two[0] ** 2)
                # Of good outputs a judge passes 1 + e, of bad ones e; of numbers e is its bias.
                passed = 1.0 if name == "good" else 0.0
                found = Partial(
                    judge=judge,
                    system=system,
                    outputs=name,
                    here=passed + one[1],
                    elsewhere=passed + two[1],
                    kinder=one[1] > two[1],
                )
                tests.append(((one[1] - two[1]) / spread, found))
    if not tests:
        return ()
    bar = float(ndtri(1 - (1 - (1 - alpha) ** (1 / len(tests))) / 2))
    beyond = [(z, found) for z, found in tests if abs(z) > bar]
    # A judge that favours one of two systems is harsh on the other: the favour is named first.
    return tuple(found for z, found in sorted(beyond, key=lambda one: (one[0] < 0, -abs(one[0]))))


def _moments(values: Floats, counts: Floats) -> tuple[float, float, float]:
    """Return number, mean and sum of squared deviations."""
    n = float(counts.sum())
    if not n:
        return 0.0, 0.0, 0.0
    mean = float(counts @ values) / n
    return n, mean, float(counts @ (values - mean) ** 2)


# What was learnt of each output: the probability that it passes, and which to grade next.


LEAST = 20
"""Human grades from which probabilities are calibrated."""


def item_columns(result: Result, data: Data) -> dict[str, Any]:
    """Return the rows of *data* with what was learnt of each output.

    ``consensus`` is the judges' view (pass, fail, or a number), ``probability`` the calibrated
    probability of a pass (``support``, below 20 human grades, the judges' own), and ``label_next``
    the order in which to grade outputs: random items, all systems of an item together.
    """
    if not isinstance(result, ScoreResult) or len(data.roles.systems) == 2:
        raise InputError(
            "items are written for grades by one criterion: filter the table, or use --json"
        )
    outputs = read_outputs(
        data, result.scale, result.judge_scale, turned=result.turned, by_row=True
    )
    kept = [name for name in data.table.columns if name not in ("consensus", "label_next")]
    columns: dict[str, Any] = {**data.cells(*kept)}
    if outputs.pass_fail:
        columns["consensus"] = ["pass" if value > 0.5 else "fail" for value in outputs.consensus]
        name = "probability" if outputs.n_labels >= LEAST else "support"
        likely = np.where(outputs.known, outputs.truth, expected_grade(outputs))
        columns[name] = likely.round(4).tolist()
    else:
        low, high = result.scale or (0.0, 1.0)
        columns["consensus"] = (low + (high - low) * outputs.consensus).round(4).tolist()
        columns["expected"] = (low + (high - low) * expected_grade(outputs)).round(4).tolist()
    columns["label_next"] = _order(outputs, result.seed or 0)
    return columns


def expected_grade(outputs: GradePanel) -> Floats:
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


def _order(outputs: GradePanel, seed: int) -> list[int | None]:
    """Return the order of grading; items in random order, an item's systems one after the other.

    A random order is what the intervals need: an order by doubt would bias them.
    """
    draw, size = as_rng(seed), len(outputs.counts)
    item = np.arange(size) if outputs.item is None else outputs.item
    items, where = np.unique(item, return_inverse=True)
    place = draw.permutation(len(items))[where.ravel()]
    rows = np.lexsort((outputs.system, place))
    rows = rows[~outputs.known[rows]]
    order: list[int | None] = [None] * size
    for rank, row in enumerate(rows.tolist(), start=1):
        order[row] = rank
    return order
