import random

import pytest

from tallystick import shift
from tallystick.errors import InputError
from tallystick.verbs.shift.grades import grade_scale

rng = random.Random(2)
OLD = [rng.choice([2, 3, 4, 5]) for _ in range(400)]
NEW = [max(1, grade - 1) if rng.random() < 0.5 else grade for grade in OLD]
TABLE = {"id": list(range(400)), "grade": OLD, "later": NEW, "text": ["x"] * 400}
API = """import json

def system(row):
    return f"answer to {row['id']}"

def grader(row):
    assert row['answer'] == f"answer to {row['id']}"
    return str(row['later'])
"""


def test_a_column_of_new_grades_gives_the_change_of_the_mean():
    result = shift.evaluate(TABLE, old="grade", grader="later", item="id", deterministic=True)
    change = (sum(NEW) - sum(OLD)) / 400 / 4  # the scale is 1 to 5
    assert result.grade_change.estimate == pytest.approx(change)
    assert result.grade_change.interval.high < 0
    assert result.verdict.startswith("The API got worse: the mean grade")
    unsure = shift.evaluate(TABLE, old="grade", grader="later", item="id")
    assert unsure.grade_change.interval.width > result.grade_change.interval.width
    assert unsure.verdict.startswith("The new answers are worse")


def test_another_api_can_be_the_grader(tmp_path, monkeypatch):
    (tmp_path / "graded_api.py").write_text(API)
    monkeypatch.syspath_prepend(str(tmp_path))
    result = shift.evaluate(
        TABLE,
        old="grade",
        item="id",
        api="python:graded_api:system",
        grader="python:graded_api:grader",
        labels=("1", "2", "3", "4", "5"),
        budget=200,
        gates=("grade_change >= -50%",),
        seed=1,
    )
    truth = (sum(NEW) - sum(OLD)) / 400 / 4
    assert truth in result.grade_change.interval
    assert result.noise.repeats == 30  # all confirmed
    assert result.gates[0].passed


def test_grades_are_numbers_and_need_no_truth():
    with pytest.raises(InputError, match="need no true labels"):
        shift.evaluate(TABLE, truth="text", old="grade", grader="later")
    with pytest.raises(InputError, match="grades"):
        grade_scale(("good", "bad"))
    with pytest.raises(InputError, match="all grades are equal"):
        grade_scale(("3",))
