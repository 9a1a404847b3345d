r"""What a person should label for a question: units, strata, the value of a label, and guesses.

A capability makes a `LabelTask` from its data; the engine of ``label`` does the rest and knows
nothing of judges, models or systems. Every number that a task wants to know is a `Measure`: the
mean over all units of a value that depends on the unit and its label,

.. math:: \theta = a + b \cdot \frac{1}{N} \sum_i v_i(\ell_i)   \tag{W11}

so the same draws serve all measures of a task at once. A judge who voted on n of N units has value
0 outside its votes and b = N/n; the lead of one classifier on M of N items where two disagree has
a = -M/N and b = 2M/N for values 1, 0 and 1/2.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import product
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError
from tallystick.sampling.contest import Contest
from tallystick.sampling.draws import (
    DrawJournal,
    LabelStrata,
    SpreadRule,
    class_spread,
    strata_of,
    stratum_means,
)
from tallystick.sampling.votes import AnyInts, Floats, Ints, consensus
from tallystick.table import Label, identity, spelling
from tallystick.table.data import RowPatterns
from tallystick.table.session import Session

if TYPE_CHECKING:
    from tallystick.sampling.planned import Estimator

Value: TypeAlias = Callable[[Ints, Floats], Floats]
"""Takes units, and their answers (units x asks of one unit); returns one value per unit."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Measure:
    """One number that the labels estimate, as in (W11).

    Parameters
    ----------
    name
        What it is the number of: a judge, a system, a pair.
    value
        v, from units and answers. An answer is the code of a class, or a grade in [0, 1].
    guess
        The mean value that the votes lead one to expect in each stratum.
    cell
        The cell of every unit for the planned interval, -1 for units whose value is always 0; None
        for the strata themselves. Cells may cut strata by anything known of all units.
    counts
        Which strata count, where the value is always 0 in the others: then the strata that count
        are the cells, and no unit needs a cell of its own.
    bounds
        The least and the largest value.
    offset, scale
        a and b of (W11).
    limit
        The claim to be settled: whether the number is above or below this. None for no claim.
    """

    name: str
    value: Value
    guess: Floats
    cell: AnyInts | None = None
    counts: NDArray[np.bool_] | None = None
    bounds: tuple[float, float] = (0.0, 1.0)
    offset: float = 0.0
    scale: float = 1.0
    limit: float | None = None

    def shown(self, mean: float) -> float:
        """Return the number that belongs to a mean value over all units (W11)."""
        return self.offset + self.scale * mean

    def cells(self, strata: LabelStrata, units: Ints) -> Ints:
        """Return the cell of each of some units, -1 where the value is always 0."""
        if self.cell is not None:
            return self.cell[units].astype(np.int64)
        of = strata.of[units].astype(np.int64)
        return of if self.counts is None else np.where(self.counts[of], of, -1)

    def cell_sizes(self, strata: LabelStrata) -> Ints:
        """Return how many units each cell holds."""
        if self.cell is not None:
            return self._cell_sizes
        return strata.sizes if self.counts is None else strata.sizes * self.counts

    @cached_property
    def _cell_sizes(self) -> Ints:
        # Counted once: every label asks for it, and there may be millions of units.
        cell = self.cell
        assert cell is not None
        return np.bincount(cell[cell >= 0], minlength=int(cell.max(initial=-1)) + 1)

    def mean(self, shown: float) -> float:
        """Return the mean value over all units that belongs to a number."""
        return (shown - self.offset) / self.scale


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelTask:
    """Everything that the engine needs to know of a question.

    Parameters
    ----------
    claim
        ``share`` (each measure to a precision, or its limit), ``classifiers`` or ``judged`` (which
        of two is better), ``best-of`` (which of k is the best, within *epsilon*).
    classes
        The answers that a person can give; empty where answers are grades on *scale*.
    strata
        The stratum of every unit, from votes only; -1 for units that need no label.
    rows
        Units x asks: the rows of the table that a person labels for each unit.
    measures
        The numbers that are wanted.
    columns
        The columns that all this depends on.
    rule
        How labels become spreads; the default spreads by class.
    scale
        The least and largest grade, where answers are numbers.
    names
        Who competes, for the claims on two or more.
    contest, epsilon
        For ``best-of``.
    passing
        For ``best-of`` among systems: the place of the class that is a pass. None for models, whose
        answers are compared with the label.
    shared
        The estimator that all verbs share, for these measures; None where it does not answer them.
    believed
        For grades: what the votes expect of each pattern, on [0, 1], the pattern of each unit, and
        by how much a person differs from it if judges err on their own.
    together
        Items x measures: the rows that belong to one item, where every row is a unit of its own and
        people read an item for all systems at once. None where rows have nothing in common.
    ask
        What a person is asked, if nobody says otherwise.
    """

    claim: Literal["share", "classifiers", "judged", "best-of"]
    classes: tuple[Label, ...]
    strata: LabelStrata
    rows: AnyInts
    measures: tuple[Measure, ...]
    columns: tuple[str, ...]
    rule: SpreadRule | None = None
    scale: tuple[float, float] | None = None
    names: tuple[str, ...] = ()
    contest: Contest | None = None
    passing: int | None = None
    epsilon: float = 0.02
    shared: Estimator | None = None
    believed: tuple[Floats, AnyInts, float] | None = None
    together: AnyInts | None = None
    ask: str = "What is the right answer?"
    notes: tuple[str, ...] = field(default=())

    @cached_property
    def own_sizes(self) -> tuple[Ints, ...]:
        """For each measure, how many units of each stratum count for it."""
        found = []
        for one in self.measures:
            if one.cell is None:
                found.append(one.cell_sizes(self.strata))
            else:
                inside = (one.cell >= 0) & (self.strata.of >= 0)
                of = self.strata.of[inside]
                found.append(np.bincount(of, minlength=len(self.strata)))
        return tuple(found)

    @property
    def spread(self) -> SpreadRule:
        """The rule that makes spreads of labels: the given one, or by class."""
        if self.rule is not None:
            return self.rule
        return partial(class_spread, n_classes=max(len(self.classes), 2))


