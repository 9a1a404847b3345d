"""Where data lies decides how it is counted: in memory by the kernel, elsewhere by the engine that holds it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tallystick.errors import InputError
from tallystick.tally.engines.memory import Counted, count_columns
from tallystick.tally.recipe import Recipe

__all__ = ["Counted", "columns_of", "count"]


def count(data: Any, recipe: Recipe) -> Counted:
    """Count *data* with the engine that holds it; only counts come back."""
    if isinstance(data, Mapping):
        return count_columns(data, recipe)
    raise InputError(f"data must be a mapping, a frame, a relation or a path, got a {type(data).__name__}")


def columns_of(data: Any, names: Sequence[str]) -> Mapping[str, Any]:
    """Return the columns *names* of *data* in memory, for a question that has one answer a row."""
    if isinstance(data, Mapping):
        Recipe(columns=tuple(names)).select(tuple(data))
        return data
    raise InputError(f"data must be a mapping, a frame, a relation or a path, got a {type(data).__name__}")
