"""What labels say of classifiers: every metric, every pair, and what would settle a claim.

From 20 random labels these intervals decide, whatever the weak labels are worth. Accuracy is the
answer of the estimator that all verbs share, with the weak labels as forecasts, and precision is
that of the rows predicted to be of the class; recall and F1 sort rows into cells by the consensus
of the votes before a label is seen.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import NormalDist

import numpy as np

from tallystick.errors import InputError
from tallystick.papers.frechet_bounds import Summary
from tallystick.results import Interval, Needed, Unknown
from tallystick.sampling.draws import LabelStrata, stratum_means
from tallystick.sampling.planned import accuracy_estimator, apart_of, planned_measure
from tallystick.sampling.tasks import (
    LabelTask,
    Measure,
    apart_answers,
    read_answers,
    votes_task_strata,
)
from tallystick.sampling.votes import Floats, Ints, coded_votes, pass_code
from tallystick.stats.adverse_binary import Population
from tallystick.stats.adverse_ratios import Ratio, RatioEstimate, adverse_auc, adverse_ratio
from tallystick.stats.few_labels import FewLabels, accuracies
from tallystick.table import Data, Label
from tallystick.table.data import RowPatterns
from tallystick.table.session import DRAWN
from tallystick.verbs.bound.forward import IntArray
from tallystick.verbs.bound.label_models import consensus
from tallystick.verbs.bound.question import MEANS, BoundQuestion
from tallystick.verbs.bound.result import BoundResult, ClassifierPair, GoldEstimate
from tallystick.verbs.bound.verdict import ENOUGH, POWER, conclude_from_labels
from tallystick.verbs.bound.votes import ABSTAINED, WeakVotes, class_codes


@dataclass(frozen=True, eq=False, kw_only=True)
class FromLabels:
    """Everything that labels say.

    Parameters
    ----------
    gold
        Every metric of every classifier, the leading metric first.
    pairs
        Differences in accuracy of all classifiers, holding together.
    weak
        The accuracies of the weak labels.
    needed
        Labels in all that are forecast to decide the claim; None where there is no forecast.
    """

    gold: tuple[GoldEstimate, ...]
    pairs: tuple[ClassifierPair, ...]
    weak: FewLabels
    needed: int | None


def from_labels(
    votes: WeakVotes,
    question: BoundQuestion,
    wanted: Sequence[Summary],
    thresholds: Mapping[str, float],
) -> FromLabels:
    """Estimate every metric and every pair from labels; *thresholds* belong to a score.

    The thresholds of a score are classifiers one at a time: none of them forecasts another.
    """
    panel, count = votes.panel, len(votes.weak)
    every = votes.labels == votes.n
    population: Population = "new" if question.population == "new" else "these"
    if question.population is None and every:
        population = "new"

    def estimated(columns: Sequence[int], of: Sequence[int]) -> FewLabels:
        codes = panel.codes[:, list(columns)]
        return _right(votes, codes, of, population)

    weak = list(range(count))
    at = [count + k for k in range(len(votes.predictions))]
    if thresholds:
        fits = [(estimated([*weak, j], [count]), 0) for j in at]
        found = estimated(weak, weak)
    else:
        found = estimated([*weak, *at], [*weak, *at])
        fits = [(found, j) for j in at]
    gold = []
    for one in wanted:
        for k, name in enumerate(votes.predictions):
            ratio = one.metric not in MEANS
            made = _ratio(votes, k, one, question.alpha) if ratio else _mean(*fits[k], question)
            gold.append(
                GoldEstimate(
                    prediction=name,
                    metric=one.metric,
                    positive=None if one.positive is None else votes.classes[one.positive],
                    threshold=thresholds.get(name),
                    labels=votes.labels,
                    estimate=made.estimate,
                    interval=made.interval,
                    worth=made.worth,
                    population="these" if ratio else population,
                )
            )
    if thresholds or len(at) < 2:
        needed = labels_to_decide(gold[0], question, fits[0], votes.n)
        return FromLabels(gold=tuple(gold), pairs=(), weak=found, needed=needed)
    pairs, needed = _pairs(votes.predictions, estimated([*weak, *at], at), question)
    return FromLabels(gold=tuple(gold), pairs=pairs, weak=found, needed=needed)


def _right(
    votes: WeakVotes, codes: IntArray, of: Sequence[int], population: Population
) -> FewLabels:
    """Estimate how often columns of votes are right."""
    panel = votes.panel
    return accuracies(codes, panel.truth, counts=panel.counts, columns=of, population=population)


def _mean(found: FewLabels, j: int, question: BoundQuestion) -> RatioEstimate:
    means = found.means(alpha=question.alpha)
    return RatioEstimate(
        estimate=float(means.estimate[j]),
        interval=means.interval[j],
        worth=float(found.labels_worth[j]),
    )


def _pairs(
    names: Sequence[str], found: FewLabels, question: BoundQuestion
) -> tuple[tuple[ClassifierPair, ...], int | None]:
    """Tell the classifiers apart on the same rows, the error over all pairs held; return also how
    many labels would tell the two best apart.
    """
    told = found.pairs(rng=question.seed, alpha=question.alpha)
    out = []
    for i, (a, b) in enumerate(combinations(names, 2)):
        gap = float(told.difference[i])
        settled = float(told.adjusted_p[i]) <= question.alpha and gap != 0
        out.append(
            ClassifierPair(
                a=a,
                b=b,
                estimate=gap,
                interval=told.interval[i],
                adjusted_p=float(told.adjusted_p[i]),
                better=(a if gap > 0 else b) if settled else None,
            )
        )
    first, second = np.argsort(-found.means().estimate, kind="stable")[:2].tolist()
    needed = float(found.forecast_pairs(first, second, alpha=question.alpha)[0])
    return tuple(out), math.ceil(needed) if math.isfinite(needed) else None


def labels_to_decide(
    first: GoldEstimate, question: BoundQuestion, known: tuple[FewLabels, int], rows: int
) -> int | None:
    r"""Forecast how many labels in all decide the claim, never more than there are rows.

    A metric whose estimate is right is decided with probability .8 once its half-width is
    :math:`|\hat\Delta|\, z / (z + z_{.8})`, with :math:`\hat\Delta` the distance of the estimate from
    the claim: for accuracy by the interval's own equation, for ratios with the half-width h of m
    labels falling as

    .. math:: h(M)^2 \propto \frac1M - \frac1N
    """
    if question.at_least is None or isinstance(first.estimate, Unknown):
        return None
    off = first.estimate - question.at_least
    normal = NormalDist()
    sure, power = normal.inv_cdf(1 - question.alpha / 2), normal.inv_cdf(POWER)
    half = max(abs(off) * sure / (sure + power), 1e-6)
    if first.metric in MEANS:
        needed = float(known[0].labels_for(half, alpha=question.alpha)[known[1]])
        return min(rows, math.ceil(needed)) if math.isfinite(needed) else rows
    ends = first.interval
    now = first.estimate - ends.low if off > 0 else ends.high - first.estimate
    if now <= 0 or first.labels >= rows:
        return None
    doubt = (1 / first.labels - 1 / rows) * (half / now) ** 2
    return min(rows, math.ceil(1 / (doubt + 1 / rows)))


@dataclass(frozen=True, eq=False, kw_only=True)
class LabelledRows:
    """Rows and labels by (consensus, prediction), which is all that precision, recall and F1 need.

    Parameters
    ----------
    sizes
        (classes of the consensus, classes predicted): rows.
    gold
        (…, classes of the truth): labelled rows.
    """

    sizes: IntArray
    gold: IntArray

    @classmethod
    def of(cls, votes: WeakVotes, k: int) -> LabelledRows:
        """Count the rows of classifier *k*."""
        lead, said = consensus(votes).argmax(axis=1)[votes.place], votes.predicted(k)
        return cls(sizes=votes.counted(lead, said), gold=votes.counted(lead, said, votes.truth))

    def cells(self, c: int) -> tuple[Floats, Floats, Floats]:
        """Return rows, labels and labels of class *c* in the cells (h = c?) x (consensus = c?)."""
        tables = (self.sizes, self.gold.sum(axis=2), self.gold[:, :, c])
        parts = []
        for t in tables:
            both, h, k = t[c, c], t[:, c].sum(), t[c].sum()
            parts.append(np.array([both, h - both, k - both, t.sum() - h - k + both], dtype=float))
        return parts[0], parts[1], parts[2]

    def together(self, kind: str, estimates: Sequence[float | Unknown]) -> Floats:
        """Return how the errors of the classes' ratios go together on the labelled rows.

        A ratio A/B moves with a row by (a - ratio b)/B. Correlations below 0 are taken as 0, and
        those of a class without an estimate as 1.
        """
        rows = self.gold.sum(axis=0).astype(np.float64)  # by prediction and truth
        size = len(estimates)
        said, true = np.indices(rows.shape)
        moves = np.zeros((size, *rows.shape))
        for c, ratio in enumerate(estimates):
            if isinstance(ratio, Unknown):
                continue
            whole = {"precision": said == c, "recall": true == c}.get(
                kind, ((said == c) * 1.0 + (true == c)) / 2
            )
            moves[c] = ((said == c) & (true == c)) - ratio * whole
        products = np.einsum("cht,ht,dht->cd", moves, rows, moves)
        scale = np.sqrt(np.diag(products))
        known = np.outer(scale, scale)
        found = np.divide(products, known, out=np.ones((size, size)), where=known > 0)
        return np.asarray(np.clip(found, 0.0, 1.0))


def _ratio(votes: WeakVotes, k: int, wanted: Summary, alpha: float) -> RatioEstimate:
    """Estimate precision, recall or F1 of a class; a macro average combines the classes' doubts."""
    rows, kind = LabelledRows.of(votes, k), wanted.metric.removeprefix("macro-")
    every = range(len(votes.classes)) if wanted.positive is None else [wanted.positive]
    parts = []
    for c in every:
        if kind == "precision":
            parts.append(_precision(votes, k, c, alpha))
        else:
            cells = rows.cells(c)
            asked: Ratio = "recall" if kind == "recall" else "f1"
            parts.append(adverse_ratio(*cells, measure=asked, alpha=alpha))
    if wanted.positive is not None:
        return parts[0]
    return macro(parts, rows.together(kind, [one.estimate for one in parts]))


