"""Scores, information and intervals."""

from __future__ import annotations

import itertools
from importlib import import_module

import numpy as np
import pytest

from tallystick.errors import InputError, NotIdentifiable
from tallystick.stats.latent_fit import fit, information, simulate
from tallystick.stats.latent_model import (
    LatentModel,
    LatentOptions,
    log_likelihood,
    pack,
    posterior,
    unpack,
)

latent_information = import_module("tallystick.stats.latent_fit")


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


def test_scores_are_derivatives_of_the_log_likelihood(noisy) -> None:
    info = information(noisy)
    numeric = slope(info, lambda model: log_likelihood(model, noisy.votes.codes))
    said = (noisy.votes.codes >= 0).any(axis=1)
    np.testing.assert_allclose(info.scores[said], numeric[said], atol=1e-8)


def test_scores_sum_to_zero_at_the_maximum(noisy) -> None:
    total = noisy.votes.counts @ information(noisy).scores
    np.testing.assert_allclose(total, 0, atol=1e-3)  # of 3000 items, at tolerance 1e-8


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
    np.testing.assert_allclose(info.information, -numeric, atol=2e-3)  # entries reach 400


def test_on_exact_frequencies_the_outer_form_is_the_observed_one(binary, frequencies) -> None:
    codes, counts = frequencies(binary, 1000)
    found = fit(codes, counts, n_classes=2, options=LatentOptions(tolerance=1e-12))
    outer, observed = (information(found, kind=kind) for kind in ("outer", "observed"))
    np.testing.assert_allclose(outer.information, observed.information, atol=1e-5)


@pytest.mark.parametrize("kind", ["outer", "observed"])
def test_for_a_trio_the_covariance_is_the_multinomial_delta_method(kind) -> None:
    model = LatentModel(
        [0.6, 0.4], [[[a, 1 - a], [1 - b, b]] for a, b in [(0.9, 0.8), (0.7, 0.85), (0.8, 0.75)]]
    )
    codes = np.array(list(itertools.product([0, 1], repeat=3)))
    counts = np.random.default_rng(2).multinomial(5000, np.exp(log_likelihood(model, codes)))
    found = fit(codes, counts, n_classes=2, options=LatentOptions(tolerance=1e-13))
    info = information(found, kind=kind)
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


def test_intervals_use_the_derivatives_of_what_they_cover(noisy) -> None:
    info = information(noisy)
    for said, of in (
        (info.accuracy_interval(), lambda m: m.accuracy),
        (info.balance_interval(), lambda m: m.balance),
    ):
        expected = info.interval(of(noisy.model), slope(info, of))
        np.testing.assert_allclose(said, expected, atol=1e-7)
    gradient = slope(info, lambda m: m.confusion[:3, :, :3].ravel())
    expected = info.interval(noisy.confusion[:3, :, :3].ravel(), gradient)
    low, high = info.confusion_interval()
    np.testing.assert_allclose(
        (low[:3, :, :3].ravel(), high[:3, :, :3].ravel()), expected, atol=1e-7
    )
    assert np.isnan(low[:3, :, 3]).all()  # beyond the alphabet of the first three judges


def test_intervals_contain_their_estimates_and_grow_with_the_level(noisy) -> None:
    info = information(noisy)
    low, high = info.accuracy_interval()
    assert ((low < noisy.model.accuracy) & (noisy.model.accuracy < high)).all()
    wide = info.accuracy_interval(0.99)
    assert ((wide[0] < low) & (high < wide[1])).all()
    with pytest.raises(InputError, match="level"):
        info.accuracy_interval(1.0)


