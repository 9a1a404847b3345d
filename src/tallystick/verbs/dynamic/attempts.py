r"""What does a raw log of attempts to fool models say? Dynabench exports, red-teaming logs.

One row per attempt: who tried, in which round, against which model, whether it was fooled, what
validators said, what it cost. The *validated model error rate* of a round is

.. math:: \mathrm{vMER} = \text{validated fooling attempts} / \text{attempts}  \tag{B1}

over *all* attempts, those that fooled nobody and those that were retracted included.

Annotator a made :math:`n_a` attempts with :math:`x_a` successes; attempts of one person are alike,
so the person is the unit. With :math:`N = \sum n_a`, :math:`\theta = \sum x_a/N`,
:math:`h_a = n_a/N`, :math:`u_a = x_a - \theta n_a` and :math:`Q = \sum n_a^2`,

.. math::
    V = \frac1{N^2} \sum_a \frac{u_a^2}{(1-h_a)^2}  \tag{A1} \\
    C_{ab} = [a=b]\, n_a^2 - h_b n_a^2 - h_a n_b^2 + h_a h_b Q, \quad
    M_{ab} = \frac{C_{ab}}{\sqrt{(1-h_a)(1-h_b)}}, \quad
    df = \max\Bigl(1, \frac{(\sum_a M_{aa})^2}{\sum_{ab} M_{ab}^2}\Bigr)  \tag{A2} \\
    n_\mathrm{eff} = \min\bigl(N, \theta(1-\theta)/V\bigr)  \tag{A3}

and the interval is Wilson's at :math:`n_\mathrm{eff}` with :math:`t_{.975}(df)` for z. Coverage was
.91 to 1.0 on logs with unequal skill, unequal effort and cheaters, where plain Wilson held .29 to
.83. Few annotators say little, however many attempts they made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from tallystick.papers.dynamic_benchmarks.designs import Array
from tallystick.results import Interval, Unknown

_ALONE = Unknown("one annotator made all attempts, so nothing shows how annotators differ")

NOBODY_NAMED = (
    "the log does not name who made the attempts, so nothing shows how alike they are: name the"
    " column (annotator in a reading file)"
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Attempts:
    """A log of attempts, one entry per attempt in every array.

    Parameters
    ----------
    annotator
        Who tried.
    round, rounds
        The place of the attempt's round, and what the rounds are called, in order.
    fooled
        Whether the model in the loop gave a wrong answer, as the annotator saw it. An attempt that
        was taken back stays an attempt and fools nobody.
    model
        The model in the loop.
    verdict
        What validators found of the label: 1 valid, -1 invalid, 0 undecided.
    cost
        What each attempt cost.
    named, ordered
        Whether the log says who tried, and whether names or times say the order of its rounds. The
        order of rows is no time.

    Examples
    --------
    >>> log = Attempts(
    ...     annotator=np.array(["ann", "ann", "bob"]), round=np.zeros(3, int), rounds=(1,),
    ...     fooled=np.array([True, False, True]), verdict=np.array([1, 0, 0]),
    ... )
    >>> log.success.tolist(), log.unchecked.tolist()
    ([True, False, False], [False, False, True])
    """

    annotator: Array
    round: Array
    rounds: tuple[Any, ...]
    fooled: Array
    model: Array | None = None
    verdict: Array | None = None
    cost: Array | None = None
    named: bool = True
    ordered: bool = True

    @property
    def success(self) -> Array:
        """What a rate counts: validated attempts (B1), or fooling ones if nothing was checked."""
        return self.fooled if self.verdict is None else np.asarray(self.fooled & (self.verdict > 0))

    @property
    def unchecked(self) -> Array:
        """Fooling attempts that validators have not decided: no vote yet, or a tie."""
        undecided = False if self.verdict is None else self.verdict == 0
        return np.asarray(self.fooled & undecided)

    def per_annotator(self, here: Array, values: Array | None = None) -> Array:
        """Sum *values* over the attempts *here* of each annotator, or count them without values."""
        _, place = np.unique(self.annotator[here], return_inverse=True)
        return np.bincount(place, None if values is None else values[here].astype(float))


@dataclass(frozen=True, kw_only=True)
class ClusteredRate:
    """A rate with an interval that knows its attempts came in annotators.

    Parameters
    ----------
    annotators, attempts, successes
        How many there were. The number of annotators comes first: it limits what can be said.
    rate, interval
        The rate, and its interval, or the reason why there is none.
    df, effective
        Degrees of freedom (A2) and effective number of attempts (A3).
    """

    annotators: int
    attempts: int
    successes: int
    rate: float
    interval: Interval | Unknown = _ALONE
    df: float | Unknown = _ALONE
    effective: float | Unknown = _ALONE


def clustered_rate(
    successes: npt.ArrayLike, attempts: npt.ArrayLike, *, alpha: float = 0.05
) -> ClusteredRate:
    """Return the rate of success over annotators, with (A1) to (A3).

    Parameters
    ----------
    successes, attempts
        One number per annotator; annotators without attempts are left out.

    Examples
    --------
    >>> found = clustered_rate([3, 1, 8, 0, 5, 2], [20, 10, 30, 5, 25, 40])
    >>> round(found.rate, 4), round(found.df, 3), round(found.effective, 2)
    (0.1462, 2.739, 37.28)
    >>> [round(end, 4) for end in found.interval]
    [0.0393, 0.4176]
    """
    from scipy.special import ndtri

    from tallystick.stats.intervals import score_ends

    x, n = _taking_part(successes, attempts)
    total, rate = float(n.sum()), float(x.sum() / n.sum())
    known = ClusteredRate(annotators=n.size, attempts=int(total), successes=int(x.sum()), rate=rate)
    if n.size < 2:
        return known
    df = _satterthwaite(n)
    if rate in (0.0, 1.0):
        # Nobody (or everybody) succeeded: the spread is unseen, so the sizes alone must speak.
        effective, quantile = total**2 / float(n @ n), float(ndtri(1 - alpha / 2))
    else:
        variance = float((((x - rate * n) / (1 - n / total)) ** 2).sum()) / total**2  # (A1)
        effective = min(total, rate * (1 - rate) / variance) if variance > 0 else total  # (A3)
        quantile = student(df, alpha)
    ends = score_ends(*map(np.asarray, (rate, effective, quantile)))
    span = _interval(float(ends[0]), float(ends[1]), alpha, "clustered")
    return replace(known, interval=span, df=df, effective=effective)


def clustered_cost(
    cost: npt.ArrayLike, successes: npt.ArrayLike, attempts: npt.ArrayLike, *, alpha: float = 0.05
) -> tuple[float | Unknown, Interval | Unknown]:
    r"""Return the cost per success, :math:`\sum C_a/\sum x_a`, with an interval on the log scale.

    .. math:: v_a = \frac{C_a/\sum C - x_a/\sum x}{1-h_a}, \qquad
              \ln \pm\, t(df) \sqrt{\textstyle\sum v_a^2}  \tag{A5}

    with the df of the rate, (A2). Coverage was .965 to .988, that of a Poisson interval .54 to .63.
    Without a success there is no cost per success.

    Examples
    --------
    >>> x, n = [3, 1, 8, 0, 5, 2], [20, 10, 30, 5, 25, 40]
    >>> cost, interval = clustered_cost([10, 6, 12, 4, 11, 22], x, n)
    >>> round(cost, 3), [round(end, 3) for end in interval]
    (3.421, [0.689, 16.991])
    """
    x, n = _taking_part(successes, attempts)
    spent = np.asarray(cost, dtype=float)[np.asarray(attempts) > 0]
    if not x.sum() or not spent.sum():
        none = Unknown("no attempt succeeded" if not x.sum() else "no attempt cost anything")
        return none, none
    price = float(spent.sum() / x.sum())
    if n.size < 2:
        return price, _ALONE
    v = (spent / spent.sum() - x / x.sum()) / (1 - n / n.sum())  # (A5)
    factor = exp(student(_satterthwaite(n), alpha) * sqrt(float(v @ v)))
    return price, _interval(price / factor, price * factor, alpha, "clustered")


def _taking_part(successes: npt.ArrayLike, attempts: npt.ArrayLike) -> tuple[Array, Array]:
    """Return the counts of the annotators who made any attempt."""
    x, n = np.asarray(successes, dtype=float), np.asarray(attempts, dtype=float)
    return x[n > 0], n[n > 0]


def _satterthwaite(n: Array) -> float:
    """Return (A2), the degrees of freedom of the variance of a rate.

    C is a diagonal plus products of two vectors, so its weighted sums need no matrix: a log with
    ten thousand annotators takes no more than their list.
    """
    total = float(n.sum())
    share, square = n / total, n**2
    q, w = float(square.sum()), 1 / (1 - share)
    rest = share**2 * q - 2 * square * share  # the diagonal of C without n²
    trace = float(w @ (square + rest))

    a, b, c = float(w @ square**2), float(w @ share**2), float(w @ (square * share))
    everywhere = 2 * a * b + (q * b) ** 2 + 2 * c**2 - 4 * q * b * c
    on_diagonal = float(w**2 @ (square**2 + 2 * square * rest))
    return max(1.0, trace**2 / (everywhere + on_diagonal))


def student(df: float, alpha: float) -> float:
    """Return the two-sided quantile of Student's t.

    >>> round(student(4, 0.05), 4)
    2.7764
    """
    from scipy.special import stdtrit

    return float(stdtrit(df, 1 - alpha / 2))


def _interval(low: float, high: float, alpha: float, method: str) -> Interval:
    return Interval(low, high, level=1 - alpha, guarantee="approximate", method=method)


@dataclass(frozen=True, kw_only=True)
class RateContrast:
    """A change between rounds or a trend over them, with annotators paired.

    Parameters
    ----------
    estimate, interval
        The weighted sum of the rates and its interval.
    error
        Its standard error.
    df
        Degrees of freedom of each round; the smallest is used.
    """

    estimate: float
    interval: Interval | Unknown = _ALONE
    error: float | Unknown = _ALONE
    df: tuple[float, ...] = ()


def clustered_contrast(
    successes: npt.ArrayLike,
    attempts: npt.ArrayLike,
    weights: Sequence[float],
    *,
    alpha: float = 0.05,
) -> RateContrast:
    r"""Return :math:`\sum_k c_k \theta_k` over rounds k, annotators of several rounds paired.

    .. math::
        V = \sum_a \Bigl(\sum_k \frac{c_k u_{ak}}{N_k \sqrt{1-h_{ak}}}\Bigr)^2, \qquad
        df_k = \frac{N^2}{\sum_a n_a^2 + \sum_{a \ne b} n_a^2 n_b^2/((1-h_a)(1-h_b)N^2)}  \tag{A4}

    with t at the smallest df. Without a true change .94 to .98 of the intervals held it, from no to
    all annotators shared; the two-sample z test held .57 to .79.

    Parameters
    ----------
    successes, attempts
        Annotators x rounds; 0 attempts where an annotator took no part.
    weights
        One per round: -1, 1 for a difference.

    Examples
    --------
    >>> x = [[3, 6], [1, 0], [8, 9], [0, 2], [5, 4], [2, 0]]
    >>> n = [[20, 25], [10, 0], [30, 20], [5, 10], [25, 15], [40, 0]]
    >>> found = clustered_contrast(x, n, (-1, 1))
    >>> round(found.estimate, 4), [round(end, 4) for end in found.interval]
    (0.1538, [-0.0292, 0.3369])
    """
    x, n = np.asarray(successes, dtype=float), np.asarray(attempts, dtype=float)
    c, totals = np.asarray(weights, dtype=float), n.sum(axis=0)
    rates, share = x.sum(axis=0) / totals, n / totals
    estimate = float(c @ rates)
    if np.any(share >= 1):
        return RateContrast(estimate=estimate)
    parts = c * (x - rates * n) / (totals * np.sqrt(1 - share))
    error = sqrt(float((parts.sum(axis=1) ** 2).sum()))  # (A4)
    df = tuple(_independence_df(n[n[:, k] > 0, k]) for k in range(c.size))
    reach = student(min(df), alpha) * error
    # Rates are in [0, 1], so no contrast leaves the sums of its negative and positive weights.
    low = max(float(np.minimum(c, 0).sum()), estimate - reach)
    high = min(float(np.maximum(c, 0).sum()), estimate + reach)
    interval = _interval(low, high, alpha, "paired")
    return RateContrast(estimate=estimate, interval=interval, error=error, df=df)


def _independence_df(n: Array) -> float:
    """Return the degrees of freedom of one round in (A4)."""
    total = float(n.sum())
    weighted = n**2 / (1 - n / total)
    apart = (float(weighted.sum()) ** 2 - float((weighted**2).sum())) / total**2
    return total**2 / (float((n**2).sum()) + apart)


# Rates of a log by round, and what changed.


def rate_of(log: Attempts, here: Array, success: Array, *, alpha: float = 0.05) -> ClusteredRate:
    """Return the rate of *success* over the attempts *here*, clustered by annotator.

    Where nobody is named, nothing shows how alike the attempts are: there is no interval.
    """
    won, tried = log.per_annotator(here, success), log.per_annotator(here)
    found = clustered_rate(won, tried, alpha=alpha)
    nobody = Unknown(NOBODY_NAMED)
    return found if log.named else replace(found, interval=nobody, df=nobody, effective=nobody)


def change_between(log: Attempts, first: int, second: int, *, alpha: float = 0.05) -> RateContrast:
    """Return the change of the rate between the rounds at two places, shared annotators paired.

    It does not show that the model changed: annotators, pay and instructions changed too.
    """
    names, place = np.unique(log.annotator, return_inverse=True)
    tried, won = [], []
    for number in (first, second):
        here = log.round == number
        tried.append(np.bincount(place[here], minlength=names.size))
        won.append(np.bincount(place[here & log.success], minlength=names.size))
    return clustered_contrast(np.stack(won, 1), np.stack(tried, 1), (-1.0, 1.0), alpha=alpha)
