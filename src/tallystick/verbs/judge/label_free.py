"""Without labels: one number per judge, a range that held elsewhere, and what is known of items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from tallystick._rng import Rng, as_rng
from tallystick.errors import NotIdentifiable
from tallystick.results import Interval, Unknown
from tallystick.stats.latent_calibrate import calibrate, cross_fitted, expected_calibration_error
from tallystick.stats.latent_checks import CROWD, Misfit, misfit
from tallystick.stats.latent_headline import (
    Headline,
    Support,
    UnreadableFit,
    blend,
    fit_unreadable,
    support,
    vote_table,
)
from tallystick.stats.latent_model import as_votes, fit_plain, require_three
from tallystick.table.panel import Floats, Panel
from tallystick.verbs.judge.result import (
    CalibrationCheck,
    JudgeResult,
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
    NO_LABELLED_VOTE,
    RANGE_HELD,
    WITHOUT_LABELS,
    opening_without_labels,
)

METHOD = "dawid-skene with unreadable items"
"""What a result calls this method."""


def label_free_result(blind: Panel, model: VoteModel) -> JudgeResult:
    r"""Grade judges from votes alone, as well as that can be done.

    Dawid-Skene is too high where items differ in difficulty, the majority of the others is too low
    where the majority errs. So a share h of the items may be unreadable, and the estimate is pulled
    towards the majority of the others by misfit (`tallystick.stats.latent_headline`, U5):

    .. math:: \hat a_j = u\,\mathrm{LOO}_j + (1 - u) \sum_h w_h A^h_j

    The range runs from twice the largest to half of the smallest estimate of the error rate (U6).
    It is not an interval.
    """
    found = model.headline
    scores = _scores(blind, found)
    told = opening_without_labels(scores, refuted=model.refuted)
    return JudgeResult(
        verdict=told.verdict,
        sentences=told,
        basis=WITHOUT_LABELS,
        decision="undecided",
        n_items=round(blind.n),
        assumptions=(
            *(BETTER_THAN_CHANCE, MISSING_SAY_NOTHING, RANGE_HELD),
            *((NEVER_RIGHT,) if blind.extras else ()),
        ),
        method=METHOD,
        judges=scores,
        prevalence=shares_without_labels(blind, found.balance),
    )


def _scores(blind: Panel, found: Headline) -> tuple[JudgeScore, ...]:
    """Return one row per judge with its range; a judge without a number has none."""
    rates = np.diagonal(found.per_label[:, :, : blind.n_classes], axis1=1, axis2=2)
    scores = []
    for j, one in enumerate(scores_without_labels(blind, found.accuracy, rates)):
        ends: tuple[float, float] | Unknown = float(found.low[j]), float(found.high[j])
        if isinstance(one.accuracy, Unknown):
            ends = one.accuracy
        scores.append(with_answers(replace(one, range=ends), blind, j))
    return tuple(scores)


def scores_without_labels(panel: Panel, overall: Floats, rates: Floats) -> tuple[JudgeScore, ...]:
    """Return one row per judge, NaN as unknown."""

    def number(value: float, name: str) -> Number:
        return float(value) if np.isfinite(value) else Unknown(f"too few votes to grade {name} by")

    return tuple(
        JudgeScore(
            name=name,
            accuracy=number(overall[j], name),
            interval=NO_INTERVAL,
            per_label={
                key: LabelScore(estimate=number(rates[j, c], name), interval=NO_INTERVAL)
                for c, key in enumerate(panel.keys)
            },
            votes=float(panel.voted[j]),
        )
        for j, name in enumerate(panel.names)
    )


def shares_without_labels(panel: Panel, shares: Floats) -> dict[str, Share]:
    """Return the share of each label, without an interval."""
    return {
        key: Share(estimate=float(share), interval=NO_INTERVAL)
        for key, share in zip(panel.keys, shares, strict=True)
    }


def with_answers(score: JudgeScore, panel: Panel, j: int) -> JudgeScore:
    """Return the score with the share of possible votes, and accuracy among them; as it is if all
    votes are possible.

    On these items the share is known, so dividing both ends of an interval by it is exact.
    """
    if not panel.extras:
        return score
    share = float(panel.answered_share[j])
    if not share or not isinstance(score.accuracy, float):
        nothing = Share.unknown(NO_LABELLED_VOTE.reason)
        return replace(score, answered=share, when_answered=nothing)
    ends = score.interval
    if isinstance(ends, Interval):
        ends = replace(ends, low=min(1.0, ends.low / share), high=min(1.0, ends.high / share))
    right = Share(estimate=min(1.0, score.accuracy / share), interval=ends)
    return replace(score, answered=share, when_answered=right)


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
    """

    headline: Headline
    misfit: Misfit | Unknown
    support: Support
    fit: UnreadableFit

    @property
    def refuted(self) -> bool:
        """Whether the votes prove that judges err together."""
        return isinstance(self.misfit, Misfit) and self.misfit.refuted


