"""What the numbers say: the verdict, and the cells that changed most."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tallystick.results import Decision, Interval, Needed
from tallystick.sampling import FAILED
from tallystick.shift.items import Items
from tallystick.shift.result import Change, TopCell

__all__ = ["Ends", "decide", "top_cells"]

IntArray = NDArray[np.intp]
FloatArray = NDArray[np.float64]
Ends: TypeAlias = tuple[FloatArray, FloatArray]
TOP = 10
"""Cells that are named."""
SMALL = 0.01
"""A change of accuracy inside ± this is called no change that matters."""


def top_cells(
    items: Items,
    asked: IntArray,
    codes: IntArray,
    shift: FloatArray,
    ends: Ends,
    sure: Ends,
    interval: Callable[[float, float], Interval],
) -> tuple[TopCell, ...]:
    """Return the cells that changed most for their doubt, in words.

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
                words=f"{true} → {answered} {100 * shift[i, j]:+.1f} % ± {100 * half[i, j]:.1f}",
                survives=bool(sure[0][i, j] > 0 or sure[1][i, j] < 0),
                examples=tuple(items.names[item] for item in asked[moved][:3]),
            )
        )
    return tuple(cells)


def decide(
    accuracy: Change, flips: Change, calls: int, population: int
) -> tuple[Decision, Needed | None, str]:
    """Return decision, what is needed, and the verdict, on the question whether accuracy
    changed.
    """
    assert accuracy.interval is not None
    assert isinstance(accuracy.estimate, float)
    low, high = accuracy.interval
    change = f"{100 * accuracy.estimate:+.2f} % [{100 * low:+.2f}, {100 * high:+.2f}]"
    share = ""
    if flips.interval is not None and isinstance(flips.estimate, float):
        ends = f"[{100 * flips.interval.low:.2f}, {100 * flips.interval.high:.2f}]"
        share = f"; {100 * flips.estimate:.2f} % {ends} of its answers changed"
        if flips.estimate == 0:
            share = f"; no answer changed, at most {100 * flips.interval.high:.2f} % did"
    after = f" ({calls:,} of {population:,} items asked)."
    if low > 0 or high < 0:
        return (
            "decided",
            None,
            f"The API got {'better' if low > 0 else 'worse'}: accuracy {change}{share}{after}",
        )
    if low >= -SMALL and high <= SMALL:
        return (
            "decided",
            None,
            f"Its accuracy did not change by more than 1 %: {change}{share}{after}",
        )
    half = (high - low) / 2
    aim = max(abs(accuracy.estimate), SMALL)
    more = int(calls * ((half / aim) ** 2 - 1)) + 1 if half > aim else calls // 4
    needed = Needed(min(max(more, 10), population - calls), "calls") if population > calls else None
    return "undecided", needed, f"Not settled whether its accuracy changed: {change}{share}{after}"