_NONE_PREDICTED = Unknown("no labelled row is predicted to be of this class")


def _precision(votes: WeakVotes, k: int, c: int, alpha: float) -> RatioEstimate:
    """Estimate how often classifier *k* is right where it says *c*: the accuracy of a column that
    is silent elsewhere, as that of a rule for one class.
    """
    count = len(votes.weak)
    codes = votes.panel.codes[:, [*range(count), count + k]].copy()
    codes[votes.predicted(k) != c, count] = ABSTAINED
    if (codes[:, count] < 0).all():
        nothing = Interval(0.0, 1.0, 1 - alpha, "approximate")
        return RatioEstimate(estimate=_NONE_PREDICTED, interval=nothing, worth=0.0)
    found = _right(votes, codes, [count], "these")
    means = found.means(alpha=alpha)
    estimate = float(means.estimate[0])
    return RatioEstimate(
        estimate=estimate if math.isfinite(estimate) else _NONE_PREDICTED,
        interval=means.interval[0],
        # Labels outside these rows say nothing, so each label of the table is worth as much more.
        worth=votes.labels * float(found.labels_worth[0]) / max(float(found.labels[0]), 1.0),
    )


def macro(parts: Sequence[RatioEstimate], together: Floats) -> RatioEstimate:
    r"""Return the mean of the classes' estimates, with their reaches combined.

    With reaches :math:`r_c` to one side and correlations :math:`\rho`, as MOVER does for sums,

    .. math:: r^2 = \frac{1}{K^2} \sum_{cd} \rho_{cd}\, r_c r_d   \tag{W13}
    """
    lacking = next((one.estimate for one in parts if isinstance(one.estimate, Unknown)), None)
    ends = np.array([tuple(one.interval) for one in parts])
    # Where a class has no estimate, the middle of what is possible stands for it.
    centres = np.array(
        [
            middle if isinstance(one.estimate, Unknown) else one.estimate
            for one, middle in zip(parts, ends.mean(axis=1).tolist(), strict=True)
        ]
    )
    centre = float(centres.mean())
    down, up = (
        float(np.sqrt(reach @ together @ reach)) / len(parts)
        for reach in (np.maximum(centres - ends[:, 0], 0), np.maximum(ends[:, 1] - centres, 0))
    )
    return RatioEstimate(
        estimate=centre if lacking is None else lacking,
        interval=replace(
            parts[0].interval, low=max(0.0, centre - down), high=min(1.0, centre + up)
        ),
        worth=float(np.mean([one.worth for one in parts])),
    )


