"""What to label in order to know how common a label is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tallystick.data import Data, Question, option
from tallystick.sampling.labels.coded_votes import coded_votes
from tallystick.sampling.labels.consensus import Ints
from tallystick.sampling.labels.task import LabelTask, class_measure, votes_task_strata
from tallystick.values import Label

__all__ = ["PrevalenceLabels", "labelling"]


@dataclass(frozen=True, kw_only=True)
class PrevalenceLabels(Question):
    """Ask how common a label is among these items."""

    positive: Label = option(
        None, "The label whose share you want to know; by default all of them."
    )
    at_least: float | None = option(
        None, "Claim to settle: the share is at least this.", within=(0.0, 1.0)
    )


def labelling(data: Data, question: PrevalenceLabels, strata: Ints | None = None) -> LabelTask:
    """Return the task: the share of one label, or of every label.

    Examples
    --------
    >>> from tallystick.data import read
    >>> data = read({"gpt": ["spam", "ham"] * 40}, judges=("gpt",))
    >>> task = labelling(data, PrevalenceLabels(positive="spam"))
    >>> [measure.name for measure in task.measures]
    ['spam']
    """
    judges = data.roles.judges
    votes = coded_votes(data, judges)
    made, _ = votes_task_strata(votes.codes, len(votes.classes), strata)
    codes = [votes.code(question.positive)] if question.positive is not None else []
    # The shares of two labels are one number: the second is one minus the first.
    wanted = codes or ([1] if len(votes.classes) == 2 else range(len(votes.classes)))
    measures = tuple(
        class_measure(str(votes.classes[code]), code, made, limit=question.at_least)
        for code in wanted
    )
    return LabelTask(
        claim="share",
        classes=votes.classes,
        strata=made,
        rows=np.arange(votes.codes.shape[0])[:, None],
        measures=measures,
        columns=judges,
        disagree=(votes.codes != votes.codes[:, :1]).any(axis=1),
    )
