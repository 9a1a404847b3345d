"""Bound a classifier whose labels come from a labelling session."""

from __future__ import annotations

import shlex
from dataclasses import replace

import numpy as np

from tallystick.bound.label_intervals import ENOUGH
from tallystick.bound.labelling import labelling
from tallystick.bound.question import BoundQuestion
from tallystick.bound.result import BoundResult, GoldEstimate
from tallystick.bound.verdict import conclude_from_labels
from tallystick.data import Data
from tallystick.errors import InputError
from tallystick.results import Interval, Needed
from tallystick.sampling.labels.answers import apart_answers, read_answers
from tallystick.sampling.labels.planned_measure import apart_of, planned_measure

__all__ = ["with_session", "without_truth"]

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
