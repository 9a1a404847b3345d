"""One model on request: majority, independent trios, Dawid-Skene. None needs a label.

Each says how good the judges would be if its premise held, and none has an interval: a bias that
all judges share fits the votes perfectly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

import numpy as np

from tallystick.errors import NotIdentifiable
from tallystick.papers.noisy_judges import majority_scores, majority_shares
from tallystick.papers.noisy_judges.trio_quadratic import (
    Trios,
    TrioStatus,
    choose_branch,
    failure_modes,
    mirrored,
    solve_trios,
    unresolved_roots,
)
from tallystick.results import Interval
from tallystick.stats.latent_model import LatentFit, LatentOptions, as_votes, fit, fit_plain
from tallystick.table import Tally
from tallystick.table.panel import Floats, Panel
from tallystick.verbs.judge.label_free import (
    item_support,
    scores_without_labels,
    shares_without_labels,
    support_by_shares,
    with_answers,
)
from tallystick.verbs.judge.question import Known, Ranges, check_ranges, known_confusions
from tallystick.verbs.judge.result import JudgeResult, Solution
from tallystick.verbs.judge.verdict import (
    BETTER_THAN_CHANCE,
    GIVEN_RANGE,
    INDEPENDENCE,
    MAJORITY,
    MISSING_SAY_NOTHING,
    NEVER_RIGHT,
    SHARED_BIAS,
    as_stated,
    failed_trios,
    hardly_better,
    known_judges,
    of_baseline,
    proved,
    range_contradicted,
    trios_contradict,
)

_FAILED = get_args(TrioStatus)[1:]
_MOST_ROOTS = 20
_HARDLY = 0.05
_FAR = 0.05
"""A share without an interval that is so far outside a given range contradicts it."""
_SLACK = 1e-9
_SEEN = 1e-6
"""Items of a label below which its rate rests on nothing."""
_DIGITS = 6
"""Estimates on the edge come out of the iteration as 1e-12 or so: they are written as 0."""


def majority(votes: Tally | Panel, *, truth: str | None = None) -> JudgeResult:
    """Grade judges by the vote of all of them.

    The label with most votes is taken for the truth
    (`tallystick.papers.noisy_judges.majority_scores`), for any number of judges and
    labels. A tie of k labels counts 1/k for each.

    Parameters
    ----------
    votes, truth
        The tally, and a column to leave aside.

    Examples
    --------
    >>> votes = Tally.of({"ann": [0, 0, 1, 1], "bob": [0, 1, 1, 1], "eve": [0, 0, 0, 1]})
    >>> [score.accuracy for score in majority(votes).judges]
    [1.0, 0.75, 0.75]
    """
    panel = Panel.of(votes, truth=truth).blind
    right, mass = majority_scores(panel.codes, panel.counts, n_labels=panel.n_classes)
    empty = np.full_like(right, np.nan)
    rates = np.divide(right, mass, out=empty, where=mass > 0)
    whole = mass.sum(axis=1)
    overall = np.divide(right.sum(axis=1), whole, out=empty[:, 0].copy(), where=whole > 0)
    shares = majority_shares(panel.codes, n_labels=panel.n_classes)
    total = float(panel.counts[(panel.codes >= 0).any(axis=1)].sum())
    scores = scores_without_labels(panel, overall, rates)
    return JudgeResult(
        verdict=of_baseline(scores, MAJORITY),
        decision="undecided",
        n_items=round(panel.n),
        assumptions=(MAJORITY,),
        warnings=(SHARED_BIAS,),
        method="majority",
        judges=scores,
        prevalence=shares_without_labels(panel, panel.counts @ shares / total),
        votes=panel.votes,
        learnt=item_support(panel, support_by_shares(panel)).columns,
    )


# Trios of judges, exactly solved if their errors are independent.


def independent(
    votes: Tally | Panel,
    *,
    judges: Sequence[str] | None = None,
    truth: str | None = None,
    prevalence: Ranges | None = None,
) -> JudgeResult:
    """Grade three or more binary judges without labels, exactly if their errors are independent.

    A trio has two mirror points (`tallystick.papers.noisy_judges.trio_quadratic`): judges are taken
    to be better than chance, or a range of the prevalence picks one. With more than three judges
    every trio is solved and each number is the median over the trios that are sensible; overall
    accuracy puts these medians together.

    Parameters
    ----------
    votes, judges, truth
        The tally; which columns judge; a column to leave aside.
    prevalence
        Label to a range; picks the branch.

    Raises
    ------
    NotIdentifiable
        Fewer than three judges, or not one trio is sensible: the message says how each failed.

    Examples
    --------
    >>> from tallystick.papers.noisy_judges.correlated_judges import Point, simulate
    >>> point = Point(prevalence="1/2", accuracy={"x": ("9/10", "4/5"), "y": ("3/4", "3/4"), "z": ("2/3", "4/5")})
    >>> result = independent(simulate(point).tally, judges=["x", "y", "z"])
    >>> [round(score.accuracy, 9) for score in result.judges], round(result.prevalence["a"].estimate, 9)
    ([0.85, 0.75, 0.733333333], 0.5)
    """
    panel = Panel.of(votes, voters=judges, truth=truth).blind.answered
    panel.require_binary("independent")
    if len(panel.names) < 3:
        raise NotIdentifiable(
            f"{len(panel.names)} judge(s) without labels have infinitely many explanations: add"
            " judges up to three, label some items, or ask logical for what holds anyway"
        )
    ranges = check_ranges(prevalence, panel)
    first = ranges.get(0) if 0 in ranges or not ranges else (1 - ranges[1][1], 1 - ranges[1][0])
    trios = solve_trios(panel.codes, panel.counts)
    counts = {"trios": len(trios.status), **failure_modes(trios)}
    items = bool((panel.counts == np.floor(panel.counts)).all())
    if panel.complete and items and len(panel.names) <= _MOST_ROOTS:
        counts["unresolved root"] = unresolved_roots(panel.codes, panel.counts)

    modes = {mode: counts.get(mode, 0) for mode in _FAILED}
    failed = sum(modes.values())
    if not (trios.status == "sensible").any():
        told = ", ".join(f"{n} {mode}" for mode, n in counts.items() if n and mode != "trios")
        raise NotIdentifiable(
            f"no trio of judges has a sensible solution ({told}), which proves that their"
            " errors depend on one another or that items are too few: use dawid_skene, add judges,"
            " or label some items"
        )
    share, accuracy = medians(trios, panel, first)
    shares = np.array([share, 1 - share])
    scores = scores_without_labels(panel, accuracy @ shares, accuracy)
    branch = "better-than-chance" if first is None else "prevalence"
    solutions = _both_points(share, accuracy, panel, branch)
    alarms = [failed_trios(failed, counts["trios"], modes)] if failed else []
    doubt = trios_contradict(failed, counts["trios"])
    result = JudgeResult(
        verdict=of_baseline(scores, INDEPENDENCE, doubt),
        decision="undecided",
        n_items=round(panel.n),
        assumptions=(
            INDEPENDENCE,
            BETTER_THAN_CHANCE if first is None else GIVEN_RANGE,
        ),
        warnings=(SHARED_BIAS,),
        method="independent",
        judges=scores,
        prevalence=shares_without_labels(panel, shares),
        solutions=solutions,
        alarms=tuple(alarms),
        trios=counts,
    )
    return held_to_range(result, panel, prevalence)


def medians(trios: Trios, panel: Panel, first: tuple[float, float] | None) -> tuple[float, Floats]:
    """Return the first label's share and judges x 2 of accuracies: medians over the sensible trios
    on the branch that *first*, a range of that share, picks; NaN for a judge in none of them.
    """
    use = trios.status == "sensible"
    balance, accuracy = choose_branch(trios, prevalence=first)
    found = np.full((len(panel.names), 2), np.nan)
    for j in range(len(panel.names)):
        mine = (trios.judges == j) & use[:, None]
        if mine.any():
            found[j] = np.median(accuracy[mine], axis=0)
    share = float(np.clip(np.median(balance[use]), 0, 1))
    return share, np.clip(found, 0, 1)


def _both_points(
    balance: float, accuracy: Floats, panel: Panel, branch: str
) -> tuple[Solution, ...]:
    """Return the point on the branch and its mirror point."""
    other_balance, other = mirrored(np.array(balance), accuracy)
    points = ((balance, accuracy, branch), (float(other_balance), other, "the mirror point"))
    return tuple(
        Solution(
            prevalence={panel.keys[0]: float(share), panel.keys[1]: 1 - float(share)},
            accuracy={
                one.name: {key: part.estimate for key, part in one.per_label.items()}
                for one in scores_without_labels(panel, table[:, 0], table)
            },
            chosen=name == branch,
            branch=name,
        )
        for share, table, name in points
    )


# Whether a prevalence that was given agrees with what the votes or labels say.


def held_to_range(result: JudgeResult, panel: Panel, prevalence: Ranges | None) -> JudgeResult:
    """Return *result* with an alarm and a warning for every label whose share contradicts its given
    range.

    It contradicts if its interval misses the range, or its estimate does by far and there is no
    interval.
    """
    alarms = []
    for c, (low, high) in check_ranges(prevalence, panel).items():
        share = result.prevalence.get(panel.keys[c])
        if share is None or not isinstance(share.estimate, float):
            continue
        ends: tuple[float, ...] = (share.estimate - _FAR, share.estimate + _FAR)
        if isinstance(share.interval, Interval):
            ends = tuple(share.interval)
        if max(ends) < low - _SLACK or min(ends) > high + _SLACK:
            alarms.append(range_contradicted(panel.keys[c], (low, high), result.method, share))
    return replace(
        result,
        alarms=(*result.alarms, *alarms),
        warnings=(*map(proved, alarms), *result.warnings),
    )


# Dawid-Skene: any number of judges, labels and gaps, by likelihood.


def dawid_skene(
    votes: Tally | Panel, *, truth: str | None = None, known: Known | None = None
) -> JudgeResult:
    """Grade judges without labels by the latent-class model of Dawid and Skene.

    Maximum likelihood from the majority vote, for any number of labels and with missing votes
    (`tallystick.stats.latent_model`, equation L1). Everything holds only if judges err
    independently given the label. Where some votes can never be true (tie, refusal), truth is
    fitted over the possible labels and votes over all.

    Parameters
    ----------
    votes, truth
        The tally, and a column of true labels that is left aside: this estimate uses votes only, so
        that labels can test it.
    known
        Judge to label to known accuracy. With all judges known only the prevalence is estimated:
        the environment is monitored, not the judges [CE23]_, section 6. A wrong vote is taken to
        fall evenly on the other labels.

    Examples
    --------
    >>> from tallystick.papers.noisy_judges.correlated_judges import Point, simulate
    >>> point = Point(prevalence="1/2", accuracy={"x": ("9/10", "4/5"), "y": ("3/4", "3/4"), "z": ("2/3", "4/5")})
    >>> votes = simulate(point).tally
    >>> [round(score.accuracy, 4) for score in dawid_skene(votes, truth="truth").judges]
    [0.85, 0.75, 0.7333]
    >>> known = {"x": {"a": 0.9, "b": 0.8}, "y": {"a": 0.75, "b": 0.75}, "z": {"a": 2 / 3, "b": 0.8}}
    >>> round(dawid_skene(votes, truth="truth", known=known).prevalence["a"].estimate, 4)
    0.5
    """
    panel = Panel.of(votes, truth=truth).blind
    if known:
        panel = panel.answered  # the quality of a known judge is about its answers
    return dawid_skene_result(panel, fit_panel(panel, known=known), known=known)


def fit_panel(panel: Panel, *, known: Known | None = None) -> LatentFit:
    """Fit the latent-class model to votes alone."""
    sizes = {"n_classes": panel.n_classes, "n_votes": len(panel.labels)}
    options = LatentOptions(confusion=known_confusions(known, panel)) if known else LatentOptions()
    try:
        if panel.extras:  # one pseudo-vote per row: a judge may never have cast an extra vote
            return fit_plain(as_votes(panel.codes, panel.counts, **sizes), panel.n_classes)
        return fit(panel.codes, panel.counts, **sizes, options=options)
    except NotIdentifiable as error:
        raise NotIdentifiable(
            f"dawid_skene cannot grade {', '.join(panel.names[:6])} without labels: {error}; or"
            " ask logical for what holds anyway"
        ) from error


def dawid_skene_result(panel: Panel, fitted: LatentFit, *, known: Known | None) -> JudgeResult:
    """Write a fit as a result."""
    seen = fitted.n_effective
    rates = np.diagonal(fitted.confusion[:, :, : panel.n_classes], axis1=1, axis2=2)
    rates = np.where(seen > _SEEN, np.round(rates, _DIGITS), np.nan)
    overall = fitted.accuracy.copy()
    for j, name in enumerate(panel.names):
        if known and name in known:  # what is stated, over the items that it saw
            overall[j] = seen[j] @ np.nan_to_num(rates[j]) / seen[j].sum()
    scores = scores_without_labels(panel, np.round(overall, _DIGITS), rates)
    scores = tuple(with_answers(one, panel, j) for j, one in enumerate(scores))

    mean = float(fitted.accuracy.mean())
    weak = not known and mean < 1 / panel.n_classes + _HARDLY
    verdict = of_baseline(scores, INDEPENDENCE)
    if known and len(known) == len(panel.names):
        verdict = known_judges(dict(zip(panel.keys, fitted.balance.tolist(), strict=True)))
    return JudgeResult(
        verdict=verdict,
        decision="undecided",
        n_items=round(panel.n),
        assumptions=(
            *(INDEPENDENCE, BETTER_THAN_CHANCE, MISSING_SAY_NOTHING),
            *((NEVER_RIGHT,) if panel.extras else ()),
            *((as_stated(sorted(known)),) if known else ()),
        ),
        warnings=(SHARED_BIAS, *((hardly_better(mean),) if weak else ())),
        method="dawid-skene",
        judges=scores,
        prevalence=shares_without_labels(panel, fitted.balance),
        never_true=tuple(map(str, panel.extras)),
        votes=panel.votes,
        learnt=item_support(panel, support_by_shares(panel)).columns,
    )
