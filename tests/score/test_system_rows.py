"""Rows of systems: a judge or a label that is missing is a reason, not a number."""

from __future__ import annotations

import numpy as np
import pytest

from tallystick.results import Interval, Unknown
from tallystick.verbs.score.answer import promised, system_rows
from tallystick.verbs.score.judges import estimated
from tallystick.verbs.score.pairs import ranked
from tallystick.verbs.score.question import ScoreQuestion
from tests.score.tables import outputs_of


def scored(graded: int = 20):
    grades = [[1, 1]] * 30 + [[0, np.nan]] * 30
    truth = [1.0] * graded + [np.nan] * (60 - graded)
    return estimated(outputs_of(grades, truth, [0] * 30 + [1] * 30), ScoreQuestion())


def test_a_judge_that_never_graded_a_system_is_named():
    found = scored()
    rows = system_rows(found, ScoreQuestion(), ranked(found.systems, found.pairs, 0.05))
    assert rows[1].by_judge["x"] == pytest.approx(0.0)
    assert rows[1].by_judge["y"] == Unknown("y never graded b")
    assert isinstance(rows[1].score, Unknown)


def test_without_a_ranking_the_judges_order_the_rows():
    rows = system_rows(scored(graded=0), ScoreQuestion(), None)
    assert [row.name for row in rows] == ["a", "b"]
    assert isinstance(rows[0].rank_interval, Unknown)


def test_an_interval_of_labels_of_unknown_origin_says_what_it_assumes():
    interval = Interval(0.2, 0.4)
    assert promised(interval, ScoreQuestion(label_draw="random")) == interval
    under = promised(interval, ScoreQuestion(label_draw="unknown"))
    assert under.guarantee == "under"
    assert under.assumption
