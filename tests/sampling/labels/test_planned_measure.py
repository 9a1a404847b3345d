"""One number of a session at a planned stop."""

from __future__ import annotations

import numpy as np
import pytest

from tallystick.results import Unknown
from tallystick.sampling.draws import LabelStrata
from tallystick.sampling.planned import Apart, apart_of, planned_measure
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
