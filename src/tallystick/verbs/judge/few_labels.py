"""Grade judges from a few labelled items and all the votes, by the estimator of every verb."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick._rng import Rng
from tallystick.errors import ConvergenceError, InputError, NotIdentifiable
from tallystick.papers.noisy_judges.baselines import majority_shares
from tallystick.results import Interval, Unknown
from tallystick.stats.adverse_binary import Population
from tallystick.stats.few_labels import Estimates, FewLabels, accuracies, prevalences
from tallystick.stats.intervals import Intervals
from tallystick.stats.label_rates import Sharpened, poststratified_ratio
from tallystick.stats.urns import hypergeometric, hypergeometric_strata, hypergeometric_subgroup
from tallystick.table import Tally
from tallystick.table.cells import Label
from tallystick.table.panel import Floats, Ints, Panel
from tallystick.verbs.judge.dawid_skene import fit_panel
from tallystick.verbs.judge.independent import held_to_range
from tallystick.verbs.judge.label_free import item_support, support_by_shares
from tallystick.verbs.judge.leader import CLAIM, Leader, leader_of
from tallystick.verbs.judge.logical import Logic
from tallystick.verbs.judge.result import JudgeResult
from tallystick.verbs.judge.scores import (
    JudgeScore,
    LabelCells,
    LabelScore,
    LabelsNeeded,
    Range,
    Ranges,
    Share,
    check_ranges,
)
from tallystick.verbs.judge.verdict import (
    NEVER_RIGHT,
    NEW_SAMPLE,
    RANDOM,
    basis_of,
    needed_labels,
    opening_with_labels,
)


def few_labels(
    votes: Tally | Panel,
    *,
    truth: str | None = None,
    judges: Sequence[str] | None = None,
    labels: Sequence[Label] = (),
    prevalence: Ranges | None = None,
    alpha: float = 0.05,
    population: Population | None = None,
    certified: bool = False,
) -> JudgeResult:
    """Grade judges from a few labelled items and all the votes, whatever the judges have in common.

    A judge's accuracy is the mean of "its vote is the truth". The other judges' agreement with it,
    known on every item, forecasts where it errs, and the labels say how far that can be trusted
    (`tallystick.stats.few_labels`). Judges that err together cost width, never validity.

    Who is better is tested on the same items for all pairs at once. The verdict names the best
    judge only if no other remains, and otherwise those that may be.

    Parameters
    ----------
    votes, judges, labels
        The tally; which columns judge; labels that nobody voted for.
    truth
        The column of true labels, partly blank.
    prevalence
        Label to a range; it narrows what logic allows, nothing else.
    alpha
        One minus the level.
    population
        ``these`` items, or ``new`` ones like them. None: these, and new ones once every vote is
        labelled.
    certified
        Exact intervals for these items (hypergeometric in two strata; by label, over every size of
        the class) instead of approximate ones, somewhat wider.

    Examples
    --------
    >>> from tallystick.papers.noisy_judges.correlated_judges import Point, simulate
    >>> point = Point(prevalence="1/2", accuracy={name: ("9/10", "4/5") for name in "xyz"})
    >>> stream = simulate(point).stream(rng=1)
    >>> stream["truth"] = [label if i < 60 else None for i, label in enumerate(stream["truth"])]
    >>> result = few_labels(Tally.of(stream), truth="truth")
    >>> 0.85 in result.judges[0].interval, result.n_labels, result.labels_worth > 60
    (True, 60, True)
    """
    panel = Panel.of(votes, voters=judges, truth=truth, labels=labels)
    found = label_scores(
        panel, prevalence=prevalence, alpha=alpha, population=population, certified=certified
    )
    items = item_support(panel, support_by_shares(panel.blind))
    return held_to_range(replace(found, learnt=items.columns), panel, prevalence)


def label_scores(
    panel: Panel,
    *,
    prevalence: Ranges | None = None,
    alpha: float = 0.05,
    population: Population | None = None,
    certified: bool = False,
    posterior: Floats | None = None,
    rng: Rng = 0,
) -> JudgeResult:
    """Do the work of `few_labels`; *posterior* (patterns of the blind panel x labels) saves a fit.

    The posterior sorts items into strata for the rates by label and for exact intervals.
    """
    n_labels = panel.n_labels
    if not n_labels:
        raise InputError(
            "truth: not one item has a true label; give some, or use dawid_skene or logical"
        )
    if certified and population == "new":
        raise InputError("certified intervals are for these items: use population='these'")
    if certified and panel.weight is not None:
        raise InputError("certified intervals count items: leave out --weight, or --certified")
    every = bool((_graded(panel) == panel.voted).all())
    whom: Population = population or ("new" if every and not certified else "these")

    found = accuracies(
        panel.codes, panel.truth, counts=panel.counts, weight=panel.weight, population=whom
    )
    fresh = replace(found, population="new").means(alpha=alpha).interval
    means = found.means(alpha=alpha)
    by_label: Sequence[tuple[Floats, Sequence[Range]]] = ()
    if panel.weight is None:  # rates by label and exact intervals count items
        chosen = _chosen(panel, posterior)
        if certified:
            exact = hypergeometric_strata(*strata(panel, chosen)[::-1], alpha=alpha)
            means = replace(means, interval=exact)
        cells = LabelCells.of(panel, chosen)
        by_label = [_on_label(cells, c, alpha, certified, whom) for c in range(panel.n_classes)]
    scores = _scores(panel, means, fresh, by_label)
    if panel.weight is None:
        logic = Logic.of(panel, check_ranges(prevalence, panel))
        scores = [_with_logic(one, logic, j, panel.keys, alpha) for j, one in enumerate(scores)]

    best = leader_of(found, panel.names, alpha=alpha, rng=rng)
    forecast = labels_needed(panel, found, best, alpha=alpha)
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
        ),
        method="labels, certified" if certified else "labels",
        judges=tuple(scores),
        prevalence=_prevalence(panel, whom, alpha, certified),
        n_labels=n_labels,
        labels_worth=float(np.median(worth)) if worth.size else Unknown("no label has a vote"),
        labels_needed=forecast,
        leader=None if best is None else best.name,
        rivals=() if best is None else best.rivals,
        never_true=tuple(map(str, panel.extras)),
        votes=panel.votes,
        population=whom,
    )


def _graded(panel: Panel) -> Floats:
    """Return how many labelled items each judge voted on."""
    return np.asarray(panel.counts[panel.known] @ (panel.codes[panel.known] >= 0))


def _chosen(panel: Panel, posterior: Floats | None) -> Ints:
    """Return the label that the votes choose for each entry."""
    posterior = consensus(panel.blind) if posterior is None else posterior
    voted_for = np.full(panel.votes.patterns, -1)
    voted_for[panel.blind.place] = posterior.argmax(axis=1)
    return np.asarray(voted_for[panel.place])


def _scores(
    panel: Panel,
    means: Estimates,
    fresh: Intervals,
    by_label: Sequence[tuple[Floats, Sequence[Range]]],
) -> list[JudgeScore]:
    """Return one row per judge: its accuracy, and its rate on each label if items count alike."""
    scores = []
    for j, name in enumerate(panel.names):
        parts = {}
        for (estimate, ends), key in zip(by_label, panel.keys, strict=False):
            unknown = Unknown(f"no labelled item of {key} has a vote of {name}")
            known = math.isfinite(estimate[j])
            parts[key] = LabelScore(
                estimate=float(estimate[j]) if known else unknown, interval=ends[j]
            )
        accuracy, interval = float(means.estimate[j]), means.interval[j]
        silent = Unknown(f"no labelled item has a vote of {name}")
        scores.append(
            JudgeScore(
                name=name,
                accuracy=accuracy if math.isfinite(accuracy) else silent,
                interval=interval,
                **_answers(panel, j, accuracy, interval),
                per_label=parts,
                votes=float(panel.voted[j]),
                new_items=fresh[j],
            )
        )
    return scores


def _with_logic(
    score: JudgeScore, logic: Logic, j: int, keys: Sequence[str], alpha: float
) -> JudgeScore:
    """Add what logic alone allows, whatever the truth is."""

    def ends(bounds: tuple[float, float]) -> Interval:
        return Interval(*bounds, level=1 - alpha, guarantee="exact", method="logic")

    parts = {
        key: replace(score.per_label[key], logical=ends(logic.on_label(j, c)))
        for c, key in enumerate(keys)
    }
    return replace(score, per_label=parts, logical=ends(logic.overall(j)))


def consensus(panel: Panel) -> Floats:
    """Return the posterior of each pattern of blind panel; majority shares where the model cannot
    be fitted.
    """
    try:
        return fit_panel(panel).posterior
    except (NotIdentifiable, ConvergenceError):
        return majority_shares(panel.codes, n_labels=len(panel.classes))


def strata(panel: Panel, chosen: Ints) -> tuple[Ints, Ints, Ints]:
    """Return judges x 2 (agrees with the consensus, differs): items, labelled ones, labelled and
    right ones.
    """
    known = panel.known[:, None]
    voted = panel.codes >= 0
    agree = panel.codes == chosen[:, None]
    right = (panel.codes == panel.truth[:, None]) & known

    def counted(where: NDArray[np.bool_]) -> Ints:
        cells = (where & agree, where & ~agree)
        return np.stack([panel.counts @ cell for cell in cells], axis=1).astype(np.int64)

    return counted(voted), counted(voted & known), counted(voted & right)


def _on_label(
    cells: LabelCells, c: int, alpha: float, certified: bool, population: Population
) -> tuple[Floats, Sequence[Range]]:
    """Return every judge's share of right votes on label c, and intervals."""
    sizes, labelled, hits = cells.on_label(c)
    inside = np.array([True, True, False, False])
    found: Sharpened = poststratified_ratio(
        sizes, labelled, hits, inside=inside, alpha=alpha, population=population
    )
    if not certified:
        return found.estimate, list(found.interval)
    exact = hypergeometric_subgroup(
        hits[:, :2].sum(axis=1),
        hits.sum(axis=1),
        labelled.sum(axis=1),
        sizes.sum(axis=1),
        alpha=alpha,
    )
    return found.estimate, list(exact)


