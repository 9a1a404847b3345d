"""Exact intervals for a finite population: how many of *these* items are right, from the labels of
some.
"""

from __future__ import annotations

from typing import overload

import numpy as np

from tallystick.errors import InputError
from tallystick.results import Interval
from tallystick.stats.intervals._urn import fewest_in_strata, fewest_in_urn, least_shares
from tallystick.stats.intervals.array import Intervals, Numbers, Vector, as_counts, pack
from tallystick.stats.intervals.side import Side, split_alpha

__all__ = ["hypergeometric", "hypergeometric_strata", "hypergeometric_subgroup"]


@overload
def hypergeometric(
    successes: float, draws: float, population: float, *, alpha: float = ..., side: Side = ...
) -> Interval: ...
@overload
def hypergeometric(
    successes: Vector, draws: Numbers, population: Numbers, *, alpha: float = ..., side: Side = ...
) -> Intervals: ...
def hypergeometric(
    successes: Numbers,
    draws: Numbers,
    population: Numbers,
    *,
    alpha: float = 0.05,
    side: Side = "two",
) -> Interval | Intervals:
    r"""Bound the share of right items among *these* N, for certain, from k of them drawn without
    replacement.

    With K right items of N, the right ones among k draws follow the hypergeometric law; the ends
    are

    .. math:: K_{lo} = \min\{K: P(X \ge x \mid K) > \alpha/2\}, \qquad
              K_{hi} = \max\{K: P(X \le x \mid K) > \alpha/2\},   \tag{I4}

    divided by N. Exact for every (N, K, k); all N labelled give a point.

    Parameters
    ----------
    successes, draws, population
        x of k draws from N items, whole numbers, ``0 <= x <= k <= N``, N at least 1.
    alpha, side
        As in :func:`clopper_pearson`. An end without error allowed to it is what logic leaves: x/N,
        or (x + N - k)/N.

    Returns
    -------
    Interval or Intervals
        For the share K/N; times N it is the number of right items.

    Examples
    --------
    >>> print(hypergeometric(45, 50, 60))
    [0.850, 0.917] (95 %, exact)
    >>> hypergeometric([8, 80], [10, 100], 200).low.round(3).tolist()
    [0.455, 0.735]
    """
    at_low, at_high = split_alpha(alpha, side)
    x, k = as_counts(successes, draws, names=("successes", "draws"))
    k, n = as_counts(k, population, names=("draws", "population"))
    x = np.broadcast_to(x, n.shape)
    if (n < 1).any():
        raise InputError(f"population must be at least 1, got {n.min()}")
    right, drawn, size = (np.ravel(part).astype(np.int64) for part in (x, k, n))
    fewest_right = fewest_in_urn(right, drawn, size, at_low).reshape(n.shape)
    fewest_wrong = fewest_in_urn(drawn - right, drawn, size, at_high).reshape(n.shape)
    return pack(
        fewest_right / n,
        (n - fewest_wrong) / n,
        alpha=alpha,
        guarantee="exact",
        method="hypergeometric",
    )


