"""Which pattern of votes each row of the data shows: for questions that counts cannot answer."""

from __future__ import annotations

import numpy as np

from tallystick.bound.blocks import IntArray
from tallystick.bound.weak_votes import ABSTAINED, WeakTable
from tallystick.data import Data
from tallystick.values import Label
from tallystick.values.label import identity

__all__ = ["class_codes", "row_patterns"]


def row_patterns(data: Data, table: WeakTable) -> IntArray:
    """Return the pattern of *table* that each row shows, in the order of the rows."""
    votes = class_codes(data, table.weak, table.classes)
    place = {row.tobytes(): z for z, row in enumerate(np.ascontiguousarray(table.votes))}
    distinct, at = np.unique(votes, axis=0, return_inverse=True)
    found = np.array([place[row.tobytes()] for row in np.ascontiguousarray(distinct)])
    return np.asarray(found[at.reshape(-1)], dtype=np.int64)


def class_codes(data: Data, columns: tuple[str, ...], classes: tuple[Label, ...]) -> IntArray:
    """Return labels as indices of *classes*, row by row, -1 for no answer."""
    coded = data.labels(*columns)
    index = {identity(label): c for c, label in enumerate(classes)}
    words = {str(label): c for c, label in enumerate(classes)}
    places = [index.get(identity(x), words.get(str(x), ABSTAINED)) for x in coded.labels]
    return np.asarray(np.array([*places, ABSTAINED], dtype=np.int64)[coded.codes])