def _prevalence(
    panel: Panel, population: Population, alpha: float, certified: bool
) -> dict[str, Share]:
    """Return the share of each label: the score of "the truth is this label"."""
    found = {}
    fits = prevalences(
        panel.codes,
        panel.truth,
        n_classes=panel.n_classes,
        counts=panel.counts,
        weight=panel.weight,
        population=population,
    )
    for c, (key, fit) in enumerate(zip(panel.keys, fits, strict=True)):
        means = fit.means(alpha=alpha)
        interval = means.interval[0]
        if certified:
            true = int(panel.counts @ (panel.truth == c))
            interval = hypergeometric(true, panel.n_labels, round(panel.n), alpha=alpha)
        found[key] = Share(estimate=float(means.estimate[0]), interval=interval)
    return found


def _answers(panel: Panel, j: int, accuracy: float, interval: Interval) -> dict[str, Any]:
    """Return the share of possible votes, and accuracy among them; nothing if all are possible.

    On these items the share is known, so dividing both ends by it is exact.
    """
    share = float(panel.answered_share[j])
    if not panel.extras:
        return {}
    if not share or not np.isfinite(accuracy):
        nothing = Unknown("no labelled item has an answer of this judge")
        return {"answered": share, "when_answered": Share(estimate=nothing, interval=nothing)}
    ends = replace(
        interval, low=min(1.0, interval.low / share), high=min(1.0, interval.high / share)
    )
    right = Share(estimate=min(1.0, float(accuracy) / share), interval=ends)
    return {"answered": share, "when_answered": right}


