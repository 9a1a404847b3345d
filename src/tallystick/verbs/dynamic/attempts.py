r"""What does a raw log of attempts to fool models say? Dynabench exports, red-teaming logs.

One row per attempt: who tried, in which round, against which model, whether it was fooled, what
validators said, what it cost. The *validated model error rate* of a round is

.. math:: \mathrm{vMER} = \text{validated fooling attempts} / \text{attempts}  \tag{B1}

over *all* attempts, those that fooled nobody and those that were retracted included. Intervals
treat the annotator as the unit (:mod:`tallystick.verbs.dynamic.clusters`). What such a log cannot
show, however long it is, stands in :data:`INVALID_BY_SELECTION`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallystick.errors import InputError
from tallystick.papers.dynamic_benchmarks.designs import Array
from tallystick.results import Interval, Unknown
from tallystick.table import Label
from tallystick.table.words import as_word, is_no_answer
from tallystick.verbs.dynamic.clusters import (
    ClusteredRate,
    RateContrast,
    clustered_contrast,
    clustered_cost,
    clustered_rate,
)

INVALID_BY_SELECTION: dict[str, str] = {
    "in-loop error": (
        "The error rate of the model in the loop on its own round is 100 % by design, because "
        "items were kept for fooling it. Neither that rate nor a comparison with other models on "
        "that round says how good the model is."
    ),
    "falling rate": (
        "A falling rate does not show that the model improved: annotators, pay, instructions and "
        "contexts changed too. Only the same annotators, with models assigned at random, show it."
    ),
    "population risk": (
        "The risk of a vote on collected items is not its risk in the population: the items were "
        "collected because they are hard."
    ),
    "harder round": (
        "Different annotators in two rounds cannot show that one round is harder than the other."
    ),
    "dropped attempts": (
        "After dropping retracted, flagged or unvalidated attempts, a rate is no longer one per "
        "attempt."
    ),
    "non-fooling accuracy": (
        "Attempts that did not fool the model do not show its accuracy, because nobody checked "
        "their labels."
    ),
    "first success": (
        "Where annotators stop at the first success, their tries are not alike, and a rate per "
        "attempt mixes easy and hard tries."
    ),
}
"""Conclusions that the way such logs are collected rules out, by a short name."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Attempts:
    """A log of attempts, one entry per attempt in every array.

    Parameters
    ----------
    annotator, round
        Who tried, and in which round (numbers or dates that sort).
    fooled
        Whether the model in the loop gave a wrong answer, as the annotator saw it.
    model, item
        The model in the loop; the item's name.
    yes, no
        How many validators confirmed and denied the annotator's label. A flag is no vote.
    valid
        Instead of votes: whether the label was found valid (True, False, or None if unchecked).
    retracted
        Attempts that were taken back. They stay attempts and never count as fooling.
    cost, order
        What each attempt cost; when it was made (any numbers that sort).
    round_names
        What the rounds are called, by their place, where *round* holds places from 0.

    Examples
    --------
    >>> log = Attempts(
    ...     annotator=np.array(["ann", "ann", "bob"]), round=np.array([1, 1, 1]),
    ...     fooled=np.array([True, False, True]), yes=np.array([2, 0, 0]), no=np.array([1, 0, 0]),
    ... )
    >>> log.validated.tolist(), log.unchecked.tolist()
    ([True, False, False], [False, False, True])
    """

    annotator: Array
    round: Array
    fooled: Array
    model: Array | None = None
    item: Array | None = None
    yes: Array | None = None
    no: Array | None = None
    valid: Array | None = None
    retracted: Array | None = None
    cost: Array | None = None
    order: Array | None = None
    round_names: tuple[Any, ...] | None = None

    def __post_init__(self) -> None:
        size = len(np.asarray(self.annotator))
        if not size:
            raise InputError("the log has no attempt")
        for name in self.__dataclass_fields__:
            given = getattr(self, name)
            if given is None or name == "round_names":
                continue
            values = np.asarray(given)
            if values.shape != (size,):
                raise InputError(f"{name} needs one entry per attempt, {size}, got {values.shape}")
            object.__setattr__(self, name, values)
        for name in ("fooled", "retracted"):
            given = getattr(self, name)
            if given is not None and not np.isin(given, (0, 1)).all():
                raise InputError(f"{name} must be True or False for every attempt")
            object.__setattr__(self, name, None if given is None else given.astype(bool))
        if (self.yes is None) != (self.no is None):
            raise InputError("yes and no go together: give both counts of votes, or neither")
        if self.yes is not None and self.valid is not None:
            raise InputError("give the validators' votes or the validity, not both")
        if (
            self.yes is not None
            and self.no is not None
            and (self.yes.min() < 0 or self.no.min() < 0)
        ):
            raise InputError("yes and no count votes, so they cannot be negative")
        if self.cost is not None:
            bad = np.flatnonzero(~(np.isfinite(self.cost.astype(float)) & (self.cost >= 0)))
            if bad.size:
                raise InputError(
                    f"cost of attempt {bad[0] + 1} is {self.cost[bad[0]]!r}: every attempt needs a "
                    "finite cost that is not negative, or leave the column out"
                )

    @property
    def size(self) -> int:
        """How many attempts there are."""
        return len(self.annotator)

    @property
    def rounds(self) -> tuple[Any, ...]:
        """The rounds in order."""
        return tuple(np.unique(self.round).tolist())

    def name_of(self, number: Any) -> Any:
        """Return what round *number* is called."""
        return number if self.round_names is None else self.round_names[int(number)]

    @property
    def checked(self) -> bool:
        """Whether anything in the log says which labels are valid."""
        return self.yes is not None or self.valid is not None

    @property
    def fooling(self) -> Array:
        """Attempts that fooled the model and were not retracted, whatever validators said."""
        return np.asarray(self.fooled if self.retracted is None else self.fooled & ~self.retracted)

    @property
    def validated(self) -> Array:
        """Fooling attempts that validators confirmed and nobody retracted (B1)."""
        return np.asarray(self.fooling & (self._verdict == 1))

    @property
    def unchecked(self) -> Array:
        """Fooling attempts that validators have not decided: no vote yet, or a tie."""
        return np.asarray(self.fooling & (self._verdict == 0))

    @property
    def success(self) -> Array:
        """What a rate counts: validated attempts, or fooling ones where nothing was checked."""
        return self.validated if self.checked else self.fooling

    def within(self, number: Any) -> Array:
        """Return which attempts belong to round *number*."""
        here = self.round == number
        if not np.any(here):
            raise InputError(f"the log has no round {number!r}: its rounds are {self.rounds}")
        return np.asarray(here)

    def per_annotator(self, here: Array, values: Array | None = None) -> Array:
        """Sum *values* over the attempts *here* of each annotator, or count them without values."""
        _, place = np.unique(self.annotator[here], return_inverse=True)
        return np.bincount(place, None if values is None else values[here].astype(float))

    @property
    def _verdict(self) -> Array:
        """1 valid, -1 invalid, 0 undecided."""
        if self.yes is not None and self.no is not None:
            return np.asarray(np.sign(self.yes.astype(int) - self.no.astype(int)))
        if self.valid is not None:
            known = {True: 1, False: -1}  # 1 and 0 are the same keys
            return np.array([known.get(value, 0) for value in self.valid.tolist()])
        return np.zeros(self.size, dtype=int)


