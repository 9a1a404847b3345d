"""The cost of each prediction where each class is true, read from a table."""

from __future__ import annotations

from pathlib import Path

from tallystick.errors import InputError
from tallystick.io import scan
from tallystick.values import Label, identifier

__all__ = ["read_costs"]


def read_costs(path: Path, classes: tuple[Label, ...]) -> list[list[float]]:
    """Read a cost matrix: one row per prediction, one column per true class."""
    names = [str(c) for c in classes]
    with scan(str(path)) as table:
        lacking = [name for name in ("prediction", *names) if name not in table.columns]
        if lacking:
            raise InputError(
                f"{path} has no column {lacking[0]!r}: a cost table has 'prediction' and one per"
                f" class {names}"
            )
        columns = ", ".join(identifier(name) for name in ("prediction", *names))
        rows = [(str(row[0]), row[1:]) for row in table.query(f"select {columns} from rows")]
    found = dict(rows)
    shown = [name for name, _ in rows]
    twice = [name for name in found if shown.count(name) > 1]
    if twice:
        raise InputError(
            f"{path} has {shown.count(twice[0])} rows for the prediction {twice[0]!r}: keep the one"
            " that is meant"
        )
    missing = [name for name in names if name not in found]
    if missing:
        raise InputError(
            f"{path} has no row for the prediction {missing[0]!r}: give one per class {names}"
        )
    try:
        return [[float(cell) for cell in found[name]] for name in names]
    except (TypeError, ValueError):
        raise InputError(f"{path}: costs must be numbers") from None
