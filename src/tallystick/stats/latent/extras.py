r"""Votes that can never be true (tie, error, refusal): shares, accuracies, and a model interval.

Truth is fitted over the K possible labels, votes over all V. An interval exists only under the
model: outer-product information on logits, plus :math:`\mathrm{diag}(C) - C C'` per row for its
pseudo-vote, delta method on

.. math:: a_j = \sum_y \pi_y C_{jyy}   \tag{U11}

on the logit scale. Votes that a judge never cast are left out, or the information is singular. On
weak panels the interval fails (.62 for the strong judge among .9 .6 .6), so it is withheld unless
the third best accuracy when answered is at least .7. Even then it holds only if the judges err
independently: the worst panel that passed covered .86.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tallystick.errors import InputError, NotIdentifiable
from tallystick.results import Interval, Unknown
from tallystick.stats.latent.information import information
from tallystick.stats.latent.unreadable import UnreadableFit
from tallystick.stats.latent.votes import FloatArray

__all__ = ["GATE", "WithExtras", "with_extras"]

GATE = 0.7
"""The third best accuracy when answered must reach this, or no interval is given."""

_ASSUMPTION = "errors are independent given the label"


@dataclass(frozen=True, kw_only=True, eq=False)
class WithExtras:
    """Judges whose votes include some that are never true.

    Parameters
    ----------
    balance
        Shares of the labels that can be true.
    answered
        Share of each judge's votes that are possible labels.
    accuracy
        Share of all votes of a judge that are right, :math:`A^0_j`: extra votes count as not right.
    when_answered
        Share of its possible votes that are right; NaN for a judge without one.
    on_new_items
        (U11): the accuracy on new items, the centre of the interval.
    intervals
        One per judge, or why there is none.
    """

    balance: FloatArray
    answered: FloatArray
    accuracy: FloatArray
    when_answered: FloatArray
    on_new_items: FloatArray
    intervals: tuple[Interval | Unknown, ...]


def with_extras(fit: UnreadableFit, *, level: float = 0.95) -> WithExtras:
    """Return accuracies with extra votes and, where the panel is strong enough, model intervals.

    Works without extra votes too.

    Examples
    --------
    Three judges; vote 2 is a refusal.

    >>> from tallystick.stats.latent import fit_unreadable
    >>> patterns = [[0, 0, 0], [1, 1, 1], [0, 0, 1], [0, 1, 0], [1, 0, 0], [1, 1, 0], [1, 1, 2]]
    >>> fit = fit_unreadable(patterns, [40, 38, 9, 7, 4, 8, 5], n_labels=2, n_votes=3)
    >>> found = with_extras(fit)
    >>> found.answered.round(3)
    array([1.   , 1.   , 0.955])
    """
    if not 0 < level < 1:
        raise InputError(f"level must be in (0, 1), got {level!r}")
    table = fit.tables[fit.at(0.0)]
    votes = table.sum(axis=(1, 2))
    possible = table[:, :, : fit.n_labels].sum(axis=(1, 2))
    right = np.einsum("jyy->j", table[:, :, : fit.n_labels])
    when_answered = _ratio(right, possible)

    n_judges = len(votes)
    third = np.sort(when_answered[np.isfinite(when_answered)])[::-1][2:3]
    intervals: tuple[Interval | Unknown, ...]
    if not third.size or third[0] < GATE:
        weak = "none" if not third.size else f"{100 * float(third[0]):.1f} %"
        reason = (
            f"the third best judge is right on {weak} of what it answers, below "
            f"{100 * GATE:.0f} %: model intervals fail on such panels"
        )
        intervals = (Unknown(reason),) * n_judges
    else:
        intervals = _intervals(fit, level)
    return WithExtras(
        balance=fit.plain.balance,
        answered=_ratio(possible, votes),
        accuracy=fit.accuracy[fit.at(0.0)],
        when_answered=when_answered,
        on_new_items=fit.plain.model.accuracy,
        intervals=intervals,
    )


def _intervals(fit: UnreadableFit, level: float) -> tuple[Interval | Unknown, ...]:
    """Return the logit intervals of (U11); the prior of the fit is the pseudo-vote per row."""
    n_judges = fit.votes.n_judges
    try:
        low, high = information(fit.plain, kind="outer").accuracy_interval(level)
    except NotIdentifiable as error:
        return (Unknown(str(error)),) * n_judges
    out: list[Interval | Unknown] = []
    for j in range(n_judges):
        if np.isfinite(low[j]) and np.isfinite(high[j]):
            out.append(
                Interval(
                    low[j],
                    high[j],
                    level,
                    guarantee="under",
                    assumption=_ASSUMPTION,
                    method="logit",
                )
            )
        else:
            out.append(Unknown("an accuracy of this judge is on the edge or rests on no vote"))
    return tuple(out)


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    unknown = np.full_like(part, np.nan)
    return np.asarray(np.divide(part, whole, out=unknown, where=whole > 0))
