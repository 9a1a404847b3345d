"""The cells of the matrix that changed most for their doubt."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tallystick.results import Interval
from tallystick.sampling import FAILED
from tallystick.shift.items import Items
from tallystick.shift.result import TopCell
from tallystick.shift.verdict_notes import top_cell_words

__all__ = ["Ends", "top_cells"]

IntArray = NDArray[np.intp]
FloatArray = NDArray[np.float64]
Ends: TypeAlias = tuple[FloatArray, FloatArray]
TOP = 10
"""Cells that are named."""


def top_cells(
    items: Items,
    asked: IntArray,
    codes: IntArray,
    shift: FloatArray,
    ends: Ends,
    sure: Ends,
    interval: Callable[[float, float], Interval],
) -> tuple[TopCell, ...]:
    """Return the cells that changed most for their doubt.

    Parameters
    ----------
    items, asked, codes
        What was known, asked and answered.
    shift, ends, sure
        The change of every cell, its own interval, and the one that holds for all cells at once.
    interval
        Makes the interval of two ends.
    """
    half = np.maximum((ends[1] - ends[0]) / 2, 1e-12)
    surprise = np.where(shift == 0, 0.0, np.abs(shift) / half)
    columns = items.columns
    told = codes != FAILED
    asked, codes = asked[told], codes[told]
    cells = []
    for at in np.argsort(-surprise, axis=None, kind="stable")[:TOP]:
        i, j = divmod(int(at), shift.shape[1])
        if surprise[i, j] == 0:
            break
        moved = (items.truth[asked] == i) & (codes == j)
        if items.old is not None:
            was = items.old[asked] == j
            moved = (items.truth[asked] == i) & (
                ((codes == j) & ~was) if shift[i, j] > 0 else ((codes != j) & was)
            )
        true, answered = items.labels[i], columns[j]
        cells.append(
            TopCell(
                true=true,
                answered=answered,
                change=float(shift[i, j]),
                interval=interval(ends[0][i, j], ends[1][i, j]),
                words=top_cell_words(true, answered, float(shift[i, j]), float(half[i, j])),
                survives=bool(sure[0][i, j] > 0 or sure[1][i, j] < 0),
                examples=tuple(items.names[item] for item in asked[moved][:3]),
            )
        )
    return tuple(cells)
