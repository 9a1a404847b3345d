"""From the text of an answer to a label."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from tallystick.values.label import Label
from tallystick.values.spelling import LARGEST, spelling

__all__ = ["read_label", "same_label"]

_TRIM = " \t\r\n.,;:!\"'`*()[]{}"


def read_label(
    text: str | None, labels: Sequence[str], *, loose: bool = False, coerce: bool = False
) -> int:
    """Return the code of the label that *text* names; ``len(labels)`` if it names none or several.

    Parameters
    ----------
    text
        The answer; None if there was none.
    labels
        The labels.
    loose
        Also accept a text in which exactly one of the labels stands as a whole word.
    coerce
        Also accept a label in another spelling, such as 1.0 for 1 (:func:`same_label`).

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
        found = {
            folded[match.casefold()] for match in words.findall(text) if match.casefold() in folded
        }
        if len(found) == 1:
            return found.pop()
    return same_label(text, labels) if coerce else len(labels)


def same_label(text: str, labels: Sequence[str]) -> int:
    """Return the code of the label that *text* spells in another way; ``len(labels)`` if there is
    none, or several.

    >>> same_label("1.0", ["0", "1"]), same_label("maybe", ["0", "1"])
    (1, 2)
    """
    return _meanings(tuple(labels)).get(_meaning(text), len(labels))


@lru_cache(maxsize=16)
def _meanings(labels: tuple[str, ...]) -> dict[Label, int]:
    found: dict[Label, int] = {}
    for j, label in enumerate(labels):
        meaning = _meaning(label)
        found[meaning] = len(labels) if meaning in found else j
    return found


def _meaning(text: str) -> Label:
    try:
        if not abs(float(text)) <= LARGEST:
            return text  # so large a number has one spelling only: its digits would fill the memory
    except ValueError:
        pass  # not a number
    return spelling(text)


@lru_cache(maxsize=16)
def _table(labels: tuple[str, ...]) -> tuple[dict[str, int], dict[str, int], re.Pattern[str]]:
    exact = {label: j for j, label in enumerate(labels)}
    folded: dict[str, int] = {}
    for j, label in enumerate(labels):
        key = label.strip(_TRIM).casefold()
        # two labels that differ by case only are read exactly or not at all
        folded[key] = -1 if key in folded else j
    folded = {key: j for key, j in folded.items() if j >= 0 and key}
    longest = sorted(labels, key=len, reverse=True)
    words = re.compile(
        r"(?<!\w)(?:" + "|".join(map(re.escape, longest)) + r")(?!\w)", re.IGNORECASE
    )
    return exact, folded, words
