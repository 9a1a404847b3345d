"""When something happened, as people write it: numbers, ISO dates, 20/11/2023, Nov 20, 2023.

Dates sorted as text are in the wrong order (02/12 comes before 30/11), and nothing shows it. So a
column is read as times in one format, or not at all. Where day and month cannot be told apart
(every number is at most 12), both readings are tried: one of them is taken only if it alone agrees
with the order of the rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

__all__ = ["Times", "read_times"]

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "jan january",
            "feb february",
            "mar march",
            "apr april",
            "may",
            "jun june",
            "jul july",
            "aug august",
            "sep sept september",
            "oct october",
            "nov november",
            "dec december",
        ),
        start=1,
    )
    for name in names.split()
}
_CLOCK = r"(?:,?[T ]+(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?\s*([AaPp]\.?[Mm]\.?)?(?:\s*(?:UTC|GMT|Z))?)?"
_PARTS = re.compile(rf"(\d{{1,2}})([/.-])(\d{{1,2}})\2(\d{{4}}|\d{{2}}){_CLOCK}")
_YEAR_FIRST = re.compile(rf"(\d{{4}})([/.-])(\d{{1,2}})\2(\d{{1,2}}){_CLOCK}")
_YEAR_MONTH = re.compile(r"(\d{4})[/.-](\d{1,2})")
_DAY_NAME = re.compile(rf"(?:[A-Za-z]+,\s*)?(\d{{1,2}})[ -]([A-Za-z]+)\.?,?[ -](\d{{4}}){_CLOCK}")
_NAME_DAY = re.compile(rf"([A-Za-z]+)\.? (\d{{1,2}}),? (\d{{4}}){_CLOCK}")
_ONLY_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}(?:\.\d+)?))?")


@dataclass(frozen=True, kw_only=True)
class Times:
    """A column of times.

    Parameters
    ----------
    seconds
        One number per cell, in order of time; None where the column was not read.
    dated
        Whether each number is a date (seconds since 1970) and not a bare number or a clock.
    note
        What was read into the cells, or why they were not read; empty if all is clear.
    """

    seconds: tuple[float, ...] | None
    dated: bool = False
    note: str = ""


def read_times(words: Sequence[str]) -> Times:
    """Read a column of times; one format for all cells.

    Parameters
    ----------
    words
        The cells as they are written, in the order of the rows.

    Examples
    --------
    >>> a, b = read_times(["30/11/2023", "02/12/2023"]).seconds
    >>> a < b
    True
    >>> read_times(["03/04/2024", "03/04/2024"]).seconds is None
    True
    >>> read_times(["03/04/2024", "04/04/2024", "05/04/2024", "01/05/2024"]).note
    'read as day/month/year, because the rows are then in order of time'
    """
    cells = [str(word).strip() for word in words]
    blank = sum(not cell for cell in cells)
    if blank:
        return Times(seconds=None, note=f"{blank:,} times are blank")
    try:
        return Times(seconds=tuple(float(cell) for cell in cells))
    except ValueError:
        pass
    plain = [_plain(cell) for cell in cells]
    if all(value is not None for value in plain):
        return Times(seconds=tuple(value for value in plain if value is not None), dated=True)
    clocks = [_ONLY_CLOCK.fullmatch(cell) for cell in cells]
    if all(clocks):
        parts = [match.groups(default="0") for match in clocks if match is not None]
        return Times(seconds=tuple(3600.0 * int(h) + 60 * int(m) + float(s) for h, m, s in parts))
    return _by_parts(cells)


def _by_parts(cells: Sequence[str]) -> Times:
    """Read 20/11/2023 or 11/20/2023, whichever fits all cells."""
    found = [_PARTS.fullmatch(cell) for cell in cells]
    odd = next((cell for cell, match in zip(cells, found, strict=True) if match is None), None)
    if odd is not None:
        return Times(seconds=None, note=f"{odd!r} is not a time that can be read")
    matches = [match for match in found if match is not None]
    day_first = _all(_of(m[4], m[3], m[1], m.groups()[4:]) for m in matches)
    # 20.11.2023 is never written with the month first.
    dotted = all(match[2] == "." for match in matches)
    month_first = None if dotted else _all(_of(m[4], m[1], m[3], m.groups()[4:]) for m in matches)
    if day_first is None and month_first is None:
        return Times(
            seconds=None,
            note=f"{cells[0]!r} and the others are not all days of one calendar: write them as"
            " 2024-03-31",
        )
    if day_first is None or month_first is None:
        return Times(seconds=day_first or month_first, dated=True)
    if day_first == month_first:
        return Times(seconds=None, note=_unclear(cells[0]))
    in_order = [list(way) == sorted(way) for way in (day_first, month_first)]
    if in_order[0] == in_order[1]:
        return Times(seconds=None, note=_unclear(cells[0]))
    way = "day/month/year" if in_order[0] else "month/day/year"
    return Times(
        seconds=day_first if in_order[0] else month_first,
        dated=True,
        note=f"read as {way}, because the rows are then in order of time",
    )


def _unclear(cell: str) -> str:
    return (
        f"{cell!r} can be day/month or month/day, and no date in the column tells which: write them"
        " as 2024-03-31"
    )


def _plain(cell: str) -> float | None:
    """Return a time whose day and month cannot be confused."""
    found = _YEAR_FIRST.fullmatch(cell)
    if found:
        return _of(found[1], found[3], found[4], found.groups()[4:])
    found = _YEAR_MONTH.fullmatch(cell)
    if found:
        return _of(found[1], found[2], "1", (None,) * 4)
    for pattern, day, month in ((_DAY_NAME, 1, 2), (_NAME_DAY, 2, 1)):
        found = pattern.fullmatch(cell)
        if found and found[month].lower() in _MONTHS:
            number = str(_MONTHS[found[month].lower()])
            return _of(found[3], number, found[day], found.groups()[3:])
    try:
        value = datetime.fromisoformat(cell)
    except ValueError:
        return None
    return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()


def _of(year: str, month: str, day: str, clock: Sequence[str | None]) -> float | None:
    """Return the seconds of a date and a clock; None if there is no such day."""
    hour, minute, second, half = clock
    hours = int(hour or 0)
    if half:
        hours = hours % 12 + (12 if half[0] in "Pp" else 0)
    full = int(year) + (2000 if len(year) == 2 else 0)
    try:
        when = datetime(
            full, int(month), int(day), hours, int(minute or 0), int(second or 0), tzinfo=UTC
        )
    except ValueError:
        return None
    return when.timestamp()


def _all(values: Iterable[float | None]) -> tuple[float, ...] | None:
    found = list(values)
    held = tuple(value for value in found if value is not None)
    return held if len(held) == len(found) else None
