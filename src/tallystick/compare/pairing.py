r"""All pairs of models on independent items, from their moments: one table for right/wrong, bounded
and free scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt
from scipy import special

from tallystick._rng import Rng
from tallystick.compare.pairs import discordance, mcnemar, tango
from tallystick.errors import InputError
from tallystick.stats.intervals import Intervals, pseudo_t
from tallystick.stats.maxt import pairwise_max_t

if TYPE_CHECKING:
    from tallystick.tally import Moments

__all__ = [
    "FREE",
    "Bounds",
    "Kind",
    "PairTable",
    "affordable_draws",
    "bounded_p_value",
    "is_binary",
    "is_flat",
    "pairs_of_items",
    "t_p_value",
]

Floats = npt.NDArray[np.float64]
Bounds = tuple[float, float]
Kind = Literal["binary", "bounded", "free"]

MOST_CELLS = 20_000_000_000
"""Pairs times draws of max-T, about a minute of work."""
FREE = "the mean of this many items is nearly normal (no bounds were declared for the scores)"
"""What every interval for unbounded scores rests on."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PairTable:
    """Every pair of models: how far apart, how surely, alone and among all pairs.

    Parameters
    ----------
    first, second
        Positions of the two models; pairs are listed as ``numpy.triu_indices`` lists them.
    difference
        Score of the first minus that of the second; NaN where labels are missing.
    first_only, second_only
        Items on which only one of the two is right; NaN for scores that are not 0 or 1.
    spread
        What the difference would vary by on a single item, its root mean square.
    intervals
        For each difference, alone.
    simultaneous
        For all differences at once.
    p_value, adjusted_p
        Of "both are equally good": of this pair alone, and among all pairs.
    adjustment
        How p-values were adjusted.
    holds_below
        New clusters: each verdict holds unless one more cluster favours the other model by this
        much; None elsewhere.
    ratio, ratio_intervals
        The typical ratio first/second, where that is compared instead of the mean.
    unsettled
        Why no difference of means is given; empty where it is.
    """

    first: npt.NDArray[np.intp]
    second: npt.NDArray[np.intp]
    difference: Floats
    first_only: Floats
    second_only: Floats
    spread: Floats
    intervals: Intervals
    simultaneous: Intervals
    p_value: Floats
    adjusted_p: Floats
    adjustment: str
    holds_below: Floats | None = None
    ratio: Floats | None = None
    ratio_intervals: Intervals | None = None
    unsettled: str = ""


def is_binary(moments: Moments) -> bool:
    r"""Say whether every score is 0 or 1: whole numbers whose squares sum to what they sum to.

    For whole scores :math:`x^2 \ge x`, with equality at 0 and 1 only.
    """
    return (
        moments.exact
        and not moments.weighted
        and bool(np.array_equal(np.diag(moments.products), moments.sums))
    )


