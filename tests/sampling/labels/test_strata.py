from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.sampling.draws import rank_slices, score_strata, vote_strata

_RISING = np.linspace(0, 0.4, 100)


@pytest.mark.parametrize(
    ("score", "sizes"),
    [
        (np.linspace(0.0, 1.0, 300), [50] * 6),
        # Equal scores stay together: both cuts of the low side fall after the 70.
        (np.repeat([0.1, 0.2, 0.3, 0.9], [70, 20, 10, 100]), [70, 30, 100]),
        (np.append(_RISING[:20], [0.9] * 80), [10, 10, 80]),  # two slices of 8 fit, three do not
        (np.append(_RISING, [0.9] * 900), [50, 50, 900]),  # 4% of 1000 is 40, so two slices fit
        (np.append(_RISING[:3], [0.9] * 297), [3, 297]),
    ],
)
def test_a_side_is_cut_into_equal_slices_of_at_least_four_percent_and_eight_items(score, sizes):
    strata = score_strata(score)
    assert strata.sizes.tolist() == sizes
    assert (np.diff(strata.guess[:, 1]) > 0).all()
    assert (np.diff(strata.side) >= 0).all()


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


def test_strata_of_votes_follow_the_mean_vote_or_the_consensus():
    one = vote_strata(np.repeat([[0], [1]], [40, 60], axis=0))
    assert (one.sizes.tolist(), one.guess[:, 1].tolist()) == ([40, 60], [0.02, 0.98])
    two = vote_strata(np.repeat([[0, 0], [0, 1], [1, 1]], [30, 30, 40], axis=0))
    assert two.sizes.tolist() == [30, 30, 40]
    assert two.side.tolist() == [0, 0, 1]  # half is not above a half
    rng = np.random.default_rng(2)
    votes = rng.integers(0, 2, (200, 3))
    silent = np.column_stack((votes, np.full(200, -1)))
    assert (vote_strata(votes).of == vote_strata(silent).of).all()
    votes[:10] = -1
    assert np.unique(vote_strata(votes).of[:10]).size == 1
    # Posteriors of 39 and 38 agreeing judges both round to 1; their log-odds do not.
    truth = rng.random(300) < 0.5
    many = np.where(rng.random((300, 39)) < 0.9, truth[:, None], ~truth[:, None]).astype(int)
    assert vote_strata(many).sizes.size == 6


def test_votes_of_several_classes_make_sides_of_their_consensus():
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 3, 600)
    votes = np.where(rng.random((600, 5)) < 0.8, truth[:, None], rng.integers(0, 3, (600, 5)))
    strata = vote_strata(votes, n_classes=3)
    assert set(strata.side.tolist()) == {0, 1, 2}
    assert (strata.side[strata.of] == truth).mean() > 0.9
