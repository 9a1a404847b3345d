"""``by``: the same question for every slice, corrected for asking it so often."""

from __future__ import annotations

from collections.abc import Callable

from tallystick.data.data import Data
from tallystick.errors import InputError, TallystickError
from tallystick.results import Result, Slice
from tallystick.tally import Tally
from tallystick.values import Label, without_missing

__all__ = ["MOST_SLICES", "by_slice", "slice_labels"]

MOST_SLICES = 200
"""More slices than this are refused: nobody reads them, and the correction leaves nothing."""


def by_slice(
    data: Data, ask: Callable[[Data, float], Result], *, alpha: float
) -> tuple[Slice, ...]:
    """Ask about every value of the slice column, each at alpha divided by their number.

    A slice that cannot be answered says why; the others stand.
    """
    column = data.roles.by
    if column is None:
        return ()
    labels = slice_labels(data)
    level = alpha / max(1, len(labels))
    slices = []
    for label in labels:
        try:
            slices.append(Slice(label, ask(data.where(column, label), level)))
        except TallystickError as error:
            slices.append(Slice(label, str(error)))
    return tuple(slices)


def slice_labels(data: Data) -> list[Label]:
    """Return the values of the slice column in order, blank cells (None, NaN) last as one value.

    Too many of them raise `InputError`.
    """
    column = data.roles.by
    if column is None:
        return []
    if isinstance(data.held, Tally):
        labels = list(data.held.labels[column])  # in this order already, None last
    else:
        cell = without_missing(column, data.table.kinds[column], ())
        found = data.table.query(f"select distinct {cell} as label from rows order by 1 nulls last")
        labels = [label for (label,) in found]
    if len(labels) > MOST_SLICES:
        raise InputError(
            f"{data.source}: column {column!r} has {len(labels):,} different values, and at most"
            f" {MOST_SLICES} slices can be read: group them first"
        )
    return labels
