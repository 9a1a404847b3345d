"""Every sentence of `judge`: verdicts, what an answer rests on, alarms and warnings, lines below.

The order is that of every answer: the answer with its number, what is not settled, what would
settle it. Numbers are written by `tallystick.results`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING

from tallystick.results import (
    Interval,
    Needed,
    Sentences,
    Unknown,
    count,
    names_of,
    number_interval,
    percent,
    percent_interval,
)
from tallystick.results.numbers import number_word
from tallystick.verbs.judge.result import (
    SHARES,
    Alarm,
    JudgeResult,
    JudgeScore,
    LabelsNeeded,
    Number,
    Range,
    Share,
)

if TYPE_CHECKING:
    from tallystick.verbs.judge.agreement import OrderScore
    from tallystick.verbs.judge.few_labels import Leader

_NAMED = 2
_SHOWN = 20

# What an answer rests on. Each is a fixed sentence without a number of the table at hand.

INDEPENDENCE = "judges err independently given the true label"
MAJORITY = "the majority is right on every item"
RANDOM = "labelled items were drawn at random, whatever their votes"
NEW_SAMPLE = "items are a random sample of those that matter"
SHARED_BIAS = (
    "a bias that all judges share leaves no trace in their votes: no label-free method can see it"
)
NO_INTERVAL = Unknown(
    "no interval is valid without labels, because an error that all judges share does not show"
)
NO_LABELLED_VOTE = Unknown("no such labelled item has a vote of this judge")
RANGE_HELD = (
    "the range is no interval. It runs from twice the largest to half of the smallest of several"
    " estimates of the error rate. In simulations it held for 99% of the judges; of prompts of one"
    " language model on items that were built to fool it (LLMBar), for 21 of 65"
)
NOT_CALIBRATED = Unknown(
    "fewer than 20 random labels: the support of an item is not a probability. On 19 real panels"
    " its calibration error was 12 points on average and 28 at worst"
)
GIVEN_RANGE = "the prevalence lies in the given range"
BETTER_THAN_CHANCE = "the judges, taken together, are better than chance"
MISSING_SAY_NOTHING = "a vote is not missing because it would be right or wrong"
NEVER_RIGHT = "votes that can never be true count as votes, and as not right"
LEFT_ASIDE = "votes that can never be true count as no vote in this method"
NOTHING_EXCLUDED = (
    "The votes alone exclude nothing: every accuracy from 0 to 1 is possible for every judge."
)
WITHOUT_LABELS = (
    "Rests on the votes alone. The range is no interval: it says where the truth lay on other"
    " panels, and errors that all judges share break it."
)
"""One line on what a panel without labels rests on."""


def grades_in_order(low: float, high: float) -> str:
    """Say that labels are grades."""
    return (
        f"labels {low:g} to {high:g} are grades in order, so judges are ranked by their distance"
        " from the true grade; if they are names, write them as words"
    )


def as_stated(judges: Sequence[str]) -> str:
    """Return the assumption that the quality of some judges is known."""
    return f"the quality of {', '.join(judges)} is as stated"


def basis_of(n_labels: int, alpha: float) -> str:
    """Say in one line what intervals from labels rest on."""
    return (
        f"{100 * (1 - alpha):g}% intervals from {count(n_labels)} random labels, valid whatever"
        " errors the judges have in common."
    )


# Words and numbers.


def rate_of(value: Number, interval: Range) -> str:
    """Return a rate with its interval, or alone where it has none."""
    estimate = value if isinstance(value, float) else None
    if isinstance(interval, Interval):
        return percent_interval(estimate, interval)
    return percent(estimate)


def spread(shares: Sequence[float]) -> str:
    r"""Return the lowest and the highest of some shares.

    >>> spread([0.8, 0.75, 0.9]).replace("\xa0", " "), spread([0.8]).replace("\xa0", " ")
    ('75.0% to 90.0%', '80.0%')
    """
    low, high = percent(min(shares)), percent(max(shares))
    return low if low == high else f"{low} to {high}"


# Verdicts with labels.


def which_is_best(best: Leader, scores: Sequence[JudgeScore]) -> Sentences:
    """Say who is best if every rival is excluded, otherwise that we cannot tell."""
    graded = any(one.distance is not None for one in scores)
    rate = {one.name: _quality(one) for one in scores}
    # A single judge is not the best of anything.
    if best.judges == 1:
        does = "is off by" if graded else "is right on"
        return Sentences(answer=f"{best.name} {does} {rate[best.name]}.")
    if not best.rivals:
        most = "closest to the true grade" if graded else "the most accurate"
        place = f"{most} of your {number_word(best.judges)} judges"
        return Sentences(answer=f"{best.name} is {place}: {rate[best.name]}.")

    close = ", ".join(f"{name} {rate[name]}" for name in (best.name, best.rivals[0]))
    if rest := best.rivals[1:]:
        close += f" or {rest[0]}" if len(rest) == 1 else f" or one of {len(rest):,} others"
    worse = [name for name in rate if name not in (best.name, *best.rivals)]
    beaten = f"{names_of(worse, most=_NAMED)} are not the best." if worse else ""
    if len(worse) == 1:
        beaten = f"{worse[0]} is not the best: {rate[worse[0]]}."
    return Sentences(answer=f"We cannot tell which judge is best: {close}.", contrast=beaten)


def _quality(score: JudgeScore) -> str:
    """Return the number by which a judge is ranked: its distance on grades, else its accuracy."""
    off = score.distance
    if off is None:
        return rate_of(score.accuracy, score.interval)
    if isinstance(off.estimate, float) and isinstance(off.interval, Interval):
        return f"{number_interval(off.estimate, off.interval)} grades off"
    return "unknown"


def opening_with_labels(
    best: Leader | None, scores: Sequence[JudgeScore], *, n_labels: int, every: bool
) -> Sentences:
    """Return the verdict from labels, line by line.

    *best* is None if no labelled item has a vote. Where *every* vote is labelled, only new items
    leave a doubt.
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


