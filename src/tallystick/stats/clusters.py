r"""One pair of models on new clusters: a sign-flip test with one adverse cluster, and its interval.

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
symmetric; the adverse cluster pays for moderate skewness. docs/theory/compare.md, *Clusters*.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import ceil, floor, log2

import numpy as np
import numpy.typing as npt

from tallystick._rng import Rng, as_rng
from tallystick.errors import InputError, NotIdentifiable
from tallystick.stats.exact_tails import at_least, open_unit, positive, whole

Floats = npt.NDArray[np.float64]

ADVERSE = 0.1
"""The adverse cluster, as a share of the score range."""
ROUNDING = 1e-12
"""Sums closer to 0 than this share of the range (times the mean size of a cluster) count as 0."""


@dataclass(frozen=True, kw_only=True)
class SignFlip:
    """What new clusters would say about one pair.

    Parameters
    ----------
    estimate
        Mean of the first model minus that of the second.
    p_value
        (K1), two-sided.
    low, high
        (K2), clipped to the range of differences.
    holds_below
        The verdict holds unless one more cluster favours the other model by this much or more; 0 if
        there is no verdict even without an adverse cluster.
    clusters
        G.
    enumerated
        Whether all subsets were visited; otherwise p and interval depend on the seed.
    """

    estimate: float
    p_value: float
    low: float
    high: float
    holds_below: float
    clusters: int
    enumerated: bool


@dataclass(frozen=True, eq=False, kw_only=True)
class FlipTest:
    """Differences of many pairs over one set of subsets: what every formula of this page reads.

    Parameters
    ----------
    differences
        One row per pair, one column per cluster: means, or sums of items.
    sizes
        What a cluster's value is divided by: 1, or its items.
    subsets
        P, shared by all pairs.
    adverse
        v, in the units of *differences*.
    width
        w, the width of the score range.
    """

    differences: Floats
    sizes: Floats
    subsets: Subsets
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
        return self.subsets.sums(self.differences)

    @property
    def rounding(self) -> float:
        """Sums closer to 0 than this count as 0, so that ties are ties."""
        return ROUNDING * self.width * float(self.sizes.mean())

    @property
    def orientation(self) -> Floats:
        """1 where the first model leads (or nobody does), -1 where the second does."""
        return np.where(self.totals < 0, -1.0, 1.0)


def sign_flip(
    differences: npt.ArrayLike,
    *,
    width: float,
    rng: Rng,
    sizes: npt.ArrayLike | None = None,
    alpha: float = 0.05,
    adverse: float = ADVERSE,
) -> SignFlip:
    r"""Tell two models apart on new clusters, with :math:`v^*`, the strength of the verdict.

    .. math:: v^* = \text{the } (\lfloor α 2^G \rfloor + 1 - \#\{\textstyle\sum_{rest} d \le 0\})
              \text{-th smallest} \sum_P d \text{ among subsets with} \sum_{rest} d > 0

    and p ≤ α exactly for v < v*. Print it as "holds unless one more scenario favours B by 12 points
    or more". Every verdict also assumes that no model collapses on clusters rarer than 1 in G/3: a
    loss too rare to show up is not covered (docs/theory/compare.md, *Clusters*).

    Parameters
    ----------
    differences
        One number per cluster: the difference of the two means, or of the two sums if *sizes* are
        given.
    width
        w, the width of the score range: 1 for scores in [0, 1].
    rng
        Seed or generator for the subsets, used from 13 clusters on.
    sizes
        Items per cluster, if every *item* shall count once; None if every cluster does. Then |P| in
        (K2) is the number of items in P and v = .1 w times the mean size.
    alpha
        One minus the level.
    adverse
        v as a share of the range.

    Examples
    --------
    >>> d = [.3, -.1, .25, .4, .2, .15, .35, .1, .05, .3]
    >>> found = sign_flip(d, width=1, rng=0)
    >>> round(found.estimate, 4), round(found.p_value, 4), round(found.holds_below, 4)
    (0.2, 0.0137, 0.35)
    >>> round(found.low, 4), round(found.high, 4)
    (0.0667, 0.325)
    """
    d = np.asarray(differences, dtype=float)
    if d.ndim != 1 or not np.isfinite(d).all():
        raise InputError(
            f"differences must be one finite number per cluster, got shape {d.shape}: "
            "leave out clusters that one of the models did not answer"
        )
    flips = flips_of(d[None, :], width=width, rng=rng, sizes=sizes, alpha=alpha, adverse=adverse)
    total = flips.totals

    low, high = interval_ends(flips, (alpha,))[0]
    return SignFlip(
        estimate=float(total[0] / flips.sizes.sum()),
        p_value=float(flip_p_values(flips)[0]),
        low=float(low[0]),
        high=float(high[0]),
        holds_below=float(holds_below(flips, alpha)[0]),
        clusters=d.size,
        enumerated=flips.subsets.complete,
    )


def flips_of(
    differences: Floats,
    *,
    width: float,
    rng: Rng,
    sizes: npt.ArrayLike | None,
    alpha: float,
    adverse: float,
) -> FlipTest:
    """Check the arguments that all sign-flip functions share, and draw the subsets."""
    open_unit(alpha=alpha)
    positive(width=width)
    at_least(0, adverse=adverse)
    clusters = differences.shape[1]
    weights = np.ones(clusters) if sizes is None else np.asarray(sizes, dtype=float)
    if weights.shape != (clusters,) or not np.all((weights > 0) & np.isfinite(weights)):
        raise InputError(f"sizes must be one positive number per cluster, got {sizes!r}")
    require_enough(clusters, alpha)
    # Too small a width would make the adverse cluster too weak: an error, not a clipped interval.
    widest = float(np.max(np.abs(differences) / weights, initial=0.0))
    if widest > width * (1 + 1e-9):
        raise InputError(
            f"differences reach {widest:g} in one cluster, more than width = {width:g}: "
            "give the width of the score range"
        )
    return FlipTest(
        differences=differences,
        sizes=weights,
        subsets=subsets_of(clusters, rng=rng),
        adverse=adverse * width * float(weights.mean()),
        width=width,
    )


def flip_p_values(flips: FlipTest) -> Floats:
    """Return (K1) for each pair."""
    lead = np.abs(flips.totals)[:, None]
    inside = flips.orientation[:, None] * flips.sums

    # (K1): as Σd > v, the two factors are never both negative, so the product is at most 0 unless
    # both are positive.
    against = (inside <= flips.adverse + flips.rounding) | (inside >= lead - flips.rounding)
    share = np.mean(against, axis=1)
    return np.where(lead[:, 0] <= flips.adverse + flips.rounding, 1.0, share)


def interval_ends(flips: FlipTest, alphas: tuple[float, ...]) -> list[tuple[Floats, Floats]]:
    """Return (K2) at each level, both ends for each pair, clipped to the range of differences."""
    within = flips.subsets.sums(flips.sizes)
    beyond = flips.sizes.sum() - within
    edge = (within <= 0) | (beyond <= 0)
    # An empty part has no mean; -inf replaces it below.
    one_over_within = 1 / np.where(edge, 1.0, within)
    one_over_beyond = 1 / np.where(edge, 1.0, beyond)
    ranks = [flips.subsets.rank(alpha) for alpha in alphas]

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


def holds_below(flips: FlipTest, alpha: float) -> Floats:
    """Return v* for each pair, in units of scores: p ≤ α for every smaller adverse cluster."""
    lead = np.abs(flips.totals)[:, None]
    inside = flips.orientation[:, None] * flips.sums
    # Subsets whose rest is not positive count against the verdict whatever v is: they take their
    # share of α first.
    lost = inside >= lead - flips.rounding
    allowed = flips.subsets.rank(alpha) - np.count_nonzero(lost, axis=1)
    np.putmask(inside, lost, np.inf)

    found = np.zeros(len(inside))
    for pair in np.flatnonzero(allowed >= 0):
        at = allowed[pair]
        inside[pair].partition(at)
        found[pair] = inside[pair, at]
    found[found <= flips.rounding] = 0.0
    return found / float(flips.sizes.mean())


# What counts once, a cluster or an item: the two estimands of a comparison on new clusters.


# The subsets of clusters that a sign-flip test runs over: all of them, or 10,000.
#
# Flipping the signs of some clusters is the same as choosing the subset P whose signs stay. Tests
# and intervals of every pair read the same subsets, so a p-value and an interval can never disagree
# because of chance, and all pairs keep their dependence.


ENUMERATED = 12
"""Up to this many clusters all 2^G subsets are visited."""
DRAWN = 9_999
"""Beyond, this many subsets are drawn, and the full one is added: 10,000 in all."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Subsets:
    """Subsets of G clusters, one per row.

    Parameters
    ----------
    member
        1 where the cluster belongs to the subset, else 0; shape (subsets, clusters).
    complete
        Whether these are all subsets, so that nothing depends on a seed.
    """

    member: Floats
    complete: bool

    @property
    def number(self) -> int:
        """How many subsets there are: 2^G, or 10,000."""
        return len(self.member)

    def rank(self, alpha: float) -> int:
        r"""Return :math:`\lfloor α \cdot \text{number} \rfloor`, safe against rounding of α."""
        return floor(alpha * self.number + 1e-9)

    def sums(self, values: Floats) -> Floats:
        """Return the sum of *values* (…, clusters) over every subset; shape (…, subsets)."""
        return np.asarray(values @ self.member.T)


def subsets_of(clusters: int, *, rng: Rng) -> Subsets:
    """Return all subsets of up to 12 clusters; for more, 9,999 random ones and the full one.

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
    >>> subsets_of(6, rng=0).number, subsets_of(28, rng=0).number
    (64, 10000)
    """
    whole(1, clusters=clusters)
    if clusters <= ENUMERATED:
        bits = (np.arange(2**clusters)[:, None] >> np.arange(clusters)) & 1
        return Subsets(member=bits.astype(float), complete=True)
    drawn = as_rng(rng).integers(0, 2, size=(DRAWN, clusters)).astype(float)
    return Subsets(member=np.vstack([np.ones((1, clusters)), drawn]), complete=False)


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
