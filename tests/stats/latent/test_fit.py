"""Fitting: recovery, laws, starts, known parts, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.errors import ConvergenceError, NotIdentifiable
from tallystick.stats.latent_checks import simulate
from tallystick.stats.latent_model import (
    LatentModel,
    LatentOptions,
    Problem,
    as_votes,
    best_order,
    climb,
    fit,
    log_likelihood,
    majority_share,
)


def random_votes(seed: int, n_classes: int = 2, n_judges: int = 5, n: int = 60, gaps: float = 0.2):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_classes, n)
    codes = np.where(
        rng.random((n, n_judges)) < 0.6, truth[:, None], rng.integers(0, n_classes, (n, n_judges))
    )
    codes[rng.random(codes.shape) < gaps] = -1
    return codes, truth


@pytest.mark.parametrize("which", ["binary", "ternary"])
def test_exact_frequencies_give_back_the_model(which, request, frequencies) -> None:
    model = request.getfixturevalue(which)
    codes, counts = frequencies(model, 1000)
    found = fit(codes, counts, n_classes=model.n_classes, n_votes=model.n_votes)
    np.testing.assert_allclose(found.balance, model.balance, atol=1e-6)
    np.testing.assert_allclose(found.confusion, model.confusion, atol=1e-6)


def test_exact_frequencies_with_votes_missing_at_random_give_back_the_model(
    binary, frequencies
) -> None:
    codes, counts = frequencies(binary, 1000)
    gap = codes.copy()
    gap[:, 0] = -1
    found = fit(np.vstack((codes, gap)), np.concatenate((counts, 0.5 * counts)), n_classes=2)
    np.testing.assert_allclose(found.confusion, binary.confusion, atol=1e-6)


@given(st.integers(0, 10_000), st.permutations(range(3)))
def test_renaming_the_labels_renames_the_answer(seed: int, names: list[int]) -> None:
    codes, _ = random_votes(seed, 3, n=150, gaps=0.1)
    options = LatentOptions(confusion_prior=1.0)
    name = np.append(names, -1)  # the last entry keeps -1 what it is
    one = fit(codes, np.ones(150), n_classes=3, options=options)
    other = fit(name[codes], np.ones(150), n_classes=3, options=options)
    assert other.log_likelihood == pytest.approx(one.log_likelihood, abs=1e-5)
    np.testing.assert_allclose(other.balance[names], one.balance, atol=1e-5)
    np.testing.assert_allclose(other.confusion[:, names][:, :, names], one.confusion, atol=1e-5)


def test_a_known_judge_stands_in_for_a_third_one(binary, frequencies) -> None:
    codes, counts = frequencies(binary, 1000)
    pairs, where = np.unique(codes[:, :2], axis=0, return_inverse=True)
    options = LatentOptions(confusion={0: binary.confusion[0]}, max_iterations=50_000)
    found = fit(pairs, np.bincount(where.ravel(), weights=counts), n_classes=2, options=options)
    np.testing.assert_array_equal(found.confusion[0], binary.confusion[0])
    two = LatentModel(binary.balance, binary.confusion[:2])
    there, true = (np.exp(log_likelihood(one, pairs)) for one in (found.model, two))
    np.testing.assert_allclose(there, true, atol=1e-5)


def test_votes_that_a_known_judge_cannot_give_are_refused() -> None:
    codes = np.array([[0, 0, 0], [1, 1, 1], [0, 1, 1], [1, 0, 0]])
    sure = {0: np.eye(2), 1: np.eye(2)}
    with pytest.raises(
        NotIdentifiable, match="pattern 2 has probability 0 under the known confusion matrices"
    ):
        fit(codes, [5, 5, 1, 1], n_classes=2, options=LatentOptions(confusion=sure))


def test_an_informative_abstention_is_a_vote_of_its_own(ternary, frequencies) -> None:
    codes, counts = frequencies(ternary, 1000)
    silent = np.where(codes == 3, -1, codes)
    told = fit(codes, counts, n_classes=3, n_votes=ternary.n_votes)
    blind = fit(silent, counts, n_classes=3)
    assert np.abs(told.balance - ternary.balance).max() < 1e-6
    # the gap is not random, and taking it so is wrong
    assert np.abs(blind.balance - ternary.balance).max() > 0.003


def test_two_judges_are_refused_without_an_anchor() -> None:
    codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    with pytest.raises(NotIdentifiable, match="only 2 judges gave two different votes"):
        fit(codes, [4, 1, 1, 4], n_classes=2)
    with pytest.raises(NotIdentifiable, match="only 2 judges"):
        fit(np.column_stack((codes, [0] * 4)), [4, 1, 1, 4], n_classes=2)
    assert fit(
        codes, [4, 1, 1, 4], n_classes=2, options=LatentOptions(confusion_prior=1.0)
    ).converged


def test_no_convergence_is_an_error_or_is_said(binary) -> None:
    codes, _ = simulate(binary, 500, rng=2)
    with pytest.raises(ConvergenceError, match="raise max_iterations"):
        fit(codes, np.ones(500), n_classes=2, options=LatentOptions(max_iterations=2))
    found = fit(
        codes, np.ones(500), n_classes=2, options=LatentOptions(max_iterations=2, strict=False)
    )
    assert not found.converged
    assert found.iterations == 2


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.integers(2, 4), st.sampled_from([0.0, 0.5]))
def test_the_objective_never_falls(seed: int, n_classes: int, prior: float) -> None:
    codes, _ = random_votes(seed, n_classes)
    votes = as_votes(codes, np.ones(len(codes)), n_classes=n_classes)
    reached = []
    for steps in (1, 2, 3, 4, 6, 10, 30, 200):
        options = LatentOptions(confusion_prior=prior, max_iterations=steps)
        problem = Problem.of(votes, n_classes, options)
        start = problem.maximise(majority_share(votes, n_classes))
        reached.append(climb(problem, start, options).expectation.objective)
    history = np.array(reached)
    assert (np.diff(history) >= -1e-9 * np.abs(history[1:])).all()


def test_classes_are_named_so_that_judges_are_right_most() -> None:
    held = as_votes(np.array([[0, 1, 2], [1, 2, 0]]), np.ones(2), n_classes=3, n_votes=[3, 3, 3])
    # Class k of this table answers (k + 1) % 3, so its right name is that.
    rolled = np.roll(0.7 * np.eye(3) + 0.1, 1, axis=1)
    table = np.column_stack((np.full(3, 1 / 3), *([rolled] * 3)))
    assert best_order(table, held, np.ones(3)).tolist() == [2, 0, 1]
    # A judge without votes has no say, however clear its table is.
    mixed = np.column_stack((np.full(3, 1 / 3), rolled, 0.7 * np.eye(3) + 0.1, rolled))
    assert best_order(mixed, held, np.array([0.0, 5.0, 0.0])).tolist() == [0, 1, 2]
