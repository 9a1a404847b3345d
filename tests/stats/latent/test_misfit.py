"""Pairwise agreement against the model."""

from __future__ import annotations

import numpy as np
import pytest

from tallystick.errors import NotIdentifiable
from tallystick.stats.latent_checks import agreement_z, degrees_of_freedom, misfit, simulate
from tallystick.stats.latent_model import LatentModel, LatentOptions, fit


def test_z_is_the_formula_by_hand() -> None:
    codes = np.array([[0, 0, 0], [1, 1, 1], [0, 1, 0], [1, 1, 0]])
    counts = np.array([40.0, 30, 20, 10])
    # Judge 0 is the truth, so the class of every item is its vote.
    options = LatentOptions(confusion={0: np.eye(2)})
    found = fit(codes, counts, n_classes=2, options=options)
    e = 0.6 * (1.0 * (2 / 3)) + 0.4 * (1.0 * 1.0)  # judge 0 votes the truth; judge 1 has 2/3 and 1
    z = agreement_z(found)
    assert z[0, 1] == pytest.approx((0.8 - e) / np.sqrt(e * (1 - e) / 100))


def test_a_true_model_is_seldom_refuted_and_a_copying_judge_always(binary) -> None:
    alarms = 0
    for seed in range(6):
        codes, _ = simulate(binary, 600, rng=seed)
        alarms += misfit(fit(codes, np.ones(600), n_classes=2), rng=seed).refuted
        follows = np.random.default_rng(seed).random(600) < 0.7
        codes[:, 2] = np.where(follows, codes[:, 1], codes[:, 2])
        copied = misfit(fit(codes, np.ones(600), n_classes=2), rng=seed)
        assert copied.ratio > 1.7
        assert copied.refuted
    assert alarms <= 1


def test_three_binary_judges_are_saturated_and_refused(binary) -> None:
    codes, _ = simulate(binary, 600, rng=1)
    with pytest.raises(NotIdentifiable, match="fits anything"):
        misfit(fit(codes[:, :3], np.ones(600), n_classes=2), rng=1)


def test_degrees_of_freedom_count_frequencies_less_parameters(binary, ternary, frequencies) -> None:
    codes, counts = frequencies(binary)
    assert degrees_of_freedom(fit(codes, counts, n_classes=2)) == 15 - 9
    codes, counts = frequencies(ternary)
    assert (
        degrees_of_freedom(fit(codes, counts, n_classes=3, n_votes=ternary.n_votes))
        == 107 - 2 - 3 * 9
    )


def test_pairs_with_few_common_items_are_left_out() -> None:
    model = LatentModel([0.5, 0.5], [[[0.8, 0.2], [0.2, 0.8]]] * 5)
    codes, _ = simulate(model, 300, rng=5)
    codes[:295, 4] = -1
    found = fit(codes, np.ones(300), n_classes=2)
    assert np.isnan(agreement_z(found)[4]).all()
    assert np.isfinite(agreement_z(found)[:4, :4]).sum() == 12
