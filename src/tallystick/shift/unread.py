"""What answers that could not be read as a label may hide, and what that does to an interval."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tallystick.clients.statements import is_refusal
from tallystick.results import Interval
from tallystick.sampling import FAILED
from tallystick.shift.verdict import unread_verdict
from tallystick.shift.verdict_notes import unread_warnings, without_other

if TYPE_CHECKING:
    from tallystick.sampling import Strata
    from tallystick.shift.assess import Answers
    from tallystick.shift.items import Items
    from tallystick.shift.result import Change, ShiftResult

__all__ = [
    "allow_unread",
    "allow_unread_flips",
    "failed_share",
    "may_hide_label",
    "unclear_answers",
    "unread_count",
    "wider",
    "with_unread",
]

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
Ends = tuple[FloatArray, FloatArray]


def may_hide_label(text: str, labels: Sequence[str]) -> bool:
    """Tell whether *text* is no label itself, but names one: whoever reads it would see an answer.

    A refusal names no answer, and another word (a label that is never true) is simply wrong.

    >>> may_hide_label("The answer is (C).", ["A", "B", "C"]), may_hide_label("D", ["A", "B", "C"])
    (True, False)
    >>> may_hide_label("I'm sorry, but I can't choose between A and B.", ["A", "B"])
    False
    >>> may_hide_label("0.5", ["0", "1"])
    False
    """
    return bool(_names(tuple(labels)).search(text)) and not is_refusal(text)


@lru_cache(maxsize=8)
def _names(labels: tuple[str, ...]) -> re.Pattern[str]:
    """Return what finds a label that stands by itself: the 1 of "grade 1", not that of "0.1"."""
    longest_first = sorted(labels, key=len, reverse=True)
    some = "|".join(re.escape(label) for label in longest_first)
    return re.compile(rf"(?<![\w.])(?:{some})(?!\w|[.,]\d)", re.IGNORECASE)


def unclear_answers(
    texts: Sequence[str | None], codes: NDArray[np.intp], labels: Sequence[str]
) -> BoolArray:
    """Return which answers were read as none of the labels although they may hold one."""
    none = len(labels)
    return np.array(
        [
            code == none and text is not None and may_hide_label(text, labels)
            for text, code in zip(texts, codes.tolist(), strict=True)
        ],
        dtype=bool,
    )


def unread_count(items: Items, answers: Answers) -> int:
    """Return how many answers, old and new, may hold a label that was not read."""
    parts = (items.unclear, answers.unclear)
    return sum(int(part.sum()) for part in parts if part is not None)


def allow_unread(change: Change, items: Items, strata: Strata, answers: Answers) -> Change:
    """Widen the interval of a change of accuracy by what unread answers may hide.

    The estimate counts them as wrong. Each may be right: then a new one adds its share of all items
    to the change, and an old one takes its share away. Where nothing is unclear nothing changes.

    Parameters
    ----------
    change
        Of accuracy.
    items, strata, answers
        What was asked, in the strata that were used.
    """
    before, after = _shares(items, strata, answers)
    return wider(change, below=before.sum(), above=after.sum(), least=-1.0)


def allow_unread_flips(change: Change, items: Items, strata: Strata, answers: Answers) -> Change:
    """Widen the interval of a share of changed answers: what was not read may be the old answer."""
    before, after = _shares(items, strata, answers)
    return wider(change, below=before.sum() + after.sum(), above=0.0, least=0.0)


def allow_unread_cells(ends: Ends, items: Items, strata: Strata, answers: Answers) -> Ends:
    """Widen the intervals of all cells: an answer among "none of the labels" may be any label."""
    before, after = _shares(items, strata, answers)
    low, high = ends[0].copy(), ends[1].copy()
    low[:, :-1] -= before[:, None]
    high[:, :-1] += after[:, None]
    low[:, -1] -= after
    high[:, -1] += before
    return low, high


def _shares(items: Items, strata: Strata, answers: Answers) -> tuple[FloatArray, FloatArray]:
    """Return the unclear share of all items by true label: of the old, then the new answers."""
    before, after = np.zeros(len(items.labels)), np.zeros(len(items.labels))
    if items.unclear is not None:
        np.add.at(before, items.truth[items.unclear], 1 / len(items))
    if answers.unclear is not None:
        place = strata.of[answers.asked]
        number = np.bincount(place, minlength=len(strata))
        share = strata.shares[place] / number[place]
        unclear = answers.unclear
        np.add.at(after, items.truth[answers.asked[unclear]], share[unclear])
    return before, after


def failed_share(
    items: Items, strata: Strata, answers: Answers, *, label: str | None = None
) -> float:
    """Return the share of all items, or of those of one true label, whose calls failed."""
    place = strata.of[answers.asked]
    number = np.bincount(place, minlength=len(strata))
    share = strata.shares[place] / number[place]
    failed = answers.codes == FAILED
    if label is None:
        return float(share[failed].sum())
    code = items.labels.index(label)
    return float(share[failed & (items.truth[answers.asked] == code)].sum() / items.mass[code])


def wider(
    change: Change,
    *,
    below: float,
    above: float,
    least: float,
    why: str = "answers that were not read may be labels",
) -> Change:
    """Widen an interval by what is not known, down to *least* and up to 1."""
    interval = change.interval
    if interval is None or not (below or above):
        return change
    wider = Interval(
        max(interval.low - below, least),
        min(interval.high + above, 1.0),
        level=interval.level,
        method=f"{interval.method}; {why}",
    )
    return replace(change, interval=wider)


def with_unread(
    result: ShiftResult, texts: Sequence[str], *, answers: int, cut: int = 0
) -> ShiftResult:
    """Warn of the answers from which no label was read; if they are most, nothing is decided.

    Parameters
    ----------
    result, answers
        The assessment, and how many answers there were.
    texts
        Those that were not read.
    cut
        How many more were cut off, of which there is a warning of its own.
    """
    examples = unread_warnings(texts, answers=answers)
    # A warning with examples says all that the one without them says.
    others = without_other(result.warnings) if examples else result.warnings
    warned = replace(result, warnings=(*others, *examples))
    nothing = unread_verdict(len(texts) + cut, answers=answers)
    if nothing is None:
        return warned
    return replace(warned, decision="undecided", needed=None, verdict=nothing, sentences=None)
