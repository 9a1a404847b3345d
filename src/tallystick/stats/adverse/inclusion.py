"""Labels that were not all equally likely: what they say, and for how many they count."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from tallystick.errors import InputError
from tallystick.stats.intervals.array import Floats, Vector

__all__ = ["WeightedStrata", "label_weights", "weighted_strata"]

MOST_VARIED = 4.0
"""Largest ratio of inclusion probabilities at which Kish's size was measured to hold."""


@dataclass(frozen=True, kw_only=True, eq=False)
class WeightedStrata:
    """Labels with known inclusion probabilities, summed up per stratum.

    Parameters
    ----------
    labelled, passes
        Plain counts.
    share
        Pass rate, each label weighted by one over its inclusion probability; 0 without labels.
    effective
        How many equally likely labels these are worth.
    conservative
        Where the probabilities vary more than 4:1, so that the conservative size was used.
    """

    labelled: Floats
    passes: Floats
    share: Floats
    effective: Floats
    conservative: NDArray[np.bool_]


def label_weights(inclusion: Vector) -> tuple[Floats, float, bool]:
    r"""Return weights that add up to the effective number of labels, that number, and how.

    With :math:`v_i = 1/\pi_i` the labels are worth Kish's size

    .. math:: m_e = \frac{(\sum v)^2}{\sum v^2} \quad\text{if } \max v \le 4 \min v, \qquad
              m_e = \frac{\sum v}{\max v} \quad\text{otherwise},   \tag{AL4}

    and label i has weight :math:`v_i m_e/\sum v`. When the method was designed, Kish's size covered
    .727-.841 at 20:1; the second form covered .986 or more, at 1.3-2.6 times the width. Splitting
    the strata by inclusion probability avoids both.

    Parameters
    ----------
    inclusion
        Known probabilities, one per label, in (0, 1].

    Returns
    -------
    weights, effective, conservative
        The third is True where the second form was used.

    Examples
    --------
    >>> weights, effective, conservative = label_weights([0.1, 0.1, 0.3])
    >>> weights.round(3).tolist(), round(effective, 3), conservative
    ([1.105, 1.105, 0.368], 2.579, False)
    """
    pi = np.asarray(inclusion, dtype=np.float64)
    wrong = ~((pi > 0) & (pi <= 1))  # also catches NaN
    if wrong.any():
        raise InputError(
            f"inclusion must hold probabilities in (0, 1], got {pi[wrong].flat[0]}: "
            "an item that could not be chosen cannot be corrected for"
        )
    v = 1 / pi
    conservative = bool(v.max() > MOST_VARIED * v.min() * (1 + 1e-12))
    effective = v.sum() / v.max() if conservative else v.sum() ** 2 / (v**2).sum()  # (AL4)
    return v * (effective / v.sum()), float(effective), conservative


def weighted_strata(
    passed: Vector, stratum: npt.ArrayLike, inclusion: Vector, *, strata: int
) -> WeightedStrata:
    """Sum up labels with known inclusion probabilities, stratum by stratum, by (AL4).

    Parameters
    ----------
    passed, stratum, inclusion
        Per label: 0 or 1, the position of its stratum, and its inclusion probability.
    strata
        How many strata there are.

    Examples
    --------
    >>> found = weighted_strata([1, 0, 1], [0, 0, 1], [0.5, 0.25, 0.5], strata=2)
    >>> found.share.round(3).tolist(), found.effective.round(3).tolist()
    ([0.333, 1.0], [1.8, 1.0])
    """
    y, where = np.asarray(passed, dtype=np.float64), np.asarray(stratum)
    pi = np.asarray(inclusion, dtype=np.float64)
    if y.ndim != 1 or y.shape != where.shape or y.shape != pi.shape:
        raise InputError(
            "passed, stratum and inclusion must have one entry per label, "
            f"got shapes {y.shape}, {where.shape} and {pi.shape}"
        )
    if not np.isin(y, (0.0, 1.0)).all():
        raise InputError(f"passed must hold 0 or 1, got {y[~np.isin(y, (0.0, 1.0))][0]}")
    if where.size and (where.min() < 0 or where.max() >= strata):
        raise InputError(
            f"stratum must lie in 0 to {strata - 1}, got {where.min()} to {where.max()}"
        )

    labelled, passes, share, effective = (np.zeros(strata) for _ in range(4))
    conservative = np.zeros(strata, dtype=np.bool_)
    for h in range(strata):
        here = where == h
        if here.any():
            weights, effective[h], conservative[h] = label_weights(pi[here])
            labelled[h], passes[h] = here.sum(), y[here].sum()
            share[h] = min(1.0, (weights * y[here]).sum() / weights.sum())
    return WeightedStrata(
        labelled=labelled,
        passes=passes,
        share=share,
        effective=effective,
        conservative=conservative,
    )
