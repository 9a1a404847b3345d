"""What to label in order to grade judges: all items, by what the votes say of them."""

from __future__ import annotations

import numpy as np

from tallystick.data import Data
from tallystick.judge.question import JudgeQuestion
from tallystick.sampling.labels.coded_votes import CodedVotes, coded_votes
from tallystick.sampling.labels.consensus import Floats, Ints
from tallystick.sampling.labels.strata import LabelStrata
from tallystick.sampling.labels.stratum_means import stratum_means
from tallystick.sampling.labels.task import LabelTask, Measure, votes_task_strata

__all__ = ["labelling"]


def labelling(data: Data, question: JudgeQuestion, strata: Ints | None = None) -> LabelTask:
    """Return the task: each judge's accuracy, from labels that serve all judges at once.

    The value of a label for a judge is 1 where the judge's vote is the label; the guess is the
    posterior of its vote. Cells are stratum x vote, inside which every item was equally likely to
    be drawn.

    Examples
    --------
    >>> from tallystick.data import read
    >>> votes = {"a": [1, 0, 1, 1] * 20, "b": [1, 0, 0, 1] * 20}
    >>> task = labelling(read(votes, judges=("a", "b")), JudgeQuestion())
    >>> task.claim, [measure.name for measure in task.measures], task.classes
    ('share', ['a', 'b'], (0, 1))
    """
    judges = data.roles.judges
    votes = coded_votes(data, judges)
    made, posterior = votes_task_strata(votes.codes, len(votes.classes), strata)
    measures = (_accuracy(name, j, votes, made, posterior) for j, name in enumerate(judges))
    n = votes.codes.shape[0]
    some = votes.codes.max(axis=1)
    low = np.where(votes.codes < 0, some[:, None], votes.codes).min(axis=1)
    return LabelTask(
        claim="share",
        classes=votes.classes,
        strata=made,
        rows=np.arange(n)[:, None],
        measures=tuple(measures),
        columns=judges,
        disagree=low != some,
    )


def _accuracy(
    name: str, j: int, votes: CodedVotes, strata: LabelStrata, posterior: Floats
) -> Measure:
    vote = votes.codes[:, j]
    voted = vote >= 0
    classes = len(votes.classes)
    right = np.where(voted, posterior[np.arange(vote.size), np.maximum(vote, 0)], 0.0)
    inside = voted & (strata.of >= 0)
    cell = np.where(inside, strata.of.astype(np.int64) * classes + vote, -1)

    def value(units: Ints, answers: Floats) -> Floats:
        return np.asarray(answers[:, 0] == vote[units], dtype=np.float64)

    return Measure(
        name=name,
        value=value,
        guess=stratum_means(strata, right),
        cell=cell,
        scale=vote.size / max(int(voted.sum()), 1),
    )
