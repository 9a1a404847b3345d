"""The part of a reply that is its answer: without the reasoning, and inside the answer's own tags.

Models that reason write ``<think>…</think>`` first, and prompts often ask for
``<answer>…</answer>``. A label inside the reasoning is no answer.
"""

from __future__ import annotations

import re

__all__ = ["final_part"]

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
        The reply. Reasoning that never ends (the reply was cut off) leaves nothing. Some servers
        leave out the opening tag: then all before the closing one is reasoning.

    Examples
    --------
    >>> final_part("<think>A or B? B.</think> The answer is A.")
    'The answer is A.'
    >>> final_part("It fits. <answer>yes</answer>"), final_part("<think>maybe yes, or")
    ('yes', '')
    >>> final_part("a < b, so yes")
    'a < b, so yes'
    """
    if "<" not in text:
        return text
    rest = _without_reasoning(text)
    opened: dict[str, int] = {}
    found = None
    for tag in _ANSWER.finditer(rest):
        name = tag[2].casefold()
        if not tag[1]:
            opened[name] = tag.end()
        elif name in opened:
            found = rest[opened.pop(name) : tag.start()].strip()
    return rest if found is None else found


def _without_reasoning(text: str) -> str:
    """Return the text outside reasoning tags, in one pass over the tags."""
    kept: list[str] = []
    start, inside = 0, False
    for tag in _REASONING.finditer(text):
        if not tag[1] and not inside:
            kept.append(text[start : tag.start()])
            inside = True
        elif tag[1]:
            if not inside:
                kept.clear()  # the opening tag was left out
            start, inside = tag.end(), False
    return "".join(kept if inside else [*kept, text[start:]]).strip()
