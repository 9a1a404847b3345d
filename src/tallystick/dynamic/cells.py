"""The cells of a log, read and checked: whole numbers, right or wrong, texts, costs and weights."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tallystick.dynamic.population import Array
from tallystick.errors import InputError

__all__ = [
    "MOST_ITEMS",
    "check_total",
    "correct_of",
    "floats_of",
    "one_an_item",
    "round_of",
    "texts_of",
    "weights_of",
]

MOST_ITEMS = 500_000
"""Weights that stand for more items are refused: each of these is analysed, in some five minutes
and gigabytes."""

_TOO_MANY = (
    f"every item is analysed, and no more than {MOST_ITEMS:,} can be; if these are sampling"
    " weights, they cannot be used here"
)
_YES = {"1", "true", "yes", "right", "correct", "1.0"}
_NO = {"0", "false", "no", "wrong", "incorrect", "0.0"}


def round_of(value: Any, column: str, row: int) -> int:
    """Return the round in a cell of the *row*-th row, counted from 0."""
    number = _whole(value)
    if number is None or number < 0:
        raise InputError(
            f"column {column!r}, row {row + 1}: a round is a whole number from 0 on, got {value!r}"
        )
    return number


def correct_of(value: Any, row: int) -> bool:
    """Whether a cell says that the model was right."""
    text = str(value).strip().lower()
    if text not in _YES | _NO:
        raise InputError(
            f"column 'correct', row {row + 1}: needs 0 or 1 (or true/false), got {value!r}"
        )
    return text in _YES


def texts_of(
    values: Sequence[Any], name: str, *, why: str = "a log needs every model's answer on every item"
) -> list[str]:
    """Return cells as text, or refuse the first blank one."""
    blank = next((k for k, v in enumerate(values) if _is_blank(v)), None)
    if blank is not None:
        raise InputError(f"column {name!r}, row {blank + 1} is blank: {why}")
    return [str(v) for v in values]


def floats_of(values: Sequence[Any], name: str) -> Array:
    """Return cells as numbers that are not negative."""
    try:
        numbers = np.array([float(v) for v in values])
    except (TypeError, ValueError) as error:
        raise InputError(f"column {name!r} needs a number in every row: {error}") from error
    if not np.all(numbers >= 0):
        raise InputError(f"column {name!r} needs numbers that are not negative")
    return numbers


def weights_of(values: Sequence[Any], name: str) -> Array:
    """Return weights as whole numbers: how many items, seen alike, each row stands for.

    >>> weights_of(["2", 1.0, 0], "w").tolist()
    [2, 1, 0]
    >>> weights_of([1, "1.5"], "w")
    Traceback (most recent call last):
    tallystick.errors.InputError: column 'w', row 2: a weight counts items that were seen alike, so it is a whole ...
    """
    weights = []
    for row, value in enumerate(values):
        number = _whole(value)
        if number is None or number < 0:
            got = "and this one is blank" if _is_blank(value) else f"got {value!r}"
            raise InputError(
                f"column {name!r}, row {row + 1}: a weight counts items that were seen alike, so it"
                f" is a whole number from 0 on, {got}; sampling weights cannot be used here"
            )
        if number > MOST_ITEMS:
            raise InputError(
                f"column {name!r}, row {row + 1}: the weight is {value!r}: {_TOO_MANY}"
            )
        weights.append(number)
    return np.array(weights, dtype=np.int64)


def check_total(weights: Array) -> None:
    """Refuse weights that stand for no item, or for more than can be analysed."""
    total = int(weights.sum())
    if not total:
        raise InputError(f"the weights of all {weights.size} items are 0: weigh at least one item")
    if total > MOST_ITEMS:
        raise InputError(f"the weights sum to {total:,} items: {_TOO_MANY}")


def one_an_item(values: Array, rows: Array, items: Sequence[str], name: str) -> Array:
    """Return the value of each item, which must be the same in all of its rows.

    Parameters
    ----------
    values
        One a row of a long log.
    rows
        Where the rows of each item are, (models, items).
    items, name
        For the message.
    """
    cells = values[rows]
    differs = np.flatnonzero((cells != cells[0]).any(axis=0))
    if differs.size:
        item = int(differs[0])
        one, other = cells[0, item], next(cell for cell in cells[:, item] if cell != cells[0, item])
        raise InputError(
            f"item {items[item]!r} has the {name} {one.item()!r} in one row and {other.item()!r} in"
            " another: an item has one"
        )
    return np.asarray(cells[0])


def _is_blank(value: Any) -> bool:
    return value is None or str(value) == "" or (isinstance(value, float) and math.isnan(value))


def _whole(value: Any) -> int | None:
    """Return a whole number, None if it is none."""
    try:
        # Python reads 1_000, other programs do not
        number = float("nan" if "_" in str(value) else value)
    except (TypeError, ValueError):
        return None
    return int(number) if math.isfinite(number) and number == int(number) else None
