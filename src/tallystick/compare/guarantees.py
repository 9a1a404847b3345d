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
from tallystick.stats.concentration import Hoeffding
from tallystick.stats.multiplicity import holm
from tallystick.stats.ranges import open_unit, whole

if TYPE_CHECKING:
    from tallystick.tally import Moments

__all__ = ["guarantees", "union_radius"]


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
