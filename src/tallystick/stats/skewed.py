r"""Skewed unbounded scores (latency, cost, tokens) and counts: the hull of Student's t and Hall.

D are the n paired differences, m their mean, s their standard deviation (n - 1), r = √n, q the
quantile of :math:`t_{n-1}` and γ = mean((D - m)³)/s³. Hall's transformation corrects t for
skewness:

.. math::

   h(T) = \frac{3r}{γ} \Bigl( \bigl(1 + \tfrac{γ}{r} (T - \tfrac{γ}{6r})\bigr)^{1/3} - 1 \Bigr),
   \qquad \text{interval} = \text{hull of } m \mp q\, s/r
   \text{ and } [m - h(q)\, s/r,\; m - h(-q)\, s/r]   \tag{H1}

.. math::

   p = \text{the larger } t_{n-1} \text{ p-value of } t = rm/s
   \text{ and of } t + \tfrac{γ}{r} (\tfrac{t^2}{3} + \tfrac16) + \tfrac{γ^2 t^3}{27 n}   \tag{H2}

docs/theory/compare.md, *Skewed scores*. No random numbers. What did not occur in
the sample stays unseen: print "assumes that nothing rarer than 1 in n/3 calls moves the mean".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, exp, inf
from typing import Literal

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError
from tallystick.stats.exact_tails import binomial_up_to, open_unit
from tallystick.stats.intervals import Intervals
from tallystick.stats.maxt import holm
from tallystick.stats.pairs import PairTable, pair_table
from tallystick.stats.signs import sign_p_value

Floats = npt.NDArray[np.float64]

STRAIGHT = 1e-6
"""Below this |γ| Hall's interval is Student's."""


@dataclass(frozen=True, eq=False, kw_only=True)
class HullEnds:
    """(H1) and (H2) of many samples at once; NaN where all differences of a sample are equal."""

    mean: Floats
    skewness: Floats
    student: tuple[Floats, Floats]
    hall: tuple[Floats, Floats]
    student_p: Floats
    p_value: Floats

    @property
    def low(self) -> Floats:
        """The lower end of the hull."""
        return np.minimum(self.student[0], self.hall[0])

    @property
    def high(self) -> Floats:
        """The upper end of the hull."""
        return np.maximum(self.student[1], self.hall[1])


def hull_ends(differences: Floats, *, alpha: float = 0.05) -> HullEnds:
    """Return :func:`hull` of many samples at once: differences run along the last axis.

    Examples
    --------
    >>> found = hull_ends(np.array([[1.0, 2.0, 4.0], [1.0, 1.0, 1.0]]))
    >>> found.low.round(3).tolist()
    [-1.461, nan]
    """
    from scipy.special import stdtr, stdtrit

    open_unit(alpha=alpha)
    n = differences.shape[-1]
    mean = np.asarray(differences.mean(axis=-1))
    centred = differences - mean[..., None]
    deviation = np.asarray(np.sqrt(np.sum(centred**2, axis=-1) / (n - 1)))
    # A sample that only varies by rounding does not vary.
    flat = deviation <= 1e-12 * np.max(np.abs(differences), axis=-1)
    deviation = np.where(flat, np.nan, deviation)
    skewness = np.mean(centred**3, axis=-1) / deviation**3

    root = float(np.sqrt(n))
    q = float(stdtrit(n - 1, 1 - alpha / 2))
    step = deviation / root
    student = (mean - q * step, mean + q * step)
    hall = (mean - _hall(q, skewness, root) * step, mean - _hall(-q, skewness, root) * step)  # (H1)

    t = mean / step
    g = skewness / root
    corrected = t + g * (t**2 / 3 + 1 / 6) + g**2 * t**3 / 27  # (H2)
    student_p = np.asarray(2 * stdtr(n - 1, -np.abs(t)))
    p_value = np.maximum(student_p, 2 * stdtr(n - 1, -np.abs(corrected)))
    return HullEnds(
        mean=mean,
        skewness=skewness,
        student=student,
        hall=hall,
        student_p=student_p,
        p_value=p_value,
    )


def _hall(t: float, skewness: Floats, root: float) -> Floats:
    """Return h(T) of (H1), which is T itself where there is no skewness."""
    straight = ~(np.abs(skewness) >= STRAIGHT)
    g = np.where(straight, 1.0, skewness) / root
    curved = 3 / g * (np.cbrt(1 + g * (t - g / 6)) - 1)
    return np.where(straight, t, curved)


# Two models by an unbounded score: which summary of the sample can be relied on.
#
# The mean of a skewed score is settled only by a large sample. (K4) says how large; where it is not
# reached the typical ratio is printed instead, or the signs. docs/theory/compare.md, *Skewed
# scores*. Print with each of them "assumes that nothing rarer than 1 in n/3 calls moves the mean".


Shown = Literal["mean", "ratio", "signs"]

FEWEST = 40
"""Below, rows are folds, seeds or data sets, which are compared by plain t."""
SMALL_COUNT = 30
"""Scores whose median is fewer steps than this from an end are small counts."""


def items_for_mean(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    r"""Say from how many items the difference of two means can be relied on.

    With u = x - min x of one model, M the median of the positive u,

    .. math:: σ = \sqrt{\text{mean of } \ln^2(u/M) \text{ over } u > M}, \qquad
              n \ge \max(40, 40\, e^{2(σ^2 - 1)})   \tag{K4}

    and the largest σ of the two models and of u = max x - x. Small counts (scores in equal steps
    whose median is fewer than 30 steps from an end) need 40 items. See
    docs/theory/compare.md, *Skewed scores*.

    With u = x the rule would end at 0 and depend on where a scale begins.
    The difference of two means does not: negative log-likelihoods, and the same plus 10, must get
    one answer. Measured from its lowest score a lognormal latency keeps its σ nearly (1.0 → 1.05,
    1.5 → 1.5); over 17 populations at n = 40, 100 and 400 no false verdict is added, and a long
    tail to the left is seen too.

    Parameters
    ----------
    first, second
        The scores of the two models on the same items.

    Examples
    --------
    >>> round(items_for_mean([1, 1.2, .83, 2, 3.5, .9, 1.1, 6, 1.4, .7], [1.5] * 10), 1)
    647.3
    """
    x, y = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if _are_small_counts(np.concatenate([x, y])):
        return float(FEWEST)
    spread = max(_spread(x), _spread(y))
    return max(float(FEWEST), FEWEST * exp(min(2 * (spread**2 - 1), 700.0)))  # (K4)


def _are_small_counts(scores: Floats) -> bool:
    """Say whether scores go in equal steps, few of them from the median to an end of the range."""
    ends = np.array([scores.min(), scores.max()])
    steps = np.diff(np.unique(scores))
    # 0.1 + 0.2 and 0.3 are one score.
    steps = steps[steps > 1e-12 * np.abs(ends).max()]
    if not steps.size:
        return True
    step = float(steps.min())
    if float(np.abs(ends - np.median(scores)).min()) >= SMALL_COUNT * step:
        return False
    return bool((np.abs(steps / step - np.round(steps / step)) < 1e-3).all())


def _spread(scores: Floats) -> float:
    """Return σ of (K4), of the longer tail; it does not change if scores are shifted or scaled."""
    return max(_upper_spread(scores - scores.min()), _upper_spread(scores.max() - scores))


def _upper_spread(above: Floats) -> float:
    """Return σ of (K4) upwards; 0 if nothing exceeds the median of what is above the lowest."""
    above = above[above > 0]
    if not above.size:
        return 0.0
    median = float(np.median(above))
    above = above[above > median]
    return float(np.sqrt(np.mean(np.log(above / median) ** 2))) if above.size else 0.0


# All pairs of models by an unbounded score. One summary serves the whole board, so that its ranks
# speak of one thing.


RARE = "nothing rarer than 1 in {:,} {} moves the mean"
"""What every summary of an unbounded score assumes of what did not occur."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SkewedBoard:
    """What may be said of models by an unbounded score.

    Parameters
    ----------
    shown
        ``mean``, ``ratio`` or ``signs``: what is compared.
    table
        All pairs.
    levels
        What ranks the models: their means, geometric means or medians.
    intervals
        For each of these.
    needed
        (K4): the items from which the means of every pair can be relied on.
    """

    shown: Shown
    table: PairTable
    levels: Floats
    intervals: Intervals
    needed: float


