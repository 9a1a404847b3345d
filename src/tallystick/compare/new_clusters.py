"""All pairs of models on *new* clusters: sign-flips with one adverse cluster.

Every cluster counts once unless the caller wants every item to (``--cluster-weight items``).
Bounded scores take (K1)-(K3) of :mod:`tallystick.stats.clusters`. Unbounded ones are compared by
their cluster means with the rules for skewed scores.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from tallystick._rng import Rng
from tallystick.compare.clusters import cluster_errors, with_floor
from tallystick.compare.pairing import Bounds, PairTable
from tallystick.compare.settings import Settings
from tallystick.errors import InputError
from tallystick.stats.clusters import ClusterValues, cluster_values, sign_flip_pairs
from tallystick.stats.intervals import Intervals

__all__ = ["ClusterSample", "cluster_score_intervals", "sign_flip_table"]

Floats = npt.NDArray[np.float64]


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
    (:func:`~tallystick.compare.clusters.cluster_errors`), which is t where clusters count alike.
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
