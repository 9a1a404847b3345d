"""The consensus comes from grades only: their mean, and the mean of the system for blanks."""

import numpy as np

from tests.score.tables import outputs_of

NONE = float("nan")


def test_judges_give_their_mean_vote():
    assert outputs_of([[1, 0], [1, 1], [0, NONE]], [NONE] * 3).consensus.tolist() == [0.5, 1.0, 0.0]


def test_labels_do_not_move_the_consensus():
    votes = np.random.default_rng(1).integers(0, 2, (60, 3))
    one, two = (outputs_of(votes, truth).consensus for truth in (np.full(60, NONE), np.ones(60)))
    assert np.array_equal(one, two)


def test_an_output_that_nobody_graded_takes_the_mean_of_its_system():
    outputs = outputs_of([[1], [0], [1], [NONE], [NONE]], [NONE] * 5, [0, 0, 0, 0, 1])
    assert outputs.consensus.tolist() == [1.0, 0.0, 1.0, 2 / 3, 0.5]
