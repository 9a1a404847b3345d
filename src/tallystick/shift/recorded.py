"""Answers that a table holds already: failed calls, numbers, and words that no label shares.

Each of these would be counted as a wrong answer, and make an API look worse than it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.clients.statements import is_refusal
from tallystick.data import Data
from tallystick.data.detect.names import tokens
from tallystick.errors import InputError
from tallystick.results.numbers import count
from tallystick.values import Label
from tallystick.values.failed_calls import is_failed_call

__all__ = [
    "failed_replays",
    "pointed_to_compare",
    "refuse_no_shared_label",
    "refuse_numbers",
    "without_failed_calls",
]

_MOST_NUMBERS = 30
"""Different numbers with fractions from which on they are measurements, not labels."""
_MARKS = frozenset({"correct", "right", "success", "passed", "pass", "accurate"})
"""Words in the name of a column that says whether an answer was right."""


def without_failed_calls(
    words: Mapping[str, Sequence[Label]], answers: Sequence[str], *, named: Sequence[Label]
) -> tuple[dict[str, list[Label]], tuple[str, ...]]:
    """Return the columns with failed calls as no answer, and a note for each column that has some.

    Parameters
    ----------
    words
        The columns of labels.
    answers
        Those of them that hold answers; a true label is never a failed call.
    named
        Labels, and words that the caller counts as none of the labels: they stay.

    Examples
    --------
    >>> words, notes = without_failed_calls({"new": ["a", "Error: 429"]}, ["new"], named=["a", "b"])
    >>> words["new"], notes[0][:45]
    (['a', None], "1 of 2 answers in 'new' is a failed call ('Er")
    """
    known = {str(label) for label in named if label is not None}
    found, notes = {name: list(column) for name, column in words.items()}, []
    for name in answers:
        failed = Counter(
            str(word) for word in found[name] if str(word) not in known and is_failed_call(word)
        )
        if not failed:
            continue
        given = sum(word is not None for word in found[name])
        found[name] = [None if str(word) in failed else word for word in found[name]]
        many, shown = failed.total(), ", ".join(repr(text) for text, _ in failed.most_common(3))
        verb = "is a failed call" if many == 1 else "are failed calls"
        token = failed.most_common(1)[0][0]
        notes.append(
            f"{count(many)} of {count(given)} answers in {name!r} {verb} ({shown}): nobody answered"
            " there, so these items are left out. To count them as wrong answers, add --other"
            f" {token!r}"
        )
    return found, tuple(notes)


def failed_replays(
    data: Data, apis: Any, *, named: Sequence[Label]
) -> tuple[frozenset[int], tuple[str, ...]]:
    """Return the rows whose recorded answer, replayed as an API, is a failed call; and notes."""
    lost: set[int] = set()
    notes: list[str] = []
    for api in apis if isinstance(apis, tuple) else ():
        column = api.removeprefix("replay:") if isinstance(api, str) else ""
        if column == api or column not in data.table.columns:
            continue
        cells = data.cells(column)
        kept, more = without_failed_calls(cells, [column], named=named)
        before, after = cells[column], kept[column]
        lost |= {n for n, cell in enumerate(after) if cell is None and before[n] is not None}
        notes += more
    return frozenset(lost), tuple(notes)


def refuse_numbers(data: Data, truth: str) -> None:
    """Refuse measurements: an answer of 0.44 to a true 0.45 is not simply wrong.

    Numbers are measurements where most of many different ones have fractions.
    """
    numbers = [_number(cell) for cell in data.cells(truth)[truth] if cell is not None]
    known = {number for number in numbers if number is not None}
    fractions = sum(number != np.floor(number) for number in known)
    if len(known) <= _MOST_NUMBERS or 2 * fractions < len(known):
        return
    if sum(number is not None for number in numbers) < 0.9 * len(numbers):
        return
    raise InputError(
        f"{data.source}: column {truth!r} holds {count(len(known))} different numbers, such as"
        f" {min(known):g} and {max(known):g}: shift compares labels. Cut the numbers into classes"
        " first; or write how far each answer is from the truth into two columns, old_error and"
        " new_error, and compare those (tallystick compare FILE)"
    )


def _number(cell: Label) -> float | None:
    try:
        value = float(str(cell))
    except ValueError:
        return None
    return value if np.isfinite(value) else None


def refuse_no_shared_label(
    new: str, texts: Sequence[str | None], codes: NDArray[np.intp], labels: Sequence[str]
) -> None:
    """Refuse new answers of which not one is a label, and that are not refusals either.

    Parameters
    ----------
    new
        The column of new answers.
    texts, codes
        The answers, and their places among the labels.
    labels
        The labels.
    """
    none = len(labels)
    if not len(codes) or bool((codes != none).any()):
        return
    odd = Counter(text for text in texts if text and not is_refusal(text))
    if 2 * odd.total() < len(codes):
        return
    shown = ", ".join(repr(text[:40]) for text, _ in odd.most_common(3))
    raise InputError(
        f"no answer in {new!r} is one of the labels: it holds {shown}, and the labels are"
        f" {', '.join(map(repr, labels[:5]))}{' …' if len(labels) > 5 else ''}. If they mean the"
        " same, write them alike; if an answer is a sentence, say how it is read (--answer words)"
    )


def pointed_to_compare(columns: Sequence[str]) -> str:
    """Return where to go with columns that say right or wrong; empty if there are no two such.

    >>> pointed_to_compare(["id", "old_correct", "new_correct"])
    '. Columns that say whether an answer was right (old_correct, new_correct) are compared by: tallystick compare FILE --models old_correct,new_correct'
    >>> pointed_to_compare(["id", "old", "new"])
    ''
    """
    marks = [name for name in columns if set(tokens(name)) & _MARKS]
    if len(marks) < 2:
        return ""
    shown = marks[:4]
    return (
        f". Columns that say whether an answer was right ({', '.join(shown)}) are compared by:"
        f" tallystick compare FILE --models {','.join(shown)}"
    )
