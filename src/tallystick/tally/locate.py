"""Which pattern does each row show? The way back from what was learnt of patterns to items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.tally.engines import columns_of
from tallystick.tally.engines.memory import encode_columns
from tallystick.tally.patterns import Patterns
from tallystick.tally.recipe import Recipe
from tallystick.values.label import Label
from tallystick.values.missing import is_missing
from tallystick.values.spelling import spelling

__all__ = ["locate"]


def locate(patterns: Patterns, data: Any, recipe: Recipe) -> NDArray[np.int64]:
    """Return the place of each row of *data* among the occurring patterns, -1 for one that never
    occurred.
    """
    names = patterns.names
    reading = replace(recipe, columns=names, weight=None)
    encoded = encode_columns(columns_of(data, names), names, reading)
    labels: list[Sequence[Label]] = []
    codes = np.empty((len(encoded[0].values), len(names)), np.int32)
    for j, column in enumerate(encoded):
        distinct, codes[:, j] = np.unique(column.values, return_inverse=True)
        written = (column.label(value) for value in distinct.tolist())
        labels.append([None if is_missing(label, recipe.missing) else label for label in written])
        if recipe.coerce and names[j] not in recipe.apart:
            labels[j] = [spelling(label) for label in labels[j]]
    return patterns.find(names, labels, codes)
