"""Grades that are words of the user's own, such as safe and unsafe, or poor, fair and good.

Which of two words is the good one cannot be guessed: *flagged* may be what is wanted of a filter.
The user lists the words once, the worst first (``--labels unsafe,safe``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tallystick.score.grades import Scale, number_of
from tallystick.values import Label, as_pass_fail
from tallystick.values.words import as_word

__all__ = ["word_scale", "word_worth"]


def word_worth(order: Sequence[Label]) -> Mapping[str, float]:
    """Return what each word of *order* is worth: 0 and 1 for two, else 1, 2, 3, … of a scale.

    Words for pass and fail have their own meaning, in any order, and numbers theirs; with one of
    them in the list nothing is said here.

    Examples
    --------
    >>> dict(word_worth(["unsafe", "Safe"])), dict(word_worth(["poor", "fair", "good"]))
    ({'unsafe': 0.0, 'safe': 1.0}, {'poor': 1.0, 'fair': 2.0, 'good': 3.0})
    >>> dict(word_worth(["pass", "fail"])), dict(word_worth(["1", "2"])), dict(word_worth(["bad"]))
    ({}, {}, {})
    """
    words = [as_word(label) for label in order]
    known = as_pass_fail(order) is not None or any(number_of(label) is not None for label in order)
    if len(words) < 2 or known or None in words or len(set(words)) < len(words):
        return {}
    first = 0 if len(words) == 2 else 1
    return {str(word): float(first + place) for place, word in enumerate(words)}


def word_scale(order: Sequence[Label]) -> Scale | None:
    """Return the scale of three words or more, None for two, which are fail and pass.

    >>> word_scale(["poor", "fair", "good"]), word_scale(["unsafe", "safe"])
    ((1.0, 3.0), None)
    """
    worth = word_worth(order)
    return (1.0, float(len(worth))) if len(worth) > 2 else None
