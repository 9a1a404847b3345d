r"""New clusters: sign-flip tests of one pair or of all pairs, with one adverse cluster.

:math:`d_g` is the difference of the two models in cluster g of G, w the width of the score range
and v = .1 w. v is the *adverse cluster*: one more cluster in which the other model leads by a tenth
of the range. P runs over all subsets of clusters; an empty sum is 0. With d oriented so that
Σd > 0,

.. math::

   p = \text{share of subsets with } \Bigl(\sum_P d - v\Bigr) \Bigl(\sum_{rest} d\Bigr) \le 0,
   \qquad p = 1 \text{ if } \sum d \le v   \tag{K1}

.. math::

   m_P = \min\Bigl(\frac{\sum_P d - v}{|P|}, \frac{\sum_{rest} d}{|rest|}\Bigr),\;
   -\infty \text{ if P or the rest is empty}; \quad
   lower = (\lfloor α 2^G \rfloor + 1)\text{-th smallest } m_P, \quad upper = -lower(-d)   \tag{K2}

This inverts the test in closed form, so p-value and interval agree. It holds if :math:`d_g - Δ` is
symmetric; the adverse cluster pays for moderate skewness. All pairs share the random signs s:

.. math::

   T = \frac{\max(0, |\sum d| - v)}{\sqrt{\sum d^2 + v^2}}, \qquad
   T^* = \frac{|\sum_g s_g d_g - \mathrm{sign}(\sum d)\, v|}{\sqrt{\sum d^2 + v^2}}   \tag{K3}

Step-down: a pair that is told apart no longer counts against the others. docs/theory/compare.md,
*Clusters*.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from math import ceil, floor, log2

import numpy as np
import numpy.typing as npt

from tallystick._rng import Rng, as_rng
from tallystick.errors import InputError, NotIdentifiable
from tallystick.stats.exact_tails import at_least, columns_of, finite, open_unit, positive, whole

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]

ADVERSE = 0.1
"""The adverse cluster, as a share of the score range."""
ROUNDING = 1e-12
"""Sums closer to 0 than this share of the range count as 0."""
CELLS = 100_000
"""Pairs times subsets that are worked on at once: 1 MB, so that they stay in the cache."""
TIE = 1e-9
"""Statistics this close are equal: sums of decimals differ in their last bits."""
ENUMERATED = 12
"""Up to this many clusters all 2^G subsets are visited."""
DRAWN = 9_999
"""Beyond, this many subsets are drawn, and the full one is added: 10,000 in all."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SignFlips:
    """What new clusters would say about each pair.

    Parameters
    ----------
    first, second
        Positions of the two models, in the order (0, 1), (0, 2), (1, 2) for three; for
        :func:`sign_flip_columns` the column and -1.
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
        much or more; 0 if there is no verdict even without an adverse cluster.
    critical
        c, the smallest attained value with P(max T* ≥ c) ≤ α; infinite if there is none.
    joint_alpha
        α' = max(median over pairs of P(T* ≥ c), α / pairs).
    clusters
        G.
    """

    first: Places
    second: Places
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


def sign_flip_pairs(
    values: npt.ArrayLike,
    *,
    width: float,
    rng: Rng,
    alpha: float = 0.05,
    adverse: float = ADVERSE,
) -> SignFlips:
    """Tell all pairs of models apart on new clusters, with the family-wise error held.

    435 pairs on 28 clusters take about a third of a second.

    Parameters
    ----------
    values
        Clusters x models: the mean score of each model in each cluster.
    width, rng, alpha, adverse
        As in :func:`sign_flip_columns`.

    Examples
    --------
    >>> means = [(.9, .7, .5), (.8, .75, .6), (.95, .6, .65), (.7, .65, .3),
    ...          (.85, .8, .55), (.9, .6, .5), (.6, .62, .4), (.75, .55, .35)]
    >>> found = sign_flip_pairs(means, width=1, rng=0)
    >>> found.statistic.round(4).tolist(), found.adjusted_p.round(4).tolist()
    ([1.9385, 2.6207, 2.2049], [0.0625, 0.0117, 0.0312])
    """
    table = np.asarray(values, dtype=float)
    first, second = np.triu_indices(table.shape[1], 1)
    gaps = table[:, first] - table[:, second]
    found = sign_flip_columns(gaps, width=width, rng=rng, alpha=alpha, adverse=adverse)
    return replace(found, first=first, second=second)


