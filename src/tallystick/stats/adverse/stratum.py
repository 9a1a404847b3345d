"""What the labels of a stratum count for, and what a stratum without labels is given."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tallystick.stats.adverse.population import Population
from tallystick.stats.intervals.array import Floats

__all__ = ["effective_labels", "fill_unlabelled"]

EVERYTHING = 1e7
"""Effective labels in a stratum that is fully labelled: nothing is left to doubt there."""


def effective_labels(
    sizes: Floats, effective: Floats, complete: NDArray[np.bool_], population: Population
) -> Floats:
    """Return k*: what the labels of a stratum count for, given how many items they were drawn from.

    *effective* are the labels, or their Kish size; *complete* says where every item is labelled.
    """
    if population == "new":
        return effective
    left = np.where(complete, 1.0, sizes - effective)
    return np.where(complete & (sizes > 0), EVERYTHING, effective * (sizes - 1) / left)


def fill_unlabelled(sizes: Floats, share: Floats, labels: Floats) -> Floats:
    """Give each stratum without labels the size-weighted mean share of the labelled ones.

    NaN where a row has no labels at all.
    """
    known = np.where(labels > 0, sizes, 0.0)
    total = known.sum(axis=1, keepdims=True)
    mean = np.divide(
        (known * share).sum(axis=1, keepdims=True),
        total,
        out=np.full_like(total, np.nan),
        where=total > 0,
    )
    return np.where(labels > 0, share, mean)
