r"""The interval of every agreement statistic: jackknife-t with one more item, three times.

The plain jackknife collapses when all raters agree or a label was never seen. So one item is added
before the jackknife, in three forms:

(a) the raters alternate between the commonest and the second commonest label,
(b) all raters give the second commonest label,
(c) as (a), with the two labels exchanged.

With :math:`N = n + 1` items, :math:`\hat\theta` the statistic on all of them and
:math:`\hat\theta_{-i}` without item i,

.. math:: \hat\theta \pm t_{N-1}\, s, \qquad
          s^2 = \frac{N-1}{N} \sum_i \bigl(\hat\theta_{-i} - \bar\theta\bigr)^2   \tag{G1}

The interval is the hull of the three, cut to [-1, 1]. Where chance agreement is 1, the statistic
is taken as 1 inside the jackknife. Measured coverage at 95 %, mean and worst of 25 populations:
.991 and .961 with 10 items, .974 and .954 with 50, .964 and .944 with 200.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from tallystick.errors import InputError
from tallystick.results import Interval
from tallystick.stats.agreement.ratings import FloatArray, Ratings

__all__ = ["Statistic", "extra_items", "jackknife_hull", "two_commonest"]

Statistic: TypeAlias = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]
"""``statistic(items, counts, minus)``: one value per row of *minus*, on all items less that row.

A row of zeros removes nothing. NaN where the statistic is not defined.
"""


def jackknife_hull(
    items: FloatArray,
    counts: FloatArray,
    extras: Sequence[FloatArray],
    statistic: Statistic,
    *,
    level: float = 0.95,
) -> Interval:
    """Return the hull of (G1) over the *extras*, each added to the items on its own.

    Items of one row have the same leave-one-out value, so the cost is that of the rows given, not
    of the items they stand for.

    Examples
    --------
    The share of agreement, 20 of 20, with one more item that agrees or does not. A row holds
    (1, agrees):

    >>> def share(items, counts, minus):
    ...     left = counts @ items - minus
    ...     return left[:, 1] / left[:, 0]
    >>> items, extras = np.array([[1.0, 1.0]]), [np.array([1.0, 0.0]), np.array([1.0, 1.0])]
    >>> print(jackknife_hull(items, np.array([20.0]), extras, share))
    [0.853, 1.000] (95 %, approximate)
    """
    if not 0 < level < 1:
        raise InputError(f"level must be in (0, 1), got {level!r}")
    from scipy.special import stdtrit

    quantile = float(stdtrit(counts.sum(), (1 + level) / 2))  # N - 1 = n degrees of freedom
    lows, highs = [], []
    for extra in extras:
        rows = np.vstack((items, extra))
        weights = np.append(counts, 1.0)
        n = weights.sum()

        # Undefined means that chance agreement is 1; every rater then agrees with every other.
        minus = np.vstack((np.zeros(rows.shape[1]), rows))
        values = np.nan_to_num(statistic(rows, weights, minus), nan=1.0)
        centre, without = float(values[0]), values[1:]

        mean = float(weights @ without) / n
        error = np.sqrt((n - 1) / n * float(weights @ (without - mean) ** 2))  # (G1)
        lows.append(centre - quantile * error)
        highs.append(centre + quantile * error)
    low, high = np.clip((min(lows), max(highs)), -1.0, 1.0)
    return Interval(float(low), float(high), level=level, method="jackknife-t hull")


def two_commonest(totals: FloatArray) -> tuple[int, int]:
    """Return the commonest and the second commonest label; ties go to the first label.

    >>> two_commonest(np.array([0.0, 5.0, 0.0]))
    (1, 0)
    """
    order = np.argsort(-totals, kind="stable")
    return int(order[0]), int(order[1])


def extra_items(ratings: Ratings) -> list[FloatArray]:
    """Return the items (a), (b) and (c) as counts over labels.

    They carry as many ratings as an average item: with complete ratings one per rater. In a
    sparse table an item rated by every rater would outweigh all real ones.
    """
    table, counts = ratings.table, ratings.counts
    first, second = two_commonest(counts @ table)
    size = table.sum(axis=1)
    several = size >= 2
    m = int(np.rint((counts * size)[several].sum() / counts[several].sum()))
    more, fewer = (m + 1) // 2, m // 2

    extras = [np.zeros(ratings.n_labels) for _ in range(3)]
    extras[0][[first, second]] = more, fewer  # (a)
    extras[1][second] = m  # (b)
    extras[2][[second, first]] = more, fewer  # (c)
    return extras
