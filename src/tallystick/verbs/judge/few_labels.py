"""Grade judges from a few labelled items and all the votes, by the estimator of every verb."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

import numpy as np

from tallystick._rng import Rng
from tallystick.papers.noisy_judges import majority_shares
from tallystick.stats.adverse_binary import Population
from tallystick.stats.adverse_ratios import RatioEstimate, recalls
from tallystick.stats.few_labels import FewLabels, accuracies, prevalences
from tallystick.stats.latent_checks import CROWD
from tallystick.table.panel import Floats, Ints, Panel
from tallystick.verbs.judge.agreement import grades_of
from tallystick.verbs.judge.label_free import with_answers
from tallystick.verbs.judge.logical import Logic
from tallystick.verbs.judge.question import Ranges, check_ranges
from tallystick.verbs.judge.result import (
    JudgeResult,
    JudgeScore,
    LabelScore,
    LabelsNeeded,
    Share,
)
from tallystick.verbs.judge.verdict import (
    NEVER_RIGHT,
    NEW_SAMPLE,
    NO_LABELLED_VOTE,
    RANDOM,
    basis_of,
    grades_in_order,
    needed_labels,
    opening_with_labels,
)

_TINY = 1e-12

HALF_WIDTH = 0.05
"""The half-width that is forecast, as a share: ± 5 points."""

_ENOUGH = 0.5
"""Labelled votes of a judge that may be named first, as a share of the most that one has."""

CLAIM = 0.5
"""Share of alpha for the claim that a judge is beaten. Two equal judges with 20 to 400 labels: one
of them was called the best on 1.7 to 2.2% of 1,000 tables, on 3.5 to 3.7% with all of alpha."""


def label_scores(
    panel: Panel,
    *,
    prevalence: Ranges | None = None,
    alpha: float = 0.05,
    population: Population | None = None,
    posterior: Floats | None = None,
    rng: Rng = 0,
) -> JudgeResult:
    """Grade judges from a few labelled items and all the votes, whatever the judges have in common.

    A judge's accuracy is the mean of "its vote is the truth". The other judges' agreement with it,
    known on every item, forecasts where it errs, and the labels say how far that can be trusted
    (`tallystick.stats.few_labels`). Judges that err together cost width, never validity. Grades in
    order are measured by their distance from the true grade in the same way. Who is better is
    tested on the same items for all pairs at once.

    Parameters
    ----------
    panel
        Votes, and the truth of some items.
    prevalence
        Label to a range; it narrows what logic allows, nothing else.
    alpha, population
        As in `grade`.
    posterior
        What the votes say of each pattern of the blind panel (patterns x labels): it sorts items
        into cells for the rates by label. None: shares of the vote.
    rng
        For the draws behind all pairs.
    """
    n_labels = panel.n_labels
    graded = panel.counts[panel.known] @ (panel.codes[panel.known] >= 0)
    every = bool((graded == panel.voted).all())
    whom: Population = population or ("new" if every else "these")

    # The headline: how often each judge is right, or on grades how near it comes.
    columns: dict[str, Any] = {"counts": panel.counts, "weight": panel.weight}
    columns["population"] = whom
    found = accuracies(panel.codes, panel.truth, **columns)
    grades = grades_of(panel)
    near = (
        None if grades is None else accuracies(panel.codes, panel.truth, grades=grades, **columns)
    )
    means = found.means(alpha=alpha)
    shares = _prevalence(panel, whom, alpha)
    scores = [
        JudgeScore(
            name=name,
            accuracy=right if math.isfinite(right) else NO_LABELLED_VOTE,
            interval=means.interval[j],
            votes=float(panel.voted[j]),
        )
        for j, (name, right) in enumerate(zip(panel.names, means.estimate.tolist(), strict=True))
    ]
    if near is not None and grades is not None:
        scores = _with_distance(scores, near, max(grades) - min(grades), alpha)

    # Rates by label count items.
    if panel.weight is None:
        logic = Logic.of(panel, check_ranges(prevalence, panel))
        cells = label_cells(panel, _chosen(panel, posterior))
        rates = [recalls(*cell, alpha=alpha, population=whom) for cell in cells]
        scores = _with_rates(scores, panel, rates, (logic, shares))
    scores = [with_answers(one, panel, j) for j, one in enumerate(scores)]

    best = leader_of(found if near is None else near, panel.names, alpha=alpha, rng=rng)
    forecast = labels_needed(panel, found, near or found, best, alpha=alpha)
    needed = needed_labels(best, forecast)
    told = opening_with_labels(best, scores, n_labels=n_labels, every=every)
    worth = means.labels_worth[found.labels > 0]
    return JudgeResult(
        verdict=told.verdict,
        sentences=told,
        basis=basis_of(n_labels, alpha),
        decision="decided" if needed is None else "undecided",
        needed=needed,
        n_items=round(panel.n),
        assumptions=(
            RANDOM,
            *((NEW_SAMPLE,) if whom == "new" else ()),
            *((NEVER_RIGHT,) if panel.extras else ()),
            *((grades_in_order(min(grades), max(grades)),) if grades is not None else ()),
        ),
        method="labels",
        judges=tuple(scores),
        prevalence=shares,
        n_labels=n_labels,
        labels_worth=float(np.median(worth)) if worth.size else NO_LABELLED_VOTE,
        labels_needed=forecast,
        leader=None if best is None else best.name,
        rivals=() if best is None else best.rivals,
        never_true=tuple(map(str, panel.extras)),
        votes=panel.votes,
        population=whom,
    )


def _with_distance(
    scores: Sequence[JudgeScore], near: FewLabels, reach: float, alpha: float
) -> list[JudgeScore]:
    """Add how far each judge is off: what its nearness lacks to 1, in grades."""
    means, found = near.means(alpha=alpha), []
    for j, score in enumerate(scores):
        ends, off = means.interval[j], (1 - float(means.estimate[j])) * reach
        low, high = (1 - ends.high) * reach, (1 - ends.low) * reach
        share = Share(
            estimate=off if math.isfinite(off) else NO_LABELLED_VOTE,
            interval=replace(ends, low=low, high=high),
        )
        found.append(replace(score, distance=share))
    return found


def _prevalence(panel: Panel, population: Population, alpha: float) -> dict[str, Share]:
    """Return the share of each label: the score of "the truth is this label"."""
    fits = prevalences(
        panel.codes,
        panel.truth,
        n_classes=panel.n_classes,
        counts=panel.counts,
        weight=panel.weight,
        population=population,
    )
    found = {}
    for key, fit in zip(panel.keys, fits, strict=True):
        means = fit.means(alpha=alpha)
        found[key] = Share(estimate=float(means.estimate[0]), interval=means.interval[0])
    return found


# Rates by true label, in cells of vote and consensus.


def _chosen(panel: Panel, posterior: Floats | None) -> Ints:
    """Return the label that the votes choose for each entry."""
    if posterior is None:
        posterior = majority_shares(panel.blind.codes, n_labels=panel.n_classes)
    voted_for = np.full(panel.votes.patterns, -1)
    voted_for[panel.blind.place] = posterior.argmax(axis=1)
    return np.asarray(voted_for[panel.place])


def label_cells(panel: Panel, chosen: Ints) -> list[tuple[Ints, Ints, Ints]]:
    """Return for each label judges x 4: items, labelled ones and those truly of that label.

    The cells: judge and consensus say the label, only the judge, only the consensus, neither.
    *chosen* is the consensus of each entry.

    >>> from tallystick.table import Tally
    >>> votes = Tally.of({"a": [0, 1, 1], "b": [0, 1, 0], "gold": [0, None, 1]})
    >>> panel = Panel.of(votes, truth="gold")
    >>> label_cells(panel, panel.codes[:, 0])[1][0].tolist()
    [[2, 0, 0, 1], [1, 0, 1, 1]]
    """
    # All votes are counted once, by judge, vote and consensus: with 100 labels and 80,000 patterns
    # a pass for each label took several seconds.
    entry, judge = np.nonzero(panel.codes >= 0)
    vote, lead, truth = panel.codes[entry, judge], chosen[entry], panel.truth[entry]
    counts, size = panel.counts[entry], panel.n_classes
    shape = (len(panel.names), len(panel.labels), size)
    place = np.ravel_multi_index((judge, vote, lead), shape)
    known = truth >= 0
    tables = [
        np.bincount(place[at], weights=counts[at], minlength=math.prod(shape)).reshape(shape)
        for at in (np.full(place.size, True), known)
    ]
    wrong = 2 * (vote != truth) + (lead != truth)
    cell = np.ravel_multi_index((judge[known], truth[known], wrong[known]), (shape[0], size, 4))
    hits = np.bincount(cell, weights=counts[known], minlength=shape[0] * size * 4)
    hits = hits.reshape(-1, size, 4)

    found = []
    for c in range(size):
        parts = []
        for table in tables:
            both, mine, theirs = table[:, c, c], table[:, c].sum(axis=1), table[:, :, c].sum(axis=1)
            rest = table.sum(axis=(1, 2)) - mine - theirs + both
            parts.append(np.stack((both, mine - both, theirs - both, rest), axis=1))
        found.append((*(part.astype(np.int64) for part in parts), hits[:, c].astype(np.int64)))
    return found  # type: ignore[return-value]


def _with_rates(
    scores: Sequence[JudgeScore],
    panel: Panel,
    rates: Sequence[Sequence[RatioEstimate]],
    beside: tuple[Logic, dict[str, Share]],
) -> list[JudgeScore]:
    """Add the rates by label, such that accuracy is their mean, and what logic allows."""
    logic, shares = beside
    common = np.array([float(shares[key].estimate) for key in panel.keys])  # type: ignore[arg-type]
    found = []
    for j, score in enumerate(scores):
        whole, possible = logic.certain(j)
        own = [one[j] for one in rates]
        estimate = np.array([one.number for one in own])
        if isinstance(score.accuracy, float):
            # A judge that skipped items saw labels in other shares than the table has.
            weight = common if panel.voted[j] == panel.n else [one.hits for one in own]
            room = np.array([tuple(possible[key]) for key in panel.keys])
            width = np.array([one.interval.width for one in own])
            estimate = consistent(
                estimate, score.accuracy, np.nan_to_num(np.asarray(weight)), width, room
            )
        parts = {}
        for one, key, value in zip(own, panel.keys, estimate.tolist(), strict=True):
            low, high = np.fmin(one.interval.low, value), np.fmax(one.interval.high, value)
            parts[key] = LabelScore(
                estimate=value if math.isfinite(value) else NO_LABELLED_VOTE,
                interval=replace(one.interval, low=float(low), high=float(high)),
                logical=possible[key],
            )
        found.append(replace(score, per_label=parts, logical=whole))
    return found


def consistent(
    rates: Floats, accuracy: float, weight: Floats, doubt: Floats, room: Floats
) -> Floats:
    r"""Move rates by label, each by its doubt, until their weighted mean is the accuracy.

    Rates and accuracy use the votes in two ways, and an accuracy below both of its rates would be
    nonsense. With weights w and doubts d,

    .. math:: r'_c = \mathrm{clip}(r_c + \lambda w_c d_c^2,\; \text{room}_c), \qquad
              \sum_c w_c r'_c = a \sum_c w_c   \tag{P3}

    Rates that are not known stay so. Where no rates within the room can do it, the nearest are
    returned.

    >>> rates, weight, room = np.array([0.9, 0.8]), np.array([0.7, 0.3]), np.array([[0, 1.0]] * 2)
    >>> consistent(rates, 0.85, weight, np.array([0.1, 0.2]), room).round(3).tolist()
    [0.884, 0.772]
    """
    at = np.isfinite(rates) & (weight > 0)
    if not at.any():
        return rates
    w, low, high = weight[at] / weight[at].sum(), room[at, 0], room[at, 1]
    slope = np.maximum(w, 1e-6) * np.maximum(doubt[at], 1e-6) ** 2

    def moved(step: float) -> Floats:
        return np.asarray(np.clip(rates[at] + step * slope, low, high))

    # Without an edge in the way the step is known; otherwise the weighted mean grows with it, and
    # it is found by halving.
    step = (accuracy - float(w @ rates[at])) / float(w @ slope)
    if abs(float(w @ moved(step)) - accuracy) > _TINY:
        most = 1 / float(slope.min())
        down, up = -most, most
        for _ in range(100):
            step = (down + up) / 2
            down, up = (step, up) if w @ moved(step) < accuracy else (down, step)
    found = rates.copy()
    found[at] = moved(step)
    return found


# Who leads, and who may be as good.


@dataclass(frozen=True, kw_only=True)
class Leader:
    """The judge whose quality is surest to be high.

    Parameters
    ----------
    place, name
        Its place among the judges, and its name.
    rivals
        Judges whose range reaches into its own: nothing here says that they are worse.
    judges
        How many judges there are.
    """

    place: int
    name: str
    rivals: tuple[str, ...]
    judges: int


def leader_of(found: FewLabels, names: Sequence[str], *, alpha: float, rng: Rng) -> Leader | None:
    """Return who leads by labels, and who may be as good; None if no labelled item has a vote.

    A judge that another one beats is out, all pairs tested at once on the same items, with the
    error of one end of an interval: half of *alpha*. Of those that remain, the one with the highest
    lower end is named first, among judges with about as many labelled votes: few votes can all be
    right by luck.

    >>> truth = np.arange(100) % 2
    >>> right = np.stack([np.arange(100) < 95, np.arange(100) < 60], axis=1)
    >>> votes = np.where(right, truth[:, None], 1 - truth[:, None])
    >>> leader_of(accuracies(votes, truth, population="new"), ("a", "b"), alpha=0.05, rng=0)
    Leader(place=0, name='a', rivals=(), judges=2)
    """
    if not found.labels.any():
        return None
    ends, error = found.means(alpha=alpha).interval, CLAIM * alpha
    beaten = np.zeros(len(names), dtype=np.bool_)
    if len(names) > CROWD:
        wide = found.means(alpha=error / len(names)).interval
        beaten = wide.high < wide.low.max()
    elif len(names) > 1:
        pairs = found.pairs(rng=rng, alpha=error)
        behind = np.where(pairs.difference > 0, pairs.second, pairs.first)
        beaten[behind[pairs.adjusted_p <= error]] = True

    enough = found.labels >= _ENOUGH * found.labels.max()
    low = np.where(beaten | ~enough, -1.0, ends.low)
    best = int(np.argmax(low))
    order = np.argsort(-low, kind="stable").tolist()
    rivals = tuple(names[j] for j in order if j != best and not beaten[j])
    return Leader(place=best, name=names[best], rivals=rivals, judges=len(names))


def leader(names: Sequence[str], low: Floats, high: Floats) -> Leader | None:
    """Return the judge with the highest lower end, and those whose upper end does not stay below
    it; None if no end is known.

    With ends that hold for all judges at once, a leader without rivals is truly the best of them.
    NaN is a judge of which nothing is known: it never leads, and nothing excludes it.

    >>> leader(("many votes", "one vote"), np.array([0.8, 0.02]), np.array([0.9, 1.0]))
    Leader(place=0, name='many votes', rivals=('one vote',), judges=2)
    """
    if not np.isfinite(low).any():
        return None
    best = int(np.nanargmax(low))
    reach = np.flatnonzero(~(high < low[best]))
    order = reach[np.argsort(-high[reach], kind="stable")]  # NaN comes last
    rivals = tuple(names[j] for j in order.tolist() if j != best)
    return Leader(place=best, name=names[best], rivals=rivals, judges=len(names))


# How many more labels: for every judge to ± 5 points, and to tell the leader from its rivals.
# Every forecast stays within the table: a table of 200 items never asks for 2,977.


def labels_needed(
    panel: Panel, found: FewLabels, ranked: FewLabels, best: Leader | None, *, alpha: float
) -> LabelsNeeded:
    """Forecast labels from those that are there, by the rule that will judge them.

    Examples
    --------
    >>> from tallystick.table import Tally
    >>> votes = {"x": [0, 1] * 100, "y": [0, 1, 0, 0] * 50}
    >>> gold = [0, 1, 0, 1] * 10 + [None] * 160
    >>> label_scores(Panel.of(Tally.of({**votes, "gold": gold}), truth="gold")).labels_needed.left
    160
    """
    labels = panel.n_labels
    left = round(panel.n) - labels
    # A judge that votes on a part of the items sees that part of the labels.
    seen = np.maximum(panel.voted, 1) / panel.n
    wanted = found.labels_for(HALF_WIDTH, alpha=alpha) / seen
    precision = int(min(left, max(0.0, float(np.max(np.ceil(wanted - labels))))))
    forecast = LabelsNeeded(precision=precision, leader=None, left=left, enough=False)
    if best is None:
        return forecast
    if not best.rivals:
        return replace(forecast, leader=0, enough=True)
    if best.judges > CROWD:  # a crowd is told apart by its single intervals
        return forecast

    # All rivals at once: the level that each pair has left of it.
    level = CLAIM * alpha / (best.judges - 1)
    rivals = np.array([panel.names.index(name) for name in best.rivals])
    first = np.full(rivals.size, best.place)
    totals = ranked.forecast_pairs(first, rivals, alpha=level)
    total = float(np.max(totals / np.minimum(seen[first], seen[rivals])))
    if not math.isfinite(total):
        return forecast
    more = max(1, math.ceil(total - labels))
    return replace(forecast, leader=min(more, left), enough=more <= left)


def labels_needed_first(rates: Sequence[float], n: float, *, alpha: float) -> LabelsNeeded:
    """Forecast labels where there are none: for ± 5 points for every judge.

    *rates* are label-free accuracies, NaN where none is known.

    >>> labels_needed_first([0.9, 0.8], 200, alpha=0.05).precision
    111
    """
    held = [0.5 if not np.isfinite(rate) else min(max(rate, 0.5), 0.95) for rate in rates]
    variance = max(rate * (1 - rate) for rate in held)
    free = variance * (NormalDist().inv_cdf(1 - alpha / 2) / HALF_WIDTH) ** 2
    whole = round(n)
    precision = max(1, min(whole, round(free * n / (free + n - 1))))
    return LabelsNeeded(precision=precision, leader=None, left=whole, enough=False)
