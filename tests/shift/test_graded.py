import random

import pytest

from tallystick import shift
from tallystick.errors import InputError

rng = random.Random(2)
OLD = [rng.choice([2, 3, 4, 5]) for _ in range(400)]
NEW = [max(1, grade - 1) if rng.random() < 0.5 else grade for grade in OLD]
TABLE = {"id": list(range(400)), "grade": OLD, "later": NEW, "text": ["x"] * 400}


def test_a_column_of_new_grades_gives_the_change_of_the_mean():
    result = shift(TABLE, old="grade", new="later", scale=(1, 5), item="id", deterministic=True)
    change = (sum(NEW) - sum(OLD)) / 400 / 4  # the scale is 1 to 5
    assert result.grade_change.estimate == pytest.approx(change)
    assert result.grade_change.interval.high < 0
    assert "It got worse: mean grade" in result.verdict
    unsure = shift(TABLE, old="grade", new="later", scale=(1, 5), item="id")
    assert unsure.grade_change.interval.width > result.grade_change.interval.width
    assert "It got worse: mean grade" in unsure.verdict


def test_an_api_that_gives_grades_is_asked_and_gated():
    result = shift(
        TABLE,
        old="grade",
        item="id",
        api="replay:later",
        scale=(1, 5),
        budget=200,
        gates=("grade_change >= -50%",),
        seed=1,
    )
    truth = (sum(NEW) - sum(OLD)) / 400 / 4
    assert truth in result.grade_change.interval
    assert result.gates[0].passed


def test_grades_are_numbers_and_need_no_truth():
    with pytest.raises(InputError, match="need no true labels"):
        shift(TABLE, truth="text", old="grade", new="later", scale=(1, 5))
    with pytest.raises(InputError, match="grades must be numbers"):
        shift(TABLE, old="text", new="later", scale=(1, 5))
    with pytest.raises(InputError, match=r"numbers on the scale .*, got '5'"):
        shift(TABLE, old="grade", new="later", scale=(1, 4))
    with pytest.raises(InputError, match="from the lowest grade to the highest"):
        shift(TABLE, old="grade", new="later", scale=(5, 5))


def test_the_scale_that_is_named_counts_and_not_the_grades_that_were_given():
    half = {"a": [1.5, 2, 2.5] * 40, "b": [2, 2.5, 2.5] * 40}
    found = shift(half, old="a", new="b", scale=(0, 10), deterministic=True)
    assert found.grade_change.estimate == pytest.approx(1 / 30)
