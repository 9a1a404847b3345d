"""The sentences of a bound: the verdict, the decision, what would settle it, and what to beware
of.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from tallystick.bound.label_models import LabelModelAudit
from tallystick.bound.prepared import Prepared
from tallystick.bound.result import Bound, Breakdown, GoldEstimate
from tallystick.bound.target import BoundTarget
from tallystick.bound.weak_votes import WeakTable
from tallystick.results import Decision, Needed, Unknown

__all__ = ["assumptions_of", "concluded", "condition_of", "warnings_of"]

_SINGLETONS = 0.02
_ENOUGH_LABELS = 30
_UNFIT = 0.001  # the test is approximate with few labels in a bin


def assumptions_of(ready: Sequence[Prepared], *, labelled: bool) -> tuple[str, ...]:
    """Return what the bounds rest on; *labelled* says that rows among those evaluated have their
    true label.
    """
    out = ["the rows are a random sample of what the classifier is used on"]
    if labelled:
        out.append("the labelled rows are a random sample of the rows")
    else:
        out += [
            f"the {int(one.model.labelled[1].sum()):,} labelled rows of the label model"
            f" {one.model.name} are a random sample of what the classifier is used on"
            for one in ready
            if one.model.labelled is not None
        ]
    out += [one.assumption for one in ready if one.assumption is not None]
    return tuple(dict.fromkeys(out))


def condition_of(one: Prepared, target: BoundTarget) -> str:
    """Return under which condition on its label model a bound holds."""
    held = (
        f"if {one.assumption}"
        if one.assumption
        else f"whatever the label model {one.model.name} is worth"
    )
    return f"{held} and wrong by at most {target.delta:g} on average" if target.delta else held


def concluded(
    prediction: str,
    bound: Bound,
    one: Prepared,
    target: BoundTarget,
    breakdown: Breakdown | None,
    gold: Sequence[GoldEstimate] = (),
) -> tuple[str, Decision, Needed | None]:
    """Return verdict, decision and what is needed.

    Labels of the evaluated rows, 30 or more, decide a claim on the leading metric alone: their
    interval holds whatever the label model is worth, and to take whichever of two intervals decides
    would err more often than either.
    """
    name = bound.metric if bound.positive is None else f"{bound.metric} of {bound.positive!r}"
    if bound.low is None or bound.high is None:
        reason = bound.lower.reason if isinstance(bound.lower, Unknown) else "unknown"
        return f"{name} of {prediction} cannot be bounded: {reason}.", "unknowable", None
    level = f"{100 * (1 - target.alpha):g} %"
    between = f"between {bound.low:.3f} and {bound.high:.3f} ({level}, {condition_of(one, target)})"
    low, high, guess, more = bound.low, bound.high, bound.independent_estimate, ""
    labels = next(
        (g for g in gold if g.metric == bound.metric and g.labels >= _ENOUGH_LABELS), None
    )
    if labels is not None:
        low, high, guess = labels.interval.low, labels.interval.high, labels.estimate
        more = f"; by the bounds alone {between}"
        between = (
            f"between {low:.3f} and {high:.3f} by its {labels.labels:,} labelled rows ({level})"
        )
    claim = target.at_least
    if claim is None or breakdown is None:
        return f"The {name} of {prediction} is {between}{more}.", "decided", None
    if low >= claim:
        if labels is None:
            more = (
                "; it stays proved unless the label model is wrong by more than"
                f" {breakdown.on_average:.3f} on average"
            )
        return (
            f"The {name} of {prediction} is at least {claim:g}: it is {between}{more}.",
            "decided",
            None,
        )
    if high < claim:
        return (
            f"The {name} of {prediction} is below {claim:g}: it is {between}{more}.",
            "decided",
            None,
        )
    return (
        f"Whether the {name} of {prediction} is at least {claim:g} is open: it is {between}{more}.",
        "undecided",
        Needed(
            _labels_needed(guess, claim, 0 if labels is None else labels.labels),
            "labelled rows, drawn at random",
        ),
    )


def _labels_needed(guess: float | Unknown, claim: float, had: int) -> int | None:
    """Return about how many more labels tell an accuracy of *guess* from the claim."""
    if isinstance(guess, Unknown) or abs(guess - claim) <= 1e-6:
        return None
    enough = min(1e7, (1.96 / (guess - claim)) ** 2 * max(guess * (1 - guess), 0.05))
    return max(1, math.ceil(enough) - had)


def warnings_of(
    table: WeakTable,
    ready: Sequence[Prepared],
    gold: Sequence[GoldEstimate],
    audits: Sequence[LabelModelAudit],
) -> tuple[str, ...]:
    """Return everything that a reader has to know before relying on the bounds."""
    out = [text for one in ready for text in one.warnings]
    if table.singletons >= _SINGLETONS or len(table.votes) > table.n / 10:
        out.append(
            f"{len(table.votes):,} patterns of votes on {table.n:,} rows,"
            f" {100 * table.singletons:.1f} % of the rows with a pattern of their own: the plug-in"
            " bounds collapse here, only the forward dual is to be relied on"
        )
    shown = table.counts.sum(axis=0)
    if len(shown) == len(table.classes):
        never = [str(table.classes[c]) for c in range(len(shown)) if shown[c] == 0]
        if never:
            out.append(
                f"never predicted, so that its precision does not exist: class {', '.join(never)}"
            )
    if len(table.votes) == 1:
        out.append(
            "all rows show one and the same pattern of votes: they say nothing but the class"
            " balance"
        )
    out += [
        f"the labels refute the label model {one.label_model}: {one.interval} from labels and the"
        " bounds do not meet"
        for one in gold
        if one.refuted
    ]
    out += [
        f"the labels do not fit P(Y | Z) of the label model {one.name} (p ="
        f" {one.calibration_p:.2g}, off by {one.calibration_gap:.2f} on average): do not rely on"
        " its estimate under independence"
        for one in audits
        if isinstance(one.calibration_p, float) and one.calibration_p < _UNFIT
    ]
    return tuple(dict.fromkeys(out))
