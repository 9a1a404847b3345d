"""Grade judges from a labelling session: intervals that know how each item was drawn."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tallystick.results import Interval, Needed, Unknown, count
from tallystick.sampling.draws import GUESS_FLOOR, LabelStrata
from tallystick.sampling.planned import accuracy_estimator, apart_of, planned_measure
from tallystick.sampling.tasks import (
    LabelTask,
    Measure,
    Read,
    apart_answers,
    class_measure,
    read_answers,
    votes_task_strata,
)
from tallystick.sampling.votes import Floats, Ints, coded_votes
from tallystick.table import Data
from tallystick.table.data import RowPatterns
from tallystick.table.session import DRAWN, Session
from tallystick.verbs.judge.few_labels import leader
from tallystick.verbs.judge.question import JudgeQuestion
from tallystick.verbs.judge.result import JudgeResult, JudgeScore, LabelScore, Share
from tallystick.verbs.judge.verdict import opening_with_labels

_UNLIKE = Unknown("this needs labels that were all drawn with the same chance")


def from_session(session: Session, data: Data, question: JudgeQuestion) -> JudgeResult:
    """Return the accuracy of each judge on these items, from the draws of a session.

    A session whose labels are a random sample is read like any other labels. This is for the
    others: sessions of the second version, which drew some items more often than others, and
    sessions with skipped items or labels of unknown origin. Inside a cell (stratum x vote) every
    item was equally likely to be drawn; the stratified adverse likelihood on these cells is the
    interval (`tallystick.sampling.planned`).
    """
    session.require_drawn("judge")
    session.require_labels()
    task = labelling(data, question, session.strata().astype(np.int64))
    read, apart = read_answers(session, task), apart_answers(session, task)

    votes = coded_votes(data, task.columns)
    scores = []
    strict = question.alpha / max(len(task.measures), 1)
    together = []
    for measure, own in zip(task.measures, votes.codes.T, strict=True):
        known = apart_of(apart, measure, task)
        estimate, interval = planned_measure(task, read, measure, known, alpha=question.alpha)
        together.append(planned_measure(task, read, measure, known, alpha=strict)[1])
        voted = float(votes.counts[own >= 0].sum())
        scores.append(_score(measure.name, estimate, interval, voted, task))
    # These intervals hold for all judges at once.
    ends = [tuple(one) if isinstance(one, Interval) else (np.nan, np.nan) for one in together]
    best = leader([score.name for score in scores], *np.array(ends).T)
    told = opening_with_labels(best, scores, n_labels=read.n, every=False)
    settled = best is not None and not best.rivals
    return JudgeResult(
        verdict=told.verdict,
        sentences=told,
        basis=f"{100 * (1 - question.alpha):g}% intervals, approximate, from {count(read.n)}"
        " labels that were drawn by label.",
        decision="decided" if settled else "undecided",
        needed=None if settled else Needed(None, "labels on items that label draws"),
        n_items=int(task.rows.shape[0]),
        assumptions=(DRAWN,),
        warnings=_warnings(read, apart.n),
        method="labels of a session",
        judges=tuple(scores),
        prevalence=_prevalence(task, read, apart, question.alpha),
        n_labels=read.n + apart.n,
        labels_worth=_UNLIKE,
        leader=None if best is None else best.name,
        rivals=() if best is None else best.rivals,
    )


def _score(
    name: str,
    estimate: float | Unknown,
    interval: Interval | Unknown,
    voted: float,
    task: LabelTask,
) -> JudgeScore:
    parts = {str(label): LabelScore(estimate=_UNLIKE, interval=_UNLIKE) for label in task.classes}
    return JudgeScore(name=name, accuracy=estimate, interval=interval, per_label=parts, votes=voted)


def _prevalence(task: LabelTask, read: Read, apart: Read, alpha: float) -> Mapping[str, Share]:
    found = {}
    for code, label in enumerate(task.classes):
        measure = class_measure(str(label), code, task.strata)
        known = apart_of(apart, measure, task)
        estimate, interval = planned_measure(task, read, measure, known, alpha=alpha)
        found[str(label)] = Share(estimate=estimate, interval=interval)
    return found


def _warnings(read: Read, apart: int) -> tuple[str, ...]:
    found = []
    skips = int(read.skipped.sum())
    if skips:
        found.append(f"skipped items: {count(skips)}. They count both ways in the accuracies")
    if apart:
        found.append(
            f"{count(apart)} labels of unknown origin are taken as known and say nothing of other"
            " items"
        )
    return tuple(found)


# What to label in order to grade judges: all items, by what the votes say of them.


def labelling(data: Data, question: JudgeQuestion, strata: Ints | None = None) -> LabelTask:
    """Return the task: each judge's accuracy, from labels that serve all judges at once.

    The value of a label for a judge is 1 where the judge's vote is the label; the guess is the
    posterior of its vote. Cells are stratum x vote, inside which every item was equally likely to
    be drawn.

    Examples
    --------
    >>> from tallystick.table import read
    >>> votes = {"a": [1, 0, 1, 1] * 20, "b": [1, 0, 0, 1] * 20}
    >>> task = labelling(read(votes, judges=("a", "b")), JudgeQuestion())
    >>> task.claim, [measure.name for measure in task.measures], task.classes
    ('share', ['a', 'b'], (0, 1))
    """
    judges = data.roles.judges
    votes = coded_votes(data, judges)
    made, posterior = votes_task_strata(votes, strata)
    inside, size = made.of >= 0, len(votes.codes)
    pair = made.of[inside].astype(np.int64) * size + votes.place[inside]
    held = np.bincount(pair, minlength=len(made) * size).reshape(len(made), size)
    measures = (_accuracy(name, j, votes, made, (posterior, held)) for j, name in enumerate(judges))
    return LabelTask(
        claim="share",
        classes=votes.labels,
        strata=made,
        rows=np.arange(votes.place.size)[:, None],
        measures=tuple(measures),
        columns=judges,
        shared=accuracy_estimator(votes, made, range(len(judges))),
    )


def _accuracy(
    name: str,
    j: int,
    patterns: RowPatterns,
    strata: LabelStrata,
    believed: tuple[Floats, Ints],
) -> Measure:
    """Return the accuracy of one judge; *believed* is the posterior of each pattern, and how many
    items of each stratum show it.
    """
    posterior, held = believed
    own, place, classes = patterns.codes[:, j], patterns.place, posterior.shape[1]
    right = np.where(own >= 0, posterior[np.arange(own.size), np.maximum(own, 0)], 0.0)
    vote = own.astype(np.int32)[place]
    outside = (vote < 0) | (strata.of < 0)
    cell = strata.of.astype(np.int32) * np.int32(classes) + vote
    cell[outside] = -1

    def value(units: Ints, answers: Floats) -> Floats:
        return np.asarray(answers[:, 0] == own[place[units]], dtype=np.float64)

    share = held @ right / np.maximum(strata.sizes, 1)
    return Measure(
        name=name,
        value=value,
        guess=np.clip(share, GUESS_FLOOR, 1 - GUESS_FLOOR),
        cell=cell,
        scale=place.size / max(float(patterns.counts[own >= 0].sum()), 1.0),
    )
