"""``--by COLUMN``: the same question for every slice, corrected for the number of slices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from tallystick.errors import InputError, TallystickError
from tallystick.results import Result, Slice

if TYPE_CHECKING:
    from tallystick.io import Table

__all__ = ["MOST_SLICES", "by_slice"]

MOST_SLICES = 200
"""More slices than this are refused: nobody reads them, and the correction would leave nothing."""


def by_slice(
    table: Table, column: str, run: Callable[[Table, float], Result], *, alpha: float
) -> tuple[Slice, ...]:
    """Run the question for every value of *column*, each at ``alpha`` over the number of slices.

    All intervals of all slices then hold together at level ``1 - alpha`` (Bonferroni). A slice that
    has no answer says why.
    """
    from tallystick.io import identifier

    name = identifier(column)
    values = table.query(
        f"select {name} as label, count(*) from rows group by 1 order by 1 nulls last"
    )
    if len(values) > MOST_SLICES:
        raise InputError(
            f"column {column!r} has {len(values):,} values, at most {MOST_SLICES} make slices:"
            " group them first"
        )
    share = alpha / len(values)
    slices = []
    for label, _ in values:
        part = _where(table, column, label)
        try:
            slices.append(Slice(label, run(part, share)))
        except TallystickError as error:
            slices.append(Slice(label, str(error)))
    return tuple(slices)


def _where(table: Table, column: str, label: object) -> Table:
    import duckdb

    cell = duckdb.ColumnExpression(column)
    same = cell.isnull() if label is None else cell == duckdb.ConstantExpression(label)
    shown = "blank" if label is None else repr(label)
    return replace(
        table,
        relation=table.relation.filter(same),
        source=f"{table.source} where {column} is {shown}",
    )
