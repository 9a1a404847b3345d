r"""From pairs that are separated to ranks, contenders and tiers.

"Not separated" is not transitive (A ~ B, B ~ C, and A beats C), so there are no groups of equals.
If the family-wise error of the pairs is controlled, one statement holds for all competitors at
once: the true rank of j lies in

.. math:: [1 + \#\text{better}, \; k - \#\text{worse}],   \tag{R1}

counting only competitors that are separated from j.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Ranks", "ranks"]


@dataclass(frozen=True, slots=True, eq=False)
class Ranks:
    """What is known of the order of k competitors, all at once.

    Parameters
    ----------
    low, high
        Ends of the rank interval of each competitor (R1).
    contenders
        Competitors whose rank interval contains 1: each may be the best.
    tiers
        Competitors from best to worst, cut only where *every* one above beats *every* one below.
        Competitors in one tier are not fully separated. That does not make them equal.
    """

    low: npt.NDArray[np.int64]
    high: npt.NDArray[np.int64]
    contenders: tuple[int, ...]
    tiers: tuple[tuple[int, ...], ...]

    def named(self, names: Sequence[str]) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
        """Return contenders and tiers by name."""
        contenders = tuple(names[j] for j in self.contenders)
        return contenders, tuple(tuple(names[j] for j in tier) for tier in self.tiers)


def ranks(
    first: npt.NDArray[np.intp],
    second: npt.NDArray[np.intp],
    sign: npt.ArrayLike,
    order: npt.ArrayLike,
) -> Ranks:
    """Return rank intervals, contenders and tiers.

    Parameters
    ----------
    first, second
        The two competitors of each pair; every pair occurs once.
    sign
        1 where the first is shown to be better, -1 where the second is, 0 where the two are not
        separated.
    order
        The competitors from best to worst as observed.

    Examples
    --------
    >>> pairs = np.triu_indices(3, 1)
    >>> known = ranks(*pairs, [0, 1, 1], [0, 1, 2])
    >>> known.low.tolist(), known.high.tolist(), known.contenders, known.tiers
    ([1, 1, 3], [2, 2, 3], (0, 1), ((0, 1), (2,)))
    >>> known.named(["a", "b", "c"])
    (('a', 'b'), (('a', 'b'), ('c',)))
    """
    line = np.asarray(order, dtype=np.intp)
    k = line.size
    beats = np.zeros((k, k), bool)
    lead = np.asarray(sign)
    beats[first[lead > 0], second[lead > 0]] = True
    beats[second[lead < 0], first[lead < 0]] = True
    low, high = 1 + beats.sum(axis=0), k - beats.sum(axis=1)  # (R1)

    # For each competitor, in observed order: the last one below that it fails to beat. A cut is
    # allowed where no failure of anyone above reaches below it.
    failed = np.triu(~beats[np.ix_(line, line)], 1)
    last = np.where(failed.any(axis=1), k - 1 - np.argmax(failed[:, ::-1], axis=1), 0)
    reach = np.maximum.accumulate(last)
    cuts = [cut for cut in range(1, k + 1) if cut == k or reach[cut - 1] < cut]

    tiers = [
        tuple(int(j) for j in line[start:cut]) for start, cut in zip([0, *cuts], cuts, strict=False)
    ]
    contenders = tuple(int(j) for j in line if low[j] == 1)
    return Ranks(low.astype(np.int64), high.astype(np.int64), contenders, tuple(tiers))
