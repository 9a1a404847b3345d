"""Rows of pairs: the one ahead stands first, and the pair that is open is found."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tallystick.verbs.score.answer import open_pair, pair_rows
from tallystick.verbs.score.judges import estimated
from tallystick.verbs.score.question import ScoreQuestion
from tests.score.test_assemble import outputs, pair


def scored(difference: float, p: float):
    found = estimated(outputs(), ScoreQuestion())
    return replace(found, pairs=[pair(0, 1, difference, p)])


@pytest.mark.parametrize(("difference", "a", "b"), [(0.2, "a", "b"), (-0.2, "b", "a")])
def test_the_system_that_is_ahead_stands_first(difference, a, b):
    [row] = pair_rows(scored(difference, 0.001), ScoreQuestion())
    assert (row.a, row.b) == (a, b)
    assert row.difference == pytest.approx(0.2)
    assert tuple(row.interval) == pytest.approx((0.15, 0.25))
    assert row.verdict == f"{a} is better"
    assert row.settled


def test_a_pair_that_is_settled_keeps_no_first_place_open():
    settled = scored(0.2, 0.001)
    assert open_pair(settled, pair_rows(settled, ScoreQuestion()), ("a",), ScoreQuestion()) is None
