r"""All pairs of a leaderboard on new clusters: step-down sign-flips with shared signs.

For each pair, with the notation of :mod:`~tallystick.stats.clusters`,

.. math::

   T = \frac{\max(0, |\sum d| - v)}{\sqrt{\sum d^2 + v^2}}, \qquad
   T^* = \frac{|\sum_g s_g d_g - s_0\, \mathrm{sign}(\sum d)\, v|}{\sqrt{\sum d^2 + v^2}}   \tag{K3}

with random signs s that all pairs share. Multiplying all signs by :math:`s_0` changes no T*, so
:math:`s_0 = 1` loses nothing and the signs are the subsets that (K1) and (K2) run over. Step-down:
a pair that is told apart no longer counts against the others. docs/theory/compare.md, *Clusters*.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
import numpy.typing as npt
from scipy import special

from tallystick._rng import Rng
from tallystick.errors import InputError
from tallystick.stats.clusters import (
    ADVERSE,
    FlipTest,
    Floats,
    flip_p_values,
    flips_of,
    holds_below,
    interval_ends,
)
from tallystick.stats.exact_tails import open_unit
from tallystick.stats.intervals import Intervals
from tallystick.stats.maxt import holm
from tallystick.stats.pairs import Bounds, PairTable, t_p_value

CELLS = 100_000
"""Pairs times subsets that are worked on at once: 1 MB, so that they stay in the cache."""
TIE = 1e-9
"""Statistics this close are equal: sums of decimals differ in their last bits."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SignFlipPairs:
    """Every pair, in the order (0, 1), (0, 2), (1, 2) for three models.

    Parameters
    ----------
    first, second
        Positions of the two models; for :func:`sign_flip_columns` the column and -1.
    difference
        Mean of the first minus that of the second.
    statistic
        T of (K3), positive whoever leads.
    p_value
        (K1), of this pair alone.
    adjusted_p
        Step-down over all pairs: those of at most α are told apart, with family-wise error α. The
        verdict rests on this, also where an interval disagrees.
    low, high
        (K2) at α, one pair at a time.
    joint_low, joint_high
        (K2) at *joint_alpha*: all of them hold at once.
    vacuous
        Where the joint interval is the whole range: print the single one, marked "one at a time".
    holds_below
        Of the pair alone: the verdict holds unless one more cluster favours the other model by this
        much or more.
    critical
        c, the smallest attained value with P(max T* ≥ c) ≤ α; infinite if there is none.
    joint_alpha
        α' = max(median over pairs of P(T* ≥ c), α / pairs).
    clusters, enumerated
        G, and whether all subsets were visited.
    """

    first: npt.NDArray[np.intp]
    second: npt.NDArray[np.intp]
    difference: Floats
    statistic: Floats
    p_value: Floats
    adjusted_p: Floats
    low: Floats
    high: Floats
    joint_low: Floats
    joint_high: Floats
    vacuous: npt.NDArray[np.bool_]
    holds_below: Floats
    critical: float
    joint_alpha: float
    clusters: int
    enumerated: bool


