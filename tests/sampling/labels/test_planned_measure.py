"""One number of a session at a planned stop."""

from __future__ import annotations

import numpy as np
import pytest

from tallystick.results import Unknown
from tallystick.sampling.draws import LabelStrata
from tallystick.sampling.planned import Apart, apart_of, planned_mean, planned_measure
from tallystick.sampling.tasks import LabelTask, Measure, Read, class_measure

NOTHING = Apart(known=0, total=0.0, sampled=100)


def task_of(n: int = 100) -> LabelTask:
    strata = LabelStrata(
        of=np.arange(n) // (n // 2), side=np.array([0, 1]), guess=np.array([[0.8, 0.2], [0.2, 0.8]])
    )
    return LabelTask(
        claim="share",
        classes=("fail", "pass"),
        strata=strata,
        rows=np.arange(n)[:, None],
        measures=(class_measure("pass", 1, strata),),
        columns=(),
    )


def answered(units, codes, skipped=()) -> Read:
    answers = np.array(codes, dtype=float)[:, None, None].repeat(2, axis=2)
    flags = np.isin(np.arange(len(units)), list(skipped))
    answers[flags] = np.nan
    return Read(units=np.array(units), answers=answers, skipped=flags, unresolved=0)


def test_the_strata_are_the_cells_where_a_measure_names_none():
    task, read = task_of(), answered([0, 1, 2, 50, 51, 52], [0, 0, 1, 1, 1, 1])
    estimate, interval = planned_measure(task, read, task.measures[0], NOTHING)
    values = np.array([0.0, 0.0, 1.0, 1.0, 1.0, 1.0])
    mean, ends = planned_mean([50, 50], np.repeat([0, 1], 3), (values, values))
    assert estimate == pytest.approx(mean) == pytest.approx(2 / 3)
    assert tuple(interval) == pytest.approx(tuple(ends))


def test_a_skip_is_the_least_value_below_and_the_largest_above():
    task = task_of()
    units, codes = [0, 1, 50, 51], [0, 0, 1, 1]
    whole = planned_measure(task, answered(units, codes), task.measures[0], NOTHING)[1]
    skipped = planned_measure(task, answered(units, codes, [2]), task.measures[0], NOTHING)[1]
    assert skipped.low < whole.low
    assert skipped.high >= whole.high


def test_units_outside_the_cells_count_as_zero_and_the_scale_makes_up_for_them():
    """A system with half of the outputs: its mean is that of its own outputs."""
    task = task_of()
    mine = np.arange(100) >= 50
    own = Measure(
        name="b",
        value=lambda units, answers: (answers[:, 0] == 1) * mine[units],
        guess=np.array([0.02, 0.8]),
        cell=np.where(mine, 1, -1),
        scale=2.0,
    )
    estimate, interval = planned_measure(
        task, answered([50, 51, 52, 53], [1, 1, 1, 0]), own, NOTHING
    )
    assert estimate == pytest.approx(0.75)
    assert 0.75 in interval
    reason, same = planned_measure(task, answered([0, 1], [1, 1]), own, NOTHING)
    assert isinstance(reason, Unknown)
    assert "b" in str(reason)
    assert isinstance(same, Unknown)


def test_labels_that_are_counted_apart_move_the_mean_and_narrow_the_interval():
    task = task_of()
    read = answered([0, 1, 50, 51], [0, 1, 1, 1])
    known = apart_of(answered([60, 61], [1, 1]), task.measures[0], task)
    assert known == Apart(known=2, total=2.0, sampled=100)
    many = Apart(known=100, total=100.0, sampled=100)
    before, wide = planned_measure(task, read, task.measures[0], NOTHING)
    after, narrow = planned_measure(task, read, task.measures[0], many)
    assert after == pytest.approx((before + 1) / 2)
    assert narrow.width == pytest.approx(wide.width / 2)