def sign_flip_columns(
    differences: npt.ArrayLike,
    *,
    width: float,
    rng: Rng,
    alpha: float = 0.05,
    adverse: float = ADVERSE,
) -> SignFlips:
    r"""Test any set of pairs that were compared on the same clusters; one column is one pair.

    With :math:`v^*`, the strength of a verdict,

    .. math:: v^* = \text{the } (\lfloor α 2^G \rfloor + 1 - \#\{\textstyle\sum_{rest} d \le 0\})
              \text{-th smallest} \sum_P d \text{ among subsets with} \sum_{rest} d > 0

    and p ≤ α exactly for v < v*. Every verdict also assumes that no model collapses on clusters
    rarer than 1 in G/3: a loss too rare to show up is not covered.

    Parameters
    ----------
    differences
        Clusters x pairs. A cluster in which a pair did not meet holds 0.
    width
        w, the width of the score range: 1 for scores in [0, 1].
    rng
        Seed or generator for the subsets, used from 13 clusters on.
    alpha
        One minus the level.
    adverse
        v as a share of the range.

    Examples
    --------
    >>> d = [.3, -.1, .25, .4, .2, .15, .35, .1, .05, .3]
    >>> found = sign_flip_columns(np.array(d)[:, None], width=1, rng=0)
    >>> [float(x[0].round(4)) for x in (found.difference, found.p_value, found.holds_below)]
    [0.2, 0.0137, 0.35]
    >>> [float(x[0].round(4)) for x in (found.low, found.high)]
    [0.0667, 0.325]
    """
    table = np.asarray(differences, dtype=float)
    columns_of(1, differences=table)
    finite(differences=table)
    open_unit(alpha=alpha)
    positive(width=width)
    at_least(0, adverse=adverse)
    require_enough(len(table), alpha)
    # Too small a width would make the adverse cluster too weak: an error, not a clipped interval.
    widest = float(np.max(np.abs(table), initial=0.0))
    if widest > width * (1 + 1e-9):
        raise InputError(
            f"differences reach {widest:g} in one cluster, more than width = {width:g}: "
            "give the width of the score range"
        )
    flips = _Flips(
        differences=np.ascontiguousarray(table.T),
        subsets=subsets_of(len(table), rng=rng),
        adverse=adverse * width,
        width=width,
    )
    return _tested(flips, alpha)


@dataclass(frozen=True, eq=False, kw_only=True)
class _Flips:
    """Differences of many pairs (pairs x clusters) over one set of subsets: what every formula of
    this page reads. *adverse* is v and *width* w.
    """

    differences: Floats
    subsets: Floats
    adverse: float
    width: float

    @cached_property
    def totals(self) -> Floats:
        """The sum of d for each pair, exactly 0 where only rounding is left."""
        sums = np.asarray(self.differences.sum(axis=1))
        return np.where(np.abs(sums) <= self.rounding, 0.0, sums)

    @cached_property
    def sums(self) -> Floats:
        """The sum of d over every subset, pairs x subsets: what all formulas share."""
        return np.asarray(self.differences @ self.subsets.T)

    @property
    def rounding(self) -> float:
        """Sums closer to 0 than this count as 0, so that ties are ties."""
        return ROUNDING * self.width

    @property
    def orientation(self) -> Floats:
        """1 where the first model leads (or nobody does), -1 where the second does."""
        return np.where(self.totals < 0, -1.0, 1.0)


def _tested(flips: _Flips, alpha: float) -> SignFlips:
    pairs, clusters = flips.differences.shape
    total = flips.totals
    scale = np.sqrt(np.sum(flips.differences**2, axis=1) + flips.adverse**2)
    # A pair that never differs, without an adverse cluster: T = 0, and (K1) gives p = 1.
    scale = np.where(scale > 0, scale, 1.0)
    statistic = np.maximum(0.0, np.abs(total) - flips.adverse) / scale  # (K3)

    reached, largest = _step_down(flips, statistic, scale)
    critical = _critical(largest, allowed(alpha, len(flips.subsets)))
    # Where models differ on few clusters most T* never reach c; α/pairs keeps intervals finite.
    joint = alpha
    if pairs > 1:
        joint = max(float(np.median(_share_beyond(flips, scale, critical))), alpha / pairs)

    # Blocks of pairs stay in the cache; all that is read from one set of sums is read at once.
    own, ends, margins = [], [], []
    for block in _blocks(pairs, len(flips.subsets)):
        part = replace(flips, differences=flips.differences[block])
        own.append(_p_values(part))
        ends.append(np.stack([*chain(*_ends(part, (alpha, joint)))]))
        margins.append(_holds_below(part, alpha))
    p_value = np.concatenate(own)
    low, high, joint_low, joint_high = np.concatenate(ends, axis=1)

    return SignFlips(
        first=np.arange(pairs),
        second=np.full(pairs, -1),
        difference=total / clusters,
        statistic=statistic,
        p_value=p_value,
        adjusted_p=_monotone(np.maximum(reached / len(flips.subsets), p_value), statistic),
        low=low,
        high=high,
        joint_low=joint_low,
        joint_high=joint_high,
        vacuous=(joint_low <= -flips.width) & (joint_high >= flips.width),
        holds_below=np.concatenate(margins),
        critical=critical,
        joint_alpha=joint,
        clusters=clusters,
    )


