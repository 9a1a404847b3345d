"""What the table says in a few of its rows: names for the session, texts for whoever reads them."""

from __future__ import annotations

import glob
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tallystick.data import Data
from tallystick.io import identifier
from tallystick.values import without_missing
from tallystick.values.sql import literal

__all__ = ["RowCells"]

_NUMBERED = "file_row_number=true, hive_partitioning=false"


class RowCells:
    """Cells of single rows, fetched when they are first asked for.

    Only these rows leave the engine: a table of a million texts stays where it is.

    Parameters
    ----------
    data
        The table.
    item, system
        The columns that name a row; None where the table has no such column.
    show
        The columns that a reader sees.
    file
        A Parquet file with the same rows in the same order, and the prefix of its columns: there a
        few rows are found without reading the others.

    Examples
    --------
    >>> from tallystick.data import read
    >>> cells = RowCells(read({"id": [7, 8], "text": ["x", None]}), "id", None, ("text",))
    >>> cells.name(1), cells.shown(0), cells.shown(1)
    (('8', None), ('x',), ('',))
    """

    def __init__(
        self,
        data: Data,
        item: str | None,
        system: str | None,
        show: Sequence[str],
        *,
        file: tuple[Path, str] | None = None,
    ) -> None:
        self._table = data.table
        self._file = file
        kinds = data.table.kinds
        named = [
            "null" if name is None else without_missing(name, kinds[name], ())
            for name in (item, system)
        ]
        self._columns = [*named, *(f"cast({identifier(name)} as varchar)" for name in show)]
        self._found: dict[int, tuple[Any, ...]] = {}

    def fetch(self, rows: Iterable[int]) -> None:
        """Get rows that will be asked for, in one scan."""
        missing = sorted(set(rows) - self._found.keys())
        if not missing:
            return
        names = [f"c{k}" for k in range(len(self._columns))]
        cells = ", ".join(
            f"{cell} as {name}" for cell, name in zip(self._columns, names, strict=True)
        )
        numbered = self._numbered()
        listed = ", ".join(map(str, missing))
        for place, *found in self._table.query(
            f"select place_, {cells} from ({numbered}) where place_ in ({listed})"
        ):
            self._found[int(place)] = tuple(None if one is None else str(one) for one in found)

    def _numbered(self) -> str:
        """Return SQL for the rows with their numbers, from 0."""
        if self._file is None:
            return "select *, row_number() over () - 1 as place_ from rows"
        path, prefix = self._file
        cells = ", ".join(
            f"{identifier(prefix + name)} as {identifier(name)}" for name in self._table.columns
        )
        name = literal(glob.escape(str(path)))  # DuckDB would expand a * in a name
        return f"select {cells}, file_row_number as place_ from read_parquet({name}, {_NUMBERED})"

    def name(self, row: int) -> tuple[str | None, str | None]:
        """Return item and system of a row; None where the table has no such column or cell."""
        self.fetch([row])
        return self._found[row][0], self._found[row][1]

    def shown(self, row: int) -> tuple[str, ...]:
        """Return the cells that a reader sees, as text."""
        self.fetch([row])
        return tuple("" if one is None else one for one in self._found[row][2:])