def votes_task_strata(
    votes: RowPatterns, given: AnyInts | None = None
) -> tuple[LabelStrata, Floats]:
    """Return the strata of all items by their votes, and the posterior of each pattern of votes.

    *given* are strata that were fixed before: a session keeps those that it was drawn from.

    Examples
    --------
    >>> from tallystick.sampling.votes import patterns_of
    >>> votes = patterns_of(np.array([[0, 0], [1, 1], [0, 1]] * 20), n_classes=2)
    >>> strata, posterior = votes_task_strata(votes)
    >>> len(strata), posterior[votes.place[:3], 1].tolist()
    (3, [0.0, 1.0, 0.5])
    """
    believed = consensus(votes)
    posterior = believed.posterior
    if given is None:
        return strata_of(votes, believed), posterior
    empty = LabelStrata(
        of=given,
        side=np.zeros(int(given.max()) + 1, np.int64),
        guess=np.zeros((given.max() + 1, 1)),
    )
    guess = np.column_stack([stratum_means(empty, p[votes.place]) for p in posterior.T])
    return LabelStrata(of=given, side=guess.argmax(axis=1), guess=guess), posterior


def class_measure(
    name: str, code: int, strata: LabelStrata, *, limit: float | None = None
) -> Measure:
    """Return the share of one class.

    >>> from tallystick.sampling.votes import patterns_of
    >>> strata, _ = votes_task_strata(patterns_of(np.array([[0], [1]] * 20), n_classes=2))
    >>> measure = class_measure("pass", 1, strata)
    >>> measure.value(np.array([0, 1]), np.array([[1.0], [0.0]])).tolist()
    [1.0, 0.0]
    """

    def value(units: Ints, answers: Floats) -> Floats:
        return np.asarray(answers[:, 0] == code, dtype=np.float64)

    return Measure(name=name, value=value, guess=strata.guess[:, code], limit=limit)


def random_sample(session: Session, *, by_system: bool = False) -> bool:
    """Say whether the labels of a session can be read like any other random ones.

    Not if it drew by another rule, or if it has skips, open disagreements or labels of unknown
    origin. Sessions of ``score`` stop drawing for systems that are known well enough, so theirs are
    random inside each system only.
    """
    head, last = session.head, session.readable()
    if not head.random or session.apart or not last:
        return False
    if head.question == "score" and not by_system:
        return False
    return all(len(session.labels(one.number)) == 1 for one in session.asks if one.draw < last)


# From what people answered to the values of draws, each skip counted both ways.


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
    raise _no_answer(task, label)


def _no_answer(task: LabelTask, given: Label) -> InputError:
    shown = ", ".join(map(str, task.classes[:12]))
    return InputError(f"an answer must be one of {shown}, or skip, got {given!r}")


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
        raise _no_answer(task, text)
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
    spreads = np.array([one.spread for one in batches], dtype=np.float64)
    return DrawJournal(
        sizes=strata.sizes,
        item=np.array([unit for one in batches for unit in one.units], dtype=np.int64),
        stratum=np.array([h for one in batches for h in one.strata], dtype=np.int64),
        q=np.array([p for one in batches for p in one.probability], dtype=np.float64),
        batch=np.array([b for b, one in enumerate(batches) for _ in one.units], dtype=np.int64),
        spreads=spreads.reshape(len(batches), strata.sizes.size),
        half_width=session.head.target,
    )
