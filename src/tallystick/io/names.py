"""Column names: none missing, none twice, not absurdly many."""

from __future__ import annotations

from collections.abc import Sequence

from tallystick.errors import InputError

__all__ = ["MAX_COLUMNS", "check_names"]

MAX_COLUMNS = 2_000
"""Columns that are looked at. What is learnt of a table grows with the square of its columns: 2,000
take some 10 s, 10,000 took 100 s and more.
"""


def check_names(header: Sequence[str], name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return usable column names and notes on nameless ones; refuse duplicates and far too many."""
    if len(header) > MAX_COLUMNS:
        raise InputError(
            f"{name} has {len(header):,} columns, more than {MAX_COLUMNS:,}. Items go in rows and"
            " judges in columns: transpose it, give it as a long table (item, judge, vote), or keep"
            " only the columns in use"
        )
    notes = []
    names: list[str] = []
    for position, column in enumerate(header, start=1):
        if not column.strip():
            notes.append(f"{name}: column {position} has no name and is called 'column_{position}'")
            column = f"column_{position}"
        names.append(column)
    first: dict[str, int] = {}
    for position, column in enumerate(names, start=1):
        # DuckDB tells columns apart without regard to case, so these cannot both be reached either
        key = column.casefold()
        if key in first:
            other = names[first[key] - 1]
            same = (
                f"{column!r} twice"
                if other == column
                else f"both {other!r} and {column!r}, alike but for case"
            )
            raise InputError(
                f"{name} has {same} (columns {first[key]} and {position}): rename one; if the first"
                " line is data, put a line with column names above it"
            )
        first[key] = position
    return tuple(names), tuple(notes)
