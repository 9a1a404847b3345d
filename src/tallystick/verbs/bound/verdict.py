"""The sentences of bound: the verdict, the decision, what would settle it, and what to beware of.

From 20 random labels an interval decides, whatever the weak labels are worth. Without them nothing
is decided, because errors that the weak labels share leave no trace in the votes: every range is a
sentence with "if".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

from tallystick.results import (
    Decision,
    Needed,
    Sentences,
    Unknown,
    about,
    count,
    p_value,
    percent,
    percent_interval,
)
from tallystick.verbs.bound.question import MEANS, BoundQuestion
from tallystick.verbs.bound.result import (
    Bound,
    ClassifierPair,
    GoldEstimate,
    LabelModelAudit,
    claims_of,
)
from tallystick.verbs.bound.votes import WeakVotes

# Random labels from which intervals decide; coverage was measured from there.
ENOUGH = 20
POWER = 0.8
"""Chance of deciding a claim, for which labels are forecast."""
SHARED_ERRORS = (
    "Errors that the weak labels share break these ranges, and no vote shows whether they do."
)

_RANDOM = "labelled rows, drawn at random"
# How far from a claim the truth is taken to be where nothing is known of it, and the half-width
# that is forecast.
_OFF = 0.1
# Weak labels that make labels worth less than this many times their number add nothing.
_GAIN = 1.05
# At most so many classifiers are named in one sentence.
_NAMED = 6


@dataclass(frozen=True, kw_only=True)
class Conclusion:
    """A verdict, whether it decides, what would settle it, and the same line by line."""

    sentences: Sentences
    decision: Decision
    needed: Needed | None = None

    @property
    def verdict(self) -> str:
        """The sentences as one paragraph."""
        return self.sentences.verdict


def metric_name(one: Bound | GoldEstimate, who: str = "") -> str:
    """Name a metric of a classifier: "accuracy of clf", "recall of clf for class spam"."""
    word = {"f1": "F1", "macro-f1": "macro-F1", "micro-f1": "micro-F1", "auc": "AUC"}
    of_class = "" if one.positive is None else f" for class {one.positive}"
    return f"{word.get(one.metric, one.metric)} of {who or one.prediction}{of_class}"


# -- verdicts


def conclude_from_labels(
    found: GoldEstimate,
    question: BoundQuestion,
    needed: int | None,
    rows: int,
    *,
    sharpened: bool = True,
) -> Conclusion:
    """Conclude from the interval of the labels; *needed* is the forecast of labels in all."""
    name, claim = metric_name(found), question.at_least
    low, high = found.interval.low, found.interval.high
    value = (
        f"between {percent(low)} and {percent(high)}"
        if isinstance(found.estimate, Unknown)
        else percent_interval(found.estimate, found.interval)
    )
    whom = f"these {count(rows)} rows" if found.population == "these" else "new rows like these"
    is_ = (
        f"{value} on {whom} ({100 * (1 - question.alpha):g}% interval from"
        f" {count(found.labels)} random labels; it trusts no label model)"
    )
    gain = _gain(found) if sharpened and found.labels < rows else ""
    told = "is" if claim is None else f"is at least {percent(claim)}: it is"
    if claim is not None and high < claim:
        told = f"is below {percent(claim)}: it is"
    if claim is None or low >= claim or high < claim:
        return Conclusion(
            sentences=Sentences(answer=f"The {name} {told} {is_}.", contrast=gain),
            decision="decided",
        )
    more = None if needed is None or found.labels >= rows else max(1, needed - found.labels)
    return Conclusion(
        sentences=Sentences(
            answer=f"We cannot tell whether the {name} is at least {percent(claim)}: it is {is_}.",
            contrast=gain,
        ),
        decision="undecided",
        needed=Needed(more, _labels_of(rows)),
    )


def _labels_of(rows: int) -> str:
    return f"{_RANDOM} (of {count(rows)}), if the estimate is right"


def _gain(found: GoldEstimate) -> str:
    """Say what the weak labels buy."""
    if isinstance(found.worth, Unknown):
        return ""
    if found.worth < _GAIN * found.labels:
        return "The weak labels add nothing to these labels."
    return (
        f"The weak labels make these {count(found.labels)} labels as informative as about"
        f" {count(round(found.worth))} labels alone."
    )


def conclude_thresholds(
    gold: Sequence[GoldEstimate], score: str, question: BoundQuestion
) -> Conclusion:
    """Name the threshold with the largest lower end, one threshold at a time."""
    top = max(gold, key=lambda one: one.interval.low)
    low, high = percent(top.interval.low), percent(top.interval.high)
    return Conclusion(
        sentences=Sentences(
            answer=f"The {metric_name(top, score)} is safest at threshold {top.threshold:g}:"
            f" between {low} and {high} ({100 * (1 - question.alpha):g}%, from"
            f" {count(top.labels)} random labels, one threshold at a time)."
        ),
        decision="decided",
    )


def conclude_pairs(
    gold: Sequence[GoldEstimate], pairs: Sequence[ClassifierPair], needed: int | None, rows: int
) -> Conclusion:
    """Say which classifier is the most accurate, if no rival remains; *gold* has the leading
    metric.
    """
    names = [one.prediction for one in gold]
    claims = claims_of(pairs)
    left = [name for name in names if name in claims.contenders]
    beaten = [name for name in names if name not in claims.contenders]
    by = f"({count(gold[0].labels)} random labels, all pairs at once)"
    values = {
        one.prediction: one.prediction
        if isinstance(one.estimate, Unknown)
        else f"{one.prediction} {percent_interval(one.estimate, one.interval)}"
        for one in gold
    }
    if claims.best is not None:
        return Conclusion(
            sentences=Sentences(
                answer=f"{claims.best} is the most accurate of {len(names)} classifiers {by}:"
                f" {', '.join(values[name] for name in names[:_NAMED])}."
            ),
            decision="decided",
        )
    shown = ", ".join(values[name] for name in left[:_NAMED])
    more = f" and {len(left) - _NAMED} more" if len(left) > _NAMED else ""
    labels = gold[0].labels
    return Conclusion(
        sentences=Sentences(
            answer=f"We cannot tell which classifier is the most accurate {by}: {shown}{more} may"
            " be.",
            contrast=f"Less accurate: {', '.join(values[name] for name in beaten)}."
            if beaten
            else "",
        ),
        decision="undecided",
        needed=Needed(
            None if needed is None or labels >= rows else max(1, needed - labels),
            _labels_of(rows),
        ),
    )


def conclude_from_votes(
    bounds: Sequence[Bound],
    audits: Sequence[LabelModelAudit],
    question: BoundQuestion,
    votes: WeakVotes,
    score: str,
) -> Conclusion:
    """Say what follows if a label model is right; without 20 labels nothing is decided.

    *bounds* are those of the leading metric: of one classifier, of several, or of a score.
    """
    rows, labels = votes.n, votes.labels
    without = "Without labels" if not labels else f"With fewer than {ENOUGH} labels"
    first, claim = bounds[0], question.at_least
    who = list(dict.fromkeys(one.prediction for one in bounds))
    known = [one for one in bounds if not isinstance(one.interval, Unknown)]
    if not known:
        reason = first.interval.reason if isinstance(first.interval, Unknown) else "unknown"
        return Conclusion(
            sentences=Sentences(answer=f"The {metric_name(first)} cannot be bounded: {reason}."),
            decision="unknowable",
        )
    if len(who) > 1 and not score:
        open_ = "we cannot tell which classifier is best"
    elif claim is None:
        open_ = f"the {metric_name(first, score if len(who) > 1 else '')} is not settled"
    else:
        open_ = f"we cannot tell whether the {metric_name(first)} is at least {percent(claim)}"
    ranges = _conditional(known, audits) if len(who) == 1 else ""
    return Conclusion(
        sentences=Sentences(
            answer=f"{without} {open_}.", contrast=f"{ranges} {SHARED_ERRORS}".strip()
        ),
        decision="undecided",
        needed=first_labels(rows, question if len(who) == 1 else None, had=labels),
    )


def _conditional(bounds: Sequence[Bound], audits: Sequence[LabelModelAudit]) -> str:
    """Say what each label model would give, and whether the data contradict it."""
    bad = {one.name for one in audits if one.refuted or one.votes_contradict is True}
    rests = {one.name: one.rests_on for one in audits}
    parts = []
    for one in bounds:
        assert not isinstance(one.interval, Unknown)
        doubt = " (which the data contradict)" if one.label_model in bad else ""
        low, high = percent(one.interval.low), percent(one.interval.high)
        parts.append(f"if {rests[one.label_model]}{doubt}, it is between {low} and {high}")
    told = "; ".join(parts)
    return f"{told[0].upper()}{told[1:]}."


def first_labels(rows: int, question: BoundQuestion | None = None, *, had: int = 0) -> Needed:
    """Ask for the first random labels, and say how many would tell; never more than there are rows.

    Parameters
    ----------
    rows
        Rows of the table.
    question
        What is asked; None where no number of labels can be forecast for it.
    had
        Labels that are there.
    """
    least = min(ENOUGH, rows)
    parts = [f"{least} replace the label models"]
    if question is not None and question.metrics[0] in MEANS:
        claim = question.at_least
        if claim is None:
            sure = NormalDist().inv_cdf(1 - question.alpha / 2) / _OFF
            most = 0.25 * sure**2 / (1 + 0.25 * sure**2 / rows)
            aim = f"give ± {100 * _OFF:.0f} points"
        else:
            # The accuracy nearest to a half that is so far off has the most variance.
            worst = min((abs(claim + off - 0.5), claim + off) for off in (_OFF, -_OFF))[1]
            normal = NormalDist()
            sure = normal.inv_cdf(1 - question.alpha / 2) + normal.inv_cdf(POWER)
            free = sure**2 * worst * (1 - worst) / _OFF**2
            most = free / (1 + free / rows)
            aim = (
                f"tell whether it is at least {percent(claim)} if it is {100 * _OFF:.0f} points off"
            )
        parts.append(f"{about(min(rows, most))} {aim}")
    return Needed(max(1, least - had), f"{_RANDOM} ({'; '.join(parts)})")


# -- what it rests on, and what to beware of


def assumptions_of(audits: Sequence[LabelModelAudit], *, labelled: bool) -> tuple[str, ...]:
    """Return what the answer rests on; *labelled* says that evaluated rows have true labels."""
    out = ["the rows are a random sample of what the classifier is used on"]
    if labelled:
        out.append("the labelled rows are a random sample of the rows")
    out += [f"for the ranges under {one.name}: {one.rests_on}" for one in audits]
    return tuple(out)


def warnings_of(votes: WeakVotes, audits: Sequence[LabelModelAudit]) -> tuple[str, ...]:
    """Return everything that changes how a reader should use the answer."""
    out = [
        f"{one.name} says nothing about {100 * one.unknown_mass:.1f}% of the rows: they are"
        " bounded by logic only"
        for one in audits
        if one.unknown_mass > 0
    ]
    contradicted = [one.name for one in audits if one.votes_contradict is True]
    if contradicted:
        out.append(
            f"the votes contradict the label model {', '.join(contradicted)}: weak labels vote"
            " together more, or less, than independent errors explain"
        )
    out += [
        f"the labels refute the label model {one.name} ({p_value(one.calibration_p)}): do not rely"
        " on its range"
        for one in audits
        if one.refuted and isinstance(one.calibration_p, float)
    ]
    return tuple(out)
