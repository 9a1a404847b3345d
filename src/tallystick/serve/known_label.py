"""Another spelling of a label that a column has: kept as that label, or refused.

One program that writes ``1.0`` where the others write ``1`` would give a column two labels, and no
question could be answered from it any more (`tallystick.values.check_vocabulary`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from tallystick.values import spelling

__all__ = ["is_doubtful", "known_label"]

_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,14})(\.0+)?")


def known_label(word: str, labels: Iterable[str]) -> str | None:
    """Return the label among *labels* that *word* spells, itself where it is there; None if none.

    >>> known_label("1.0", ["0", "1"]), known_label("PASS", ["Pass", "PASS"]), known_label("2", ["1"])
    ('1', 'PASS', None)
    """
    meaning = spelling(word)
    same = [one for one in labels if spelling(one) == meaning]
    if not same:
        return None
    return word if word in same else same[0]


def is_doubtful(word: str, label: str) -> bool:
    """Say whether two spellings of one number may be meant as two labels.

    Capitals, blanks and the ``.0`` that a program adds to a whole number are no difference.
    Versions (1.1 and 1.10), names (7 and 007), and true beside 1 may be one.

    >>> [is_doubtful(*pair) for pair in (("True", "true"), ("1.0", "1"), ("1.10", "1.1"), ("true", "1"))]
    [False, False, True, True]
    """
    if not isinstance(spelling(word), str) and word.casefold() != label.casefold():
        return not (_WHOLE.fullmatch(word) and _WHOLE.fullmatch(label))
    return False
