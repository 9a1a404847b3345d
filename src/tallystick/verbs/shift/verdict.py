"""The sentences of `shift`: first whether the API changed, then better or worse, then what
moved.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from math import sqrt
from typing import Any, Literal, TypeAlias

from tallystick.clients.journal import UNREAD_SHARE
from tallystick.results import (
    GateOutcome,
    Interval,
    Needed,
    Sentences,
    Unknown,
    count,
    number,
    p_value,
    percent,
    percent_interval,
    points,
    points_interval,
)
from tallystick.verbs.shift.result import Change, Noise, ShiftResult, Unheard

# A change inside ± this is called no change that matters.
SMALL = 0.01

ASSUMPTIONS = (
    "the true labels are right, and the answer is about these items, not about others",
    "an item's answer does not depend on when in the run it was asked",
)
EQUAL_NOISE = "the old API was as noisy as the new one"
DETERMINISTIC = "the API gives the same answer to the same call, as you declared"
NOT_REPEATED = "no flip was asked again, so all flips may be noise: the intervals allow for it"


def assumptions_of(noise: Noise, *, labelled: bool, draws: object) -> tuple[str, ...]:
    """Return what an assessment rests on."""
    found = ASSUMPTIONS if labelled else ASSUMPTIONS[1:]
    if noise.answers_are == "deterministic":
        return (*found, DETERMINISTIC)
    if not noise.repeats:
        return (*found, NOT_REPEATED)
    return (*found, EQUAL_NOISE) if noise.equal_noise and draws is None else found


# The headline.


Evidence: TypeAlias = Literal["unreadable", "less stable", "beyond", "excess", "mean"]


def evidence_of(noise: Noise, mean: Change, *, unreadable: bool) -> Evidence | None:
    """Return what shows that the API changed beyond its own randomness; None if nothing does.

    *noise* and *mean* are at half of alpha, since either may show it.
    """
    if unreadable:
        return "unreadable"
    if noise.less_stable:
        return "less stable"
    if _low(noise.beyond) > 0:
        return "beyond"
    if _low(noise.excess) > 0:
        return "excess"
    return "mean" if mean.interval is not None and _excludes(mean.interval) else None


def concluded(result: ShiftResult, evidence: Evidence | None) -> ShiftResult:
    """Return the result with what it says: changed or not, better or worse, what moved."""
    answers = sum(one.asked for one in result.strata)
    if evidence == "unreadable":
        text = (
            f"Most of the {count(answers)} answers could not be read as a label, so they do not"
            " show whether the API changed. See the examples, and choose how answers are read"
            " (--answer)."
        )
        said = Sentences(answer=text)
        return replace(
            result, changed=None, decision="undecided", needed=None, verdict=text, sentences=said
        )
    # Of flips that may all be noise only their upper end says something.
    hardly = _high(result.noise.excess) <= SMALL
    changed = True if evidence is not None else False if hardly else None
    if changed is not True:
        # First that something changed, then what: a cell is proved only where both are shown.
        cells = tuple(replace(one, survives=False) for one in result.top_cells)
        result = replace(result, top_cells=cells)
    better, settled = _direction(result, changed)
    hidden = sum(
        result.unheard[kind].answers for kind in ("unread", "cut") if kind in result.unheard
    )
    rest = " ".join(part for part in (_moved(result), _hidden(hidden, answers)) if part)
    first = f"{_first(result, evidence, hardly=hardly)} ({count(answers)} of"
    said = Sentences(
        answer=f"{first} {count(result.population)} items asked).",
        contrast=f"{better} {rest}".strip() if settled or not changed else rest,
        open=f"Not settled: {better}" if changed and better and not settled else "",
    )
    decided = changed is not None
    return replace(
        result,
        changed=changed,
        decision="decided" if decided else "undecided",
        needed=None if decided else _needed(result, answers),
        verdict=said.verdict,
        sentences=said,
    )


def _mean(result: ShiftResult) -> Change | None:
    """Return the change of accuracy or of the mean grade, where there is one."""
    mean = result.grade_change or result.accuracy_change
    return mean if mean.interval is not None else None


def _first(result: ShiftResult, evidence: Evidence | None, *, hardly: bool) -> str:
    """Say whether the API changed, with the number that shows it."""
    noise, differ = result.noise, _share(result.flip_rate)
    certain, recorded = (noise.answers_are == kind for kind in ("deterministic", "recorded"))
    apart = f"{differ} of its answers differ"
    if evidence is None:
        if hardly:
            most = percent(_high(noise.excess))
            return f"The API hardly changed: at most {most} of its answers differ"
        if recorded and isinstance(noise.excess.estimate, Unknown):
            return (
                f"{differ} of the answers differ. Whether the API changed or only answers at"
                " random, recorded answers cannot show"
            )
        shown = f"We cannot tell whether the API changed: {apart}"
        if isinstance(noise.excess.estimate, float) and not certain:
            return f"{shown}, and {_share(noise.stability_before)} of two old answers to an item do"
        most = percent(_high(noise.beyond))
        return shown if certain else f"{shown}, {percent(0.0)} to {most} beyond its own randomness"
    if evidence == "less stable":
        before = noise.stability_before
        known = isinstance(before.estimate, float)
        was = _share(before) if known else f"at most {percent(_high(before))}"
        return (
            f"The API became less stable: {_share(noise.stability)} of repeated calls disagree,"
            f" before {was}"
        )
    by = None if certain else evidence  # of certain answers every flip is a change
    who = "These answers" if recorded and by == "mean" else "The API"
    if by == "mean":
        apart = f"{differ} of them differ, more of them one way than chance explains"
    elif by == "beyond":
        apart = f"{_share(noise.beyond)} of its answers differ beyond its own randomness"
    elif by == "excess":
        apart = f"{_share(noise.excess)} more answers differ than two old answers to an item do"
    return f"{who} changed: {apart}"


def _direction(result: ShiftResult, changed: bool | None) -> tuple[str, bool]:
    """Say whether it got better or worse, and whether that is settled; blank without a mean.

    Better or worse is said of an API that changed only: an interval beside 0 is one of the two ways
    in which chance can look like a change.
    """
    mean = _mean(result)
    if mean is None or mean.interval is None or isinstance(mean.estimate, Unknown):
        return "", False
    what = "mean grade" if result.scale else "accuracy"
    shown = points_interval(mean.estimate, mean.interval)
    if result.scale:  # a point is a hundredth of the scale, not a grade
        shown += f" of the scale from {result.scale[0]} to {result.scale[1]}"
    known = None if result.evidence is None else result.evidence[0].known
    if not result.scale and known is not None and not known.all():
        shown += f" on the {count(int(known.sum()))} items with a true label"
    low, high = mean.interval
    if (low > 0 or high < 0) and not changed:
        return f"The {what} moved by {shown}, which alone shows no change.", False
    if low > 0 or high < 0:
        return f"It got {'better' if low > 0 else 'worse'}: {what} {shown}.", True
    if low >= -SMALL and high <= SMALL:
        bar = points(SMALL, sign=False)
        return f"{what.capitalize()} did not change by more than {bar}: {shown}.", True
    return f"Whether it got better or worse is open: {what} {shown}.", False


def _hidden(hidden: int, answers: int) -> str:
    """Say how many answers may hold a label that was not read, where they are many."""
    if hidden <= UNREAD_SHARE * answers:
        return ""
    return f"{count(hidden)} answers could not be read: they count as wrong (see --answer)."


def _moved(result: ShiftResult) -> str:
    """Name the cells that moved beyond chance, at most two."""
    proved = [one for one in result.top_cells if one.survives][:2]
    if not proved:
        return ""
    shown = "; ".join(
        f"{one.true} → {one.answered} {points_interval(one.change, one.interval)}" for one in proved
    )
    return f"What moved: {shown}."


def _share(change: Change) -> str:
    """Write a share with its interval."""
    assert change.interval is not None
    assert isinstance(change.estimate, float)
    return percent_interval(change.estimate, change.interval)


def _low(change: Change) -> float:
    return 0.0 if change.interval is None else change.interval.low


def _high(change: Change) -> float:
    return 1.0 if change.interval is None else change.interval.high


def _excludes(interval: Interval) -> bool:
    return interval.low > 0 or interval.high < 0


def _needed(result: ShiftResult, asked: int) -> Needed | None:
    """Forecast further calls, if they can settle it; half widths fall with the root of the calls.

    Noise stays however many of these items are asked.
    """
    mean, left = _mean(result), result.population - asked
    if left <= 0 or mean is None or mean.interval is None or isinstance(mean.estimate, Unknown):
        return None
    low, high = mean.interval
    half, aim = (high - low) / 2, max(abs(mean.estimate), SMALL)
    flips = result.flip_rate.estimate
    if isinstance(flips, float):
        remains = 1.96 * sqrt(result.noise.accuracy_share * flips / result.population)
        if remains > aim:
            return None
    more = int(asked * ((half / aim) ** 2 - 1)) + 1 if half > aim else asked // 4
    return Needed(min(max(more, 10), left), "calls")


# Warnings and notes.


def warnings_of(unheard: Mapping[str, Unheard]) -> tuple[str, ...]:
    r"""Return the warnings of an assessment: what is not known, each kind with what it could hide.

    >>> warnings_of({"cut": Unheard(answers=3, hides=.012)})[0][:54]
    '3 replies were cut off at the token limit (max_tokens '
    """
    return tuple(
        _UNHEARD[kind].format(count(one.answers), percent(one.hides))
        for kind, one in unheard.items()
    )


_ALLOWED = ": the estimates count them as wrong, the intervals allow for {} of all items"
_UNHEARD = {
    "failed": "{} calls failed: they are missing, not wrong, and could hide {} of all items",
    "unread": "{} answers may hold a label that was not read" + _ALLOWED,
    "cut": "{} replies were cut off at the token limit (max_tokens in --request)" + _ALLOWED,
    "refused": "{} answers declined to answer: they count as none of the labels",
}


def noise_notes(noise: Noise, *, alpha: float) -> tuple[str, ...]:
    """Return what the repeats showed, and what the intervals would be without an assumption."""
    found = []
    if noise.repeats and noise.p_value is not None:
        third = noise.repeats - noise.confirmed - noise.reverted
        found.append(
            f"{count(noise.repeats)} flips were asked again: {count(noise.confirmed)} gave the new"
            f" answer again, {count(noise.reverted)} went back to the old one, {count(third)}"
            f" gave a third; nothing but chance has {p_value(noise.p_value, alpha=alpha)}"
        )
    whole = noise.whole_noise
    if noise.equal_noise and whole.interval is not None and isinstance(whole.estimate, float):
        found.append(
            f"the intervals assume that {EQUAL_NOISE}; without that assumption accuracy changed by"
            f" {points_interval(whole.estimate, whole.interval)}"
        )
    return tuple(found)


def money_warnings(limit: float | None, *, unasked: int, unpaid: int) -> tuple[str, ...]:
    """Return what a limit on the cost left out: items never asked, or not a second time."""
    if limit is None or not (unasked or unpaid):
        return ()
    return (
        f"max_cost = {limit:g} ended the run: {count(unasked)} items were not asked,"
        f" {count(unpaid)} not a second time",
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


def gated_verdict(outcomes: Sequence[GateOutcome], verdict: str) -> str:
    """Return the gates, one sentence each, before the verdict."""
    return " ".join([*(f"Gate {one.word}: {one.expression}." for one in outcomes), verdict])


def cost_before(*, calls: int, cost: float, currency: str) -> str:
    """Say what a run costs at most, before it begins."""
    money = f", which cost {number(cost)} {currency}".rstrip() if cost else ""
    return f"At most {count(calls)} calls{money}."


def history_verdict(assessments: Sequence[Mapping[str, Any]]) -> str:
    """Say how an API has changed since the first assessment, given in order of date."""
    first, last = assessments[0], assessments[-1]
    return (
        f"{count(len(assessments))} assessments since {first['date']}; the last, of"
        f" {last['date']}: {last['verdict']}"
    )


def baseline_verdict(accuracy: Change, unstable: float | Unknown, *, items: int, draws: int) -> str:
    """Say how good and how noisy an API is before anything changed."""
    found = []
    if isinstance(accuracy.estimate, float):
        ends = accuracy.interval
        right = percent_interval(accuracy.estimate, ends) if ends else percent(accuracy.estimate)
        found.append(f"The API is right on {right}")
    if not isinstance(unstable, Unknown):
        found.append(f"{percent(unstable)} of the items get different answers")
    return "; ".join([*found, f"{count(items)} items asked {count(draws)} times each."])


ASKED_ONCE = (
    "each item was asked once: a later comparison has to assume how noisy this API is (--repeats 2"
    " measures it)"
)


def baseline_warnings(draws: int, *, failed: int) -> tuple[str, ...]:
    """Warn of what makes a baseline worth less."""
    found = []
    if draws < 2:
        found.append(ASKED_ONCE)
    if failed:
        found.append(f"{count(failed)} questions failed and are blank")
    return tuple(found)
