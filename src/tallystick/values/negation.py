"""Two ways to say that something is not so: ``unsafe`` and ``not safe`` are one label.

A vote ``not safe`` beside a truth that says ``safe`` and ``unsafe`` is no third class, and nothing
in a result would show why the votes that say it are never right.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from tallystick.values.label import Label
from tallystick.values.words import as_word

__all__ = ["denied", "same_denial"]

_APART = re.compile(r"(?:is\s+not|isn't|not|non|no)\s+(?P<rest>\w.*)")
_JOINED = re.compile(r"(?:non|un|in|im|il|ir|dis)(?P<rest>\w+)")


def denied(label: Label, known: Iterable[str]) -> str | None:
    """Return what a label denies, None if it denies nothing.

    A prefix such as ``un`` is one only if the rest is among the *known* words: ``uncle`` denies
    nothing.

    >>> denied("Not safe", ()), denied("unsafe", ["safe"]), denied("uncle", ["safe"])
    ('safe', 'safe', None)
    """
    word = as_word(label)
    if word is None:
        return None
    apart = _APART.fullmatch(word)
    if apart is not None:
        return apart["rest"]
    joined = _JOINED.fullmatch(word)
    return joined["rest"] if joined is not None and joined["rest"] in set(known) else None


def same_denial(label: Label, labels: Iterable[Label]) -> Label:
    """Return the one of *labels* that denies the same as *label*, None if there is none.

    >>> same_denial("not safe", ["safe", "unsafe"]), same_denial("not safe", ["safe", "spam"])
    ('unsafe', None)
    >>> same_denial("non-toxic", ["toxic", "not toxic"]), same_denial("unsure", ["safe", "unsafe"])
    ('not toxic', None)
    """
    others = [one for one in labels if as_word(one) != as_word(label)]
    words = [word for one in (label, *others) if (word := as_word(one)) is not None]
    stems = {*words, *(rest for word in words if (rest := denied(word, ())) is not None)}
    mine = denied(label, stems)
    if mine is None:
        return None
    return next((one for one in others if denied(one, stems) == mine), None)
