"""What a label is: kept as it was written, ordered by type and then by value, missing last.

Python says ``1 == True == 1.0``; a tally does not. Two labels are the same when their type *and*
their value agree, so every table here is keyed by :func:`identity`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias

from tallystick.errors import InputError

__all__ = [
    "MOST_LABELS",
    "Label",
    "canonical",
    "identity",
    "is_missing",
    "not_labels",
    "numbers_among",
    "plain",
    "too_many",
]

Label: TypeAlias = bool | int | float | str | None
"""A decision as it was written; None is a missing one."""

MOST_LABELS = 10_000
"""A column with more distinct values than this looks like text, not like decisions."""

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,4})?", re.ASCII)
_RANK: Mapping[type, int] = {bool: 0, int: 1, float: 2, str: 3, type(None): 4}


def identity(label: Label) -> tuple[int, Label]:
    """Return the key that tells 1, 1.0 and True apart; its order is the canonical one.

    >>> identity(1) == identity(True)
    False
    """
    return (_RANK[type(label)], "" if label is None else label)


def canonical(labels: Iterable[Label]) -> tuple[Label, ...]:
    """Return the distinct labels by type, then by value; missing is last.

    >>> canonical(["spam", None, 2, True, "ham", 1, 2])
    (True, 1, 2, 'ham', 'spam', None)
    """
    distinct = {identity(label): label for label in labels}
    return tuple(distinct[key] for key in sorted(distinct))


def plain(value: Any, *, column: str) -> Label:
    """Return *value* as a plain Python label: NaN becomes None, -0.0 becomes 0.0, a NumPy scalar
    its Python twin.

    >>> plain(float("nan"), column="gpt") is None
    True
    >>> plain(b"yes", column="gpt")
    Traceback (most recent call last):
    tallystick.errors.InputError: column 'gpt' holds a bytes (b'yes'): a label is a bool, an int, a float or a str ...
    """
    if hasattr(value, "item"):
        value = value.item()
    if value is None or type(value) in (bool, int, str):
        return value  # type: ignore[no-any-return]
    if isinstance(value, float):
        if math.isnan(value):
            return None
        if math.isinf(value):
            raise InputError(
                f"column {column!r} holds an infinite number: give finite labels, or cut the column"
            )
        return float(value) + 0.0
    if isinstance(value, str):  # a subclass, such as an Enum member that is a str
        return str(value)
    if type(value).__name__ in ("NAType", "NaTType"):  # pandas' own missing values
        return None
    raise not_labels(column, f"holds a {type(value).__name__} ({value!r})")


def is_missing(label: Label, tokens: frozenset[str]) -> bool:
    """Say whether *label* is blank or one of *tokens*: ``"-1"`` means -1, -1.0 and the texts of
    both.

    >>> [is_missing(label, frozenset({"-1"})) for label in (-1, -1.0, " -1", "-1.0", " ", "no")]
    [True, True, True, True, True, False]
    """
    if label is None:
        return True
    if isinstance(label, str):
        text = label.strip()
        return (
            not text
            or text in tokens
            or (bool(_NUMBER.fullmatch(text)) and float(text) in numbers_among(tokens))
        )
    if isinstance(label, bool):
        return str(label) in tokens or str(label).lower() in tokens
    return bool(tokens) and label in numbers_among(tokens)


@cache
def numbers_among(tokens: frozenset[str]) -> tuple[float, ...]:
    """Return the tokens that are plain numbers, as numbers.

    >>> numbers_among(frozenset({"-1", "NA", "inf"}))
    (-1.0,)
    """
    return tuple(sorted(float(token) for token in tokens if _NUMBER.fullmatch(token)))


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
