"""What labels say of classifiers: every metric, every pair, and what would settle a claim.

From 20 random labels these intervals decide, whatever the weak labels are worth. Accuracy is the
answer of the estimator that all verbs share, with the weak labels as forecasts; precision, recall
and F1 sort rows into cells by the consensus of the votes before a label is seen.
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
from tallystick.sampling.votes import CodedVotes, Floats, Ints, coded_votes, pass_code
from tallystick.stats.adverse_binary import AdverseEstimate, Population
from tallystick.stats.adverse_forecast import Outlook, settle_at
from tallystick.stats.adverse_ratios import (
    adverse_auc,
    adverse_f1,
    adverse_precision,
    adverse_recall,
    f1_outlook,
    precision_outlook,
    recall_outlook,
)
from tallystick.stats.few_labels import FewLabels, accuracies
from tallystick.table import Data, Label
from tallystick.verbs.bound.forward import IntArray
from tallystick.verbs.bound.label_models import consensus
from tallystick.verbs.bound.question import MEANS, BoundQuestion
from tallystick.verbs.bound.result import BoundResult, ClassifierPair, GoldEstimate
from tallystick.verbs.bound.verdict import ENOUGH, conclude_from_labels
from tallystick.verbs.bound.votes import WeakVotes, class_codes

_POWER = 0.8


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
        return accuracies(
            panel.codes[:, list(columns)],
            panel.truth,
            counts=panel.counts,
            columns=of,
            population=population,
        )

    weak = list(range(count))
    at = [count + k for k in range(len(votes.predictions))]
    if thresholds:
        fits = [(estimated([*weak, j], [count]), 0) for j in at]
        found = estimated(weak, weak)
    else:
        found = estimated([*weak, *at], [*weak, *at])
        fits = [(found, j) for j in at]
    rows = [LabelledRows.of(votes, k) for k in range(len(at))]
    gold = [
        _gold(one, votes, k, (fits[k], rows[k]), (question.alpha, thresholds.get(name)))
        for one in wanted
        for k, name in enumerate(votes.predictions)
    ]
    if thresholds or len(at) < 2:
        outlook = rows[0].outlook(wanted[0])
        needed = labels_to_decide(gold[0], question, fits[0], outlook, votes.n)
        return FromLabels(gold=tuple(gold), pairs=(), weak=found, needed=needed)
    pairs, needed = _pairs(votes.predictions, estimated([*weak, *at], at), question)
    return FromLabels(gold=tuple(gold), pairs=pairs, weak=found, needed=needed)


def _gold(
    wanted: Summary,
    votes: WeakVotes,
    k: int,
    known: tuple[tuple[FewLabels, int], LabelledRows],
    how: tuple[float, float | None],
) -> GoldEstimate:
    """Estimate one metric of one classifier."""
    (found, j), rows = known
    alpha, threshold = how
    if wanted.metric in MEANS:
        means = found.means(alpha=alpha)
        estimate: float | Unknown = float(means.estimate[j])
        interval, worth = means.interval[j], float(found.labels_worth[j])
    else:
        one = rows.estimate(wanted, alpha=alpha)
        estimate, interval, worth = one.estimate, one.interval, one.worth
    return GoldEstimate(
        prediction=votes.predictions[k],
        metric=wanted.metric,
        positive=None if wanted.positive is None else votes.classes[wanted.positive],
        threshold=threshold,
        labels=votes.labels,
        estimate=estimate,
        interval=interval,
        worth=worth,
        population=found.population if wanted.metric in MEANS else "these",
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
    needed = found.labels_to_settle(first, second, alpha=question.alpha)
    return tuple(out), math.ceil(needed) if math.isfinite(needed) else None


def labels_to_decide(
    first: GoldEstimate,
    question: BoundQuestion,
    known: tuple[FewLabels, int],
    outlook: Outlook | None,
    rows: int,
) -> int | None:
    r"""Forecast how many labels in all decide the claim, never more than there are rows.

    An accuracy whose estimate is right is decided with probability .8 once its half-width is
    :math:`|\hat\Delta|\, z / (z + z_{.8})`, by the interval's own equation; ratios by

    .. math:: M = \frac{q V}{\hat\Delta^2 + q V/N}, \qquad q = (z_{1-\alpha/2} + z_{.8})^2

    with :math:`\hat\Delta` the distance of the estimate from the claim.
    """
    if question.at_least is None or isinstance(first.estimate, Unknown):
        return None
    off = first.estimate - question.at_least
    if first.metric in MEANS:
        normal = NormalDist()
        sure, power = normal.inv_cdf(1 - question.alpha / 2), normal.inv_cdf(_POWER)
        half = max(abs(off) * sure / (sure + power), 1e-6)
        needed = float(known[0].labels_for(half, alpha=question.alpha)[known[1]])
        return min(rows, math.ceil(needed)) if math.isfinite(needed) else rows
    if outlook is None or outlook.variance <= 0:
        return None
    inside = settle_at(off, outlook.variance, outlook.items, alpha=question.alpha)
    return min(rows, math.ceil(inside / outlook.fraction))


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

    def estimate(self, wanted: Summary, *, alpha: float) -> AdverseEstimate:
        """Estimate one ratio; a macro average combines the doubts of its classes.

        Examples
        --------
        >>> rows = LabelledRows(
        ...     sizes=np.array([[640, 100], [60, 200]]),
        ...     gold=np.array([[[62, 2], [5, 5]], [[3, 3], [2, 18]]]),
        ... )
        >>> print(rows.estimate(Summary("recall", 1), alpha=0.05))
        0.8214 [0.698, 0.917] (95 %, approximate)
        """
        ask = {
            "precision": adverse_precision,
            "recall": adverse_recall,
            "f1": adverse_f1,
        }[wanted.metric.removeprefix("macro-")]
        if wanted.positive is not None:
            return ask(*self.cells(wanted.positive), alpha=alpha)
        parts = [ask(*self.cells(c), alpha=alpha) for c in range(self.gold.shape[2])]
        kind = wanted.metric.removeprefix("macro-")
        return _mean(parts, self._together(kind, [one.estimate for one in parts]))

    def _together(self, kind: str, estimates: Sequence[float | Unknown]) -> Floats:
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

    def outlook(self, wanted: Summary) -> Outlook | None:
        """Return what a forecast of a ratio's width needs; None where none is known."""
        if wanted.positive is None:
            return None
        cells = self.cells(wanted.positive)
        if wanted.metric == "precision":
            return precision_outlook(*cells) if cells[0][:2].sum() else None
        if cells[2].sum() == 0:  # no label of the class: nothing to forecast from
            return None
        return recall_outlook(*cells) if wanted.metric == "recall" else f1_outlook(*cells)


