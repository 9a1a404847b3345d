"""How answers are read: `words`, `exact`, `schema`, `regex:…` or `json:…`.

A text that cannot be read is :data:`UNREAD`: it is counted apart, never as a wrong label.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tallystick.clients.client import MISSING, look_up, parse_path
from tallystick.clients.statement import ANSWER_WORDS, label_key, stated_label, whole_label
from tallystick.errors import InputError

UNREAD = "(unread)"
"""What stands for an answer from which no label could be read."""

READINGS = ("words", "exact", "schema", "regex:PATTERN", "json:PATH")
"""The ways of reading, as they are typed; the first is what is done if nothing is said."""

_FENCE = re.compile(r"```[\w-]*\n?(.*?)```", re.DOTALL)


@dataclass(frozen=True)
class AnswerReading:
    r"""One way of reading answers.

    Parameters
    ----------
    how
        ``words``: a field of a JSON answer, or a label where a text states it
        (:func:`~tallystick.clients.statement.stated_label`). ``schema``: the same, of a chat model
        that was asked for JSON. ``exact``: the whole answer is the
        label, apart from case, markup and punctuation. Reasoning in tags (``<think>…</think>``) is
        no part of either. ``regex:PATTERN``: the last match (its first group if it has one).
        ``json:PATH``: a field of a JSON answer, such as ``json:$.verdict``.

    Examples
    --------
    >>> AnswerReading("words").label("I would call this not toxic.", ["toxic", "safe"]) is None
    True
    >>> AnswerReading("json:$.grade").label('{"grade": 4}', ["1", "2", "3", "4", "5"])
    '4'
    >>> AnswerReading().label("some text", None)
    'some text'
    """

    how: str = READINGS[0]

    def __post_init__(self) -> None:
        _ = self._extract  # refused now, not at the first answer

    @cached_property
    def _extract(self) -> Callable[[str], str | None]:
        """Return what takes the part of an answer that holds the label."""
        kind, colon, rest = self.how.partition(":")
        if kind in ("words", "exact", "schema") and not colon:
            return final_part
        if kind == "regex" and rest:
            try:
                pattern = re.compile(rest)
            except re.error as error:
                raise InputError(
                    f"answer (--answer) regex:{rest} is not a pattern: {error}"
                ) from error
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
        if self.how in ("words", "schema"):
            found = _structured(part, labels)
            return stated_label(part, labels) if found is None else found
        return whole_label(_unfenced(part), labels)

    def label(self, text: str | None, labels: Sequence[str] | None) -> str | None:
        """Return the label in *text*, or None; without *labels* any text but a refusal is one."""
        if labels:
            code = self.code(text, labels)
            return None if code == len(labels) else labels[code]
        part = ((None if text is None else self._extract(text)) or "").strip()
        # A grade or a label that nobody listed is short; a refusal is no answer of either kind.
        plain = self.how in ("words", "exact", "schema")
        return None if not part or (not plain and is_refusal(part)) else part


def is_refusal(text: str) -> bool:
    """Say whether a text declines to answer.

    >>> is_refusal("I'm sorry, but I can't help with that."), is_refusal("I cannot see any bias.")
    (True, False)
    """
    return _REFUSAL.search(text) is not None


def mentions_label(text: str, labels: Sequence[str]) -> bool:
    """Say whether a text that was not read names a label: whoever reads it may see an answer.

    >>> mentions_label("It may be (C).", ["A", "B", "C"]), mentions_label("D", ["A", "B", "C"])
    (True, False)
    >>> mentions_label("I'm sorry, but I can't choose between A and B.", ["A", "B"])
    False
    """
    some = "|".join(re.escape(label) for label in sorted(labels, key=len, reverse=True))
    named = re.search(rf"(?<![\w.])(?:{some})(?!\w|[.,]\d)", text, re.IGNORECASE)
    return named is not None and not is_refusal(text)


def _last_match(pattern: re.Pattern[str], text: str) -> str | None:
    found = None
    for match in pattern.finditer(text):
        found = match[1] if pattern.groups else match[0]
    return found


def _unfenced(text: str) -> str:
    """Return what a code fence holds, if the text is nothing but one."""
    match = _FENCE.fullmatch(text.strip())
    return match[1] if match else text


def _objects(text: str) -> Iterator[Mapping[str, Any]]:
    """Yield the JSON objects of a text, one after the other: bare, in a fence, or after prose."""
    decoder = json.JSONDecoder()
    at = text.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except ValueError:
            at = text.find("{", at + 1)
            continue
        if isinstance(value, Mapping):
            yield value
        at = text.find("{", end)


def _json_field(text: str, steps: Sequence[str | int]) -> str | None:
    """Return a field of the last JSON object in *text* that has it."""
    found = None
    for value in _objects(text):
        field = look_up(value, steps)
        if field not in (MISSING, None) and not isinstance(field, dict | list):
            found = _as_text(field)
    return found


def _structured(text: str, labels: Sequence[str]) -> int | None:
    """Return the label among the fields of a JSON answer; None if the text is no such answer.

    The object must be all of the text, or end it. Two fields with different labels say nothing.
    """
    objects = list(_objects(text))
    if not objects or not _unfenced(text).rstrip("` \n").endswith("}"):
        return None
    named = {
        whole_label(_as_text(value), labels)
        for name, value in objects[-1].items()
        if not isinstance(value, dict | list)
        and value is not None
        and _FIELD.fullmatch(label_key(name))
    } - {len(labels)}
    values = named or {
        whole_label(value, labels) for value in objects[-1].values() if isinstance(value, str)
    } - {len(labels)}
    return values.pop() if len(values) == 1 else len(labels)


_FIELD = re.compile(rf"{ANSWER_WORDS}|output|final")
"""Names of fields that hold an answer; a score beside a label is no second answer."""


def _as_text(value: object) -> str:
    """Write true and false as JSON does, and whole numbers without a point."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


