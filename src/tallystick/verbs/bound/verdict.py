"""The sentences of bound: the verdict, the decision, what would settle it, and what to beware of.

From 20 random labels a likelihood interval decides, whatever the label models are worth. Without
them nothing is decided, because errors that the weak labels share leave no trace in the votes:
every range, of all of seven label models or of one that the caller named, is a sentence with "if".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from tallystick.papers.frechet_bounds import Summary
from tallystick.results import (
    Decision,
    Interval,
    Needed,
    Sentences,
    Unknown,
    count,
    number,
    p_value,
    percent,
    percent_interval,
)
from tallystick.stats.adverse_binary import AdverseEstimate
from tallystick.stats.adverse_forecast import Outlook, settle_at, share_outlook
from tallystick.stats.adverse_ratios import (
    adverse_accuracy,
    adverse_f1,
    adverse_precision,
    adverse_recall,
    f1_outlook,
    precision_outlook,
    recall_outlook,
)
from tallystick.verbs.bound.forward import FloatArray, IntArray
from tallystick.verbs.bound.label_model_checks import LabelModelAudit, Prepared
from tallystick.verbs.bound.result import Bound, GoldEstimate
from tallystick.verbs.bound.weak_votes import BoundTarget, WeakTable

_SINGLETONS = 0.02
_RANDOM = "labelled rows, drawn at random"
_NOT_SHARED = "If the weak labels share no errors"
_OFF = 0.1
"""How far from a claim the truth is taken to be where nothing is known of it, and the half-width
that is forecast."""


@dataclass(frozen=True, kw_only=True)
class Conclusion:
    """A verdict, whether it decides, what would settle it, and the same line by line."""

    verdict: str
    decision: Decision
    needed: Needed | None = None
    sentences: Sentences | None = None


@dataclass(frozen=True, kw_only=True)
class NamedModel:
    """A label model that the caller named: its bound, what it rests on, what the data say of it."""

    bound: Bound
    one: Prepared
    audit: LabelModelAudit


def metric_name(metric: str, positive: object, prediction: str) -> str:
    """Name a metric of a classifier: "accuracy of clf", "recall of clf for class spam"."""
    word = {"f1": "F1", "macro-f1": "macro-F1", "micro-f1": "micro-F1", "auc": "AUC"}
    of_class = "" if positive is None else f" for class {positive}"
    return f"{word.get(metric, metric)} of {prediction}{of_class}"


def shown(value: float, metric: str) -> str:
    """Write a rate as a percentage, a risk as a number."""
    return number(value) if metric == "risk" else percent(value)


def between(low: float, high: float, metric: str) -> str:
    """Write a range."""
    return f"between {shown(low, metric)} and {shown(high, metric)}"


def first_labels(rows: int, target: BoundTarget | None = None, *, had: int = 0) -> Needed:
    """Ask for the first random labels, and say how many would tell; never more than there are rows.

    Parameters
    ----------
    rows
        Rows of the table.
    target
        What is asked; None where no number of labels can be forecast for it.
    had
        Labels that are there.
    """
    least = min(ENOUGH, rows)
    parts = [f"{least} replace the label models"]
    if target is not None and target.metrics[0] in ("accuracy", "micro-f1"):
        claim = target.at_least
        if claim is None:
            sure = NormalDist().inv_cdf(1 - target.alpha / 2) / _OFF
            most = 0.25 * sure**2 / (1 + 0.25 * sure**2 / rows)
            aim = f"give ± {100 * _OFF:.0f} points"
        else:
            # The accuracy nearest to a half that is so far off has the most variance.
            worst = min((abs(claim + off - 0.5), claim + off) for off in (_OFF, -_OFF))[1]
            most = settle_at(_OFF, worst * (1 - worst), rows, alpha=target.alpha)
            aim = (
                f"tell whether it is at least {percent(claim)} if it is {100 * _OFF:.0f} points off"
            )
        parts.append(f"about {count(min(rows, math.ceil(most)))} {aim}")
    return Needed(max(1, least - had), f"{_RANDOM} ({'; '.join(parts)})")


# -- verdicts


def conclude_from_labels(
    prediction: str, found: GoldEstimate, target: BoundTarget, needed: int | None, rows: int
) -> Conclusion:
    """Conclude from the interval of the labels; *needed* is the forecast of labels in all."""
    name = metric_name(found.metric, found.positive, prediction)
    low, high = found.interval.low, found.interval.high
    value = (
        between(low, high, found.metric)
        if isinstance(found.estimate, Unknown)
        else percent_interval(found.estimate, found.interval)
    )
    level = f"{100 * (1 - target.alpha):g} %"
    is_ = (
        f"{value} on these {count(rows)} rows ({level} interval from {count(found.labels)} random"
        " labels; it trusts no label model)"
    )
    claim = target.at_least
    if claim is None:
        return Conclusion(verdict=f"The {name} is {is_}.", decision="decided")
    if low >= claim:
        return Conclusion(
            verdict=f"The {name} is at least {percent(claim)}: it is {is_}.", decision="decided"
        )
    if high < claim:
        return Conclusion(
            verdict=f"The {name} is below {percent(claim)}: it is {is_}.", decision="decided"
        )
    more = None if needed is None else max(1, needed - found.labels)
    if found.labels >= rows:
        more = None
    return Conclusion(
        verdict=f"We cannot tell whether the {name} is at least {percent(claim)}: it is {is_}.",
        decision="undecided",
        needed=Needed(more, f"{_RANDOM} (of {count(rows)}), if the estimate is right"),
    )


def conclude_from_votes(
    prediction: str,
    robust: Bound | None,
    distance: float | Unknown,
    target: BoundTarget,
    named: NamedModel | None,
    *,
    rows: int,
    labels: int,
) -> Conclusion:
    """Say what follows if no error is shared; without 20 labels nothing is decided."""
    first = robust if robust is not None else named.bound if named is not None else None
    if first is None:
        raise TypeError("nothing to conclude from")
    name = metric_name(first.metric, first.positive, prediction)
    if first.low is None or first.high is None:
        reason = first.lower.reason if isinstance(first.lower, Unknown) else "unknown"
        return Conclusion(verdict=f"The {name} cannot be bounded: {reason}.", decision="unknowable")

    condition = "" if named is None else _conditional(name, named, target, alone=robust is None)
    told = Sentences(answer=condition)
    if robust is not None and robust.low is not None and robust.high is not None:
        without = "Without labels" if not labels else f"With fewer than {ENOUGH} labels"
        claim = target.at_least
        open_ = (
            f"the {name} is not settled"
            if claim is None
            else f"we cannot tell whether the {name} is at least {percent(claim)}"
        )
        ranged = (
            f"{_NOT_SHARED}, it is {between(robust.low, robust.high, robust.metric)} (under all of"
            f" seven label models, widened by their distance of {_tv(distance)})"
        )
        told = Sentences(answer=f"{without} {open_}. {ranged}.", contrast=condition)
    return Conclusion(
        verdict=told.verdict,
        decision="undecided",
        needed=first_labels(rows, target, had=labels),
        sentences=told,
    )


def _conditional(name: str, named: NamedModel, target: BoundTarget, *, alone: bool) -> str:
    """Say what a named label model would give, and whether the data contradict it."""
    bound = named.bound
    if bound.low is None or bound.high is None:
        reason = bound.lower.reason if isinstance(bound.lower, Unknown) else "unknown"
        return f"Under the label model {bound.label_model} it cannot be bounded: {reason}."
    who = f"the {name}" if alone else "it"
    sentence = (
        f"{_if(named.one, target)}, {who} is {between(bound.low, bound.high, bound.metric)}"
        f" ({100 * (1 - target.alpha):g} %)"
    )
    if named.audit.votes_contradict is True:
        return f"{sentence}; but the votes contradict that, so do not rely on it."
    return f"{sentence}."


def _if(one: Prepared, target: BoundTarget) -> str:
    """Return the condition under which the bounds of a label model hold."""
    if one.assumption is None:
        start = f"With the label model {one.model.name} corrected by labels"
    else:
        start = f"If {one.assumption}"
    if target.delta:
        start += f" and wrong by at most {_tv(target.delta)} on average"
    return start


def _tv(distance: float | Unknown) -> str:
    """Write a total-variation distance in points."""
    return "an unknown amount" if isinstance(distance, Unknown) else f"{100 * distance:.1f} points"


def conclude_thresholds(
    score: str, bounds: Sequence[Bound], gold: Sequence[GoldEstimate], rows: int, alpha: float
) -> Conclusion:
    """Conclude for a score: the threshold with the largest lower end, from labels or robustly."""
    level = f"{100 * (1 - alpha):g} %"
    if gold:
        first = gold[0].metric
        found = [g for g in gold if g.metric == first]
        top = max(found, key=lambda g: g.interval.low)
        name = metric_name(first, top.positive, score)
        return Conclusion(
            verdict=(
                f"The {name} is safest at threshold {top.threshold:g}:"
                f" {between(top.interval.low, top.interval.high, first)} ({level}, from"
                f" {count(top.labels)} random labels, one threshold at a time)."
            ),
            decision="decided",
        )
    first = bounds[0].metric
    own = [
        b
        for b in bounds
        if b.metric == first and b.label_model == bounds[0].label_model and b.low is not None
    ]
    if not own:
        return Conclusion(
            verdict=f"The {first} of {score} cannot be bounded at any threshold.",
            decision="unknowable",
        )
    best = max(own, key=lambda b: b.low or 0.0)
    name = metric_name(first, best.positive, score)
    condition = (
        _NOT_SHARED
        if best.method == "robust"
        else f"If the label model {best.label_model} is right"
    )
    told = Sentences(
        answer=f"{condition}, the {name} is safest at threshold {best.threshold:g}:"
        f" {between(best.low or 0.0, best.high or 1.0, first)}.",
        contrast=f"The ranges of all {len(own)} thresholds hold at once ({level}).",
        open="Not settled: without labels nothing is decided.",
    )
    return Conclusion(
        verdict=told.verdict, decision="undecided", needed=first_labels(rows), sentences=told
    )


def conclude_pairs(
    best: object, decided: int, pairs: int, *, labels: int, rows: int, robust: bool
) -> Conclusion:
    """Conclude for several classifiers: only labels tell them apart."""
    told = f"{decided} of {pairs} pairs are told apart"
    if labels >= ENOUGH:
        return Conclusion(
            verdict=f"{best} is the safest choice; {told} by {count(labels)} random labels.",
            decision="decided" if decided == pairs else "undecided",
        )
    condition = _NOT_SHARED if robust else "If the label model is right"
    return Conclusion(
        verdict=(
            "Without labels we cannot tell which classifier is best."
            f" {condition}, {best} is the safest choice, and {told}."
        ),
        decision="undecided",
        needed=first_labels(rows, had=labels),
    )


# -- what it rests on, and what to beware of


def assumptions_of(
    ready: Sequence[Prepared], *, labelled: bool, robust: str | None = None
) -> tuple[str, ...]:
    """Return what the answer rests on; *labelled* says that evaluated rows have true labels."""
    # What the headline rests on comes first: a terminal shows one line of this.
    out = [] if robust is None else [f"for the robust range: {robust}"]
    out.append("the rows are a random sample of what the classifier is used on")
    if labelled:
        out.append("the labelled rows are a random sample of the rows")
    else:
        out += [
            f"the {int(one.model.labelled[1].sum()):,} labelled rows of the label model"
            f" {one.model.name} are a random sample of what the classifier is used on"
            for one in ready
            if one.model.labelled is not None
        ]
    out += [
        f"for the bounds under {one.model.name}: {one.assumption}"
        for one in ready
        if one.assumption is not None
    ]
    return tuple(dict.fromkeys(out))


def warnings_of(
    table: WeakTable, ready: Sequence[Prepared], audits: Sequence[LabelModelAudit], labels: int
) -> tuple[str, ...]:
    """Return everything that changes how a reader should use the answer."""
    out = [text for one in ready for text in one.warnings]
    if table.singletons >= _SINGLETONS or len(table.votes) > table.n / 10:
        out.append(
            f"{percent(table.singletons)} of the rows have a vote pattern of their own"
            f" ({len(table.votes):,} patterns on {table.n:,} rows): do not rely on the plug-in"
            " bounds, which are too narrow here; the range shown allows for it"
        )
    predicted = table.counts.sum(axis=0)
    if len(predicted) == len(table.classes):
        never = [str(table.classes[c]) for c in range(len(predicted)) if predicted[c] == 0]
        if never:
            out.append(
                f"class {', '.join(never)} is never predicted, so its precision does not exist"
            )
    if len(table.votes) == 1:
        out.append(
            "all rows show one and the same pattern of votes: they say nothing but the class"
            " balance"
        )
    if 0 < labels < ENOUGH:
        out.append(
            f"{labels} labels are too few to decide by: from {ENOUGH} random labels the label"
            " models are no longer needed"
        )
    contradicted = [a.name for a in audits if a.votes_contradict is True]
    if contradicted:
        out.append(
            f"the votes contradict the label model {', '.join(contradicted)}: weak labels vote"
            " together more, or less, than independent errors explain"
        )
    refuted = [
        f"{one.name} ({p_value(one.calibration_p)})"
        for one in audits
        if one.refuted and isinstance(one.calibration_p, float)
    ]
    if refuted:
        several = len(refuted) > 1
        out.append(
            f"the labels refute {len(refuted)} label models: {'; '.join(refuted)}. Do not rely on"
            " their estimates"
            if several
            else f"the labels refute the label model {refuted[0]}: do not rely on its estimate"
        )
    return tuple(dict.fromkeys(out))


# Every metric from random labels: likelihood intervals that trust no label model.
#
# The consensus of the weighted votes only sorts rows into cells before a label is seen; it may be
# wrong everywhere and the intervals hold. They speak of these rows.


ENOUGH = 20
"""Random labels from which these intervals decide; coverage was measured from there."""


@dataclass(frozen=True, eq=False, kw_only=True)
class LabelledRows:
    """Rows and labels by (consensus, prediction), which is all that the intervals need.

    Parameters
    ----------
    sizes
        (classes of the consensus, classes predicted): rows.
    gold
        (…, classes of the truth): labelled rows.
    """

    sizes: IntArray
    gold: IntArray

    @classmethod
    def of(cls, counts: IntArray, gold: IntArray, consensus: IntArray) -> LabelledRows:
        """Count from (patterns, predictions) and (patterns, predictions, classes)."""
        classes = gold.shape[2]
        sizes = np.zeros((classes, counts.shape[1]), dtype=np.int64)
        labels = np.zeros((classes, *gold.shape[1:]), dtype=np.int64)
        np.add.at(sizes, consensus, counts)
        np.add.at(labels, consensus, gold)
        return cls(sizes=sizes, gold=labels)

    @property
    def labels(self) -> int:
        """Labelled rows."""
        return int(self.gold.sum())

    @property
    def rows(self) -> int:
        """All rows."""
        return int(self.sizes.sum())

    def strata(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return rows, labels and right predictions where the consensus is h, and elsewhere."""
        classes = self.gold.shape[2]
        same = np.eye(classes, dtype=bool)
        right = np.einsum("khh->kh", self.gold)
        tables = (self.sizes, self.gold.sum(axis=2), right)
        parts = [np.array([t[same].sum(), t[~same].sum()], dtype=np.float64) for t in tables]
        return parts[0], parts[1], parts[2]

    def cells(self, c: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return rows, labels and labels of class *c* in the cells (h = c?) x (consensus = c?)."""
        tables = (self.sizes, self.gold.sum(axis=2), self.gold[:, :, c])
        parts = []
        for t in tables:
            both, h, k = t[c, c], t[:, c].sum(), t[c].sum()
            parts.append(np.array([both, h - both, k - both, t.sum() - h - k + both], dtype=float))
        return parts[0], parts[1], parts[2]

    def estimate(self, wanted: Summary, *, alpha: float) -> AdverseEstimate:
        """Estimate one metric; a macro average has the mean of its classes' ends.

        Examples
        --------
        >>> rows = LabelledRows(
        ...     sizes=np.array([[640, 100], [60, 200]]),
        ...     gold=np.array([[[62, 2], [5, 5]], [[3, 3], [2, 18]]]),
        ... )
        >>> print(rows.estimate(Summary("recall", 1), alpha=0.05))
        0.8214 [0.698, 0.917] (95 %, approximate)
        """
        if wanted.metric in ("accuracy", "micro-f1"):
            return adverse_accuracy(*self.strata(), alpha=alpha)
        ask = {
            "precision": adverse_precision,
            "recall": adverse_recall,
            "f1": adverse_f1,
        }[wanted.metric.removeprefix("macro-")]
        if wanted.positive is not None:
            return ask(*self.cells(wanted.positive), alpha=alpha)
        return _mean([ask(*self.cells(c), alpha=alpha) for c in range(self.gold.shape[2])])

    def outlook(self, wanted: Summary) -> Outlook | None:
        """Return what a forecast of the interval's width needs; None where none is known."""
        if wanted.metric in ("accuracy", "micro-f1"):
            return share_outlook(*self.strata())
        if wanted.positive is None:
            return None
        cells = self.cells(wanted.positive)
        if wanted.metric == "precision":
            return precision_outlook(*cells) if cells[0][:2].sum() else None
        if cells[2].sum() == 0:  # no label of the class: nothing to forecast from
            return None
        return recall_outlook(*cells) if wanted.metric == "recall" else f1_outlook(*cells)


def labels_to_decide(
    outlook: Outlook | None, estimate: float | Unknown, claim: float, *, rows: int, alpha: float
) -> int | None:
    r"""Forecast how many labels in all decide a claim, never more than there are rows.

    .. math:: M = \frac{q V}{\hat\Delta^2 + q V/N}, \qquad q = (z_{1-\alpha/2} + z_{.8})^2

    with :math:`\hat\Delta` the distance of the estimate from the claim. Not measured.

    >>> from tallystick.stats.adverse_forecast import share_outlook
    >>> labels_to_decide(share_outlook([500], [50], [41]), 0.82, 0.8, rows=500, alpha=0.05)
    428
    """
    if outlook is None or isinstance(estimate, Unknown) or outlook.variance <= 0:
        return None
    inside = settle_at(estimate - claim, outlook.variance, outlook.items, alpha=alpha)
    return min(rows, int(np.ceil(inside / outlook.fraction)))


def _mean(parts: list[AdverseEstimate]) -> AdverseEstimate:
    """Return the mean of the estimates and of their ends; wide, and it holds."""
    known = [one.estimate for one in parts if not isinstance(one.estimate, Unknown)]
    lacking = next((one.estimate for one in parts if isinstance(one.estimate, Unknown)), None)
    ends = []
    for pick in ("interval", "labels_only"):
        held = [getattr(one, pick) for one in parts]
        low, high = (float(np.mean([getattr(one, end) for one in held])) for end in ("low", "high"))
        ends.append(Interval(low, high, held[0].level, "approximate", None, held[0].method))
    labels = max(one.n_labels for one in parts)
    ratio = ends[1].width / ends[0].width if ends[0].width > 0 else 1.0
    return AdverseEstimate(
        estimate=float(np.mean(known)) if lacking is None else lacking,
        interval=ends[0],
        labels_only=ends[1],
        n_labels=labels,
        worth=labels * ratio**2,
    )
