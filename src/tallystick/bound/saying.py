"""The sentences of a bound: the verdict, the decision, what would settle it, and what to beware of."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tallystick.bound.prepared import Prepared
from tallystick.bound.question import Question
from tallystick.bound.result import Bound, Breakdown, GoldEstimate
from tallystick.bound.weak_votes import WeakTable
from tallystick.results import Decision, Needed, Unknown

__all__ = ["concluded", "warnings_of"]

_SINGLETONS = 0.02


def concluded(
    prediction: str, bound: Bound, one: Prepared, question: Question, breakdown: Breakdown | None
) -> tuple[str, Decision, Needed | None]:
    """Return verdict, decision and what is needed."""
    name = bound.metric if bound.positive is None else f"{bound.metric} of {bound.positive!r}"
    if bound.low is None or bound.high is None:
        reason = bound.lower.reason if isinstance(bound.lower, Unknown) else "unknown"
        return f"{name} of {prediction} cannot be bounded: {reason}.", "unknowable", None
    level = f"{100 * (1 - question.alpha):g} %"
    condition = f", if {one.assumption}" if one.assumption else f", whatever the label model {one.model.name} is worth"
    wrong = f" and wrong by at most {question.delta:g} on average" if question.delta else ""
    between = f"between {bound.low:.3f} and {bound.high:.3f} ({level}{condition}{wrong})"
    claim = question.at_least
    if claim is None or breakdown is None:
        return f"The {name} of {prediction} is {between}.", "decided", None
    if bound.low >= claim:
        held = f"it stays proved unless the label model is wrong by more than {breakdown.on_average:.3f} on average"
        return f"The {name} of {prediction} is at least {claim:g}: it is {between}; {held}.", "decided", None
    if bound.high < claim:
        return f"The {name} of {prediction} is below {claim:g}: it is {between}.", "decided", None
    guess = bound.independent_estimate
    more: int | None = None
    if not isinstance(guess, Unknown) and abs(guess - claim) > 1e-6:
        more = math.ceil(min(1e7, (1.96 / (guess - claim)) ** 2 * max(guess * (1 - guess), 0.05)))
    return (
        f"Whether the {name} of {prediction} is at least {claim:g} is open: it is {between}.",
        "undecided",
        Needed(more, "labelled rows, drawn at random"),
    )


def warnings_of(table: WeakTable, ready: Sequence[Prepared], gold: Sequence[GoldEstimate]) -> tuple[str, ...]:
    """Return everything that a reader has to know before relying on the bounds."""
    out = [text for one in ready for text in one.warnings]
    if table.singletons >= _SINGLETONS or len(table.votes) > table.n / 10:
        out.append(
            f"{len(table.votes):,} patterns of votes on {table.n:,} rows, {100 * table.singletons:.1f} % of the rows "
            "with a pattern of their own: the plug-in bounds collapse here, only the forward dual is to be relied on"
        )
    shown = table.counts.sum(axis=0)
    if len(shown) == len(table.classes):
        never = [str(table.classes[c]) for c in range(len(shown)) if shown[c] == 0]
        if never:
            out.append(f"class {', '.join(never)} is never predicted: its precision does not exist")
    if len(table.votes) == 1:
        out.append("all rows show one and the same pattern of votes: they say nothing but the class balance")
    out += [
        f"the labels refute the label model {one.label_model}: {one.interval} from labels and the bounds do not meet"
        for one in gold
        if one.refuted
    ]
    return tuple(dict.fromkeys(out))
