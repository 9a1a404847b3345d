"""A column of answers that are already known: ``replay:COLUMN``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tallystick.clients.client import Client
from tallystick.clients.kind import ClientKind, ClientSpec
from tallystick.errors import InputError
from tallystick.results import Json

__all__ = ["KIND", "ReplayClient"]


class ReplayClient(Client):
    """Answer from a column of the data: to rehearse, or to look at a finished experiment.

    Parameters
    ----------
    column
        The column of new answers; blank is no answer.
    columns
        Columns that the data has.
    """

    def __init__(self, column: str, *, columns: Sequence[str]) -> None:
        if column not in columns:
            raise InputError(
                f"replay:{column} is not a column of the data ({', '.join(columns[:8])})"
            )
        self.column = column

    @property
    def description(self) -> dict[str, Json]:
        """The column."""
        return {"kind": "replay", "column": self.column}

    @property
    def recorded(self) -> bool:
        """Every answer is known already."""
        return True

    def question(self, row: Mapping[str, Any]) -> Json:
        """Return the recorded answer: another one makes another question."""
        return {"replay": None if row[self.column] is None else str(row[self.column])}

    async def answer(self, row: Mapping[str, Any]) -> str | None:
        """Return the cell."""
        cell = row[self.column]
        return None if cell is None else str(cell)


def _make(spec: ClientSpec) -> ReplayClient:
    return ReplayClient(spec.target, columns=spec.columns)


KIND = ClientKind(prefixes=("replay:",), example="replay:COLUMN", make=_make)
"""``replay:COLUMN``."""
