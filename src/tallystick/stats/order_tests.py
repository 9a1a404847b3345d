r"""Which order of several systems is shown: tests of every direction, stepped down.

Each ordered pair has a hypothesis, "a is not better than b". A claim is a rejection, and it is
wrong if a is worse than b or as good. Holm's rule on the pairs counts each pair once, so it does
not protect the *direction* of a later claim. Here directions are counted, and logic says how many
of them can still be true.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError
from tallystick.stats.ranges import closed_unit

__all__ = ["step_down_order"]

Floats = npt.NDArray[np.float64]


def step_down_order(p_values: npt.ArrayLike) -> Floats:
    r"""Adjust the p-values of all directions so that no wrong order is claimed at level α.

    Of k systems there are :math:`k(k-1)` directions. A pair that is tied makes both of its
    hypotheses true, any other pair one. After claims whose transitive closure orders c pairs at
    least :math:`s = \max(c, k - 1)` pairs are strictly ordered (one system apart from k - 1 that
    are tied is the least), so at most :math:`k(k-1) - s` hypotheses are true:

    .. math:: \tilde p = \max_{\text{earlier and this}}
              \min\bigl(1, \; (k(k-1) - s)\, p\bigr), \qquad s = 0 \text{ before the first claim}
              \tag{M5}

    taken in the order of the p-values. No wrong order is claimed with probability at least
    :math:`1 - \alpha`, whatever the dependence. Let n hypotheses be true. With that probability no
    p-value of theirs is at most :math:`\alpha/n`. The first wrong claim would follow right ones
    only, so it would be compared with :math:`\alpha` over a number of at least n, and it is not
    made. For two systems this is Bonferroni for two directions.

    Parameters
    ----------
    p_values
        k x k: how well "a is not better than b" fits. The diagonal is not looked at.

    Examples
    --------
    >>> step_down_order([[1, 0.001, 0.004], [1, 1, 0.011], [1, 1, 1]]).round(3).tolist()
    [[1.0, 0.006, 0.016], [1.0, 1.0, 0.044], [1.0, 1.0, 1.0]]
    """
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 2 or p.shape[0] != p.shape[1]:
        raise InputError(f"p_values must be systems x systems, got shape {p.shape}")
    k = len(p)
    for value in (p.min(initial=1.0), p.max(initial=0.0)):
        closed_unit(p_values=float(value))
    adjusted, above = np.ones((k, k)), np.zeros((k, k), np.bool_)
    apart = [(a, b) for a in range(k) for b in range(k) if a != b]
    reached = 0.0
    for a, b in sorted(apart, key=lambda pair: p[pair]):
        least = max(int(above.sum()), k - 1) if above.any() else 0
        reached = max(reached, min(1.0, (len(apart) - least) * float(p[a, b])))  # (M5)
        adjusted[a, b] = reached
        if above[b, a]:  # the other direction was claimed: from here on nothing is shown
            return adjusted
        # Whoever is at least a is above whoever is at most b.
        over, under = above[:, a].copy(), above[b].copy()
        over[a] = under[b] = True
        above |= np.outer(over, under)
    return adjusted
