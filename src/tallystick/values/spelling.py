"""One spelling of each label over all columns, or the call is refused.

A judge that answers ``1`` and one that answers ``"1"`` never agree, and nothing in the result would
show why. So labels that a reader would take for the same are refused when they meet in one call,
unless the caller asks to coerce them.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import TypeAlias

from tallystick.errors import InputError
from tallystick.values.label import MOST_LABELS, Label, identity, whole
from tallystick.values.missing import NUMBER, is_missing

__all__ = ["LARGEST", "LocateRow", "check_vocabulary", "spelling"]

LARGEST = 2**53
"""Beyond it, neighbouring whole numbers are one float: they cannot be told apart in JSON or in
NumPy."""

LocateRow: TypeAlias = Callable[[str, Label], object | None]
"""Where a label first stands in a column: its place for a message, or None."""

_WORDS = {"true": Decimal(1), "false": Decimal(0)}

# A text such as 1e9999 is a number without a float, and its digits would fill the memory.
_NO_FLOAT = Decimal("1e308")


def check_vocabulary(
    labels: Mapping[str, Sequence[Label]],
    *,
    coerce: bool = False,
    locate_row: LocateRow | None = None,
    counted: bool = False,
) -> dict[str, dict[Label, Label]]:
    """Hold all label columns of one call to one spelling of each label.

    Two labels are the same to a reader if they are the same number (``1``, ``"1"``, ``"01"``,
    ``True``, ``"true"``), or the same text but for case, surrounding or repeated blanks and Unicode
    composition (``"Yes"``, ``" yes"``). Each must have one type and one spelling over all columns.
    The float 1.0 is the label 1 (`tallystick.values.identity`), not another spelling of it.

    Parameters
    ----------
    labels
        The distinct labels of each column; None and NaN are missing and left out.
    coerce
        Return the renaming instead of refusing. See `spelling` for the spelling that is chosen.
    locate_row
        Where a label first stands in a column (`Table.row_of`), for the message.
    counted
        Whether the labels come from tallies that are added up: the message has another way out.

    Returns
    -------
    dict
        For each column, the new label of each label: the label itself unless *coerce*.

    Examples
    --------
    >>> check_vocabulary({"a": ["yes", "no"], "b": ["no"]})
    {'a': {'yes': 'yes', 'no': 'no'}, 'b': {'no': 'no'}}
    >>> check_vocabulary({"a": ["1"], "b": [1.0, 0.5]}, coerce=True)
    {'a': {'1': 1}, 'b': {1.0: 1, 0.5: 0.5}}
    >>> check_vocabulary({"a": ["1"], "b": [1]})
    Traceback (most recent call last):
    tallystick.errors.InputError: the label '1' (text, in column 'a') and the label 1 (integer, in column 'b') look ...
    """
    first: dict[Decimal | str, tuple[Label, str]] = {}
    renaming: dict[str, dict[Label, Label]] = {}
    for column, values in labels.items():
        # Blank text is left to the caller: here it is a label like any other.
        present = [v for v in values if isinstance(v, str) or not is_missing(v)]
        if len(present) > MOST_LABELS:
            raise InputError(
                f"column {column!r} has more than {MOST_LABELS:,} different values: it looks like"
                " text or item names, not labels; leave it out of the label columns, or name it as"
                " the item"
            )

        # An engine gives labels in any order: sorted, the same table gets the same message.
        for value in sorted(present, key=identity):
            _check_size(value, column, coerce, locate_row)
            other, where = first.setdefault(_meaning(value), (value, column))
            if not coerce and identity(other) != identity(value):
                raise InputError(
                    f"the label {_described(other, where, locate_row)} and the label"
                    f" {_described(value, column, locate_row)} look like one label spelled in two"
                    f" ways: write them alike, or {_way_out(value, counted)}"
                )
        renaming[column] = {v: spelling(v) if coerce else whole(v) for v in present}
    return renaming


def spelling(label: Label) -> Label:
    """Return the spelling that coercion gives to a label.

    It depends on nothing but the label, so shards of one table agree.

    Numbers, in digits or as text, become int where they are whole and float otherwise; booleans and
    the words true and false become 1 and 0; other text is stripped, its blanks are single, and its
    letters are lower case.

    >>> [spelling(label) for label in ("1.0", True, 2.50, " Very  Good ", None)]
    [1, 1, 2.5, 'very good', None]
    """
    if label is None:
        return None
    meaning = _meaning(label)
    if isinstance(meaning, str):
        return meaning
    if abs(meaning) > _NO_FLOAT:
        return label
    return int(meaning) if meaning == meaning.to_integral_value() else float(meaning)


def _meaning(label: Label) -> Decimal | str:
    if isinstance(label, str):
        text = " ".join(unicodedata.normalize("NFC", label).split()).casefold()
        if text in _WORDS:
            return _WORDS[text]
        return Decimal(text) if NUMBER.fullmatch(text) else text
    return Decimal(repr(label)) if isinstance(label, float) else Decimal(int(label or 0))


def _way_out(value: Label, counted: bool) -> str:
    """Return how both spellings are read as one; a sum of tallies has no option for it."""
    if counted:
        return (
            "count one of the tables again with coerce=True (tallystick tally --coerce), so that"
            f" both are {spelling(value)!r}"
        )
    return f"read both as {spelling(value)!r} with coerce=True (--coerce)"


def _check_size(value: Label, column: str, coerce: bool, locate_row: LocateRow | None) -> None:
    meaning = _meaning(value) if coerce or not isinstance(value, str) else None
    if isinstance(meaning, Decimal) and not abs(meaning) <= LARGEST:
        if meaning.is_infinite():
            raise InputError(
                f"the label {_described(value, column, locate_row)} is infinite: mark it as missing"
                f" with missing=[{str(value)!r}] (--missing={value}), or give the column as a score"
                " with bounds"
            )
        raise InputError(
            f"the label {_described(value, column, locate_row)} is beyond 2^53, where whole numbers"
            " cannot be told apart: write such labels as text"
        )


def _described(value: Label, column: str, locate_row: LocateRow | None) -> str:
    kinds = {str: "text", bool: "boolean", int: "integer", float: "number"}
    place = locate_row(column, value) if locate_row is not None else None
    return (
        f"{value!r} ({kinds[type(value)]}, in column"
        f" {column!r}{f', {place}' if place is not None else ''})"
    )
