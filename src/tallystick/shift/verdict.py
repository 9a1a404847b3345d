"""The sentences of `shift`: verdicts and assumptions; warnings and notes are in `verdict_notes`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any

from tallystick.results import (
    Decision,
    GateOutcome,
    Interval,
    Needed,
    Sentences,
    Unknown,
    count,
    number,
    percent,
    percent_interval,
    points,
    points_interval,
)

if TYPE_CHECKING:
    from tallystick.shift.result import Change, Noise

__all__ = [
    "ASSUMPTIONS",
    "SMALL",
    "Facts",
    "assumptions_of",
    "baseline_verdict",
    "decide",
    "forecast_assumptions",
    "forecast_verdict",
    "gate_basis",
    "gated_verdict",
    "history_verdict",
    "model_change",
    "opening_of",
    "several_verdict",
    "unread_verdict",
    "watched_basis",
]

SMALL = 0.01
"""A change of accuracy inside ± this is called no change that matters."""

MOST_UNREAD = 0.5
"""Above this share of unread answers there is no verdict about the API."""

ASSUMPTIONS = (
    "the true labels are right, and the answer is about these items, not about others",
    "an item's answer does not depend on when in the run it was asked",
    "intervals are approximate: their coverage is measured by simulation, not proved",
)
"""What every assessment with true labels rests on."""

UNLABELLED = (
    "there are no true labels: the answer is about which answers changed, not about accuracy",
    *ASSUMPTIONS[1:],
)
"""What an assessment without true labels rests on."""

EQUAL_NOISE = "the old API was as noisy as the new one"
DETERMINISTIC = "the API gives the same answer to the same call, as you declared"
RECORDED = (
    "recorded answers cannot be asked again, so all flips may be noise: the intervals allow for it"
)
NOT_REPEATED = "no flip was asked again, so all flips may be noise: the intervals allow for it"


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What a verdict is made from.

    Parameters
    ----------
    accuracy, flips, noise
        What was estimated; noise is None without old answers by item.
    asked, population, calls
        Items asked, of how many, and calls with those asked twice.
    labelled
        Whether there are true labels.
    unread
        Answers that may hold a label that was not read.
    scale
        The lowest and the highest grade, where *accuracy* is the change of a mean grade.
    """

    accuracy: Change
    flips: Change
    noise: Noise | None = None
    asked: int
    population: int
    calls: int
    labelled: bool = True
    unread: int = 0
    scale: tuple[str, str] | None = None


def assumptions_of(noise: Noise | None, *, labelled: bool) -> tuple[str, ...]:
    """Return what an assessment rests on."""
    found = list(ASSUMPTIONS if labelled else UNLABELLED)
    if noise is None:
        return tuple(found)
    if noise.answers_are == "deterministic":
        found.append(DETERMINISTIC)
    elif noise.answers_are == "recorded":
        found.append(RECORDED)
    elif not noise.repeats:
        found.append(NOT_REPEATED)
    elif noise.equal_noise:
        found.append(EQUAL_NOISE)
    return tuple(found)


def decide(facts: Facts) -> tuple[Decision, Needed | None, str]:
    """Say whether the API changed: the decision, what is needed, and the verdict.

    A change of accuracy is decided where the interval excludes 0, or lies within ± 1 point. Without
    true labels a change is decided where flips beyond noise are proved.
    """
    decision, needed, said = _concluded(facts)
    return decision, needed, f"{said.answer} {said.contrast}".strip()


def opening_of(facts: Facts) -> Sentences:
    """Return what `decide` says line by line: the change, then how many answers differ."""
    return _concluded(facts)[2]


