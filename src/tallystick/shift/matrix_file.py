"""A matrix of plain numbers in a file: an old confusion matrix, or weights of errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import FileError, InputError

__all__ = ["read_matrix"]


def read_matrix(source: Any) -> NDArray[np.float64]:
    """Return a matrix from CSV without a header (one line per true label), or from an array.

    >>> read_matrix([[3, 1], [0, 4]]).tolist()
    [[3.0, 1.0], [0.0, 4.0]]
    """
    if not isinstance(source, str | Path):
        return np.asarray(source, dtype=np.float64)
    path = Path(source)
    try:
        lines = path.read_text(encoding="utf-8").strip().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"the matrix {path} cannot be read: {error}") from error

    try:
        rows = [[float(cell) for cell in line.replace("\t", ",").split(",")] for line in lines]
    except ValueError as error:
        raise InputError(
            f"the matrix {path} must hold numbers only, one line per true label: {error}"
        ) from error
    if not rows or len({len(row) for row in rows}) != 1:
        raise InputError(
            f"the matrix {path} must have lines of equal length, got {[len(row) for row in rows]}"
        )
    return np.array(rows)