def fit_vote_model(blind: Panel, sample: Panel, *, rng: Rng) -> VoteModel:
    """Fit the label-free model to *sample* and give every pattern of *blind* its support.

    *sample* is the panel itself, or what `sample_items` drew from it; *rng* is for the refits of
    the misfit test.

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
    require_three((sample.vote_counts > 0).sum(axis=1))
    sizes = {"n_labels": blind.n_classes, "n_votes": len(blind.labels)}
    fit = fit_unreadable(sample.codes, sample.counts, **sizes)

    # The misfit test counts items, so weights that are not whole numbers leave it out.
    found: Misfit | Unknown = Unknown("the votes are weighted, and the test counts items")
    if bool((sample.counts == np.floor(sample.counts)).all()):
        found = _tested(fit, sample, rng)
    pull = float(np.clip(found.ratio - 1, 0, 1)) if isinstance(found, Misfit) else 0.5
    ratio = found.ratio if isinstance(found, Misfit) else found
    given = support(fit, None if sample is blind else blind.codes)
    refuted = isinstance(found, Misfit) and found.refuted
    return VoteModel(
        headline=blend(fit, pull=pull, ratio=ratio),
        misfit=found,
        support=plurality(given) if refuted else given,
        fit=fit,
    )


def plurality(given: Support) -> Support:
    """Return the vote shares as support, ties settled by the model.

    Where the votes refute the model, the plain majority is the better guide: on two real sets it
    was wrong on 28% of the items, the model's support on 33%.
    """
    level = given.share + 1e-9 * given.support
    level = level / level.sum(axis=1, keepdims=True)
    return replace(given, support=level, consensus=level.argmax(axis=1))


def _tested(fit: UnreadableFit, sample: Panel, rng: Rng) -> Misfit | Unknown:
    """Test the independence of errors, on a random part of many patterns."""
    most = min(_PATTERNS_FOR_REFITS, _CELLS_FOR_REFITS // sample.n_classes)
    try:
        small, plain = sample_items(sample, most=most, rng=rng), fit.plain
        if small is not sample:
            sizes = {"n_classes": sample.n_classes, "n_votes": len(sample.labels)}
            plain = fit_plain(as_votes(small.codes, small.counts, **sizes), sample.n_classes)
        return misfit(plain, rng=rng)
    except NotIdentifiable as error:
        return Unknown(str(error))


def sample_items(panel: Panel, *, most: int | None = None, rng: Rng) -> Panel:
    """Return panel of at most *most* patterns: all of them, or *most* items drawn at random.

    By default *most* follows from `MOST_PATTERNS` and `MOST_CELLS`. The draw is without
    replacement. Weights that are not whole numbers cannot be drawn from item by item; patterns are
    then drawn with chances in proportion to their weight.

    >>> from tallystick.table import Tally
    >>> votes = Panel.of(Tally.of({"a": [0, 1, 2, 0], "b": [0, 0, 1, 2]}))
    >>> sample_items(votes, rng=0) is votes, sample_items(votes, most=3, rng=0).n
    (True, 3.0)
    """
    if most is None:
        most = min(MOST_PATTERNS, MOST_CELLS // panel.n_classes)
    if len(panel.counts) <= most:
        return panel
    draw = as_rng(rng)
    if bool((panel.counts == np.floor(panel.counts)).all()):
        whole = panel.counts.astype(np.int64)
        counts = draw.multivariate_hypergeometric(whole, most, method="marginals")
    else:
        counts = draw.multinomial(most, panel.counts / panel.n)
    kept = counts > 0
    return replace(panel.part(kept), counts=counts[kept].astype(np.float64))


# What is known of each item: a support without labels, a calibrated probability with 20 or more.
#
# The posterior of a latent-class model is not a probability of being right: on real panels of
# language models it said .96 to .98 where .47 to .72 were right. With labels drawn at random the
# support and the votes are calibrated (U8, U9, U11); how well that went is measured on folds that
# were left out (U10).


LEAST_LABELS = 20
"""Labels that a calibration needs."""

_BINS = 10


@dataclass(frozen=True, kw_only=True, eq=False)
class ItemSupport:
    """Columns for each pattern of the tally of judges, and how well they are calibrated.

    The columns are ``consensus``, then ``probability`` (with labels) or ``support`` (without); the
    check is on labels that were left out, None without a calibration.
    """

    columns: Mapping[str, Sequence[Any]]
    calibration: CalibrationCheck | None


def item_support(panel: Panel, given: Support, *, rng: Rng = 0) -> ItemSupport:
    """Return what is known of the items of every vote pattern.

    *given* is the support of every pattern of ``panel.blind``; *rng* is for the folds of the check.

    Examples
    --------
    >>> from tallystick.table import Tally
    >>> votes = {"a": [0, 1] * 20, "b": [0, 1, 1, 1] * 10, "gold": [0, 1, 0, 0] * 10}
    >>> panel = Panel.of(Tally.of(votes), truth="gold")
    >>> found = item_support(panel, support_by_shares(panel.blind))
    >>> list(found.columns), found.calibration.n_labels
    (['consensus', 'probability'], 40)
    """
    blind, truth = panel.blind, labels_by_pattern(panel)
    if truth.sum() < LEAST_LABELS or (truth != np.floor(truth)).any():
        columns = _placed(blind, given.consensus, "support", given.support)
        return ItemSupport(columns=columns, calibration=None)

    # A crowd has more judges than labels can tell apart.
    votes = blind.codes if len(blind.names) <= CROWD else None
    found = calibrate(given, truth, votes=votes)
    stated, right = cross_fitted(given, truth, votes=votes, rng=rng)
    return ItemSupport(
        columns=_placed(blind, found.consensus, "probability", found.probability),
        calibration=CalibrationCheck(
            error=expected_calibration_error(stated, right, n_bins=_BINS),
            noise_floor=noise_floor(stated),
            n_labels=int(truth.sum()),
        ),
    )


def support_by_shares(blind: Panel) -> Support:
    """Return the support where no model can be fitted: the vote shares themselves.

    >>> from tallystick.table import Tally
    >>> support_by_shares(Panel.of(Tally.of({"a": [0, 1], "b": [0, 0]}))).support.tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """
    cast = vote_table(blind.codes, blind.n_classes)
    total = cast.sum(axis=1, keepdims=True)
    share = np.where(total > 0, cast / np.maximum(total, 1), 1 / blind.n_classes)
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
    known = panel.known
    table = np.zeros((len(panel.blind.counts), panel.n_classes))
    np.add.at(table, (where[panel.place[known]], panel.truth[known]), panel.counts[known])
    return table


def _placed(blind: Panel, consensus: Any, name: str, levels: Floats) -> dict[str, Sequence[Any]]:
    """Return columns with one entry per pattern of the tally, None where no item shows it."""
    voted = np.flatnonzero((blind.codes >= 0).any(axis=1))
    chosen, place = np.asarray(consensus)[voted], blind.place[voted]
    labels, found = np.full((2, blind.votes.patterns), None)
    labels[place] = np.array([*blind.classes, None], dtype=object)[chosen]
    found[place] = levels[voted, chosen].tolist()
    return {"consensus": labels.tolist(), name: found.tolist()}


def noise_floor(stated: Floats) -> float:
    """Return about what a perfect forecast would score on as many labels."""
    edges = np.linspace(0, stated.size, min(_BINS, stated.size) + 1).round().astype(np.int64)
    ordered = np.sort(stated)
    parts = [ordered[a:b] for a, b in pairwise(edges) if b > a]
    spread = [len(p) * np.sqrt(2 / np.pi * p.mean() * (1 - p.mean()) / len(p)) for p in parts]
    return float(np.sum(spread) / stated.size)