def _concluded(facts: Facts) -> tuple[Decision, Needed | None, Sentences]:
    recorded = facts.noise is not None and facts.noise.answers_are == "recorded"
    if facts.accuracy.interval is None or isinstance(facts.accuracy.estimate, Unknown):
        decision, needed, text = _without_labels(facts, recorded=recorded)
        return decision, needed, Sentences(answer=text)
    low, high = facts.accuracy.interval
    what = "the mean grade" if facts.scale else "accuracy"
    change = points_interval(facts.accuracy.estimate, facts.accuracy.interval)
    if facts.scale:  # a point is a hundredth of the scale, not a grade
        change += f" of the scale from {facts.scale[0]} to {facts.scale[1]}"
    asked = f"({count(facts.asked)} of {count(facts.population)} items asked)."
    flips = _flips(facts)
    more = f"{flips} {asked}" if flips else ""
    end = "." if flips else f" {asked}"
    if low > 0 or high < 0:
        word = "better" if low > 0 else "worse"
        who = "The new answers are" if recorded else "The API got"
        return (
            "decided",
            None,
            Sentences(answer=f"{who} {word}: {what} {change}{end}", contrast=more),
        )
    if low >= -SMALL and high <= SMALL:
        bar = points(SMALL, sign=False)
        text = f"{what.capitalize()} did not change by more than {bar}: {change}{end}"
        return "decided", None, Sentences(answer=text, contrast=more)
    who = "These answers do not show" if recorded else "We cannot tell"
    text = f"{who} whether {what} changed: {change}{end}"
    if facts.unread:
        return "undecided", None, Sentences(answer=text, contrast=f"{_unread(facts.unread)} {more}")
    return "undecided", _needed(facts, low, high), Sentences(answer=text, contrast=more)


def _unread(number: int) -> str:
    """Say what the estimate and its interval make of answers that were not read."""
    return (
        f"{count(number)} answers may hold a label that could not be read: the estimate counts them"
        " as wrong, the interval allows that they are right. Choose how answers are read (--answer"
        " words)."
    )


def _without_labels(facts: Facts, *, recorded: bool) -> tuple[Decision, Needed | None, str]:
    """Speak of answers only: nobody knows which are right."""
    flips, noise = facts.flips, facts.noise
    if flips.interval is None or isinstance(flips.estimate, Unknown) or noise is None:
        raise TypeError("an assessment without true labels needs the old answers")
    share = percent_interval(flips.estimate, flips.interval)
    asked = f"({count(facts.asked)} of {count(facts.population)} items asked)."
    if flips.estimate == 0:
        most = percent(flips.interval.high)
        return "decided", None, f"No answer changed; at most {most} would {asked}"
    if recorded:
        text = f"These answers differ: {share} of them are not the old ones {asked}"
        return "undecided", None, f"{text} Whether the API changed, they cannot show."
    beyond = _beyond(noise)
    if noise.answers_are == "deterministic":
        return "decided", None, f"The API changed {share} of its answers {asked}"
    if noise.less_stable:
        return "decided", None, f"{_less_stable(share, noise)} {asked}"
    low = noise.beyond.interval.low if noise.beyond.interval is not None else 0.0
    if low > 0:
        text = f"The API changed: {share} of its answers differ{beyond} {asked}"
        return "decided", None, text
    text = f"{share} of the answers differ{beyond} {asked}"
    return "undecided", None, f"{text} That can be the API's own randomness."


def _needed(facts: Facts, low: float, high: float) -> Needed | None:
    """Forecast further calls, if they can settle it; half widths fall with the root of the calls.

    Noise stays however many of these items are asked.
    """
    accuracy, calls = facts.accuracy.estimate, facts.asked
    left = facts.population - calls
    if left <= 0 or isinstance(accuracy, Unknown):
        return None
    half, aim = (high - low) / 2, max(abs(accuracy), SMALL)
    flips, noise = facts.flips.estimate, facts.noise
    if noise is not None and isinstance(flips, float):
        remains = 1.96 * sqrt(noise.accuracy_share * flips / facts.population)
        if remains > aim:
            return None
    more = int(calls * ((half / aim) ** 2 - 1)) + 1 if half > aim else calls // 4
    return Needed(min(max(more, 10), left), "calls")


def _flips(facts: Facts) -> str:
    flips = facts.flips
    if flips.interval is None or isinstance(flips.estimate, Unknown):
        return ""
    if flips.estimate == 0:
        return f"No answer changed, and at most {percent(flips.interval.high)} would"
    share = percent_interval(flips.estimate, flips.interval)
    noise = facts.noise
    if noise is None or noise.answers_are == "deterministic":
        return f"{share} of its answers changed"
    return _less_stable(share, noise) or f"{share} of the answers differ{_beyond(noise)}"


def _less_stable(share: str, noise: Noise) -> str:
    """Say that the new API is noisier than the old one; nothing if that is not shown."""
    if not noise.less_stable:
        return ""
    return (
        f"The API became less stable: {share} of the answers differ, and {count(noise.reverted)} of"
        f" {count(noise.repeats)} that were asked again went back to the old answer"
    )


