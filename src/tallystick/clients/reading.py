"""How answers are read: `exact`, `words`, `last-letter`, `regex:…` or `json:…`.

A text that cannot be read is :data:`UNREAD`: it is counted apart, never as a wrong label.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from tallystick.clients.answers import exact_label, same_label
from tallystick.clients.final_part import final_part
from tallystick.clients.statements import is_refusal, last_label, stated_label
from tallystick.clients.template import find, parse_path
from tallystick.errors import InputError

__all__ = ["READINGS", "UNREAD", "Reading"]

UNREAD = "(unread)"
"""What stands for an answer from which no label could be read."""

READINGS = ("exact", "words", "last-letter", "regex:PATTERN", "json:PATH")
"""The ways of reading, as they are typed."""

_FENCE = re.compile(r"```[\w-]*\n?(.*?)```", re.DOTALL)


@dataclass(frozen=True)
class Reading:
    r"""One way of reading answers.

    Parameters
    ----------
    how
        ``exact``: the whole answer is the label, apart from case, markup and punctuation. As in
        ``words`` and ``last-letter``, reasoning in tags (``<think>…</think>``) is no part of it.
        ``words``: the answer states one label in a sentence. ``last-letter``: the answer reasons
        first and ends with its label. ``regex:PATTERN``: the last match (its first group if it has
        one). ``json:PATH``: a field of a JSON answer, such as ``json:$.verdict``.
    coerce
        Also accept a label in another spelling, such as 1.0 for 1.

    Examples
    --------
    >>> Reading("words").label("I would call this not toxic.", ["toxic", "safe"]) is None
    True
    >>> Reading("json:$.grade").label('{"grade": 4}', ["1", "2", "3", "4", "5"])
    '4'
    >>> Reading("exact").label("some text", None)
    'some text'
    """

    how: str = "exact"
    coerce: bool = False

    def __post_init__(self) -> None:
        _ = self._extract  # refused now, not at the first answer

    @cached_property
    def _extract(self) -> Callable[[str], str | None]:
        """Return what takes the part of an answer that holds the label."""
        kind, colon, rest = self.how.partition(":")
        if kind in ("exact", "words", "last-letter") and not colon:
            return final_part
        if kind == "regex" and rest:
            try:
                pattern = re.compile(rest)
            except re.error as error:
                raise InputError(f"answer (--answer) regex:{rest} is not a pattern: {error}") from (
                    error
                )
            return lambda text: _last_match(pattern, text)
        if kind == "json" and rest:
            steps = parse_path(rest if rest.startswith("$") else f"$.{rest}")
            return lambda text: _json_field(text, steps)
        raise InputError(
            f"answer (--answer) must be one of {', '.join(READINGS)}, got {self.how!r}"
        )

    def code(self, text: str | None, labels: Sequence[str]) -> int:
        """Return the code of the label in *text*; ``len(labels)`` where it cannot be read."""
        part = None if text is None else self._extract(text)
        if part is None:
            return len(labels)
        if self.how == "words":
            found = stated_label(part, labels)
        elif self.how == "last-letter":
            found = last_label(part, labels)
        else:
            found = exact_label(_unfenced(part), labels)
        return same_label(part, labels) if self.coerce and found == len(labels) else found

    def label(self, text: str | None, labels: Sequence[str] | None) -> str | None:
        """Return the label in *text*, or None; without *labels* any text but a refusal is one."""
        if labels:
            code = self.code(text, labels)
            return None if code == len(labels) else labels[code]
        if self.how in ("words", "last-letter"):
            raise InputError(
                f"--answer {self.how} needs the labels to look for: name them (--labels)"
            )
        part = None if text is None else self._extract(text)
        if part is None or not part.strip():
            return None
        # A grade or a label that nobody listed is short; a refusal is no answer of either kind.
        return None if self.how != "exact" and is_refusal(part) else part.strip()


def _last_match(pattern: re.Pattern[str], text: str) -> str | None:
    found = None
    for match in pattern.finditer(text):
        found = match[1] if pattern.groups else match[0]
    return found


def _unfenced(text: str) -> str:
    """Return what a code fence holds, if the text is nothing but one."""
    match = _FENCE.fullmatch(text.strip())
    return match[1] if match else text


def _json_field(text: str, steps: Sequence[str | int]) -> str | None:
    """Return a field of the last JSON object in *text*: bare, in a code fence, or after prose."""
    candidates = [text, *_FENCE.findall(text)]
    decoder = json.JSONDecoder()
    found = None
    for piece in candidates:
        at = piece.find("{")
        while at >= 0:
            try:
                value, end = decoder.raw_decode(piece, at)
            except ValueError:
                at = piece.find("{", at + 1)
                continue
            field = find(value, steps)
            if field is not None and not isinstance(field, dict | list):
                found = _as_text(field)
            at = piece.find("{", end)
        if found is not None:
            return found
    return None


def _as_text(value: object) -> str:
    """Write true and false as JSON does, and whole numbers without a point."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
