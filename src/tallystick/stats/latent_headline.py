r"""Without labels: one number per judge, and a range that held on comparable panels.

Dawid-Skene is too high where items differ in difficulty; the majority of the others is too low
where the majority errs. The headline starts from Dawid-Skene with unreadable items and is pulled
towards the majority of the others by misfit:

.. math::
    \hat a_j = u\,B_j + (1 - u) \sum_h w_h A^h_j, \qquad
    u = \mathrm{clip}(\mathrm{ratio} - 1, 0, 1)   \tag{U5}

The ratio is the misfit of pairwise agreement at h = 0 over its mean in refits. Where it was
measured, B is the majority of the others, :math:`\mathrm{LOO}_j`, and the result is kept between
:math:`A^0_j` and :math:`\mathrm{LOO}_j`, so that no judge fares worse than by both of them. Where
nothing can be tested (three binary judges, or no pair with ten common items) u = 1/2 and
:math:`B_j = (A^{.4}_j + \mathrm{LOO}_j)/2`: nobody knows then whether items differ in difficulty.

No interval exists without labels: a bias that all judges share fits perfectly. Printed instead is
"half to double", with :math:`e^- = 1 - \min(\hat a, \mathrm{LOO}, A^{.4})`,
:math:`e^+ = 1 - \max(\hat a, A^0)` and :math:`m(e) = \sqrt{\max(e(1-e), .01)/\text{votes}}`:

.. math:: [\,1 - 2 e^- - m(e^-),\; 1 - e^+/2 + m(e^+)\,]   \tag{U6}

cut to [0, 1]. In 216 simulated cells it held for 99 % of the judges, in the worst cell for 68 %.
It fails where items were built to fool judges.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError
from tallystick.results import Unknown
from tallystick.stats.latent_checks import Others, UnreadableFit, majority_of_others
from tallystick.stats.latent_model import FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Headline:
    """Accuracies without labels, with everything they were made of.

    Parameters
    ----------
    accuracy
        (U5), one per judge; NaN for a judge without a vote.
    low, high
        (U6): where the true accuracy was for most judges of comparable panels. Not an interval.
    tables
        Judges x labels x votes, each judge's entries summing to 1: the expected confusion table,
        mixed with the weights of (U5). Its diagonal sums to *accuracy*.
    balance
        Shares of the labels, mixed in the same way.
    ratio
        Misfit ratio, or why nothing can be tested.
    pull
        The u of (U5).
    fit, others
        The parts.
    """

    accuracy: FloatArray
    low: FloatArray
    high: FloatArray
    tables: FloatArray
    balance: FloatArray
    ratio: float | Unknown
    pull: float
    fit: UnreadableFit
    others: Others

    @property
    def per_label(self) -> FloatArray:
        """Judges x labels x votes: how the judge votes on items of each label.

        The diagonal holds the recall per label. NaN where a judge saw no item of a label.
        """
        rows = self.tables.sum(axis=2, keepdims=True)
        out = np.full_like(self.tables, np.nan)
        return np.asarray(np.divide(self.tables, rows, out=out, where=rows > 0))


def blend(fit: UnreadableFit, *, pull: float, ratio: float | Unknown) -> Headline:
    """Return the headline (U5) for a given *pull* u; the verb takes u from the misfit.

    *ratio* is the measured misfit, or why there is none: that decides where the pull leads.
    """
    if not 0 <= pull <= 1:
        raise InputError(f"pull must be in [0, 1], got {pull!r}")
    others = majority_of_others(fit.votes, fit.n_labels)

    # Each table is divided by its own total first: the others can grade fewer items of a judge than
    # it voted on, and would count for less otherwise.
    by_share = _unit(fit.tables, axis=(2, 3))
    by_others = _unit(others.tables, axis=(1, 2))
    firm = by_share[fit.at(0.4)]
    mean = np.einsum("h,hjyv->jyv", fit.weight, by_share)
    # Copies also raise the misfit, and A^.4 is far too low for them: measured misfit pulls to LOO.
    tested = not isinstance(ratio, Unknown)
    aim = by_others if tested else (firm + by_others) / 2
    # A judge that never shares an item with another has nothing but the model.
    graded = np.isfinite(by_others).all(axis=(1, 2), keepdims=True)
    tables = pull * np.where(graded, aim, firm) + (1 - pull) * mean  # (U5)
    if tested:
        tables = _between(tables, by_share[fit.at(0.0)], by_others, fit.n_labels)

    accuracy = _diagonal(tables, fit.n_labels)
    loo = others.accuracy
    a0, a4 = fit.accuracy[fit.at(0.0)], fit.accuracy[fit.at(0.4)]
    lowest = np.fmin(np.minimum(accuracy, a4), loo)
    voted = fit.votes.counts @ (fit.votes.codes >= 0)
    low, high = half_to_double(lowest, np.maximum(accuracy, a0), voted)
    return Headline(
        accuracy=accuracy,
        low=low,
        high=high,
        tables=tables,
        balance=_balance(fit, others, pull, tested=tested),
        ratio=ratio,
        pull=pull,
        fit=fit,
        others=others,
    )


def half_to_double(
    lowest: npt.ArrayLike, highest: npt.ArrayLike, votes: npt.ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Return the range (U6): twice the larger error rate to half of the smaller one.

    >>> low, high = half_to_double(0.99, 0.99, 50)
    >>> float(low.round(4)), float(high)
    (0.9659, 1.0)
    """
    n = np.asarray(votes, dtype=np.float64)
    e_high, e_low = 1 - np.asarray(lowest, np.float64), 1 - np.asarray(highest, np.float64)
    low = 1 - 2 * e_high - _margin(e_high, n)
    high = 1 - e_low / 2 + _margin(e_low, n)
    return np.clip(low, 0, 1), np.clip(high, 0, 1)


def _margin(error: FloatArray, votes: FloatArray) -> FloatArray:
    floor = np.maximum(error * (1 - error), 0.01)  # a judge without an error still has doubt
    return np.sqrt(floor / np.maximum(votes, 1))


def _balance(fit: UnreadableFit, others: Others, pull: float, *, tested: bool) -> FloatArray:
    """Mix the label shares as (U5) mixes the tables."""
    weights = fit.votes.weights
    by_share = np.einsum("i,hiy->hy", weights / weights.sum(), fit.posterior)
    by_others = others.tables.sum(axis=(0, 2))
    firm = by_share[fit.at(0.4)]
    if by_others.sum() > 0:
        graded = by_others / by_others.sum()
        firm = graded if tested else (firm + graded) / 2
    return np.asarray(pull * firm + (1 - pull) * (fit.weight @ by_share))


def _between(tables: FloatArray, one: FloatArray, other: FloatArray, n_labels: int) -> FloatArray:
    """Replace a judge's table by the nearer end where its accuracy is outside both ends."""
    here, a, b = (_diagonal(t, n_labels) for t in (tables, one, other))
    beyond_a = ((here < a) & (a <= b)) | ((here > a) & (a >= b))
    beyond_b = ((here < b) & (b < a)) | ((here > b) & (b > a))
    out = np.where(beyond_a[:, None, None], one, tables)
    return np.asarray(np.where(beyond_b[:, None, None], other, out))


def _diagonal(tables: FloatArray, n_labels: int) -> FloatArray:
    return np.asarray(np.einsum("jyy->j", tables[:, :, :n_labels]))


def _unit(tables: FloatArray, axis: tuple[int, int]) -> FloatArray:
    total = tables.sum(axis=axis, keepdims=True)
    out = np.full_like(tables, np.nan)
    return np.asarray(np.divide(tables, total, out=out, where=total > 0))
