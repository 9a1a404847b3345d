r"""What each guarantee costs: the chapter's rule with its certificate, and the sharper ones beside
it.

The canonical rule picks the model with the lower empirical risk ([DD]_, section 3.1). With
Hoeffding's inequality and the union bound all k risks lie within :math:`r = \sqrt{\ln(2k/α)/(2n)}`
of the truth at once (section 3.5), so a pair more than 2r apart is told apart for certain, whatever
the distribution. Exact and paired tests ask for far less.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tallystick.compare.pairing import Bounds, PairTable, is_binary
from tallystick.compare.result import GuaranteeRow
from tallystick.stats.binomial import binomial_up_to, binomial_window
from tallystick.stats.concentration import Hoeffding
from tallystick.stats.multiplicity import holm
from tallystick.stats.ranges import closed_unit, open_unit, positive, whole

if TYPE_CHECKING:
    from tallystick.tally import Moments

__all__ = ["guarantees", "union_radius", "wrong_pick", "wrong_pick_bound"]


def union_radius(n: int, models: int, *, width: float = 1.0, alpha: float = 0.05) -> float:
    r"""Return how far any of *k* empirical risks may lie from its risk, at once:
    :math:`w\sqrt{\ln(2k/α)/(2n)}`.

    [DD]_, section 3.5: :math:`P\{\exists f: |R_S[f] - R[f]| \ge t/\sqrt n\} \le 2k\,e^{-2t^2}`, for
    scores in a range of this *width*.

    >>> round(union_radius(10_000, 1), 4), round(union_radius(10_000, 100), 4)
    (0.0136, 0.0204)
    """
    whole(1, models=models)
    open_unit(alpha=alpha)
    return float(Hoeffding(width=width).radius(n, alpha / models))


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


def guarantees(
    moments: Moments, table: PairTable, *, bounds: Bounds | None, alpha: float = 0.05
) -> tuple[GuaranteeRow, ...]:
    """Count the pairs, and the neighbours on the board, that each method tells apart; the most
    cautious first.
    """
    means, n = moments.means, int(moments.n)
    binary = is_binary(moments)
    order = np.argsort(-means, kind="stable")
    place = np.empty(len(means), np.intp)
    place[order] = np.arange(len(means))
    neighbours = np.abs(place[table.first] - place[table.second]) == 1
    rows = []
    if binary or bounds is not None:
        width = 1.0 if bounds is None else bounds[1] - bounds[0]
        far = np.abs(table.difference) > 2 * union_radius(n, len(means), width=width, alpha=alpha)
        rows.append(("Hoeffding and the union bound", "exact", far))
    exact = "Holm on exact McNemar" if binary else "Holm on paired t"
    rows.append((exact, "exact" if binary else "approximate", holm(table.p_value) <= alpha))
    if len(means) > 2:
        rows.append((table.adjustment, "approximate", table.adjusted_p <= alpha))
    return tuple(
        GuaranteeRow(name, promise, int(told.sum()), int((told & neighbours).sum()))
        for name, promise, told in rows
    )
