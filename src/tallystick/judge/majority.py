"""Majority vote as an evaluator: it decides the answers and grades everybody by them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tallystick.judge.ballots import Ballots, Floats
from tallystick.judge.item_support import item_support, support_by_shares
from tallystick.judge.parts import JudgeScore, LabelScore, Share
from tallystick.judge.result import JudgeResult
from tallystick.judge.verdict_grounds import ALWAYS_LOOKS_RIGHT, MAJORITY
from tallystick.judge.verdict_methods import few_for_majority, of_baseline, tied_items
from tallystick.results import Interval, Unknown
from tallystick.stats.intervals import wilson
from tallystick.tally import Tally
from tallystick.values.label import Label

__all__ = ["majority", "majority_scores", "majority_shares"]


def majority(
    votes: Tally | Ballots,
    *,
    judges: Sequence[str] | None = None,
    truth: str | None = None,
    labels: Sequence[Label] = (),
    leave_one_out: bool = False,
    alpha: float = 0.05,
) -> JudgeResult:
    r"""Grade judges by the vote of all of them.

    The label with most votes is taken for the truth, so that

    .. math:: \hat P_\ell = \text{share of items with majority } \ell, \qquad
              \hat P_{i\ell} = \text{share of these on which judge i votes } \ell   \tag{J4}

    [CE23]_, Eqs 5-7 (whose left-hand sides in 6 and 7 are misprinted), for any number of judges and
    labels. A tie of k labels counts 1/k for each. Intervals are for sampling alone and hold only if
    the majority is always right.

    Parameters
    ----------
    votes, judges, truth, labels
        The tally; which columns judge; a column to leave aside; labels that nobody voted for.
    leave_one_out
        Grade each judge by the majority of the others, so that it does not vote for itself.
    alpha
        One minus the level.

    Examples
    --------
    >>> votes = Tally.of({"ann": [0, 0, 1, 1], "bob": [0, 1, 1, 1], "eve": [0, 0, 0, 1]})
    >>> [score.accuracy for score in majority(votes).judges]
    [1.0, 0.75, 0.75]
    """
    ballots = Ballots.of(votes, judges=judges, truth=truth, labels=labels).blind
    right, mass = majority_scores(ballots, leave_one_out=leave_one_out)
    shares = majority_shares(ballots)
    name = "majority of the others" if leave_one_out else "majority"
    scores = []
    for j, judge in enumerate(ballots.names):
        parts = {
            key: _part(float(right[j, c]), float(mass[j, c]), alpha, key)
            for c, key in enumerate(ballots.keys)
        }
        whole = _part(float(right[j].sum()), float(mass[j].sum()), alpha, "any label")
        scores.append(
            JudgeScore(
                name=judge,
                accuracy=whole.estimate,
                interval=whole.interval,
                per_label=parts,
                votes=float(ballots.voted[j]),
            )
        )
    said = (ballots.codes >= 0).any(axis=1)
    total = float(ballots.counts[said].sum())
    prevalence = {}
    for c, key in enumerate(ballots.keys):
        part = _part(float(ballots.counts @ shares[:, c]), total, alpha, key)
        prevalence[key] = Share(estimate=part.estimate, interval=part.interval)
    tied = float(ballots.counts @ (said & (shares.max(axis=1) < 1)))
    warnings = [ALWAYS_LOOKS_RIGHT]
    if tied:
        warnings.append(tied_items(tied, total))
    if len(ballots.names) < 3:
        warnings.append(few_for_majority(len(ballots.names)))
    premise = f"the {name} were always right"
    return JudgeResult(
        verdict=of_baseline(scores, premise, "Nothing here tests that."),
        decision="undecided",
        n_items=round(ballots.n),
        assumptions=(MAJORITY,),
        warnings=tuple(warnings),
        method=name,
        judges=tuple(scores),
        prevalence=prevalence,
        votes=ballots.votes,
        learnt=item_support(ballots, support_by_shares(ballots)).columns,
    )


def majority_shares(ballots: Ballots) -> Floats:
    """Return patterns x labels: 1 for the majority label, equal parts for a tie, 0 in a pattern
    without votes.
    """
    return _winners(_tallied(ballots))


def majority_scores(ballots: Ballots, *, leave_one_out: bool = False) -> tuple[Floats, Floats]:
    """Return judges x labels: items that the majority calls that label and the judge too, and all
    it voted on.
    """
    held = _tallied(ballots)
    n_classes = len(ballots.classes)
    right, mass = np.zeros((2, len(ballots.names), n_classes))
    everyone = _winners(held)
    for j in range(len(ballots.names)):
        column = ballots.codes[:, j]
        mine = column[:, None] == np.arange(n_classes)
        shares = _winners(held - mine) if leave_one_out else everyone
        weight = (ballots.counts * (column >= 0))[:, None] * shares
        mass[j] = weight.sum(axis=0)
        right[j] = (weight * mine).sum(axis=0)
    return right, mass


def _tallied(ballots: Ballots) -> Floats:
    return np.stack(
        [(ballots.codes == c).sum(axis=1) for c in range(len(ballots.classes))], axis=1
    ).astype(float)


def _winners(held: Floats) -> Floats:
    top = held.max(axis=1, keepdims=True)
    best = (held == top) & (top > 0)
    tied = np.maximum(best.sum(axis=1, keepdims=True), 1)
    return np.asarray(best / tied, dtype=np.float64)


def _part(right: float, total: float, alpha: float, key: str) -> LabelScore:
    if total <= 0:
        nothing = Unknown(f"no majority says {key} where this judge votes")
        return LabelScore(estimate=nothing, interval=nothing)
    ends = wilson(min(right, total), total, alpha=alpha)
    under = Interval(
        ends.low,
        ends.high,
        level=1 - alpha,
        guarantee="under",
        assumption=MAJORITY,
        method="wilson",
    )
    return LabelScore(estimate=right / total, interval=under)
