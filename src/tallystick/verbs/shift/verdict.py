"""The sentences of `shift`: verdicts and assumptions; warnings and notes are in `verdict_notes`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tallystick.clients import same_label
from tallystick.clients.reading import is_refusal
from tallystick.results import (
    Decision,
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
from tallystick.sampling import FAILED

if TYPE_CHECKING:
    from tallystick.sampling import Strata
    from tallystick.verbs.shift.assess import Answers
    from tallystick.verbs.shift.design import Items
    from tallystick.verbs.shift.result import Change, Noise, Requests, ShiftResult

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


# The sentences beside a verdict of `shift`: warnings, notes, and the names of cells and strata.


UNREAD_SHARE = 0.02
"""From this share of unread answers on there is a warning."""

_NONE_OF_THEM = " answers were none of the labels"

WITHOUT_OLD = "without old answers by item (--old) the strategy is masa"
"""The note where the default strategy cannot be used."""


def noise_notes(result_noise: Noise | None, *, alpha: float) -> tuple[str, ...]:
    """Return what the repeats showed, and what the intervals would be without an assumption."""
    noise = result_noise
    if noise is None or noise.answers_are == "deterministic":
        return ()
    found = []
    if noise.repeats and noise.p_value is not None:
        third = noise.repeats - noise.confirmed - noise.reverted
        found.append(
            f"{count(noise.repeats)} flips were asked again: {count(noise.confirmed)} gave the new"
            f" answer again, {count(noise.reverted)} went back to the old one, {count(third)}"
            f" gave a third; nothing but chance has {p_value(noise.p_value, alpha=alpha)}"
        )
    whole = noise.whole_noise
    if whole is not None and whole.interval is not None and isinstance(whole.estimate, float):
        shown = points_interval(whole.estimate, whole.interval)
        if noise.equal_noise:
            found.append(
                f"the intervals assume that {EQUAL_NOISE}; without that assumption accuracy"
                f" changed by {shown}"
            )
        elif noise.share >= 1:
            found.append(f"if all flips are noise, accuracy changed by {shown}")
    return tuple(found)


def baseline_warnings(draws: int, *, unread: int, failed: int, answers: int) -> tuple[str, ...]:
    """Warn of what makes a baseline worth less."""
    found = []
    if draws < 2:
        found.append(
            "each item was asked once: a later comparison has to assume how noisy this API is"
            " (--repeats 2 measures it)"
        )
    if unread > UNREAD_SHARE * max(answers, 1):
        found.append(f"{count(unread)} of {count(answers)} answers could not be read: see --answer")
    if failed:
        found.append(f"{count(failed)} questions failed and are blank")
    return tuple(found)


def old_draw_notes(draws: int) -> tuple[str, ...]:
    """Say what several old answers per item are worth."""
    return (
        f"{count(draws)} old answers per item show how noisy the old API was: nothing is assumed"
        " about it",
    )


def request_notes(requests: Requests, cost: float, currency: str) -> tuple[str, ...]:
    """Say what was sent, answered and paid."""
    if not requests.sent:
        return ()
    money = f"; cost {number(cost)} {currency}".rstrip() if cost else ""
    extra = []
    if requests.from_journal:
        extra.append(f"{count(requests.from_journal)} answers came from the journal")
    if requests.paid_twice:
        extra.append(f"{count(requests.paid_twice)} requests may have been paid twice")
    if requests.unused:
        extra.append(f"{count(requests.unused)} paid answers are not used here")
    more = "; ".join(["", *extra])
    return (
        f"{count(requests.answered)} answers from {count(requests.sent)} requests sent,"
        f" {count(requests.billed)} of which may have been billed; {count(requests.failed)} items"
        f" failed{money}{more}",
    )


def unread_warnings(texts: Sequence[str], *, answers: int) -> tuple[str, ...]:
    r"""Warn if more than 2 % of the answers could not be read, with three of them.

    >>> unread_warnings(["Hm."] * 3, answers=100)[0][:49]
    '3 of 100 answers (3.0\xa0%) could not be read as a l'
    """
    if len(texts) <= UNREAD_SHARE * answers:
        return ()
    shown = "; ".join(repr(text[:60]) for text in list(dict.fromkeys(texts))[:3])
    return (
        f"{count(len(texts))} of {count(answers)} answers ({percent(len(texts) / answers)}) could"
        f" not be read as a label, e.g. {shown}: they are counted apart; see --answer",
    )


def warnings_of(*, failed: int, other: int, joined: int, strata: int) -> tuple[str, ...]:
    """Return the warnings of an assessment.

    Parameters
    ----------
    failed
        Calls that got no answer.
    other
        Answers that were none of the labels.
    joined, strata
        How many of the strata had too few answers and were joined to others.
    """
    found = []
    if failed:
        found.append(
            f"{count(failed)} calls failed and are missing, not wrong: see the sensitivity bounds"
        )
    if other:
        found.append(
            f"{count(other)}{_NONE_OF_THEM} (empty, refused, unparsable or unknown): the"
            " sensitivity bounds say what they could hide"
        )
    if joined:
        found.append(
            f"{count(joined)} of {count(strata)} strata had fewer than two answers and were joined"
            " to others"
        )
    return tuple(found)


def without_other(warnings: Sequence[str]) -> tuple[str, ...]:
    """Leave out the warning of answers that were none of the labels."""
    return tuple(one for one in warnings if _NONE_OF_THEM not in one)


def money_warnings(
    limit: float | None, *, asked: int | None, wanted: int, unpaid: int
) -> tuple[str, ...]:
    """Return what a limit on the cost left out; *asked* is None where it did not end the run."""
    if limit is None:
        return ()
    found = []
    if asked is not None:
        found.append(
            f"max_cost = {limit:g} ended the run: {count(asked)} of {count(wanted)} items were"
            " asked"
        )
    if unpaid:
        found.append(
            f"max_cost = {limit:g} was used up: {count(unpaid)} items were not asked a second time"
        )
    return tuple(found)


def spelling_warnings(texts: Counter[str], labels: Sequence[str]) -> tuple[str, ...]:
    """Say which answers that count as none of the labels look like one of them.

    >>> spelling_warnings(Counter({"1.0": 7}), ["0", "1"])[0][:52]
    "7 answers were '1.0', which looks like the label '1'"
    """
    alike = [(text, n, same_label(text, labels)) for text, n in texts.items()]
    return tuple(
        f"{count(n)} answers were {text!r}, which looks like the label {labels[code]!r} in another"
        " spelling, and were counted as none of the labels: coerce (--coerce) to read them as that"
        " label"
        for text, n, code in alike
        if code < len(labels)
    )[:3]


def top_cell_words(true: str, answered: str, change: float, half: float) -> str:
    """Return a cell that changed, for a person.

    >>> top_cell_words("four", "five", 0.021, 0.004)
    'four → five: +2.1 points ± 0.4 points'
    """
    return f"{true} → {answered}: {points(change)} ± {points(half, sign=False)}"


def stratum_name(
    labels: Sequence[str], old: str | None, confidence: tuple[float, float] | None
) -> str:
    """Name a stratum by the true labels, the old answers and the confidence of its items.

    >>> stratum_name(["cat"], "was dog", (0.25, 0.5))
    'truly cat, was dog, confidence 0.25 to 0.5'
    """
    parts = [f"truly {labels[0]}" if len(labels) == 1 else f"{len(labels)} labels"]
    if old is not None:
        parts.append(old)
    if confidence is not None:
        parts.append(f"confidence {confidence[0]:.3g} to {confidence[1]:.3g}")
    return ", ".join(parts)


def reading_notes(
    *,
    no_truth: int,
    no_new: int,
    items: int,
    no_old: int = 0,
    column: str | None = None,
    strange: Sequence[str] = (),
    texts: int = 0,
) -> tuple[str, ...]:
    """Return what was left out of a table or counted as something else.

    Parameters
    ----------
    no_truth, no_old, no_new, items
        Rows without a true label, an old answer and a new answer, of how many.
    column, strange
        The column of old answers, and what it says that is not a true label of any item.
    texts
        How many different answers there are, where they are texts and not labels.

    Examples
    --------
    >>> reading_notes(no_truth=3, no_new=0, items=100)
    ('3 of 100 items have no true label and are left out',)
    """
    notes = []
    if no_truth:
        notes.append(
            f"{count(no_truth)} of {count(items)} items have no true label and are left out"
        )
    if no_old:
        notes.append(
            f"{count(no_old)} of {count(items - no_truth)} items have no old answer: what it was is"
            " not known, so they are left out (if the API answered nothing there, write a word such"
            " as refused)"
        )
    if no_new:
        notes.append(
            f"{count(no_new)} of {count(items - no_truth - no_old)} items have no new answer and are"
            " left out (if the API answered nothing there, write a word such as refused)"
        )
    if texts:
        notes.append(
            f"there are {count(texts)} different answers, so they are texts and not labels: only"
            " whether each one changed is counted"
        )
    if strange:
        shown = ", ".join(strange[:6])
        notes.append(
            f"column {column!r} says {shown}, which is not a true label of any item: it counts as"
            " none of the labels"
        )
    return tuple(notes)


# What answers that could not be read as a label may hide, and what that does to an interval.


BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
Ends = tuple[FloatArray, FloatArray]


def may_hide_label(text: str, labels: Sequence[str]) -> bool:
    """Tell whether *text* is no label itself, but names one: whoever reads it would see an answer.

    A refusal names no answer, and another word (a label that is never true) is simply wrong.

    >>> may_hide_label("The answer is (C).", ["A", "B", "C"]), may_hide_label("D", ["A", "B", "C"])
    (True, False)
    >>> may_hide_label("I'm sorry, but I can't choose between A and B.", ["A", "B"])
    False
    >>> may_hide_label("0.5", ["0", "1"])
    False
    """
    return bool(_names(tuple(labels)).search(text)) and not is_refusal(text)


@lru_cache(maxsize=8)
def _names(labels: tuple[str, ...]) -> re.Pattern[str]:
    """Return what finds a label that stands by itself: the 1 of "grade 1", not that of "0.1"."""
    longest_first = sorted(labels, key=len, reverse=True)
    some = "|".join(re.escape(label) for label in longest_first)
    return re.compile(rf"(?<![\w.])(?:{some})(?!\w|[.,]\d)", re.IGNORECASE)


def unclear_answers(
    texts: Sequence[str | None], codes: NDArray[np.intp], labels: Sequence[str]
) -> BoolArray:
    """Return which answers were read as none of the labels although they may hold one."""
    none = len(labels)
    return np.array(
        [
            code == none and text is not None and may_hide_label(text, labels)
            for text, code in zip(texts, codes.tolist(), strict=True)
        ],
        dtype=bool,
    )


def unread_count(items: Items, answers: Answers) -> int:
    """Return how many answers, old and new, may hold a label that was not read."""
    parts = (items.unclear, answers.unclear)
    return sum(int(part.sum()) for part in parts if part is not None)


def allow_unread(change: Change, items: Items, strata: Strata, answers: Answers) -> Change:
    """Widen the interval of a change of accuracy by what unread answers may hide.

    The estimate counts them as wrong. Each may be right: then a new one adds its share of all items
    to the change, and an old one takes its share away. Where nothing is unclear nothing changes.

    Parameters
    ----------
    change
        Of accuracy.
    items, strata, answers
        What was asked, in the strata that were used.
    """
    before, after = _shares(items, strata, answers)
    return wider(change, below=before.sum(), above=after.sum(), least=-1.0)


def allow_unread_flips(change: Change, items: Items, strata: Strata, answers: Answers) -> Change:
    """Widen the interval of a share of changed answers: what was not read may be the old answer."""
    before, after = _shares(items, strata, answers)
    return wider(change, below=before.sum() + after.sum(), above=0.0, least=0.0)


def allow_unread_cells(ends: Ends, items: Items, strata: Strata, answers: Answers) -> Ends:
    """Widen the intervals of all cells: an answer among "none of the labels" may be any label."""
    before, after = _shares(items, strata, answers)
    low, high = ends[0].copy(), ends[1].copy()
    low[:, :-1] -= before[:, None]
    high[:, :-1] += after[:, None]
    low[:, -1] -= after
    high[:, -1] += before
    return low, high


def _shares(items: Items, strata: Strata, answers: Answers) -> tuple[FloatArray, FloatArray]:
    """Return the unclear share of all items by true label: of the old, then the new answers."""
    before, after = np.zeros(len(items.labels)), np.zeros(len(items.labels))
    if items.unclear is not None:
        np.add.at(before, items.truth[items.unclear], 1 / len(items))
    if answers.unclear is not None:
        place = strata.of[answers.asked]
        number = np.bincount(place, minlength=len(strata))
        share = strata.shares[place] / number[place]
        unclear = answers.unclear
        np.add.at(after, items.truth[answers.asked[unclear]], share[unclear])
    return before, after


def failed_share(
    items: Items, strata: Strata, answers: Answers, *, label: str | None = None
) -> float:
    """Return the share of all items, or of those of one true label, whose calls failed."""
    place = strata.of[answers.asked]
    number = np.bincount(place, minlength=len(strata))
    share = strata.shares[place] / number[place]
    failed = answers.codes == FAILED
    if label is None:
        return float(share[failed].sum())
    code = items.labels.index(label)
    return float(share[failed & (items.truth[answers.asked] == code)].sum() / items.mass[code])


def wider(
    change: Change,
    *,
    below: float,
    above: float,
    least: float,
    why: str = "answers that were not read may be labels",
) -> Change:
    """Widen an interval by what is not known, down to *least* and up to 1."""
    interval = change.interval
    if interval is None or not (below or above):
        return change
    wider = Interval(
        max(interval.low - below, least),
        min(interval.high + above, 1.0),
        level=interval.level,
        method=f"{interval.method}; {why}",
    )
    return replace(change, interval=wider)


def with_unread(
    result: ShiftResult, texts: Sequence[str], *, answers: int, cut: int = 0
) -> ShiftResult:
    """Warn of the answers from which no label was read; if they are most, nothing is decided.

    Parameters
    ----------
    result, answers
        The assessment, and how many answers there were.
    texts
        Those that were not read.
    cut
        How many more were cut off, of which there is a warning of its own.
    """
    examples = unread_warnings(texts, answers=answers)
    # A warning with examples says all that the one without them says.
    others = without_other(result.warnings) if examples else result.warnings
    warned = replace(result, warnings=(*others, *examples))
    nothing = unread_verdict(len(texts) + cut, answers=answers)
    if nothing is None:
        return warned
    return replace(warned, decision="undecided", needed=None, verdict=nothing, sentences=None)