def needed_labels(best: Leader | None, forecast: LabelsNeeded) -> Needed | None:
    """Return what would tell the leader from its rivals; None if nothing is needed."""
    if best is None:
        return Needed(None, "labels on items that have votes")
    if not best.rivals:
        return None
    whom = f"to tell {best.name} from {names_of(best.rivals, most=_NAMED)}"
    if not forecast.left:
        return Needed(None, f"items like these: all of them are labelled, too few {whom}")
    if forecast.leader is not None and not forecast.enough:
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


# Verdicts without labels.


def opening_without_labels(scores: Sequence[JudgeScore], *, refuted: bool) -> Sentences:
    """Return the verdict from votes alone: one number per judge, and that nobody can be ranked."""
    accuracy = [one.accuracy for one in scores if isinstance(one.accuracy, float)]
    if not accuracy:
        return Sentences(answer=_NOBODY)
    why = (
        "these judges do not err independently, so no label-free number can be relied on"
        if refuted
        else NO_INTERVAL.reason
    )
    return Sentences(
        answer=(
            "Without labels we cannot tell which judge is best. By their votes alone, your"
            f" {number_word(len(scores))} judges are right on about {spread(accuracy)}."
        ),
        open=f"Not settled: {why}.",
    )


def only_logic(names: Sequence[str], certain: str) -> str:
    """Return the verdict where nothing but logic is left."""
    who = names[0] if len(names) == 1 else f"These {number_word(len(names))} judges"
    return f"{who} cannot be graded without labels. {certain}"


_NOBODY = "Nobody could be graded from votes alone."
_NOT_SEEN = "A bias that all judges share would not show."


def of_baseline(scores: Sequence[JudgeScore], premise: str, doubt: str = _NOT_SEEN) -> str:
    """Return the verdict of one model without labels: how good judges would be, never who is
    best.
    """
    known = [x for one in scores if isinstance(x := one.accuracy, float) and isfinite(x)]
    if not known:
        return _NOBODY
    who = f"{scores[0].name} is"
    if len(scores) > 1:
        who = f"your {number_word(len(scores))} judges are"
    return f"If {premise}, {who} right on {spread(known)}. {doubt}"


