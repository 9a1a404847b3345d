r"""What to label in order to settle a claim on a classifier: all items, or those it calls positive.

A claim "the metric is at least r" is about a mean, whatever the metric. Accuracy and precision are
shares. Recall and F1 are ratios, but their claims are linear in the labels:

.. math:: \text{recall} \ge r \iff \sum_i 1[y_i = +] (1[h_i = +] - r) \ge 0, \qquad
          F_1 \ge r \iff \sum_i \left(2 \cdot 1[h_i = y_i = +] - r (1[h_i = +] + 1[y_i = +])\right)
          \ge 0   \tag{W12}

so the anytime verdict of a share settles them too.
"""

from __future__ import annotations

import numpy as np

from tallystick.bound.question import BoundQuestion
from tallystick.data import Data
from tallystick.errors import InputError
from tallystick.sampling.labels.coded_votes import CodedVotes, coded_votes, pass_code
from tallystick.sampling.labels.consensus import Floats, Ints
from tallystick.sampling.labels.strata import LabelStrata
from tallystick.sampling.labels.stratum_means import stratum_means
from tallystick.sampling.labels.task import LabelTask, Measure, votes_task_strata

__all__ = ["labelling"]


def labelling(data: Data, question: BoundQuestion, strata: Ints | None = None) -> LabelTask:
    """Return the task: the first metric of the question, and its claim if there is one.

    Examples
    --------
    >>> from tallystick.data import read
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
    made, posterior = votes_task_strata(votes.codes, len(votes.classes), strata)
    return LabelTask(
        claim="share",
        classes=votes.classes,
        strata=made,
        rows=np.arange(votes.codes.shape[0])[:, None],
        measures=(_measure(question, votes, made, posterior),),
        columns=columns,
        disagree=(votes.codes != votes.codes[:, :1]).any(axis=1),
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
