"""Scores and information."""

from __future__ import annotations

import itertools
from importlib import import_module

import numpy as np
import pytest

from tallystick.errors import NotIdentifiable
from tallystick.stats.latent_checks import information, simulate
from tallystick.stats.latent_model import (
    LatentModel,
    LatentOptions,
    fit,
    log_likelihood,
    pack,
    posterior,
    unpack,
)

latent_information = import_module("tallystick.stats.latent_checks")


def moved(info, eta):
    """The model after a step *eta* along the softmax coordinates."""
    table = np.log(np.maximum(pack(info.model), 1e-300))
    table[info.position[:, 0], info.position[:, 1]] += eta
    table = np.exp(table)
    start = 1 + np.cumsum(info.model.n_votes) - info.model.n_votes
    table[:, 0] /= table[:, 0].sum()
    for s, v in zip(start, info.model.n_votes, strict=True):
        table[:, s : s + v] /= table[:, s : s + v].sum(axis=1, keepdims=True)
    return unpack(table, info.model.n_votes)


def slope(info, of, step=1e-5):
    """Central differences of a vector function along every coordinate, last axis."""
    size = info.position.shape[0]
    return np.stack(
        [
            (of(moved(info, step * e)) - of(moved(info, -step * e))) / (2 * step)
            for e in np.eye(size)
        ],
        -1,
    )


@pytest.fixture(scope="module")
def noisy(ternary):
    codes, _ = simulate(ternary, 3000, rng=12)
    codes[np.random.default_rng(1).random(codes.shape) < 0.2] = -1
    codes, counts = np.unique(codes, axis=0, return_counts=True)
    return fit(codes, counts, n_classes=3, n_votes=ternary.n_votes)


def test_a_model_of_too_many_parameters_is_refused_before_memory_is_full(
    noisy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(latent_information, "MOST_PARAMETERS", 5)
    with pytest.raises(
        NotIdentifiable, match=r"labels and .* judges have .* parameters, more than"
    ):
        information(noisy)


def second_derivatives(info, codes, counts, h=1e-3):
    """Central second differences of the log likelihood."""
    size = info.position.shape[0]

    def value(eta):
        return counts @ log_likelihood(moved(info, eta), codes)

    out = np.empty((size, size))
    for a, b in itertools.product(range(size), repeat=2):
        ea, eb = h * np.eye(size)[a], h * np.eye(size)[b]
        out[a, b] = (value(ea + eb) - value(ea - eb) - value(eb - ea) + value(-ea - eb)) / (
            4 * h * h
        )
    return out


def test_the_observed_information_is_minus_the_hessian(noisy) -> None:
    info = information(noisy)
    numeric = second_derivatives(info, noisy.votes.codes, noisy.votes.counts)
    np.testing.assert_allclose(np.linalg.inv(info.covariance), -numeric, atol=2e-3)


def test_for_a_trio_the_covariance_is_the_multinomial_delta_method() -> None:
    model = LatentModel(
        [0.6, 0.4], [[[a, 1 - a], [1 - b, b]] for a, b in [(0.9, 0.8), (0.7, 0.85), (0.8, 0.75)]]
    )
    codes = np.array(list(itertools.product([0, 1], repeat=3)))
    counts = np.random.default_rng(2).multinomial(5000, np.exp(log_likelihood(model, codes)))
    found = fit(codes, counts, n_classes=2, options=LatentOptions(tolerance=1e-13))
    info = information(found)
    frequency = counts / 5000
    # seven free frequencies, seven parameters
    jacobian = slope(info, lambda m: np.exp(log_likelihood(m, codes)))[:-1]
    inverse = np.linalg.inv(jacobian)
    multinomial = (np.diag(frequency) - np.outer(frequency, frequency))[:-1, :-1] / 5000
    np.testing.assert_allclose(
        info.covariance, inverse @ multinomial @ inverse.T, rtol=1e-5, atol=1e-9
    )


def test_the_gradient_of_posteriors_is_a_derivative(noisy) -> None:
    info = information(noisy)
    codes = noisy.votes.codes[:40]
    direction = np.random.default_rng(3).normal(size=(40, 3))
    numeric = slope(info, lambda m: np.array((direction * posterior(m, codes)).sum()))
    np.testing.assert_allclose(info.posterior_gradient(codes, direction), numeric, atol=1e-7)


def test_a_flat_likelihood_is_refused_with_the_parameter_named(frequencies) -> None:
    # The third judge is a coin: two judges are left, and infinitely many models explain two judges.
    model = LatentModel(
        [0.6, 0.4], [[[0.9, 0.1], [0.2, 0.8]], [[0.7, 0.3], [0.2, 0.8]], [[0.5, 0.5], [0.5, 0.5]]]
    )
    codes, counts = frequencies(model, 1000)
    found = fit(codes, counts, n_classes=2, options=LatentOptions(tolerance=1e-12))
    with pytest.raises(NotIdentifiable, match="singular, most of all for"):
        information(found)


def test_a_known_judge_and_probabilities_on_the_boundary_have_no_coordinates(
    binary, frequencies
) -> None:
    codes, counts = frequencies(binary, 1000)
    free = information(fit(codes, counts, n_classes=2)).position
    known = LatentOptions(confusion={1: binary.confusion[1]})
    assert (
        len(information(fit(codes, counts, n_classes=2, options=known)).position) == len(free) - 2
    )
    constant = np.column_stack((codes, np.ones(len(codes), dtype=int)))
    assert len(information(fit(constant, counts, n_classes=2)).position) == len(free)