def sign_flip_pairs(
    values: npt.ArrayLike,
    *,
    width: float,
    rng: Rng,
    sizes: npt.ArrayLike | None = None,
    alpha: float = 0.05,
    adverse: float = ADVERSE,
) -> SignFlipPairs:
    """Tell all pairs of models apart on new clusters, with the family-wise error held.

    435 pairs on 28 clusters take about a third of a second.

    Parameters
    ----------
    values
        Clusters x models: means of clusters, or sums of items if *sizes* are given
        (:func:`~tallystick.stats.clusters.cluster_values` makes both).
    width, rng, sizes, alpha, adverse
        As in :func:`~tallystick.stats.clusters.sign_flip`.

    Examples
    --------
    >>> means = [(.9, .7, .5), (.8, .75, .6), (.95, .6, .65), (.7, .65, .3),
    ...          (.85, .8, .55), (.9, .6, .5), (.6, .62, .4), (.75, .55, .35)]
    >>> found = sign_flip_pairs(means, width=1, rng=0)
    >>> found.statistic.round(4).tolist(), found.adjusted_p.round(4).tolist()
    ([1.9385, 2.6207, 2.2049], [0.0625, 0.0117, 0.0312])
    """
    table = np.asarray(values, dtype=float)
    if table.ndim != 2 or table.shape[1] < 2 or not np.isfinite(table).all():
        raise InputError(
            f"values must be clusters x at least 2 models, all finite, got shape {table.shape}"
        )
    first, second = np.triu_indices(table.shape[1], 1)
    differences = np.ascontiguousarray((table[:, first] - table[:, second]).T)
    flips = flips_of(differences, width=width, rng=rng, sizes=sizes, alpha=alpha, adverse=adverse)
    return _tested(flips, first, second, alpha)


def sign_flip_columns(
    differences: npt.ArrayLike,
    *,
    width: float,
    rng: Rng,
    sizes: npt.ArrayLike | None = None,
    alpha: float = 0.05,
    adverse: float = ADVERSE,
) -> SignFlipPairs:
    """Test any set of pairs that were compared on the same clusters: battles, say.

    Parameters
    ----------
    differences
        Clusters x pairs. A cluster in which a pair did not meet holds 0.
    width, rng, sizes, alpha, adverse
        As in :func:`~tallystick.stats.clusters.sign_flip`.

    Examples
    --------
    >>> d = [[.1, 0], [.2, .1], [.15, -.1], [.3, .1], [.12, -.1], [.25, 0]]
    >>> sign_flip_columns(d, width=1, rng=0).adjusted_p.round(4).tolist()
    [0.0469, 1.0]
    """
    table = np.asarray(differences, dtype=float)
    if table.ndim != 2 or not table.shape[1] or not np.isfinite(table).all():
        raise InputError(
            f"differences must be clusters x pairs of finite numbers, got shape {table.shape}"
        )
    rows = np.ascontiguousarray(table.T)
    flips = flips_of(rows, width=width, rng=rng, sizes=sizes, alpha=alpha, adverse=adverse)
    columns = np.arange(len(rows))
    return _tested(flips, columns, np.full(len(rows), -1), alpha)


def _tested(
    flips: FlipTest,
    first: npt.NDArray[np.intp],
    second: npt.NDArray[np.intp],
    alpha: float,
) -> SignFlipPairs:
    pairs = len(first)
    total = flips.totals
    scale = np.sqrt(np.sum(flips.differences**2, axis=1) + flips.adverse**2)
    # A pair that never differs, without an adverse cluster: T = 0, and (K1) gives p = 1.
    scale = np.where(scale > 0, scale, 1.0)
    statistic = np.maximum(0.0, np.abs(total) - flips.adverse) / scale  # (K3)

    reached, largest = _step_down(flips, statistic, scale)
    critical = _critical(largest, flips.subsets.rank(alpha))
    # Where models differ on few clusters most T* never reach c; α/pairs keeps intervals finite.
    joint = max(float(np.median(_share_beyond(flips, scale, critical))), alpha / pairs)

    # Blocks of pairs stay in the cache; all that is read from one set of sums is read at once.
    own, ends, margins = [], [], []
    for block in _blocks(pairs, flips.subsets.number):
        part = replace(flips, differences=flips.differences[block])
        own.append(flip_p_values(part))
        ends.append(np.stack([*chain(*interval_ends(part, (alpha, joint)))]))
        margins.append(holds_below(part, alpha))
    p_value = np.concatenate(own)
    low, high, joint_low, joint_high = np.concatenate(ends, axis=1)

    return SignFlipPairs(
        first=first,
        second=second,
        difference=total / flips.sizes.sum(),
        statistic=statistic,
        p_value=p_value,
        adjusted_p=_monotone(np.maximum(reached / flips.subsets.number, p_value), statistic),
        low=low,
        high=high,
        joint_low=joint_low,
        joint_high=joint_high,
        vacuous=(joint_low <= -flips.width) & (joint_high >= flips.width),
        holds_below=np.concatenate(margins),
        critical=critical,
        joint_alpha=joint,
        clusters=flips.differences.shape[1],
        enumerated=flips.subsets.complete,
    )


