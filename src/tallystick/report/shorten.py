"""Keep a picture readable whatever the data holds: long words and long lists are cut, and it is said."""

from __future__ import annotations

import unicodedata

from tallystick.results import Figure

__all__ = ["MOST_ROWS", "shorten", "thin"]

MOST_ROWS = {"forest": 60, "matrix": 2500, "bands": 5000, "rounds": 5000, "curve": 5000}
"""How many rows of each kind are drawn."""


def shorten(text: str, most: int = 48) -> str:
    r"""Return *text* on one line of at most *most* signs, without signs that steer the direction of writing.

    >>> shorten("a" * 60, 5)
    'aaaa…'
    >>> shorten("evil\u202etxt\nnext")
    'eviltxt next'
    """
    plain = "".join(sign for sign in text[: 4 * most] if unicodedata.category(sign) not in ("Cf", "Cs", "Co"))
    line = " ".join("".join(" " if unicodedata.category(sign) == "Cc" else sign for sign in plain).split())
    return line if len(line) <= most and len(text) <= 4 * most else line[: most - 1] + "…"


def thin(figure: Figure) -> tuple[Figure, str]:
    """Return the rows of *figure* that are drawn, and a sentence where that is not all of them."""
    n = len(next(iter(figure.columns.values()), ()))
    most = MOST_ROWS[figure.kind]
    if n <= most:
        return figure, ""
    columns = {name: list(values[:most]) for name, values in figure.columns.items()}
    return Figure(
        figure.kind, figure.title, columns, figure.roles, figure.labels
    ), f"the first {most:,} of {n:,} are drawn"
