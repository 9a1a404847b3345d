from __future__ import annotations

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.results import Unknown
from tallystick.sampling.planned import judge_accuracies, planned_shares
from tallystick.sampling.draws import LabelStrata, vote_strata


@pytest.fixture
def simulated():
    rng = np.random.default_rng(8)
    truth = rng.integers(0, 2, 500)
    votes = np.where(
        rng.random((500, 4)) < [0.95, 0.85, 0.7, 0.6], truth[:, None], 1 - truth[:, None]
    )
    return votes, truth, rng.permutation(500)


def test_all_labels_give_the_accuracy_itself(simulated):
    votes, truth, order = simulated
    for j, found in enumerate(judge_accuracies(vote_strata(votes), votes, order, truth[order])):
        right = votes[:, j] == truth
        assert tuple(found.interval) == pytest.approx((right.mean(), right.mean()))
        for label in (0, 1):
            assert found.recall[label].estimate == pytest.approx(right[truth == label].mean())
            assert right[truth == label].mean() in found.recall[label].interval


def test_cells_are_stratum_by_vote(simulated):
    votes, truth, order = simulated
    strata, drawn = vote_strata(votes), order[:80]
    found = judge_accuracies(strata, votes, drawn, truth[drawn])[2]
    cells = 2 * strata.of.astype(int) + votes[:, 2]
    sizes = np.bincount(cells, minlength=2 * len(strata))
    labelled = np.bincount(cells[drawn], minlength=2 * len(strata))
    right = np.bincount(
        cells[drawn], weights=votes[drawn, 2] == truth[drawn], minlength=2 * len(strata)
    )
    same = planned_shares(sizes, labelled, right)
    assert tuple(found.interval) == (same.low[0], same.high[0])
    assert found.estimate == same.estimate[0]


def test_intervals_cover_and_shrink(simulated):
    votes, truth, order = simulated
    strata = vote_strata(votes)
    widths = []
    for k in (40, 120, 360):
        found = judge_accuracies(strata, votes, order[:k], truth[order[:k]])
        widths.append([judge.interval.width for judge in found])
    assert (np.diff(widths, axis=0) < 0).all()


def test_a_judge_is_graded_on_the_items_it_voted_on(simulated):
    votes, truth, order = simulated
    some = votes.copy()
    some[::2, 1] = -1
    found = judge_accuracies(vote_strata(some), some, order, truth[order])[1]
    assert (found.items, found.labelled) == (250, 250)
    assert found.estimate == pytest.approx((votes[1::2, 1] == truth[1::2]).mean())


def test_a_class_without_labels_is_unknown_and_logic_is_left():
    votes = np.array([[0], [0], [1], [1]] * 10)
    strata = vote_strata(votes)
    found = judge_accuracies(strata, votes, [0, 1, 2], [0, 0, 0])[0]
    assert isinstance(found.recall[1].estimate, Unknown)
    assert tuple(found.recall[1].interval) == (0.0, 1.0)
    assert found.recall[0].labelled == 3


def test_a_vote_without_labels_is_unknown():
    votes = np.array([[0], [1]] * 20)
    found = judge_accuracies(vote_strata(votes), votes, [0, 2], [0, 0])[0]
    assert isinstance(found.recall[0].estimate, Unknown)
    assert "another vote" in found.recall[0].estimate.reason


def test_no_labels_leave_everything_open():
    votes = np.array([[0], [1]] * 20)
    found = judge_accuracies(vote_strata(votes), votes, [], [])[0]
    assert isinstance(found.estimate, Unknown)
    assert tuple(found.interval) == (0.0, 1.0)


def test_three_classes_have_three_recalls():
    rng = np.random.default_rng(9)
    truth = rng.integers(0, 3, 300)
    votes = np.where(rng.random((300, 3)) < 0.8, truth[:, None], rng.integers(0, 3, (300, 3)))
    drawn = rng.permutation(300)[:100]
    for found in judge_accuracies(vote_strata(votes, n_classes=3), votes, drawn, truth[drawn]):
        assert len(found.recall) == 3
        assert all(one.interval.low <= one.estimate <= one.interval.high for one in found.recall)


@pytest.mark.parametrize(
    ("items", "labels", "match"),
    [
        ([0, 0], [1, 1], "distinct"),
        ([0], [5], "labels"),
        ([3], [1], "outside"),
        ([0], [], "distinct"),
    ],
)
def test_labels_that_do_not_fit_are_refused(items, labels, match):
    strata = LabelStrata(of=[0, 0, 0, -1], side=[0], guess=[[0.5, 0.5]])
    with pytest.raises(InputError, match=match):
        judge_accuracies(strata, [[0], [1], [0], [1]], items, labels)


def test_a_judge_without_votes_is_refused():
    strata = LabelStrata(of=[0, 0], side=[0], guess=[[0.5, 0.5]])
    with pytest.raises(InputError, match="no vote"):
        judge_accuracies(strata, [[-1], [-1]], [0], [1])
