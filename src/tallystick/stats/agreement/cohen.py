"""Cohen's kappa, plain and weighted: agreement of two raters beyond chance."""

from __future__ import annotations

from functools import partial
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError
from tallystick.results import Unknown
from tallystick.stats.agreement.jackknife import jackknife_hull, two_commonest
from tallystick.stats.agreement.ratings import FloatArray, as_ratings
from tallystick.stats.agreement.raw import NO_PAIR, second_commonest
from tallystick.stats.agreement.result import Agreement

__all__ = ["KappaWeights", "cohen_kappa"]

KappaWeights: TypeAlias = Literal["nominal", "linear", "quadratic"]


def cohen_kappa(
    codes: npt.ArrayLike,
    counts: npt.ArrayLike | None = None,
    *,
    n_labels: int | None = None,
    weights: KappaWeights = "nominal",
    level: float = 0.95,
) -> Agreement:
    r"""Return how far two raters agree beyond chance, if chance knows each rater's label shares.

    With :math:`o_{ab}` the share of items on which the first rater gives a and the second b, and
    :math:`d_{ab}` the cost of that (1 off the diagonal, :math:`|a-b|` or :math:`(a-b)^2`),

    .. math:: \kappa = 1 - \frac{\sum_{ab} d_{ab}\, o_{ab}}
                                {\sum_{ab} d_{ab}\, o_{a\cdot}\, o_{\cdot b}}   \tag{G5}

    J. Cohen, *Weighted kappa*, Psychological Bulletin 70 (1968). Only items that both raters rated
    count.

    Parameters
    ----------
    codes
        Items or patterns x two raters; -1 is a missing rating.
    counts, n_labels
        As in :func:`~tallystick.stats.agreement.as_ratings`.
    weights
        ``nominal`` for labels without order; ``linear`` or ``quadratic`` for grades in the order
        of their codes.
    level
        Coverage of the interval (G1) for new items.

    Examples
    --------
    >>> found = cohen_kappa([[0, 0]] * 6 + [[1, 1]] * 6)
    >>> found.estimate
    1.0
    >>> print(found.interval)
    [0.512, 1.000] (95 %, approximate)
    """
    every = as_ratings(codes, counts, n_labels=n_labels)
    if every.n_raters != 2:
        raise InputError(
            f"codes must have two columns, one per rater, got {every.n_raters}: "
            "pass two of them, or use fleiss_kappa"
        )
    ratings = every.rated(2)
    size = ratings.n_labels
    cost = _cost(size, weights)
    name = "cohen-kappa" if weights == "nominal" else f"cohen-kappa ({weights})"
    n_items = int(ratings.counts.sum())
    if not n_items:
        none = Unknown(NO_PAIR)
        return Agreement(
            name=name, estimate=none, interval=none, n_items=0, n_raters=2, second_commonest=0
        )

    # Items are cells (a, b) of the joint table, numbered from 1 so that a row of zeros is no item.
    cells, where = np.unique(ratings.codes @ [size, 1], return_inverse=True)
    tally = np.bincount(where.ravel(), weights=ratings.counts).astype(np.float64)
    pairs = np.column_stack(np.divmod(cells, size)).astype(np.float64) + 1
    first, second = two_commonest(ratings.counts @ ratings.table)
    forms = ((first, second), (second, second), (second, first))  # (a), (b), (c)
    extras = [np.array(form, dtype=np.float64) + 1 for form in forms]

    statistic = partial(_cohen, cost=cost)
    value = float(statistic(pairs, tally, np.zeros((1, 2)))[0])
    certain = Unknown("both raters always gave the same one label, so agreement is certain")
    return Agreement(
        name=name,
        estimate=certain if np.isnan(value) else value,
        interval=jackknife_hull(pairs, tally, extras, statistic, level=level),
        n_items=n_items,
        n_raters=2,
        second_commonest=second_commonest(ratings),
    )


def _cost(size: int, weights: str) -> FloatArray:
    step = np.abs(np.subtract.outer(np.arange(size), np.arange(size))).astype(np.float64)
    if weights == "nominal":
        return np.minimum(step, 1.0)
    if weights == "linear":
        return step
    if weights == "quadratic":
        return step**2
    raise InputError(f"weights must be 'nominal', 'linear' or 'quadratic', got {weights!r}")


def _cohen(
    pairs: FloatArray, counts: FloatArray, minus: FloatArray, *, cost: FloatArray
) -> FloatArray:
    size = cost.shape[0]
    a, b = pairs.astype(np.int64).T - 1
    rows = np.bincount(a, weights=counts, minlength=size)
    columns = np.bincount(b, weights=counts, minlength=size)
    observed, by_first, by_second = float(counts @ cost[a, b]), cost @ columns, rows @ cost

    # Less one item (x, y): each sum changes by one entry, so that no table is built anew.
    taken = minus[:, 0] > 0
    x, y = np.where(taken[:, None], minus.astype(np.int64) - 1, 0).T
    own = taken * cost[x, y]
    expected = rows @ by_first - taken * (by_first[x] + by_second[y]) + own
    n = counts.sum() - taken

    defined = expected > 1e-9  # whole counts times costs: nothing lies between 0 and 1
    ratio = n * (observed - own) / np.where(defined, expected, 1.0)
    return np.where(defined, 1 - ratio, np.nan)  # (G5)