def auc_from_labels(
    data: Data, score: str, truth: str, classes: Sequence[Label], alpha: float
) -> GoldEstimate | None:
    """Estimate the AUC of a score from the labelled rows; *classes* are the negative and the
    positive one. None with fewer than 20 labels.
    """
    codes = class_codes(data, (truth,), classes)[:, 0]
    if (codes >= 0).sum() < ENOUGH:
        return None
    scores = data.numbers(score, low=0.0, high=1.0).reshape(-1)
    estimate, interval = adverse_auc(scores[codes == 1], scores[codes == 0], alpha=alpha)
    return GoldEstimate(
        prediction=score,
        metric="auc",
        positive=classes[1],
        labels=int((codes >= 0).sum()),
        estimate=estimate,
        interval=interval,
        worth=Unknown("votes are not used for the AUC"),
        population="these",
    )


# What to label in order to settle a claim on a classifier: all items, or those it calls positive.
#
# A claim "the metric is at least r" is about a mean, whatever the metric. Accuracy and precision
# are shares. Recall and F1 are ratios, but their claims are linear in the labels:
#
# .. math:: \text{recall} \ge r \iff \sum_i 1[y_i = +] (1[h_i = +] - r) \ge 0, \qquad
#           F_1 \ge r \iff \sum_i \left(2 \cdot 1[h_i = y_i = +] - r (1[h_i = +] + 1[y_i =
# +])\right)
#           \ge 0   \tag{W12}
#
# so the anytime verdict of a share settles them too.