def hypergeometric_strata(
    successes: Vector, draws: Vector, sizes: Vector, *, alpha: float = 0.05, side: Side = "two"
) -> Intervals:
    r"""Bound the share of right items among *these*, for certain, from labels in two strata.

    The number K of right items is tested with :math:`S = \sum_h N_h X_h/k_h`. How K divides into
    strata is unknown, so the lower end is the least K with

    .. math:: p(K) = \max_{(K_1, K - K_1) \in B} P(S \ge s \mid K_1, K - K_1) > (1 - \gamma) \alpha/2,   \tag{I12}

    every :math:`K_1` tried; the upper end counts wrong items. The box B holds both counts with
    error :math:`\gamma \alpha/2`, :math:`\gamma` = .05, so the two errors add up to
    :math:`\alpha/2`; it keeps out divisions that the labels themselves refute, which else decide
    the maximum. Exact, given how many labels fell into each stratum, also when that was by chance.
    A stratum without labels adds nothing to S and may hold anything. Narrower than
    :func:`hypergeometric` where the strata differ.

    Parameters
    ----------
    successes, draws, sizes
        :math:`x_h, k_h, N_h`, whole numbers, the two strata along the last axis; one pair is one
        row.
    alpha, side
        As in :func:`hypergeometric`.

    Returns
    -------
    Intervals
        For the share of right items among all, one a row.

    Examples
    --------
    >>> print(hypergeometric_strata([28, 2], [30, 20], [120, 80])[0])
    [0.490, 0.705] (95 %, exact)
    >>> print(hypergeometric(30, 50, 200))
    [0.475, 0.715] (95 %, exact)
    """
    at_low, at_high = split_alpha(alpha, side)
    x, k = as_counts(successes, draws, names=("successes", "draws"))
    k, n = as_counts(k, sizes, names=("draws", "sizes"))
    x = np.broadcast_to(x, n.shape)
    if n.ndim == 0 or n.shape[-1] != 2:
        raise InputError(f"sizes must have two strata along the last axis, got shape {n.shape}")
    x, k, n = (np.atleast_2d(part) for part in (x, k, n))
    whole = n.sum(axis=-1)
    if (whole < 1).any():
        raise InputError("sizes must add up to at least 1 item")
    right, drawn, size = (np.reshape(part, (-1, 2)).astype(np.int64) for part in (x, k, n))
    low = fewest_in_strata(right, drawn, size, at_low).reshape(whole.shape) / whole
    high = (
        whole - fewest_in_strata(drawn - right, drawn, size, at_high).reshape(whole.shape)
    ) / whole
    return Intervals(low, high, level=1 - alpha, guarantee="exact", method="hypergeometric-strata")


@overload
def hypergeometric_subgroup(
    successes: float,
    members: float,
    draws: float,
    population: float,
    *,
    alpha: float = ...,
    side: Side = ...,
) -> Interval: ...
@overload
def hypergeometric_subgroup(
    successes: Vector,
    members: Numbers,
    draws: Numbers,
    population: Numbers,
    *,
    alpha: float = ...,
    side: Side = ...,
) -> Intervals: ...
def hypergeometric_subgroup(
    successes: Numbers,
    members: Numbers,
    draws: Numbers,
    population: Numbers,
    *,
    alpha: float = 0.05,
    side: Side = "two",
) -> Interval | Intervals:
    r"""Bound the share of right items in a subgroup of unknown size, for certain: among all of one
    class, say.

    Of k labelled items out of N, m belong to the subgroup and x of these are right. The size Q of
    the subgroup has its own range :math:`R` at :math:`\alpha/10`; given Q, the m members are a
    sample from it, so

    .. math:: \bigcup_{Q \in R} \mathrm{hypergeometric}(x, m, Q)_{.9 \alpha}   \tag{I13}

    holds at :math:`1 - \alpha`. Exact; without any member labelled it is [0, 1].

    Parameters
    ----------
    successes, members, draws, population
        x, m, k, N; ``0 <= x <= m <= k <= N``.
    alpha, side
        As in :func:`hypergeometric`.

    Examples
    --------
    >>> print(hypergeometric_subgroup(18, 20, 50, 300))
    [0.691, 0.985] (95 %, exact)
    >>> hypergeometric_subgroup([18, 0], [20, 0], 50, 300).high.round(3).tolist()
    [0.985, 1.0]
    """
    at_low, at_high = split_alpha(0.9 * alpha, side)
    x, m = as_counts(successes, members, names=("successes", "members"))
    m, k = as_counts(m, draws, names=("members", "draws"))
    k, n = as_counts(k, population, names=("draws", "population"))
    shape = n.shape
    right, inside, drawn, size = (
        np.ravel(np.broadcast_to(part, shape)).astype(np.int64) for part in (x, m, k, n)
    )
    first = fewest_in_urn(inside, drawn, size, alpha / 20)
    last = size - fewest_in_urn(drawn - inside, drawn, size, alpha / 20)
    first, last = np.maximum(first, 1), np.maximum(last, 1)
    good, of_good = least_shares(right, inside, first, last, at_low)
    bad, of_bad = least_shares(inside - right, inside, first, last, at_high)
    none = inside == 0
    low, high = np.where(none, 0.0, good / of_good), np.where(none, 1.0, (of_bad - bad) / of_bad)
    return pack(
        low.reshape(shape),
        high.reshape(shape),
        alpha=alpha,
        guarantee="exact",
        method="hypergeometric-subgroup",
    )
