"""Labelled rows that were not drawn at random decide nothing."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tallystick.errors import InputError
from tallystick.results import Interval, Needed
from tallystick.sampling.label_accuracies import CodedVotes, Floats, Ints, coded_votes, pass_code
from tallystick.sampling.label_shares import apart_of, planned_measure
from tallystick.sampling.label_strata import LabelStrata, stratum_means
from tallystick.sampling.label_task import (
    LabelTask,
    Measure,
    apart_answers,
    read_answers,
    votes_task_strata,
)
from tallystick.table import Data, Tally, identifier, scan
from tallystick.verbs.bound.forward import FloatArray
from tallystick.verbs.bound.label_models import LabelModel, given
from tallystick.verbs.bound.question import BoundQuestion
from tallystick.verbs.bound.result import BoundResult, GoldEstimate
from tallystick.verbs.bound.verdict import ENOUGH, conclude_from_labels
from tallystick.verbs.bound.weak_votes import WeakTable, row_patterns

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


# Bound a classifier whose labels come from a labelling session.


DESIGN = "labelled rows were drawn by label, with the probabilities that its session records"


def without_truth(data: Data) -> Data:
    """Return the data without its labels: they are not a random draw, so no model is fitted to
    them.
    """
    return replace(data, roles=replace(data.roles, truth=None))


def with_session(result: BoundResult, data: Data, question: BoundQuestion) -> BoundResult:
    """Put the accuracy from the session's draws beside the bounds from weak labels.

    Parameters
    ----------
    result
        The bounds from weak labels alone (`without_truth`).
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
        metric="accuracy",
        labels=read.n + apart.n,
        estimate=estimate,
        interval=interval,
        worth=float(read.n),
    )
    result = replace(result, gold=(gold,), assumptions=(*result.assumptions, DESIGN))
    if question.metrics[0] != gold.metric or gold.labels < ENOUGH:
        return result

    # These labels decide like any other random ones: the verdict from votes alone no longer holds.
    told = conclude_from_labels(
        result.prediction, gold, question.target(None), None, result.n_items
    )
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


# A file with one row of probabilities per item, as Snorkel, skweak and cleanlab write it.


_PREFIXES = ("", "p_", "prob_", "proba_", "probability_")


def item_model(data: Data, table: WeakTable, path: str) -> LabelModel | None:
    r"""Read P(Y | item) and turn it into P(Y | Z), the mean over the rows that show each pattern.

    If the probabilities are right, so is their mean given the votes. What they know beyond the
    votes is not used, so the bounds are valid and may be wider than they could be.

    Parameters
    ----------
    data, table
        The rows that are evaluated, and their patterns.
    path
        A table with one column per class (named like the class, or p_CLASS, prob_CLASS), joined by
        the item column if it has one, otherwise in the order of the rows; or a ``.npy`` array of
        shape (rows, classes).

    Returns
    -------
    LabelModel
        None if the file has the weak columns: then it has one row per pattern of votes.
    """
    if path.endswith(".npy"):
        held = _from_array(path)
    else:
        found = _from_table(data, table, path)
        if found is None:
            return None
        held = found
    if isinstance(data.held, Tally):
        raise InputError(
            f"{path} has one row per item, and a saved tally has no items: give the table itself"
        )
    rows = data.n_rows
    if held.shape != (rows, len(table.classes)):
        raise InputError(
            f"{path} has shape {held.shape}, and the table has {rows:,} rows and"
            f" {len(table.classes)} classes: give one row per item, in the same order, or an item"
            " column to join by"
        )
    bad = ~np.isfinite(held).all(axis=1) | (held < -1e-6).any(axis=1)
    bad |= np.abs(held.sum(axis=1) - 1) > 1e-3
    if bad.any():
        first = int(bad.argmax())
        raise InputError(
            f"{path}, row {first + 1}: {held[first].round(4).tolist()} are not probabilities:"
            " they must be at least 0 and sum to 1"
        )
    place = row_patterns(data, table)
    size = np.bincount(place, minlength=len(table.votes))
    sums = np.stack(
        [np.bincount(place, weights=held[:, c], minlength=len(size)) for c in range(held.shape[1])],
        axis=1,
    )
    with np.errstate(invalid="ignore"):  # a pattern without a row stays NaN, that is unknown
        mean = sums / np.where(size > 0, size, np.nan)[:, None]
        return given(table, mean / mean.sum(axis=1, keepdims=True), name=path)


def _from_array(path: str) -> FloatArray:
    if not Path(path).is_file():
        raise InputError(f"there is no file {path!r}")
    return np.asarray(np.load(path, allow_pickle=False), dtype=np.float64)


def _from_table(data: Data, table: WeakTable, path: str) -> FloatArray | None:
    """Read the columns of the classes, in the order of the data; None if votes are in the file."""
    with scan(path) as held:
        if all(name in held.columns for name in table.weak):
            return None
        names = [_column(str(c), held.columns, path, table.weak) for c in table.classes]
        item = data.roles.item if data.roles.item in held.columns else None
        columns = ", ".join(identifier(name) for name in (*names, *([item] if item else [])))
        rows = held.query(f"select {columns} from rows")
    try:
        law = np.array([[float(cell) for cell in row[: len(names)]] for row in rows])
    except (TypeError, ValueError):
        raise InputError(f"{path}: the columns {names} must hold probabilities") from None
    if item is None:
        return law
    return law[_joined([row[-1] for row in rows], data.cells(item)[item], item, path)]


def _column(label: str, columns: Any, path: str, weak: tuple[str, ...]) -> str:
    for prefix in _PREFIXES:
        if f"{prefix}{label}" in columns:
            return f"{prefix}{label}"
    raise InputError(
        f"{path} has no column {label!r}: a label model needs one column of probabilities per class"
        f" (also p_{label} or prob_{label}), with one row per item, or one per pattern of the weak"
        f" columns {list(weak)}"
    )


def _joined(have: list[Any], want: list[Any], item: str, path: str) -> list[int]:
    """Return the row of the file for each item of the data."""
    place = {str(name): i for i, name in enumerate(have)}
    if len(place) < len(have):
        raise InputError(f"{path} names an item of {item!r} twice: keep one row per item")
    lacking = [name for name in want if str(name) not in place]
    if lacking:
        raise InputError(f"{path} has no row for the item {lacking[0]!r} of column {item!r}")
    return [place[str(name)] for name in want]
