"""Rows of judges: biases on the scale of the grades, and the judge that would be enough."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tallystick.verbs.score.grades import Units
from tallystick.verbs.score.judges import estimated, judge_rows
from tallystick.verbs.score.question import ScoreQuestion
from tests.score.test_assemble import outputs


def test_biases_are_on_the_scale_of_the_grades():
    found = estimated(outputs(), ScoreQuestion())
    plain, _ = judge_rows(found, ScoreQuestion())
    wide, _ = judge_rows(replace(found, units=Units((1.0, 5.0))), ScoreQuestion())
    assert [row.name for row in plain] == ["x", "y"]
    for one, two in zip(plain, wide, strict=True):
        assert two.bias.estimate == pytest.approx(4 * one.bias.estimate)
        assert two.tpr == one.tpr


def test_each_judge_says_how_much_wider_it_would_be_alone():
    rows, enough = judge_rows(estimated(outputs(), ScoreQuestion()), ScoreQuestion())
    assert all(row.wider > 0 for row in rows)
    assert enough in (None, min(rows, key=lambda row: row.wider).name)
