"""A truth that is partly blank: models ranked by the labels that are there.

Labels that were drawn at random speak for all items, by the rule that every verb uses
(:mod:`tallystick.stats.few_labels`). Labels on all items where two models disagree say all there is
to know about their difference. Any other labels decide only what no blank could change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, isfinite

import numpy as np
import numpy.typing as npt

from tallystick._rng import Rng, seed_of
from tallystick.errors import InputError
from tallystick.results import Needed, Unknown
from tallystick.results.numbers import count
from tallystick.stats.adverse_binary import Population
from tallystick.stats.few_labels import FewLabels, accuracies
from tallystick.stats.intervals import Intervals, clopper_pearson, mover_sum, wilson
from tallystick.stats.pairs import (
    Disagreements,
    PairTable,
    pairs_of_few_labels,
    pairs_whatever_the_blanks,
)
from tallystick.table.doubts import Look, label_doubt
from tallystick.verbs.compare.board import Board, Drawn
from tallystick.verbs.compare.question import Settings, check_size
from tallystick.verbs.compare.result import CompareResult
from tallystick.verbs.compare.verdict import INDEPENDENT, Findings, assemble, finish

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int32]

RANDOM = "the labelled items are a random draw from all items"
AMONG = "the labelled items are a random draw from those on which the two models disagree"
WHATEVER = "nothing on the blank labels"


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

    def needed(self, names: Sequence[str], i: int, settings: Settings) -> Needed:
        """Forecast which labels would tell the two models of pair *i* apart."""
        a, b = int(self.table.first[i]), int(self.table.second[i])
        blank, new = int(self.counts.blank[i]), settings.population == "new"
        apart = f"labels on items where {names[a]} and {names[b]} disagree"
        if not blank:
            return Needed(None, "items: every label that matters is there")
        if self.fit is None:
            return Needed(blank if new else self._until_certain(i), apart)
        pairs = self.table.first.size
        subset = self.drawn == "disagreements"
        goal = self.fit.labels_to_settle(a, b, alpha=settings.alpha / pairs, power=settings.power)
        more = ceil(goal - float(self.fit.labels[[a, b]].max())) if isfinite(goal) else None
        # Labels on every disagreement settle these items anyway.
        if not new and not subset and (more is None or more >= blank):
            return Needed(blank, apart)
        if more is None or more < 1:
            return Needed(None, apart if subset else "labels on items drawn at random")
        if subset:
            return Needed(min(more, blank), apart)
        return Needed(more, "labels on items drawn at random")

    def _until_certain(self, i: int) -> int:
        """Return the labels from which no blank can turn the lead, if it goes on as it did."""
        counts = self.counts
        lead = abs(float(counts.first_only[i] - counts.second_only[i]))
        blank, rate = float(counts.blank[i]), lead / max(float(counts.labelled[i]), 1.0)
        return min(int(blank), int((blank - lead) / (1 + rate)) + 1)


def rank_by_labels(board: Board, settings: Settings, rng: Rng) -> CompareResult:
    """Rank the models of a board whose truth is partly blank."""
    check_size(board.names, board.n)
    if board.clusters is not None or board.weights is not None:
        raise InputError(
            "clusters and weights need every true label: fill in the blanks, or compare without"
            " them"
        )
    settings = replace(settings, population=settings.population or "these")
    drawn, why = how_drawn(board)
    found = read_labels(board, drawn, settings, rng)
    if not found.counts.blank.any():
        why = []  # every label that matters is there, however they were chosen
    labels = int(board.known.sum())
    hidden = {"disagreements": AMONG, "any": "the labels were not drawn at random", "random": ""}
    result = assemble(
        Findings(
            names=board.names,
            table=found.table,
            scores=found.scores,
            means=found.means,
            n=board.n,
            settings=settings,
            population=settings.population or "these",
            detectable=Unknown("labels are missing: see needed"),
            assumptions=[
                *([INDEPENDENT] if settings.population == "new" else []),
                {"random": RANDOM, "disagreements": AMONG, "any": WHATEVER}[drawn],
            ],
            warnings=why,
            seed=seed_of(rng),
            hidden=hidden[drawn],
            labelled=found,
            n_labels=labels,
        )
    )
    return finish(result, board)


def how_drawn(board: Board) -> tuple[Drawn, list[str]]:
    """Return how labels were chosen, and a sentence where they are no random draw."""
    assert board.answers is not None
    assert board.gold is not None
    if board.drawn != "random":
        return board.drawn, []
    known = board.gold >= 0
    votes = Look(
        kind="votes",
        names=board.names,
        codes=board.answers.astype(np.int64),
        labels=[str(code) for code in range(int(board.answers.max()) + 1)],
        known=known,
    )
    if label_doubt([votes]) is None:
        return "random", []
    few = f"the {count(int(known.sum()))} labels of {count(board.n)} items are no random draw"
    return "any", [
        f"{few}, so nothing is assumed of the blanks: a model is called better only where no"
        " label could change it"
    ]


def read_labels(board: Board, drawn: Drawn, settings: Settings, rng: Rng) -> Labelled:
    """Return what the labels say of every model and every pair."""
    assert board.answers is not None
    assert board.gold is not None
    answers, gold = board.answers, board.gold
    new, alpha = settings.population == "new", settings.alpha
    counts = Disagreements.of(answers, gold)
    right = np.nansum(board.scores, axis=0)
    blank = int((gold < 0).sum())
    unknown = np.full(len(board.names), np.nan)
    scores = _logic(right, blank, board.n, alpha, new)
    sure = pairs_whatever_the_blanks(counts, alpha=alpha, new=new, certified=settings.certified)
    plain = Labelled(table=sure, means=unknown, scores=scores, counts=counts, fit=None, drawn=drawn)
    if drawn == "any":
        return replace(plain, means=right / board.n)
    whom = settings.population or "these"
    if drawn == "random":
        fit = _fit(answers, gold, whom)
        means = fit.means(alpha=alpha)
        table = pairs_of_few_labels(fit, counts, alpha=alpha, rng=rng, certified=settings.certified)
        return replace(plain, table=table, means=means.estimate, scores=means.interval, fit=fit)

    plain = replace(plain, means=right / board.n)
    apart = answers[:, 0] != answers[:, 1]
    if counts.labelled[0] < 2 or not counts.blank[0]:
        return plain
    fit = _fit(answers[apart], gold[apart], whom)
    return replace(plain, table=_among(fit, counts, sure, alpha, rng), fit=fit)


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
    fit: FewLabels, counts: Disagreements, sure: PairTable, alpha: float, rng: Rng
) -> PairTable:
    """Return the difference of two models from labels drawn among their disagreements.

    Elsewhere it is 0, so the mean over the disagreements is scaled by their share; on new items
    that share is uncertain too, and MOVER joins both.
    """
    share = float(counts.apart[0]) / counts.n
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
    p_value = fit.pairs(rng=rng, alpha=alpha).p_value
    return replace(
        sure,
        difference=np.array([share * lead]),
        intervals=interval,
        simultaneous=interval,
        p_value=p_value,
        adjusted_p=p_value,
        adjustment="none: one pair",
    )
