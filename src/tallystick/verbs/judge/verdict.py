"""The verdicts of `judge`, sentence by sentence.

What an answer rests on is in `verdict_grounds`, alarms and warnings in `verdict_warnings`.

The order is that of every answer: the answer with its number, what is not settled, what would
settle it. Numbers are written by `tallystick.results`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tallystick.results import (
    Interval,
    Needed,
    Sentences,
    Unknown,
    count,
    percent,
    percent_interval,
)
from tallystick.verbs.judge.scores import JudgeScore, LabelsNeeded, Number, Range

if TYPE_CHECKING:
    from tallystick.verbs.judge.leader import Leader

_NUMBERS = (
    *("no", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)
_NAMED = 2


# -- words and numbers


def in_words(n: int) -> str:
    """Return a small number as a word.

    >>> in_words(3), in_words(24)
    ('three', '24')
    """
    return _NUMBERS[n] if n < len(_NUMBERS) else count(n)


def rate_of(value: Number, interval: Range) -> str:
    """Return a rate with its interval, or alone where it has none."""
    estimate = value if isinstance(value, float) else None
    return (
        percent_interval(estimate, interval)
        if isinstance(interval, Interval)
        else percent(estimate)
    )


def listed(names: Sequence[str]) -> str:
    """Return names in words: at most two by name.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c", "d"])
    ('a', 'a and b', 'a, b and 2 others')
    """
    rest = len(names) - _NAMED
    if rest > 0:
        return f"{', '.join(names[:_NAMED])} and {rest:,} other{'s' if rest > 1 else ''}"
    return " and ".join(names)


def which_is_best(best: Leader, scores: Sequence[JudgeScore]) -> Sentences:
    """Say who is best if every rival is excluded, otherwise that we cannot tell.

    Parameters
    ----------
    best
        Who leads, and who may be as good.
    scores
        All judges.
    """
    rate = {one.name: rate_of(one.accuracy, one.interval) for one in scores}
    # A single judge is not the best of anything.
    if best.judges == 1:
        return Sentences(answer=f"{best.name} is right on {rate[best.name]}.")
    if not best.rivals:
        place = f"the most accurate of your {in_words(best.judges)} judges"
        return Sentences(answer=f"{best.name} is {place}: {rate[best.name]}.")

    close = ", ".join(f"{name} {rate[name]}" for name in (best.name, best.rivals[0]))
    if rest := best.rivals[1:]:
        close += f" or {rest[0]}" if len(rest) == 1 else f" or one of {len(rest):,} others"
    worse = [name for name in rate if name not in (best.name, *best.rivals)]
    beaten = f"{listed(worse)} are not the best." if worse else ""
    if len(worse) == 1:
        beaten = f"{worse[0]} is not the best: {rate[worse[0]]}."
    return Sentences(
        answer=f"We cannot tell which judge is best: {close}.",
        contrast=beaten,
    )


# -- with labels


def opening_with_labels(
    best: Leader | None,
    scores: Sequence[JudgeScore],
    *,
    n_labels: int,
    every: bool,
) -> Sentences:
    """Return the verdict from labels, line by line.

    Parameters
    ----------
    best
        Who leads; None if no labelled item has a vote.
    scores
        All judges.
    n_labels
        Labelled items.
    every
        Whether every vote is labelled: then only new items leave a doubt.
    """
    if best is None:
        return Sentences(
            answer=f"{count(n_labels)} labels fell on items without votes and say nothing of the"
            " judges."
        )
    found = which_is_best(best, scores)
    whole = f"All votes are labelled ({count(n_labels)} items): the doubt is about new items."
    parts = (found.contrast, whole if every else "")
    return replace(found, contrast=" ".join(part for part in parts if part))


def basis_of(n_labels: int, alpha: float) -> str:
    """Say in one line what intervals from labels rest on."""
    return (
        f"{100 * (1 - alpha):g} % intervals from {count(n_labels)} random labels, valid whatever"
        " errors the judges have in common."
    )


WITHOUT_LABELS = (
    "Rests on the votes alone. The error rate is estimated in several ways, and the likely range"
    " runs from twice the largest to half of the smallest. In simulations it held for 99 % of the"
    " judges, 68 % in the worst case."
)
"""One line on what a panel without labels rests on."""


def on_labelled_items(best: Leader | None, scores: Sequence[JudgeScore], n_labels: int) -> str:
    """Return the verdict of `supervised`."""
    if best is None:
        return f"No judge votes on the {count(n_labels)} labelled items."
    return (
        f"{which_is_best(best, scores).verdict} This rests on {count(n_labels)} labelled items"
        " alone."
    )


def needed_labels(best: Leader | None, forecast: LabelsNeeded) -> Needed | None:
    """Return what would tell the leader from its rivals; None if nothing is needed."""
    if best is None:
        return Needed(None, "labels on items that have votes")
    if not best.rivals:
        return None
    whom = f"to tell {best.name} from {listed(best.rivals)}"
    if not forecast.left:
        return Needed(None, f"items like these: all of them are labelled, too few {whom}")
    if forecast.leader is None:
        return Needed(None, f"labels on items drawn at random, {whom}")
    if not forecast.enough:
        return Needed(
            forecast.left, f"labels, all that this table has left; even they may be too few {whom}"
        )
    return Needed(forecast.leader, f"labels on items drawn at random, {whom}")


def needed_first_labels(forecast: LabelsNeeded) -> Needed:
    """Return how many random labels give every judge ± 5 points, where there are none yet."""
    return Needed(
        max(1, forecast.precision),
        "labels on items drawn at random, for ± 5 points for each judge",
    )


# -- without labels


def opening_without_labels(scores: Sequence[JudgeScore], *, refuted: bool) -> Sentences:
    """Return the verdict from votes alone: numbers, their range, and that nobody can be ranked."""
    accuracy = [one.accuracy for one in scores if isinstance(one.accuracy, float)]
    if not accuracy:
        return Sentences(answer="Nobody could be graded from votes alone.")
    ends = [end for one in scores if not isinstance(one.range, Unknown) for end in one.range]
    why = (
        "these judges do not err independently, so no label-free number can be relied on"
        if refuted
        else "no interval is possible without labels, and an error that all judges share does not"
        " show"
    )
    return Sentences(
        answer=(
            "Without labels we cannot tell which judge is best. By their votes alone, your"
            f" {in_words(len(scores))} judges are right on about {spread(accuracy)}, likely between"
            f" {percent(min(ends))} and {percent(max(ends))}."
        ),
        open=f"Not settled: {why}.",
    )


def spread(shares: Sequence[float]) -> str:
    r"""Return the lowest and the highest of some shares.

    >>> spread([0.8, 0.75, 0.9]).replace("\xa0", " "), spread([0.8]).replace("\xa0", " ")
    ('75.0 % to 90.0 %', '80.0 %')
    """
    low, high = percent(min(shares)), percent(max(shares))
    return low if low == high else f"{low} to {high}"


def only_logic(names: Sequence[str], certain: str) -> str:
    """Return the verdict where nothing but logic is left."""
    who = f"{names[0]} cannot" if len(names) == 1 else f"These {in_words(len(names))} judges cannot"
    return f"{who} be graded without labels. {certain}"


# What an answer of `judge` rests on: assumptions, and reasons for what is not known.
#
# Each is a fixed sentence without a number of the table at hand.


INDEPENDENCE = "judges err independently given the true label"
MAJORITY = "the majority is right on every item"
STREAM = "errors are independent over the whole stream, whatever the label"
RANDOM = "labelled items were drawn at random, whatever their votes"
SAMPLE = "labelled items are a fair sample of those that matter"
NEW_SAMPLE = "items are a random sample of those that matter"
SUMS_OF_WEIGHTS = "the tally holds sums of weights, so n_items is their total and no number of rows"
SHARED_BIAS = (
    "a bias that all judges share leaves no trace in their votes: no label-free method can see it"
)
ALWAYS_LOOKS_RIGHT = (
    "majority vote always returns sensible numbers, right or wrong: it grades judges by agreement"
    " with one another and cannot warn when they err together"
)
NO_INTERVAL = Unknown(
    "no interval is valid without labels: a bias that all judges share fits the votes perfectly."
    " The range says where the truth lay on comparable panels"
)
RANGE_HELD = (
    "the error rate is estimated in several ways, and the range runs from twice the largest to half"
    " of the smallest. In simulations it held for 99 % of the judges (68 % in the worst case); it"
    " fails where items were built to fool judges, where weak judges copy one another, or where all"
    " share a bias"
)
NOT_CALIBRATED = Unknown(
    "fewer than 20 random labels: the support of an item is not a probability. On 19 real panels"
    " its calibration error was 12 points on average and 28 at worst"
)
UNREADABLE = (
    "judges err independently on items that can be read, and follow their own habits on the others"
)
COULD_NOT_BE_FITTED = "no model could be fitted: "
CONFUSED = "agreement rates confuse independence of errors with independence given the label"
SENSIBLE = "a sensible trio is no evidence of independence"
GIVEN_RANGE = "the prevalence lies in the given range"
BETTER_THAN_CHANCE = "the judges, taken together, are better than chance"
MISSING_SAY_NOTHING = "a vote is not missing because it would be right or wrong"
OFF_THE_MODEL = "off the model these intervals fail, however narrow they are"
NEVER_RIGHT = "votes that can never be true count as votes, and as not right"
LEFT_ASIDE = "votes that can never be true count as no vote in this method"