def _blocks(number: int, other: int) -> list[slice]:
    """Cut *number* rows so that a block of rows times *other* columns is small."""
    size = max(1, CELLS // other)
    return [slice(start, start + size) for start in range(0, number, size)]


def _lead(flips: FlipTest) -> Floats:
    """Return Σd + sign(Σd) v: as Σ s d = 2 Σ_P d - Σd, the numerator of T* is |2 Σ_P d - lead|."""
    return flips.totals + np.sign(flips.totals) * flips.adverse


def _step_down(
    flips: FlipTest, statistic: Floats, scale: Floats
) -> tuple[npt.NDArray[np.int64], Floats]:
    """Count the subsets whose running maximum reaches each statistic, and keep each maximum."""
    order = np.argsort(statistic, kind="stable")
    bars = statistic[order] * (1 - TIE)
    doubled = (2 * flips.differences / scale[:, None])[order]
    lead = (_lead(flips) / scale)[order]
    reached = np.zeros(len(order), dtype=np.int64)
    largest = np.empty(flips.subsets.number)

    # Blocks run over subsets: a running maximum needs all pairs of a subset at once.
    for block in _blocks(flips.subsets.number, len(order)):
        values = doubled @ flips.subsets.member[block].T
        values -= lead[:, None]
        np.abs(values, out=values)  # T* of (K3)
        np.maximum.accumulate(values, axis=0, out=values)
        reached += np.count_nonzero(values >= bars[:, None], axis=1)
        largest[block] = values[-1]
    counts = np.empty_like(reached)
    counts[order] = reached
    return counts, largest


def _monotone(p_values: Floats, statistic: Floats) -> Floats:
    """Return p-values that never fall from a larger statistic to a smaller one."""
    down = np.argsort(-statistic, kind="stable")
    adjusted = np.empty_like(p_values)
    adjusted[down] = np.minimum(1.0, np.maximum.accumulate(p_values[down]))
    return adjusted


def _critical(largest: Floats, allowed: int) -> float:
    """Return the smallest attained maximum that at most *allowed* of them reach."""
    ascending = np.sort(largest)
    at = ascending.size - allowed
    # Values equal to the one below the cut would let more than *allowed* through.
    while at < ascending.size and ascending[at] <= ascending[at - 1] * (1 + TIE):
        at += 1
    return float(ascending[at]) if at < ascending.size else float("inf")


def _share_beyond(flips: FlipTest, scale: Floats, critical: float) -> Floats:
    """Return P(T* ≥ c) for each pair."""
    if not np.isfinite(critical):
        return np.zeros(len(scale))
    lead, reach = _lead(flips), critical * (1 - TIE) * scale
    shares = []
    for block in _blocks(len(scale), flips.subsets.number):
        doubled = 2 * flips.subsets.sums(flips.differences[block])
        above = doubled >= (lead + reach)[block, None]
        above |= doubled <= (lead - reach)[block, None]
        shares.append(np.count_nonzero(above, axis=1) / flips.subsets.number)
    return np.concatenate(shares)


# One table of pairs from clusters: sign-flips of bounded scores, CR2 of weighted items.


def satterthwaite(sizes: npt.ArrayLike) -> float:
    r"""Return the degrees of freedom of CR2 for a mean, under working independence; G - 1 for G
    equal clusters.

    .. math:: \mathrm{df} = \frac{N^2}{\sum_g n_g^2 + (\sum_g a_g)^2 - \sum_g a_g^2}, \qquad
              a_g = \frac{n_g^2}{N (1 - n_g/N)}   \tag{C4}

    Derived in ``docs/theory/compare.md#clusters`` from the general form of Bell and McCaffrey.

    >>> satterthwaite([10, 10, 10, 10, 10]), round(satterthwaite([10, 10, 10, 10, 1000]), 2)
    (4.0, 1.06)
    """
    n = np.asarray(sizes, dtype=float)
    if n.ndim != 1 or n.size < 2 or not np.all(n > 0):
        raise InputError(f"sizes must be at least two positive numbers, got {sizes!r}")
    total = n.sum()
    a = n**2 / (total * (1 - n / total))
    return float(total**2 / (np.sum(n**2) + np.sum(a) ** 2 - np.sum(a**2)))


def cluster_errors(counts: npt.ArrayLike, sums: npt.ArrayLike) -> tuple[Floats, Floats, float]:
    r"""Return means, their standard errors on new clusters, and the degrees of freedom.

    .. math:: V = \frac1{N^2} \sum_g \frac{u_g^2}{1 - h_g}, \qquad u_g = \sum_{i \in g} (D_i - \bar D),\quad
              h_g = n_g/N   \tag{C3}

    the CR2 variance of a mean with Satterthwaite's degrees of freedom.

    Parameters
    ----------
    counts
        Items (or their weight) in each cluster.
    sums
        Sum of the values in each cluster; further axes are separate questions.

    Examples
    --------
    >>> mean, error, df = cluster_errors([2, 2, 2], [1.0, 0.0, 2.0])
    >>> float(mean), round(float(error), 4), df
    (0.5, 0.2887, 2.0)
    """
    n, s = np.asarray(counts, dtype=float), np.asarray(sums, dtype=float)
    freedom = satterthwaite(n)
    total = n.sum()
    mean = s.sum(axis=0) / total
    size = n.reshape(-1, *([1] * (s.ndim - 1)))
    u = s - size * mean
    variance = np.sum(u**2 / (1 - size / total), axis=0) / total**2  # (C3)
    return np.asarray(mean), np.sqrt(variance), freedom


def with_floor(errors: Floats, counts: Floats, sums: Floats, bounds: Bounds | None) -> Floats:
    """Return the standard errors, none of them 0: where clusters are all alike an interval of no
    width would be a lie.

    The error is then that of one pseudo-cluster, half at each end of the *bounds*; without bounds
    nothing is known and it is infinite. *counts* and *sums*, of the scores themselves, say what is
    only rounding.

    >>> with_floor(np.array([0.0, 0.2]), np.full(4, 10.0), np.full((4, 1), 5.0), (0.0, 1.0)).round(3).tolist()
    [0.224, 0.2]
    """
    clusters = len(counts)
    alike = (
        np.inf if bounds is None else (bounds[1] - bounds[0]) / np.sqrt(clusters * (clusters + 1))
    )
    rounding = 1e-12 * float(np.max(np.abs(sums) / counts[:, None]))
    return np.where(errors <= rounding, alike, errors)


def pairs_of_new_clusters(
    counts: Floats, sums: Floats, *, bounds: Bounds | None, alpha: float
) -> PairTable:
    """Compare all pairs on the population of clusters, from sums by cluster; adjusted by Holm.

    Max-T with normal draws is wrong here: its family-wise error was .92, .55 and .23 with 8, 20 and
    50 clusters.

    Parameters
    ----------
    counts, sums
        Items in each cluster; sum of scores, clusters x models.
    bounds
        Between what scores lie; see :func:`with_floor`.
    alpha
        One minus the level.
    """
    open_unit(alpha=alpha)
    if len(counts) < 2:
        raise InputError(
            f"new clusters need at least two clusters, got {len(counts)}: leave out --cluster"
        )
    first, second = np.triu_indices(sums.shape[1], 1)
    difference, error, freedom = cluster_errors(counts, sums[:, first] - sums[:, second])
    width = np.nan if bounds is None else bounds[1] - bounds[0]
    error = with_floor(error, counts, sums, bounds)
    limit = np.inf if bounds is None else width

    def within(level: float, method: str) -> Intervals:
        half = float(special.stdtrit(freedom, 1 - level / 2)) * error
        low, high = (
            np.clip(difference - half, -limit, limit),
            np.clip(difference + half, -limit, limit),
        )
        return Intervals(low, high, level=1 - alpha, guarantee="approximate", method=method)

    p_value = t_p_value(difference, error, freedom)
    unknown = np.full(first.size, np.nan)
    return PairTable(
        first=first,
        second=second,
        difference=difference,
        first_only=unknown,
        second_only=unknown,
        spread=error,
        intervals=within(alpha, "cr2"),
        simultaneous=within(alpha / first.size, "cr2, bonferroni"),
        p_value=p_value,
        adjusted_p=holm(p_value),
        adjustment="Holm",
    )


def sign_flip_table(means: Floats, *, bounds: Bounds, rng: Rng, alpha: float = 0.05) -> PairTable:
    """Compare all pairs of bounded scores on new clusters, with the family-wise error held.

    The joint interval of a pair that says nothing (the whole range) is replaced by its own, and
    the table says so in the method of the intervals.

    Parameters
    ----------
    means
        Mean score in each cluster, clusters x models: every cluster counts once.
    bounds, rng, alpha
        Between what scores lie; seed of the subsets; one minus the level.

    Examples
    --------
    >>> means = np.array([(.9, .7), (.8, .75), (.95, .6), (.7, .65), (.85, .8), (.9, .6)])
    >>> table = sign_flip_table(means, bounds=(0, 1), rng=0)
    >>> table.difference.round(4).tolist(), table.p_value.round(4).tolist()
    ([0.1667], [0.125])
    """
    found = sign_flip_pairs(means, width=bounds[1] - bounds[0], rng=rng, alpha=alpha)
    one_at_a_time = "one at a time" if found.vacuous.any() else "simultaneous"
    unknown = np.full(found.first.size, np.nan)

    # What a pair varies by from cluster to cluster, as the error of the whole sample.
    gaps = means[:, found.first] - means[:, found.second]
    _, error, _ = cluster_errors(np.ones(len(means)), gaps)
    alone = found.first.size == 1

    def ends(low: Floats, high: Floats, method: str) -> Intervals:
        return Intervals(low, high, level=1 - alpha, guarantee="approximate", method=method)

    return PairTable(
        first=found.first,
        second=found.second,
        difference=found.difference,
        first_only=unknown,
        second_only=unknown,
        spread=error,
        intervals=ends(found.low, found.high, "sign-flip"),
        simultaneous=ends(
            np.where(found.vacuous, found.low, found.joint_low),
            np.where(found.vacuous, found.high, found.joint_high),
            f"sign-flip, {one_at_a_time}",
        ),
        p_value=found.p_value,
        adjusted_p=found.p_value if alone else found.adjusted_p,
        adjustment="none: one pair" if alone else "step-down sign-flips",
        holds_below=found.holds_below,
    )


def cluster_intervals(
    counts: Floats, sums: Floats, *, bounds: Bounds | None, alpha: float, method: str = "cr2"
) -> tuple[Floats, Intervals, float]:
    """Bound the score of each model on new clusters; return scores, intervals and freedom.

    CR2 with Satterthwaite's degrees of freedom, which is Student's t where clusters count alike.
    """
    means, errors, freedom = cluster_errors(counts, sums)
    errors = with_floor(errors, counts, sums, bounds)
    half = float(special.stdtrit(freedom, 1 - alpha / 2)) * errors
    low, high = bounds or (-np.inf, np.inf)
    ends = Intervals(
        np.clip(means - half, low, high),
        np.clip(means + half, low, high),
        level=1 - alpha,
        guarantee="approximate",
        method=method,
    )
    return means, ends, freedom
