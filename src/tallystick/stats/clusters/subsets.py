r"""The subsets of clusters that a sign-flip test runs over: all of them, or 10,000.

Flipping the signs of some clusters is the same as choosing the subset P whose signs stay. Tests and
intervals of every pair read the same subsets, so a p-value and an interval can never disagree
because of chance, and all pairs keep their dependence.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, log2

import numpy as np
import numpy.typing as npt

from tallystick._rng import Rng, as_rng
from tallystick.errors import NotIdentifiable
from tallystick.stats.ranges import open_unit, whole

__all__ = ["DRAWN", "ENUMERATED", "Subsets", "fewest_clusters", "require_enough", "subsets_of"]

Floats = npt.NDArray[np.float64]

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
