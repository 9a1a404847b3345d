"""From what an API said to a label of the set."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

__all__ = ["read_label"]

_TRIM = " \t\r\n.,;:!\"'`*()[]{}"


def read_label(text: str | None, labels: Sequence[str], *, loose: bool = False) -> int:
    """Return the code of the label that *text* names; ``len(labels)`` if it names none, or more than one.

    Parameters
    ----------
    text
        What the API said; None if it said nothing.
    labels
        The labels.
    loose
        Also accept a text in which exactly one of the labels stands as a whole word.

    Examples
    --------
    >>> read_label(" Yes.", ["no", "yes"])
    1
    >>> read_label("The answer is yes, surely.", ["no", "yes"], loose=True)
    1
    >>> read_label("yes and no", ["no", "yes"], loose=True)
    2
    """
    if text is None:
        return len(labels)
    exact, folded, words = _table(tuple(labels))
    if text.strip() in exact:
        return exact[text.strip()]
    plain = text.strip(_TRIM).casefold()
    if plain in folded:
        return folded[plain]
    if loose:
        found = {folded[match.casefold()] for match in words.findall(text) if match.casefold() in folded}
        if len(found) == 1:
            return found.pop()
    return len(labels)


@lru_cache(maxsize=16)
def _table(labels: tuple[str, ...]) -> tuple[dict[str, int], dict[str, int], re.Pattern[str]]:
    exact = {label: j for j, label in enumerate(labels)}
    folded: dict[str, int] = {}
    for j, label in enumerate(labels):
        key = label.strip(_TRIM).casefold()
        folded[key] = -1 if key in folded else j  # two labels that differ by case only are read exactly or not at all
    folded = {key: j for key, j in folded.items() if j >= 0 and key}
    longest = sorted(labels, key=len, reverse=True)
    words = re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, longest)) + r")(?!\w)", re.IGNORECASE)
    return exact, folded, words
