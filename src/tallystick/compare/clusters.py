r"""Items that belong together: questions on one document, tasks of one scenario.

Two questions hide in "is A better than B". On *new clusters* (documents nobody has seen) the
clusters are the sample, and twenty clusters are a small one however many items they hold. On *these
clusters* they are fixed and only the items within them vary. The user names the population; the two
answers can differ by a factor of ten.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy import special

from tallystick.compare.pairing import Bounds, PairTable, is_flat, t_p_value
from tallystick.errors import InputError
from tallystick.stats.intervals import Intervals
from tallystick.stats.multiplicity import holm
from tallystick.stats.ranges import open_unit

if TYPE_CHECKING:
    from tallystick.compare.board import Board

__all__ = [
    "cluster_errors",
    "pairs_of_new_clusters",
    "pairs_of_same_clusters",
    "satterthwaite",
    "with_floor",
]

Floats = npt.NDArray[np.float64]


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
            f"new clusters need at least two clusters, got {len(counts)}: compare on items"
            " (--population)"
        )
    first, second = np.triu_indices(sums.shape[1], 1)
    difference, error, freedom = cluster_errors(counts, sums[:, first] - sums[:, second])
    width = np.nan if bounds is None else bounds[1] - bounds[0]
    error = with_floor(error, counts, sums, bounds)
    limit = np.inf if bounds is None else width
    return _with_t(
        first, second, np.asarray(difference), error, freedom, limit, alpha, method="cr2"
    )


def pairs_of_same_clusters(board: Board, *, bounds: Bounds | None, alpha: float) -> PairTable:
    r"""Compare all pairs on new items of *these* clusters, each as large a part as it is now: a
    stratified sample.

    .. math:: V = \sum_g W_g^2\, s_g^2/n_g, \qquad W_g = n_g/n   \tag{C5}
    """
    open_unit(alpha=alpha)
    assert board.clusters is not None
    labels = np.array([str(label) for label in board.clusters])
    names, codes, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    if (sizes < 2).any():
        raise InputError(
            f"cluster {str(names[np.argmin(sizes)])!r} has one item, so nothing says how much its"
            " items vary: ask about new clusters (--population clusters)"
        )
    x = board.scores
    means = (
        np.stack([np.bincount(codes, x[:, j]) for j in range(x.shape[1])], axis=1) / sizes[:, None]
    )
    scaled = (x - means[codes]) * np.sqrt(sizes / (sizes - 1))[codes][:, None] / len(x)
    covariance = scaled.T @ scaled  # (C5), all pairs of models at once
    first, second = np.triu_indices(x.shape[1], 1)
    diagonal = np.diag(covariance)
    variance = np.maximum(0.0, diagonal[first] + diagonal[second] - 2 * covariance[first, second])
    width = np.nan if bounds is None else bounds[1] - bounds[0]
    n = len(x)
    floor = 0.0 if bounds is None else width**2 / (n * (n + 1))  # one pseudo-item, half at each end
    flat = is_flat(variance, diagonal[first] + diagonal[second], np.mean(x**2)) & (bounds is None)
    error = np.where(flat, np.inf, np.sqrt(variance + floor))
    mean = x.mean(axis=0)
    limit = np.inf if bounds is None else width
    freedom = float(n - len(sizes))
    return _with_t(
        first, second, mean[first] - mean[second], error, freedom, limit, alpha, method="stratified"
    )


def _with_t(
    first: npt.NDArray[np.intp],
    second: npt.NDArray[np.intp],
    difference: Floats,
    error: Floats,
    freedom: float,
    limit: float,
    alpha: float,
    *,
    method: str,
) -> PairTable:
    def within(level: float, name: str) -> Intervals:
        half = float(special.stdtrit(freedom, 1 - level / 2)) * error
        low, high = (
            np.clip(difference - half, -limit, limit),
            np.clip(difference + half, -limit, limit),
        )
        return Intervals(low, high, level=1 - alpha, guarantee="approximate", method=name)

    p_value = t_p_value(difference, error, freedom)
    unknown = np.full(first.size, np.nan)
    return PairTable(
        first=first,
        second=second,
        difference=difference,
        first_only=unknown,
        second_only=unknown,
        spread=error,
        intervals=within(alpha, method),
        simultaneous=within(alpha / first.size, f"{method}, bonferroni"),
        p_value=p_value,
        adjusted_p=holm(p_value),
        adjustment="Holm",
    )