# The part of a reply that is its answer: without the reasoning, inside the answer's own tags.


_REASONING = re.compile(
    r"<(/?)(?:think|thinking|thought|thoughts|reasoning|reason|scratchpad|analysis|reflection)"
    r"(?:\s[^<>]{0,80})?>",
    re.IGNORECASE,
)
_ANSWER = re.compile(
    r"<(/?)((?:final[_-]?)?(?:answer|verdict|label|rating|score|grade|decision|choice|result"
    r"|output))(?:\s[^<>]{0,80})?>",
    re.IGNORECASE,
)


def final_part(text: str) -> str:
    """Return what a reply answers.

    Parameters
    ----------
    text
        The reply. Reasoning that never ends (the reply was cut off) leaves nothing.

    Examples
    --------
    >>> final_part("<think>A or B? B.</think> The answer is A.")
    'The answer is A.'
    >>> final_part("It fits. <answer>yes</answer>"), final_part("<think>maybe yes, or")
    ('yes', '')
    >>> final_part("a < b, so yes")
    'a < b, so yes'
    """
    first, *rest = _REASONING.split(text)
    kept, inside = [first], False
    for closes, after in zip(rest[::2], rest[1::2], strict=True):
        if closes:
            kept = [*(kept if inside else ()), after]
        inside = not closes
    answered = "".join(kept).strip()
    opened: dict[str, int] = {}
    found = None
    for tag in _ANSWER.finditer(answered):
        name = tag[2].casefold()
        if not tag[1]:
            opened[name] = tag.end()
        elif name in opened:
            found = answered[opened.pop(name) : tag.start()].strip()
    return answered if found is None else found


_REFUSAL = re.compile(
    r"\b(?:i(?:'|’)?m|i\s+am)\s+(?:very\s+|so\s+|really\s+)?(?:sorry|unable|afraid|not\s+able)\b"
    r"|\b(?:sorry|apologi[sz]e|apologies)\b[^.!?]{0,60}\b(?:can(?:no|'|’)t|cannot|unable|not\s+able)"
    r"|\bi\s+(?:can(?:'|’)?t|can\s*not|could\s*n(?:'|’)?t|won(?:'|’)?t|will\s+not|must\s+decline"
    r"|decline|refuse|do\s+not\s+feel\s+comfortable|don(?:'|’)t\s+feel\s+comfortable)\b"
    r"(?!\s+(?:see|find|detect|spot|think\s+of|agree|imagine|help\s+but)\b)"
    r"|\bas\s+an?\s+(?:ai|artificial|language\s+model|assistant)\b"
    r"|\b(?:unable|not\s+able|not\s+possible|impossible)\s+to\s+(?:answer|assist|help|classify"
    r"|determine|evaluate|judge|provide|rate|say|tell|comply|complete)\b"
    r"|\b(?:cannot|can(?:'|’)t|can\s+not)\s+be\s+(?:determined|classified|judged|answered)\b"
    r"|\b(?:not\s+enough|insufficient)\s+(?:information|context|detail)"
    r"|\b(?:lo\s+siento|no\s+puedo|je\s+ne\s+peux\s+pas|désolée?|não\s+posso|desculpe|leider\s+kann"
    r"|не\s+могу|извините|maaf)\b|对不起|抱歉|无法|申し訳|できません|माफ़|क्षमा|عذر|দুঃখিত|معذرت",
    re.IGNORECASE,
)
