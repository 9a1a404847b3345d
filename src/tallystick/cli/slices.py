"""``--by COLUMN``: the same question for every slice, corrected for asking it so often."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tallystick.errors import InputError, TallystickError
from tallystick.results import Json, Result

if TYPE_CHECKING:
    from tallystick.io import Table

__all__ = ["MOST_SLICES", "Slice", "by_slice"]

MOST_SLICES = 200
"""More slices than this are refused: nobody reads them, and the correction leaves nothing."""


@dataclass(frozen=True)
class Slice:
    """One slice: its label, and the answer there or the reason why there is none."""

    label: str | int | float | bool | None
    answer: Result | str

    def to_dict(self) -> dict[str, Json]:
        """Return the slice as JSON types."""
        if isinstance(self.answer, str):
            return {"slice": self.label, "verdict": None, "unknown": {"verdict": self.answer}}
        return {"slice": self.label, **self.answer.to_dict()}

    def __str__(self) -> str:
        text = self.answer if isinstance(self.answer, str) else self.answer.verdict
        return f"{'(blank)' if self.label is None else self.label}: {text}"


def by_slice(
    table: Table, column: str, run: Callable[[Table, float], Result], *, alpha: float
) -> tuple[Slice, ...]:
    """Ask *run* for every value of *column*, each at ``alpha`` divided by the number of slices
    (Bonferroni).

    All intervals of all slices then hold together at level ``1 - alpha``. A slice that cannot
    answer says why.
    """
    from tallystick.io import identifier

    name = identifier(column)
    found = table.query(
        f"select {name} as label, count(*) from rows group by 1 order by 1 nulls last"
    )
    if len(found) > MOST_SLICES:
        raise InputError(
            f"column {column!r} has {len(found):,} values, at most {MOST_SLICES} make slices: group"
            " them first"
        )
    share = alpha / len(found)
    slices = []
    for label, _ in found:
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
