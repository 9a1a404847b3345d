"""Grade judges from a labelling session: intervals that know how each item was drawn."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

import numpy as np

from tallystick.data import Data
from tallystick.data.session import Session
from tallystick.errors import InputError
from tallystick.judge.labelling import labelling
from tallystick.judge.leader import Leader, leader
from tallystick.judge.parts import JudgeScore, LabelScore, Share
from tallystick.judge.question import JudgeQuestion
from tallystick.judge.result import JudgeResult
from tallystick.judge.verdict import opening_with_labels
from tallystick.results import Interval, Needed, Unknown, count
from tallystick.sampling.labels.accuracies import JudgeAccuracy, judge_accuracies
from tallystick.sampling.labels.answers import Read, apart_answers, read_answers
from tallystick.sampling.labels.coded_votes import coded_votes
from tallystick.sampling.labels.planned_measure import apart_of, planned_measure
from tallystick.sampling.labels.task import LabelTask, class_measure

__all__ = ["from_session"]

DESIGN = "labelled items were drawn by label, with the probabilities that its session records"


def from_session(data: Data, question: JudgeQuestion) -> JudgeResult:
    """Return the accuracy of each judge on these items, from the draws of a session.

    Labels of a session are not a uniform sample, so the methods for a random draw do not apply.
    Inside a cell (stratum x vote) every item was equally likely to be drawn; the stratified adverse
    likelihood on these cells is the interval (`tallystick.sampling.labels.accuracies`).
    """
    session = data.session
    if session is None:
        raise InputError("the truth does not come from a labelling session")
    if session.head.units != "rows" or session.head.question == "compare":
        raise InputError(
            f"{session.path} was drawn for {session.head.question}, only where models differ: it"
            " says nothing about the accuracy on all items. Begin a session with --question judge"
        )
    task = labelling(data, question, session.strata().astype(np.int64))
    read, apart = read_answers(session, task), apart_answers(session, task)
    if not read.n:
        raise InputError(f"{session.path} has no labels to read yet: answer its first items")

    graded = _by_label(data, task, read, question.alpha)
    scores = []
    strict = question.alpha / max(len(task.measures), 1)
    together = []
    for measure, own in zip(task.measures, graded, strict=True):
        known = apart_of(apart, measure, task)
        estimate, interval = planned_measure(task, read, measure, known, alpha=question.alpha)
        together.append(planned_measure(task, read, measure, known, alpha=strict)[1])
        scores.append(_score(measure.name, estimate, interval, own, task))
    best = _leader(scores, together)
    told = opening_with_labels(best, scores, n_labels=read.n, every=False, drawn=True)
    settled = best is not None and not best.rivals
    return JudgeResult(
        verdict=told.verdict,
        sentences=told,
        basis=f"{100 * (1 - question.alpha):g} % intervals, approximate, from {count(read.n)}"
        " labels that were drawn by label.",
        decision="decided" if settled else "undecided",
        needed=None if settled else Needed(None, _more(session)),
        n_items=int(task.rows.shape[0]),
        assumptions=(DESIGN,),
        warnings=_warnings(read, apart.n),
        method="labels of a session",
        judges=tuple(scores),
        prevalence=_prevalence(task, read, apart, question.alpha),
        n_labels=read.n + apart.n,
        labels_worth=Unknown("not worked out for labels of a session"),
        leader=None if best is None else best.name,
        rivals=() if best is None else best.rivals,
    )


def _more(session: Session) -> str:
    path = shlex.quote(session.path)
    return f"labels: tallystick label --session {path} --next 20 --out batch.csv"


def _by_label(data: Data, task: LabelTask, read: Read, alpha: float) -> tuple[JudgeAccuracy, ...]:
    """Return each judge's share of right votes on each label, from answers that are settled."""
    votes = coded_votes(data, task.columns)
    same = ~read.skipped & (read.answers[:, 0, 0] == read.answers[:, 0, 1])
    codes = read.answers[same, 0, 0].astype(np.int64)
    return judge_accuracies(task.strata, votes.codes, read.units[same], codes, alpha=alpha)


def _score(
    name: str,
    estimate: float | Unknown,
    interval: Interval | Unknown,
    own: JudgeAccuracy,
    task: LabelTask,
) -> JudgeScore:
    parts = {
        str(label): LabelScore(estimate=part.estimate, interval=part.interval)
        for label, part in zip(task.classes, own.recall, strict=True)
    }
    return JudgeScore(
        name=name, accuracy=estimate, interval=interval, per_label=parts, votes=float(own.items)
    )


def _prevalence(task: LabelTask, read: Read, apart: Read, alpha: float) -> Mapping[str, Share]:
    found = {}
    for code, label in enumerate(task.classes):
        measure = class_measure(str(label), code, task.strata)
        known = apart_of(apart, measure, task)
        estimate, interval = planned_measure(task, read, measure, known, alpha=alpha)
        found[str(label)] = Share(estimate=estimate, interval=interval)
    return found


def _leader(scores: list[JudgeScore], together: list[Interval | Unknown]) -> Leader | None:
    """Return who leads by intervals that hold for all judges at once; None if there are none."""
    ends = [tuple(one) if isinstance(one, Interval) else (np.nan, np.nan) for one in together]
    low, high = np.array(ends).T
    return leader([score.name for score in scores], low, high)


def _warnings(read: Read, apart: int) -> tuple[str, ...]:
    found = []
    skips = int(read.skipped.sum())
    if skips:
        found.append(
            f"skipped items: {count(skips)}. They count both ways in the accuracies, and are left"
            " out of the numbers by label"
        )
    if apart:
        found.append(
            f"{count(apart)} labels of unknown origin are taken as known and say nothing of other"
            " items; the numbers by label leave them out"
        )
    return tuple(found)
