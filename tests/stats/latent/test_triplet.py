"""The closed form for trios of binary judges."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import InputError, NotIdentifiable
from tallystick.stats.latent_fit import fit
from tallystick.stats.latent_model import LatentModel, log_likelihood
from tallystick.stats.latent_triplet import solve_points, solve_trios, trio_moments, triplet

GRID = np.array(list(itertools.product([0, 1], repeat=3)))
rate = st.floats(0.55, 0.95)


def model_of(first: float, pairs) -> LatentModel:
    return LatentModel([first, 1 - first], [[[a, 1 - a], [1 - b, b]] for a, b in pairs])


@given(st.floats(0.05, 0.95), st.lists(st.tuples(rate, rate), min_size=3, max_size=3))
def test_an_independent_trio_is_solved_exactly(first, pairs) -> None:
    model = model_of(first, pairs)
    trios = solve_trios(GRID, np.exp(log_likelihood(model, GRID)))
    assert trios.status[0] == "sensible"
    assert trios.balance[0] == pytest.approx(first, abs=1e-8)
    np.testing.assert_allclose(trios.accuracy[0], pairs, atol=1e-8)


def test_equal_classes_need_no_special_case() -> None:
    model = model_of(0.5, [(0.9, 0.9), (0.8, 0.8), (0.7, 0.7)])
    assert solve_trios(GRID, np.exp(log_likelihood(model, GRID))).balance[0] == pytest.approx(
        0.5, abs=1e-12
    )


def test_a_judge_who_is_mostly_wrong_is_found_out() -> None:
    pairs = [(0.9, 0.8), (0.8, 0.9), (0.3, 0.2)]
    trios = solve_trios(GRID, np.exp(log_likelihood(model_of(0.4, pairs), GRID)))
    np.testing.assert_allclose(trios.accuracy[0], pairs, atol=1e-10)


def test_the_closed_form_is_the_maximum_of_the_likelihood_for_a_sensible_trio() -> None:
    counts = np.array([300, 40, 60, 70, 50, 45, 90, 345])
    trios = solve_trios(GRID, counts)
    assert trios.status[0] == "sensible"
    found = fit(GRID, counts, n_classes=2)
    np.testing.assert_allclose(trios.accuracy[0], np.einsum("jcc->jc", found.confusion), atol=1e-5)


@pytest.mark.parametrize(
    ("counts", "status"),
    [
        # pattern order 000 001 010 011 100 101 110 111
        ([1, 1, 1, 1, 1, 1, 1, 1], "blind judge"),
        ([4, 4, 1, 1, 1, 1, 4, 4], "blind judge"),  # the third judge is a coin
        ([7, 5, 4, 2, 2, 0, 0, 0], "negative product"),
        ([1, 6, 6, 6, 6, 6, 6, 1], "complex"),
        ([3, 7, 4, 0, 6, 6, 7, 1], "outside"),
    ],
)
def test_every_failure_has_its_name(counts, status) -> None:
    trios = solve_trios(GRID, counts)
    assert trios.status[0] == status


def test_one_vanishing_covariance_is_no_variety() -> None:
    # D_01 = 0 while the third judge goes along with both: no independent trio does that.
    counts = [4, 1, 2, 3, 2, 3, 1, 4]
    trios = solve_trios(GRID, counts)
    assert trios.status[0] == "no variety"
    assert np.isnan(trios.balance[0])


def test_many_judges_are_graded_exactly_on_exact_frequencies(binary, frequencies) -> None:
    codes, chance = frequencies(binary)
    for balance in (None, binary.balance):
        found = triplet(codes, chance, balance=balance)
        np.testing.assert_allclose(found.balance, binary.balance, atol=1e-10)
        np.testing.assert_allclose(found.confusion, binary.confusion, atol=1e-10)


def test_votes_missing_at_random_change_nothing_on_exact_frequencies(binary, frequencies) -> None:
    codes, chance = frequencies(binary)
    parts = [(codes, chance)]
    for j in range(4):
        gap = codes.copy()
        gap[:, j] = -1
        parts.append((gap, (0.2 + 0.1 * j) * chance))
    found = triplet(np.vstack([c for c, _ in parts]), np.concatenate([w for _, w in parts]))
    np.testing.assert_allclose(found.confusion, binary.confusion, atol=1e-10)


def test_a_wrong_balance_that_drives_an_accuracy_out_is_refused_or_clipped() -> None:
    model = model_of(0.5, [(0.95, 0.95), (0.9, 0.9), (0.9, 0.9)])
    chance = np.exp(log_likelihood(model, GRID))
    with pytest.raises(NotIdentifiable, match="judge 0 would be right on"):
        triplet(GRID, chance, balance=[0.9, 0.1])
    assert triplet(GRID, chance, balance=[0.9, 0.1], clip=True).confusion.max() == 1.0


def test_no_sensible_trio_is_refused_with_its_failures_named() -> None:
    with pytest.raises(NotIdentifiable, match="1 x complex"):
        triplet(GRID, [1, 6, 6, 6, 6, 6, 6, 1])
    with pytest.raises(NotIdentifiable, match="judge 0 is in no trio"):
        triplet(GRID, [1, 1, 1, 1, 1, 1, 1, 1], balance=[0.5, 0.5])


def test_two_judges_and_a_bad_balance_are_refused() -> None:
    with pytest.raises(NotIdentifiable, match="three judges, got 2"):
        solve_trios([[0, 1], [1, 1]], [1, 1])
    with pytest.raises(InputError, match="balance must hold two"):
        triplet(GRID, np.ones(8), balance=[1.0, 0.0])


def test_moments_from_bits_equal_moments_from_products():
    rng = np.random.default_rng(8)
    codes = rng.integers(0, 2, size=(300, 6))
    counts = rng.integers(0, 40, size=300)
    whole = trio_moments(codes, counts)
    halves = trio_moments(codes, counts + 1e-13)  # weights, which bits do not serve
    i, j, k = np.array(list(itertools.combinations(range(6), 3))).T
    assert np.allclose(whole.third[i, j, k], halves.third[i, j, k], atol=1e-12)
    assert np.allclose(whole.covariance, halves.covariance, atol=1e-12)


def test_trios_solved_in_rows_are_those_solved_one_by_one() -> None:
    rng = np.random.default_rng(2)
    tables = rng.integers(1, 40, (50, 8))
    alone = [solve_trios(GRID, counts) for counts in tables]
    rows = [
        np.concatenate([getattr(one, name) for one in alone])
        for name in ("judges", "mean", "covariance", "third")
    ]
    together = solve_points(*rows)
    assert together.status.tolist() == [str(one.status[0]) for one in alone]
    np.testing.assert_array_equal(
        together.accuracy, np.concatenate([one.accuracy for one in alone])
    )