def _mean(parts: Sequence[AdverseEstimate], together: Floats) -> AdverseEstimate:
    r"""Return the mean of the estimates, with the reaches of the classes combined.

    With reaches :math:`r_c` to one side and correlations :math:`\rho`, as MOVER does for sums,

    .. math:: r^2 = \frac{1}{K^2} \sum_{cd} \rho_{cd}\, r_c r_d   \tag{W13}
    """
    lacking = next((one.estimate for one in parts if isinstance(one.estimate, Unknown)), None)
    # Where a class has no estimate, the middle of what is possible stands for it.
    centres = np.array(
        [
            (one.interval.low + one.interval.high) / 2
            if isinstance(one.estimate, Unknown)
            else one.estimate
            for one in parts
        ]
    )
    centre, ends = float(centres.mean()), []
    for pick in ("interval", "labels_only"):
        held = [getattr(one, pick) for one in parts]
        reaches = (
            np.maximum(centres - [one.low for one in held], 0.0),
            np.maximum(np.array([one.high for one in held]) - centres, 0.0),
        )
        down, up = (float(np.sqrt(r @ together @ r)) / len(parts) for r in reaches)
        low, high = max(0.0, centre - down), min(1.0, centre + up)
        ends.append(Interval(low, high, held[0].level, "approximate", None, held[0].method))
    labels = max(one.n_labels for one in parts)
    ratio = ends[1].width / ends[0].width if ends[0].width > 0 else 1.0
    return AdverseEstimate(
        estimate=centre if lacking is None else lacking,
        interval=ends[0],
        labels_only=ends[1],
        n_labels=labels,
        worth=labels * ratio**2,
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
    found = adverse_auc(scores[codes == 1], scores[codes == 0], alpha=alpha)
    return GoldEstimate(
        prediction=score,
        metric="auc",
        positive=classes[1],
        labels=int((codes >= 0).sum()),
        estimate=found.estimate,
        interval=found.interval,
        worth=Unknown("votes are not used for the AUC"),
        population="these",
    )


# Labelled rows that were not drawn at random decide nothing.


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
        raise InputError("label needs one column of predicted labels: name it (--prediction)")
    columns = (*data.roles.weak, *data.roles.prediction)
    votes = coded_votes(data, columns)
    made, posterior, patterns = votes_task_strata(votes.codes, len(votes.classes), strata)
    return LabelTask(
        claim="share",
        classes=votes.classes,
        strata=made,
        rows=np.arange(votes.codes.shape[0])[:, None],
        measures=(_measure(question, votes, made, posterior),),
        columns=columns,
        shared=accuracy_estimator(patterns, made, [len(columns) - 1])
        if question.metrics[0] == "accuracy"
        else None,
    )


def _measure(
    question: BoundQuestion, votes: CodedVotes, strata: LabelStrata, posterior: Floats
) -> Measure:
    metric, limit = question.metrics[0], question.at_least
    predicted = votes.codes[:, -1]
    every = np.arange(predicted.size)
    likely = np.where(predicted >= 0, posterior[every, np.maximum(predicted, 0)], 0.0)
    if metric == "accuracy":
        cell = strata.of.astype(np.int64)

        def right(units: Ints, answers: Floats) -> Floats:
            return np.asarray(answers[:, 0] == predicted[units], dtype=np.float64)

        guess = stratum_means(strata, likely)
        return Measure(name=metric, value=right, guess=guess, cell=cell, limit=limit)

    positive = pass_code(votes, question.positive)
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
            f"label settles claims on accuracy, precision, recall and f1, got {metric!r}"
            + ("" if limit is not None else ": say which claim (--at-least .8)")
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


DESIGN = "labelled rows were drawn by label, with the probabilities that its session records"


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
    if session.head.units != "rows" or session.head.question == "compare":
        raise InputError(
            f"{session.path} was drawn only where models differ: it says nothing about all rows."
            " Begin a session with --question bound"
        )
    if len(result.predictions) != 1:
        raise InputError("a labelling session answers for one classifier: name one prediction")
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
        result, gold=(gold,), population="these", assumptions=(*result.assumptions, DESIGN)
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
