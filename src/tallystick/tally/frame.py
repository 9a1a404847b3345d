"""Patterns as an Arrow table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tallystick.tally.patterns import Patterns
from tallystick.values.label import Label

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["frame", "label_column"]


def frame(patterns: Patterns) -> pa.Table:
    """Return one row a pattern: its labels and its count."""
    import pyarrow as pa

    codes = patterns.store.codes
    columns: dict[str, Any] = {
        name: label_column(labels).take(pa.array(codes[:, j]))
        for j, (name, labels) in enumerate(patterns.labels.items())
    }
    columns["count" if "count" not in columns else "tally_count"] = pa.array(patterns.store.counts)
    return pa.table(columns)


def label_column(labels: Sequence[Label]) -> pa.Array:
    """Return the labels as one Arrow array.

    Integers beside fractions are written as floats, labels of several other types as text.
    """
    import pyarrow as pa

    kinds = {type(label) for label in labels if label is not None}
    if kinds == {int, float}:
        return pa.array(list(labels), pa.float64())
    if len(kinds) > 1:
        return pa.array([None if label is None else str(label) for label in labels], pa.string())
    return pa.array(list(labels)) if kinds else pa.array(list(labels), pa.string())
