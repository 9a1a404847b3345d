"""Words in the cells of an attempt log: fooled or not, valid or not, still open."""

from __future__ import annotations

from collections.abc import Iterable

from tallystick.values import Label
from tallystick.values.words import as_word, is_no_answer

__all__ = [
    "FOOLED",
    "INVALID",
    "NO",
    "NOT_FOOLED",
    "OPEN",
    "RIGHT",
    "VALID",
    "YES",
    "all_of",
    "say_fooled",
]


def _words(text: str) -> frozenset[str]:
    return frozenset(word.strip() for word in text.split(","))


YES, NO = _words("1,1.0,true,yes,y,t"), _words("0,0.0,false,no,n,f")
FOOLED = YES | _words(
    "fooled,success,successful,succeeded,wrong,incorrect,jailbroken,jailbreak,hit,unsafe,harmful,"
    "complied,compliance,bypassed,breached,violation,model fooled,attack success,attack succeeded"
)
NOT_FOOLED = NO | _words(
    "failure,failed,fail,right,correct,safe,refused,refusal,blocked,harmless,unsuccessful,passed,"
    "pass,miss,not fooled,no hit,model not fooled,not jailbroken,attack failed,attack failure"
)
VALID = YES | _words(
    "valid,correct,confirmed,verified,agree,agreed,agrees,accepted,approved,accept,approve,pass,"
    "passed,right,ok"
)
RIGHT = VALID | _words("safe,refused,refusal,blocked")
INVALID = NO | _words(
    "invalid,incorrect,wrong,rejected,reject,denied,disagree,disagreed,disagrees,fail,failed"
)
OPEN = _words(
    "flagged,flag,unsure,pending,unverified,unvalidated,open,unchecked,unknown,skipped,queued,"
    "not validated,not checked,not verified"
)
_FOOLING = _words(
    "fooled,not fooled,jailbroken,jailbreak,not jailbroken,bypassed,breached,model fooled,"
    "model not fooled,attack success,attack succeeded,attack failed,attack failure"
)
"""Words that say fooled or not, whatever their column is called."""


def all_of(cells: Iterable[Label], words: frozenset[str]) -> bool:
    """Say whether all cells that hold something are one of *words*.

    >>> all_of(["Valid", "invalid", None], VALID | INVALID), all_of(["maybe"], VALID | INVALID)
    (True, False)
    """
    held = [cell for cell in cells if cell is not None and not is_no_answer(cell)]
    return bool(held) and all((as_word(cell) or str(cell)) in words for cell in held)


def say_fooled(cells: Iterable[Label]) -> bool:
    """Say whether cells tell who was fooled, in words that mean nothing else.

    >>> say_fooled(["fooled", "not fooled"]), say_fooled(["yes", "no"]), say_fooled(["safe"])
    (True, False, False)
    """
    held = list(cells)
    named = any((as_word(cell) or "") in _FOOLING for cell in held)
    return named and all_of(held, FOOLED | NOT_FOOLED | OPEN)
