"""What to label in order to score systems whose outputs judges have graded.

Made from the roles of the table alone (system, judges, item, truth), so it needs nothing of the
capability ``score``; once that has a `labelling` hook of its own, the registry prefers it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tallystick.data import Data, Question, option
from tallystick.errors import InputError
from tallystick.sampling.labels.coded_votes import CodedVotes, coded_votes, pass_code
from tallystick.sampling.labels.consensus import Floats, Ints
from tallystick.sampling.labels.difference import gap_spread, gap_strata
from tallystick.sampling.labels.draws import share_spread
from tallystick.sampling.labels.strata import LabelStrata, score_strata
from tallystick.sampling.labels.stratum_means import stratum_means
from tallystick.sampling.labels.task import LabelTask, Measure, votes_task_strata
from tallystick.values import Label

__all__ = ["ScoreLabels", "labelling"]


@dataclass(frozen=True, kw_only=True)
class ScoreLabels(Question):
    """What is asked of systems: their means, or which of two is better."""

    positive: Label = option(None, "The label whose share is the score.")
    scale: tuple[float, float] | None = option(None, "LO,HI: people grade by numbers.")
    goal: str = option(
        "mean",
        "Each system's mean, or which of two systems is better.",
        choices=("mean", "difference"),
    )


def labelling(data: Data, question: ScoreLabels, strata: Ints | None = None) -> LabelTask:
    """Return the task: the mean of each system, or the difference of two.

    Examples
    --------
    >>> from tallystick.data import read
    >>> table = {"item": [1, 1, 2, 2] * 20, "system": ["a", "b"] * 40, "gpt": [1, 0, 1, 1] * 20}
    >>> data = read(table, judges=("gpt",), system="system")
    >>> [measure.name for measure in labelling(data, ScoreLabels()).measures]
    ['a', 'b']
    """
    if question.scale is not None:
        return _graded(data, question, strata)
    votes = coded_votes(data, data.roles.judges)
    code = pass_code(votes, question.positive)
    systems, of_system = _systems(data)
    if question.goal == "difference":
        return _difference(data, votes, code, (systems, of_system), strata)

    # Each system has strata of its own: what a judge's vote means differs between systems.
    n, classes = votes.codes.shape[0], len(votes.classes)
    posterior = np.zeros((n, classes))
    of = np.full(n, -1, np.int64)
    for s in range(len(systems)):
        mine = np.flatnonzero(of_system == s)
        part, believed = votes_task_strata(votes.codes[mine], classes)
        of[mine] = part.of.astype(np.int64) + of.max() + 1
        posterior[mine] = believed
    made = _with_guess(of if strata is None else np.asarray(strata, np.int64), posterior)

    def value(units: Ints, answers: Floats) -> Floats:
        return np.asarray(answers[:, 0] == code, dtype=np.float64)

    measures = _means(systems, of_system, made, posterior[:, code], value)
    return LabelTask(
        claim="share",
        classes=votes.classes,
        strata=made,
        rows=np.arange(n)[:, None],
        measures=measures,
        columns=_columns(data),
        disagree=_apart(votes.codes),
        ask="Is this output right?",
    )


def _graded(data: Data, question: ScoreLabels, strata: Ints | None) -> LabelTask:
    """Return the task where people grade by numbers: strata by the judges' mean grade."""
    assert question.scale is not None
    low, high = question.scale
    if not low < high:
        raise InputError(f"scale must be LO,HI with LO < HI, got {question.scale!r}")
    if question.goal == "difference":
        raise InputError("goal difference needs pass/fail labels: leave out the scale")
    systems, of_system = _systems(data)
    grades = (data.numbers(*data.roles.judges) - low) / (high - low)
    given = ~np.isnan(grades)
    total = np.where(given, grades, 0.0).sum(axis=1)
    mean = np.where(given.any(axis=1), total / np.maximum(given.sum(axis=1), 1), 0.5)
    mean = np.clip(mean, 0.0, 1.0)
    of = np.full(mean.size, -1, np.int64)
    for s in range(len(systems)):
        mine = np.flatnonzero(of_system == s)
        part = score_strata(mean[mine], middle=float(np.median(mean[mine])))
        of[mine] = part.of.astype(np.int64) + of.max() + 1
    posterior = np.column_stack((1 - mean, mean))
    made = _with_guess(of if strata is None else np.asarray(strata, np.int64), posterior)

    def value(units: Ints, answers: Floats) -> Floats:
        return np.asarray(answers[:, 0])

    return LabelTask(
        claim="share",
        classes=(),
        scale=question.scale,
        strata=made,
        rows=np.arange(mean.size)[:, None],
        measures=_means(systems, of_system, made, mean, value),
        columns=_columns(data),
        rule=share_spread,
        ask=f"Which grade from {low:g} to {high:g} does this output deserve?",
    )


