"""What was learnt of each output."""

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.table import read
from tallystick.verbs.score import evaluate
from tallystick.verbs.score.answer import CAPABILITY, answer
from tallystick.verbs.score.judges import item_columns
from tallystick.verbs.score.question import ScoreQuestion
from tests.score.tables import ROLES, drawn


def columns_of(table, **more):
    question = ScoreQuestion(**more)
    with read(table, CAPABILITY.door, **ROLES) as data:
        return item_columns(answer(data, question), data)


def test_probabilities_are_calibrated_per_system():
    table = drawn(items=400, graded=80)
    full = drawn(items=400, graded=400)
    found = columns_of(table)
    p = np.array(found["probability"])
    truth = np.array([value == "pass" for value in full["human"]])
    blank = np.array([value is None for value in table["human"]])
    system = np.array(table["system"])
    raw = np.array([v == "pass" for v in table["x"]], float)
    for name in "abc":
        held = (system == name) & blank
        assert abs(p[held].mean() - truth[held].mean()) < 0.12
    wrong = (system == "a") & blank
    assert abs(p[wrong].mean() - truth[wrong].mean()) < abs(raw[wrong].mean() - truth[wrong].mean())


def test_a_graded_output_keeps_its_grade_and_needs_none():
    table = drawn()
    found = columns_of(table)
    for value, p, rank in zip(
        table["human"], found["probability"], found["label_next"], strict=True
    ):
        assert (rank is None) == (value is not None)
        if value is not None:
            assert p == (1.0 if value == "pass" else 0.0)


def test_the_order_of_grading_keeps_the_systems_of_an_item_together():
    table = drawn()
    found = columns_of(table)
    rows = sorted(
        (rank, item) for rank, item in zip(found["label_next"], table["item"], strict=True) if rank
    )
    assert [rank for rank, _ in rows] == list(range(1, len(rows) + 1))
    assert rows[0][1] == rows[1][1] == rows[2][1]
    assert rows[3][1] != rows[0][1]


def test_below_twenty_grades_the_judges_view_is_called_support():
    found = columns_of(drawn(graded=5))
    assert "support" in found
    assert "probability" not in found


def test_several_criteria_are_written_one_at_a_time():
    table = {**drawn(), "kind": ["safe"] * 600}
    result = evaluate(table, criterion="kind", **ROLES)
    with (
        read(table, CAPABILITY.door, **ROLES) as data,
        pytest.raises(InputError, match="criterion"),
    ):
        item_columns(result, data)


def test_grades_on_a_scale_come_back_on_that_scale():
    table = drawn()
    grades = {"pass": "5", "fail": "1", None: None}
    table = {name: [grades.get(value, value) for value in values] for name, values in table.items()}
    found = columns_of(table, scale=(1.0, 5.0))
    assert min(found["consensus"]) >= 1
    assert max(found["consensus"]) > 1.5
    assert all(1 <= value <= 5 for value in found["expected"])
