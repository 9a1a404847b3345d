"""Small words of the sentences of ``score``: lists of names, numbers, plurals, ranges."""

from __future__ import annotations

from collections.abc import Sequence

from tallystick.results import count

__all__ = ["MOST_NAMED", "is_are", "names_of", "number_word", "plural", "span"]

MOST_NAMED = 4


def names_of(names: Sequence[str], *, most: int = MOST_NAMED) -> str:
    """List some names, and how many others there are."""
    # "and 1 others" is longer than the name itself.
    shown = list(names if len(names) == most + 1 else names[:most])
    if len(names) > len(shown):
        shown.append(f"{len(names) - most} others")
    if len(shown) < 2:
        return "".join(shown)
    return f"{', '.join(shown[:-1])} and {shown[-1]}"


def is_are(names: Sequence[str]) -> str:
    """Return the verb for some names."""
    return "is" if len(names) == 1 else "are"


def number_word(n: int) -> str:
    """Write a small number as a word."""
    words = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    return words[n] if n < len(words) else count(n)


def plural(unit: str, n: int) -> str:
    """Return a unit for a number of it."""
    return unit if n == 1 else f"{unit}s"


def span(low: int, high: int) -> str:
    """Write two numbers as a range."""
    return count(low) if low == high else f"{count(low)} to {count(high)}"
