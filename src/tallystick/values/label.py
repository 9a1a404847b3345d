"""What a label is, when two labels are the same, and in which order labels come.

Python says ``1 == True == 1.0``. Here 1, ``"1"`` and True are three labels, but 1.0 is the label 1:
pandas turns a column of integers with a gap into floats, and the same vote must not become another
one because a neighbour is missing. Every table of labels is keyed by :func:`identity`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from tallystick.errors import InputError

__all__ = [
    "MOST_LABELS",
    "Label",
    "identity",
    "in_order",
    "not_labels",
    "plain",
    "too_many",
    "whole",
]

Label: TypeAlias = bool | int | float | str | None
"""A decision as it was written; None is a missing one."""

MOST_LABELS = 10_000
"""A column with more distinct values than this looks like text, not like decisions."""

# Integers and floats are one type, number: 0.5 stands between 0 and 1.
_RANK: Mapping[type, int] = {bool: 0, int: 1, float: 1, str: 2, type(None): 3}

# A float of this size or more has no integer of 64 bits, which is what Arrow can hold.
_NO_INTEGER = 2.0**63


def whole(label: Label) -> Label:
    """Return *label*, with a whole float as its integer.

    >>> whole(1.0), whole(-0.0), whole(0.5), whole(True), whole("1.0")
    (1, 0, 0.5, True, '1.0')
    """
    if type(label) is float and label.is_integer() and abs(label) < _NO_INTEGER:
        return int(label)
    return label


def identity(label: Label) -> tuple[int, Label]:
    """Return the key under which a label is the same; keys sort by type, then by value.

    >>> identity(1) == identity(1.0), identity(1) == identity(True), identity(1) == identity("1")
    (True, False, False)
    """
    return (_RANK[type(label)], "" if label is None else label)


def in_order(labels: Iterable[Label]) -> tuple[Label, ...]:
    """Return the distinct labels by type (boolean, number, text), then by value; missing is last.

    >>> in_order(["spam", None, 2, True, "ham", 1.0, 1, 0.5])
    (True, 0.5, 1, 2, 'ham', 'spam', None)
    """
    distinct = {identity(label): whole(label) for label in labels}
    return tuple(distinct[key] for key in sorted(distinct))


def plain(value: Any, *, column: str) -> Label:
    """Return *value* as a plain Python label.

    NaN and pandas' own missing values become None, a whole float its integer, a NumPy scalar its
    Python twin. Anything that cannot be a label raises `InputError` with the column.

    >>> plain(float("nan"), column="gpt") is None, plain(1.0, column="gpt")
    (True, 1)
    >>> plain(b"yes", column="gpt")
    Traceback (most recent call last):
    tallystick.errors.InputError: column 'gpt' holds a bytes (b'yes'): a label is a bool, an int, a float or a str ...
    """
    if hasattr(value, "item"):
        value = value.item()
    if value is None or type(value) in (bool, int, str):
        return value  # type: ignore[no-any-return]  # the line above has checked its type

    if isinstance(value, float):
        if math.isnan(value):
            return None
        if math.isinf(value):
            raise InputError(
                f"column {column!r} holds an infinite number: give finite labels, or cut the column"
            )
        return whole(float(value))
    if isinstance(value, str):  # a subclass, such as an Enum member that is a str
        return str(value)
    if type(value).__name__ in ("NAType", "NaTType"):  # pandas' own missing values
        return None
    raise not_labels(column, f"holds a {type(value).__name__} ({value!r})")


def not_labels(column: str, what: str) -> InputError:
    """Return the error for a column of something else than labels."""
    return InputError(
        f"column {column!r} {what}: a label is a bool, an int, a float or a str; cast the column,"
        " or leave it out with columns="
    )


def too_many(column: str, distinct: int, example: Sequence[Any] = ()) -> InputError:
    """Return the error for a column that looks like text."""
    shown = f" (such as {example[0]!r})" if len(example) else ""
    return InputError(
        f"column {column!r} has more than {MOST_LABELS:,} distinct values{shown}, {distinct:,} so"
        " far: it looks like text or an identifier; leave it out with columns=, or bin a number"
        f" with cut={{{column!r}: edges}}"
    )
