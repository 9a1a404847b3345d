"""The nearest name to one that does not exist, for error messages."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

__all__ = ["missing_column", "nearest"]

_SHOWN = 8


def nearest(name: str, names: Sequence[str]) -> str | None:
    """Return the name most like *name*, or None if nothing comes close.

    >>> nearest("Truth ", ["item", "truth"])
    'truth'
    """
    plain: dict[str, str] = {}
    for candidate in names:
        plain.setdefault(candidate.strip().casefold(), candidate)
    found = get_close_matches(name.strip().casefold(), plain, n=1, cutoff=0.7)
    return plain[found[0]] if found else None


def missing_column(name: str, columns: Sequence[str], source: str) -> str:
    """Return the message for a column that is not there.

    >>> missing_column("jugde", ["item", "judge"], "votes.csv")
    "votes.csv has no column 'jugde'; did you mean 'judge'? (columns: 'item', 'judge')"
    """
    guess = nearest(name, columns)
    hint = f"; did you mean {guess!r}?" if guess is not None else ""
    shown = ", ".join(map(repr, columns[:_SHOWN])) + (
        f", … {len(columns):,} in all" if len(columns) > _SHOWN else ""
    )
    return f"{source} has no column {name!r}{hint} (columns: {shown})"
