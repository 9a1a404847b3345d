"""The sketch of items, made in the same scan that counts: no second pass over a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tallystick.tally.item_sketch import MOST, WHOLE, ItemSketch, row_key, votes_hash
from tallystick.values.sql import identifier, kind_of

__all__ = ["LeastItems"]

_SPARE = 16
"""How many times the rows of a sketch are looked at in a large table, in case items repeat."""


@dataclass(frozen=True, kw_only=True)
class LeastItems:
    """The rows of each pattern whose items have the smallest hashes.

    Parameters
    ----------
    column, sql_type
        The column of items.
    rows
        How many rows the table has.
    """

    column: str
    sql_type: str
    rows: int

    @property
    def limit(self) -> int:
        """Hashes below this are looked at: all in a small table, so that its sketch is whole.

        In a large table nearly all rows are passed over by one comparison, which costs less than
        keeping the smallest of each pattern.
        """
        if self.rows <= _SPARE * MOST:
            return WHOLE
        return row_key(WHOLE * _SPARE * MOST // self.rows, 0)

    def key(self) -> str:
        """Return the SQL of an item's hash; an item is hashed as text, so that its type does not
        matter.
        """
        cell = identifier(self.column)
        if kind_of(self.sql_type) == "float":  # pandas writes whole numbers beside a gap as 1.0
            whole = f"{cell} = floor({cell}) and abs({cell}) < 9e15"
            cell = f"case when {whole} then {cell}::bigint::varchar else {cell}::varchar end"
        elif kind_of(self.sql_type) != "text":
            cell = f"{cell}::varchar"
        return f"case when {cell} is not null then hash({cell}) end as item"

    def sums(self) -> str:
        """Return the SQL of what is fetched for each pattern."""
        below = "" if self.limit == WHOLE else f" filter (where item < {self.limit}::ubigint)"
        # The hash function of the engine may change from one version to the next, and sketches of
        # two functions cannot be compared: the hash of a fixed word tells them apart.
        return f"min(item, {MOST + 1}){below} as items, min(hash('tallystick')) as kind"

    def sketch(
        self, votes: Mapping[str, Any], groups: Any, missing: frozenset[str]
    ) -> dict[str, ItemSketch]:
        """Return the sketch, by the hash function that made it.

        *votes* has the cells of each pattern by column, *groups* what :meth:`sums` fetched.
        """
        import pyarrow as pa

        found = {place: items for place, items in enumerate(groups["items"].to_pylist()) if items}
        places = pa.array(found, pa.int64())
        cells = {name: column.take(places).to_pylist() for name, column in votes.items()}

        limit = self.limit
        rows: list[int] = []
        for k, items in enumerate(found.values()):
            # A full list may have left out rows of its last item and beyond.
            if len(items) > MOST:
                limit = min(limit, row_key(items[-1], 0))
            seen = votes_hash({name: column[k] for name, column in cells.items()}, missing)
            rows.extend(row_key(item, seen) for item in items)
        kinds = {f"{kind:x}" for kind in groups["kind"].to_pylist()}
        return {kind: ItemSketch.of(rows, limit=limit) for kind in kinds}
