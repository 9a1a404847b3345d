"""Dawid-Skene: any number of judges, labels and gaps, by likelihood."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tallystick.errors import InputError, NotIdentifiable
from tallystick.results import Interval, Unknown
from tallystick.stats.latent_checks import fit_unreadable, support
from tallystick.stats.latent_covotes import with_extras
from tallystick.stats.latent_fit import LatentFit, LatentInformation, fit, information
from tallystick.stats.latent_model import LatentOptions
from tallystick.table import Tally
from tallystick.table.cells import Label
from tallystick.table.panel import Floats, Panel
from tallystick.verbs.judge.independent import Known, known_table
from tallystick.verbs.judge.label_free import item_support, support_by_shares
from tallystick.verbs.judge.result import JudgeResult
from tallystick.verbs.judge.scores import JudgeScore, LabelScore, Range, Share
from tallystick.verbs.judge.verdict import (
    BETTER_THAN_CHANCE,
    INDEPENDENCE,
    MISSING_SAY_NOTHING,
    NEVER_RIGHT,
    OFF_THE_MODEL,
    SHARED_BIAS,
)
from tallystick.verbs.judge.verdict_methods import (
    as_stated,
    hardly_better,
    known_judges,
    no_intervals,
    of_baseline,
)

_MOST_PARAMETERS = 700
_HARDLY = 0.05
_UNSEEN = "A bias that all judges share would not show."
_DIGITS = 6
"""Estimates on the edge come out of the iteration as 1e-12 or so: they are written as 0."""


def dawid_skene(
    votes: Tally | Panel,
    *,
    judges: Sequence[str] | None = None,
    truth: str | None = None,
    labels: Sequence[Label] = (),
    known: Known | None = None,
    alpha: float = 0.05,
) -> JudgeResult:
    """Grade judges without labels by the latent-class model of Dawid and Skene.

    Maximum likelihood from the majority vote, for any number of labels and with missing votes
    (`tallystick.stats.latent`, equation L1); intervals from the observed information on the logit
    scale. Everything holds only if judges err independently given the label: off the model the
    intervals fail, however narrow.

    Where some votes can never be true (tie, refusal), truth is fitted over the possible labels and
    votes over all (`tallystick.stats.latent_covotes.with_extras`). The interval is then withheld on
    weak panels, where it fails.

    Parameters
    ----------
    votes, judges, labels
        The tally; which columns judge; labels that nobody voted for.
    truth
        A column of true labels, left aside: this estimate uses votes only, so that labels can test
        it.
    known
        Judge to label to known accuracy. With all judges known only the prevalence is estimated:
        the environment is monitored, not the judges [CE23]_, section 6. A wrong vote is taken to
        fall evenly on the other labels.
    alpha
        One minus the level.

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
    panel = Panel.of(votes, voters=judges, truth=truth, labels=labels).blind
    if panel.extras and not known:
        return _with_extras(panel, alpha)
    panel = panel.answered  # the quality of a known judge is about its answers
    fitted = fit_panel(panel, known=known)
    return dawid_skene_result(panel, fitted, known=known, alpha=alpha)


def fit_panel(panel: Panel, *, known: Known | None = None) -> LatentFit:
    """Fit the latent-class model to votes alone."""
    options = LatentOptions(confusion=_confusions(known, panel)) if known else LatentOptions()
    try:
        return fit(
            panel.codes,
            panel.counts,
            n_classes=len(panel.classes),
            n_votes=len(panel.classes) + len(panel.extras),
            options=options,
        )
    except NotIdentifiable as error:
        raise NotIdentifiable(
            f"dawid_skene cannot grade {', '.join(panel.names[:6])} without labels: {error}; or"
            " ask logical for what holds anyway"
        ) from error


def dawid_skene_result(
    panel: Panel, fitted: LatentFit, *, known: Known | None, alpha: float
) -> JudgeResult:
    """Write a fit as a result."""
    warnings = [SHARED_BIAS, OFF_THE_MODEL]
    ends, reason = _information(panel, fitted)
    if reason:
        warnings.append(no_intervals(reason))
    mean = float(fitted.accuracy.mean())
    if not known and mean < 1 / len(panel.classes) + _HARDLY:
        warnings.append(hardly_better(mean))
    level = 1 - alpha
    table = None if ends is None else ends.confusion_interval(level)
    overall = None if ends is None else ends.accuracy_interval(level)
    shares = None if ends is None else ends.balance_interval(level)
    reason = reason or "known beforehand, on the edge, or resting on no vote"
    weight = fitted.n_effective
    accuracy = overall_accuracy(panel, fitted, known)
    scores = []
    for j, name in enumerate(panel.names):
        parts = {}
        for c, key in enumerate(panel.keys):
            held = weight[j, c] > 1e-6
            parts[key] = LabelScore(
                estimate=(
                    round(float(fitted.confusion[j, c, c]), _DIGITS)
                    if held
                    else Unknown(f"{name} saw no item of {key}")
                ),
                interval=_ends(
                    None if table is None else (table[0][j, c, c], table[1][j, c, c]), alpha, reason
                ),
            )
        scores.append(
            JudgeScore(
                name=name,
                accuracy=round(float(accuracy[j]), _DIGITS),
                interval=_ends(
                    None if overall is None else (overall[0][j], overall[1][j]), alpha, reason
                ),
                per_label=parts,
                votes=float(panel.voted[j]),
            )
        )
    prevalence = {
        key: Share(
            estimate=float(fitted.balance[c]),
            interval=_ends(None if shares is None else (shares[0][c], shares[1][c]), alpha, reason),
        )
        for c, key in enumerate(panel.keys)
    }
    if known and len(known) == len(panel.names):
        verdict = known_judges({key: float(fitted.balance[c]) for c, key in enumerate(panel.keys)})
    else:
        verdict = of_baseline(scores, "errors were independent", _UNSEEN)
    assumptions = [INDEPENDENCE, BETTER_THAN_CHANCE, MISSING_SAY_NOTHING]
    if known:
        assumptions.append(as_stated(sorted(known)))
    return JudgeResult(
        verdict=verdict,
        decision="undecided",
        n_items=round(panel.n),
        assumptions=tuple(assumptions),
        warnings=tuple(warnings),
        method="dawid-skene",
        judges=tuple(scores),
        prevalence=prevalence,
        votes=panel.votes,
        learnt=item_support(panel, support_by_shares(panel)).columns,
    )


