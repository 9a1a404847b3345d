"""Without labels: one number per judge, a range that held elsewhere, and no interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from tallystick._rng import Rng, as_rng
from tallystick.errors import NotIdentifiable
from tallystick.results import Unknown
from tallystick.stats.latent_calibrate import calibrate, cross_fitted, expected_calibration_error
from tallystick.stats.latent_checks import (
    Misfit,
    Support,
    UnreadableFit,
    fit_plain,
    fit_unreadable,
    misfit,
    support,
)
from tallystick.stats.latent_headline import Headline, blend
from tallystick.stats.latent_model import as_votes
from tallystick.table import Tally
from tallystick.table.panel import Floats, Panel
from tallystick.verbs.judge.result import JudgeResult
from tallystick.verbs.judge.scores import (
    CalibrationBin,
    CalibrationCheck,
    JudgeScore,
    LabelScore,
    Number,
    Share,
)
from tallystick.verbs.judge.verdict import (
    BETTER_THAN_CHANCE,
    MISSING_SAY_NOTHING,
    NEVER_RIGHT,
    NO_INTERVAL,
    RANGE_HELD,
    WITHOUT_LABELS,
    opening_without_labels,
)

METHOD = "dawid-skene with unreadable items"
"""What a result calls this method."""


def label_free(
    votes: Tally | Panel,
    *,
    judges: Sequence[str] | None = None,
    truth: str | None = None,
    rng: Rng = 0,
) -> JudgeResult:
    r"""Grade judges from votes alone, as well as that can be done.

    Dawid-Skene is too high where items differ in difficulty, the majority of the others is too low
    where the majority errs. So a share h of the items may be unreadable, and the estimate is pulled
    towards the majority of the others by misfit (`tallystick.stats.latent_headline`, U5):

    .. math:: \hat a_j = u\,\mathrm{LOO}_j + (1 - u) \sum_h w_h A^h_j

    The range runs from twice the largest to half of the smallest estimate of the error rate (U6).
    It is not an interval.

    Parameters
    ----------
    votes, judges
        The tally or panel; which columns judge.
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
    >>> from tallystick.papers.noisy_judges.correlated_judges import Point, simulate
    >>> point = Point(prevalence="1/2", accuracy={name: ("9/10", "4/5") for name in "wxyz"})
    >>> result = label_free(simulate(point).tally, truth="truth")
    >>> [round(score.accuracy, 2) for score in result.judges]
    [0.85, 0.85, 0.85, 0.85]
    >>> result.judges[0].range[0] < 0.85 < result.judges[0].range[1]
    True
    """
    blind = Panel.of(votes, voters=judges, truth=truth).blind
    model = fit_vote_model(blind, sample_items(blind, rng=rng), rng=rng)
    return label_free_result(blind, model)


def label_free_result(blind: Panel, model: VoteModel) -> JudgeResult:
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


# What is known of each item: a support without labels, a calibrated probability with 20 or more.
#
# The posterior of a latent-class model is not a probability of being right: on real panels of
# language models it said .96 to .98 where .47 to .72 were right. With labels drawn at random the
# support and the votes are calibrated (U8, U9, U11); how well that went is measured on folds that
# were left out (U10).


LEAST_LABELS = 20
"""Labels that a calibration needs."""

_BINS = 10
_SHOWN_BINS = 5


@dataclass(frozen=True, kw_only=True, eq=False)
class ItemSupport:
    """Columns for each pattern of the tally of judges, and how well they are calibrated.

    Parameters
    ----------
    columns
        ``consensus``, then ``probability`` (with labels) or ``support`` (without).
    calibration
        The check on labels that were left out; None without a calibration.
    """

    columns: Mapping[str, Sequence[Any]]
    calibration: CalibrationCheck | None


def item_support(panel: Panel, given: Support, *, rng: Rng = 0) -> ItemSupport:
    """Return what is known of the items of every vote pattern.

    Parameters
    ----------
    panel
        Votes with the truth where it is known.
    given
        The support of every pattern of ``panel.blind``.
    rng
        For the folds of the check.

    Examples
    --------
    >>> from tallystick.table import Tally
    >>> votes = {"a": [0, 1] * 20, "b": [0, 1, 1, 1] * 10, "gold": [0, 1, 0, 0] * 10}
    >>> panel = Panel.of(Tally.of(votes), truth="gold")
    >>> found = item_support(panel, support_by_shares(panel.blind))
    >>> list(found.columns), found.calibration.n_labels
    (['consensus', 'probability'], 40)
    """
    blind = panel.blind
    truth = labels_by_pattern(panel)
    if truth.sum() < LEAST_LABELS or (truth != np.floor(truth)).any():
        level = given.support[np.arange(len(given.consensus)), given.consensus]
        return ItemSupport(
            columns=_placed(blind, given.consensus, "support", level), calibration=None
        )

    found = calibrate(given, truth, votes=blind.codes)
    level = found.probability[np.arange(len(found.consensus)), found.consensus]
    stated, right = cross_fitted(given, truth, votes=blind.codes, rng=rng)
    return ItemSupport(
        columns=_placed(blind, found.consensus, "probability", level),
        calibration=CalibrationCheck(
            error=expected_calibration_error(stated, right, n_bins=_BINS),
            noise_floor=noise_floor(stated),
            n_labels=int(truth.sum()),
            bins=_bins(stated, right),
        ),
    )


def support_by_shares(blind: Panel) -> Support:
    """Return the support where no model can be fitted: the vote shares themselves.

    >>> from tallystick.table import Tally
    >>> support_by_shares(Panel.of(Tally.of({"a": [0, 1], "b": [0, 0]}))).support.tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """
    n_labels = len(blind.classes)
    cast = np.stack([(blind.codes == c).sum(axis=1) for c in range(n_labels)], axis=1)
    total = cast.sum(axis=1, keepdims=True)
    share = np.where(total > 0, cast / np.maximum(total, 1), 1 / n_labels)
    return Support(support=share, share=share, consensus=share.argmax(axis=1))


def labels_by_pattern(panel: Panel) -> Floats:
    """Return patterns of the blind panel x labels: labelled items that are truly of each label.

    >>> from tallystick.table import Tally
    >>> votes = Tally.of({"a": [0, 0, 1, 1], "gold": [0, 1, None, 1]})
    >>> labels_by_pattern(Panel.of(votes, truth="gold")).tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    where = np.full(panel.votes.patterns, -1)
    where[panel.blind.place] = np.arange(len(panel.blind.place))
    known = panel.truth >= 0
    table = np.zeros((len(panel.blind.counts), len(panel.classes)))
    np.add.at(table, (where[panel.place[known]], panel.truth[known]), panel.counts[known])
    return table


