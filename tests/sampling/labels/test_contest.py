from __future__ import annotations

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.sampling.labels import contest_of


@pytest.fixture
def contest():
    answers = [[0, 0, 1], [0, 1, 1], [0, 0, 1], [1, 1, 1], [0, 1, -1]]
    return contest_of(answers, [0, 0, 0, 1, 1], guess=[[0.3, 0.7], [0.8, 0.2]])


def test_cells_hold_items_with_the_same_answers_in_the_same_stratum(contest):
    assert contest.sizes.tolist().count(2) == 1
    assert contest.cell[0] == contest.cell[2]
    assert contest.sizes.sum() == contest.n_items == 5


def test_only_live_models_can_disagree(contest):
    first_two = contest.split(np.array([True, True, False]))[contest.cell]
    assert first_two.tolist() == [False, True, False, False, True]
    assert contest.split(np.array([True, True, True]))[contest.cell].tolist() == [
        True,
        True,
        True,
        False,
        True,
    ]


def test_the_chance_to_be_right_is_the_share_of_the_class_that_is_given(contest):
    chance = contest.chance(contest.guess)[contest.cell]
    assert chance[1].tolist() == [0.3, 0.7, 0.7]
    assert chance[4].tolist() == [0.8, 0.2, 0.0]  # no answer is never right


def test_the_largest_gap_is_taken_only_where_both_differ(contest):
    every = np.ones(len(contest.sizes), bool)
    gap = contest.largest_gap(contest.chance(contest.guess), every)
    assert gap[0, 1] == pytest.approx(0.6)  # the last item: .8 - .2
    assert gap[1, 0] == pytest.approx(0.4)
    assert gap[0, 0] == -1.0  # a model never differs from itself


def test_labelled_items_leave_their_cells(contest):
    assert contest.left(np.array([0, 2, 3])).sum() == 2
    assert contest.items_of(np.ones(len(contest.sizes), bool), without=np.array([0])).tolist() == [
        1,
        2,
        3,
        4,
    ]


@pytest.mark.parametrize(
    ("answers", "stratum", "match"),
    [
        ([[0], [1]], [0, 0], "items x models"),
        ([[0, 5]], [0], "answers"),
        ([[0, 1]], [-1], "stratum"),
    ],
)
def test_what_can_not_be_used_is_refused(answers, stratum, match):
    with pytest.raises(InputError, match=match):
        contest_of(answers, stratum, guess=[[0.5, 0.5]])
