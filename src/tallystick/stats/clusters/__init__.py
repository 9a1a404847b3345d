"""Which model is better on *new* clusters: sign-flip tests with one adverse cluster.

| question | call |
|---|---|
| one pair of models | :func:`sign_flip` |
| all pairs of a leaderboard at once | :func:`sign_flip_pairs` |
| any set of pairs, compared on sums or means per cluster | :func:`sign_flip_columns` |
| what counts once, a cluster or an item | :func:`cluster_values` |
| how few clusters are too few | :func:`fewest_clusters` |

Everything here needs scores in a known range. For unbounded scores use
:func:`tallystick.stats.skewed.skewed_pair` on the cluster means.
"""

from __future__ import annotations

from tallystick.stats.clusters.sign_flip import SignFlip, sign_flip
from tallystick.stats.clusters.sign_flip_pairs import (
    SignFlipPairs,
    sign_flip_columns,
    sign_flip_pairs,
)
from tallystick.stats.clusters.subsets import Subsets, fewest_clusters, subsets_of
from tallystick.stats.clusters.weighting import ClusterValues, ClusterWeight, cluster_values

__all__ = [
    "ClusterValues",
    "ClusterWeight",
    "SignFlip",
    "SignFlipPairs",
    "Subsets",
    "cluster_values",
    "fewest_clusters",
    "sign_flip",
    "sign_flip_columns",
    "sign_flip_pairs",
    "subsets_of",
]
