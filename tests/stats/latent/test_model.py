"""The latent-class model itself."""

from __future__ import annotations

import numpy as np
import pytest

from tallystick.errors import NotIdentifiable
from tallystick.stats.latent_model import (
    LatentModel,
    expected_agreement,
    log_likelihood,
    posterior,
)


def test_a_missing_vote_is_summed_out(ternary, frequencies) -> None:
    codes, chance = frequencies(ternary)
    first = chance[(codes[:, 0] == 2) & (codes[:, 3] == 3)].sum()
    assert np.exp(log_likelihood(ternary, [[2, -1, -1, 3]]))[0] == pytest.approx(first, abs=1e-12)


def test_the_posterior_is_bayes_rule_by_hand(binary) -> None:
    joint = [0.65 * 0.9 * 0.3 * 0.95, 0.35 * 0.2 * 0.85 * 0.4]
    np.testing.assert_allclose(
        posterior(binary, [[0, 1, -1, 0]])[0], np.array(joint) / sum(joint), atol=1e-12
    )


def test_a_pattern_that_the_model_rules_out_is_refused_and_has_log_likelihood_minus_infinity() -> (
    None
):
    sure = LatentModel([0.5, 0.5], [[[1, 0], [0, 1]]] * 2)
    assert log_likelihood(sure, [[0, 1]])[0] == -np.inf
    with pytest.raises(NotIdentifiable, match="pattern 0 has probability 0"):
        posterior(sure, [[0, 1]])


def test_expected_agreement_equals_the_sum_over_patterns(ternary, frequencies) -> None:
    codes, chance = frequencies(ternary)
    same = codes[:, :, None] == codes[:, None, :]
    np.testing.assert_allclose(
        expected_agreement(ternary), np.einsum("i,ijk->jk", chance, same), atol=1e-12
    )
