r"""How often do annotators fool the model? Rates by round and annotator, changes, costs.

Every rate is per attempt (:class:`tallystick.dynamic.attempts.Attempts`) and takes the annotator
for the unit (:mod:`tallystick.dynamic.clustered_rate`). A change of the rate is not a change of the
model: see :data:`tallystick.dynamic.attempts.INVALID_BY_SELECTION`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tallystick.dynamic.attempts import Attempts
from tallystick.dynamic.clustered_contrast import RateContrast, clustered_contrast
from tallystick.dynamic.clustered_rate import ClusteredRate, clustered_cost, clustered_rate
from tallystick.dynamic.population import Array
from tallystick.errors import InputError
from tallystick.results import Interval, Unknown

__all__ = [
    "AnnotatorRate",
    "RoundAttempts",
    "by_annotator",
    "by_round",
    "change_between",
    "saturation",
    "trend",
]

_NOT_CHECKED = Unknown("the log has no validator votes and no validity, so fooling is all it shows")
_ALIKE = "the attempts of one annotator are independent and alike"


@dataclass(frozen=True, kw_only=True)
class RoundAttempts:
    """One round of a log.

    Parameters
    ----------
    models
        The models in the loop, where the log names them.
    fooling
        Attempts that fooled the model, whatever validators said of them.
    validated
        The validated model error rate (B1). Fooling attempts that are still unchecked count as not
        validated here.
    highest
        The same rate if all unchecked ones turned out valid.
    unchecked
        How many there are.
    cost, cost_interval
        Cost per fooling attempt: per validated one where the log has validations.
    """

    round: Any
    models: tuple[str, ...]
    fooling: ClusteredRate
    validated: ClusteredRate | Unknown
    highest: ClusteredRate | Unknown
    unchecked: int
    cost: float | Unknown
    cost_interval: Interval | Unknown


def by_round(log: Attempts, *, alpha: float = 0.05) -> tuple[RoundAttempts, ...]:
    """Return the rates of every round, clustered by annotator.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> log = Attempts(
    ...     annotator=np.repeat(np.arange(8), 30), round=np.ones(240, int),
    ...     fooled=rng.random(240) < 0.3, valid=rng.random(240) < 0.8,
    ... )
    >>> (only,) = by_round(log)
    >>> only.validated.annotators, only.validated.rate < only.fooling.rate
    (8, True)
    """
    out = []
    for number in log.rounds:
        here = log.within(number)
        validated, unchecked = log.validated, log.unchecked
        cost: tuple[float | Unknown, Interval | Unknown] = (Unknown("the log has no cost"),) * 2
        if log.cost is not None:
            spent = log.per_annotator(here, log.cost)
            tried, won = log.per_annotator(here), log.per_annotator(here, log.success)
            cost = clustered_cost(spent, won, tried, alpha=alpha)
        out.append(
            RoundAttempts(
                round=log.name_of(number),
                models=() if log.model is None else tuple(map(str, np.unique(log.model[here]))),
                fooling=_rate(log, here, log.fooling, alpha),
                validated=_rate(log, here, validated, alpha) if log.checked else _NOT_CHECKED,
                highest=_rate(log, here, validated | unchecked, alpha)
                if log.checked
                else _NOT_CHECKED,
                unchecked=int((here & unchecked).sum()),
                cost=cost[0],
                cost_interval=cost[1],
            )
        )
    return tuple(out)


@dataclass(frozen=True, kw_only=True)
class AnnotatorRate:
    """One annotator in one round, with an exact interval that takes the attempts for alike."""

    annotator: str
    round: Any
    attempts: int
    successes: int
    rate: float
    interval: Interval


def by_annotator(log: Attempts, *, alpha: float = 0.05) -> tuple[AnnotatorRate, ...]:
    """Return every annotator's rate in every round: validated where the log says so, else fooling.

    Examples
    --------
    >>> who = np.array(["a", "a"])
    >>> log = Attempts(annotator=who, round=np.array([1, 1]), fooled=np.array([1, 0]))
    >>> by_annotator(log)[0].rate
    0.5
    """
    from tallystick.stats.intervals import clopper_pearson

    success = log.success
    out = []
    for number in log.rounds:
        here = log.within(number)
        for name in np.unique(log.annotator[here]).tolist():
            own = here & (log.annotator == name)
            tried, won = int(own.sum()), int((own & success).sum())
            low, high = clopper_pearson(won, tried, alpha=alpha)
            interval = Interval(
                low, high, level=1 - alpha, guarantee="under", assumption=_ALIKE, method="binomial"
            )
            out.append(
                AnnotatorRate(
                    annotator=str(name),
                    round=log.name_of(number),
                    attempts=tried,
                    successes=won,
                    rate=won / tried,
                    interval=interval,
                )
            )
    return tuple(out)


def change_between(log: Attempts, first: Any, second: Any, *, alpha: float = 0.05) -> RateContrast:
    """Return the change of the rate from one round to another, with shared annotators paired.

    It does not show that the model changed (``INVALID_BY_SELECTION["falling rate"]``).
    """
    return _contrast(log, (first, second), (-1.0, 1.0), alpha)


def trend(log: Attempts, *, alpha: float = 0.05) -> RateContrast:
    r"""Return the slope of the rate per round, :math:`c_k = (k - \bar k)/\sum (k - \bar k)^2` (A4).

    Rounds count 1, 2, 3 in order, whatever they are called.
    """
    if len(log.rounds) < 2:
        raise InputError(f"a trend needs two rounds or more, got {log.rounds}")
    place = np.arange(len(log.rounds)) - (len(log.rounds) - 1) / 2
    return _contrast(log, log.rounds, tuple(place / float(place @ place)), alpha)


def saturation(log: Attempts, number: Any, *, alpha: float = 0.05) -> RateContrast:
    """Return how the rate changed within a round: each annotator's second half against the first.

    The halves follow *order*, or the order of rows without it. A fall means that annotators find
    fewer new ways to fool the model, or that they tire: the log cannot tell which.

    Parameters
    ----------
    number
        The round.
    """
    here = log.within(number)
    when = np.arange(log.size) if log.order is None else log.order
    success = log.success
    tried, won = [], []
    for name in np.unique(log.annotator[here]).tolist():
        own = np.flatnonzero(here & (log.annotator == name))
        own = own[np.argsort(when[own], kind="stable")]
        halves = own[: (own.size + 1) // 2], own[(own.size + 1) // 2 :]
        tried.append([half.size for half in halves])
        won.append([int(success[half].sum()) for half in halves])
    if not sum(second for _, second in tried):
        raise InputError(
            f"round {log.name_of(number)!r} has one attempt per annotator: there is no second half"
        )
    return clustered_contrast(won, tried, (-1.0, 1.0), alpha=alpha)


def _contrast(
    log: Attempts, rounds: tuple[Any, ...], weights: tuple[float, ...], alpha: float
) -> RateContrast:
    success = log.success
    names, place = np.unique(log.annotator, return_inverse=True)
    tried = np.zeros((names.size, len(rounds)))
    won = np.zeros_like(tried)
    for k, number in enumerate(rounds):
        here = log.within(number)
        tried[:, k] = np.bincount(place[here], minlength=names.size)
        won[:, k] = np.bincount(place[here & success], minlength=names.size)
    return clustered_contrast(won, tried, weights, alpha=alpha)


def _rate(log: Attempts, here: Array, success: Array, alpha: float) -> ClusteredRate:
    won, tried = log.per_annotator(here, success), log.per_annotator(here)
    return clustered_rate(won, tried, alpha=alpha)
