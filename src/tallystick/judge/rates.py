"""True positive and true negative rates by their usual names, where there are two labels."""

from __future__ import annotations

from dataclasses import replace

from tallystick.judge.ballots import Ballots
from tallystick.judge.result import JudgeResult
from tallystick.values.label import Label
from tallystick.values.words import PASS_FAIL, as_word

__all__ = ["positive_of", "with_rates"]


def positive_of(classes: tuple[Label, ...]) -> int | None:
    """Return which of two labels is the positive one; None for more labels.

    Words such as pass, yes and good decide; else the last label in canonical order, so that 1 is
    positive and 0 is not.

    >>> positive_of(("fail", "pass")), positive_of(("bad", "good")), positive_of((0, 1))
    (1, 1, 1)
    >>> positive_of(("correct", "wrong")), positive_of(("a", "b", "c")) is None
    (0, True)
    """
    if len(classes) != 2:
        return None
    words = [as_word(label) for label in classes]
    for family in PASS_FAIL:
        values = [None if word is None else family.get(word) for word in words]
        if values == [1.0, 0.0]:
            return 0
        if values == [0.0, 1.0]:
            return 1
    return 1


def with_rates(result: JudgeResult, ballots: Ballots) -> JudgeResult:
    """Return the result with the true positive and negative rates of every judge."""
    place = positive_of(ballots.classes)
    if place is None:
        return result
    positive, negative = ballots.keys[place], ballots.keys[1 - place]
    scores = tuple(
        replace(score, tpr=score.per_label.get(positive), tnr=score.per_label.get(negative))
        for score in result.judges
    )
    return replace(result, judges=scores, positive=positive)
