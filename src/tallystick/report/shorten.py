"""Keep text from the data short, on one line and harmless."""

from __future__ import annotations

import unicodedata

__all__ = ["shorten"]


def shorten(text: str, most: int = 48) -> str:
    r"""Return *text* on one line of at most *most* characters, without direction marks.

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
