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

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick.errors import InputError
from tallystick.sampling.labels.consensus import (
    AnyInts,
    Consensus,
    Floats,
    Ints,
    consensus,
    patterns_of,
)
from tallystick.sampling.labels.contest import AnyContest
from tallystick.sampling.labels.draws import SpreadRule, class_spread
from tallystick.sampling.labels.strata import LabelStrata, vote_strata
from tallystick.values import Label

__all__ = ["LabelTask", "Measure", "Value", "class_measure", "votes_task_strata"]

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
    disagree
        Whether the votes on each unit differ, for labels that were drawn among disagreements.
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
    contest: AnyContest | None = None
    passing: int | None = None
    epsilon: float = 0.02
    disagree: ArrayLike | None = None
    ask: str = "What is the right answer?"
    notes: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        if self.rows.ndim != 2 or self.rows.shape[0] != self.strata.of.size:
            raise InputError(
                f"rows must be units x asks for {self.strata.of.size} units, got {self.rows.shape}"
            )
        if not self.classes and self.scale is None:
            raise InputError("a task needs the classes of its answers, or their scale")

    @property
    def spread(self) -> SpreadRule:
        """The rule that makes spreads of labels: the given one, or by class."""
        if self.rule is not None:
            return self.rule
        return partial(class_spread, n_classes=max(len(self.classes), 2))


def votes_task_strata(
    votes: Ints,
    n_classes: int,
    given: Ints | None = None,
    *,
    counts: ArrayLike | None = None,
) -> tuple[LabelStrata, Floats]:
    """Return the strata of all items by their votes, and the posterior of each item.

    Parameters
    ----------
    votes
        Items x judges of class codes, -1 for no vote. No judges at all make one stratum.
    n_classes
        How many classes there are.
    given
        Strata that were fixed before: a session keeps those that it was drawn from.
    counts
        How many items each row of *votes* stands for; one by default.

    Examples
    --------
    >>> strata, posterior = votes_task_strata(np.array([[0, 0], [1, 1], [0, 1]] * 20), 2)
    >>> len(strata), posterior[:3, 1].tolist()
    (3, [0.0, 1.0, 0.5])
    """
    if votes.shape[1] == 0:
        posterior = np.full((votes.shape[0], n_classes), 1 / n_classes)
        one = np.zeros(votes.shape[0], np.int64)
        strata = LabelStrata(of=one, side=np.zeros(1, np.int64), guess=posterior[:1])
    else:
        patterns = patterns_of(votes, n_classes=n_classes, counts=counts)
        believed: Consensus = consensus(patterns, n_classes=n_classes)
        posterior = believed.posterior[patterns.place]
        strata = vote_strata(votes, n_classes=n_classes, counts=counts)
    if given is None:
        return strata, posterior
    inside = given >= 0
    count = int(given.max()) + 1
    sizes = np.maximum(np.bincount(given[inside], minlength=count), 1)
    mean = np.column_stack(
        [
            np.bincount(given[inside], weights=p[inside], minlength=count) / sizes
            for p in posterior.T
        ]
    )
    guess = np.clip(mean, 0.02, 0.98)
    return LabelStrata(of=given, side=guess.argmax(axis=1), guess=guess), posterior


def class_measure(
    name: str, code: int, strata: LabelStrata, *, limit: float | None = None
) -> Measure:
    """Return the share of one class.

    >>> strata, _ = votes_task_strata(np.array([[0], [1]] * 20), 2)
    >>> measure = class_measure("pass", 1, strata)
    >>> measure.value(np.array([0, 1]), np.array([[1.0], [0.0]])).tolist()
    [1.0, 0.0]
    """

    def value(units: Ints, answers: Floats) -> Floats:
        return np.asarray(answers[:, 0] == code, dtype=np.float64)

    return Measure(name=name, value=value, guess=strata.guess[:, code], limit=limit)
