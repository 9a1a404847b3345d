"""Cells as whole numbers, batch by batch: a column of ten million texts never stands in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tallystick.io import Table, reading
from tallystick.io.arrays import codes_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["cell_codes", "cell_groups"]

_BATCH = 1 << 17
"""Rows that leave the engine at once."""

_AT_ONCE = 500
"""Columns that are fetched by one query: thousands do not fit the engine's memory."""


def cell_codes(table: Table, cells: Sequence[str]) -> tuple[npt.NDArray[np.int32], list[list[Any]]]:
    """Return rows x columns of codes, -1 for NULL, and the words of each column.

    Parameters
    ----------
    table
        Where the rows are.
    cells
        One SQL expression per column. Codes count the words of a column as they first appear.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tallystick.io import scan
    >>> codes, words = cell_codes(scan(pa.table({"a": ["x", None, "y"], "b": [1, 1, 0]})), ["a", "b"])
    >>> codes.tolist(), words
    ([[0, 0], [-1, 0], [1, 1]], [['x', 'y'], [1, 0]])
    """
    import numpy as np

    [(rows,)] = table.query("select count(*) from rows")
    codes = np.empty((int(rows), len(cells)), np.int32, order="F")
    words: list[dict[Any, int]] = [{} for _ in cells]
    for start in range(0, len(cells), _AT_ONCE):
        block = range(start, min(start + _AT_ONCE, len(cells)))
        done = 0
        for batch in _batches(table, [cells[j] for j in block]):
            for place, j in enumerate(block):
                encoded = batch.column(place).dictionary_encode()
                known = words[j]
                here = [known.setdefault(w, len(known)) for w in encoded.dictionary.to_pylist()]
                index = codes_of(encoded, missing=len(here))
                codes[done : done + len(batch), j] = np.array([*here, -1], np.int32)[index]
            done += len(batch)
    return codes, [list(known) for known in words]


def cell_groups(table: Table, cell: str) -> npt.NDArray[np.int32]:
    """Return a number for each row, the same for equal cells; -1 for NULL.

    Unlike `cell_codes` it never makes a Python object per word, so every row may have its own.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tallystick.io import scan
    >>> cell_groups(scan(pa.table({"id": ["b", "a", "b", None]})), "id").tolist()
    [0, 1, 0, -1]
    """
    import numpy as np
    import pyarrow as pa

    chunks = [batch.column(0).dictionary_encode() for batch in _batches(table, [cell])]
    if not chunks:
        return np.zeros(0, np.int32)
    joined = pa.chunked_array(chunks).unify_dictionaries()
    del chunks
    found = np.empty(len(joined), np.int32)
    done = 0
    for chunk in joined.chunks:
        found[done : done + len(chunk)] = codes_of(chunk, missing=-1)
        done += len(chunk)
    return found


def _batches(table: Table, cells: Sequence[str]) -> Any:
    """Return the rows of SQL expressions, in the order of the table, some at a time."""
    chosen = ", ".join(f"{cell} as c{k}" for k, cell in enumerate(cells))
    with reading(table.source):
        yield from table.derive(f"select {chosen} from rows").to_arrow_reader(_BATCH)
