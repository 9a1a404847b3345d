r"""All pairs of a leaderboard at once: step-down max-T from the moments of the scores.

For models i and j with differences :math:`D = x_i - x_j` over n items,

.. math:: T_{ij} = \sum D \Big/ \sqrt{\textstyle\sum D^2}   \tag{M1}

is standard normal when they are equal (its variance is the one under the null hypothesis). How
large the *largest* of all :math:`k(k-1)/2` of them gets by chance is seen by drawing :math:`Z \sim
N(0, C)` from the k x k covariance of the scores: the items are never touched again. Step-down means
that a pair once told apart no longer counts against the others.

The procedure is Westfall and Young's with Gaussian draws; it controls the family-wise error for n
large. Items have to be independent: with clusters it is wrong (family-wise error .92 at 8
clusters), use Holm on cluster-robust tests there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tallystick._rng import Rng, as_rng
from tallystick.stats.exact_tails import Floats as BinomialFloats
from tallystick.stats.exact_tails import at_least, closed_unit, open_unit, whole

CELLS = 4_000_000
"""Pairs times draws that are in memory at once: 16 MB."""


@dataclass(frozen=True, slots=True, eq=False)
class PairTests:
    """Every pair of models, one entry a pair, in the order (0, 1), (0, 2), (1, 2) for three.

    Parameters
    ----------
    first, second
        Positions of the two models.
    difference
        Mean score of the first minus that of the second.
    statistic
        (M1), positive if the first is ahead.
    p_value
        Of this pair alone.
    adjusted_p
        Step-down max-T over all pairs: those of at most α are told apart with family-wise error α.
    low, high
        Single-step simultaneous interval for the true difference: all of them hold at once.
    critical
        The critical value of the intervals, also that of the first step.
    """

    first: npt.NDArray[np.intp]
    second: npt.NDArray[np.intp]
    difference: BinomialFloats
    statistic: BinomialFloats
    p_value: BinomialFloats
    adjusted_p: BinomialFloats
    low: BinomialFloats
    high: BinomialFloats
    critical: float


def pairwise_max_t(
    total: npt.ArrayLike,
    products: npt.ArrayLike,
    n: int,
    *,
    rng: Rng,
    alpha: float = 0.05,
    draws: int = 10_000,
    width: npt.ArrayLike = 0.0,
) -> PairTests:
    r"""Tell all pairs of models apart, with the family-wise error over *all* of them held.

    With :math:`|T|` sorted upwards and :math:`u_r` the largest :math:`|Z_{ij}|` among the r
    smallest, the adjusted p-value of the r-th is the share of draws with :math:`u_r \ge |T|_{(r)}`,
    made monotone from the top. It is never below :math:`1/(\text{draws}+1)` nor below the pair's
    own p-value.

    Parameters
    ----------
    total
        Sum of scores, one a model.
    products
        Sums of products of scores, models x models: :math:`X^\top X`.
    n
        Items.
    rng
        Seed or generator.
    alpha
        One minus the simultaneous level of the intervals.
    draws
        Gaussian draws.
    width
        Width of the range of scores, 1 for scores in [0, 1], or one for each pair. If above 0,
        :math:`(c/z_{1-α/2})^2` pseudo-items, half of them at each end of the range of D, enter
        every interval, so that pairs that hardly ever differ do not get one of no width. With one
        pseudo-item, as for a single pair, all intervals held in only .82 of the runs in the worst
        setting of
        ``docs/benchmarks/compare.md``, against .9995 with these.

    Examples
    --------
    >>> scores = np.array([[1, 1, 0], [1, 0, 0], [1, 1, 1], [1, 0, 0], [1, 1, 0], [1, 1, 0]] * 20)
    >>> tests = pairwise_max_t(scores.sum(axis=0), scores.T @ scores, 120, rng=0, width=1.0)
    >>> tests.difference.round(3).tolist()
    [0.333, 0.833, 0.5]
    >>> bool(np.all(tests.adjusted_p < 0.05))
    True
    """
    from scipy.special import ndtr, ndtri

    open_unit(alpha=alpha)
    whole(1, n=n, draws=draws)
    widths = np.asarray(width, dtype=float)
    at_least(0, width=widths)
    s, g = np.asarray(total, dtype=float), np.asarray(products, dtype=float)
    k = s.size
    first, second = np.triu_indices(k, 1)
    lead, square = s[first] - s[second], _of_differences(g, first, second)
    # no item tells them apart
    same = square <= 1e-12 * np.maximum(g[first, first], g[second, second])
    statistic = np.where(same, 0.0, lead / np.sqrt(np.where(same, 1.0, square)))  # (M1)
    p_value = np.minimum(1.0, 2 * ndtr(-np.abs(statistic)))

    covariance = (g - np.outer(s, s) / n) / n
    adjusted, largest = adjusted_by_draws(
        covariance, (first, second), np.abs(statistic), p_value, draws, as_rng(rng)
    )

    # Pairs without any variance take no part in the draws; each still deserves the value of a
    # single pair.
    alone = float(-ndtri(alpha / 2))
    critical = max(upper_quantile(largest, alpha), alone)
    pseudo = np.where(widths > 0, (critical / alone) ** 2, 0.0)
    size = n + pseudo
    centre = lead / size
    variance = np.maximum(0.0, square + pseudo * widths**2 - size * centre**2) / np.maximum(
        size - 1, 1
    )
    half = critical * np.sqrt(variance / size)
    return PairTests(
        first,
        second,
        lead / n,
        statistic,
        p_value,
        adjusted,
        centre - half,
        centre + half,
        critical,
    )


def adjusted_by_draws(
    covariance: BinomialFloats,
    pairs: tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]],
    statistic: BinomialFloats,
    p_value: BinomialFloats,
    draws: int,
    generator: np.random.Generator,
    *,
    stretch: BinomialFloats | None = None,
    freedom: float = math.inf,
) -> tuple[BinomialFloats, BinomialFloats]:
    """Return the step-down p-value of each pair, and the maximum of each draw; *stretch* and
    *freedom* as in `step_down`.
    """
    order = np.argsort(statistic, kind="stable")
    first, second = (part[order] for part in pairs)
    reached, largest = step_down(
        covariance,
        first,
        second,
        statistic[order],
        draws,
        generator,
        stretch=stretch,
        freedom=freedom,
    )
    stepped = np.maximum((1 + reached) / (1 + draws), p_value[order])
    adjusted = np.empty(order.size)
    adjusted[order] = np.maximum.accumulate(stepped[::-1])[::-1]
    return adjusted, largest


def step_down(
    covariance: BinomialFloats,
    first: npt.NDArray[np.intp],
    second: npt.NDArray[np.intp],
    bar: BinomialFloats,
    draws: int,
    generator: np.random.Generator,
    *,
    stretch: BinomialFloats | None = None,
    freedom: float = math.inf,
) -> tuple[npt.NDArray[np.int64], BinomialFloats]:
    """Count the draws whose running maximum reaches each bar (pairs sorted upwards), and keep each
    draw's maximum.

    With *stretch* every draw is multiplied by its own factor (one over the root of a mean square,
    for Student's t), and a pair without spread gets a normal number of its own instead of no part.
    With *freedom* each pair has a mean square of its own: spreads of differences are estimated one
    by one, and a common one would make the largest too small.
    """
    # A power of four, so that no digit changes: single precision holds nothing beyond 3e38, and
    # what is not a number reaches no bar: p-values would stay as they are for a single pair.
    exponent = math.frexp(float(np.max(np.diag(covariance), initial=0.0)))[1]
    covariance = np.ldexp(covariance, -2 * (exponent // 2))
    root = _root(covariance)
    scale = _inverse_root(_of_differences(covariance, first, second)).astype(np.float32)
    bars = bar.astype(np.float32)
    reached = np.zeros(first.size, dtype=np.int64)
    largest = np.zeros(draws, dtype=np.float32)
    step = max(1, CELLS // len(covariance))
    for start in range(0, draws, step):
        # One row a draw leaves the generator, so the numbers do not depend on the size of a block.
        # Single precision halves the work; its rounding is far below the noise of a finite number
        # of draws.
        z = (root @ generator.standard_normal((min(step, draws - start), root.shape[1])).T).astype(
            np.float32
        )
        if stretch is not None:
            z *= stretch[start : start + step].astype(np.float32)
        # Pair by pair, with the draws side by side: the running maximum stays in the cache.
        most, gap = largest[start : start + step], np.empty(z.shape[1], np.float32)
        pairs = zip(first.tolist(), second.tolist(), scale, bars, strict=True)
        for pair, (i, j, factor, level) in enumerate(pairs):
            np.subtract(z[i], z[j], out=gap)
            np.abs(gap, out=gap)
            np.multiply(gap, factor, out=gap)
            if freedom < math.inf:
                gap *= np.sqrt(freedom / generator.chisquare(freedom, gap.size)).astype(np.float32)
            if factor == 0 and stretch is not None:
                gap = np.abs(generator.standard_normal(gap.size)).astype(np.float32)
            np.maximum(most, gap, out=most)
            reached[pair] += np.count_nonzero(most >= level)
    return reached, largest.astype(float)


def _of_differences(
    matrix: BinomialFloats, first: npt.NDArray[np.intp], second: npt.NDArray[np.intp]
) -> BinomialFloats:
    diagonal = np.diag(matrix)
    return np.maximum(0.0, diagonal[first] + diagonal[second] - 2 * matrix[first, second])


def _root(covariance: BinomialFloats) -> BinomialFloats:
    """Return R with R Rᵀ = C; by eigenvectors, since equal models make C singular."""
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def _inverse_root(variance: BinomialFloats) -> BinomialFloats:
    """Return 1/σ, and 0 where there is no variance but rounding."""
    real = variance > 1e-12 * max(float(np.max(variance, initial=0.0)), 1e-300)
    return np.where(real, 1 / np.sqrt(np.where(real, variance, 1.0)), 0.0)


def upper_quantile(largest: BinomialFloats, alpha: float) -> float:
    """Return the order statistic that a fresh maximum exceeds with probability at most alpha."""
    rank = min(largest.size, int(np.ceil((1 - alpha) * (largest.size + 1))))
    return float(np.partition(largest, rank - 1)[rank - 1])


# Many tests at once: p-values adjusted so that one line can be drawn through all of them.
#
# Reject what has an adjusted value of at most α: the probability of any false rejection is at
# most α. Holm is never worse than Bonferroni, the union bound of [DD]_, section 3.5, and needs
# nothing either. For all pairs of a leaderboard :func:`~tallystick.stats.maxt.pairwise_max_t` is
# sharper, because it knows how the pairs depend.


Floats = npt.NDArray[np.float64]


def holm(p: npt.ArrayLike) -> Floats:
    r"""Step down: the i-th smallest is multiplied by the number still standing, and none falls
    below an earlier one.

    .. math:: \tilde p_{(i)} = \max_{j \le i} \min\bigl(1, (m - j + 1)\, p_{(j)}\bigr)

    >>> holm([0.01, 0.02, 0.03, 0.4]).tolist()
    [0.04, 0.06, 0.06, 0.4]
    """
    closed_unit(p=p)
    values = np.asarray(p, dtype=float)
    order = np.argsort(values, axis=None, kind="stable")
    standing = np.arange(values.size, 0, -1)
    out = np.empty(values.size)
    out[order] = np.minimum(1.0, np.maximum.accumulate(standing * values.ravel()[order]))
    return out.reshape(values.shape)
