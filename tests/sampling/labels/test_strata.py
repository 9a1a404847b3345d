from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import InputError
from tallystick.sampling.draws import LabelStrata, rank_slices, score_strata, vote_strata


def test_a_side_is_cut_into_three_equal_slices_if_it_is_large_enough():
    strata = score_strata(np.linspace(0.0, 1.0, 300))
    assert strata.sizes.tolist() == [50] * 6
    assert strata.side.tolist() == [0, 0, 0, 1, 1, 1]
    assert (np.diff(strata.guess[:, 1]) > 0).all()


def test_equal_scores_stay_together():
    score = np.concatenate(
        (np.full(70, 0.1), np.full(20, 0.2), np.full(10, 0.3), np.full(100, 0.9))
    )
    strata = score_strata(score)
    assert strata.sizes.tolist() == [70, 30, 100]  # both cuts of the low side fall after the 70
    for value in np.unique(score):
        assert np.unique(strata.of[score == value]).size == 1


def test_a_slice_holds_at_least_four_percent_and_eight_items():
    small = score_strata(np.concatenate((np.linspace(0, 0.4, 20), np.full(80, 0.9))))
    assert small.sizes.tolist() == [10, 10, 80]  # two slices of 8 fit, three do not
    large = score_strata(np.concatenate((np.linspace(0, 0.4, 100), np.full(900, 0.9))))
    assert large.sizes.tolist() == [50, 50, 900]  # 4% of 1000 is 40, so two slices fit


def test_a_side_under_the_minimum_stays_one_stratum():
    strata = score_strata(np.concatenate((np.linspace(0, 0.4, 3), np.full(297, 0.9))))
    assert strata.sizes.tolist() == [3, 297]


def test_a_slice_that_ties_leave_too_small_joins_its_smaller_neighbour():
    part = rank_slices([0] * 4 + [1] * 40 + [2] * 16, slices=3, least=8)
    assert np.bincount(part).tolist() == [44, 16]


@given(
    score=st.lists(st.integers(0, 12), min_size=1, max_size=120),
    slices=st.integers(1, 5),
    least=st.integers(1, 20),
)
def test_slices_follow_the_rules_whatever_the_scores(score, slices, least):
    values = np.array(score)
    part = rank_slices(values, slices=slices, least=least)
    sizes = np.bincount(part)
    assert sizes.size <= slices
    assert sizes.size == 1 or sizes.min() >= least
    order = np.argsort(values, kind="stable")
    assert (np.diff(part[order]) >= 0).all()  # slices rise with the score
    for value in np.unique(values):
        assert np.unique(part[values == value]).size == 1  # ties together


def test_counts_stand_for_items():
    several = rank_slices([1, 2, 3, 4], slices=2, least=1, counts=[10, 10, 10, 30])
    single = rank_slices(np.repeat([1, 2, 3, 4], [10, 10, 10, 30]), slices=2, least=1)
    assert np.repeat(several, [10, 10, 10, 30]).tolist() == single.tolist()


def test_one_judge_gives_its_two_votes():
    strata = vote_strata(np.repeat([[0], [1]], [40, 60], axis=0))
    assert strata.sizes.tolist() == [40, 60]
    assert strata.guess[:, 1].tolist() == [0.02, 0.98]


def test_two_judges_give_the_mean_vote():
    votes = np.repeat([[0, 0], [0, 1], [1, 1]], [30, 30, 40], axis=0)
    strata = vote_strata(votes)
    assert strata.sizes.tolist() == [30, 30, 40]
    assert strata.side.tolist() == [0, 0, 1]  # half is not above a half


def test_a_judge_who_never_votes_changes_nothing():
    rng = np.random.default_rng(0)
    votes = rng.integers(0, 2, (200, 3))
    silent = np.column_stack((votes, np.full(200, -1)))
    assert (vote_strata(votes).of == vote_strata(silent).of).all()


def test_items_without_any_vote_have_a_stratum():
    votes = np.random.default_rng(1).integers(0, 2, (200, 3))
    votes[:10] = -1
    strata = vote_strata(votes)
    assert (strata.of >= 0).all()
    assert np.unique(strata.of[:10]).size == 1


def test_many_judges_who_agree_do_not_tie():
    """Posteriors of 39 and 38 agreeing judges both round to 1; their log-odds do not."""
    rng = np.random.default_rng(2)
    truth = rng.random(300) < 0.5
    votes = np.where(rng.random((300, 39)) < 0.9, truth[:, None], ~truth[:, None]).astype(int)
    assert vote_strata(votes).sizes.size == 6


def test_votes_of_several_classes_make_sides_of_their_consensus():
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 3, 600)
    votes = np.where(rng.random((600, 5)) < 0.8, truth[:, None], rng.integers(0, 3, (600, 5)))
    strata = vote_strata(votes, n_classes=3)
    assert set(strata.side.tolist()) == {0, 1, 2}
    assert (strata.side[strata.of] == truth).mean() > 0.9


def test_taking_items_out_keeps_the_strata():
    strata = LabelStrata(of=[0, 0, 1, 1], side=[0, 1], guess=[[0.5, 0.5]] * 2)
    rest = strata.without([0, 1])
    assert rest.sizes.tolist() == [0, 2]
    assert rest.members.tolist() == [2, 3]


def test_a_million_items_and_ten_judges_take_about_a_second():
    rng = np.random.default_rng(5)
    truth = rng.random(1_000_000) < 0.7
    votes = (truth[:, None] ^ (rng.random((1_000_000, 10)) < 0.2)).astype(np.int8)
    began = time.perf_counter()
    strata = vote_strata(votes)
    assert time.perf_counter() - began < 3.0
    assert strata.of.nbytes == 1_000_000


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: vote_strata([[0, 2]]), "votes must be in"),
        (lambda: vote_strata([[0.5]]), "integer"),
        (lambda: vote_strata(np.empty((0, 2), int)), "items x judges"),
        (lambda: score_strata([0.2, np.nan]), "score"),
        (lambda: score_strata([-3.0, 2.0]), "scale it"),
        (lambda: LabelStrata(of=[0, 5], side=[0], guess=[[0.5, 0.5]]), "of must be in"),
    ],
)
def test_what_can_not_be_used_is_refused_by_name(call, match):
    with pytest.raises(InputError, match=match):
        call()
