"""Items that belong together: questions on one document, tasks of one scenario.

Two questions hide in "is A better than B". On *new clusters* (documents nobody has seen) the
clusters are the sample, and twenty clusters are a small one however many items they hold. On *these
clusters* they are fixed and only the items within them vary. The user names the population; the two
answers can differ by a factor of ten.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy import special
from scipy.special import stdtrit

from tallystick._rng import Rng
from tallystick.errors import InputError
from tallystick.stats.cluster_pairs import sign_flip_pairs
from tallystick.stats.clusters import ClusterValues, cluster_values
from tallystick.stats.exact_tails import open_unit
from tallystick.stats.intervals import Intervals
from tallystick.stats.maxt import holm
from tallystick.table import Label
from tallystick.verbs.compare.pairs import Bounds, PairTable, is_flat, t_p_value
from tallystick.verbs.compare.question import Settings

if TYPE_CHECKING:
    from tallystick.verbs.compare.board import Board

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


# All pairs of models on *new* clusters: sign-flips with one adverse cluster.
#
# Every cluster counts once unless the caller wants every item to (``--cluster-weight items``).
# Bounded scores take (K1)-(K3) of :mod:`tallystick.stats.clusters`. Unbounded ones are compared by
# their cluster means with the rules for skewed scores.


@dataclass(frozen=True, eq=False, kw_only=True)
class ClusterSample:
    """The clusters that were seen.

    Parameters
    ----------
    names
        What each is called, in the order of *counts*.
    counts
        Items (or their weight) in each cluster.
    sums
        Sum of scores, clusters x models.
    """

    names: tuple[str, ...]
    counts: Floats
    sums: Floats

    def values(self, settings: Settings) -> ClusterValues:
        """Return what is compared: means of clusters, or sums of items with their sizes."""
        if len(self.counts) < 2:
            raise InputError(
                f"new clusters need at least two clusters, got {len(self.counts)}: compare on"
                " items (--population items)"
            )
        return cluster_values(self.counts, self.sums, weight=settings.cluster_weight)

    @property
    def means(self) -> Floats:
        """Mean score in each cluster, clusters x models."""
        return np.asarray(self.sums / self.counts[:, None])

    @property
    def item_means(self) -> Floats:
        """Mean score over all items, however they are spread over the clusters."""
        return np.asarray(self.sums.sum(axis=0) / self.counts.sum())


def sign_flip_table(
    sample: ClusterSample, *, bounds: Bounds, settings: Settings, rng: Rng
) -> PairTable:
    """Compare all pairs of bounded scores on new clusters, with the family-wise error held.

    The joint interval of a pair that says nothing (the whole range) is replaced by its own, and
    the table says so in the method of the intervals.

    Examples
    --------
    >>> means = np.array([(.9, .7), (.8, .75), (.95, .6), (.7, .65), (.85, .8), (.9, .6)])
    >>> sample = ClusterSample(names=tuple("abcdef"), counts=np.full(6, 10.0), sums=10 * means)
    >>> table = sign_flip_table(sample, bounds=(0, 1), settings=Settings(), rng=0)
    >>> table.difference.round(4).tolist(), table.p_value.round(4).tolist()
    ([0.1667], [0.125])
    """
    held = sample.values(settings)
    width = bounds[1] - bounds[0]
    weights = None if settings.cluster_weight == "equal" else held.sizes
    found = sign_flip_pairs(held.values, width=width, rng=rng, sizes=weights, alpha=settings.alpha)
    level = 1 - settings.alpha
    own = Intervals(found.low, found.high, level=level, guarantee="approximate", method="sign-flip")
    joint_low = np.where(found.vacuous, found.low, found.joint_low)
    joint_high = np.where(found.vacuous, found.high, found.joint_high)
    one_at_a_time = "one at a time" if found.vacuous.any() else "simultaneous"
    unknown = np.full(found.first.size, np.nan)

    # What a pair varies by from cluster to cluster, as the error of the whole sample.
    gaps = held.values[:, found.first] - held.values[:, found.second]
    _, error, _ = cluster_errors(held.sizes, gaps)
    alone = found.first.size == 1
    return PairTable(
        first=found.first,
        second=found.second,
        difference=found.difference,
        first_only=unknown,
        second_only=unknown,
        spread=np.asarray(error),
        intervals=own,
        simultaneous=Intervals(
            joint_low,
            joint_high,
            level=level,
            guarantee="approximate",
            method=f"sign-flip, {one_at_a_time}",
        ),
        p_value=found.p_value,
        adjusted_p=found.p_value if alone else found.adjusted_p,
        adjustment="none: one pair" if alone else "step-down sign-flips",
        holds_below=found.holds_below,
    )


def cluster_score_intervals(
    sample: ClusterSample, *, bounds: Bounds | None, settings: Settings
) -> Intervals:
    """Bound the score of each model on new clusters: Student's t over clusters.

    With item weights it is CR2 with Satterthwaite's degrees of freedom
    (:func:`~tallystick.verbs.compare.clusters.cluster_errors`), which is t where clusters count
    alike.
    """
    held = sample.values(settings)
    means, errors, freedom = cluster_errors(held.sizes, held.values)
    errors = with_floor(errors, held.sizes, held.values, bounds)
    half = float(stdtrit(freedom, 1 - settings.alpha / 2)) * errors
    low, high = bounds or (-np.inf, np.inf)
    return Intervals(
        np.clip(means - half, low, high),
        np.clip(means + half, low, high),
        level=1 - settings.alpha,
        guarantee="approximate",
        method="t over clusters" if settings.cluster_weight == "equal" else "cr2",
    )


# Rows of one item are its runs: which row belongs to which item, and what its runs add up to.


Bools = npt.NDArray[np.bool_]
Places = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False, kw_only=True)
class Grouped:
    """Rows sorted into items.

    Parameters
    ----------
    places
        The item of each row, -1 for a row that is not used.
    first
        The first row of each item.
    used
        Which rows are used.
    lost, total
        Items that are left out because a model has no score there, and all items; rows where
        items have no names.
    """

    places: Places
    first: Places
    used: Bools
    lost: int
    total: int

    @classmethod
    def of(cls, items: Sequence[Label] | None, answered: Bools, *, own_runs: bool) -> Grouped:
        """Sort rows into items.

        Parameters
        ----------
        items
            The item of each row; None if every row is one.
        answered
            Rows x models: whether there is a score.
        own_runs
            Whether each model counts by its own runs of an item. Otherwise a row counts only if
            every model has a score in it.

        Examples
        --------
        >>> answered = np.array([[True, True], [True, False], [False, True]])
        >>> Grouped.of(["q1", "q1", "q2"], answered, own_runs=True).places.tolist()
        [0, 0, -1]
        >>> Grouped.of(["q1", "q1", "q2"], answered, own_runs=False).places.tolist()
        [0, -1, -1]
        """
        whole = np.asarray(answered.all(axis=1))
        if items is None:
            rows = np.flatnonzero(whole)
            places = np.full(len(whole), -1, np.int64)
            places[rows] = np.arange(len(rows))
            lost = int((~whole).sum())
            return cls(places=places, first=rows, used=whole, lost=lost, total=len(whole))

        codes = _codes(items)
        total = int(codes.max()) + 1 if len(codes) else 0
        if own_runs:
            runs = np.stack(
                [
                    np.bincount(codes, answered[:, j], minlength=total)
                    for j in range(answered.shape[1])
                ]
            )
            complete = np.asarray((runs > 0).all(axis=0))
            used = complete[codes] & answered.any(axis=1)
            lost, count = int((~complete).sum()), total
        else:
            used, lost, count = whole, int((~whole).sum()), len(whole)
        return cls._renumbered(codes, used, lost, count)

    @classmethod
    def _renumbered(cls, codes: Places, used: Bools, lost: int, total: int) -> Grouped:
        """Give the items that are left their numbers, in the order of their first used row."""
        rows = np.flatnonzero(used)
        found, first = np.unique(codes[rows], return_index=True)
        order = np.argsort(first, kind="stable")
        number = np.full(int(codes.max()) + 2 if len(codes) else 1, -1, np.int64)
        number[found[order]] = np.arange(len(found))
        places = np.where(used, number[codes], -1)
        return cls(places=places, first=rows[first[order]], used=used, lost=lost, total=total)

    @property
    def repeated(self) -> bool:
        """Whether an item has several rows."""
        return len(self.first) < int(self.used.sum())

    def runs(self, answered: Bools) -> Floats:
        """Return how many scores each model has of each item."""
        return self._added(answered.astype(float))

    def sums(self, scores: Floats) -> Floats:
        """Return the sum of each model's scores of each item, missing ones left out."""
        return self._added(np.nan_to_num(scores))

    def _added(self, values: Floats) -> Floats:
        n, used = len(self.first), self.used
        columns = [
            np.bincount(self.places[used], values[used, j], minlength=n)
            for j in range(values.shape[1])
        ]
        return np.stack(columns, axis=1)


def _codes(items: Sequence[Label]) -> Places:
    seen: dict[Label, int] = {}
    codes = np.empty(len(items), np.int64)
    for row, item in enumerate(items):
        if item is None:
            raise InputError(f"row {row + 1}: the item is blank; name every item or remove the row")
        codes[row] = seen.setdefault(item, len(seen))
    return codes
