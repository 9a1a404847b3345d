"""The answer for one part of the data, as ``--by COLUMN`` asks for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tallystick.results.json import Json, clean
from tallystick.results.text import text_table

if TYPE_CHECKING:
    from tallystick.results.result import Result

__all__ = ["Slice", "slice_lines"]


@dataclass(frozen=True)
class Slice:
    """One slice: its label, and the answer for it or the reason why there is none.

    >>> str(Slice("de", "one item is too few"))
    'de: one item is too few'
    """

    label: str | int | float | bool | None
    answer: Result | str

    def to_dict(self) -> dict[str, Json]:
        """Return the slice as JSON types: its label under ``slice``, then the answer's fields."""
        label = clean(self.label, "slice", {})
        if isinstance(self.answer, str):
            return {"slice": label, "verdict": None, "unknown": {"verdict": self.answer}}
        return {"slice": label, **self.answer.to_dict()}

    def __str__(self) -> str:
        text = self.answer if isinstance(self.answer, str) else self.answer.verdict
        return f"{self.name}: {text}"

    @property
    def name(self) -> str:
        """The label as text."""
        return "(blank)" if self.label is None else str(self.label)


def slice_lines(slices: Sequence[Slice]) -> list[str]:
    """Return slices as lines: one table where their results have a row for it, else sentences.

    A slice without an answer says why, below the table.
    """
    cells = {
        part.name: part.answer.slice_cells() for part in slices if not isinstance(part.answer, str)
    }
    rows: list[dict[str, Json]] = [{"slice": name, **row} for name, row in cells.items() if row]
    names = list(dict.fromkeys(name for row in rows for name in row))
    table = text_table([{name: row.get(name) for name in names} for row in rows]) if rows else []
    told = {str(row["slice"]) for row in rows}
    return [*table, *(str(part) for part in slices if part.name not in told)]