def labelling(data: Data, question: BoundQuestion, strata: Ints | None = None) -> LabelTask:
    """Return the task: the first metric of the question, and its claim if there is one.

    Examples
    --------
    >>> from tallystick.table import read
    >>> table = {"h": [1, 0, 1, 1] * 20, "rule": [1, 0, 0, 1] * 20}
    >>> data = read(table, prediction="h", weak=("rule",))
    >>> task = labelling(data, BoundQuestion(at_least=0.8))
    >>> task.measures[0].name, task.measures[0].limit
    ('accuracy', 0.8)
    """
    if len(data.roles.prediction) != 1:
        raise InputError("labels are drawn for one column of predictions: name it (--prediction)")
    columns = (*data.roles.weak, *data.roles.prediction)
    votes = coded_votes(data, columns)
    made, posterior = votes_task_strata(votes, strata)
    shared = accuracy_estimator(votes, made, [len(columns) - 1])
    return LabelTask(
        claim="share",
        classes=votes.labels,
        strata=made,
        rows=np.arange(votes.place.size)[:, None],
        measures=(_measure(question, votes, made, posterior[votes.place]),),
        columns=columns,
        shared=shared if question.metrics[0] == "accuracy" else None,
    )


def _measure(
    question: BoundQuestion, votes: RowPatterns, strata: LabelStrata, posterior: Floats
) -> Measure:
    metric, limit = question.metrics[0], question.at_least
    predicted = votes.codes[votes.place, -1]
    every = np.arange(predicted.size)
    likely = np.where(predicted >= 0, posterior[every, np.maximum(predicted, 0)], 0.0)
    if metric == "accuracy":
        cell = strata.of.astype(np.int64)

        def right(units: Ints, answers: Floats) -> Floats:
            return np.asarray(answers[:, 0] == predicted[units], dtype=np.float64)

        guess = stratum_means(strata, likely)
        return Measure(name=metric, value=right, guess=guess, cell=cell, limit=limit)

    positive = pass_code(votes.labels, question.positive)
    called = predicted == positive
    if metric == "precision":
        if not called.any():
            raise InputError(
                "the classifier never predicts the positive class, so it has no precision"
            )
        cell = np.where(called & (strata.of >= 0), strata.of.astype(np.int64), -1)

        def hit(units: Ints, answers: Floats) -> Floats:
            return np.asarray((answers[:, 0] == positive) & called[units], dtype=np.float64)

        guess = stratum_means(strata, np.where(called, posterior[:, positive], 0.0))
        scale = predicted.size / int(called.sum())
        return Measure(name=metric, value=hit, guess=guess, cell=cell, scale=scale, limit=limit)

    if metric not in ("recall", "f1") or limit is None:
        raise InputError(
            f"label settles accuracy, precision, and claims on recall and f1 (--at-least .8), got"
            f" {metric!r}"
        )
    return _ratio_claim(metric, limit, called, posterior[:, positive], positive, strata)


