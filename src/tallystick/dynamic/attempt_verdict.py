"""The sentences of an answer about an attempt log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tallystick.dynamic.attempts import INVALID_BY_SELECTION
from tallystick.dynamic.rounds import round_name
from tallystick.results import Interval, Unknown
from tallystick.results.numbers import (
    count,
    number,
    number_interval,
    p_value,
    percent,
    percent_interval,
    points_interval,
)
from tallystick.results.text import aligned

if TYPE_CHECKING:
    from tallystick.dynamic.attempt_result import AttemptResult, CampaignRound
    from tallystick.dynamic.clustered_rate import ClusteredRate

__all__ = [
    "NOBODY_NAMED",
    "ONE_ROUND",
    "attempt_assumptions",
    "attempt_lines",
    "attempt_verdict",
    "attempt_warnings",
]

NOBODY_NAMED = (
    "the log does not name who made the attempts, so nothing shows how alike they are: name the"
    " column (--annotator)"
)

ONE_ROUND = "all attempts"
"""What the only round of a log without rounds is called."""

_FEW = 10


def attempt_verdict(rounds: tuple[CampaignRound, ...], *, checked: bool, named: bool) -> str:
    """Say how often the model was fooled in the last round, and who tried how often."""
    last = rounds[-1]
    rate = last.success
    shown = rate_text(rate)
    people = (
        f" by {count(rate.annotators)} annotator{'s' * (rate.annotators != 1)}" if named else ""
    )
    where = "" if last.round == ONE_ROUND else f" of {round_name(last.round)}"
    fooled = (
        "fooled the model, with a label that validators confirmed"
        if checked
        else "fooled the model (no column of validation was read)"
    )
    return f"{shown} of the {count(rate.attempts)} attempts{people}{where} {fooled}."


def rate_text(rate: ClusteredRate) -> str:
    """Return a rate with its interval, or alone."""
    if isinstance(rate.interval, Interval):
        return percent_interval(rate.rate, rate.interval)
    return percent(rate.rate)


def attempt_assumptions(*, named: bool, checked: bool) -> tuple[str, ...]:
    """Return what the answer about an attempt log rests on."""
    found = ["rates are per attempt, retracted and failed ones included"]
    if named:
        found.append("intervals take the annotator for the unit: they are approximate (measured)")
    if checked:
        found.append("a fooling attempt without a decided validation counts as not validated")
    return tuple(found)


def attempt_warnings(
    rounds: tuple[CampaignRound, ...], *, checked: bool, named: bool
) -> tuple[str, ...]:
    """Return what would change how a sensible reader uses the answer."""
    found = []
    few = [each for each in rounds if each.success.annotators < _FEW]
    if named and few:
        names = ", ".join(str(each.round) for each in few[:6])
        names += f" and {len(few) - 6} more" if len(few) > 6 else ""
        where = "" if few[0].round == ONE_ROUND else f" in {round_name(names)}"
        found.append(
            f"Fewer than {_FEW} annotators{where}: they say little, however many attempts they"
            " made."
        )
    if not named:
        found.append(f"There are no intervals: {NOBODY_NAMED}.")
    late = [each for each in rounds if each.rates.unchecked]
    if checked and late:
        each = late[-1]
        top = each.rates.highest
        most = f" and would be at most {percent(top.rate)}" if not isinstance(top, Unknown) else ""
        found.append(
            f"{count(each.rates.unchecked)} fooling attempts of the last such round"
            f" ({each.round}) are not validated yet and count as failures: the rate is"
            f" {percent(each.success.rate)} now{most}."
        )
    everyone = [each for each in rounds if each.rates.fooling.rate == 1.0]
    if everyone:
        found.append(
            "Every attempt fooled the model"
            + ("" if everyone[-1].round == ONE_ROUND else f" in {round_name(everyone[-1].round)}")
            + ". If the log holds only successes, it shows no rate: log all attempts."
        )
    return tuple(found)


def attempt_lines(result: AttemptResult) -> list[tuple[str, str]]:
    """Return the answer as a terminal shows it."""
    lines = [(result.verdict, "bold")]
    if not isinstance(result.change, Unknown):
        first, last = result.rounds[0].round, result.rounds[-1].round
        lines.append((_change(result, first, last), ""))
    lines.append(("", ""))
    lines += [(text, "") for text in aligned(_table(result))]
    lines += [(text, "") for text in (*_people(result), *_validators(result))]
    lines += [(text, "") for text in (*_models(result), *_transfer(result))]
    lines.append(("", ""))
    lines += [(result.rests_on(), "dim")] if result.assumptions else []
    lines += [(f"! {text}", "yellow") for text in result.warnings]
    lines += [(f"Not shown by such a log: {text}", "dim") for text in _invalid(result)]
    return lines


def _change(result: AttemptResult, first: Any, last: Any) -> str:
    change, span = result.change, f"{round_name(first)} to {last}"
    if isinstance(change, Unknown):
        return ""
    if isinstance(change.interval, Unknown):
        return f"From {span} the change has no interval: {change.interval.reason}."
    low, high = change.interval
    shown = points_interval(change.estimate, change.interval)
    if low > 0 or high < 0:
        way = "rose" if low > 0 else "fell"
        return f"From {span} the rate {way}: {shown}. That is not the model alone."
    return f"No change from {span} is shown: {shown}."


def _table(result: AttemptResult) -> list[list[str]]:
    rate = "validated rate" if result.checked else "fooling rate"
    per = "validated success" if result.checked else "success"
    head = ["round", "annotators", "attempts", "fooled", rate, f"attempts per {per}"]
    has_cost = result.cost_unit is not None
    rows = [[*head, *([f"{result.cost_unit} per {per}"] if has_cost else [])]]
    for each in result.rounds:
        per_success, cost = each.attempts_per_success, each.rates.cost
        tries = 1 / each.success.rate if each.success.rate else float("inf")
        known = isinstance(per_success, Interval)
        row = [
            str(each.round),
            count(each.success.annotators) if result.annotators else "–",
            count(each.success.attempts),
            count(each.rates.fooling.successes),
            rate_text(each.success),
            _numbers(tries, per_success) if known else _plain(tries),
        ]
        if has_cost:
            shown = "–" if isinstance(cost, Unknown) else _numbers(cost, each.rates.cost_interval)
            row.append(shown)
        rows.append(row)
    return rows


def _plain(value: float) -> str:
    return "–" if value == float("inf") else number(float(f"{value:.3g}"))


def _numbers(value: float, interval: Interval | Unknown) -> str:
    if value == float("inf"):
        low = interval.low if isinstance(interval, Interval) else None
        return "–" if low is None else f"more than {number(float(f'{low:.3g}'))}"
    return number_interval(value, interval) if isinstance(interval, Interval) else _plain(value)


def _people(result: AttemptResult) -> list[str]:
    """Say whether annotators differ, and whether the rate changed within the last round."""
    last = result.rounds[-1]
    lines = []
    effects = last.effects
    if not isinstance(effects.p_value, Unknown):
        differ = (
            "differ more than luck explains"
            if effects.p_value < 0.05
            else ("do not differ more than luck explains")
        )
        half = effects.half_made_by
        made = f"; {half} of {effects.annotators} made half of the successes" if half else ""
        where = "" if last.round == ONE_ROUND else f" ({round_name(last.round)})"
        text = f"Annotators{where}: they {differ} ({p_value(effects.p_value)}){made}."
        lines.append(text)
    if not isinstance(last.saturation, Unknown) and last.saturation.error:
        span = last.saturation.interval
        if isinstance(span, Interval):
            shown = points_interval(last.saturation.estimate, span)
            said = (
                "no change is shown"
                if span.low <= 0 <= span.high
                else (
                    "they find fewer new ways, or tire"
                    if span.high < 0
                    else "they got better at it"
                )
            )
            within = "the log" if last.round == ONE_ROUND else round_name(last.round)
            text = f"Within {within}, second half of each annotator's attempts: {shown},"
            lines.append(f"{text} {said}.")
    return lines


def _validators(result: AttemptResult) -> list[str]:
    found = result.validators
    if isinstance(found, Unknown):
        return []
    if not isinstance(found.share, Unknown):
        text = (
            f"Validators ({count(found.items)} items with votes): {percent(found.share)} of the"
            f" fooling items are valid; a validator confirms a valid one in"
            f" {percent(_known(found.sensitivity))} and denies an invalid one in"
            f" {percent(_known(found.specificity))}."
        )
        lines = [text]
        for each in result.rounds:
            if isinstance(each.corrected_interval, Interval) and not isinstance(
                each.corrected, Unknown
            ):
                shown = percent_interval(each.corrected, each.corrected_interval)
                lines.append(
                    f"  {_capital(round_name(each.round))} with their errors taken out: {shown}."
                )
        return lines
    if found.possible is not None:
        low, high = found.possible
        return [
            f"Validators: {found.share.reason}. Between {percent(low)} and {percent(high)} of the"
            " fooling items can be valid."
        ]
    return [f"Validators: {found.share.reason}."]


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _known(value: float | Unknown) -> float | None:
    return None if isinstance(value, Unknown) else value


def _models(result: AttemptResult) -> list[str]:
    if all(len(each.rates.models) < 2 for each in result.rounds):
        return []  # one model per round: the rates by round say it all
    lines = ["Models in the loop (comparable only if attempts were assigned to them at random):"]
    for each in result.by_model:
        lines.append(f"  {each.model}: {rate_text(each.rate)} of {count(each.rate.attempts)}")
    return lines


def _transfer(result: AttemptResult) -> list[str]:
    if isinstance(result.transfer, Unknown) or not result.transfer:
        return []
    lines = ["Transfer: how often a round's items fool models that were not in its loop:"]
    for each in result.transfer:
        shown = "–" if isinstance(each.rate, Unknown) else rate_text(each.rate)
        lines.append(f"  {round_name(each.round)}, {each.model}: {shown}")
    return lines


def _invalid(result: AttemptResult) -> list[str]:
    """Return the conclusions that a reader of this log might draw and must not."""
    names = ["falling rate"] if len(result.rounds) > 1 else []
    names += ["non-fooling accuracy"] if result.checked else ["dropped attempts"]
    if not isinstance(result.transfer, Unknown):
        names.append("in-loop error")
    return [INVALID_BY_SELECTION[name] for name in names]
