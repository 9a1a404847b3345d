"""The consensus comes from grades only."""

from dataclasses import replace

import numpy as np

from tallystick.verbs.score.reading import consensus, strata_of
from tests.score.tables import outputs_of

NONE = float("nan")


def test_two_judges_give_their_mean_vote():
    outputs = outputs_of([[1, 0], [1, 1], [0, NONE]], [NONE] * 3)
    assert consensus(outputs).tolist() == [0.5, 1.0, 0.0]


def test_judges_are_weighed_by_how_well_they_fit_the_others():
    rng = np.random.default_rng(0)
    good = rng.random(2000) < 0.5
    votes = [np.where(rng.random(2000) < q, good, ~good) for q in (0.95, 0.9, 0.6, 0.55, 0.55)]
    values = consensus(outputs_of(np.stack(votes, axis=1), np.full(2000, np.nan)))
    mean = np.stack(votes, axis=1).mean(axis=1)
    assert ((values > 0.5) == good).mean() > ((mean > 0.5) == good).mean() + 0.005


def test_labels_do_not_move_the_consensus():
    votes = np.random.default_rng(1).integers(0, 2, (60, 3))
    one = consensus(outputs_of(votes, np.full(60, np.nan)))
    two = consensus(outputs_of(votes, np.ones(60)))
    assert np.array_equal(one, two)


def test_an_output_that_nobody_graded_takes_the_mean_of_its_system():
    outputs = outputs_of([[1], [0], [1], [NONE], [NONE]], [NONE] * 5, [0, 0, 0, 0, 1])
    assert consensus(outputs).tolist() == [1.0, 0.0, 1.0, 2 / 3, 0.5]


def test_judges_who_never_disagree_fall_back_to_their_mean():
    assert consensus(outputs_of([[1, 1, 1]] * 4, [NONE] * 4)).tolist() == [1.0] * 4


def test_more_judges_than_fit_into_one_number_are_counted_too():
    rng = np.random.default_rng(2)
    good = rng.random(200) < 0.5
    votes = np.where(rng.random((200, 45)) < 0.7, good[:, None], ~good[:, None])
    few = outputs_of(votes[:, :6], np.full(200, np.nan))
    wide = replace(few, judges=tuple(f"j{i}" for i in range(45)), grades=votes.astype(float))
    assert ((consensus(wide) > 0.5) == good).mean() > 0.97


def test_graded_consensus_has_three_bins():
    assert strata_of(np.arange(6) / 5, np.ones(6), votes=False).tolist() == [0, 0, 1, 1, 2, 2]
