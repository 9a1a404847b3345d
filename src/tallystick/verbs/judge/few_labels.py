"""A few labels, sharpened by all the votes: intervals that hold whatever the judges have in
common.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import ConvergenceError, InputError, NotIdentifiable
from tallystick.papers.noisy_judges.baselines import majority_shares
from tallystick.results import Interval, Unknown
from tallystick.stats.intervals import Intervals, clopper_pearson
from tallystick.stats.poststratify import (
    Sharpened,
    Target,
    poststratified_ratio,
    poststratified_share,
)
from tallystick.stats.urns import hypergeometric, hypergeometric_strata, hypergeometric_subgroup
from tallystick.table import Tally
from tallystick.table.cells import Label
from tallystick.verbs.judge.ballots import (
    Ballots,
    Floats,
    Ints,
    JudgeScore,
    LabelCells,
    LabelScore,
    LabelsNeeded,
    Range,
    Ranges,
    Share,
    check_ranges,
    count_cells,
)
from tallystick.verbs.judge.independent import held_to_range
from tallystick.verbs.judge.label_free import item_support, support_by_shares
from tallystick.verbs.judge.logical import Logic
from tallystick.verbs.judge.result import JudgeResult
from tallystick.verbs.judge.sessions import Leader, against, as_shown, by_labels, with_duels
from tallystick.verbs.judge.supervised import fit_ballots
from tallystick.verbs.judge.verdict import (
    NEVER_RIGHT,
    NEW_SAMPLE,
    RANDOM,
    basis_of,
    needed_labels,
    opening_with_labels,
)


def few_labels(
    votes: Tally | Ballots,
    *,
    truth: str | None = None,
    judges: Sequence[str] | None = None,
    labels: Sequence[Label] = (),
    prevalence: Ranges | None = None,
    alpha: float = 0.05,
    target: Target = "items",
    certified: bool = False,
) -> JudgeResult:
    """Grade judges from a few labelled items and all the votes, whatever the judges have in common.

    The consensus (Dawid-Skene's posterior, from votes only) sorts each judge's items into two
    strata, agrees or not; labels estimate the share of right votes in each, and the known sizes put
    them together (`tallystick.stats.poststratify`, equations P1 and P2). A wrong consensus costs
    width, never validity.

    Intervals are for *these* items, so they close to a point where all are labelled. How a judge
    will do on new items like these is ``new_items``: Clopper-Pearson's exact interval from its
    labelled votes. The verdict names a leader by such intervals for all judges at once, and by sign
    tests of pairs on the same items, so that nobody leads by few lucky votes, and names those who
    may be as good: while there are any, the result is undecided.

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
    target
        ``items``: accuracy on these very items. ``population``: on items like them.
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
    ballots = Ballots.of(votes, judges=judges, truth=truth, labels=labels)
    found = label_scores(
        ballots, prevalence=prevalence, alpha=alpha, target=target, certified=certified
    )
    items = item_support(ballots, support_by_shares(ballots.blind))
    return held_to_range(replace(found, learnt=items.columns), ballots, prevalence)


def label_scores(
    ballots: Ballots,
    *,
    prevalence: Ranges | None = None,
    alpha: float = 0.05,
    target: Target = "items",
    certified: bool = False,
    posterior: Floats | None = None,
) -> JudgeResult:
    """Do the work of `few_labels`; *posterior* (patterns of the blind ballots x labels) saves a
    second fit.
    """
    ballots.require_items("few_labels")
    known = ballots.truth >= 0
    n_labels = int(ballots.counts[known].sum())
    if not n_labels:
        raise InputError(
            "truth: not one item has a true label; give some, or use dawid_skene or logical"
        )
    if certified and target != "items":
        raise InputError("certified intervals are for these items: use target='items'")
    posterior = consensus(ballots.blind) if posterior is None else posterior
    voted_for = np.full(ballots.votes.patterns, -1)
    voted_for[ballots.blind.place] = posterior.argmax(axis=1)
    chosen = voted_for[ballots.place]
    logic = Logic.of(ballots, check_ranges(prevalence, ballots))
    sizes, labelled, right = strata(ballots, chosen)
    found = poststratified_share(sizes, labelled, right, alpha=alpha, target=target)
    overall = (
        hypergeometric_strata(right, labelled, sizes, alpha=alpha) if certified else found.interval
    )
    cells = LabelCells.of(ballots, chosen)
    by_label = [_on_label(cells, c, alpha, target, certified) for c in range(len(ballots.classes))]
    graded, good = labelled.sum(axis=1), right.sum(axis=1)
    fresh = clopper_pearson(good, graded, alpha=alpha)
    scores = []
    for j, name in enumerate(ballots.names):
        silent = graded[j] == 0
        parts = {}
        for c, key in enumerate(ballots.keys):
            estimate, interval = by_label[c]
            bounds = logic.on_label(j, c)
            parts[key] = LabelScore(
                estimate=(
                    float(estimate[j])
                    if np.isfinite(estimate[j])
                    else Unknown(f"no labelled item of {key} has a vote of {name}")
                ),
                interval=interval[j],
                logical=Interval(*bounds, level=1 - alpha, guarantee="exact", method="logic"),
            )
        scores.append(
            JudgeScore(
                name=name,
                accuracy=(
                    Unknown(f"no labelled item has a vote of {name}")
                    if silent
                    else float(found.estimate[j])
                ),
                interval=_one(overall, j),
                **_answers(ballots, j, found.estimate[j], _one(overall, j)),
                per_label=parts,
                votes=float(ballots.voted[j]),
                logical=Interval(
                    *logic.overall(j), level=1 - alpha, guarantee="exact", method="logic"
                ),
                new_items=fresh[j],
            )
        )
    every = bool((graded == ballots.voted).all())
    worth = (
        float(np.median(found.worth[graded > 0])) if graded.any() and not every else float(n_labels)
    )
    best = by_labels(ballots, good, graded, alpha=alpha)
    forecast = labels_needed(ballots, best, scores, good, graded, alpha=alpha)
    best = as_shown(best, ballots.names, np.where(graded > 0, overall.low, np.nan), graded)
    best = with_duels(best, ballots)
    needed = needed_labels(best, forecast)
    told = opening_with_labels(best, scores, n_labels=n_labels, every=every)
    return JudgeResult(
        verdict=told.verdict,
        sentences=told,
        basis=basis_of(n_labels, alpha),
        decision="decided" if needed is None else "undecided",
        needed=needed,
        n_items=round(ballots.n),
        assumptions=(
            RANDOM,
            *((NEW_SAMPLE,) if target == "population" else ()),
            *((NEVER_RIGHT,) if ballots.extras else ()),
        ),
        method="labels, certified" if certified else "labels",
        judges=tuple(scores),
        prevalence=_prevalence(ballots, chosen, alpha, target, certified),
        n_labels=n_labels,
        labels_worth=worth if graded.any() else Unknown("no labelled item has a vote"),
        labels_needed=forecast,
        leader=None if best is None else best.name,
        rivals=() if best is None else best.rivals,
        never_true=tuple(map(str, ballots.extras)),
        votes=ballots.votes,
    )


def consensus(ballots: Ballots) -> Floats:
    """Return the posterior of each pattern of blind ballots; majority shares where the model cannot
    be fitted.
    """
    try:
        return fit_ballots(ballots).posterior
    except (NotIdentifiable, ConvergenceError):
        return majority_shares(ballots.codes, n_labels=len(ballots.classes))


def strata(ballots: Ballots, chosen: Ints) -> tuple[Ints, Ints, Ints]:
    """Return judges x 2 (agrees with the consensus, differs): items, labelled ones, labelled and
    right ones.
    """
    known = (ballots.truth >= 0)[:, None]
    voted = ballots.codes >= 0
    agree = ballots.codes == chosen[:, None]
    right = (ballots.codes == ballots.truth[:, None]) & known
    return (
        _count(ballots, voted & agree, voted & ~agree),
        _count(ballots, voted & agree & known, voted & ~agree & known),
        _count(ballots, voted & agree & right, voted & ~agree & right),
    )


def _on_label(
    cells: LabelCells, c: int, alpha: float, target: Target, certified: bool
) -> tuple[Floats, Sequence[Range]]:
    """Return every judge's share of right votes on label c, and intervals."""
    sizes, labelled, hits = cells.on_label(c)
    inside = np.array([True, True, False, False])
    found: Sharpened = poststratified_ratio(
        sizes, labelled, hits, inside=inside, alpha=alpha, target=target
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
    ballots: Ballots, chosen: Ints, alpha: float, target: Target, certified: bool
) -> dict[str, Share]:
    """Return the share of each label: two strata, the consensus says it or not."""
    n_labels = len(ballots.classes)
    known = ballots.truth >= 0
    every = np.ones(len(chosen), dtype=np.bool_)
    said = count_cells(ballots, every, chosen, n_labels)
    said_labelled = count_cells(ballots, known, chosen, n_labels)
    true = count_cells(ballots, known, ballots.truth, n_labels)
    both = count_cells(ballots, known & (chosen == ballots.truth), chosen, n_labels)
    found = {}
    for c, key in enumerate(ballots.keys):
        sizes = np.array([said[c], said.sum() - said[c]])
        labelled = np.array([said_labelled[c], said_labelled.sum() - said_labelled[c]])
        hits = np.array([both[c], true[c] - both[c]])
        share = poststratified_share(sizes, labelled, hits, alpha=alpha, target=target)
        interval = share.interval[0]
        if certified:
            interval = hypergeometric(
                int(hits.sum()), int(labelled.sum()), int(sizes.sum()), alpha=alpha
            )
        found[key] = Share(estimate=float(share.estimate[0]), interval=interval)
    return found


def _count(ballots: Ballots, *cells: NDArray[np.bool_]) -> Ints:
    """Return items in each cell: judges (or one row) x cells."""
    return np.stack([ballots.counts @ cell for cell in cells], axis=1).astype(np.int64)


def _answers(ballots: Ballots, j: int, accuracy: float, interval: Interval) -> dict[str, Any]:
    """Return the share of possible votes, and accuracy among them; nothing if all are possible.

    On these items the share is known, so dividing both ends by it is exact.
    """
    share = float(ballots.answered_share[j])
    if not ballots.extras:
        return {}
    if not share or not np.isfinite(accuracy):
        nothing = Unknown("no labelled item has an answer of this judge")
        return {"answered": share, "when_answered": Share(estimate=nothing, interval=nothing)}
    ends = replace(
        interval, low=min(1.0, interval.low / share), high=min(1.0, interval.high / share)
    )
    right = Share(estimate=min(1.0, float(accuracy) / share), interval=ends)
    return {"answered": share, "when_answered": right}


def _one(intervals: Interval | Intervals, j: int) -> Interval:
    return intervals if isinstance(intervals, Interval) else intervals[j]


# How many more labels: for every judge to ± 5 points, and to tell the leader from its rivals.
#
# Every forecast stays within the table: a table of 200 items never asks for 2,977.


HALF_WIDTH = 0.05
"""The half-width that is forecast, as a share: ± 5 points."""

_POWER = 0.8


def labels_needed(
    ballots: Ballots,
    best: Leader | None,
    scores: Sequence[JudgeScore],
    right: Floats,
    graded: Floats,
    *,
    alpha: float,
) -> LabelsNeeded:
    r"""Forecast labels from those that are there.

    A half-width h from k of N labels shrinks with :math:`\sqrt{1/k - 1/N}`, so m labels in all give
    ± 5 points where

    .. math:: \frac1m = \frac1N + \left(\frac{.05}{h}\right)^2
              \left(\frac1k - \frac1N\right)   \tag{J11}

    which never exceeds N. The leader is forecast by `labels_to_tell`.

    Parameters
    ----------
    ballots
        Votes with the truth where it is known.
    best
        Who leads.
    scores
        The judges with their intervals.
    right, graded
        Labelled votes of each judge that are right, and all of them.
    alpha
        One minus the level.

    Examples
    --------
    >>> from tallystick.verbs.judge import few_labels
    >>> from tallystick.table import Tally
    >>> votes = {"x": [0, 1] * 100, "y": [0, 1, 0, 0] * 50}
    >>> gold = [0, 1, 0, 1] * 10 + [None] * 160
    >>> few_labels(Tally.of({**votes, "gold": gold}), truth="gold").labels_needed.left
    160
    """
    whole, labels = float(ballots.n), float(ballots.counts[ballots.truth >= 0].sum())
    left = round(whole - labels)
    most = labels
    for score in scores:
        if isinstance(score.interval, Interval) and left and labels:
            half = max(score.interval.width / 2, 1e-9)
            shrink = (HALF_WIDTH / half) ** 2 * (1 / labels - 1 / whole)
            most = max(most, 1 / (1 / whole + shrink))  # (J11)
        elif left:
            most = whole
    precision = min(left, max(0, int(np.ceil(most - labels))))

    if best is None or not best.rivals:
        leader: int | None = None if best is None else 0
        return LabelsNeeded(precision=precision, leader=leader, left=left, enough=best is not None)
    total = labels_to_tell(ballots, best, right, graded, alpha=alpha)
    if total is None:
        return LabelsNeeded(precision=precision, leader=None, left=left, enough=False)
    more = max(1, round(total - labels))
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


def labels_to_tell(
    ballots: Ballots, best: Leader, right: Floats, graded: Floats, *, alpha: float
) -> float | None:
    r"""Return about how many labels in all would tell *best* from every rival; None if unknown.

    With wins b and losses c against a rival among k labels, its sign test at one-sided level a
    needs about :math:`k (z_a + z_{.8})^2 (b + c)/(b - c)^2` labels in all (power .8). A rival with
    votes on other items needs intervals that do not meet. Nothing can be forecast against a rival
    that is not behind on the labels so far.

    >>> from tallystick.verbs.judge.sessions import by_labels
    >>> from tallystick.table import Tally
    >>> votes = {"x": [0] * 40, "y": [1] * 4 + [0] * 36, "gold": [0] * 40 + [None] * 960}
    >>> votes = Tally.of({name: (column * 25)[:1000] for name, column in votes.items()})
    >>> ballots, right = Ballots.of(votes, truth="gold"), np.array([40.0, 36.0])
    >>> graded = np.array([40.0, 40.0])
    >>> best = by_labels(ballots, right, graded, alpha=0.05)
    >>> round(labels_to_tell(ballots, best, right, graded, alpha=0.05))
    95
    """
    labels, judges = float(ballots.counts[ballots.truth >= 0].sum()), len(ballots.names)
    wins, losses, alike = against(ballots, best.place)
    normal = NormalDist()
    z = normal.inv_cdf(1 - alpha / 2 / judges) + normal.inv_cdf(_POWER)
    wide = normal.inv_cdf(1 - alpha / 4 / judges)

    # Judges without labelled votes, or level with the leader, give no number.
    with np.errstate(all="ignore"):
        paired = np.where(
            wins > losses, labels * (wins + losses) * (z / (wins - losses)) ** 2, np.nan
        )
        share = right / graded
        spread = np.sqrt(share * (1 - share) / graded)
        ahead = share[best.place] - share
        apart = np.where(
            ahead > 0, labels * (wide * (spread + spread[best.place]) / ahead) ** 2, np.nan
        )
    rivals = np.isin(ballots.names, best.rivals)
    most = float(np.max(np.where(alike, paired, apart)[rivals]))
    return most if np.isfinite(most) else None