def _blocks(number: int, other: int) -> list[slice]:
    """Cut *number* rows so that a block of rows times *other* columns is small."""
    size = max(1, CELLS // other)
    return [slice(start, start + size) for start in range(0, number, size)]


def _lead(flips: _Flips) -> Floats:
    """Return Σd + sign(Σd) v: as Σ s d = 2 Σ_P d - Σd, the numerator of T* is |2 Σ_P d - lead|."""
    return flips.totals + np.sign(flips.totals) * flips.adverse


def _step_down(
    flips: _Flips, statistic: Floats, scale: Floats
) -> tuple[npt.NDArray[np.int64], Floats]:
    """Count the subsets whose running maximum reaches each statistic, and keep each maximum."""
    order = np.argsort(statistic, kind="stable")
    bars = statistic[order] * (1 - TIE)
    doubled = (2 * flips.differences / scale[:, None])[order]
    lead = (_lead(flips) / scale)[order]
    reached = np.zeros(len(order), dtype=np.int64)
    largest = np.empty(len(flips.subsets))

    # Blocks run over subsets: a running maximum needs all pairs of a subset at once.
    for block in _blocks(len(flips.subsets), len(order)):
        values = doubled @ flips.subsets[block].T
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


def _critical(largest: Floats, most: int) -> float:
    """Return the smallest attained maximum that at most *most* of them reach."""
    ascending = np.sort(largest)
    at = ascending.size - most
    # Values equal to the one below the cut would let more than *most* through.
    while at < ascending.size and ascending[at] <= ascending[at - 1] * (1 + TIE):
        at += 1
    return float(ascending[at]) if at < ascending.size else float("inf")


def _share_beyond(flips: _Flips, scale: Floats, critical: float) -> Floats:
    """Return P(T* ≥ c) for each pair."""
    if not np.isfinite(critical):
        return np.zeros(len(scale))
    lead, reach = _lead(flips), critical * (1 - TIE) * scale
    shares = []
    for block in _blocks(len(scale), len(flips.subsets)):
        doubled = 2 * flips.differences[block] @ flips.subsets.T
        above = doubled >= (lead + reach)[block, None]
        above |= doubled <= (lead - reach)[block, None]
        shares.append(np.count_nonzero(above, axis=1) / len(flips.subsets))
    return np.concatenate(shares)


def _p_values(flips: _Flips) -> Floats:
    """Return (K1) for each pair."""
    lead = np.abs(flips.totals)[:, None]
    inside = flips.orientation[:, None] * flips.sums

    # (K1): as Σd > v, the two factors are never both negative, so the product is at most 0 unless
    # both are positive.
    against = (inside <= flips.adverse + flips.rounding) | (inside >= lead - flips.rounding)
    share = np.mean(against, axis=1)
    return np.where(lead[:, 0] <= flips.adverse + flips.rounding, 1.0, share)


def _ends(flips: _Flips, alphas: tuple[float, ...]) -> list[tuple[Floats, Floats]]:
    """Return (K2) at each level, both ends for each pair, clipped to the range of differences."""
    within = flips.subsets.sum(axis=1)
    beyond = flips.differences.shape[1] - within
    edge = (within <= 0) | (beyond <= 0)
    # An empty part has no mean; -inf replaces it below.
    one_over_within = 1 / np.where(edge, 1.0, within)
    one_over_beyond = 1 / np.where(edge, 1.0, beyond)
    ranks = [allowed(alpha, len(flips.subsets)) for alpha in alphas]

    def lower(sign: float) -> Floats:
        inside = sign * flips.sums
        rest = sign * flips.totals[:, None] - inside
        inside -= flips.adverse
        inside *= one_over_within
        rest *= one_over_beyond
        least = np.minimum(inside, rest, out=rest)  # m_P
        least[:, edge] = -np.inf
        least.partition(ranks, axis=1)
        found = least[:, ranks]  # (K2)
        return np.where(np.abs(found) <= ROUNDING * flips.width, 0.0, found)

    w = flips.width
    low, high = np.clip(lower(1.0), -w, w), np.clip(-lower(-1.0), -w, w)
    return [(low[:, at], high[:, at]) for at in range(len(alphas))]


def _holds_below(flips: _Flips, alpha: float) -> Floats:
    """Return v* for each pair, in units of scores: p ≤ α for every smaller adverse cluster."""
    lead = np.abs(flips.totals)[:, None]
    inside = flips.orientation[:, None] * flips.sums
    # Subsets whose rest is not positive count against the verdict whatever v is: they take their
    # share of α first.
    lost = inside >= lead - flips.rounding
    left = allowed(alpha, len(flips.subsets)) - np.count_nonzero(lost, axis=1)
    np.putmask(inside, lost, np.inf)

    found = np.zeros(len(inside))
    for pair in np.flatnonzero(left >= 0):
        at = left[pair]
        inside[pair].partition(at)
        found[pair] = inside[pair, at]
    found[found <= flips.rounding] = 0.0
    return found


# The subsets of clusters that a sign-flip test runs over: all of them, or 10,000.
#
# Flipping the signs of some clusters is the same as choosing the subset P whose signs stay. Tests
# and intervals of every pair read the same subsets, so a p-value and an interval can never disagree
# because of chance, and all pairs keep their dependence.


def subsets_of(clusters: int, *, rng: Rng) -> Floats:
    """Return all subsets of up to 12 clusters; for more, 9,999 random ones and the full one.

    One per row, 1 where the cluster belongs to it.

    The full subset is the data as they were seen. With it among the draws a p-value is never 0, and
    the test stays exact for symmetric differences.

    Parameters
    ----------
    clusters
        G.
    rng
        Seed or generator; unused where all subsets are visited.

    Examples
    --------
    >>> subsets_of(6, rng=0).shape, subsets_of(28, rng=0).shape
    ((64, 6), (10000, 28))
    """
    whole(1, clusters=clusters)
    if clusters <= ENUMERATED:
        bits = (np.arange(2**clusters)[:, None] >> np.arange(clusters)) & 1
        return bits.astype(float)
    drawn = as_rng(rng).integers(0, 2, size=(DRAWN, clusters)).astype(float)
    return np.vstack([np.ones((1, clusters)), drawn])


def allowed(alpha: float, subsets: int) -> int:
    r"""Return :math:`\lfloor α \cdot \text{subsets} \rfloor`, safe against rounding of α.

    >>> allowed(7 / 256, 256)
    7
    """
    return floor(alpha * subsets + 1e-9)


def fewest_clusters(alpha: float = 0.05) -> int:
    r"""Return the fewest clusters that can show a difference at all: :math:`1 + \log_2(1/α)`.

    With G clusters the smallest possible p-value is :math:`2/2^G`.

    Examples
    --------
    >>> fewest_clusters(), fewest_clusters(0.01), fewest_clusters(0.0625)
    (6, 8, 5)
    """
    open_unit(alpha=alpha)
    return ceil(1 + log2(1 / alpha) - 1e-9)


def ends_at(
    differences: npt.ArrayLike, levels: tuple[float, ...], *, width: float, rng: Rng
) -> list[tuple[float, float]]:
    """Return (K2) of one pair at several levels, from the same subsets.

    >>> d = [.3, -.1, .25, .4, .2, .15, .35, .1, .05, .3]
    >>> [(round(low, 3), round(high, 3)) for low, high in ends_at(d, (.05, .2), width=1, rng=0)]
    [(0.067, 0.325), (0.12, 0.283)]
    """
    row = np.asarray(differences, dtype=float)[None, :]
    require_enough(row.shape[1], min(levels))
    subsets = subsets_of(row.shape[1], rng=rng)
    flips = _Flips(differences=row, subsets=subsets, adverse=ADVERSE * width, width=width)
    return [(float(low[0]), float(high[0])) for low, high in _ends(flips, levels)]


def require_enough(clusters: int, alpha: float) -> None:
    """Raise :class:`NotIdentifiable` if this many clusters cannot show a difference.

    Examples
    --------
    >>> require_enough(5, 0.05)
    Traceback (most recent call last):
    tallystick.errors.NotIdentifiable: 5 clusters cannot show which model is better on new clusters:
    that takes at least 6, and 12 to be useful
    """
    least = fewest_clusters(alpha)
    if clusters < least:
        raise NotIdentifiable(
            f"{clusters} clusters cannot show which model is better on new clusters: "
            f"that takes at least {least}, and {max(12, 2 * least)} to be useful"
        )
