r"""From pairs that are told apart to ranks, contenders and tiers.

"Not told apart" is not transitive (A ~ B, B ~ C, and A beats C), so there are no groups of equals.
What can be said of all models at once, if the family-wise error of the pairs is held: the true rank
of j lies in :math:`[1 + \#\text{better}, k - \#\text{worse}]`, counting only models that are told
apart from j.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Ranks", "ranks"]


@dataclass(frozen=True, slots=True, eq=False)
class Ranks:
    """What is known of the order of k models, all at once.

    Parameters
    ----------
    low, high
        Ends of the rank interval of each model.
    contenders
        Models whose rank interval contains 1.
    tiers
        Models from best to worst, cut only where *every* model above beats *every* model below.
        Within a tier models are not fully separated, which is not to say that they are equal.
    """

    low: npt.NDArray[np.int64]
    high: npt.NDArray[np.int64]
    contenders: tuple[int, ...]
    tiers: tuple[tuple[int, ...], ...]


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
        The two models of each pair; every pair occurs once.
    sign
        1 where the first is shown to be better, -1 where the second is, 0 where they are not told
        apart.
    order
        The models from best to worst as observed.

    Examples
    --------
    >>> pairs = np.triu_indices(3, 1)
    >>> found = ranks(*pairs, [0, 1, 1], [0, 1, 2])
    >>> found.low.tolist(), found.high.tolist(), found.contenders, found.tiers
    ([1, 1, 3], [2, 2, 3], (0, 1), ((0, 1), (2,)))
    """
    line = np.asarray(order, dtype=np.intp)
    k = line.size
    beats = np.zeros((k, k), bool)
    lead = np.asarray(sign)
    beats[first[lead > 0], second[lead > 0]] = True
    beats[second[lead < 0], first[lead < 0]] = True
    low, high = 1 + beats.sum(axis=0), k - beats.sum(axis=1)
    # A cut is free if no model above it fails to beat one below: the last such failure of each row,
    # so far, is above.
    failed = np.triu(~beats[np.ix_(line, line)], 1)
    last = np.where(failed.any(axis=1), k - 1 - np.argmax(failed[:, ::-1], axis=1), 0)
    reach = np.maximum.accumulate(last)
    cuts = [cut for cut in range(1, k + 1) if cut == k or reach[cut - 1] < cut]
    tiers = [
        tuple(int(j) for j in line[start:cut]) for start, cut in zip([0, *cuts], cuts, strict=False)
    ]
    contenders = tuple(int(j) for j in line if low[j] == 1)
    return Ranks(low.astype(np.int64), high.astype(np.int64), contenders, tuple(tiers))