# How many more labels: for every judge to ± 5 points, and to tell the leader from its rivals.
#
# Every forecast stays within the table: a table of 200 items never asks for 2,977.


HALF_WIDTH = 0.05
"""The half-width that is forecast, as a share: ± 5 points."""


def labels_needed(
    panel: Panel, found: FewLabels, best: Leader | None, *, alpha: float
) -> LabelsNeeded:
    """Forecast labels from those that are there, by the rule that will judge them.

    Examples
    --------
    >>> from tallystick.verbs.judge import few_labels
    >>> from tallystick.table import Tally
    >>> votes = {"x": [0, 1] * 100, "y": [0, 1, 0, 0] * 50}
    >>> gold = [0, 1, 0, 1] * 10 + [None] * 160
    >>> few_labels(Tally.of({**votes, "gold": gold}), truth="gold").labels_needed.left
    160
    """
    labels = panel.n_labels
    left = round(panel.n) - labels
    # A judge that votes on a part of the items sees that part of the labels.
    seen = np.maximum(panel.voted, 1) / panel.n
    wanted = found.labels_for(HALF_WIDTH, alpha=alpha) / seen
    precision = int(min(left, max(0.0, float(np.max(np.ceil(wanted - labels))))))
    if best is None or not best.rivals:
        leader: int | None = None if best is None else 0
        return LabelsNeeded(precision=precision, leader=leader, left=left, enough=best is not None)

    # All rivals at once: the level that each pair has left of it.
    level = CLAIM * alpha / (best.judges - 1)
    totals = [
        found.labels_to_settle(best.place, panel.names.index(rival), alpha=level)
        / min(seen[best.place], seen[panel.names.index(rival)])
        for rival in best.rivals
    ]
    total = max(totals)
    if not math.isfinite(total):
        return LabelsNeeded(precision=precision, leader=None, left=left, enough=False)
    more = max(1, math.ceil(total - labels))
    return LabelsNeeded(precision=precision, leader=min(more, left), left=left, enough=more <= left)


def labels_needed_first(rates: Sequence[float], n: float, *, alpha: float) -> LabelsNeeded:
    """Forecast labels where there are none: for ± 5 points for every judge.

    Parameters
    ----------
    rates
        Label-free accuracies; where they are not known, NaN counts as a half.
    n
        Items.
    alpha
        One minus the level.

    Examples
    --------
    >>> labels_needed_first([0.9, 0.8], 200, alpha=0.05).precision
    111
    """
    held = [0.5 if not np.isfinite(rate) else min(max(rate, 0.5), 0.95) for rate in rates]
    variance = max(rate * (1 - rate) for rate in held)
    free = variance * (NormalDist().inv_cdf(1 - alpha / 2) / HALF_WIDTH) ** 2
    whole = round(n)
    precision = max(1, min(whole, round(free * n / (free + n - 1))))
    return LabelsNeeded(precision=precision, leader=None, left=whole, enough=False)
