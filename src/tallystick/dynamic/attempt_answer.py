"""From a log of attempts to its answer: rates, costs, annotators, validators, transfer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from tallystick._rng import Rng, as_rng, seed_of
from tallystick.dynamic.annotator_effects import annotator_effects
from tallystick.dynamic.attempt_rates import (
    RoundAttempts,
    by_annotator,
    by_round,
    change_between,
    saturation,
    trend,
)
from tallystick.dynamic.attempt_result import AttemptResult, CampaignRound, ModelRate
from tallystick.dynamic.attempt_verdict import (
    NOBODY_NAMED,
    attempt_assumptions,
    attempt_verdict,
    attempt_warnings,
)
from tallystick.dynamic.attempts import Attempts
from tallystick.dynamic.clustered_contrast import RateContrast
from tallystick.dynamic.clustered_rate import ClusteredRate, clustered_rate
from tallystick.dynamic.population import Array
from tallystick.dynamic.transfer import TransferRate, transfer
from tallystick.dynamic.validator_error import ValidatorError, corrected_rate, validator_error
from tallystick.errors import InputError
from tallystick.results import Interval, Unknown

__all__ = ["analyse_attempts"]


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
