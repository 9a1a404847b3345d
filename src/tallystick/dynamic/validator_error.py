r"""The share of fooling items that are really valid, when validators err too.

An item is valid with probability π. A validator confirms a valid item with probability s
(sensitivity) and denies an invalid one with probability c (specificity), each vote on its own. With
y votes for and n against, an item is valid with probability

.. math:: w = \frac{\pi s^y (1-s)^n}{\pi s^y (1-s)^n + (1-\pi) (1-c)^y c^n}  \tag{V1}

and EM repeats this with

.. math:: \pi = \frac{.5 + \sum w}{1 + \sum 1}, \quad
          s = \frac{1.8 + \sum w y}{2 + \sum w (y+n)}, \quad
          c = \frac{1.6 + \sum (1-w) n}{2 + \sum (1-w)(y+n)}  \tag{V2}

from .8, .9, .8, with s and c kept at 1/2 or more. Votes that stop when two agree have the same
likelihood, so vote counts may vary. Items with three votes are needed: two votes identify only a
set of π (:func:`two_vote_set`), one vote nothing. Taking the majority of votes for the truth was
biased by up to .03.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log, sqrt

import numpy as np

from tallystick.dynamic.attempts import Attempts
from tallystick.dynamic.clustered_rate import student_quantile
from tallystick.dynamic.population import Array
from tallystick.errors import ConvergenceError, InputError
from tallystick.results import Interval, Unknown

__all__ = ["ValidatorError", "corrected_rate", "two_vote_set", "validator_error"]

_START = (0.8, 0.9, 0.8)
_TOLERANCE = 1e-12
_STEPS = 200_000
_MODEL = "validators err independently, all with one sensitivity and one specificity"


@dataclass(frozen=True, kw_only=True)
class ValidatorError:
    """Share of valid items, and how well validators see it.

    Parameters
    ----------
    share
        π, or the reason why votes do not identify it.
    sensitivity, specificity
        s and c.
    possible
        The set of π that two votes per item leave open; None where π is a number or nothing is
        known.
    items
        Items with votes.
    """

    share: float | Unknown
    sensitivity: float | Unknown
    specificity: float | Unknown
    possible: tuple[float, float] | None
    items: int


def validator_error(yes: Array, no: Array) -> ValidatorError:
    """Estimate the share of valid items from validators' votes by EM, (V1) and (V2).

    Parameters
    ----------
    yes, no
        Votes for and against each item; items without votes are left out. A flag is no vote.

    Examples
    --------
    >>> yes = np.repeat([3, 2, 1, 0], [40, 12, 6, 10])
    >>> found = validator_error(yes, 3 - yes)
    >>> [round(x, 4) for x in (found.share, found.sensitivity, found.specificity)]
    [0.7607, 0.916, 0.8503]
    """
    y, n = _checked(yes, no)
    votes = y + n
    most = int(votes.max()) if votes.size else 0
    if most < 3:
        return _unidentified(y, n, most)

    # Items with equal votes are alike, so EM runs over the kinds and not over the items.
    kinds, count = np.unique(np.column_stack([y, n]), axis=0, return_counts=True)
    share, sensitivity, specificity = _em(kinds[:, 0], kinds[:, 1], count)
    return ValidatorError(
        share=share,
        sensitivity=sensitivity,
        specificity=specificity,
        possible=None,
        items=int(votes.size),
    )


def two_vote_set(yes: Array, no: Array) -> tuple[float, float]:
    r"""Return the shares π that two votes per item leave open.

    With m the mean share of yes and :math:`D = \Pr(\text{both yes}) - m^2`,

    .. math:: \pi \in \Bigl[\frac{D}{D + (1-m)^2},\; \frac{m^2}{m^2 + D}\Bigr],  \tag{V3}

    and [0, 1] if D is not positive. The ends are those of a perfect specificity and of a perfect
    sensitivity. Sampling error is not in it.

    Parameters
    ----------
    yes, no
        Votes for and against; only items with exactly two votes count.

    Examples
    --------
    >>> yes = np.repeat([2, 1, 0], [696, 156, 148])
    >>> low, high = two_vote_set(yes, 2 - yes)
    >>> round(low, 3), round(high, 3)
    (0.655, 0.861)
    """
    y, n = _checked(yes, no)
    two = y + n == 2
    if not two.any():
        raise InputError("no item has exactly two votes")
    mean = float(y[two].mean()) / 2
    excess = float((y[two] == 2).mean()) - mean**2
    if excess <= 0:
        return 0.0, 1.0
    return excess / (excess + (1 - mean) ** 2), mean**2 / (mean**2 + excess)  # (V3)


def corrected_rate(
    log: Attempts, number: object, *, alpha: float = 0.05
) -> tuple[float | Unknown, Interval | Unknown]:
    r"""Return a round's validated error rate with the validators' errors taken out: MER · π.

    MER is the share of attempts that fooled the model; π comes from the votes on them (V2). The
    interval is a jackknife that leaves out one annotator at a time, on the logit, with
    :math:`t(G-1)` for G annotators: .89 to .98 of them held the truth, with a bias of at most .009.

    Parameters
    ----------
    log
        With votes.
    number
        The round.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> who, fooled = np.repeat(np.arange(12), 40), rng.random(480) < 0.4
    >>> valid = rng.random(480) < 0.8
    >>> yes = np.where(fooled, rng.binomial(3, np.where(valid, 0.9, 0.15)), 0)
    >>> no = np.where(fooled, 3 - yes, 0)
    >>> log = Attempts(annotator=who, round=np.ones(480, int), fooled=fooled, yes=yes, no=no)
    >>> rate, interval = corrected_rate(log, 1)
    >>> 0.32 in interval
    True
    """
    if log.yes is None or log.no is None:
        raise InputError("the log has no validator votes: give yes and no")
    if not 0 < alpha < 1:
        raise InputError(f"alpha must be in (0, 1), got {alpha!r}")
    here = log.within(number)
    whole = _rate_of(log, here)
    if isinstance(whole, Unknown):
        return whole, whole

    names = np.unique(log.annotator[here])
    if names.size < 2:
        return whole, Unknown("one annotator made all attempts, so none can be left out")
    left = [_rate_of(log, here & (log.annotator != name)) for name in names.tolist()]
    rates = [rate for rate in left if not isinstance(rate, Unknown)]
    if len(rates) < names.size or not all(0 < rate < 1 for rate in [whole, *rates]):
        return whole, Unknown("without one of the annotators the rate is 0, 1 or not identified")

    # The jackknife's variance: (G - 1)/G times the squares around the mean of the left-out values.
    points = np.array([_log_odds(rate) for rate in rates])
    error = sqrt((names.size - 1) / names.size * float(((points - points.mean()) ** 2).sum()))
    reach = student_quantile(names.size - 1, alpha) * error
    centre = _log_odds(whole)
    interval = Interval(
        1 / (1 + exp(reach - centre)),
        1 / (1 + exp(-reach - centre)),
        level=1 - alpha,
        guarantee="under",
        assumption=_MODEL,
        method="jackknife over annotators",
    )
    return whole, interval


def _log_odds(rate: float) -> float:
    return log(rate / (1 - rate))


def _rate_of(log: Attempts, here: Array) -> float | Unknown:
    """Return MER · π over the attempts *here*."""
    fooling = here & log.fooling
    if log.yes is None or log.no is None or not fooling.any():
        return Unknown("no attempt fooled the model")
    found = validator_error(log.yes[fooling], log.no[fooling])
    if isinstance(found.share, Unknown):
        return found.share
    return float(fooling.sum() / here.sum()) * found.share


def _checked(yes: Array, no: Array) -> tuple[Array, Array]:
    y, n = np.asarray(yes), np.asarray(no)
    if y.ndim != 1 or y.shape != n.shape:
        raise InputError(f"yes and no need equal lengths, got {y.shape} and {n.shape}")
    if y.size and (not np.all((y >= 0) & (n >= 0)) or not np.all((y == y // 1) & (n == n // 1))):
        raise InputError("yes and no count votes: whole numbers that are not negative")
    voted = y + n > 0
    return y[voted].astype(int), n[voted].astype(int)


def _unidentified(y: Array, n: Array, most: int) -> ValidatorError:
    reason = {
        0: "no item has a vote",
        1: "one vote per item cannot tell an invalid item from a mistaken validator",
        2: "two votes per item leave a set of shares open: three are needed on some items",
    }[most]
    unknown = Unknown(reason)
    return ValidatorError(
        share=unknown,
        sensitivity=unknown,
        specificity=unknown,
        possible=two_vote_set(y, n) if most == 2 else None,
        items=int(y.size),
    )


def _em(y: Array, n: Array, count: Array) -> tuple[float, float, float]:
    """Return π, s and c where EM stops moving."""
    share, sensitivity, specificity = _START
    votes, total = y + n, int(count.sum())
    for _ in range(_STEPS):
        right = share * sensitivity**y * (1 - sensitivity) ** n
        weight = (
            count * right / (right + (1 - share) * (1 - specificity) ** y * specificity**n)
        )  # (V1)
        rest = count - weight

        before = share, sensitivity, specificity
        share = (0.5 + float(weight.sum())) / (1 + total)  # (V2), and the next two lines
        sensitivity = max(0.5, (1.8 + float(weight @ y)) / (2 + float(weight @ votes)))
        specificity = max(0.5, (1.6 + float(rest @ n)) / (2 + float(rest @ votes)))
        now = share, sensitivity, specificity
        if max(abs(a - b) for a, b in zip(now, before, strict=True)) < _TOLERANCE:
            return now
    raise ConvergenceError(f"EM on the validators' votes still moved after {_STEPS:,} steps")
