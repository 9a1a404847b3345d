"""What a log of attempts to fool a model says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from tallystick._rng import Rng, as_rng, seed_of
from tallystick.errors import InputError
from tallystick.papers.dynamic_benchmarks.designs import Array
from tallystick.results import Figure, Interval, Result, Unit, Unknown
from tallystick.results.numbers import (
    aligned,
    count,
    number,
    number_interval,
    p_value,
    percent,
    percent_interval,
    points_interval,
)
from tallystick.verbs.dynamic.attempts import (
    INVALID_BY_SELECTION,
    AnnotatorRate,
    Attempts,
    RoundAttempts,
    by_annotator,
    by_round,
    change_between,
    saturation,
    trend,
)
from tallystick.verbs.dynamic.clusters import ClusteredRate, RateContrast, clustered_rate
from tallystick.verbs.dynamic.experiment import TransferRate, transfer
from tallystick.verbs.dynamic.rounds import round_name
from tallystick.verbs.dynamic.validators import (
    AnnotatorEffects,
    ValidatorError,
    annotator_effects,
    corrected_rate,
    validator_error,
)


@dataclass(frozen=True, kw_only=True)
class CampaignRound:
    """One round of an attempt log.

    Parameters
    ----------
    rates
        Fooling and validated attempts, with costs.
    success
        The rate that the answer is about: validated where the log has validations, else fooling.
    attempts_per_success
        One over the ends of its interval.
    corrected, corrected_interval
        The validated rate with the validators' own errors taken out.
    effects
        Whether annotators differ more than luck explains.
    saturation
        Each annotator's second half of attempts against the first.
    """

    round: Any
    rates: RoundAttempts
    success: ClusteredRate
    attempts_per_success: Interval | Unknown
    corrected: float | Unknown
    corrected_interval: Interval | Unknown
    effects: AnnotatorEffects
    saturation: RateContrast | Unknown


@dataclass(frozen=True, kw_only=True)
class ModelRate:
    """How often one model was fooled, over all rounds."""

    model: str
    rate: ClusteredRate


@dataclass(frozen=True, kw_only=True)
class AttemptResult(Result):
    """What a log of attempts says.

    Parameters
    ----------
    checked
        Whether anything in the log says which labels are valid.
    annotators
        How many people (or probes) made the attempts; None if the log does not name them.
    rounds
        By round.
    by_annotator, by_model
        Rates of each annotator in each round, and of each model where there are several.
    change, trend
        From the first round to the last, and per round, with shared annotators paired.
    validators
        How well validators see whether a label is valid, from their votes.
    transfer
        How often a round's items fool models that were not in its loop.
    cost_unit
        The column that the cost was read from.
    """

    verb: ClassVar[str] = "dynamic"

    action: str = "analyse"
    kind: str = "attempts"
    checked: bool
    attempts: int
    annotators: int | None
    rounds: tuple[CampaignRound, ...]
    by_annotator: tuple[AnnotatorRate, ...]
    by_model: tuple[ModelRate, ...]
    change: RateContrast | Unknown
    trend: RateContrast | Unknown
    validators: ValidatorError | Unknown
    transfer: tuple[TransferRate, ...] | Unknown
    cost_unit: str | None

    def terminal(self, width: int) -> list[tuple[str, str]]:
        """Return the lines that a terminal shows, each with its style."""
        del width
        return attempt_lines(self)

    def summary(self) -> str:
        """Return plain text to paste."""
        from tallystick.results import harmless

        return "\n".join(harmless(text) for text, _ in attempt_lines(self))

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per round."""
        return [
            {
                "round": each.round,
                "annotators": each.success.annotators if self.annotators else None,
                "attempts": each.success.attempts,
                "fooled": each.rates.fooling.successes,
                "validated": each.success.successes if self.checked else None,
                "unchecked": each.rates.unchecked if self.checked else None,
                "rate": each.success.rate,
                "interval": each.success.interval,
                "attempts_per_success": each.attempts_per_success,
                "cost_per_success": each.rates.cost,
                "cost_interval": each.rates.cost_interval,
            }
            for each in self.rounds
        ]

    def units(self) -> Mapping[str, Unit]:
        """Return what the columns of `rows` measure."""
        return {"rate": "share"}

    def figures(self) -> tuple[Figure, ...]:
        """Return the rates by round, and by annotator in the last round."""
        title = "Validated model error rate" if self.checked else "Share of attempts that fooled"
        by_round = _forest(
            f"{title}, by round",
            [
                (round_name(each.round), each.success.rate, each.success.interval)
                for each in self.rounds
            ],
        )
        last = self.rounds[-1].round
        people = [each for each in self.by_annotator if each.round == last]
        if self.annotators is None or len(people) < 2:
            return (by_round,)
        people.sort(key=lambda each: -each.attempts)
        own = _forest(
            f"{title} of the 30 most active annotators, {round_name(last)}",
            [(each.annotator, each.rate, each.interval) for each in people[:30]],
        )
        return by_round, own


