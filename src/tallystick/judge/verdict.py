"""The sentences of `judge`: verdicts, warnings, assumptions and alarms are made only here.

The order is that of every answer: the answer with its number, what is not settled, what would
settle it. Numbers are written by `tallystick.results`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tallystick.judge.result import (
    Alarm,
    CovariateEffect,
    Estimate,
    JudgeResult,
    JudgeScore,
    LabelsNeeded,
    Number,
    Range,
    Share,
)
from tallystick.results import (
    Interval,
    Needed,
    Unknown,
    count,
    number_interval,
    p_value,
    percent,
    percent_interval,
    points,
    points_interval,
)

if TYPE_CHECKING:
    from tallystick.judge.leader import Leader
    from tallystick.judge.position_panel import PositionScore

__all__ = [
    "ALWAYS_LOOKS_RIGHT",
    "INDEPENDENCE",
    "MAJORITY",
    "NO_INTERVAL",
    "RANDOM",
    "RANGE_HELD",
    "SHARED_BIAS",
    "STREAM",
    "answers_with_labels",
    "answers_without_labels",
    "in_words",
    "more_lines",
]

INDEPENDENCE = "judges err independently given the true label"
MAJORITY = "the majority is right on every item"
STREAM = "errors are independent over the whole stream, whatever the label"
RANDOM = "labelled items were drawn at random, whatever their votes"
SAMPLE = "labelled items are a fair sample of those that matter"
NEW_SAMPLE = "items are a random sample of those that matter"
COUNTED_ROWS = (
    "a row of weight w stands for w items that were seen alike: these are not sampling weights"
)
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
    "the range runs from twice to half of the estimated error rate. In simulations it held for 99 %"
    " of the judges (68 % in the worst case); it fails where items were built to fool judges, where"
    " weak judges copy one another, or where all share a bias"
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
BETTER_THAN_CHANCE = "judges are better than chance taken together"
MISSING_SAY_NOTHING = "missing votes say nothing"
OFF_THE_MODEL = "off the model these intervals fail, however narrow they are"
NEVER_RIGHT = "votes that can never be true count as votes, and as not right"
LEFT_ASIDE = "votes that can never be true count as no vote in this method"

_NUMBERS = (
    *("no", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)
_NAMED = 2
_SHOWN = 20
_SAID = {True: "rejected", False: "not rejected", None: "not tested"}
_STATISTICS = {
    "fleiss_kappa": "Fleiss' kappa",
    "krippendorff_alpha": "Krippendorff's alpha",
    "krippendorff_alpha_ordinal": "ordinal alpha",
    "krippendorff_alpha_interval": "interval alpha",
    "gwet_ac1": "Gwet's AC1",
}


# -- words and numbers


def in_words(n: int) -> str:
    """Return a small number as a word.

    >>> in_words(3), in_words(24)
    ('three', '24')
    """
    return _NUMBERS[n] if n < len(_NUMBERS) else count(n)


def _rate(value: Number, interval: Range) -> str:
    """Return a rate with its interval, or alone where it has none."""
    estimate = value if isinstance(value, float) else None
    return (
        percent_interval(estimate, interval)
        if isinstance(interval, Interval)
        else percent(estimate)
    )


def _listed(names: Sequence[str]) -> str:
    """Return names in words: at most two by name.

    >>> _listed(["a"]), _listed(["a", "b"]), _listed(["a", "b", "c", "d"])
    ('a', 'a and b', 'a, b and 2 others')
    """
    rest = len(names) - _NAMED
    if rest > 0:
        return f"{', '.join(names[:_NAMED])} and {rest:,} other{'s' if rest > 1 else ''}"
    return " and ".join(names)


def _answer(best: Leader, rate: str, verb: str = "is", *, ahead: bool = True) -> str:
    """Return the first sentence; a single judge is not the best of anything.

    The leader is the judge that is surest to be good, so a rival with few votes may have a higher
    estimate: then it is not *ahead*.
    """
    if best.judges == 1:
        return f"{best.name} {verb} right on {rate}."
    place = "the most accurate" if ahead else "among the most accurate"
    return f"{best.name} {verb} {place} of your {in_words(best.judges)} judges: {rate}."


def _is_ahead(best: Leader, scores: Mapping[str, JudgeScore]) -> bool:
    """Say whether no rival has a higher estimate than the leader."""
    own = scores[best.name].accuracy
    values = [scores[name].accuracy for name in best.rivals]
    return not any(isinstance(v, float) and isinstance(own, float) and v > own for v in values)


def _not_settled(best: Leader, scores: Mapping[str, JudgeScore], *, new: bool = False) -> str:
    """Name who may be as good, with a number where one judge is named alone."""
    if not best.rivals:
        return ""
    good = "as good" if _is_ahead(best, scores) else "as good or better"
    if len(best.rivals) == 1:
        rival = scores[best.rivals[0]]
        rate = _rate(rival.accuracy, rival.new_items if new else rival.interval)
        return f" Not settled: {rival.name} may be {good}, {rate}."
    return f" Not settled: {_listed(best.rivals)} may be {good}."


# -- with labels


def answers_with_labels(
    best: Leader | None,
    scores: Sequence[JudgeScore],
    *,
    n_labels: int,
    every: bool,
    drawn: bool,
) -> str:
    """Return the verdict from labels.

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
    drawn
        Whether the labels look like a random draw.
    """
    if best is None:
        return (
            f"{count(n_labels)} labels fell on items without votes and say nothing of the judges."
        )
    score = scores[best.place]
    by_name = {one.name: one for one in scores}
    rate = _rate(score.accuracy, score.new_items if every else score.interval)
    text = _answer(best, rate, ahead=_is_ahead(best, by_name))
    text += _not_settled(best, by_name, new=every)
    if every:
        text += f" All votes are labelled ({count(n_labels)} items): the doubt is about new items."
    if not drawn:
        text += " Do not rely on this: the labelled items were not drawn at random."
    return text


def with_rejected(verdict: str, methods: Sequence[str]) -> str:
    """Return the verdict with the label-free methods that the labels refute."""
    return f"{verdict} The labels reject {', '.join(methods)}." if methods else verdict


def on_labelled_items(best: Leader | None, scores: Sequence[JudgeScore], n_labels: int) -> str:
    """Return the verdict of `supervised`."""
    if best is None:
        return f"No judge votes on the {count(n_labels)} labelled items."
    score = scores[best.place]
    by_name = {one.name: one for one in scores}
    return (
        f"{_answer(best, _rate(score.accuracy, score.interval), ahead=_is_ahead(best, by_name))}"
        f"{_not_settled(best, by_name)} This rests on {count(n_labels)} labelled items alone."
    )


def needed_labels(best: Leader | None, forecast: LabelsNeeded) -> Needed | None:
    """Return what would tell the leader from its rivals; None if nothing is needed."""
    if best is None:
        return Needed(None, "labels on items that have votes")
    if not best.rivals:
        return None
    whom = f"to tell {best.name} from {_listed(best.rivals)}"
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


def draw_alarm(p: float, judge: str, label: str, labelled: float, everywhere: float) -> Alarm:
    """Return the alarm that labelled items were not drawn at random."""
    return Alarm(
        name="labels were not drawn at random",
        proves=(
            f"the labelled items are no random draw ({p_value(p)}): {judge} votes {label} on"
            f" {percent(labelled)} of the labelled items and {percent(everywhere)} of all it votes"
            " on; intervals from these labels cannot be relied on"
        ),
        does_not_prove="that labels without this alarm were drawn at random",
    )


def draw_warning(alarm: Alarm) -> str:
    """Return what a reader should do about labels that were not drawn at random."""
    return f"{alarm.proves}. Draw them at random"


def rejected_alarm(estimate: Estimate) -> Alarm:
    """Return the alarm that labels refute a label-free estimate."""
    return Alarm(
        name=f"{estimate.method} is rejected",
        proves=f"{estimate.method} is wrong here: {estimate.why}",
        does_not_prove="that an estimate which was not rejected is right: few labels reject little",
    )


def contradicted(judge: str, value: float, own: Interval, labels: int, allowed: Interval) -> str:
    """Say how labels contradict an estimate."""
    return (
        f"it gives {judge} {percent_interval(value, own)} by its own doubt, and {count(labels)}"
        f" labels allow {percent(allowed.low)} to {percent(allowed.high)}"
    )


def not_contradicted(labels: int) -> str:
    """Say that labels do not contradict an estimate."""
    return f"{count(labels)} labels do not contradict it"


def not_tested(judge: str) -> str:
    """Say why labels could not test an estimate."""
    return f"not tested: how sure it is of {judge} is not known"


def nobody_right(labels: Sequence[str]) -> str:
    """Warn that no true label is one that any judge gives."""
    return (
        f"no judge ever says {', '.join(labels[:4])}, the only true label so far: are truth and"
        " votes written alike?"
    )


# -- without labels


def answers_without_labels(
    best: Leader | None, scores: Sequence[JudgeScore], *, refuted: bool
) -> str:
    """Return the verdict from votes alone: a number, its range, and that it is not settled."""
    if best is None:
        return "Nobody could be graded from votes alone."
    score = scores[best.place]
    rate = f"about {percent(score.accuracy if isinstance(score.accuracy, float) else None)}"
    if not isinstance(score.range, Unknown):
        low, high = score.range
        rate += f", likely between {percent(low)} and {percent(high)}"
    why = (
        "these judges do not err independently, so no label-free number can be relied on"
        if refuted
        else "no interval is possible without labels, and an error that all judges share does not"
        " show"
    )
    return f"By their votes alone, {_answer(best, rate, 'looks')} Not settled: {why}."


def only_logic(names: Sequence[str], certain: str) -> str:
    """Return the verdict where nothing but logic is left."""
    who = f"{names[0]} cannot" if len(names) == 1 else f"These {in_words(len(names))} judges cannot"
    return f"{who} be graded without labels. {certain}"


def under_independence(best: Leader | None, rate: str) -> str:
    """Return the verdict of Dawid-Skene alone."""
    if best is None:
        return "Nobody could be graded."
    rivals = f" {_listed(best.rivals)} may be as good." if best.rivals else ""
    return (
        f"If errors were independent, {_answer(best, rate, 'would be')}{rivals}"
        " A bias that all judges share would not show."
    )


def known_judges(shares: Mapping[str, float]) -> str:
    """Return the verdict where the quality of every judge is given."""
    told = ", ".join(f"{label} {percent(share)}" for label, share in shares.items())
    return (
        "If these judges are as good as stated and err independently, the labels' shares are"
        f" {told}."
    )


def of_baseline(best: Leader | None, rate: str, premise: str, doubt: str) -> str:
    """Return the verdict of a method that is here to be compared with."""
    if best is None:
        return f"If {premise}, nobody could be graded."
    rivals = f" {_listed(best.rivals)} may be as good." if best.rivals else ""
    return f"If {premise}, {_answer(best, rate, 'would be')}{rivals} {doubt}"


def misfit_alarm(ratio: float, pair: Sequence[str]) -> Alarm:
    """Return the alarm that judges err together."""
    return Alarm(
        name="misfit",
        proves=(
            "pairs of judges agree in a way that independent errors do not explain"
            f" ({ratio:.1f} times what they would show), {pair[0]} and {pair[1]} more than any"
            " others"
        ),
        does_not_prove="which judges are at fault, nor how good any of them is",
    )


def proved(alarm: Alarm) -> str:
    """Return an alarm as a warning."""
    return f"{alarm.proves}. That does not prove {alarm.does_not_prove}"


def always_votes(judge: str, label: str) -> str:
    """Warn of a judge that always gives one label."""
    return f"{judge} always votes {label}: its accuracy says how common that is, nothing else"


def no_intervals(reason: str) -> str:
    """Warn that a model has no intervals."""
    return f"no intervals: {reason}"


def as_stated(judges: Sequence[str]) -> str:
    """Return the assumption that the quality of some judges is known."""
    return f"the quality of {', '.join(judges)} is as stated"


def missing_votes(judge: str, share: float) -> str:
    """Warn of a judge with many missing votes."""
    return f"{percent(share)} of {judge}'s votes are missing. Its figures describe the items it voted on"


def no_label_yet(truth: str) -> str:
    """Warn of a column of truth without a single label."""
    return f"{truth} holds no label yet: everything here is from votes alone"


def hardly_better(mean: float) -> str:
    """Warn of judges that are hardly better than chance."""
    return (
        f"judges are right on {percent(mean)} on average, hardly better than chance: the votes"
        " would fit as well with the labels exchanged, and a few labels would tell"
    )


def fitted_to_part(part: int, whole: int) -> str:
    """Say that a model saw a random part of the items."""
    return (
        f"label-free models were fitted to {count(part)} of {count(whole)} items, drawn at random:"
        " nearly every item has a vote pattern of its own. Votes, labels and agreement are counted"
        " on all items"
    )


def range_contradicted(
    label: str, low: float, high: float, method: str, share: Share
) -> tuple[str, Alarm]:
    """Return what is said of a given prevalence that the data contradict, and its alarm."""
    given = (
        f"the prevalence of {label} is given as {low:g} to {high:g}, and by {method} it is"
        f" {_rate(share.estimate, share.interval)}"
    )
    return given, Alarm(
        name="prevalence contradicted",
        proves=f"{given}: the range is wrong, or what {method} assumes",
        does_not_prove="which of the two is wrong",
    )


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
            "that the range is wrong: the points have sampling error, and rest on independent errors"
        ),
    )


def trios_contradict(failed: int, trios: int) -> str:
    """Say how many trios contradict independent errors."""
    return (
        f"{count(failed)} of {count(trios)} trios contradict that, and a shared bias would not"
        " show."
    )


def search_verdict(sensible: int, trios: int) -> str:
    """Return the verdict of a search over all trios."""
    return (
        f"{count(sensible)} of {count(trios)} trios have a sensible solution; the others cannot be"
        " independent, and these need not be."
    )


def independence_verdict(
    *,
    rejected: bool,
    against: int,
    quartets: int,
    pair: Sequence[str],
    judges: int,
    worth: Number,
) -> str:
    """Return the verdict of the test of independent errors."""
    told = f"{count(against)} of {count(quartets)} quartets reject it"
    if not rejected:
        return (
            f"Independent errors are not refuted ({told}, not more than chance allows). That proves"
            " nothing about a bias that all judges share."
        )
    alike = (
        f" All {in_words(judges)} are worth about {worth:.1f} independent ones."
        if isinstance(worth, float)
        else ""
    )
    return (
        f"These judges do not err independently ({told}). {pair[0]} and {pair[1]} move together"
        f" most.{alike}"
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


# -- what the summary adds below the table


def more_lines(result: JudgeResult) -> list[str]:
    """Return the lines below the table: label shares, agreement, calibration, all methods."""
    lines = [
        *_share_lines(result),
        *_label_lines(result.labels_needed, result),
        *_agreement_lines(result),
        *_rate_names(result),
        *_calibration_lines(result),
        *[_covariate_line(one) for one in result.covariates],
        *([result.left_out[0].upper() + result.left_out[1:] + "."] if result.left_out else []),
        *_window_lines(result),
    ]
    if len(result.estimates) > 1:
        lines += ["", "Every method that applies:", *_side_by_side(result.estimates)]
    if result.statements and result.statements[0].text not in result.verdict:
        lines += ["", f"For certain: {result.statements[0].text}"]
    return lines


def _share_lines(result: JudgeResult) -> list[str]:
    known = {
        label: share
        for label, share in result.prevalence.items()
        if isinstance(share.estimate, float)
    }
    if not known:
        return []
    told = ", ".join(
        f"{label} {_rate(share.estimate, share.interval)}"
        for label, share in list(known.items())[:_SHOWN]
    )
    bare = not any(isinstance(share.interval, Interval) for share in known.values())
    doubt = " (from votes alone: no interval)" if bare else ""
    return [f"Share of each label, corrected for the judges' errors: {told}{doubt}."]


def _label_lines(forecast: LabelsNeeded | None, result: JudgeResult) -> list[str]:
    if forecast is None or not forecast.left:
        return []
    parts = []
    if forecast.precision:
        parts.append(f"about {count(forecast.precision)} more give each judge ± 5 points")
    elif result.n_labels:
        parts.append("every judge is known to ± 5 points")
    if forecast.leader:
        enough = "" if forecast.enough else " may not even"
        parts.append(
            f"about {count(forecast.leader)} more tell the leader"
            if not enough
            else f"all {count(forecast.left)} that are left may be too few to tell the leader"
        )
    elif forecast.leader is None and result.rivals:
        parts.append("no forecast says how many tell the leader")
    told = "; ".join(parts)
    worth = result.labels_worth
    lines = [f"Labels: {told}. {count(forecast.left)} items are unlabelled."] if parts else []
    if isinstance(worth, float) and worth > 1.05 * result.n_labels > 0:
        lines.append(
            f"The judges' votes make these {count(result.n_labels)} labels as informative as about"
            f" {count(round(worth))} labels alone."
        )
    return lines


def _agreement_lines(result: JudgeResult) -> list[str]:
    table = result.agreement
    if table is None or not table.between:
        return []
    raw = table.between["raw"]
    parts = [f"two judges agree on {_rate(raw.estimate, raw.interval)}"]
    for key, name in _STATISTICS.items():
        if key in table.between:
            parts.append(f"{name} {_coefficient(table.between[key])}")
    lines = [f"Agreement: {', '.join(parts)} (intervals are for new items)."]
    if table.note:
        lines.append(f"Agreement: {table.note}.")
    return lines


def _coefficient(share: Share) -> str:
    if not isinstance(share.estimate, float):
        return "undefined"
    if not isinstance(share.interval, Interval):
        return f"{share.estimate:.2f}"
    return number_interval(share.estimate, share.interval)


def _rate_names(result: JudgeResult) -> list[str]:
    if result.positive is None or not any(score.tpr for score in result.judges):
        return []
    other = next(
        (key for key in result.judges[0].per_label if key != result.positive), "the other label"
    )
    return [
        f'"right on {result.positive}" is the true positive rate (TPR), "right on {other}" the true'
        " negative rate (TNR)."
    ]


def _calibration_lines(result: JudgeResult) -> list[str]:
    check = result.calibration
    if isinstance(check, Unknown):
        return []
    return [
        f"Item probabilities are off by {points(check.error, sign=False)} on average, measured on"
        f" {count(check.n_labels)} labels that were left out; perfect ones would show about"
        f" {points(check.noise_floor, sign=False)}."
    ]


def _covariate_line(effect: CovariateEffect) -> str:
    estimate, interval = effect.error.estimate, effect.error.interval
    if not isinstance(estimate, float) or not isinstance(interval, Interval):
        return f"{effect.judge} and {effect.covariate}: nothing can be said."
    versus = ", relative to the other judges" if effect.relative else ""
    p = p_value(effect.error_p) if isinstance(effect.error_p, float) else ""
    told = (
        f"{effect.judge} and {effect.covariate}: errors change by"
        f" {points_interval(estimate, interval)} per standard deviation{versus} ({p})"
    )
    lean = effect.lean
    if (
        lean is not None
        and isinstance(lean.estimate, float)
        and isinstance(lean.interval, Interval)
    ):
        told += (
            f"; its lean to the positive label by {points_interval(lean.estimate, lean.interval)}"
        )
    return f"{told}."


def _window_lines(result: JudgeResult) -> list[str]:
    lines = []
    for window in result.windows:
        place = f"Items {count(window['start'] + 1)} to {count(window['end'])}"
        lines += [f"{place}: {one['proves']}." for one in window.get("alarms", ())]
        lines += [f"{place}: {text}." for text in window.get("notices", ())]
    return lines


def _side_by_side(estimates: Sequence[Estimate]) -> list[str]:
    """Return a table with a column per method and a row per judge, and what the labels say."""
    lines = [["judge", *(estimate.method for estimate in estimates)]]
    for name in list(estimates[0].accuracy)[:_SHOWN]:
        values = [estimate.accuracy.get(name) for estimate in estimates]
        lines.append(
            [
                name,
                *(
                    percent(value) if isinstance(value, float) else percent(None)
                    for value in values
                ),
            ]
        )
    if any(estimate.rejected is not None for estimate in estimates):
        lines.append(["(by labels)", *(_SAID[estimate.rejected] for estimate in estimates)])
    widths = [max(len(line[j]) for line in lines) for j in range(len(lines[0]))]
    told = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]
    more = len(estimates[0].accuracy) - _SHOWN
    return [*told, *([f"… and {more} more judges (in --json)"] if more > 0 else [])]
