"""In which order rounds come, whatever people call them: numbers, dates or names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np

from tallystick.papers.dynamic_benchmarks.designs import Array
from tallystick.table.words import read_times

_MOST_DAYS = 60
_DIGITS = re.compile(r"\d+")
_YEAR = re.compile(r"(19|20)\d\d")


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


def round_name(name: Any) -> str:
    """Return what a round is called in a sentence.

    >>> round_name(3), round_name("Round 12"), round_name("pilot")
    ('round 3', 'Round 12', 'round pilot')
    """
    text = str(name)
    return text if text.lower().startswith("round") else f"round {text}"


def order_rounds(
    cells: Sequence[Any], *, when: Sequence[float] | None = None, clock: str = "time"
) -> RoundOrder:
    """Order rounds by number, by day, by the numbers in their names, by time, or as they appear.

    A date with a time counts as its day. More than 60 days are read as months.

    Parameters
    ----------
    cells
        The round of each row.
    when, clock
        When each row was made, where that is known, and what that column is called: names without
        numbers are put in the order of the middle time of their rows.

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

    days = _days(words)
    if days is not None:
        if len(set(days)) > _MOST_DAYS:
            days = [day[:7] for day in days]
            note = f"the rounds are dates of more than {_MOST_DAYS} days: they are read as months"
            return RoundOrder(_places(days, sorted(set(days))), tuple(sorted(set(days))), (note,))
        return RoundOrder(_places(days, sorted(set(days))), tuple(sorted(set(days))))

    seen = list(dict.fromkeys(words))
    keys = _numbers_in(seen)
    if keys is not None:
        seen.sort(key=lambda word: keys[word])
        return RoundOrder(_places(words, seen), tuple(seen))
    if when is not None:
        times = np.asarray(when, dtype=float)
        codes = _places(words, seen)
        middle = {name: float(np.median(times[codes == k])) for k, name in enumerate(seen)}
        seen.sort(key=lambda word: middle[word])
        note = f"the rounds are in the order of {clock!r}: {_listed(seen)}"
        return RoundOrder(_places(words, seen), tuple(seen), (note,))
    note = f"the rounds are in the order in which they first appear: {_listed(seen)}"
    return RoundOrder(_places(words, seen), tuple(seen), (note,))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")


def _numbers_in(names: Sequence[str]) -> dict[str, tuple[int, ...]] | None:
    """Return the numbers in names that differ by them alone (R9, v1.10, 2024-Q1); None otherwise.

    >>> _numbers_in(["Q4 2023", "Q1 2024"])
    {'Q4 2023': (2023, 4), 'Q1 2024': (2024, 1)}
    """
    found: dict[str, tuple[int, ...]] = {}
    for name in names:
        digits = _DIGITS.findall(name)
        # The year comes first in time, wherever it stands in the name.
        digits.sort(key=lambda text: _YEAR.fullmatch(text) is None)
        found[name] = tuple(map(int, digits))
    lengths = {len(key) for key in found.values()}
    one_number = lengths == {1}
    alike = len({_DIGITS.sub("#", name) for name in names}) == 1
    # 03/02/2024: which is the day is not known, so its numbers are no order.
    dates = any(re.fullmatch(r"\d{1,2}([/.-])\d{1,2}\1\d{2,4}", name) for name in names)
    if not (one_number or (alike and 0 not in lengths)) or dates:
        return None
    return found if len(set(found.values())) == len(names) else None


def _whole(cell: Any) -> int | None:
    if isinstance(cell, bool):
        return int(cell)
    try:
        value = float(cell)
    except (TypeError, ValueError):
        return None
    return int(value) if value == value // 1 and abs(value) < 1e15 else None


def _days(words: Sequence[str]) -> list[str] | None:
    """Return the day of each date, None where the rounds are not dates."""
    # A month or a quarter has no day: such names are ordered by their numbers.
    if not all(
        len(_DIGITS.findall(word)) >= 3 or re.search(r"[A-Za-z]{3}", word) for word in words
    ):
        return None
    found = read_times(words)
    if found.seconds is None or not found.dated:
        return None
    return [datetime.fromtimestamp(value, UTC).date().isoformat() for value in found.seconds]


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