def affordable_draws(models: int, draws: int) -> int:
    """Return how often max-T draws: as asked, or less often for thousands of models, but not below
    1000 times.

    >>> affordable_draws(200, 10_000), affordable_draws(5000, 10_000), affordable_draws(5000, 500)
    (10000, 1600, 500)
    """
    pairs = models * (models - 1) // 2
    return min(draws, max(1000, MOST_CELLS // pairs))


def pairs_of_items(
    moments: Moments,
    *,
    bounds: Bounds | None,
    alpha: float,
    rng: Rng,
    draws: int,
    mid_p: bool = False,
) -> PairTable:
    r"""Compare all pairs on independent items.

    0/1 scores: Tango's interval and McNemar's exact test. Scores in *bounds*: Student's t with half
    a pseudo-item at each end of the range of the difference. Scores without bounds: Student's t,
    with its assumption named. Pairs are adjusted by step-down max-T (:mod:`tallystick.stats.maxt`);
    no adjusted p-value is below the pair's own.
    """
    n = int(moments.n)
    sums, products = moments.sums, moments.products
    binary = is_binary(moments)
    width = 1.0 if binary else (0.0 if bounds is None else bounds[1] - bounds[0])
    tests = pairwise_max_t(sums, products, n, rng=rng, alpha=alpha, draws=draws, width=width)
    first, second = tests.first, tests.second
    variance = np.maximum(0.0, _of_pairs(moments.centred, first, second)) / max(n - 1, 1)
    own, square = np.diag(moments.centred) / max(n - 1, 1), np.diag(products) / n
    flat = is_flat(variance, own[first] + own[second], square[first] + square[second]) & (
        width == 0
    )
    unknown = np.full(first.size, np.nan)
    b, c = unknown, unknown
    if binary:
        found = discordance(sums, products, n)
        b, c = found.first_only, found.second_only
        intervals, p_value = _of_counts(b, c, n, alpha, mid_p)
    else:
        intervals, p_value = _of_scores(tests.difference, variance, n, width, alpha, flat)
    # The draws are those of a normal law; what is told apart must be told apart by its own test
    # too.
    alone = first.size == 1
    adjusted = p_value if alone else np.maximum(tests.adjusted_p, p_value)
    free = not binary and bounds is None
    limit = np.inf if free else width
    simultaneous = Intervals(
        np.clip(np.where(flat, -limit, tests.low), -limit, limit),
        np.clip(np.where(flat, limit, tests.high), -limit, limit),
        level=1 - alpha,
        guarantee="under" if free else "approximate",
        assumption=FREE if free else None,
        method="max-t",
    )
    return PairTable(
        first=first,
        second=second,
        difference=tests.difference,
        first_only=b,
        second_only=c,
        spread=np.sqrt(variance),
        intervals=intervals,
        simultaneous=simultaneous,
        p_value=p_value,
        adjusted_p=np.asarray(adjusted),
        adjustment="none: one pair" if alone else "step-down max-T",
    )


def _of_counts(b: Floats, c: Floats, n: int, alpha: float, mid_p: bool) -> tuple[Intervals, Floats]:
    """Return Tango's intervals and McNemar's p-values; counts that many pairs share are worked out
    once.
    """
    codes, where = np.unique(b * (n + 1) + c, return_inverse=True)
    first_only, second_only = np.divmod(codes, n + 1)
    found = tango(first_only, second_only, n, alpha=alpha)
    intervals = Intervals(
        found.low[where],
        found.high[where],
        level=found.level,
        guarantee=found.guarantee,
        method=found.method,
    )
    return intervals, mcnemar(first_only, second_only, mid_p=mid_p)[where]


def is_flat(
    variance: npt.ArrayLike, own: npt.ArrayLike, square: npt.ArrayLike
) -> npt.NDArray[np.bool_]:
    """Say where a score or a difference does not vary but by rounding.

    Without bounds for the scores nothing can then be said of it: a t interval would have no width,
    its p-value be 0.

    Parameters
    ----------
    variance
        Of what is asked about.
    own, square
        The variance and the mean square of the scores that it comes from, which say how large
        rounding is.

    Examples
    --------
    >>> is_flat([0.0, 1e-18, 1e-6], 0.1, 1.0).tolist()
    [True, True, False]
    """
    return np.asarray(np.asarray(variance) <= 1e-13 * np.asarray(own) + 1e-20 * np.asarray(square))


def _of_scores(
    difference: Floats,
    variance: Floats,
    n: int,
    width: float,
    alpha: float,
    flat: npt.NDArray[np.bool_],
) -> tuple[Intervals, Floats]:
    """Return t intervals and the p-values that go with them, with pseudo-items if the scores are
    bounded.
    """
    if n < 2:
        raise InputError(f"n must be at least 2 items to see how much scores vary, got {n}")
    if width:
        intervals = pseudo_t(difference, variance, n, alpha=alpha, bounds=(-width, width))
        return intervals, bounded_p_value(difference, variance, n, width)
    error = np.where(flat, np.inf, np.sqrt(variance / n))
    half = float(special.stdtrit(n - 1, 1 - alpha / 2)) * error
    free = Intervals(
        difference - half,
        difference + half,
        level=1 - alpha,
        guarantee="under",
        assumption=FREE,
        method="t",
    )
    return free, t_p_value(difference, error, n - 1)


def bounded_p_value(difference: Floats, variance: Floats, n: int, width: float) -> Floats:
    """Return the p-values that go with the intervals of `pseudo_t`, for scores that are *width*
    apart at most.
    """
    size, squares = n + 1, variance * (n - 1) + n * difference**2 + width**2
    centre = n * difference / size
    error = np.sqrt((squares - size * centre**2) / (size - 1) / size)  # as in pseudo_t (I7)
    return t_p_value(centre, error, n - 1)


def t_p_value(difference: Floats, error: Floats, freedom: float) -> Floats:
    """Return two-sided p-values of Student's test; 1 where the error is infinite, that is
    unknown.
    """
    return np.asarray(2 * special.stdtr(freedom, -np.abs(difference) / error))


def _of_pairs(matrix: Floats, first: npt.NDArray[np.intp], second: npt.NDArray[np.intp]) -> Floats:
    diagonal = np.diag(matrix)
    return np.asarray(diagonal[first] + diagonal[second] - 2 * matrix[first, second])