def _difference(
    data: Data,
    votes: CodedVotes,
    code: int,
    systems: tuple[tuple[str, ...], Ints],
    strata: Ints | None,
) -> LabelTask:
    """Return the task of two systems: both outputs of an item are labelled together."""
    names, of_system = systems
    if len(names) != 2 or data.roles.item is None:
        raise InputError(
            f"goal difference compares two systems on the same items, and there are {len(names)}:"
            " name the columns of systems and items (--system, --item)"
        )
    rows = _paired(data.cells(data.roles.item)[data.roles.item], of_system)
    hits = (votes.codes == code).sum(axis=1)
    parts, guess = gap_strata(hits[rows[:, 0]], hits[rows[:, 1]], judges=votes.codes.shape[1])
    if strata is not None:
        gap = (hits[rows[:, 0]] - hits[rows[:, 1]]) / votes.codes.shape[1]
        parts = LabelStrata(of=strata, side=parts.side, guess=parts.guess)
        guess = stratum_means(parts, gap, bounds=(-1.0, 1.0))

    def value(units: Ints, answers: Floats) -> Floats:
        first, second = (answers[:, k] == code for k in (0, 1))
        return np.asarray(first.astype(np.float64) - second)

    lead = Measure(name=f"{names[0]} - {names[1]}", value=value, guess=guess, bounds=(-1.0, 1.0))
    return LabelTask(
        claim="judged",
        classes=votes.classes,
        strata=parts,
        rows=rows,
        measures=(lead,),
        columns=_columns(data),
        rule=gap_spread,
        names=names,
        ask="Is this output right?",
    )


def _paired(items: list[Any], of_system: Ints) -> Ints:
    """Return items x 2 rows; items that one of the systems has no output for are left out."""
    rows: dict[Any, list[int]] = {}
    for row, (item, s) in enumerate(zip(items, of_system, strict=True)):
        held = rows.setdefault(item, [-1, -1])
        if held[s] >= 0:
            raise InputError(f"item {item!r} has two outputs of one system: keep one")
        held[s] = row
    both = [held for held in rows.values() if min(held) >= 0]
    if not both:
        raise InputError("no item has an output of both systems: check the column of items")
    return np.array(both, dtype=np.int64)


def _systems(data: Data) -> tuple[tuple[str, ...], Ints]:
    """Return the systems in order, and which one each row belongs to."""
    column = data.roles.system
    if column is None:
        return ("all outputs",), np.zeros(data.n_rows, np.int64)
    cells = [str(cell) for cell in data.cells(column)[column]]
    names = tuple(sorted(set(cells)))
    place = {name: k for k, name in enumerate(names)}
    return names, np.array([place[cell] for cell in cells], dtype=np.int64)


def _means(
    systems: tuple[str, ...],
    of_system: Ints,
    strata: LabelStrata,
    chance: Floats,
    value: Any,
) -> tuple[Measure, ...]:
    """Return one measure per system: its value elsewhere is 0, and its scale makes up for it."""
    found = []
    for s, name in enumerate(systems):
        mine = of_system == s

        def own(units: Ints, answers: Floats, mine: Any = mine) -> Floats:
            return np.asarray(value(units, answers) * mine[units])

        found.append(
            Measure(
                name=name,
                value=own,
                guess=stratum_means(strata, np.where(mine, chance, 0.0)),
                cell=np.where(mine & (strata.of >= 0), strata.of.astype(np.int64), -1),
                scale=mine.size / int(mine.sum()),
            )
        )
    return tuple(found)


def _with_guess(of: Ints, posterior: Floats) -> LabelStrata:
    count = int(of.max()) + 1
    inside = of >= 0
    sizes = np.maximum(np.bincount(of[inside], minlength=count), 1)
    mean = np.column_stack(
        [np.bincount(of[inside], weights=p[inside], minlength=count) / sizes for p in posterior.T]
    )
    guess = np.clip(mean, 0.02, 0.98)
    return LabelStrata(of=of, side=guess.argmax(axis=1), guess=guess)


def _columns(data: Data) -> tuple[str, ...]:
    return data.roles.columns("system", "judges")


def _apart(codes: Ints) -> Any:
    top = codes.max(axis=1, initial=-1)
    low = np.where(codes < 0, top[:, None], codes).min(axis=1, initial=top.max(initial=0))
    return low != top
