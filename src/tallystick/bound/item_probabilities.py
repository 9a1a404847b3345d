"""A file with one row of probabilities per item, as Snorkel, skweak and cleanlab write it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tallystick.bound.blocks import FloatArray
from tallystick.bound.label_models import LabelModel, given
from tallystick.bound.row_patterns import row_patterns
from tallystick.bound.weak_votes import WeakTable
from tallystick.data import Data
from tallystick.errors import InputError
from tallystick.io import identifier, scan
from tallystick.tally import Tally

__all__ = ["item_model"]

_PREFIXES = ("", "p_", "prob_", "proba_", "probability_")


def item_model(data: Data, table: WeakTable, path: str) -> LabelModel | None:
    r"""Read P(Y | item) and turn it into P(Y | Z), the mean over the rows that show each pattern.

    If the probabilities are right, so is their mean given the votes. What they know beyond the
    votes is not used, so the bounds are valid and may be wider than they could be.

    Parameters
    ----------
    data, table
        The rows that are evaluated, and their patterns.
    path
        A table with one column per class (named like the class, or p_CLASS, prob_CLASS), joined by
        the item column if it has one, otherwise in the order of the rows; or a ``.npy`` array of
        shape (rows, classes).

    Returns
    -------
    LabelModel
        None if the file has the weak columns: then it has one row per pattern of votes.
    """
    if path.endswith(".npy"):
        held = _from_array(path)
    else:
        found = _from_table(data, table, path)
        if found is None:
            return None
        held = found
    if isinstance(data.held, Tally):
        raise InputError(
            f"{path} has one row per item, and a saved tally has no items: give the table itself"
        )
    rows = data.n_rows
    if held.shape != (rows, len(table.classes)):
        raise InputError(
            f"{path} has shape {held.shape}, and the table has {rows:,} rows and"
            f" {len(table.classes)} classes: give one row per item, in the same order, or an item"
            " column to join by"
        )
    bad = ~np.isfinite(held).all(axis=1) | (held < -1e-6).any(axis=1)
    bad |= np.abs(held.sum(axis=1) - 1) > 1e-3
    if bad.any():
        first = int(bad.argmax())
        raise InputError(
            f"{path}, row {first + 1}: {held[first].round(4).tolist()} are not probabilities:"
            " they must be at least 0 and sum to 1"
        )
    place = row_patterns(data, table)
    size = np.bincount(place, minlength=len(table.votes))
    sums = np.stack(
        [np.bincount(place, weights=held[:, c], minlength=len(size)) for c in range(held.shape[1])],
        axis=1,
    )
    with np.errstate(invalid="ignore"):  # a pattern without a row stays NaN, that is unknown
        mean = sums / np.where(size > 0, size, np.nan)[:, None]
        return given(table, mean / mean.sum(axis=1, keepdims=True), name=path)


def _from_array(path: str) -> FloatArray:
    if not Path(path).is_file():
        raise InputError(f"there is no file {path!r}")
    return np.asarray(np.load(path, allow_pickle=False), dtype=np.float64)


def _from_table(data: Data, table: WeakTable, path: str) -> FloatArray | None:
    """Read the columns of the classes, in the order of the data; None if votes are in the file."""
    with scan(path) as held:
        if all(name in held.columns for name in table.weak):
            return None
        names = [_column(str(c), held.columns, path, table.weak) for c in table.classes]
        item = data.roles.item if data.roles.item in held.columns else None
        columns = ", ".join(identifier(name) for name in (*names, *([item] if item else [])))
        rows = held.query(f"select {columns} from rows")
    try:
        law = np.array([[float(cell) for cell in row[: len(names)]] for row in rows])
    except (TypeError, ValueError):
        raise InputError(f"{path}: the columns {names} must hold probabilities") from None
    if item is None:
        return law
    return law[_joined([row[-1] for row in rows], data.cells(item)[item], item, path)]


def _column(label: str, columns: Any, path: str, weak: tuple[str, ...]) -> str:
    for prefix in _PREFIXES:
        if f"{prefix}{label}" in columns:
            return f"{prefix}{label}"
    raise InputError(
        f"{path} has no column {label!r}: a label model needs one column of probabilities per class"
        f" (also p_{label} or prob_{label}), with one row per item, or one per pattern of the weak"
        f" columns {list(weak)}"
    )


def _joined(have: list[Any], want: list[Any], item: str, path: str) -> list[int]:
    """Return the row of the file for each item of the data."""
    place = {str(name): i for i, name in enumerate(have)}
    if len(place) < len(have):
        raise InputError(f"{path} names an item of {item!r} twice: keep one row per item")
    lacking = [name for name in want if str(name) not in place]
    if lacking:
        raise InputError(f"{path} has no row for the item {lacking[0]!r} of column {item!r}")
    return [place[str(name)] for name in want]
