"""Majority vote as an evaluator: it decides the answers and grades everybody by them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from tallystick.papers.noisy_judges.baselines import (
    majority_scores,
    majority_shares,
)
from tallystick.results import Interval, Unknown
from tallystick.stats.agreement import Agreement, cohen_kappa, fleiss_kappa, gwet_ac1, raw_agreement
from tallystick.stats.agreement_ordinal import krippendorff_alpha, mean_bias, within_one
from tallystick.stats.intervals import wilson
from tallystick.table import Tally
from tallystick.table.cells import Label
from tallystick.table.panel import Ints, Panel
from tallystick.table.patterns import pack
from tallystick.verbs.judge.label_free import item_support, support_by_shares
from tallystick.verbs.judge.result import JudgeResult
from tallystick.verbs.judge.scores import (
    AgreementPair,
    AgreementTable,
    JudgeScore,
    LabelScore,
    Share,
)
from tallystick.verbs.judge.verdict import ALWAYS_LOOKS_RIGHT, MAJORITY
from tallystick.verbs.judge.verdict_methods import few_for_majority, of_baseline, tied_items


def majority(
    votes: Tally | Panel,
    *,
    judges: Sequence[str] | None = None,
    truth: str | None = None,
    labels: Sequence[Label] = (),
    leave_one_out: bool = False,
    alpha: float = 0.05,
) -> JudgeResult:
    """Grade judges by the vote of all of them.

    The label with most votes is taken for the truth
    (`tallystick.papers.noisy_judges.baselines.majority_scores`), for any number of judges and
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
    panel = Panel.of(votes, voters=judges, truth=truth, labels=labels).blind
    n_labels = len(panel.classes)
    right, mass = majority_scores(
        panel.codes, panel.counts, n_labels=n_labels, leave_one_out=leave_one_out
    )
    shares = majority_shares(panel.codes, n_labels=n_labels)
    name = "majority of the others" if leave_one_out else "majority"
    scores = []
    for j, judge in enumerate(panel.names):
        parts = {
            key: _part(float(right[j, c]), float(mass[j, c]), alpha, key)
            for c, key in enumerate(panel.keys)
        }
        whole = _part(float(right[j].sum()), float(mass[j].sum()), alpha, "any label")
        scores.append(
            JudgeScore(
                name=judge,
                accuracy=whole.estimate,
                interval=whole.interval,
                per_label=parts,
                votes=float(panel.voted[j]),
            )
        )
    said = (panel.codes >= 0).any(axis=1)
    total = float(panel.counts[said].sum())
    prevalence = {}
    for c, key in enumerate(panel.keys):
        part = _part(float(panel.counts @ shares[:, c]), total, alpha, key)
        prevalence[key] = Share(estimate=part.estimate, interval=part.interval)
    tied = float(panel.counts @ (said & (shares.max(axis=1) < 1)))
    warnings = [ALWAYS_LOOKS_RIGHT]
    if tied:
        warnings.append(tied_items(tied, total))
    if len(panel.names) < 3:
        warnings.append(few_for_majority(len(panel.names)))
    premise = f"the {name} were always right"
    return JudgeResult(
        verdict=of_baseline(scores, premise, "Nothing here tests that."),
        decision="undecided",
        n_items=round(panel.n),
        assumptions=(MAJORITY,),
        warnings=tuple(warnings),
        method=name,
        judges=tuple(scores),
        prevalence=prevalence,
        votes=panel.votes,
        learnt=item_support(panel, support_by_shares(panel)).columns,
    )


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


# How far the judges agree with one another and with the truth, beyond chance and without.
#
# All coefficients are those of `tallystick.stats.agreement`; the number is exact for these items
# and the interval is for new items of the same kind. Pairs are counted in tables of K x K votes, so
# their cost does not grow with the number of different patterns.


MOST_PAIRED = 40
"""Judges up to which every pair is listed: 40 judges have 780 pairs."""

_FEW = 5


def panel_agreement(panel: Panel, *, alpha: float) -> AgreementTable | None:
    """Return every agreement statistic of a panel; None where items are weighted.

    Numbers as labels (1 to 5) are read as grades in order, and get the ordinal statistics besides.

    Examples
    --------
    >>> from tallystick.table import Tally
    >>> votes = Tally.of({"a": [0, 0, 1, 1], "b": [0, 0, 1, 0], "gold": [0, 0, 1, None]})
    >>> found = panel_agreement(Panel.of(votes, truth="gold"), alpha=0.05)
    >>> found.pairs[0].raw.estimate, found.with_truth[0].kappa.estimate
    (0.75, 1.0)
    """
    if panel.weight is not None or (panel.counts != np.floor(panel.counts)).any():
        return None
    names, level = panel.names, 1 - alpha
    values = grades_of(panel.classes)
    between: dict[str, Share] = {}
    blind = panel.blind
    if len(names) > 1:
        between = _between(blind, values, level)

    pairs: list[AgreementPair] = []
    if len(names) <= MOST_PAIRED:
        for i, j in itertools.combinations(range(len(names)), 2):
            codes, counts = _pair_counts(blind, blind.codes[:, i], blind.codes[:, j])
            pairs.append(_pair(names[i], names[j], codes, counts, panel, values, level))

    with_truth: list[AgreementPair] = []
    if (panel.truth >= 0).any():
        for j, name in enumerate(names):
            codes, counts = _pair_counts(panel, panel.codes[:, j], panel.truth)
            with_truth.append(_pair(name, "truth", codes, counts, panel, values, level))
    return AgreementTable(
        between=between,
        pairs=tuple(pairs),
        with_truth=tuple(with_truth),
        ordinal=values is not None,
        note=_note(blind, between),
    )