def _forest(title: str, rows: list[tuple[str, float, Interval | Unknown]]) -> Figure:
    ends = [tuple(span) if isinstance(span, Interval) else (None, None) for _, _, span in rows]
    return Figure(
        "forest",
        title,
        {
            "name": [name for name, _, _ in rows],
            "rate": [rate for _, rate, _ in rows],
            "low": [low for low, _ in ends],
            "high": [high for _, high in ends],
        },
        {"name": "name", "value": "rate", "low": "low", "high": "high"},
        unit="share",
    )


# From a log of attempts to its answer: rates, costs, annotators, validators, transfer.


def analyse_attempts(
    log: Attempts,
    *,
    wrong: Mapping[str, Array] | None = None,
    named: bool = True,
    cost_unit: str | None = None,
    alpha: float = 0.05,
    rng: Rng = 0,
) -> AttemptResult:
    """Say how often annotators fooled the model, at what cost, and what else the log shows.

    Parameters
    ----------
    log
        All attempts, failed and retracted ones included.
    wrong
        For transfer: model to one entry per attempt, 1 wrong, 0 right, anything else unanswered.
    named
        Whether the log says who made the attempts; without names there are no intervals.
    cost_unit
        What the cost is counted in.

    Examples
    --------
    >>> draw = np.random.default_rng(0)
    >>> log = Attempts(
    ...     annotator=np.repeat(np.arange(12), 20), round=np.tile([1, 2], 120),
    ...     fooled=draw.random(240) < 0.3, valid=draw.random(240) < 0.8,
    ... )
    >>> found = analyse_attempts(log)
    >>> [each.success.attempts for each in found.rounds], found.checked, found.annotators
    ([120, 120], True, 12)
    """
    generator = as_rng(rng)
    rounds = tuple(
        _round(log, number, rates, named=named, alpha=alpha, rng=generator)
        for number, rates in zip(log.rounds, by_round(log, alpha=alpha), strict=True)
    )
    several = len(log.rounds) > 1
    none = Unknown("it needs two rounds or more")
    unknown = Unknown(NOBODY_NAMED)
    change: RateContrast | Unknown = none if named else unknown
    slope: RateContrast | Unknown = change
    if several and named:
        change = change_between(log, log.rounds[0], log.rounds[-1], alpha=alpha)
        slope = trend(log, alpha=alpha)
    settled = isinstance(rounds[-1].success.interval, Interval)
    return AttemptResult(
        verdict=attempt_verdict(rounds, checked=log.checked, named=named),
        decision="decided" if settled else "unknowable",
        n_items=log.size,
        assumptions=attempt_assumptions(named=named, checked=log.checked),
        warnings=attempt_warnings(rounds, checked=log.checked, named=named),
        seed=seed_of(rng),
        checked=log.checked,
        attempts=log.size,
        annotators=int(np.unique(log.annotator).size) if named else None,
        rounds=rounds,
        by_annotator=by_annotator(log, alpha=alpha) if named else (),
        by_model=_models(log, named, alpha),
        change=change,
        trend=slope,
        validators=_validators(log),
        transfer=_transfer(log, wrong or {}, alpha),
        cost_unit=None if log.cost is None else cost_unit or "cost",
    )


