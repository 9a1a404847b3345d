"""The mean of something known of every unit, in each stratum: how guesses are made."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tallystick.sampling.labels.consensus import Floats
from tallystick.sampling.labels.strata import LabelStrata

__all__ = ["stratum_means"]


def stratum_means(
    strata: LabelStrata, values: ArrayLike, *, bounds: tuple[float, float] = (0.0, 1.0)
) -> Floats:
    """Return the mean of *values* in each stratum, a little inside *bounds*.

    A guess at the very end of the range would say that nothing can be learnt; guesses from votes
    are often surer than they are right.

    >>> strata = LabelStrata(of=[0, 0, 1, -1], side=[0, 1], guess=[[0.5, 0.5]] * 2)
    >>> stratum_means(strata, [0.0, 1.0, 1.0, 0.0]).tolist()
    [0.5, 0.98]
    """
    worth = np.asarray(values, dtype=np.float64)
    inside = strata.of >= 0
    total = np.bincount(strata.of[inside], weights=worth[inside], minlength=len(strata))
    low, high = bounds
    room = 0.02 * (high - low)
    return np.asarray(np.clip(total / np.maximum(strata.sizes, 1), low + room, high - room))
