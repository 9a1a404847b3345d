"""From what people answered to the values of draws, each skip counted both ways."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from tallystick.data.session import Session
from tallystick.errors import InputError
from tallystick.sampling.labels.consensus import Floats, Ints
from tallystick.sampling.labels.journal import DrawJournal
from tallystick.sampling.labels.strata import LabelStrata
from tallystick.sampling.labels.task import LabelTask, Measure
from tallystick.values import Label, identity, spelling

__all__ = [
    "Read",
    "answer_code",
    "apart_answers",
    "journal_of",
    "label_of",
    "measured",
    "read_answers",
]


@dataclass(frozen=True, kw_only=True, eq=False)
class Read:
    """The draws that may be read, in draw order.

    Parameters
    ----------
    units
        The unit of each draw.
    answers
        Draws x asks x 2: the code of each answer; the two differ where two readers disagree and no
        third has read. NaN where it was skipped, or not asked.
    skipped
        Which draws have an ask that was skipped.
    unresolved
        How many asks have two answers.
    """

    units: Ints
    answers: Floats
    skipped: NDArray[np.bool_]
    unresolved: int

    @property
    def n(self) -> int:
        """How many draws were read."""
        return int(self.units.size)


def answer_code(task: LabelTask, label: Label) -> float:
    """Return the code of a label: its place among the classes, or the grade on [0, 1].

    A label that the task does not know raises `InputError`.
    """
    if task.scale is not None:
        low, high = task.scale
        try:
            grade = float(label)  # type: ignore[arg-type]  # text of a number is fine
        except (TypeError, ValueError):
            grade = np.nan
        if not low <= grade <= high:
            raise InputError(f"an answer must be a number from {low:g} to {high:g}, got {label!r}")
        return (grade - low) / (high - low)
    for place, one in enumerate(task.classes):
        if identity(one) == identity(label):
            return float(place)
    shown = ", ".join(map(str, task.classes[:12]))
    raise InputError(f"an answer must be one of {shown}, got {label!r}")


def label_of(task: LabelTask, text: Label) -> Label:
    """Return the label that a text stands for, in any case; anything else raises `InputError`.

    >>> from types import SimpleNamespace
    >>> label_of(SimpleNamespace(scale=None, classes=(0, 1)), "1"), label_of(
    ...     SimpleNamespace(scale=None, classes=("fail", "pass")), " PASS"
    ... )
    (1, 'pass')
    """
    word = str(text).strip()
    if task.scale is not None:
        word = re.sub(r"^([+-]?\d+),(\d+)$", r"\1.\2", word)  # half the world writes 4,5
        answer_code(task, word)
        return float(word)
    found = [one for one in task.classes if str(one) == word]
    found = found or [one for one in task.classes if str(one).lower() == word.lower()]
    # pandas writes a column of integers with a gap as 1.0: it is the class 1.
    found = found or [one for one in task.classes if spelling(one) == spelling(word)]
    if len(found) != 1:
        shown = ", ".join(map(str, task.classes[:12]))
        raise InputError(f"an answer must be one of {shown}, or skip, got {text!r}")
    return found[0]


def read_answers(session: Session, task: LabelTask) -> Read:
    """Return what may be read of a session: all draws before the first that is not done."""
    n, parts = session.readable(), task.rows.shape[1]
    drawn = [unit for batch in session.batches for unit in batch.units]
    answers = np.full((n, parts, 2), np.nan)
    skipped = np.zeros(n, np.bool_)
    unresolved = 0
    for ask in session.asks:
        if ask.draw >= n:
            break
        labels = session.labels(ask.number)
        # A unit need not be asked about in all its rows: systems leave a contest.
        place = int((task.rows[drawn[ask.draw]] == ask.row).argmax()) if parts > 1 else 0
        if not labels:
            skipped[ask.draw] = True
            continue
        unresolved += len(labels) > 1
        answers[ask.draw, place] = [answer_code(task, labels[0]), answer_code(task, labels[-1])]
    return Read(
        units=np.array(drawn[:n], dtype=np.int64),
        answers=answers,
        skipped=skipped,
        unresolved=unresolved,
    )


def measured(read: Read, measure: Measure) -> tuple[Floats, Floats]:
    """Return the values of a measure with skips at the least and at the largest value.

    Where readers disagree, the value is the mean of what their answers are worth: the average
    reader's.
    """
    parts = read.answers.shape[1]
    worth = np.zeros(read.n)
    known = np.where(np.isnan(read.answers), 0.0, read.answers)
    for choice in product((0, 1), repeat=parts):
        picked = known[:, np.arange(parts), np.array(choice)]
        worth += measure.value(read.units, picked)
    worth /= 2**parts
    low, high = (np.where(read.skipped, end, worth) for end in measure.bounds)
    return low, high


def apart_answers(session: Session, task: LabelTask) -> Read:
    """Return the labels that are counted apart, as answers."""
    units = np.flatnonzero(np.isin(task.rows[:, 0], list(session.apart))) if session.apart else ()
    rows = {int(task.rows[unit, 0]): int(unit) for unit in units}
    known = [(rows[row], label) for row, label in session.apart.items() if row in rows]
    codes = np.array([answer_code(task, label) for _, label in known], dtype=np.float64)
    return Read(
        units=np.array([unit for unit, _ in known], dtype=np.int64),
        answers=np.repeat(codes[:, None, None], 2, axis=2),
        skipped=np.zeros(len(known), np.bool_),
        unresolved=0,
    )


def journal_of(session: Session, strata: LabelStrata) -> DrawJournal:
    """Return the journal of a session's draws."""
    batches = session.batches
    sizes = strata.sizes
    joined = {
        "item": [unit for batch in batches for unit in batch.units],
        "stratum": [h for batch in batches for h in batch.strata],
        "batch": [b for b, batch in enumerate(batches) for _ in batch.units],
    }
    whole = {name: np.array(column, dtype=np.int64) for name, column in joined.items()}
    q = np.array([p for batch in batches for p in batch.probability], dtype=np.float64)
    spreads = np.array([batch.spread for batch in batches], dtype=np.float64)
    return DrawJournal(
        sizes=sizes,
        q=q,
        spreads=spreads.reshape(len(batches), sizes.size),
        half_width=session.head.target,
        **whole,
    )