def _beyond(noise: Noise) -> str:
    """Say how many of the differences are more than the API's own randomness."""
    beyond = noise.beyond
    if isinstance(beyond.estimate, Unknown) or beyond.interval is None:
        return ""
    share = percent_interval(beyond.estimate, beyond.interval)
    return f", {share} beyond its own randomness"


def baseline_verdict(accuracy: Change, unstable: float | Unknown, *, items: int, draws: int) -> str:
    """Say how good and how noisy an API is before anything changed."""
    asked = f"{count(items)} items asked {count(draws)} times each."
    if isinstance(accuracy.estimate, Unknown):
        first = "The answers are recorded"
    elif accuracy.interval is None:
        first = f"The API is right on {percent(accuracy.estimate)}"
    else:
        first = f"The API is right on {percent_interval(accuracy.estimate, accuracy.interval)}"
    if isinstance(unstable, Unknown):
        return f"{first}; {asked}"
    return f"{first}; {percent(unstable)} of the items get different answers; {asked}"


def several_verdict(names: Sequence[str], verdicts: Sequence[str]) -> str:
    """Say of each API what was found, in the order given."""
    return " ".join(f"{name}: {text}" for name, text in zip(names, verdicts, strict=True))


def unread_verdict(unread: int, *, answers: int) -> str | None:
    """Say that nothing can be said, where most answers could not be read; else None.

    >>> unread_verdict(70, answers=70)[:52]
    '70 of 70 answers could not be read as a label, so th'
    >>> unread_verdict(7, answers=70) is None
    True
    """
    if unread <= MOST_UNREAD * answers:
        return None
    return (
        f"{count(unread)} of {count(answers)} answers could not be read as a label, so they do not"
        " show whether accuracy changed. See the examples, and choose how answers are read"
        " (--answer)."
    )


def model_change(before: Collection[str], now: Collection[str]) -> str:
    """Say that the replies name a model that earlier ones did not; blank if they do not.

    >>> model_change(["m-05"], ["m-08"])
    'The replies name another model than before: m-08 (before: m-05).'
    >>> model_change([], ["m-08"]), model_change(["m-05", "m-08"], ["m-08"])
    ('', '')
    """
    new = [name for name in now if name not in before]
    if not before or not new:
        return ""
    return (
        f"The replies name another model than before: {', '.join(new)} (before:"
        f" {', '.join(before)})."
    )


def watched_basis(asked: int) -> str:
    """Say on what a gate rests that watched the run."""
    return (
        f"a test that watched {count(asked)} items in random order; it holds whenever the run"
        " stopped"
    )


def gate_basis(outcome: GateOutcome) -> str:
    """Say on what a gate rests that was checked at the end."""
    interval = outcome.interval
    if not isinstance(interval, Interval):
        return interval.reason
    return f"its {number(100 * interval.level)} % interval ({interval.promise})"


def gated_verdict(outcomes: Sequence[GateOutcome], verdict: str) -> str:
    """Return the gates, one sentence each, before the verdict."""
    words = {True: "holds", False: "fails", None: "could not be decided"}
    sentences = [f"The gate {one.expression} {words[one.passed]}." for one in outcomes]
    return " ".join([*sentences, verdict])


def forecast_verdict(*, calls: int, cost: float, seconds: float, latency: float) -> str:
    """Say what a run would cost."""
    return (
        f"At most {count(calls)} calls, which cost {number(cost)} and take about"
        f" {count(round(seconds))} s if one call takes {number(latency)} s."
    )


def forecast_assumptions(latency: float) -> tuple[str, ...]:
    """Return what a forecast rests on."""
    return ("no call is tried twice", f"a call takes {number(latency)} s")


def history_verdict(assessments: Sequence[Mapping[str, Any]], changes: Sequence[str] = ()) -> str:
    """Say how an API has changed since the first assessment, given in order of date."""
    first, last = assessments[0], assessments[-1]
    steps = f"; accuracy took a step on {', '.join(changes)}" if changes else ""
    return (
        f"{count(len(assessments))} assessments since {first['date']}{steps}; the last, of"
        f" {last['date']}: {last['verdict']}"
    )