def known_judges(shares: Mapping[str, float]) -> str:
    """Return the verdict where the quality of every judge is given."""
    told = ", ".join(f"{label} {percent(share)}" for label, share in shares.items())
    return (
        "If these judges are as good as stated and err independently, the labels' shares are"
        f" {told}."
    )


def trios_contradict(failed: int, trios: int) -> str:
    """Say how many trios contradict independent errors."""
    return f"{count(failed)} of {count(trios)} trios contradict that. {_NOT_SEEN}"


# Logic.


def pair_statement(a: str, b: str, disagree: float, common: float) -> str:
    """Say what disagreement alone proves of two judges."""
    return (
        f"Whatever the truth, one of {a} and {b} is right on at most {percent(1 - disagree / 2)}:"
        f" they disagree on {percent(disagree)} of {count(round(common))} items."
    )


def joint_statement(judges: int, bound: float, *, at_least: bool) -> str:
    """Say what the votes prove of all judges together."""
    side = "at least" if at_least else "at most"
    return (
        f"Whatever the truth, at least one of these {number_word(judges)} judges is right on"
        f" {side} {percent(bound)} of its votes."
    )


def logic_alone(judge: str, interval: Interval) -> str:
    """Say between which ends logic puts a judge."""
    return (
        f"Whatever the truth, {judge} is right on {percent(interval.low)} to"
        f" {percent(interval.high)} of its votes."
    )


# The same question twice.


def swapped_verdict(score: OrderScore) -> str:
    """Return the verdict on one judge that saw the answers in both orders."""
    favour = "."
    if isinstance(score.first_share, float) and isinstance(score.first_interval, Interval):
        place = "first" if score.first_share > 0.5 else "second"
        favour = (
            f" and favours the {place} place."
            if 0.5 not in score.first_interval
            else ". No favour for a place is proved."
        )
    return (
        f"The judge changes its answer on {percent(1 - score.consistent)} of"
        f" {count(score.n_items)} items when the order is swapped{favour} Its mean accuracy is at"
        f" most {percent(score.best_accuracy)}."
    )


def panel_position_verdict(scores: Sequence[OrderScore], *, alpha: float) -> str:
    """Return the verdict on judges that saw the answers in both orders."""
    if len(scores) == 1:
        return swapped_verdict(scores[0])
    biased = [one for one in scores if one.p_value <= alpha]
    worst = min(scores, key=lambda one: one.consistent)
    several = number_word(len(biased)).capitalize() if biased else "None"
    head = (
        f"{several} of {number_word(len(scores))} judges"
        f" {'prefers' if len(biased) == 1 else 'prefer'} a place rather than an answer"
    )
    named = ", ".join(
        f"{one.name} the {'first' if one.lean > 0 else 'second'}" for one in biased[:_SHOWN]
    )
    return (
        f"{head}{': ' + named if named else ''}. {worst.name} changes most, on"
        f" {percent(1 - worst.consistent)} of {count(worst.n_items)} items: its mean accuracy is at"
        f" most {percent(worst.best_accuracy)}."
    )


def repeated_verdict(times: int, score: OrderScore) -> str:
    """Return the verdict on a judge that was asked several times."""
    return (
        f"The judge gives the same answer all {number_word(times)} times on"
        f" {percent(score.consistent)} of {count(score.n_items)} items. Its mean accuracy is at"
        f" most {percent(score.best_accuracy)}."
    )


# Alarms: what was seen, what it proves, and what it does not.


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


def range_contradicted(label: str, ends: tuple[float, float], method: str, share: Share) -> Alarm:
    """Return the alarm that the data contradict a given prevalence."""
    return Alarm(
        name="prevalence contradicted",
        proves=(
            f"the prevalence of {label} is given as {ends[0]:g} to {ends[1]:g}, and by {method} it"
            f" is {rate_of(share.estimate, share.interval)}: the range is wrong, or what {method}"
            " assumes"
        ),
        does_not_prove="which of the two is wrong; bounds by logic hold if the range is right",
    )


