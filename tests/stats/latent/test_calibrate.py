"""Calibrated probabilities from a few labels."""

from __future__ import annotations

import numpy as np
import pytest

from tallystick.stats.latent_calibrate import calibrate, cross_fitted, expected_calibration_error
from tallystick.stats.latent_checks import simulate
from tallystick.stats.latent_headline import fit_unreadable, support
from tallystick.stats.latent_model import LatentModel


def labelled(panel, given, text):
    """Counts of labels from words like 0000+3 (right three times) and 0000-1 (wrong once)."""
    out = np.zeros(given.support.shape)
    for word in text.split():
        i = panel.names.index(word[:4])
        right, number = word[4] == "+", int(word[5:])
        out[i, given.consensus[i] if right else 1 - given.consensus[i]] += number
    return out


@pytest.mark.parametrize(
    ("labels", "patterns", "known"),
    [
        (
            "0000+3 0000-1 1111+2 0001+1 0001-1 0011-1 1110+1",
            "0000 0001 0011 1110 1101",
            [0.7910, 0.4952, 0.2962, 0.7500, 0.6930],
        ),
        (
            "0000+4 1111+2",
            "0000 1111 0001 0011 1110",
            [0.9859, 0.9860, 0.8108, 0.6106, 0.8094],
        ),
    ],
)
def test_printed_probabilities(four, labels, patterns, known):
    given = support(fit_unreadable(four.codes, four.counts, n_labels=2))
    found = calibrate(given, labelled(four, given, labels), least=0)
    places = [four.names.index(name) for name in patterns.split()]
    assert found.right[places] == pytest.approx(known, abs=5e-5)


def test_no_labels_at_all_follow_the_prior(four):
    given = support(fit_unreadable(four.codes, four.counts, n_labels=2))
    found = calibrate(given, np.zeros(given.support.shape), least=0)
    assert found.coefficients == pytest.approx([0, 0.7, 0, 0, 0], abs=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_the_gradient_vanishes_at_the_mode_also_where_plain_newton_diverges(four, seed):
    """All labels at the extremes of the clipped logits, many of them wrong."""
    rng = np.random.default_rng(seed)
    given = support(fit_unreadable(four.codes, four.counts, n_labels=2))
    labels = rng.poisson(rng.choice([0.2, 3, 60], len(four.names))[:, None], given.support.shape)
    found = calibrate(given, labels, least=0)
    b, k = found.coefficients, labels.sum(axis=1)
    level = np.clip(given.support.max(axis=1), 0.005, 0.995)
    share = np.clip(given.share[np.arange(12), given.consensus], 0.005, 0.995)
    dummies = given.consensus[:, None] == np.arange(2)
    logit = [np.log(p / (1 - p)) for p in (level, share)]
    x = np.column_stack((np.ones(12), *logit, dummies))
    right = labels[np.arange(12), given.consensus]
    slope = x.T @ (right - k / (1 + np.exp(-x @ b)))
    slope -= (b - [0, 0.7, 0, 0, 0]) / np.array([1.5, 0.5, 0.5, 1, 1]) ** 2
    assert np.abs(slope).max() < 1e-6


def test_calibration_error_by_hand():
    p = [0.2, 0.4, 0.6, 0.8]
    assert expected_calibration_error(p, [0, 0, 1, 1], n_bins=4) == pytest.approx(0.3)
    assert expected_calibration_error(p, [0, 1, 1, 0], n_bins=1) == pytest.approx(0.0)
    assert expected_calibration_error([0.9] * 50, [1] * 45 + [0] * 5, n_bins=1) == 0


def test_with_votes_the_probabilities_equal_those_of_a_plain_implementation(four):
    """(U11) with a general optimiser and a curvature by differences."""
    from scipy.optimize import minimize

    given = support(fit_unreadable(four.codes, four.counts, n_labels=2))
    labels = labelled(four, given, "0000+9 0000-2 1111+7 0001+2 0001-3 0011-2 1110+3 1110-1")
    rows, k = np.arange(12), labels.sum(axis=1)
    right = labels[rows, given.consensus]

    def logit(p):
        p = np.clip(p[rows, given.consensus], 0.005, 0.995)
        return np.log(p / (1 - p))

    dummies = given.consensus[:, None] == np.arange(2)
    side = np.where(np.array(four.codes) == given.consensus[:, None], 1, -1)
    x = np.column_stack((np.ones(12), logit(given.support), logit(given.share), dummies, side))
    mean = np.array([0, 0.7, 0, 0, 0, 0, 0, 0, 0])
    evidence, forecast = [], []
    for spread in (0.05, 0.25, 0.5, 1.0):
        sd = np.array([1.5, 0.5, 0.5, 1, 1, *[spread] * 4])

        def loss(b, sd=sd):
            z = x @ b
            return k @ np.logaddexp(0, z) - right @ z + 0.5 * (((b - mean) / sd) ** 2).sum()

        b = minimize(loss, mean, tol=1e-12).x
        p = 1 / (1 + np.exp(-x @ b))
        curvature = x.T @ np.diag(k * p * (1 - p)) @ x + np.diag(sd**-2)
        root = np.linalg.det(curvature) ** -0.5
        evidence.append(np.exp(-loss(b)) * root / sd.prod())
        forecast.append(p)
    p = np.average(forecast, axis=0, weights=evidence)
    known = p + (right - k * p) / (k + 40)
    assert calibrate(given, labels, votes=four.codes).right == pytest.approx(known, abs=1e-5)


def test_a_vote_that_can_never_be_true_is_neither_for_nor_against(four):
    given = support(fit_unreadable(four.codes, four.counts, n_labels=2))
    labels = labelled(four, given, "0000+9 0000-2 1111+7 0001+2 0001-3 0011-2 1110+3 1110-1")
    ties = np.column_stack((four.codes, np.full(12, 2)))
    silent = np.column_stack((four.codes, np.full(12, -1)))
    with_ties = calibrate(given, labels, votes=ties).right
    assert with_ties == pytest.approx(calibrate(given, labels, votes=silent).right)


def test_cross_fitted_probabilities_do_not_see_their_own_label():
    model = LatentModel([0.5, 0.5], [[[0.8, 0.2], [0.3, 0.7]]] * 4)
    codes, truth = simulate(model, 300, rng=2)
    patterns, place, counts = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    given = support(fit_unreadable(patterns, counts, n_labels=2))
    labels = np.zeros(given.support.shape, dtype=int)
    np.add.at(labels, (place.ravel()[:60], truth[:60]), 1)
    probability, right = cross_fitted(given, labels, rng=1)
    assert probability.size == right.size == 60
    assert probability.min() >= 0.5
    assert expected_calibration_error(probability, right, n_bins=3) < 0.2
    again, _ = cross_fitted(given, labels, rng=1)
    assert (again == probability).all()
