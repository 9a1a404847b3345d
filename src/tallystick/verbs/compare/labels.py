"""A truth that is partly blank: models ranked by the labels that are there.

Labels that were drawn at random speak for all items, by the rule that every verb uses
(:mod:`tallystick.stats.few_labels`). Labels on all items where two models disagree say all there is
to know about their difference. Any other labels decide only what no blank could change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, isfinite
from typing import Any

import numpy as np

from tallystick._rng import seed_of
from tallystick.errors import InputError
from tallystick.results import Needed, Unknown
from tallystick.results.numbers import count
from tallystick.sampling.contest import contest_of
from tallystick.sampling.draws import LabelStrata, uniform_spread
from tallystick.sampling.duels import disagreement_strata
from tallystick.sampling.tasks import LabelTask, Measure, votes_task_strata
from tallystick.sampling.votes import Floats, Ints, coded_votes
from tallystick.stats.adverse_binary import Population
from tallystick.stats.few_labels import FewLabels, accuracies
from tallystick.stats.intervals import Intervals, clopper_pearson, mover_sum, wilson
from tallystick.stats.pairs import (
    Disagreements,
    PairTable,
    pairs_of_few_labels,
    pairs_whatever_the_blanks,
)
from tallystick.table import Data
from tallystick.table.doubts import LabelView, label_doubt
from tallystick.verbs.compare.board import Board, Codes, Drawn, check_size
from tallystick.verbs.compare.question import CompareQuestion
from tallystick.verbs.compare.result import INDEPENDENT, CompareResult
from tallystick.verbs.compare.verdict import Findings, assemble

RANDOM = "the labelled items are a random draw from all items"
AMONG = "the labelled items are a random draw from those on which the two models disagree"


@dataclass(frozen=True, eq=False, kw_only=True)
class Labelled:
    """What the labels of a board say.

    Parameters
    ----------
    table
        All pairs.
    means, scores
        The score of each model, NaN where the labels do not say it, and its interval.
    counts
        Where each pair disagrees.
    fit
        The fit behind them; None where nothing is assumed of the blanks.
    drawn
        How the labels were chosen.
    """

    table: PairTable
    means: Floats
    scores: Intervals
    counts: Disagreements
    fit: FewLabels | None
    drawn: Drawn

    def needed(self, names: Sequence[str], i: int, question: CompareQuestion) -> Needed:
        """Forecast which labels would tell the two models of pair *i* apart."""
        a, b = int(self.table.first[i]), int(self.table.second[i])
        blank, new = int(self.counts.blank[i]), question.population == "new"
        apart = f"labels on items where {names[a]} and {names[b]} disagree"
        if not blank:
            return Needed(None, "items")
        if self.fit is None:
            return Needed(blank if new else self._until_certain(i), apart)
        pairs = self.table.first.size
        subset = self.drawn == "disagreements"
        level = question.alpha / pairs
        goal = float(self.fit.forecast_pairs(a, b, alpha=level, power=question.power)[0])
        more = ceil(goal - float(self.fit.labels[[a, b]].max())) if isfinite(goal) else None
        # Labels on every disagreement settle these items anyway.
        if not new and not subset and (more is None or more >= blank):
            return Needed(blank, apart)
        of = apart if subset else "labels on items drawn at random"
        if more is None or more < 1:
            return Needed(None, of)
        return Needed(min(more, blank) if subset else more, of)

    def _until_certain(self, i: int) -> int:
        """Return the labels from which no blank can turn the lead, if it goes on as it did."""
        counts = self.counts
        lead = abs(float(counts.first_only[i] - counts.second_only[i]))
        blank, rate = float(counts.blank[i]), lead / max(float(counts.labelled[i]), 1.0)
        return min(int(blank), int((blank - lead) / (1 + rate)) + 1)


def rank_by_labels(board: Board, question: CompareQuestion) -> CompareResult:
    """Rank the models of a board whose truth is partly blank."""
    check_size(board.names, board.n)
    if not board.independent:
        raise InputError(
            "clusters and weights need every true label: fill in the blanks, or compare without"
            " them"
        )
    question = replace(question, population=question.population or "these")
    drawn, why = how_drawn(board)
    found = read_labels(board, drawn, question)
    if not found.counts.blank.any():
        why = []  # every label that matters is there, however they were chosen
    hidden = {"disagreements": AMONG, "any": "the labels were not drawn at random", "random": ""}
    rests_on = {"random": [RANDOM], "disagreements": [AMONG], "any": []}[drawn]
    new = question.population == "new"
    return assemble(
        Findings(
            names=board.names,
            table=found.table,
            scores=found.scores,
            means=found.means,
            n=board.n,
            question=question,
            population="new" if new else "these",
            detectable=Unknown("labels are missing: see needed"),
            assumptions=[INDEPENDENT.format("items"), *rests_on] if new else rests_on,
            warnings=why,
            seed=seed_of(question.seed),
            hidden=hidden[drawn],
            labelled=found,
            n_labels=int(board.known.sum()),
        )
    )


def how_drawn(board: Board) -> tuple[Drawn, list[str]]:
    """Return how labels were chosen, and a sentence where they are no random draw."""
    assert board.answers is not None
    assert board.gold is not None
    if board.drawn != "random":
        return board.drawn, []
    known = board.gold >= 0
    votes = LabelView(
        kind="votes",
        names=board.names,
        codes=board.answers.astype(np.int64),
        labels=[str(code) for code in range(int(board.answers.max()) + 1)],
        known=known,
    )
    if label_doubt([votes]) is None:
        return "random", []
    return "any", [
        f"the {count(int(known.sum()))} labels of {count(board.n)} items are no random draw, so"
        " nothing is assumed of the blanks: a model is called better only where no label could"
        " change it"
    ]


def read_labels(board: Board, drawn: Drawn, question: CompareQuestion) -> Labelled:
    """Return what the labels say of every model and every pair."""
    assert board.answers is not None
    assert board.gold is not None
    answers, gold = board.answers, board.gold
    new, alpha = question.population == "new", question.alpha
    counts = Disagreements.of(answers, gold)
    right = np.nansum(board.scores, axis=0)
    blank = int((gold < 0).sum())
    unknown = np.full(len(board.names), np.nan)
    scores = _logic(right, blank, board.n, alpha, new)
    sure = pairs_whatever_the_blanks(counts, alpha=alpha, new=new, certified=question.certified)
    plain = Labelled(table=sure, means=unknown, scores=scores, counts=counts, fit=None, drawn=drawn)
    if drawn == "any":
        return replace(plain, means=right / board.n)
    whom: Population = "new" if new else "these"
    if drawn == "random":
        fit = _fit(answers, gold, whom)
        means = fit.means(alpha=alpha)
        table = pairs_of_few_labels(
            fit, counts, alpha=alpha, rng=question.seed, certified=question.certified
        )
        return replace(plain, table=table, means=means.estimate, scores=means.interval, fit=fit)

    plain = replace(plain, means=right / board.n)
    apart = answers[:, 0] != answers[:, 1]
    if counts.labelled[0] < 2 or not counts.blank[0]:
        return plain
    fit = _fit(answers[apart], gold[apart], whom)
    return replace(plain, table=_among(fit, counts, sure, question), fit=fit)


def _fit(answers: Codes, gold: Codes, population: Population) -> FewLabels:
    """Fit the accuracies, equal rows counted once: the order of rows then changes no digit."""
    rows, counts = np.unique(np.column_stack([answers, gold]), axis=0, return_counts=True)
    return accuracies(rows[:, :-1], rows[:, -1], counts=counts, population=population)


def _logic(right: Floats, blank: int, n: int, alpha: float, new: bool) -> Intervals:
    """Bound scores whatever the blank labels are."""
    low, high = right / n, (right + blank) / n
    if new:
        low = clopper_pearson(right, n, alpha=alpha).low
        high = clopper_pearson(right + blank, n, alpha=alpha).high
    return Intervals(low, high, level=1 - alpha, guarantee="exact", method="logic")


def _among(
    fit: FewLabels, counts: Disagreements, sure: PairTable, question: CompareQuestion
) -> PairTable:
    """Return the difference of two models from labels drawn among their disagreements.

    Elsewhere it is 0, so the mean over the disagreements is scaled by their share; on new items
    that share is uncertain too, and MOVER joins both.
    """
    share, alpha = float(counts.apart[0]) / counts.n, question.alpha
    own = fit.difference(0, 1, alpha=alpha)
    lead, ends = float(own.estimate[0]), own.interval[0]
    low, high = share * ends.low, share * ends.high
    if fit.population == "new":
        of = wilson(float(counts.apart[0]), counts.n, alpha=alpha)
        parts, lows, highs = (
            np.array(pair) for pair in ((lead, share), (ends.low, of.low), (ends.high, of.high))
        )
        centre, down, up = mover_sum(parts, lows, highs, weights=np.array([share, lead]))
        low, high = share * lead - float(centre - down), share * lead + float(up - centre)
    interval = replace(own.interval, low=np.array([low]), high=np.array([high]))
    p_value = fit.pairs(rng=question.seed, alpha=alpha).p_value
    return replace(
        sure,
        difference=np.array([share * lead]),
        intervals=interval,
        simultaneous=interval,
        p_value=p_value,
        adjusted_p=p_value,
    )


# What to label in order to compare models: only items on which they disagree.


def labelling(data: Data, question: CompareQuestion, strata: Ints | None = None) -> LabelTask:
    """Return the task: which of two models is better, or which of k is within epsilon of the best.

    Items on which all models agree say nothing of their difference and are never asked for.

    Examples
    --------
    >>> from tallystick.table import read
    >>> answers = {"old": ["a", "b", "a", "b"] * 20, "new": ["a", "b", "b", "a"] * 20}
    >>> task = labelling(read(answers, models=("old", "new")), CompareQuestion())
    >>> task.claim, task.strata.n_items
    ('classifiers', 40)
    """
    models = data.roles.models
    check_size(models, data.n_rows)
    votes = coded_votes(data, models)
    codes = votes.codes[votes.place]
    n = len(codes)
    apart = (codes != codes[:, :1]).any(axis=1)
    if not apart.any():
        raise InputError(
            f"{data.source}: the models never disagree, so no label can tell them apart"
        )
    made, believed = votes_task_strata(votes)
    posterior = believed[votes.place]
    rows = np.arange(n)[:, None]
    shared: dict[str, Any] = {"classes": votes.labels, "rows": rows, "columns": models}
    if len(models) > 2:
        of = made.of.astype(np.int64) if strata is None else np.asarray(strata, dtype=np.int64)
        contest = contest_of(codes, of, guess=made.guess)
        return LabelTask(
            claim="best-of",
            strata=LabelStrata(of=of, side=made.side, guess=made.guess),
            measures=(),
            names=models,
            contest=contest,
            **shared,
        )
    first, second = codes.T
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
