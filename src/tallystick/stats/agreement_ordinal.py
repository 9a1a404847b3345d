"""Krippendorff's alpha: reliability of several raters for labels, ranks or numbers."""

from __future__ import annotations

from functools import partial
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError
from tallystick.results import Interval, Unknown
from tallystick.stats.agreement import (
    NO_PAIR,
    Agreement,
    FloatArray,
    Ratings,
    as_ratings,
    of_table,
    second_commonest,
)
from tallystick.stats.intervals import clopper_pearson, pseudo_t

Metric: TypeAlias = Literal["nominal", "ordinal", "interval"]


def krippendorff_alpha(
    codes: npt.ArrayLike,
    counts: npt.ArrayLike | None = None,
    *,
    metric: Metric = "nominal",
    values: npt.ArrayLike | None = None,
    n_labels: int | None = None,
    level: float = 0.95,
) -> Agreement:
    r"""Return one minus the ratio of observed to expected disagreement.

    Every pair of ratings of an item with :math:`m \ge 2` ratings counts :math:`1/(m - 1)`, which
    gives the coincidences :math:`o_{ck}`, their margins :math:`n_c` and :math:`n = \sum_c n_c`:

    .. math:: \alpha = 1 - (n - 1) \frac{\sum_{ck} o_{ck}\, \delta^2_{ck}}
                                        {\sum_{ck} n_c n_k\, \delta^2_{ck}}   \tag{G6}

    with :math:`\delta^2 = 1[c \ne k]` (nominal), the squared difference of the values (interval),
    or that of the mid-ranks :math:`\sum_{g<c} n_g + n_c/2` (ordinal). K. Krippendorff, *Content
    Analysis*. Items with one rating do not count.

    Parameters
    ----------
    codes, counts, n_labels
        As in :func:`~tallystick.stats.agreement.as_ratings`; for ``ordinal`` and ``interval`` the
        codes must be in the order of the grades.
    metric
        What a disagreement costs.
    values
        Numbers that the codes stand for, ``interval`` only; by default the codes themselves.
    level
        Coverage of the interval (G1) for new items.

    Examples
    --------
    >>> codes = [[0, 0, 0], [0, 0, 1], [1, 1, 1], [1, -1, 1], [2, 2, 1], [2, 2, 2]]
    >>> round(krippendorff_alpha(codes).estimate, 4)
    0.6632
    >>> round(krippendorff_alpha(codes, metric="ordinal").estimate, 4)
    0.8118
    """
    ratings = as_ratings(codes, counts, n_labels=n_labels).rated(2)
    if metric not in ("nominal", "ordinal", "interval"):
        raise InputError(f"metric must be 'nominal', 'ordinal' or 'interval', got {metric!r}")
    if values is not None and metric != "interval":
        raise InputError(f"values belong to metric='interval', got metric={metric!r}")

    name = f"krippendorff-alpha ({metric})"
    if metric == "nominal":
        return of_table(name, ratings, _nominal, level)
    if metric == "ordinal":
        return of_table(name, ratings, _ordinal, level)

    scale = np.arange(ratings.n_labels, dtype=np.float64)
    scale = scale if values is None else np.asarray(values, dtype=np.float64)
    if scale.shape != (ratings.n_labels,) or not np.isfinite(scale).all():
        raise InputError(f"values must be {ratings.n_labels} finite numbers, one per label")
    if np.ptp(scale) == 0:
        raise InputError(f"values must hold at least two different numbers, got {values!r}")
    # Alpha does not depend on unit or origin; differences of order 1 keep the sums well scaled.
    scale = (scale - float(np.median(scale))) / float(np.ptp(scale))
    return of_table(name, ratings, partial(_interval, values=scale), level)


def _nominal(table: FloatArray, counts: FloatArray, minus: FloatArray) -> FloatArray:
    margins = counts @ table - minus
    observed = counts @ _unlike_pairs(table) - _unlike_pairs(minus)
    n = margins.sum(axis=1)
    return _alpha(observed, n**2 - (margins**2).sum(axis=1), n)


def _unlike_pairs(table: FloatArray) -> FloatArray:
    """Return, per item, the coincidences of two different labels."""
    size = table.sum(axis=1)
    return np.asarray((size**2 - (table**2).sum(axis=1)) / np.maximum(size - 1, 1.0))


def _interval(
    table: FloatArray, counts: FloatArray, minus: FloatArray, *, values: FloatArray
) -> FloatArray:
    margins = counts @ table - minus
    observed = counts @ _squares(table, values) - _squares(minus, values)
    n = margins.sum(axis=1)
    # A sum over pairs of squared differences is 2 (n Σ x² - (Σ x)²).
    expected = 2 * (n * (margins @ values**2) - (margins @ values) ** 2)
    return _alpha(observed, expected, n)


def _squares(table: FloatArray, values: FloatArray) -> FloatArray:
    """Return, per item, the coincidences times squared differences of *values*."""
    size = table.sum(axis=1)
    spread = size * (table @ values**2) - (table @ values) ** 2
    return np.asarray(2 * spread / np.maximum(size - 1, 1.0))


def _ordinal(table: FloatArray, counts: FloatArray, minus: FloatArray) -> FloatArray:
    margins = counts @ table - minus
    n = margins.sum(axis=1)
    ranks = np.cumsum(margins, axis=1) - margins / 2  # mid-ranks, which change with every item left
    ranks -= n[:, None] / 2

    # With ranks x, Σ o_ck (x_c - x_k)² = 2 (Σ n_c x_c² - x'o x). The coincidences without an item
    # are those of all items less its own, so one K x K matrix serves every row of *minus*.
    size = table.sum(axis=1)
    weight = counts / np.maximum(size - 1, 1.0)
    coincidences = (table * weight[:, None]).T @ table - np.diag(weight @ table)
    own = (minus * ranks).sum(axis=1) ** 2 - (minus * ranks**2).sum(axis=1)
    own /= np.maximum(minus.sum(axis=1) - 1, 1.0)
    product = np.einsum("ic,ic->i", ranks @ coincidences, ranks) - own
    squares = (margins * ranks**2).sum(axis=1)
    observed = 2 * (squares - product)

    expected = 2 * (n * squares - (margins * ranks).sum(axis=1) ** 2)
    return _alpha(observed, expected, n)


def _alpha(observed: FloatArray, expected: FloatArray, n: FloatArray) -> FloatArray:
    defined = expected > 1e-9 * np.maximum(n, 1.0)
    ratio = (n - 1) * observed / np.where(defined, expected, 1.0)
    return np.where(defined, 1 - ratio, np.nan)  # (G6)


# Grades on a scale: how often two raters are within one step, and which of them grades higher.


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
