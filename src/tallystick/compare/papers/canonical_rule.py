"""The chapter's rule for two models, "pick the one with the lower empirical risk": how often it
errs, exactly and by its bound.
"""

from __future__ import annotations

import numpy as np

from tallystick.stats.binomial import binomial_up_to, binomial_window
from tallystick.stats.concentration import Hoeffding
from tallystick.stats.ranges import closed_unit, positive, whole

__all__ = ["wrong_pick", "wrong_pick_bound"]


def wrong_pick(n: int, difference: float, disagreement: float) -> float:
    r"""Return the exact probability that the canonical rule does not pick the better of two models.

    "If :math:`R_S(f) < R_S(g)` pick f, else g" ([DD]_, section 3.1), where f is better by
    *difference* and the two disagree on a share *disagreement* of the items: :math:`P(b \le c)`
    with :math:`b + c \sim \mathrm{Bin}(n, d)` and :math:`b \sim \mathrm{Bin}(b + c, (1 + ε/d)/2)`.
    A tie goes to g, as the rule says.

    >>> round(wrong_pick(1000, 0.02, 0.1), 4), round(wrong_pick_bound(1000, 0.02), 4)
    (0.0249, 1.0)
    """
    whole(1, n=n)
    positive(difference=difference)
    closed_unit(disagreement=disagreement)
    lean = (1 + difference / disagreement) / 2
    closed_unit(**{"difference / disagreement": difference / disagreement})
    m, weight = binomial_window(n, disagreement)
    return float(np.sum(weight * binomial_up_to(np.floor(m / 2), m, lean)))


def wrong_pick_bound(n: int, difference: float) -> float:
    r"""Bound the same probability as the chapter does: both risks within :math:`ε/2`, so :math:`2
    e^{-nε^2/2}`.

    Sections 3.1 and 3.3 of [DD]_: each of the two one-sided deviations has probability at most
    :math:`e^{-2n(ε/2)^2}`. It needs nothing but independent items in [0, 1].

    >>> round(wrong_pick_bound(20_000, 0.02), 4)
    0.0366
    """
    return min(1.0, 2 * float(Hoeffding(sides=1).tail(difference / 2, n)))