def skewed_board(scores: Floats, *, alpha: float = 0.05, unit: str = "items") -> SkewedBoard:
    """Compare all pairs of columns of *scores* by the summary that the sample supports.

    Fewer than 40 rows are folds, seeds or data sets: their means are compared by plain paired t.
    From 40 on, means are compared where (K4) says that they are settled, by the hull of t and
    Hall; else typical ratios, or signs.

    Parameters
    ----------
    scores
        Items (or cluster means) x models, unbounded.
    alpha
        One minus the level; pairs are adjusted by Holm.
    unit
        What a row is, for the assumption.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.lognormal(0, [1.5, 0.5], (40, 2))
    >>> found = skewed_board(scores)
    >>> found.shown, found.table.ratio.round(2).tolist()
    ('ratio', [1.01])
    """
    x = np.asarray(scores, dtype=float)
    if x.ndim != 2 or len(x) < 2:
        raise InputError(f"scores must be at least two rows x models, got shape {x.shape}")
    first, second = np.triu_indices(x.shape[1], 1)
    needed = max(items_for_mean(x[:, a], x[:, b]) for a, b in zip(first, second, strict=True))
    settled = len(x) < FEWEST or len(x) >= needed
    shown: Shown = "mean" if settled else "ratio" if x.min() > 0 else "signs"
    if shown == "signs":
        return _by_signs(x, first, second, alpha, needed)
    y = x if shown == "mean" else np.log(x)
    rare = RARE.format(max(2, ceil(len(x) / 3)), unit)
    return _by_hull(x, y, first, second, alpha, needed, rare)