def _with_extras(panel: Panel, alpha: float) -> JudgeResult:
    """Grade judges whose votes include some that are never true."""
    n_labels = len(panel.classes)
    fitted = fit_unreadable(
        panel.codes, panel.counts, n_labels=n_labels, n_votes=n_labels + len(panel.extras)
    )
    found = with_extras(fitted, level=1 - alpha)
    table = fitted.plain.model.confusion
    reason = Unknown("with votes that are never true only the overall accuracy has an interval")
    scores = tuple(
        JudgeScore(
            name=name,
            accuracy=round(float(found.accuracy[j]), _DIGITS),
            interval=found.intervals[j],
            per_label={
                key: LabelScore(estimate=round(float(table[j, c, c]), _DIGITS), interval=reason)
                for c, key in enumerate(panel.keys)
            },
            votes=float(panel.voted[j]),
            answered=float(found.answered[j]),
            when_answered=Share(
                estimate=(
                    float(found.when_answered[j])
                    if np.isfinite(found.when_answered[j])
                    else Unknown(f"{name} never answers")
                ),
                interval=reason,
            ),
        )
        for j, name in enumerate(panel.names)
    )
    withheld = next((one.reason for one in found.intervals if isinstance(one, Unknown)), "")
    return JudgeResult(
        verdict=of_baseline(scores, "errors were independent", _UNSEEN),
        decision="undecided",
        n_items=round(panel.n),
        assumptions=(INDEPENDENCE, BETTER_THAN_CHANCE, MISSING_SAY_NOTHING, NEVER_RIGHT),
        warnings=(SHARED_BIAS, *((no_intervals(withheld),) if withheld else (OFF_THE_MODEL,))),
        method="dawid-skene",
        judges=scores,
        prevalence={
            key: Share(estimate=float(found.balance[c]), interval=reason)
            for c, key in enumerate(panel.keys)
        },
        never_true=tuple(map(str, panel.extras)),
        votes=panel.votes,
        learnt=item_support(panel, support(fitted)).columns,
    )


def overall_accuracy(panel: Panel, fitted: LatentFit, known: Known | None) -> Floats:
    """Return each judge's accuracy over its own items: what the votes say, or what is stated where
    it is known.
    """
    accuracy = fitted.accuracy.copy()
    for j, name in enumerate(panel.names):
        if known and name in known:
            weight = fitted.n_effective[j]
            accuracy[j] = weight @ np.diagonal(fitted.confusion[j]) / weight.sum()
    return accuracy


def _information(panel: Panel, fitted: LatentFit) -> tuple[LatentInformation | None, str]:
    """Return the information, or the reason why there is none."""
    size = len(panel.names) * len(panel.classes) * (len(panel.classes) - 1)
    if size > _MOST_PARAMETERS:
        return (
            None,
            (
                f"{size} parameters are too many for an information matrix: judge fewer at a time"
                " for intervals"
            ),
        )
    try:
        return information(fitted), ""
    except NotIdentifiable as error:
        return None, str(error)


def _ends(ends: tuple[float, float] | None, alpha: float, reason: str) -> Range:
    if ends is None or not np.isfinite(ends).all():
        return Unknown(reason)
    return Interval(
        float(ends[0]),
        float(ends[1]),
        level=1 - alpha,
        guarantee="under",
        assumption=INDEPENDENCE,
        method="information",
    )


def _confusions(known: Known, panel: Panel) -> dict[int, Floats]:
    table = known_table(known, panel)
    n_classes = len(panel.classes)
    found: dict[int, Floats] = {}
    for j, name in enumerate(panel.names):
        if name not in known:
            continue
        if not np.isfinite(table[j]).all():
            raise InputError(
                f"known: give the accuracy of {name!r} on every label of {list(panel.classes)}"
            )
        matrix = np.repeat(((1 - table[j]) / (n_classes - 1))[:, None], n_classes, axis=1)
        np.fill_diagonal(matrix, table[j])
        found[j] = matrix
    return found
