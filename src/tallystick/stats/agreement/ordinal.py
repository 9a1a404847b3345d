"""Grades on a scale: how often two raters are within one step, and which of them grades higher."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError
from tallystick.results import Interval, Unknown
from tallystick.stats.agreement.ratings import Ratings, as_ratings
from tallystick.stats.agreement.raw import NO_PAIR, second_commonest
from tallystick.stats.agreement.result import Agreement
from tallystick.stats.intervals import clopper_pearson, pseudo_t

__all__ = ["mean_bias", "within_one"]


def within_one(
    codes: npt.ArrayLike,
    counts: npt.ArrayLike | None = None,
    *,
    n_labels: int | None = None,
    level: float = 0.95,
) -> Agreement:
    """Return how often the grades of two raters are at most one step apart.

    The codes number the grades in their order. The interval is exact (Clopper-Pearson).

    Parameters
    ----------
    codes
        Items or patterns x two raters; -1 is a missing grade.
    counts, n_labels
        As in :func:`~tallystick.stats.agreement.as_ratings`.
    level
        Coverage of the interval for new items.

    Examples
    --------
    >>> within_one([[0, 1], [2, 2], [0, 3], [4, 3]]).estimate
    0.75
    """
    ratings = _pair(codes, counts, n_labels)
    n_items = int(ratings.counts.sum())
    close = np.abs(ratings.codes[:, 0] - ratings.codes[:, 1]) <= 1
    hits = int(ratings.counts @ close)
    estimate = hits / n_items if n_items else Unknown(NO_PAIR)
    interval = clopper_pearson(hits, n_items, alpha=1 - level) if n_items else Unknown(NO_PAIR)
    return _answer("within-one agreement", ratings, estimate, interval)


def mean_bias(
    codes: npt.ArrayLike,
    counts: npt.ArrayLike | None = None,
    *,
    values: npt.ArrayLike | None = None,
    n_labels: int | None = None,
    level: float = 0.95,
) -> Agreement:
    r"""Return how much higher the first rater grades than the second, on average.

    .. math:: b = \text{mean over items of } x_{i1} - x_{i2}   \tag{G7}

    The interval is Student's with half an item at each end of the scale of differences (I7), so it
    does not collapse when the raters always agree.

    Parameters
    ----------
    codes
        Items or patterns x two raters; -1 is a missing grade.
    counts, n_labels
        As in :func:`~tallystick.stats.agreement.as_ratings`.
    values
        Numbers that the codes stand for; by default the codes themselves.
    level
        Coverage of the interval for new items.

    Examples
    --------
    >>> found = mean_bias([[3, 2], [4, 4], [2, 1], [3, 3]] * 10, n_labels=5)
    >>> found.estimate
    0.5
    >>> print(found.interval)
    [0.232, 0.744] (95 %, approximate)
    """
    ratings = _pair(codes, counts, n_labels)
    scale = np.arange(ratings.n_labels, dtype=np.float64)
    scale = scale if values is None else np.asarray(values, dtype=np.float64)
    if scale.shape != (ratings.n_labels,) or not np.isfinite(scale).all():
        raise InputError(f"values must be {ratings.n_labels} finite numbers, one per label")
    if np.ptp(scale) == 0:
        raise InputError(f"values must hold at least two different numbers, got {values!r}")

    n = float(ratings.counts.sum())
    if not n:
        return _answer("mean bias", ratings, Unknown(NO_PAIR), Unknown(NO_PAIR))
    difference = scale[ratings.codes[:, 0]] - scale[ratings.codes[:, 1]]
    mean = float(ratings.counts @ difference) / n  # (G7)
    if n < 2:
        return _answer("mean bias", ratings, mean, Unknown("one item says nothing about spread"))
    variance = float(ratings.counts @ (difference - mean) ** 2) / (n - 1)
    bound = float(np.ptp(scale))
    interval = pseudo_t(mean, variance, n, alpha=1 - level, bounds=(-bound, bound))
    return _answer("mean bias", ratings, mean, interval)


def _pair(codes: npt.ArrayLike, counts: npt.ArrayLike | None, n_labels: int | None) -> Ratings:
    ratings = as_ratings(codes, counts, n_labels=n_labels)
    if ratings.n_raters != 2:
        raise InputError(f"codes must have two columns, one per rater, got {ratings.n_raters}")
    return ratings.rated(2)


def _answer(
    name: str, ratings: Ratings, estimate: float | Unknown, interval: Interval | Unknown
) -> Agreement:
    return Agreement(
        name=name,
        estimate=estimate,
        interval=interval,
        n_items=int(ratings.counts.sum()),
        n_raters=2,
        second_commonest=second_commonest(ratings),
    )
