"""What to label in order to compare models: only items on which they disagree."""

from __future__ import annotations

from typing import Any

import numpy as np

from tallystick.compare.question import CompareQuestion
from tallystick.data import Data
from tallystick.errors import InputError
from tallystick.sampling.labels.coded_votes import coded_votes
from tallystick.sampling.labels.consensus import Floats, Ints
from tallystick.sampling.labels.contest import contest_of
from tallystick.sampling.labels.difference import disagreement_strata
from tallystick.sampling.labels.draws import uniform_spread
from tallystick.sampling.labels.strata import LabelStrata
from tallystick.sampling.labels.task import LabelTask, Measure, votes_task_strata

__all__ = ["labelling"]


def labelling(data: Data, question: CompareQuestion, strata: Ints | None = None) -> LabelTask:
    """Return the task: which of two models is better, or which of k is within epsilon of the best.

    Items on which all models agree say nothing of their difference and are never asked for.

    Examples
    --------
    >>> from tallystick.data import read
    >>> answers = {"old": ["a", "b", "a", "b"] * 20, "new": ["a", "b", "b", "a"] * 20}
    >>> task = labelling(read(answers, models=("old", "new")), CompareQuestion())
    >>> task.claim, task.strata.n_items
    ('classifiers', 40)
    """
    models = data.roles.models
    if len(models) < 2:
        raise InputError("compare needs at least two models: name their columns (--models)")
    votes = coded_votes(data, models)
    n, classes = votes.codes.shape[0], len(votes.classes)
    apart = (votes.codes != votes.codes[:, :1]).any(axis=1)
    if not apart.any():
        raise InputError(
            f"{data.source}: the models never disagree, so no label can tell them apart"
        )
    made, posterior = votes_task_strata(votes.codes, classes, None)
    rows = np.arange(n)[:, None]
    shared: dict[str, Any] = {"classes": votes.classes, "rows": rows, "columns": models}
    if len(models) > 2:
        of = made.of.astype(np.int64) if strata is None else np.asarray(strata, dtype=np.int64)
        contest = contest_of(votes.codes, of, guess=made.guess)
        return LabelTask(
            claim="best-of",
            strata=LabelStrata(of=of, side=made.side, guess=made.guess),
            measures=(),
            names=models,
            contest=contest,
            disagree=apart,
            **shared,
        )
    first, second = votes.codes.T
    if strata is None:
        parts, guess = disagreement_strata(first, second, posterior)
    else:
        parts, guess = _kept(np.asarray(strata, dtype=np.int64), first, second, posterior)
    share = int(apart.sum()) / n  # all disagreements, also those whose label is known already

    def value(units: Ints, answers: Floats) -> Floats:
        a, b = answers[:, 0] == first[units], answers[:, 0] == second[units]
        return np.asarray(0.5 + 0.5 * (a.astype(np.float64) - b), dtype=np.float64)

    lead = Measure(
        name=f"{models[0]} - {models[1]}",
        value=value,
        guess=guess,
        offset=-share,
        scale=2 * share,
    )
    return LabelTask(
        claim="classifiers",
        strata=parts,
        measures=(lead,),
        names=models,
        rule=uniform_spread,
        disagree=apart,
        **shared,
    )


def _kept(of: Ints, first: Ints, second: Ints, posterior: Floats) -> tuple[LabelStrata, Floats]:
    """Return strata that a session keeps, and the guess in each of them from today's votes."""
    inside = of >= 0
    items = np.flatnonzero(inside)
    right = [
        np.where(codes[items] >= 0, posterior[items, np.maximum(codes[items], 0)], 0.0)
        for codes in (first, second)
    ]
    guess = right[0] + (1 - right[0] - right[1]) / 2
    sizes = np.bincount(of[items])
    mean = np.clip(np.bincount(of[items], weights=guess) / np.maximum(sizes, 1), 0.02, 0.98)
    rows = np.column_stack((1 - mean, mean))
    return LabelStrata(of=of, side=(mean > 0.5).astype(np.int64), guess=rows), mean
