"""Raw agreement: how often raters give the same label, with no correction for chance."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tallystick.results import Interval, Unknown
from tallystick.stats.agreement.jackknife import extra_items, jackknife_hull, two_commonest
from tallystick.stats.agreement.ratings import FloatArray, Ratings, as_ratings
from tallystick.stats.agreement.result import Agreement
from tallystick.stats.intervals import clopper_pearson

__all__ = ["NO_PAIR", "pair_shares", "raw_agreement", "second_commonest"]

NO_PAIR = "no item has ratings by two raters"


def raw_agreement(
    codes: npt.ArrayLike,
    counts: npt.ArrayLike | None = None,
    *,
    n_labels: int | None = None,
    level: float = 0.95,
) -> Agreement:
    r"""Return how often two raters of an item give the same label.

    With :math:`r_{ik}` ratings of label k among the :math:`r_i` of item i,

    .. math:: p_a = \text{mean over items with } r_i \ge 2 \text{ of }
              \frac{\sum_k r_{ik}(r_{ik} - 1)}{r_i (r_i - 1)}   \tag{G2}

    For two raters it is a share of items, and the interval is exact (Clopper-Pearson); for more
    raters it is the jackknife hull (G1).

    Parameters
    ----------
    codes, counts, n_labels
        As in :func:`~tallystick.stats.agreement.as_ratings`.
    level
        Coverage of the interval for new items.

    Examples
    --------
    >>> raw_agreement([[0, 0], [1, 1], [0, 1], [1, -1]]).estimate
    0.6666666666666666
    """
    ratings = as_ratings(codes, counts, n_labels=n_labels).rated(2)
    n_items = int(ratings.counts.sum())
    estimate: float | Unknown = Unknown(NO_PAIR)
    interval: Interval | Unknown = Unknown(NO_PAIR)
    if n_items:
        estimate = float(_raw(ratings.table, ratings.counts, np.zeros((1, ratings.n_labels)))[0])
        interval = _interval(ratings, estimate, n_items, level)
    return Agreement(
        name="raw agreement",
        estimate=estimate,
        interval=interval,
        n_items=n_items,
        n_raters=ratings.n_raters,
        second_commonest=second_commonest(ratings),
    )


def _interval(ratings: Ratings, estimate: float, n_items: int, level: float) -> Interval:
    if (ratings.table.sum(axis=1) == 2).all():
        return clopper_pearson(round(estimate * n_items), n_items, alpha=1 - level)
    hull = jackknife_hull(ratings.table, ratings.counts, extra_items(ratings), _raw, level=level)
    return Interval(max(hull.low, 0.0), hull.high, level=level, method=hull.method)


def pair_shares(table: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return, per row, the share of agreeing pairs of raters (0 without a pair) and 1 if any pair.

    >>> pair_shares(np.array([[2.0, 1.0], [1.0, 0.0]]))
    (array([0.33333333, 0.        ]), array([1., 0.]))
    """
    size = table.sum(axis=1)
    has_pair = size >= 2
    pairs = np.where(has_pair, size * (size - 1), 1.0)
    agreeing = np.einsum("ik,ik->i", table, table) - size
    return np.where(has_pair, agreeing / pairs, 0.0), has_pair.astype(np.float64)


def second_commonest(ratings: Ratings) -> int:
    """Return how many ratings the second commonest label has."""
    totals = ratings.counts @ ratings.table
    return int(totals[two_commonest(totals)[1]])


def _raw(table: FloatArray, counts: FloatArray, minus: FloatArray) -> FloatArray:
    share, has_pair = pair_shares(table)
    minus_share, minus_pair = pair_shares(minus)
    return np.asarray((counts @ share - minus_share) / (counts @ has_pair - minus_pair))  # (G2)
