r"""Several runs per item: pass@k and pass^k.

Item i was run :math:`n_i` times and was right :math:`c_i` times. The unbiased item values are

.. math:: \text{pass@}k = 1 - \binom{n - c}{k} \Big/ \binom{n}{k}, \qquad
          \text{pass\^{}}k = \binom{c}{k} \Big/ \binom{n}{k}   \tag{R1}

Item values are scores in [0, 1], which the estimator of few labels takes as all known.
docs/theory/compare.md, *Several runs per item*.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError
from tallystick.stats.exact_tails import whole
from tallystick.stats.intervals import as_counts

Floats = npt.NDArray[np.float64]
PassKind = Literal["pass@k", "pass^k"]


def item_values(
    correct: npt.ArrayLike, runs: npt.ArrayLike, *, k: int, kind: PassKind = "pass@k"
) -> Floats:
    """Return pass@k or pass^k of each item, (R1).

    Parameters
    ----------
    correct, runs
        c and n of each item. An item with fewer than k runs is refused.
    k
        How many attempts.
    kind
        ``pass@k``: at least one of k is right; ``pass^k``: all k are.

    Examples
    --------
    >>> item_values([3], [10], k=5).round(4).tolist()
    [0.9167]
    >>> item_values([3], [10], k=2, kind="pass^k").round(4).tolist()
    [0.0667]
    """
    c, n = _counts(correct, runs, k, kind)
    return _values(c, n, k, kind)


def _values(c: Floats, n: Floats, k: int, kind: PassKind) -> Floats:
    """(R1) as a product of k ratios, which neither overflows nor loses digits."""
    left = n - c if kind == "pass@k" else c
    product = np.ones(c.size)
    for j in range(k):
        product *= np.maximum(left - j, 0.0) / (n - j)
    return np.asarray(1 - product if kind == "pass@k" else product)


def _counts(
    correct: npt.ArrayLike, runs: npt.ArrayLike, k: int, kind: PassKind
) -> tuple[Floats, Floats]:
    whole(1, k=k)
    whole(1, runs=runs)
    c, n = as_counts(np.atleast_1d(correct), np.atleast_1d(runs), names=("correct", "runs"))
    if np.any(n < k):
        item = int(np.argmin(n))
        raise InputError(
            f"{kind} needs at least k = {k} runs of every item, item {item} has {n[item]:g}: "
            "lower k, or leave such items out"
        )
    return c, n
