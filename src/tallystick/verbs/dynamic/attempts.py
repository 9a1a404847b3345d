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
from dataclasses import dataclass
from math import exp, log, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError
from tallystick.papers.dynamic_benchmarks.designs import Array
from tallystick.results import Interval, Unknown

ONE_ANNOTATOR = "one annotator made all attempts, so nothing shows how annotators differ"


@dataclass(frozen=True, kw_only=True, eq=False)
class Attempts:
    """A log of attempts, one entry per attempt in every array.

    Parameters
    ----------
    annotator, round
        Who tried, and in which round (numbers or dates that sort).
    fooled
        Whether the model in the loop gave a wrong answer, as the annotator saw it.
    model
        The model in the loop.
    yes, no
        How many validators confirmed and denied the annotator's label. A flag is no vote.
    valid
        Instead of votes: whether the label was found valid (True, False, or None if unchecked).
    retracted
        Attempts that were taken back. They stay attempts and never count as fooling.
    cost, order
        What each attempt cost; when it was made (any numbers that sort). The order of rows is no
        time: without *order* nothing is said about the course of a round.
    round_names
        What the rounds are called, by their place, where *round* holds places from 0.
    ordered
        Whether the names of the rounds, or the times of their attempts, say their order.

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
    yes: Array | None = None
    no: Array | None = None
    valid: Array | None = None
    retracted: Array | None = None
    cost: Array | None = None
    order: Array | None = None
    round_names: tuple[Any, ...] | None = None
    ordered: bool = True

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
    interval: Interval | Unknown
    df: float | Unknown
    effective: float | Unknown


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
    x, n = checked_counts(successes, attempts, alpha)
    total, rate = float(n.sum()), float(x.sum() / n.sum())
    if n.size < 2:
        unknown = Unknown(ONE_ANNOTATOR)
        return _result(x, n, interval=unknown, df=unknown, effective=unknown)

    df = _satterthwaite(n)
    if rate in (0.0, 1.0):
        # Nobody (or everybody) succeeded: the spread is unseen, so the sizes alone must speak.
        effective, quantile = total**2 / float(n @ n), _normal(alpha)
    else:
        share = n / total
        variance = float((((x - rate * n) / (1 - share)) ** 2).sum()) / total**2  # (A1)
        effective = min(total, rate * (1 - rate) / variance) if variance > 0 else total  # (A3)
        quantile = student_quantile(df, alpha)
    low, high = _wilson(rate, effective, quantile)
    interval = Interval(low, high, level=1 - alpha, guarantee="approximate", method="clustered")
    return _result(x, n, interval=interval, df=df, effective=effective)


def _result(
    x: Array,
    n: Array,
    *,
    interval: Interval | Unknown,
    df: float | Unknown,
    effective: float | Unknown,
) -> ClusteredRate:
    return ClusteredRate(
        annotators=n.size,
        attempts=int(n.sum()),
        successes=int(x.sum()),
        rate=float(x.sum() / n.sum()),
        interval=interval,
        df=df,
        effective=effective,
    )


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
    x, n = checked_counts(successes, attempts, alpha)
    given, tried = np.asarray(cost, dtype=float), np.asarray(attempts, dtype=float)
    if given.shape != tried.shape or not np.all(np.isfinite(given)) or np.any(given < 0):
        raise InputError("cost needs one finite number per annotator, none negative")
    spent = given[tried > 0]
    if not x.sum() or not spent.sum():
        none = Unknown("no attempt succeeded" if not x.sum() else "no attempt cost anything")
        return none, none
    price = float(spent.sum() / x.sum())
    if n.size < 2:
        return price, Unknown(ONE_ANNOTATOR)
    v = (spent / spent.sum() - x / x.sum()) / (1 - n / n.sum())  # (A5)
    reach = student_quantile(_satterthwaite(n), alpha) * sqrt(float(v @ v))
    return price, Interval(
        exp(log(price) - reach),
        exp(log(price) + reach),
        level=1 - alpha,
        guarantee="approximate",
        method="clustered",
    )


def checked_counts(
    successes: npt.ArrayLike, attempts: npt.ArrayLike, alpha: float
) -> tuple[Array, Array]:
    """Return the counts of the annotators who took part, or say what is wrong with them.

    >>> checked_counts([1, 0], [3, 0], 0.05)[1].tolist()
    [3.0]
    """
    x, n = np.asarray(successes, dtype=float), np.asarray(attempts, dtype=float)
    if x.ndim != 1 or x.shape != n.shape:
        raise InputError(f"successes and attempts need equal lengths, got {x.shape} and {n.shape}")
    if not np.all((x >= 0) & (x <= n) & (n == np.floor(n)) & (x == np.floor(x))):
        raise InputError("successes must be whole numbers from 0 to the attempts of each annotator")
    if not n.sum():
        raise InputError("there is no attempt: a rate needs at least one")
    if not 0 < alpha < 1:
        raise InputError(f"alpha must be in (0, 1), got {alpha!r}")
    took_part = n > 0
    return x[took_part], n[took_part]


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


def _wilson(rate: float, size: float, quantile: float) -> tuple[float, float]:
    square = quantile**2
    centre = (rate + square / (2 * size)) / (1 + square / size)
    half = quantile / (1 + square / size) * sqrt(rate * (1 - rate) / size + square / (4 * size**2))
    low = 0.0 if rate == 0 else max(0.0, centre - half)
    return low, 1.0 if rate == 1 else min(1.0, centre + half)


def student_quantile(df: float, alpha: float) -> float:
    """Return the two-sided quantile of Student's t.

    >>> round(student_quantile(4, 0.05), 4)
    2.7764
    """
    from scipy.special import stdtrit

    return float(stdtrit(df, 1 - alpha / 2))


def _normal(alpha: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(1 - alpha / 2))


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
    interval: Interval | Unknown
    error: float | Unknown
    df: tuple[float, ...]


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
    c = np.asarray(weights, dtype=float)
    if x.ndim != 2 or x.shape != n.shape or x.shape[1] != c.size:
        raise InputError(
            "successes and attempts need the shape (annotators, rounds) with one weight per round, "
            f"got {x.shape}, {n.shape} and {c.size} weights"
        )
    for k in range(c.size):
        checked_counts(x[:, k], n[:, k], alpha)
    totals = n.sum(axis=0)
    rates = x.sum(axis=0) / totals
    estimate = float(c @ rates)

    share = n / totals
    if np.any(share >= 1):
        return RateContrast(
            estimate=estimate, interval=Unknown(ONE_ANNOTATOR), error=Unknown(ONE_ANNOTATOR), df=()
        )
    parts = c * (x - rates * n) / (totals * np.sqrt(1 - share))
    error = sqrt(float((parts.sum(axis=1) ** 2).sum()))  # (A4)
    df = tuple(_independence_df(n[n[:, k] > 0, k]) for k in range(c.size))
    reach = student_quantile(min(df), alpha) * error
    # Rates are in [0, 1], so no contrast leaves the sums of its negative and positive weights.
    lowest, highest = float(np.minimum(c, 0).sum()), float(np.maximum(c, 0).sum())
    interval = Interval(
        max(lowest, estimate - reach),
        min(highest, estimate + reach),
        level=1 - alpha,
        guarantee="approximate",
        method="paired",
    )
    return RateContrast(estimate=estimate, interval=interval, error=error, df=df)


def _independence_df(n: Array) -> float:
    """Return the degrees of freedom of one round in (A4)."""
    total = float(n.sum())
    weighted = n**2 / (1 - n / total)
    apart = (float(weighted.sum()) ** 2 - float((weighted**2).sum())) / total**2
    return total**2 / (float((n**2).sum()) + apart)


# Rates of a log by round, and what changed.


def rate_of(log: Attempts, here: Array, success: Array, *, alpha: float = 0.05) -> ClusteredRate:
    """Return the rate of *success* over the attempts *here*, clustered by annotator."""
    won, tried = log.per_annotator(here, success), log.per_annotator(here)
    return clustered_rate(won, tried, alpha=alpha)


def change_between(log: Attempts, first: Any, second: Any, *, alpha: float = 0.05) -> RateContrast:
    """Return the change of the rate from one round to another, with shared annotators paired.

    It does not show that the model changed: annotators, pay and instructions changed too.
    """
    names, place = np.unique(log.annotator, return_inverse=True)
    tried, won = [], []
    for number in (first, second):
        here = log.within(number)
        tried.append(np.bincount(place[here], minlength=names.size))
        won.append(np.bincount(place[here & log.success], minlength=names.size))
    return clustered_contrast(np.stack(won, 1), np.stack(tried, 1), (-1.0, 1.0), alpha=alpha)
