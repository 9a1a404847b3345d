"""What counts say of cells: the checks that look at a table's rows look at a tally's patterns here.

A service answers from counts that it keeps. Whatever would be warned of in the rows must be warned
of in their counts, so each check has one rule and two readers: SQL for rows, this file for counts.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tallystick.tally import Tally
from tallystick.values import Label, is_missing

__all__ = ["BesideCounts", "cells_of", "labels_in"]


@dataclass(frozen=True, kw_only=True)
class BesideCounts:
    """What is known of the rows of a tally beside their counts.

    Parameters
    ----------
    labelled
        The first and the last row with a true label, from 1 in the order of the rows; None if it is
        not known.
    texts
        For columns of text that were not counted: their different cells.
    parts
        For the same columns: each cell, how many rows have it, and how many labels are on these.
    """

    labelled: tuple[int, int] | None = None
    texts: Mapping[str, Collection[str]] = field(default_factory=dict)
    parts: Mapping[str, Sequence[tuple[str | None, int, int]]] = field(default_factory=dict)


def labels_in(tally: Tally, column: str) -> list[Label]:
    """Return the different labels of a column, blank ones left out.

    >>> labels_in(Tally.of({"a": ["x", None, "y"]}), "a")
    ['x', 'y']
    """
    return [label for label in tally.labels[column] if not is_missing(label)]


def cells_of(
    codes: npt.NDArray[np.int32], counts: npt.NDArray[np.int64], most: int
) -> npt.NDArray[np.int32]:
    """Return the rows behind counted patterns, evenly spaced ones if there are more than *most*.

    >>> cells_of(np.array([[0], [1]], np.int32), np.array([2, 4]), 3)[:, 0].tolist()
    [0, 1, 1]
    """
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    step = max(1, -(-total // most))
    return codes[np.searchsorted(ends, np.arange(step, total + 1, step), side="left")]
