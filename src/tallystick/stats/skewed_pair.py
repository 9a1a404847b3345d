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

__all__ = ["MeanRule", "Shown", "SkewedPair", "mean_rule", "skewed_pair"]

Floats = npt.NDArray[np.float64]
Shown = Literal["mean", "ratio", "signs"]

FEWEST = 40
"""No mean is printed from fewer pairs than this."""
SMALL_COUNT = 30
"""Whole numbers with a median below this are small counts."""


@dataclass(frozen=True, kw_only=True)
class MeanRule:
    r"""Whether the sample settles a difference of means.

    Parameters
    ----------
    settled
        Whether the mean difference may be printed.
    needed
        The pairs it takes, (K4); infinite where scores may be negative, because then there is no
        rule.
    spread
        σ, the larger of the two models; None for small counts and for negative scores.
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

    With M the median of a model's positive scores,

    .. math:: σ = \sqrt{\text{mean of } \ln^2(x/M) \text{ over } x > M}, \qquad
              n \ge \max(40, 40\, e^{2(σ^2 - 1)})   \tag{K4}

    and the larger σ of the two models. Small counts (whole numbers, median below 30) need 40 items.
    Scores below 0 have no such rule. See docs/theory/compare.md, *Skewed scores*.

    Parameters
    ----------
    first, second
        The scores of the two models on the same items.

    Examples
    --------
    >>> rule = mean_rule([1, 1.2, .8, 2, 3.5, .9, 1.1, 6, 1.4, .7], [1.5] * 10)
    >>> round(rule.spread, 4), rule.needed, rule.settled
    (0.9289, 40.0, False)
    """
    x, y = paired_scores(first, second)
    both = np.concatenate([x, y])
    if both.min() < 0:
        return MeanRule(settled=False, needed=float("inf"), spread=None)
    if np.all(both == np.floor(both)) and np.median(both) < SMALL_COUNT:
        return MeanRule(settled=x.size >= FEWEST, needed=float(FEWEST), spread=None)

    spread = max(_upper_spread(x), _upper_spread(y))
    needed = max(float(FEWEST), FEWEST * exp(min(2 * (spread**2 - 1), 700.0)))  # (K4)
    return MeanRule(settled=x.size >= needed, needed=needed, spread=spread)


def _upper_spread(scores: Floats) -> float:
    """Return σ of (K4); 0 if nothing exceeds the median of the positive scores."""
    above = scores[scores > 0]
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
