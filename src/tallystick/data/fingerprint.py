"""A digest of some columns of a table: the same cells in the same order, whatever the file."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from tallystick.data.cell_codes import cell_codes
from tallystick.io import Table, identifier

__all__ = ["fingerprint"]

_COLUMNS, _CELLS = 100, 50_000_000
"""The most columns that are read at once, and the most cells."""


def fingerprint(table: Table, columns: Sequence[str]) -> str:
    """Return a digest of the cells of *columns*, row by row, read as text.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tallystick.io import scan
    >>> one = fingerprint(scan(pa.table({"a": [1, 0], "b": ["x", None]})), ["a", "b"])
    >>> two = fingerprint(scan(pa.table({"a": ["1", "0"], "b": ["x", None]})), ["a", "b"])
    >>> one == two
    True
    """
    import numpy as np

    digest = hashlib.sha256()
    [(rows,)] = table.query("select count(*) from rows")
    at_once = max(1, min(_COLUMNS, _CELLS // max(int(rows), 1)))
    for start in range(0, len(columns), at_once):
        block = columns[start : start + at_once]
        cells = [f"cast({identifier(name)} as varchar)" for name in block]
        # Few distinct cells, many rows: the codes and the cells they stand for are enough.
        codes, words = cell_codes(table, cells)
        for place, name in enumerate(block):
            listed = "\x1f".join(words[place])
            digest.update(f"\x1e{name}\x1e{len(codes)}\x1e{listed}\x1e".encode())
            digest.update(np.ascontiguousarray(codes[:, place], dtype="<i4").tobytes())
    return digest.hexdigest()[:32]
