from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import InputError
from tallystick.stats.signs import next_uncertainty, spread, uncertainty, uncertainty_score

answers = st.lists(st.integers(0, 4), min_size=2, max_size=40)


@given(answers)
def test_the_estimate_counts_the_pairs_that_disagree(seen: list[int]) -> None:
    pairs = list(itertools.permutations(seen, 2))
    share = sum(a != b for a, b in pairs) / len(pairs)  # equation (3.1), literally
    assert uncertainty(np.bincount(seen)) == pytest.approx(share, abs=1e-12)


@given(answers)
def test_the_recursion_agrees_with_the_batch_at_every_step(seen: list[int]) -> None:
    sigma2, counts = 0.0, np.zeros(5)
    for n, answer in enumerate(seen):
        if n:
            sigma2 = next_uncertainty(sigma2, n, int(counts[answer]))
        counts[answer] += 1
        if n:
            assert sigma2 == pytest.approx(float(uncertainty(counts)), abs=1e-12)


@given(answers, st.lists(st.floats(0, 3), min_size=5, max_size=5))
def test_three_sums_of_weighted_vectors_give_the_weighted_estimate(
    seen: list[int], weights: list[float]
) -> None:
    vectors = np.eye(5)[seen] * weights
    sums = spread(len(seen), (vectors**2).sum(), (vectors.sum(axis=0) ** 2).sum())
    batch = uncertainty(np.bincount(seen, minlength=5), weights=weights)
    assert sums == pytest.approx(float(batch), abs=1e-10)
    assert sums == pytest.approx(np.trace(np.cov(vectors.T)), abs=1e-10)


@pytest.mark.parametrize("weights", [None, [1.0, 0.0, 2.5]])
def test_the_estimate_is_unbiased_by_enumeration(weights: list[float] | None) -> None:
    p = np.array([0.5, 0.3, 0.2])
    mean = sum(
        np.prod(p[list(draw)]) * uncertainty(np.bincount(draw, minlength=3), weights=weights)
        for draw in itertools.product(range(3), repeat=4)
    )
    assert mean == pytest.approx(float(uncertainty_score(p, weights=weights)), abs=1e-12)


def test_definition_1_on_the_three_examples_of_the_paper() -> None:
    p = [[0.5, 0.5, 0], [0, 1, 0], [1 / 3, 1 / 3, 1 / 3]]
    assert uncertainty_score(p) == pytest.approx([0.5, 0, 2 / 3])


def test_fewer_than_two_answers_are_unknown_in_batch_and_zero_in_the_running_form() -> None:
    assert np.isnan(uncertainty([[0, 0], [1, 0]])).all()
    assert spread(np.array([0, 1]), np.array([0, 1]), np.array([0, 1])).tolist() == [0, 0]


def test_what_is_no_distribution_is_refused() -> None:
    with pytest.raises(InputError, match="sum to 1"):
        uncertainty_score([0.5, 0.6])
    with pytest.raises(InputError, match="negative"):
        uncertainty([-1, 3])
    with pytest.raises(InputError, match="n=0"):
        next_uncertainty(0.0, 0, 0)
