"""Two models by an unbounded score: which summary of the sample can be relied on.

The mean of a skewed score is settled only by a large sample. (K4) says how large; where it is not
reached the typical ratio is printed instead, or the signs. docs/theory/compare.md, *Skewed
scores*. Print with each of them "assumes that nothing rarer than 1 in n/3 calls moves the mean".
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp
from typing import Literal

import numpy as np
import numpy.typing as npt

from tallystick.errors import NotIdentifiable
from tallystick.stats.sign_count import SignCount, paired_scores, sign_count
from tallystick.stats.skewed import Hull, hull

__all__ = ["FEWEST", "MeanRule", "Shown", "SkewedPair", "mean_rule", "skewed_pair"]

Floats = npt.NDArray[np.float64]
Shown = Literal["mean", "ratio", "signs"]

FEWEST = 40
"""No mean is printed from fewer pairs than this."""
SMALL_COUNT = 30
"""Scores whose median is fewer steps than this from an end are small counts."""


@dataclass(frozen=True, kw_only=True)
class MeanRule:
    r"""Whether the sample settles a difference of means.

    Parameters
    ----------
    settled
        Whether the mean difference may be printed.
    needed
        The pairs it takes, (K4).
    spread
        σ, the larger of the two models; None for small counts.
    """

    settled: bool
    needed: float
    spread: float | None


@dataclass(frozen=True, kw_only=True)
class SkewedPair:
    """What may be said of two models by an unbounded score.

    Parameters
    ----------
    shown
        ``mean``: print the mean difference. ``ratio``: the mean is not settled, print the typical
        ratio. ``signs``: with zeros or negative scores, print who is larger how often.
    mean
        The difference of means; None unless it is settled.
    ratio
        The typical ratio first/second, exp of the hull on logarithms; None with scores of 0 or
        below, or if all ratios are equal.
    signs
        Larger, smaller, same.
    medians
        Of the two models: what remains where scores may be negative.
    rule
        Why the mean is settled or not.
    """

    shown: Shown
    mean: Hull | None
    ratio: Hull | None
    signs: SignCount
    medians: tuple[float, float]
    rule: MeanRule


def mean_rule(first: npt.ArrayLike, second: npt.ArrayLike) -> MeanRule:
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
    >>> rule = mean_rule([1, 1.2, .83, 2, 3.5, .9, 1.1, 6, 1.4, .7], [1.5] * 10)
    >>> round(rule.spread, 4), round(rule.needed, 1), rule.settled
    (1.5466, 647.3, False)
    """
    x, y = paired_scores(first, second)
    if _are_small_counts(np.concatenate([x, y])):
        return MeanRule(settled=x.size >= FEWEST, needed=float(FEWEST), spread=None)

    spread = max(_spread(x), _spread(y))
    needed = max(float(FEWEST), FEWEST * exp(min(2 * (spread**2 - 1), 700.0)))  # (K4)
    return MeanRule(settled=x.size >= needed, needed=needed, spread=spread)


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


def skewed_pair(first: npt.ArrayLike, second: npt.ArrayLike, *, alpha: float = 0.05) -> SkewedPair:
    """Compare two models by an unbounded score, and say which summary the sample supports.

    The mean difference if (K4) holds; otherwise the typical ratio ("typically .82 times as long"),
    or, with zeros or negative scores, the signs. With clusters give cluster means: n is then the
    number of clusters, so under 40 clusters no mean is printed.

    Parameters
    ----------
    first, second
        The scores of the two models on the same items.
    alpha
        One minus the level.

    Examples
    --------
    >>> x, y = [1.2, 2.0, .9, 3.1, 1.1, 2.4], [1.0, 1.6, 1.0, 2.2, 1.0, 2.1]
    >>> found = skewed_pair(x, y)
    >>> found.shown, found.mean, round(found.ratio.estimate, 3)
    ('ratio', None, 1.156)
    """
    x, y = paired_scores(first, second)
    rule = mean_rule(x, y)
    signs = sign_count(x, y)
    ratio = _typical_ratio(x, y, alpha) if min(x.min(), y.min()) > 0 else None
    mean = None
    if rule.settled:
        try:
            mean = hull(x - y, alpha=alpha)
        except NotIdentifiable:  # all differences equal: the signs say all there is
            mean = None

    shown: Shown = "mean" if mean is not None else "ratio" if ratio is not None else "signs"
    return SkewedPair(
        shown=shown,
        mean=mean,
        ratio=ratio,
        signs=signs,
        medians=(float(np.median(x)), float(np.median(y))),
        rule=rule,
    )


def _typical_ratio(x: Floats, y: Floats, alpha: float) -> Hull | None:
    """Return exp of the hull on ln x - ln y; None where all ratios are equal."""
    try:
        found = hull(np.log(x) - np.log(y), alpha=alpha)
    except NotIdentifiable:
        return None
    return Hull(
        estimate=exp(found.estimate),
        low=exp(found.low),
        high=exp(found.high),
        p_value=found.p_value,
        skewness=found.skewness,
        student=(exp(found.student[0]), exp(found.student[1])),
        hall=(exp(found.hall[0]), exp(found.hall[1])),
    )