def proved(alarm: Alarm) -> str:
    """Return an alarm as a warning."""
    return f"{alarm.proves}. That does not prove {alarm.does_not_prove}"


# Warnings: what a reader should do about it.


def hardly_better(mean: float) -> str:
    """Warn of judges that are hardly better than chance."""
    return (
        f"judges are right on {percent(mean)} on average, hardly better than chance: the votes"
        " would fit as well with the labels exchanged, and a few labels would tell"
    )


def nobody_right(labels: Sequence[str]) -> str:
    """Warn that no true label is one that any judge gives."""
    return (
        f"no judge ever says {', '.join(labels[:4])}, the only true label so far: are truth and"
        " votes written alike?"
    )


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


# The lines below the table: label shares, forecasts, agreement.


_STATISTICS = {
    "fleiss_kappa": "Fleiss' kappa",
    "krippendorff_alpha": "Krippendorff's alpha",
    "krippendorff_alpha_ordinal": "ordinal alpha",
    "gwet_ac1": "Gwet's AC1",
}


def more_lines(result: JudgeResult) -> list[str]:
    """Return the lines below the table of a result."""
    lines = [
        *share_lines(result),
        *label_lines(result),
        *agreement_lines(result),
        *([result.left_out[0].upper() + result.left_out[1:] + "."] if result.left_out else []),
    ]
    for window in result.windows:
        place = f"Items {count(window['start'] + 1)} to {count(window['end'])}"
        lines += [f"{place}: {one['proves']}." for one in window.get("alarms", ())]
        lines += [f"{place}: {text}." for text in window.get("notices", ())]
    if result.statements and result.statements[0].text not in result.verdict:
        lines += ["", f"For certain: {result.statements[0].text}"]
    return lines


def share_lines(result: JudgeResult) -> list[str]:
    """Say how common each label is, corrected for the judges' errors."""
    known = {key: one for key, one in result.prevalence.items() if isinstance(one.estimate, float)}
    if not known:
        return []
    told = ", ".join(
        f"{label} {rate_of(share.estimate, share.interval)}"
        for label, share in list(known.items())[:_SHOWN]
    )
    bare = not any(isinstance(share.interval, Interval) for share in known.values())
    doubt = " (from votes alone: no interval)" if bare else ""
    return [f"{SHARES}: {told}{doubt}."]


def label_lines(result: JudgeResult) -> list[str]:
    """Say how many more labels make every judge sure, and what those there are worth."""
    forecast, lines = result.labels_needed, list[str]()
    if forecast is not None and forecast.left and forecast.precision:
        lines.append(
            f"About {count(forecast.precision)} more labels give each judge ± 5 points;"
            f" {count(forecast.left)} items are unlabelled."
        )
    worth = result.labels_worth
    if isinstance(worth, float) and worth > 1.05 * result.n_labels > 0:
        lines.append(
            f"The judges' votes make these {count(result.n_labels)} labels as informative as about"
            f" {count(round(worth))} labels alone."
        )
    return lines


def agreement_lines(result: JudgeResult) -> list[str]:
    """Say how far the judges agree with one another."""
    table = result.agreement
    if table is None or not table.between:
        return []
    raw = table.between["raw"]
    parts = [f"two judges agree on {rate_of(raw.estimate, raw.interval)}"]
    for key, name in _STATISTICS.items():
        if key in table.between:
            parts.append(f"{name} {_coefficient(table.between[key])}")
    lines = [f"Agreement: {', '.join(parts)} (intervals are for new items)."]
    return [*lines, f"Agreement: {table.note}."] if table.note else lines


def _coefficient(share: Share) -> str:
    if not isinstance(share.estimate, float):
        return "undefined"
    if not isinstance(share.interval, Interval):
        return f"{share.estimate:.2f}"
    return number_interval(share.estimate, share.interval)
