"""Which of two classes is the positive one, where nobody says so.

A score of ``p_fraud`` is high for fraud, whatever comes last in the alphabet.
"""

from __future__ import annotations

from collections.abc import Sequence

from tallystick.data.detect.names import tokens
from tallystick.values import Label, as_pass_fail
from tallystick.values.words import as_word

__all__ = ["positive_class"]

_POSITIVE = frozenset(
    (
        "positive",
        "pos",
        "spam",
        "toxic",
        "fraud",
        "fraudulent",
        "abnormal",
        "anomaly",
        "hate",
        "sick",
    )
)
"""Words that are the positive class of a test, whatever the other is called."""


def positive_class(classes: Sequence[Label], score: str | None) -> Label:
    """Return the positive one of two classes; None where neither names nor words say it.

    Parameters
    ----------
    classes
        The classes, in order.
    score
        The column of scores: a class that it names is the one that a high score means.

    Examples
    --------
    >>> positive_class(["fraud", "legit"], "p_fraud"), positive_class([0, 1], "score")
    ('fraud', 1)
    >>> positive_class(["ham", "spam"], None), positive_class(["no", "yes"], None)
    ('spam', 'yes')
    >>> positive_class(["cat", "dog"], "score") is None
    True
    """
    if len(classes) != 2:
        return None
    if score is not None:
        words = set(tokens(score))
        named = [label for label in classes if set(tokens(str(label))) & words]
        if len(named) == 1 and not str(named[0]).isdigit():
            return named[0]
    marks = as_pass_fail(classes)
    if marks is not None and set(marks.values()) == {0.0, 1.0}:
        return next(label for label in classes if marks[label] == 1.0)
    if {str(label) for label in classes} in ({"0", "1"}, {"-1", "1"}):
        return next(label for label in classes if str(label) == "1")
    known = [label for label in classes if as_word(label) in _POSITIVE]
    return known[0] if len(known) == 1 else None