def _ratio_claim(
    metric: str,
    limit: float,
    called: np.typing.NDArray[np.bool_],
    chance: Floats,
    positive: int,
    strata: LabelStrata,
) -> Measure:
    """Return the mean whose sign is that of the metric minus its limit (W12)."""
    # The value of an item is linear in "its label is positive": base + slope * that.
    recall = metric == "recall"
    base: Floats = np.zeros(called.size) if recall else np.asarray(-limit * called)
    slope: Floats = np.asarray(called - limit if recall else 2.0 * called - limit)

    def value(units: Ints, answers: Floats) -> Floats:
        return np.asarray(base[units] + slope[units] * (answers[:, 0] == positive))

    ends = np.concatenate((base, base + slope))
    bounds = float(ends.min()), float(ends.max())
    guess = stratum_means(strata, base + slope * chance, bounds=bounds)
    name = f"{metric} - {limit:g}, times its denominator"
    return Measure(name=name, value=value, guess=guess, bounds=bounds, limit=0.0)


# Bound a classifier whose labels come from a labelling session.


def without_truth(data: Data) -> Data:
    """Return the data without its labels: they are not a random draw of all rows."""
    return replace(data, roles=replace(data.roles, truth=None))


def with_session(result: BoundResult, data: Data, question: BoundQuestion) -> BoundResult:
    """Put the accuracy from the session's draws beside the ranges from weak labels.

    Parameters
    ----------
    result
        The ranges from weak labels alone (`without_truth`).
    data, question
        What was read, with its session, and what is asked.
    """
    session = data.session
    if session is None:
        return result
    session.require_drawn("bound")
    plain = BoundQuestion(alpha=question.alpha)
    task = labelling(data, plain, session.strata().astype(np.int64))
    read, apart = read_answers(session, task), apart_answers(session, task)
    measure = task.measures[0]
    estimate, interval = planned_measure(
        task, read, measure, apart_of(apart, measure, task), alpha=question.alpha
    )
    if not isinstance(interval, Interval) or not isinstance(estimate, float):
        return result
    gold = GoldEstimate(
        prediction=result.predictions[0],
        metric="accuracy",
        labels=read.n + apart.n,
        estimate=estimate,
        interval=interval,
        worth=float(read.n),
        population="these",
    )
    result = replace(
        result, gold=(gold,), population="these", assumptions=(*result.assumptions, DRAWN)
    )
    if question.metrics[0] != gold.metric or gold.labels < ENOUGH:
        return result

    # These labels decide like any other random ones: the verdict from votes alone no longer holds.
    told = conclude_from_labels(gold, question, None, result.n_items, sharpened=False)
    more = (
        f"labels: tallystick label --session {shlex.quote(session.path)} --next 20 --out batch.csv"
    )
    return replace(
        result,
        verdict=told.verdict,
        sentences=told.sentences,
        decision=told.decision,
        needed=None if told.decision == "decided" else Needed(None, more),
    )
