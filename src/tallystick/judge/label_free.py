"""Without labels: one number per judge, a range that held elsewhere, and no interval."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tallystick._rng import Rng
from tallystick.judge.ballots import Ballots
from tallystick.judge.parts import JudgeScore, LabelScore, Number, Share
from tallystick.judge.result import JudgeResult
from tallystick.judge.verdict import (
    WITHOUT_LABELS,
    opening_without_labels,
)
from tallystick.judge.verdict_grounds import (
    BETTER_THAN_CHANCE,
    MISSING_SAY_NOTHING,
    NEVER_RIGHT,
    NO_INTERVAL,
    RANGE_HELD,
)
from tallystick.judge.vote_model import VoteModel, fit_vote_model, sample_items
from tallystick.results import Unknown
from tallystick.stats.latent import Misfit
from tallystick.tally import Tally

__all__ = ["METHOD", "label_free", "label_free_result"]

METHOD = "dawid-skene with unreadable items"
"""What a result calls this method."""


def label_free(
    votes: Tally | Ballots,
    *,
    judges: Sequence[str] | None = None,
    truth: str | None = None,
    rng: Rng = 0,
) -> JudgeResult:
    r"""Grade judges from votes alone, as well as that can be done.

    Dawid-Skene is too high where items differ in difficulty, the majority of the others is too low
    where the majority errs. So a share h of the items may be unreadable, and the estimate is pulled
    towards the majority of the others by misfit (`tallystick.stats.latent.headline`, U5):

    .. math:: \hat a_j = u\,\mathrm{LOO}_j + (1 - u) \sum_h w_h A^h_j

    The range runs from twice the largest to half of the smallest estimate of the error rate (U6).
    It is not an interval.

    Parameters
    ----------
    votes, judges
        The tally or ballots; which columns judge.
    truth
        A column to leave aside.
    rng
        For the refits of the misfit test.

    Raises
    ------
    NotIdentifiable
        Fewer than three judges.

    Examples
    --------
    >>> from tallystick.judge.papers import Point, simulate
    >>> point = Point(prevalence="1/2", accuracy={name: ("9/10", "4/5") for name in "wxyz"})
    >>> result = label_free(simulate(point).tally, truth="truth")
    >>> [round(score.accuracy, 2) for score in result.judges]
    [0.85, 0.85, 0.85, 0.85]
    >>> result.judges[0].range[0] < 0.85 < result.judges[0].range[1]
    True
    """
    blind = Ballots.of(votes, judges=judges, truth=truth).blind
    model = fit_vote_model(blind, sample_items(blind, rng=rng), rng=rng)
    return label_free_result(blind, model)


def label_free_result(blind: Ballots, model: VoteModel) -> JudgeResult:
    """Write a fitted model as a result."""
    found = model.headline
    by_label = found.per_label
    answered = blind.answered_share
    scores = []
    for j, name in enumerate(blind.names):
        known = bool(np.isfinite(found.accuracy[j]))
        silent = Unknown(f"{name} shares no item with another judge")
        answers = Unknown(f"{name} never answers")
        when: Share | None = None
        if blind.extras:
            right: Number = (
                float(found.accuracy[j] / answered[j]) if known and answered[j] > 0 else answers
            )
            when = Share(estimate=right, interval=NO_INTERVAL)
        scores.append(
            JudgeScore(
                name=name,
                accuracy=float(found.accuracy[j]) if known else silent,
                interval=NO_INTERVAL,
                range=(float(found.low[j]), float(found.high[j])) if known else silent,
                per_label={
                    key: LabelScore(
                        estimate=(
                            float(by_label[j, c, c])
                            if np.isfinite(by_label[j, c, c])
                            else Unknown(f"{name} saw no item of {key}")
                        ),
                        interval=NO_INTERVAL,
                    )
                    for c, key in enumerate(blind.keys)
                },
                votes=float(blind.voted[j]),
                answered=float(blind.answered_share[j]) if blind.extras else None,
                when_answered=when,
            )
        )

    refuted = isinstance(model.misfit, Misfit) and model.misfit.refuted
    told = opening_without_labels(scores, refuted=refuted)
    return JudgeResult(
        verdict=told.verdict,
        sentences=told,
        basis=WITHOUT_LABELS,
        decision="undecided",
        n_items=round(blind.n),
        assumptions=(
            BETTER_THAN_CHANCE,
            MISSING_SAY_NOTHING,
            RANGE_HELD,
            *((NEVER_RIGHT,) if blind.extras else ()),
        ),
        method=METHOD,
        judges=tuple(scores),
        prevalence={
            key: Share(estimate=float(found.balance[c]), interval=NO_INTERVAL)
            for c, key in enumerate(blind.keys)
        },
    )
