"""From the text of an answer to a label."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from tallystick.values.label import Label
from tallystick.values.spelling import LARGEST, spelling

__all__ = ["exact_label", "read_label", "same_label"]

_TRIM = " \t\r\n.,;:!\"'`*()[]{}_#~“”‘’…。，！：；（）「」【】"
"""What may stand around a label: blanks, punctuation, quotes and markup."""


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
        Also accept a sentence that states exactly one of the labels, as ``--answer words`` does.
        Negated labels and refusals are never read as labels.
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
    code = exact_label(text, labels)
    if code == len(labels) and loose:
        from tallystick.clients.statements import stated_label

        code = stated_label(text, labels)
    return same_label(text, labels) if coerce and code == len(labels) else code


def exact_label(text: str, labels: Sequence[str]) -> int:
    """Return the code of the label that *text* is, apart from case, markup and punctuation.

    >>> exact_label("**Yes**.", ["no", "yes"]), exact_label("-1", ["0", "1"])
    (1, 2)
    """
    exact, folded = _table(tuple(labels))
    if text.strip() in exact:
        return exact[text.strip()]
    return folded.get(text.strip(_TRIM).casefold(), len(labels))


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
def _table(labels: tuple[str, ...]) -> tuple[dict[str, int], dict[str, int]]:
    exact = {label: j for j, label in enumerate(labels)}
    folded: dict[str, int] = {}
    for j, label in enumerate(labels):
        key = label.strip(_TRIM).casefold()
        # Two labels that differ by case only are read exactly or not at all.
        folded[key] = -1 if key in folded else j
    return exact, {key: j for key, j in folded.items() if j >= 0 and key}