# How often do annotators fool the model? Rates by round and annotator, changes, costs.
#
# Every rate is per attempt (:class:`tallystick.verbs.dynamic.attempts.Attempts`) and takes the
# annotator for the unit (:mod:`tallystick.verbs.dynamic.clusters`). A change of the rate is not a
# change of the model: see :data:`tallystick.verbs.dynamic.attempts.INVALID_BY_SELECTION`.


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


# Words in the cells of an attempt log: fooled or not, valid or not, still open.


def _words(text: str) -> frozenset[str]:
    return frozenset(word.strip() for word in text.split(","))


YES, NO = _words("1,1.0,true,yes,y,t"), _words("0,0.0,false,no,n,f")
FOOLED = YES | _words(
    "fooled,success,successful,succeeded,wrong,incorrect,jailbroken,jailbreak,hit,unsafe,harmful,"
    "complied,compliance,bypassed,breached,violation,model fooled,attack success,attack succeeded"
)
NOT_FOOLED = NO | _words(
    "failure,failed,fail,right,correct,safe,refused,refusal,blocked,harmless,unsuccessful,passed,"
    "pass,miss,not fooled,no hit,model not fooled,not jailbroken,attack failed,attack failure"
)
VALID = YES | _words(
    "valid,correct,confirmed,verified,agree,agreed,agrees,accepted,approved,accept,approve,pass,"
    "passed,right,ok"
)
RIGHT = VALID | _words("safe,refused,refusal,blocked")
INVALID = NO | _words(
    "invalid,incorrect,wrong,rejected,reject,denied,disagree,disagreed,disagrees,fail,failed"
)
OPEN = _words(
    "flagged,flag,unsure,pending,unverified,unvalidated,open,unchecked,unknown,skipped,queued,"
    "not validated,not checked,not verified"
)
_FOOLING = _words(
    "fooled,not fooled,jailbroken,jailbreak,not jailbroken,bypassed,breached,model fooled,"
    "model not fooled,attack success,attack succeeded,attack failed,attack failure"
)
"""Words that say fooled or not, whatever their column is called."""


def all_of(cells: Iterable[Label], words: frozenset[str]) -> bool:
    """Say whether all cells that hold something are one of *words*.

    >>> all_of(["Valid", "invalid", None], VALID | INVALID), all_of(["maybe"], VALID | INVALID)
    (True, False)
    """
    held = [cell for cell in cells if cell is not None and not is_no_answer(cell)]
    return bool(held) and all((as_word(cell) or str(cell)) in words for cell in held)


def say_fooled(cells: Iterable[Label]) -> bool:
    """Say whether cells tell who was fooled, in words that mean nothing else.

    >>> say_fooled(["fooled", "not fooled"]), say_fooled(["yes", "no"]), say_fooled(["safe"])
    (True, False, False)
    """
    held = list(cells)
    named = any((as_word(cell) or "") in _FOOLING for cell in held)
    return named and all_of(held, FOOLED | NOT_FOOLED | OPEN)
