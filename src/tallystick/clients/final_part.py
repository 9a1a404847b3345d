"""The part of a reply that is its answer: without the reasoning, and inside the answer's own tags.

Models that reason write ``<think>…</think>`` first, and prompts often ask for
``<answer>…</answer>``. A label inside the reasoning is no answer.
"""

from __future__ import annotations

import re

__all__ = ["final_part"]

_REASONING = r"(?:think|thinking|thought|thoughts|reasoning|reason|scratchpad|analysis|reflection)"
_BLOCK = re.compile(rf"<({_REASONING})\b[^>]*>.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
_CLOSED = re.compile(rf"^.*</{_REASONING}\s*>", re.DOTALL | re.IGNORECASE)
_OPEN = re.compile(rf"<{_REASONING}\b[^>]*>.*$", re.DOTALL | re.IGNORECASE)
_ANSWER = re.compile(
    r"<((?:final[_-]?)?(?:answer|verdict|label|rating|score|grade|decision|choice|result|output))\b"
    r"[^>]*>(.*?)</\1\s*>",
    re.DOTALL | re.IGNORECASE,
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
    rest = _OPEN.sub("", _CLOSED.sub("", _BLOCK.sub("", text))).strip()
    found = _ANSWER.findall(rest)
    return str(found[-1][1]).strip() if found else rest
