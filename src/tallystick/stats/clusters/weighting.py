"""What counts once, a cluster or an item: the two estimands of a comparison on new clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError

__all__ = ["ClusterValues", "ClusterWeight", "cluster_values"]

ClusterWeight = Literal["equal", "items"]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, kw_only=True)
class ClusterValues:
    """What a sign-flip test adds up, and how much each cluster counts.

    Parameters
    ----------
    values
        One row per cluster and one column per model: means of clusters, or sums of their items.
    sizes
        What the values of a cluster are divided by: 1, or its items.
    """

    values: Floats
    sizes: Floats

    @property
    def scores(self) -> Floats:
        """The score of each model: the mean of cluster means, or the mean of all items."""
        return np.asarray(self.values.sum(axis=0) / self.sizes.sum())


def cluster_values(
    counts: npt.ArrayLike, sums: npt.ArrayLike, *, weight: ClusterWeight = "equal"
) -> ClusterValues:
    """Return the values to compare: every cluster counts once, or every item does.

    Equal weights answer "how good is the model on the next cluster". With item weights a few large
    clusters decide: on 20 resampled HELM scenarios they told 29 % of 435 pairs apart, equal weights
    58 %. Equal weights cost power only where sizes are very unequal and clusters hardly differ.

    Parameters
    ----------
    counts
        Items in each cluster.
    sums
        Sum of scores, clusters x models.
    weight
        ``equal`` (every cluster counts once) or ``items``.

    Examples
    --------
    >>> cluster_values([1, 4], [[1.0], [2.0]]).scores.tolist()
    [0.75]
    >>> cluster_values([1, 4], [[1.0], [2.0]], weight="items").scores.tolist()
    [0.6]
    """
    n, s = np.asarray(counts, dtype=float), np.asarray(sums, dtype=float)
    if n.ndim != 1 or s.ndim != 2 or len(n) != len(s) or not np.isfinite(s).all():
        raise InputError(
            f"sums must be clusters x models of finite numbers with one count per cluster, "
            f"got shapes {s.shape} and {n.shape}"
        )
    if not np.all((n > 0) & np.isfinite(n)):
        raise InputError(f"counts must be positive, got {n.min()!r}: leave empty clusters out")
    if weight not in get_args(ClusterWeight):
        raise InputError(f"weight must be 'equal' or 'items', got {weight!r}")

    if weight == "items":
        return ClusterValues(values=s, sizes=n)
    return ClusterValues(values=s / n[:, None], sizes=np.ones(len(n)))
