"""The latent-class model itself."""

from __future__ import annotations

import numpy as np
import pytest

from tallystick.errors import InputError, NotIdentifiable
from tallystick.stats.latent_checks import simulate
from tallystick.stats.latent_model import (
    LatentModel,
    expected_agreement,
    log_likelihood,
    pack,
    posterior,
    unpack,
)


def test_pattern_probabilities_sum_to_one(ternary, frequencies) -> None:
    assert frequencies(ternary)[1].sum() == pytest.approx(1, abs=1e-12)


def test_a_missing_vote_is_summed_out(ternary, frequencies) -> None:
    codes, chance = frequencies(ternary)
    first = chance[(codes[:, 0] == 2) & (codes[:, 3] == 3)].sum()
    assert np.exp(log_likelihood(ternary, [[2, -1, -1, 3]]))[0] == pytest.approx(first, abs=1e-12)


def test_the_posterior_is_bayes_rule_by_hand(binary) -> None:
    joint = [0.65 * 0.9 * 0.3 * 0.95, 0.35 * 0.2 * 0.85 * 0.4]
    np.testing.assert_allclose(
        posterior(binary, [[0, 1, -1, 0]])[0], np.array(joint) / sum(joint), atol=1e-12
    )


def test_no_votes_leave_the_balance(binary) -> None:
    np.testing.assert_allclose(posterior(binary, [[-1] * 4])[0], binary.balance, atol=1e-15)


def test_a_pattern_that_the_model_rules_out_is_refused_and_has_log_likelihood_minus_infinity() -> (
    None
):
    sure = LatentModel([0.5, 0.5], [[[1, 0], [0, 1]]] * 2)
    assert log_likelihood(sure, [[0, 1]])[0] == -np.inf
    with pytest.raises(NotIdentifiable, match="pattern 0 has probability 0"):
        posterior(sure, [[0, 1]])


def test_an_impossible_class_gets_exactly_nothing() -> None:
    model = LatentModel([0.5, 0.5], [[[1, 0], [0.5, 0.5]]] * 2)
    np.testing.assert_array_equal(posterior(model, [[0, 1]]), [[0, 1]])


def test_expected_agreement_equals_the_sum_over_patterns(ternary, frequencies) -> None:
    codes, chance = frequencies(ternary)
    same = codes[:, :, None] == codes[:, None, :]
    np.testing.assert_allclose(
        expected_agreement(ternary), np.einsum("i,ijk->jk", chance, same), atol=1e-12
    )


def test_packing_is_undone_by_unpacking(ternary) -> None:
    again = unpack(pack(ternary), ternary.n_votes)
    np.testing.assert_array_equal(again.balance, ternary.balance)
    np.testing.assert_array_equal(again.confusion, ternary.confusion)


def test_renaming_the_classes_leaves_every_pattern_as_likely(ternary, frequencies) -> None:
    codes, chance = frequencies(ternary)
    np.testing.assert_allclose(
        np.exp(log_likelihood(ternary.permuted([2, 0, 1]), codes)), chance, atol=1e-14
    )


@pytest.mark.parametrize(
    ("balance", "confusion", "n_votes"),
    [
        ([0.5, 0.6], [[[1, 0], [0, 1]]], None),
        ([0.5, 0.5], [[[1, 0.1], [0, 1]]], None),
        ([0.5, 0.5], [[1, 0], [0, 1]], None),
        ([0.5, 0.5], [[[0.5, 0, 0.5], [0, 1, 0]]], [2]),
    ],
)
def test_what_is_not_a_model_is_refused(balance, confusion, n_votes) -> None:
    with pytest.raises(InputError):
        LatentModel(balance, confusion, n_votes)


def test_codes_for_other_judges_are_refused(binary) -> None:
    with pytest.raises(InputError, match="one column for each of 4 judges"):
        posterior(binary, [[0, 1]])


def test_a_model_cannot_be_changed(binary) -> None:
    with pytest.raises(ValueError, match="read-only"):
        binary.balance[0] = 1


def test_simulated_votes_have_the_frequencies_of_the_model(ternary) -> None:
    codes, truth = simulate(ternary, 200_000, rng=3)
    for j in range(4):
        for y in range(3):
            share = np.bincount(codes[truth == y, j], minlength=4) / (truth == y).sum()
            # 5 standard errors at n = 40,000
            np.testing.assert_allclose(share, ternary.confusion[j, y], atol=0.01)
    np.testing.assert_allclose(np.bincount(truth) / truth.size, ternary.balance, atol=0.006)