def test_knowing_the_balance_or_a_judge_removes_its_coordinates_and_narrows_the_rest(
    binary, frequencies
) -> None:
    codes, counts = frequencies(binary, 1000)
    free = information(fit(codes, counts, n_classes=2))
    known = LatentOptions(balance=binary.balance, confusion={1: binary.confusion[1]})
    info = information(fit(codes, counts, n_classes=2, options=known))
    assert info.position.shape[0] == free.position.shape[0] - 3
    assert np.isnan(info.balance_interval()[0]).all()
    assert np.isnan(info.confusion_interval()[0][1]).all()
    width = np.subtract(*info.confusion_interval()[::-1])[[0, 2, 3]]
    assert (width < np.subtract(*free.confusion_interval()[::-1])[[0, 2, 3]]).all()


def test_truth_narrows_the_intervals(binary) -> None:
    codes, truth = simulate(binary, 1000, rng=1)
    without = information(fit(codes, np.ones(1000), n_classes=2))
    told = information(fit(codes, np.ones(1000), n_classes=2, truth=truth))
    width, narrow = (np.subtract(*i.accuracy_interval()[::-1]) for i in (without, told))
    assert (narrow < width).all()
    # of a binomial count, the textbook information
    p, n = (codes[truth == 0, 0] == 0).mean(), (truth == 0).sum()
    cell = np.flatnonzero((told.position[:, 0] == 0) & np.isin(told.position[:, 1], [1, 2]))[0]
    assert told.information[cell, cell] == pytest.approx(n * p * (1 - p), rel=1e-9)
    assert told.covariance[cell, cell] == pytest.approx(1 / (n * p * (1 - p)), rel=1e-9)


def test_an_estimate_on_the_boundary_has_no_interval_and_leaves_the_others_theirs(
    binary, frequencies
) -> None:
    codes, counts = frequencies(binary, 1000)
    info = information(
        fit(np.column_stack((codes, np.ones(len(codes), dtype=int))), counts, n_classes=2)
    )
    low, _ = info.confusion_interval()
    assert np.isnan(low[4]).all()
    assert info.unsupported[4].all()
    assert np.isfinite(low[:4]).all()
    accuracy, _ = info.accuracy_interval()
    assert np.isnan(accuracy[4])
    assert np.isfinite(accuracy[:4]).all()


@pytest.mark.parametrize("kind", ["outer", "observed"])
def test_a_flat_likelihood_is_refused_with_the_parameter_named(kind, frequencies) -> None:
    # The third judge is a coin: two judges are left, and infinitely many models explain two judges.
    model = LatentModel(
        [0.6, 0.4], [[[0.9, 0.1], [0.2, 0.8]], [[0.7, 0.3], [0.2, 0.8]], [[0.5, 0.5], [0.5, 0.5]]]
    )
    codes, counts = frequencies(model, 1000)
    found = fit(codes, counts, n_classes=2, options=LatentOptions(tolerance=1e-12))
    with pytest.raises(NotIdentifiable, match="singular, most of all for"):
        information(found, kind=kind)


def test_an_interval_of_almost_nothing_is_almost_everything(noisy) -> None:
    info = information(noisy)
    low, high = info.interval(np.array([0.3]), np.full((1, info.position.shape[0]), 1e6))
    assert (low[0], high[0]) == (0, 1)


def test_a_prior_informs_like_pseudo_votes() -> None:
    codes, truth = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 1], [0, 1, 1]]), [0, 0, 1, 1]
    found = fit(
        codes, [6, 2, 4, 3], n_classes=2, truth=truth, options=LatentOptions(confusion_prior=1.0)
    )
    info = information(found)
    cell = np.flatnonzero((info.position[:, 0] == 0) & np.isin(info.position[:, 1], [1, 2]))[0]
    assert info.information[cell, cell] == pytest.approx((8 + 2) * 0.7 * 0.3)


def test_when_everything_is_known_there_is_nothing_to_be_unsure_of(binary, frequencies) -> None:
    codes, counts = frequencies(binary, 100)
    options = LatentOptions(balance=binary.balance, confusion=dict(enumerate(binary.confusion)))
    with pytest.raises(NotIdentifiable, match="nothing to be unsure of"):
        information(fit(codes, counts, n_classes=2, options=options))
