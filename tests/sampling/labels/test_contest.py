from __future__ import annotations

import numpy as np
import pytest

from tallystick.sampling.contest import Contest, contest_of, judged_contest


@pytest.fixture
def contest():
    answers = [[0, 0, 1], [0, 1, 1], [0, 0, 1], [1, 1, 1], [0, 1, -1]]
    return contest_of(answers, [0, 0, 0, 1, 1], guess=[[0.3, 0.7], [0.8, 0.2]])


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


def judged() -> Contest:
    strata = np.array([[0, 2], [0, 3], [1, 2], [1, 3]])
    return judged_contest(strata=strata, guess=[[0.1, 0.9], [0.8, 0.2], [0.3, 0.7], [0.6, 0.4]])


def test_the_largest_gap_of_judged_systems_is_that_of_their_best_and_worst_strata():
    contest = judged()
    rho = contest.chance(contest.guess)
    assert rho[contest.cell].tolist() == [[0.9, 0.7], [0.9, 0.4], [0.2, 0.7], [0.2, 0.4]]
    gap = contest.largest_gap(rho, contest.sizes > 0)
    assert gap[0, 1] == pytest.approx(0.9 - 0.4)
    assert gap[1, 0] == pytest.approx(0.7 - 0.2)


def test_a_skip_is_no_hit_and_a_system_that_left_counts_with_its_guess():
    contest, chance = judged(), np.array([0.9, 0.7])
    assert contest.hit(0, np.array([-1.0, 1.0]), chance) is None
    assert contest.hit(0, np.array([1.0, np.nan]), chance).tolist() == [1.0, 0.7]


def test_judged_labels_teach_the_stratum_of_each_output():
    contest = judged()
    labels = np.array([[1.0, 0.0], [0.5, np.nan], [-1.0, -1.0]])
    counts = contest.learnt(np.zeros((4, 2)), np.array([0, 1, 2]), labels)
    assert counts.tolist() == [[0.5, 1.5], [0, 0], [1, 0], [0, 0]]


def test_only_live_models_can_disagree(contest):
    none = np.empty(0, np.int64)
    two, all_ = (np.array([True, True, last]) for last in (False, True))
    assert contest.items(two, none).tolist() == [1, 4]
    assert contest.items(all_, none).tolist() == [0, 1, 2, 4]


def test_labelled_items_leave_their_cells(contest):
    everybody = np.ones(3, bool)
    open_ = contest.items(everybody, np.array([0]))
    assert 0 not in open_
    assert open_.size == contest.contested(everybody, np.array([0])).sum()
