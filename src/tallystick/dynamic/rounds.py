"""In which order rounds come, whatever people call them: numbers, dates or names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np

from tallystick.dynamic.population import Array

__all__ = ["RoundOrder", "order_rounds"]

_MOST_DAYS = 60
_DATED = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?:[T ].*)?")
_NUMBERED = re.compile(r"\D*(\d+)\D*")


@dataclass(frozen=True, eq=False)
class RoundOrder:
    """The rounds in order, and the place in it of every row.

    Parameters
    ----------
    codes
        One place per row, from 0.
    names
        What each round is called: a number, a day or month, or a name.
    notes
        What was read into the cells.
    """

    codes: Array
    names: tuple[Any, ...]
    notes: tuple[str, ...] = ()


def order_rounds(cells: Sequence[Any]) -> RoundOrder:
    """Order rounds by number, by day, by the number in their names, or as they first appear.

    A date with a time counts as its day. More than 60 days are read as months.

    Examples
    --------
    >>> order_rounds(["10", "9", "9"]).names, order_rounds(["R10", "R9"]).names
    ((9, 10), ('R9', 'R10'))
    >>> order_rounds(["2024-03-02 10:00", "2024-03-01"]).names
    ('2024-03-01', '2024-03-02')
    >>> order_rounds([1, 4]).notes
    ('rounds 2 and 3 are missing: the rounds that there are count in order',)
    """
    words = [str(cell).strip() for cell in cells]
    numbers = [_whole(cell) for cell in cells]
    if all(number is not None for number in numbers):
        names = tuple(sorted({number for number in numbers if number is not None}))
        return RoundOrder(_places(numbers, names), names, _gaps(names))

    days = [_day(word) for word in words]
    if all(day is not None for day in days):
        if len(set(days)) > _MOST_DAYS:
            days = [day[:7] for day in days if day is not None]
            note = f"the rounds are dates of more than {_MOST_DAYS} days: they are read as months"
            return RoundOrder(_places(days, sorted(set(days))), tuple(sorted(set(days))), (note,))
        return RoundOrder(_places(days, sorted(set(days))), tuple(sorted(set(days))))

    seen = list(dict.fromkeys(words))
    found = {word: _NUMBERED.fullmatch(word) for word in seen}
    values = {word: int(match[1]) for word, match in found.items() if match}
    if len(set(values.values())) == len(seen):
        seen.sort(key=lambda word: values[word])
        return RoundOrder(_places(words, seen), tuple(seen))
    note = f"the rounds are in the order in which they first appear: {', '.join(seen[:6])}"
    return RoundOrder(_places(words, seen), tuple(seen), (note,))


def _whole(cell: Any) -> int | None:
    if isinstance(cell, bool):
        return int(cell)
    try:
        value = float(cell)
    except (TypeError, ValueError):
        return None
    return int(value) if value == value // 1 and abs(value) < 1e15 else None


def _day(word: str) -> str | None:
    match = _DATED.fullmatch(word)
    if match is None:
        return None
    try:
        return date(*map(int, match.groups())).isoformat()
    except ValueError:
        return None


def _places(values: Sequence[Any], names: Sequence[Any]) -> Array:
    at = {name: place for place, name in enumerate(names)}
    return np.array([at[value] for value in values], dtype=np.int64)


def _gaps(names: Sequence[int]) -> tuple[str, ...]:
    if names[-1] - names[0] > 1000:
        return ()  # ids of rounds, not their numbers
    absent = [str(n) for n in range(names[0], names[-1]) if n not in names]
    if not absent:
        return ()
    one = len(absent) == 1
    listed = absent[0] if one else f"{', '.join(absent[:-1])} and {absent[-1]}"
    verb = "is" if one else "are"
    return (
        f"round{'s' * (not one)} {listed} {verb} missing: the rounds that there are count in order",
    )
