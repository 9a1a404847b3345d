"""Keep a picture readable whatever the data holds: long words and long lists are cut, and it is
said.
"""

from __future__ import annotations

import unicodedata

from tallystick.results import Figure

__all__ = ["MOST_NAMES", "MOST_POINTS", "MOST_SIDE", "shorten", "thin"]

MOST_NAMES = 60
MOST_SIDE = 30
MOST_POINTS = 2000
"""How many rows of a forest, rows and columns of a matrix, points of a line are drawn."""


def shorten(text: str, most: int = 48) -> str:
    r"""Return *text* on one line of at most *most* signs, without signs that steer the direction of
    writing.

    >>> shorten("a" * 60, 5)
    'aaaa…'
    >>> shorten("evil\u202etxt\nnext")
    'eviltxt next'
    """
    plain = "".join(
        sign for sign in text[: 4 * most] if unicodedata.category(sign) not in ("Cf", "Cs", "Co")
    )
    line = " ".join(
        "".join(" " if unicodedata.category(sign) == "Cc" else sign for sign in plain).split()
    )
    return line if len(line) <= most and len(text) <= 4 * most else line[: most - 1] + "…"


def thin(figure: Figure) -> tuple[Figure, str]:
    """Return what of *figure* is drawn, and a sentence where that is not all of it.

    Of a forest its first rows are drawn, of a matrix its first rows and columns, of lines every so
    many points.
    """
    n = len(next(iter(figure.columns.values()), ()))
    if figure.kind == "matrix":
        rows, columns = (
            list(dict.fromkeys(figure.columns[figure.roles[role]])) for role in ("row", "column")
        )
        shown = set(rows[:MOST_SIDE]), set(columns[:MOST_SIDE])
        pairs = zip(
            figure.columns[figure.roles["row"]], figure.columns[figure.roles["column"]], strict=True
        )
        kept = [
            i for i, (row, column) in enumerate(pairs) if row in shown[0] and column in shown[1]
        ]
        note = f"the first {MOST_SIDE} of {len(rows):,} rows and {len(columns):,} columns are drawn"
    elif figure.kind == "forest":
        kept, note = list(range(min(n, MOST_NAMES))), f"the first {MOST_NAMES} of {n:,} are drawn"
    else:
        step = -(-n // MOST_POINTS)
        kept, note = list(range(0, n, max(step, 1))), f"one in {step:,} of {n:,} points is drawn"
    if len(kept) == n:
        return figure, ""
    columns_kept = {name: [values[i] for i in kept] for name, values in figure.columns.items()}
    return Figure(figure.kind, figure.title, columns_kept, figure.roles, figure.labels), note
