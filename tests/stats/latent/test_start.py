from __future__ import annotations

import numpy as np

from tallystick.stats.latent_fit import best_order, majority_share, majority_start, random_start
from tallystick.stats.latent_model import LatentOptions, Problem, as_votes


def test_shares_count_votes_named_like_a_class_and_fall_back_on_the_overall_ones() -> None:
    codes = np.array([[0, 0, 1], [2, 2, 2], [1, 1, 1]])
    share = majority_share(as_votes(codes, [2, 5, 1], n_classes=2, n_votes=[3, 3, 3]), 2)
    assert share is not None
    np.testing.assert_allclose(share[:, 0], [2 / 3, 1 / 3])
    # Pattern 1 abstains: overall, 4 votes for class 0 and 2 + 3 for class 1.
    np.testing.assert_allclose(share[:, 1], [4 / 9, 5 / 9])
    np.testing.assert_allclose(share[:, 2], [0, 1])


def test_votes_that_name_no_class_give_no_shares() -> None:
    codes = np.full((2, 3), 2)
    assert majority_share(as_votes(codes, [1, 1], n_classes=2, n_votes=[3, 3, 3]), 2) is None


def test_a_known_class_overrules_the_majority() -> None:
    codes = np.array([[0, 0, 0], [1, 1, 1]])
    held = as_votes(codes, [3, 1], n_classes=2, truth=np.array([1, -1]))
    problem = Problem.of(held, 2, LatentOptions())
    share = majority_share(held, 2)
    assert share is not None
    table = majority_start(problem, share)
    assert table[:, 0].tolist() == [0.0, 1.0]
    np.testing.assert_allclose(table[1, 1:3], [3 / 4, 1 / 4])


def test_a_random_start_is_a_distribution_and_follows_its_seed() -> None:
    codes = np.array([[0, 1], [1, 0], [1, 1]])
    held = as_votes(codes, np.ones(3), n_classes=2)
    problem = Problem.of(held, 2, LatentOptions())
    tables = [random_start(problem, np.random.default_rng(seed)) for seed in (0, 0, 1)]
    np.testing.assert_allclose(tables[0][:, 0].sum(), 1)
    np.testing.assert_allclose(tables[0][:, 1:3].sum(axis=1), 1)
    assert np.array_equal(tables[0], tables[1])
    assert not np.array_equal(tables[0], tables[2])


def test_classes_are_named_so_that_judges_are_right_most() -> None:
    held = as_votes(np.array([[0, 1, 2], [1, 2, 0]]), np.ones(2), n_classes=3, n_votes=[3, 3, 3])
    # Class k of this table answers (k + 1) % 3, so its right name is that.
    rolled = np.roll(0.7 * np.eye(3) + 0.1, 1, axis=1)
    table = np.column_stack((np.full(3, 1 / 3), *([rolled] * 3)))
    assert best_order(table, held, np.ones(3)).tolist() == [2, 0, 1]
    # A judge without votes has no say, however clear its table is.
    mixed = np.column_stack((np.full(3, 1 / 3), rolled, 0.7 * np.eye(3) + 0.1, rolled))
    assert best_order(mixed, held, np.array([0.0, 5.0, 0.0])).tolist() == [0, 1, 2]
