"""Sentences about single methods: baselines, trios, tests by labels, logic, orders.

They belong to `tallystick.verbs.judge.verdict`, which holds those of the answer itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING

from tallystick.results import Interval, count, percent
from tallystick.verbs.judge.scores import Alarm, JudgeScore, Number, Range, Share
from tallystick.verbs.judge.verdict import in_words, rate_of, spread

if TYPE_CHECKING:
    from tallystick.verbs.judge.orders import PositionScore

_SHOWN = 20


def of_baseline(scores: Sequence[JudgeScore], premise: str, doubt: str) -> str:
    """Return the verdict of a method without labels: how good judges would be, never who is
    best.
    """
    known = [x for one in scores if isinstance(x := one.accuracy, float) and isfinite(x)]
    if not known:
        return f"If {premise}, nobody could be graded."
    who = scores[0].name if len(scores) == 1 else f"your {in_words(len(scores))} judges"
    return f"If {premise}, {who} would be right on {spread(known)}. {doubt}"


def maybe_chance(given: str) -> str:
    """Warn that an estimate lies outside a given range, with an interval that reaches into it."""
    return f"{given}: its estimate lies outside, which may be chance"


def logic_needs_range(alarm: Alarm) -> str:
    """Warn that bounds by logic rest on a range that the data contradict."""
    return f"{alarm.proves}; bounds by logic hold only if the range is right"


def picks_no_branch(shares: Sequence[float], label: str) -> Alarm:
    """Return the alarm that a given range contains neither of two mirror points."""
    told = " and ".join(percent(share) for share in shares)
    return Alarm(
        name="prevalence picks no branch",
        proves=(
            f"neither mirror point ({told} of {label}) lies in the given range of prevalence, so it"
            " picked none: the one on which judges are better than chance is shown"
        ),
        does_not_prove=(
            "that the range is wrong: the points have sampling error and rest on independent errors"
        ),
    )


def range_contradicted(
    label: str, low: float, high: float, method: str, share: Share
) -> tuple[str, Alarm]:
    """Return what is said of a given prevalence that the data contradict, and its alarm."""
    given = (
        f"the prevalence of {label} is given as {low:g} to {high:g}, and by {method} it is"
        f" {rate_of(share.estimate, share.interval)}"
    )
    return given, Alarm(
        name="prevalence contradicted",
        proves=f"{given}: the range is wrong, or what {method} assumes",
        does_not_prove="which of the two is wrong",
    )


def trios_contradict(failed: int, trios: int) -> str:
    """Say how many trios contradict independent errors."""
    return (
        f"{count(failed)} of {count(trios)} trios contradict that, and a shared bias would not"
        " show."
    )


def tied_items(tied: float, total: float) -> str:
    """Warn of items without a clear majority."""
    return (
        f"{count(round(tied))} of {count(round(total))} items are tied: each tied label counts in"
        " equal parts"
    )


def few_for_majority(judges: int) -> str:
    """Warn of a majority of one or two."""
    return f"{in_words(judges)} judge(s) have no majority worth the name: three are the least"


def failed_trios(failed: int, trios: int, modes: Mapping[str, int]) -> Alarm:
    """Return what trios without a sensible solution prove."""
    told = ", ".join(f"{number} {mode}" for mode, number in modes.items() if number)
    return Alarm(
        name="failed trios",
        proves=f"{failed} of {trios} trios ({told}) cannot be sample-independent judges",
        does_not_prove=(
            "that sensible trios are independent: in real data they were as correlated as the"
            " others"
        ),
    )


def known_judges(shares: Mapping[str, float]) -> str:
    """Return the verdict where the quality of every judge is given."""
    told = ", ".join(f"{label} {percent(share)}" for label, share in shares.items())
    return (
        "If these judges are as good as stated and err independently, the labels' shares are"
        f" {told}."
    )


def hardly_better(mean: float) -> str:
    """Warn of judges that are hardly better than chance."""
    return (
        f"judges are right on {percent(mean)} on average, hardly better than chance: the votes"
        " would fit as well with the labels exchanged, and a few labels would tell"
    )


def no_intervals(reason: str) -> str:
    """Warn that a model has no intervals."""
    return f"no intervals: {reason}"


def as_stated(judges: Sequence[str]) -> str:
    """Return the assumption that the quality of some judges is known."""
    return f"the quality of {', '.join(judges)} is as stated"


# -- logic


def pair_statement(a: str, b: str, disagree: float, common: float) -> str:
    """Say what disagreement alone proves of two judges."""
    return (
        f"Whatever the truth, one of {a} and {b} is right on at most {percent(1 - disagree / 2)}:"
        f" they disagree on {percent(disagree)} of {count(round(common))} items."
    )


def joint_statement(judges: int, bound: float, *, at_least: bool) -> str:
    """Say what the votes prove of all judges together."""
    side = "at least" if at_least else "at most"
    text = (
        f"Whatever the truth, at least one of these {in_words(judges)} judges is right on"
        f" {side} {percent(bound)} of its votes."
    )
    if not at_least and bound <= 0.5:
        text += " So at least one of them is no better than a coin."
    return text


def logic_alone(judge: str, interval: Interval) -> str:
    """Say between which ends logic puts a judge."""
    return (
        f"Whatever the truth, {judge} is right on {percent(interval.low)} to"
        f" {percent(interval.high)} of its votes."
    )


NOTHING_EXCLUDED = (
    "The votes alone exclude nothing: every accuracy from 0 to 1 is possible for every judge."
)


# -- the same question twice


FAIR_ITEMS = "items are a fair sample of those that matter"


def swapped_verdict(changed: float, n: int, first_share: Number, first_interval: Range) -> str:
    """Return the verdict on one judge that saw the answers in both orders."""
    favour = "."
    if isinstance(first_share, float) and isinstance(first_interval, Interval):
        place = "first" if first_share > 0.5 else "second"
        favour = (
            f" and favours the {place} place."
            if 0.5 not in first_interval
            else ". No favour for a place is proved."
        )
    return (
        f"The judge changes its answer on {percent(changed)} of {count(n)} items when the order is"
        f" swapped{favour} Its mean accuracy is at most {percent(1 - changed / 2)}."
    )


def panel_position_verdict(scores: Sequence[PositionScore], *, alpha: float) -> str:
    """Return the verdict on a panel that saw the answers in both orders."""
    if len(scores) == 1:
        one = scores[0]
        return swapped_verdict(one.changed, one.n_items, one.first_share, one.first_interval)
    biased = [one for one in scores if one.p_value <= alpha]
    worst = max(scores, key=lambda one: one.changed)
    head = (
        f"{in_words(len(biased)).capitalize()} of {in_words(len(scores))} judges"
        f" {'prefers' if len(biased) == 1 else 'prefer'} a place rather than an answer"
    )
    named = ", ".join(
        f"{one.name} the {'first' if one.lean > 0 else 'second'}" for one in biased[:_SHOWN]
    )
    return (
        f"{head}{': ' + named if named else ''}. {worst.name} changes most, on"
        f" {percent(worst.changed)} of {count(worst.n_items)} items: its mean accuracy is at most"
        f" {percent(1 - worst.changed / 2)}."
    )


def repeated_verdict(times: int, same: float, n: int, best: float) -> str:
    """Return the verdict on a judge that was asked several times."""
    return (
        f"The judge gives the same answer all {in_words(times)} times on {percent(same)} of"
        f" {count(n)} items. Its mean accuracy is at most {percent(best)}."
    )


# The alarms and warnings of `judge`: what was seen, and what a reader should do about it.


def nobody_right(labels: Sequence[str]) -> str:
    """Warn that no true label is one that any judge gives."""
    return (
        f"no judge ever says {', '.join(labels[:4])}, the only true label so far: are truth and"
        " votes written alike?"
    )


def misfit_alarm(ratio: float) -> Alarm:
    """Return the alarm that judges err together.

    It names no pair: where two judges copy each other, the model takes them for the truth, and the
    largest misfit is between others.
    """
    return Alarm(
        name="misfit",
        proves=(
            "pairs of judges agree in a way that independent errors do not explain"
            f" ({ratio:.1f} times what they would show)"
        ),
        does_not_prove="which judges are at fault, nor how good any of them is",
    )


def proved(alarm: Alarm) -> str:
    """Return an alarm as a warning."""
    return f"{alarm.proves}. That does not prove {alarm.does_not_prove}"


def no_label_yet(truth: str) -> str:
    """Warn of a column of truth without a single label."""
    return f"{truth} holds no label yet: everything here is from votes alone"


def always_votes(judge: str, label: str) -> str:
    """Warn of a judge that always gives one label."""
    return f"{judge} always votes {label}: its accuracy says how common that is, nothing else"


def stray_labels(judge: str, labels: Sequence[str], others: Sequence[str]) -> str:
    """Warn of labels that only one judge ever gives: refusals and errors in free words."""
    shown = ", ".join(repr(label) for label in labels[:3]) + (" and others" * (len(labels) > 3))
    return (
        f"only {judge} ever says {shown}, taken here for a possible truth. If that is no label,"
        f" name the labels: --labels {','.join(others)}"
    )


def missing_votes(judge: str, share: float) -> str:
    """Warn of a judge with many missing votes."""
    return (
        f"{percent(share)} of {judge}'s votes are missing. Its figures describe the items it voted"
        " on"
    )


def fitted_to_part(part: int, whole: int) -> str:
    """Say that a model saw a random part of the items."""
    return (
        f"label-free models were fitted to {count(part)} of {count(whole)} items, drawn at random:"
        " there are too many different vote patterns for all. Votes, labels and agreement are"
        " counted on all items"
    )
