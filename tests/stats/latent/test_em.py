"""The EM steps themselves: (L2) by hand, monotone climbing, known parts and known classes."""

from __future__ import annotations

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.stats.latent_model import LatentOptions, Problem, as_votes, climb

CODES = np.array([[0, 0, 1], [1, 1, 1], [0, 1, -1], [1, 0, 0]])
COUNTS = np.array([4.0, 3.0, 2.0, 1.0])


def votes(**options):
    return as_votes(CODES, COUNTS, n_classes=2, **options)


def test_the_m_step_is_the_weighted_share_of_each_vote() -> None:
    problem = Problem.of(votes(), 2, LatentOptions())
    share = np.array([[1.0, 0.0, 0.5, 0.0], [0.0, 1.0, 0.5, 1.0]])
    table = problem.maximise(share)
    assert table[:, 0].tolist() == [0.5, 0.5]
    # Class 0 has weight 4 + 1 of judge 0's votes for 0, and judge 2 said nothing of pattern 2.
    np.testing.assert_allclose(table[0, 1:], [1, 0, 4 / 5, 1 / 5, 0, 1])
    np.testing.assert_allclose(table[1, 1:], [1 / 5, 4 / 5, 1 / 5, 4 / 5, 1 / 4, 3 / 4])


def test_pseudo_counts_are_added_before_the_shares_are_taken() -> None:
    problem = Problem.of(votes(), 2, LatentOptions(confusion_prior=1.0))
    share = np.array([[1.0, 0.0, 0.5, 0.0], [0.0, 1.0, 0.5, 1.0]])
    table = problem.maximise(share)
    assert table[0, 1] == pytest.approx((5 + 1) / (5 + 2))


def test_climbing_never_lowers_the_objective_and_ends_at_a_fixed_point() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (200, 4))
    problem_votes = as_votes(codes, np.ones(200), n_classes=2)
    options = LatentOptions(tolerance=1e-7, max_iterations=50_000)
    problem = Problem.of(problem_votes, 2, options)
    end = climb(problem, problem.normalise(rng.standard_exponential(problem.fixed.shape)), options)
    assert end.converged
    assert (np.diff(end.history) >= -1e-9).all()
    assert end.history[-1] > end.history[0]
    again = problem.maximise(problem.expect(end.table).responsibility)
    assert np.abs(again - end.table).max() <= 1e-7


def test_a_known_judge_that_is_not_there_is_refused() -> None:
    with pytest.raises(InputError, match="judge 3, but there are 3 judges"):
        Problem.of(votes(), 2, LatentOptions(confusion={3: np.eye(2)}))
