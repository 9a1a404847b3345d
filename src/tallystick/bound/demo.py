"""A generated table for examples: spam, weak labels that err independently, and a classifier."""

from __future__ import annotations

import numpy as np

from tallystick._rng import Rng, as_rng
from tallystick.bound.blocks import IntArray

__all__ = ["spam"]

_WEAK = {"links": 0.85, "words": 0.8, "sender": 0.75, "caps": 0.7}


def spam(
    n: int, *, rng: Rng, accuracy: float = 0.85, labelled: int = 0
) -> dict[str, IntArray | list[int | None]]:
    """Return *n* rows: four weak labels, a classifier and, with *labelled* > 0, the truth of so
    many of the rows.

    >>> sorted(spam(3, rng=0))
    ['caps', 'classifier', 'links', 'sender', 'words']
    """
    draw = as_rng(rng)
    truth = (draw.random(n) < 0.4).astype(np.int64)
    table: dict[str, IntArray | list[int | None]] = {
        name: np.where(draw.random(n) < right, truth, 1 - truth) for name, right in _WEAK.items()
    }
    table["classifier"] = np.where(draw.random(n) < accuracy, truth, 1 - truth)
    if labelled:
        table["truth"] = [int(y) if i < labelled else None for i, y in enumerate(truth)]
    return table