def _round(
    log: Attempts, number: Any, rates: RoundAttempts, *, named: bool, alpha: float, rng: Rng
) -> CampaignRound:
    if not named:
        rates = replace(
            rates,
            fooling=_bare(rates.fooling),
            validated=rates.validated
            if isinstance(rates.validated, Unknown)
            else _bare(rates.validated),
            cost_interval=Unknown(NOBODY_NAMED),
        )
    success = rates.fooling if isinstance(rates.validated, Unknown) else rates.validated
    corrected: tuple[float | Unknown, Interval | Unknown]
    corrected = (Unknown("the log has no validator votes"),) * 2
    if log.yes is not None:
        corrected = corrected_rate(log, number, alpha=alpha)
    try:
        halves: RateContrast | Unknown = saturation(log, number, alpha=alpha)
    except InputError as error:
        halves = Unknown(str(error))
    return CampaignRound(
        round=rates.round,
        rates=rates,
        success=success,
        attempts_per_success=success.attempts_per_success,
        corrected=corrected[0],
        corrected_interval=corrected[1] if named else Unknown(NOBODY_NAMED),
        effects=annotator_effects(log, number, rng=rng),
        saturation=halves if named else Unknown(NOBODY_NAMED),
    )


def _bare(rate: ClusteredRate) -> ClusteredRate:
    """Return a rate without an interval: nobody knows how alike its attempts are."""
    unknown = Unknown(NOBODY_NAMED)
    return replace(rate, interval=unknown, df=unknown, effective=unknown)


def _models(log: Attempts, named: bool, alpha: float) -> tuple[ModelRate, ...]:
    if log.model is None:
        return ()
    found = []
    for name in np.unique(log.model).tolist():
        here = log.model == name
        won, tried = log.per_annotator(here, log.success), log.per_annotator(here)
        rate = clustered_rate(won, tried, alpha=alpha)
        found.append(ModelRate(model=str(name) or "(blank)", rate=rate if named else _bare(rate)))
    return tuple(found)


def _validators(log: Attempts) -> ValidatorError | Unknown:
    if log.yes is None or log.no is None:
        return Unknown("the log has no validator votes")
    fooling = log.fooling
    return validator_error(log.yes[fooling], log.no[fooling])


def _transfer(
    log: Attempts, wrong: Mapping[str, Array], alpha: float
) -> tuple[TransferRate, ...] | Unknown:
    if not wrong:
        return Unknown("no column holds what other models answered (--models)")
    if log.model is None:
        # Without the model in the loop nobody can say which of these columns it is.
        bare = replace(log, model=np.full(log.size, ""))
        return transfer(bare, wrong, alpha=alpha)
    return transfer(log, wrong, alpha=alpha)


# The sentences of an answer about an attempt log.


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
    lines += [(text, "") for text in (*_people(result), *_attempt_verdict_validators(result))]
    lines += [
        (text, "")
        for text in (*_attempt_verdict_models(result), *_attempt_verdict_transfer(result))
    ]
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


def _attempt_verdict_validators(result: AttemptResult) -> list[str]:
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


def _attempt_verdict_models(result: AttemptResult) -> list[str]:
    if all(len(each.rates.models) < 2 for each in result.rounds):
        return []  # one model per round: the rates by round say it all
    lines = ["Models in the loop (comparable only if attempts were assigned to them at random):"]
    for each in result.by_model:
        lines.append(f"  {each.model}: {rate_text(each.rate)} of {count(each.rate.attempts)}")
    return lines


def _attempt_verdict_transfer(result: AttemptResult) -> list[str]:
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
