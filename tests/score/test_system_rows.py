"""Rows of systems, pairs and judges: who is ahead stands first, and what is missing is a reason."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tallystick.results import Unknown
from tallystick.verbs.score.judges import judge_rows
from tallystick.verbs.score.question import ScoreQuestion
from tallystick.verbs.score.result import Units
from tallystick.verbs.score.scored import estimated
from tests.score.tables import outputs_of
from tests.score.test_assemble import outputs, pair


def scored(graded: int = 20, **question):
    grades = [[1, 1]] * 30 + [[0, np.nan]] * 30
    truth = [1.0] * graded + [np.nan] * (60 - graded)
    held = outputs_of(grades, truth, [0] * 30 + [1] * 30)
    return estimated(held, ScoreQuestion(**question))


def test_a_judge_that_never_graded_a_system_is_named():
    rows = scored().system_rows()
    assert rows[1].by_judge["x"] == pytest.approx(0.0)
    assert rows[1].by_judge["y"] == Unknown("y never graded b")
    assert isinstance(rows[1].score, Unknown)


def test_without_a_ranking_the_judges_order_the_rows():
    rows = scored(graded=0).system_rows()
    assert [row.name for row in rows] == ["a", "b"]
    assert isinstance(rows[0].rank_interval, Unknown)


def test_an_interval_of_labels_of_unknown_origin_says_what_it_assumes():
    known = scored().system_rows()[0].interval
    under = scored(label_draw="unknown").system_rows()[0].interval
    assert known.guarantee == "approximate"
    assert under.guarantee == "under"
    assert tuple(under) == tuple(known)
    assert under.assumption


def with_pair(difference: float, p: float):
    return replace(estimated(outputs(), ScoreQuestion()), pairs=[pair(0, 1, difference, p)])


@pytest.mark.parametrize(("difference", "a", "b"), [(0.2, "a", "b"), (-0.2, "b", "a")])
def test_the_system_that_is_ahead_stands_first(difference, a, b):
    [row] = with_pair(difference, 0.001).pair_rows()
    assert (row.a, row.b) == (a, b)
    assert row.difference == pytest.approx(0.2)
    assert tuple(row.interval) == pytest.approx((0.15, 0.25))
    assert row.verdict == f"{a} is better"
    assert row.settled


def test_a_pair_that_is_settled_keeps_no_first_place_open():
    settled = with_pair(0.2, 0.001)
    assert settled.open_pair(settled.pair_rows()) is None


def judged(units: Units):
    found = estimated(outputs(), ScoreQuestion())
    return judge_rows(found.outputs, found.systems, ScoreQuestion(), units)


def test_biases_of_judges_are_on_the_scale_of_the_grades():
    (plain, _), (wide, _) = judged(Units(None)), judged(Units((1.0, 5.0)))
    assert [row.name for row in plain] == ["x", "y"]
    for one, two in zip(plain, wide, strict=True):
        assert two.bias.estimate == pytest.approx(4 * one.bias.estimate)
        assert two.tpr == one.tpr


def test_each_judge_says_how_much_wider_it_would_be_alone():
    rows, enough = judged(Units(None))
    assert all(row.wider > 0 for row in rows)
    assert enough in (None, min(rows, key=lambda row: row.wider).name)
