"""The answer for one part of the data, as ``--by COLUMN`` asks for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tallystick.results.json import Json, clean

if TYPE_CHECKING:
    from tallystick.results.result import Result

__all__ = ["Slice"]


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
        return f"{'(blank)' if self.label is None else self.label}: {text}"
