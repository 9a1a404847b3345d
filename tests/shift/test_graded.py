import random

import pytest

from tallystick import shift
from tallystick.errors import InputError
from tallystick.verbs.shift.read import grade_scale

rng = random.Random(2)
OLD = [rng.choice([2, 3, 4, 5]) for _ in range(400)]
NEW = [max(1, grade - 1) if rng.random() < 0.5 else grade for grade in OLD]
TABLE = {"id": list(range(400)), "grade": OLD, "later": NEW, "text": ["x"] * 400}


def test_a_column_of_new_grades_gives_the_change_of_the_mean():
    result = shift.evaluate(
        TABLE, old="grade", new="later", grades=True, item="id", deterministic=True
    )
    change = (sum(NEW) - sum(OLD)) / 400 / 4  # the scale is 1 to 5
    assert result.grade_change.estimate == pytest.approx(change)
    assert result.grade_change.interval.high < 0
    assert "It got worse: the mean grade" in result.verdict
    unsure = shift.evaluate(TABLE, old="grade", new="later", grades=True, item="id")
    assert unsure.grade_change.interval.width > result.grade_change.interval.width
    assert "It got worse: the mean grade" in unsure.verdict


def test_an_api_that_gives_grades_is_asked_and_gated():
    result = shift.evaluate(
        TABLE,
        old="grade",
        item="id",
        api="replay:later",
        grades=True,
        labels=("1", "2", "3", "4", "5"),
        budget=200,
        gates=("grade_change >= -50%",),
        seed=1,
    )
    truth = (sum(NEW) - sum(OLD)) / 400 / 4
    assert truth in result.grade_change.interval
    assert result.gates[0].passed


def test_grades_are_numbers_and_need_no_truth():
    with pytest.raises(InputError, match="need no true labels"):
        shift.evaluate(TABLE, truth="text", old="grade", new="later", grades=True)
    with pytest.raises(InputError, match="grades"):
        grade_scale(("good", "bad"))
    with pytest.raises(InputError, match="all grades are equal"):
        grade_scale(("3",))
