"""Gwet's AC1: agreement beyond chance that stays steady when one label is rare."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tallystick.stats.agreement.fleiss import agreement_and_shares, of_table
from tallystick.stats.agreement.ratings import FloatArray, as_ratings
from tallystick.stats.agreement.result import Agreement

__all__ = ["gwet_ac1"]


def gwet_ac1(
    codes: npt.ArrayLike,
    counts: npt.ArrayLike | None = None,
    *,
    n_labels: int | None = None,
    level: float = 0.95,
) -> Agreement:
    r"""Return how far raters agree beyond chance, where chance is the share of hard items.

    With :math:`p_a` of (G2), the label shares :math:`\pi_k` of (G3) and K labels,

    .. math:: AC_1 = \frac{p_a - p_e}{1 - p_e}, \qquad
              p_e = \frac{1}{K - 1} \sum_k \pi_k (1 - \pi_k)   \tag{G4}

    K. L. Gwet, *Computing inter-rater reliability and its variance in the presence of high
    agreement*, British Journal of Mathematical and Statistical Psychology 61 (2008). K is the
    size of the label set, labels that nobody gave included. Chance is never above one half, so
    AC1 is always defined.

    Parameters
    ----------
    codes, counts, n_labels
        As in :func:`~tallystick.stats.agreement.as_ratings`.
    level
        Coverage of the interval (G1) for new items.

    Examples
    --------
    Ten items, always the same label: kappa is undefined, AC1 is not.

    >>> found = gwet_ac1([[0, 0]] * 10)
    >>> found.estimate
    1.0
    >>> print(found.interval)
    [0.677, 1.000] (95 %, approximate)
    """
    ratings = as_ratings(codes, counts, n_labels=n_labels)
    return of_table("gwet-ac1", ratings, _ac1, level)


def _ac1(table: FloatArray, counts: FloatArray, minus: FloatArray) -> FloatArray:
    agreement, labels = agreement_and_shares(table, counts, minus)
    chance = (labels * (1 - labels)).sum(axis=1) / (labels.shape[1] - 1)
    return np.asarray((agreement - chance) / (1 - chance))  # (G4)