def grades_of(classes: Sequence[Label]) -> tuple[float, ...] | None:
    """Return the numbers that labels stand for; None unless there are three or more, all numbers.

    >>> grades_of((1, 2, 3)), grades_of((0, 1)), grades_of(("a", "b", "c"))
    ((1.0, 2.0, 3.0), None, None)
    """
    numbers = [label for label in classes if isinstance(label, int | float)]
    if len(classes) < 3 or len(numbers) < len(classes):
        return None
    if any(isinstance(label, bool) for label in numbers):
        return None
    return tuple(float(label) for label in numbers)


def _between(blind: Panel, values: tuple[float, ...] | None, level: float) -> dict[str, Share]:
    """Return the statistics of all judges together."""
    size = len(blind.classes) + len(blind.extras)
    shared: dict[str, Any] = {"n_labels": size, "level": level}
    # The coefficients only need how many judges gave each label, so patterns are merged by that.
    codes, counts = _merged(blind)
    found = {
        "raw": raw_agreement(codes, counts, **shared),
        "fleiss_kappa": fleiss_kappa(codes, counts, **shared),
        "krippendorff_alpha": krippendorff_alpha(codes, counts, **shared),
        "gwet_ac1": gwet_ac1(codes, counts, **shared),
    }
    if values is not None:
        plain = blind.answered
        codes, counts = _merged(plain)
        own: dict[str, Any] = {"n_labels": len(plain.classes), "level": level}
        found["krippendorff_alpha_ordinal"] = krippendorff_alpha(
            codes, counts, metric="ordinal", **own
        )
        found["krippendorff_alpha_interval"] = krippendorff_alpha(
            codes, counts, metric="interval", values=values, **own
        )
    return {name: _share(one) for name, one in found.items()}


def _merged(panel: Panel) -> tuple[Ints, Any]:
    """Return patterns with their votes sorted, equal ones merged."""
    codes = np.sort(panel.codes, axis=1)
    sizes = [len(panel.classes) + len(panel.extras) + 1] * codes.shape[1]
    # One sortable key per pattern: comparing rows column by column takes seconds with 100 labels.
    _, first, member = np.unique(
        pack((codes + 1).astype(np.int32), sizes), return_index=True, return_inverse=True
    )
    return codes[first], np.bincount(member.ravel(), weights=panel.counts)


def _pair_counts(panel: Panel, first: Ints, second: Ints) -> tuple[Ints, Any]:
    """Return the pairs of votes of two columns that occur on common items, with their counts."""
    size = len(panel.classes) + len(panel.extras)
    both = (first >= 0) & (second >= 0)
    cells = np.bincount(
        first[both] * size + second[both], weights=panel.counts[both], minlength=size * size
    )
    seen = np.flatnonzero(cells)
    return np.stack((seen // size, seen % size), axis=1), cells[seen]


def _pair(
    a: str,
    b: str,
    codes: Ints,
    counts: Any,
    panel: Panel,
    values: tuple[float, ...] | None,
    level: float,
) -> AgreementPair:
    """Return the statistics of two columns of votes."""
    size = len(panel.classes) + len(panel.extras)
    own: dict[str, Any] = {"n_labels": size, "level": level}
    if not len(codes):
        none = Unknown(f"no item has a vote of {a} and of {b}")
        empty = Share(estimate=none, interval=none)
        return AgreementPair(a=a, b=b, n_items=0, raw=empty, kappa=empty, gwet_ac1=empty)
    more: dict[str, Share] = {}
    if values is not None:
        possible = (codes < len(panel.classes)).all(axis=1)
        ordered: Mapping[str, Callable[..., Agreement]] = {
            "weighted_kappa": partial(cohen_kappa, weights="quadratic"),
            "within_one": within_one,
            "bias": partial(mean_bias, values=values),
        }
        if possible.any():
            grades: dict[str, Any] = {"n_labels": len(panel.classes), "level": level}
            more = {
                name: _share(function(codes[possible], counts[possible], **grades))
                for name, function in ordered.items()
            }
    return AgreementPair(
        a=a,
        b=b,
        n_items=int(counts.sum()),
        raw=_share(raw_agreement(codes, counts, **own)),
        kappa=_share(cohen_kappa(codes, counts, **own)),
        gwet_ac1=_share(gwet_ac1(codes, counts, **own)),
        **more,
    )


def _share(found: Agreement) -> Share:
    return Share(estimate=found.estimate, interval=found.interval)


def _note(blind: Panel, between: Mapping[str, Share]) -> str:
    """Say what limits the numbers; empty where nothing does."""
    if not between:
        return ""
    votes = np.sort(blind.vote_counts.sum(axis=0))[::-1]
    if len(votes) > 1 and votes[1] < _FEW * len(blind.names):
        return (
            "one label is so rare that kappa is hardly determined: read plain agreement and AC1"
            " beside it"
        )
    if len(blind.names) > MOST_PAIRED:
        return f"pairs are left out: they are listed for up to {MOST_PAIRED} judges"
    return ""