def _by_hull(
    x: Floats,
    y: Floats,
    first: npt.NDArray[np.intp],
    second: npt.NDArray[np.intp],
    alpha: float,
    needed: float,
    rare: str,
) -> SkewedBoard:
    """Compare by t, or by the hull of t and Hall, on the scores or on their logarithms."""
    of_ratio = y is not x
    gaps = (y[:, first] - y[:, second]).T
    alone = _ends(gaps, alpha, rare)
    joint = _ends(gaps, alpha / first.size, rare, level=1 - alpha)
    own = hull_ends(gaps, alpha=alpha)
    # All differences equal: nothing says how much they vary, so nothing is told apart.
    found = own.student_p if len(x) < FEWEST else own.p_value
    p_value = np.where(np.isnan(found), 1.0, found)
    # Measured from the first item: 1e18 + 1, 1e18 + 2, … vary, though little beside their size.
    base = y[0]
    levels, score_ends = base + (y - base).mean(axis=0), _ends((y - base).T, alpha, rare)
    score_ends = replace(score_ends, low=score_ends.low + base, high=score_ends.high + base)
    none = _no_interval(first.size, alpha)
    table = pair_table(
        (first, second),
        np.full(first.size, np.nan) if of_ratio else np.asarray(own.mean),
        (none, none) if of_ratio else (alone, joint),
        p_value,
        ("Holm", holm(p_value)),
        spread=np.asarray(gaps.std(axis=1, ddof=1)),
    )
    if of_ratio:
        table = replace(
            table,
            ratio=np.exp(own.mean),
            ratio_intervals=_exp(joint if first.size > 1 else alone),
            unsettled=_why(needed, len(x)),
        )
    return SkewedBoard(
        shown="ratio" if of_ratio else "mean",
        table=table,
        levels=np.exp(levels) if of_ratio else levels,
        intervals=_exp(score_ends) if of_ratio else score_ends,
        needed=needed,
    )


def _by_signs(
    x: Floats,
    first: npt.NDArray[np.intp],
    second: npt.NDArray[np.intp],
    alpha: float,
    needed: float,
) -> SkewedBoard:
    """Compare by how often each model is larger, with the exact sign test."""
    larger = (x[:, first] > x[:, second]).sum(axis=0).astype(float)
    smaller = (x[:, first] < x[:, second]).sum(axis=0).astype(float)
    p_value = np.array([sign_p_value(int(b), int(c)) for b, c in zip(larger, smaller, strict=True)])
    none = _no_interval(first.size, alpha)
    table = pair_table(
        (first, second),
        np.full(first.size, np.nan),
        (none, none),
        p_value,
        ("Holm", holm(p_value)),
        counts=(larger, smaller),
    )
    table = replace(table, unsettled=_why(needed, len(x)))
    levels, ends = median_intervals(x, alpha=alpha)
    return SkewedBoard(shown="signs", table=table, levels=levels, intervals=ends, needed=needed)


def _no_interval(pairs: int, alpha: float) -> Intervals:
    free = np.full(pairs, inf)
    return Intervals(-free, free, level=1 - alpha, guarantee="approximate", method="none")


def median_intervals(scores: Floats, *, alpha: float = 0.05) -> tuple[Floats, Intervals]:
    """Return the median of each column with its exact interval between two order statistics.

    Examples
    --------
    >>> levels, ends = median_intervals(np.arange(20.0)[:, None])
    >>> levels.tolist(), ends.low.tolist(), ends.high.tolist()
    ([9.5], [5.0], [14.0])
    """
    ordered = np.sort(scores, axis=0)
    n = len(ordered)
    ranks = np.arange(n // 2)
    tail = np.asarray(binomial_up_to(ranks, np.full(ranks.size, n), 0.5))
    # The lower end is the (d+1)-th smallest for the largest d with P(Bin(n, ½) ≤ d) ≤ α/2.
    inside = np.flatnonzero(tail <= alpha / 2)
    if inside.size:
        cut = int(inside[-1])
        low, high = ordered[cut], ordered[n - 1 - cut]
    else:
        low, high = np.full(ordered.shape[1], -inf), np.full(ordered.shape[1], inf)
    ends = Intervals(low, high, level=1 - alpha, guarantee="exact", method="median")
    return np.asarray(np.median(ordered, axis=0)), ends


def _ends(rows: Floats, alpha: float, rare: str, *, level: float | None = None) -> Intervals:
    found = hull_ends(rows, alpha=alpha)
    few = rows.shape[-1] < FEWEST
    low, high = found.student if few else (found.low, found.high)
    low, high = np.where(np.isnan(low), -inf, low), np.where(np.isnan(high), inf, high)
    return Intervals(
        low,
        high,
        level=1 - alpha if level is None else level,
        guarantee="under",
        assumption=rare,
        method="t" if few else "hull",
    )


def _exp(found: Intervals) -> Intervals:
    return Intervals(
        np.exp(found.low),
        np.exp(found.high),
        level=found.level,
        guarantee=found.guarantee,
        assumption=found.assumption,
        method="hull of logarithms",
    )


def _why(needed: float, n: int) -> str:
    return f"the mean is not settled by {n:,} items: scores this skewed need about {ceil(needed):,}"
