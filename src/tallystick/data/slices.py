"""``by``: the same question for every slice, corrected for asking it so often."""

from __future__ import annotations

from collections.abc import Callable

from tallystick.data.data import Data
from tallystick.errors import InputError, TallystickError
from tallystick.io import identifier
from tallystick.results import Result, Slice

__all__ = ["MOST_SLICES", "by_slice"]

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
    name = identifier(column)
    found = data.table.query(f"select distinct {name} as label from rows order by 1 nulls last")
    labels = [label for (label,) in found]
    if len(labels) > MOST_SLICES:
        raise InputError(
            f"{data.source}: column {column!r} has {len(labels):,} different values, and at most"
            f" {MOST_SLICES} slices can be read: group them first"
        )
    level = alpha / max(1, len(labels))
    slices = []
    for label in labels:
        try:
            slices.append(Slice(label, ask(data.where(column, label), level)))
        except TallystickError as error:
            slices.append(Slice(label, str(error)))
    return tuple(slices)