def _placed(blind: Panel, consensus: Any, name: str, level: Floats) -> dict[str, Sequence[Any]]:
    """Return columns with one entry per pattern of the tally, None where no item shows it."""
    labels: list[Any] = [None] * blind.votes.patterns
    levels: list[Any] = [None] * blind.votes.patterns
    spoken = (blind.codes >= 0).any(axis=1)
    for i in np.flatnonzero(spoken).tolist():
        place = int(blind.place[i])
        labels[place], levels[place] = blind.classes[int(consensus[i])], float(level[i])
    return {"consensus": labels, name: levels}


def noise_floor(stated: Floats) -> float:
    """Return about what a perfect forecast would score on as many labels."""
    edges = np.linspace(0, stated.size, min(_BINS, stated.size) + 1).round().astype(np.int64)
    ordered = np.sort(stated)
    parts = [ordered[a:b] for a, b in pairwise(edges) if b > a]
    spread = [len(p) * np.sqrt(2 / np.pi * p.mean() * (1 - p.mean()) / len(p)) for p in parts]
    return float(np.sum(spread) / stated.size)


def _bins(stated: Floats, right: Floats) -> tuple[CalibrationBin, ...]:
    order = np.argsort(stated, kind="stable")
    parts = np.array_split(order, min(_SHOWN_BINS, max(1, stated.size // 4)))
    return tuple(
        CalibrationBin(
            stated=float(stated[p].mean()), right=float(right[p].mean()), labels=int(p.size)
        )
        for p in parts
    )


# What votes alone say, fitted once: the label-free headline, its misfit, the support.


MOST_PATTERNS = 20_000
"""Models are fitted to at most this many different vote patterns.

With 30 judges nearly every item has a pattern of its own, and the cost of a model is that of its
patterns. Beyond this number the models see a random part of the items; votes, labels and agreement
are still counted on all.
"""

MOST_CELLS = 400_000
"""Patterns times labels up to which models are fitted: each step of a fit takes that many numbers.

It lowers the number of patterns from 21 labels on; with 100 labels it is 4,000.
"""

_PATTERNS_FOR_REFITS, _CELLS_FOR_REFITS = 4_000, 200_000
"""The misfit test refits the model 19 times; beyond these sizes it sees a random part."""


@dataclass(frozen=True, kw_only=True, eq=False)
class VoteModel:
    """Dawid-Skene with unreadable items, fitted to votes without any truth.

    Parameters
    ----------
    headline
        Accuracies, ranges, tables and label shares (U5, U6).
    misfit
        The test of independent errors, or why nothing can be tested.
    support
        Per pattern of the panel it was asked for (U7).
    fit
        The fits for every share of unreadable items.
    n_model
        How many items the model was fitted to.
    """

    headline: Headline
    misfit: Misfit | Unknown
    support: Support
    fit: UnreadableFit
    n_model: int


def fit_vote_model(blind: Panel, sample: Panel, *, rng: Rng) -> VoteModel:
    """Fit the label-free model to *sample* and give every pattern of *blind* its support.

    Parameters
    ----------
    blind
        All votes, without any truth.
    sample
        The same, or what `sample_items` drew from them.
    rng
        For the refits of the misfit test.

    Raises
    ------
    NotIdentifiable
        Fewer than three judges: their votes say how far they agree, not who is right.

    Examples
    --------
    >>> from tallystick.table import Tally
    >>> votes = Tally.of({"a": [0, 0, 1, 1] * 9, "b": [0, 0, 1, 0] * 9, "c": [0, 1, 1, 1] * 9})
    >>> panel = Panel.of(votes)
    >>> fit_vote_model(panel, panel, rng=0).headline.accuracy.round(2)
    array([0.88, 0.71, 0.71])
    """
    n_labels, n_votes = len(blind.classes), len(blind.classes) + len(blind.extras)
    varied = int(((sample.vote_counts > 0).sum(axis=1) > 1).sum())
    if varied < 3:
        raise NotIdentifiable(
            f"only {varied} judges gave two different votes and three are needed: add a"
            " judge, or label some items"
        )
    fit = fit_unreadable(sample.codes, sample.counts, n_labels=n_labels, n_votes=n_votes)

    # The misfit test counts items, so weights that are not whole numbers leave it out.
    found: Misfit | Unknown = Unknown("the votes are weighted, and the test counts items")
    if bool((sample.counts == np.floor(sample.counts)).all()):
        found = _tested(fit, sample, n_votes, rng)
    if isinstance(found, Misfit):
        headline = blend(fit, pull=float(np.clip(found.ratio - 1, 0, 1)), ratio=found.ratio)
    else:
        headline = blend(fit, pull=0.5, ratio=found)
    return VoteModel(
        headline=headline,
        misfit=found,
        support=support(fit, None if sample is blind else blind.codes),
        fit=fit,
        n_model=round(sample.n),
    )


def _tested(fit: UnreadableFit, sample: Panel, n_votes: int, rng: Rng) -> Misfit | Unknown:
    plain = fit.plain
    try:
        most = min(_PATTERNS_FOR_REFITS, _CELLS_FOR_REFITS // len(sample.classes))
        small = sample_items(sample, most=most, rng=rng)
        if small is not sample:
            n_labels = len(sample.classes)
            votes = as_votes(small.codes, small.counts, n_classes=n_labels, n_votes=n_votes)
            plain = fit_plain(votes, n_labels)
        return misfit(plain, rng=rng)
    except NotIdentifiable as error:
        return Unknown(str(error))


def sample_items(panel: Panel, *, most: int | None = None, rng: Rng) -> Panel:
    """Return panel of at most *most* patterns: all of them, or *most* items drawn at random.

    By default *most* follows from `MOST_PATTERNS` and `MOST_CELLS`.

    The draw is without replacement. Weights that are not whole numbers cannot be drawn from item by
    item; patterns are then drawn with chances in proportion to their weight.

    >>> from tallystick.table import Tally
    >>> votes = Panel.of(Tally.of({"a": [0, 1, 2, 0], "b": [0, 0, 1, 2]}))
    >>> sample_items(votes, rng=0) is votes, sample_items(votes, most=3, rng=0).n
    (True, 3.0)
    """
    if most is None:
        most = min(MOST_PATTERNS, MOST_CELLS // len(panel.classes))
    if len(panel.counts) <= most:
        return panel
    draw = as_rng(rng)
    if bool((panel.counts == np.floor(panel.counts)).all()):
        counts = draw.multivariate_hypergeometric(
            panel.counts.astype(np.int64), most, method="marginals"
        ).astype(np.float64)
    else:
        counts = draw.multinomial(most, panel.counts / panel.n).astype(np.float64)
    kept = counts > 0
    return replace(
        panel,
        codes=panel.codes[kept],
        counts=counts[kept],
        truth=panel.truth[kept],
        place=panel.place[kept],
    )
