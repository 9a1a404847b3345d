"""Dawid-Skene with unreadable items, against printed vectors and its own definition."""

from __future__ import annotations

import numpy as np
import pytest

from tallystick.errors import NotIdentifiable
from tallystick.stats.latent_headline import SHARES, fit_unreadable


def test_four_judges_of_the_methods_page(four):
    fit = fit_unreadable(four.codes, four.counts, n_labels=2)
    none, firm = fit.at(0.0), fit.at(0.4)
    assert fit.log_likelihood[[none, firm]] == pytest.approx([-210.7261, -218.4053], abs=5e-5)
    assert fit.accuracy[none] == pytest.approx([0.9202, 0.8947, 0.8657, 0.8206], abs=5e-5)
    assert fit.accuracy[firm] == pytest.approx([0.8230, 0.8087, 0.7895, 0.7502], abs=5e-5)
    known = [0.9500, 0.0411, 0.0078, 0.0010, 0.0001, 0, 0]
    assert fit.weight == pytest.approx(known, abs=5e-5)


def test_three_labels_with_missing_votes_of_the_corrections(gaps):
    fit = fit_unreadable(gaps.codes, gaps.counts, n_labels=3)
    none, firm = fit.at(0.0), fit.at(0.4)
    assert fit.log_likelihood[[none, firm]] == pytest.approx([-118.8030, -133.9942], abs=5e-5)
    assert fit.accuracy[none] == pytest.approx([0.9600, 0.9327, 0.8549], abs=5e-5)
    assert fit.accuracy[firm] == pytest.approx([0.8706, 0.8482, 0.7967], abs=5e-5)
    assert fit.weight[none] == pytest.approx(0.9822, abs=5e-5)


def test_a_vote_that_is_never_true_has_no_class(extra, one_silent):
    fit = fit_unreadable(extra.codes, extra.counts, n_labels=2, n_votes=3)
    assert fit.plain.balance[0] == pytest.approx(0.5348, abs=5e-5)
    assert fit.accuracy[0] == pytest.approx([0.9163, 0.8233, 0.7655], abs=5e-5)
    fit = fit_unreadable(one_silent.codes, one_silent.counts, n_labels=2, n_votes=3)
    assert fit.plain.balance[0] == pytest.approx(0.5267, abs=5e-5)
    assert fit.accuracy[0] == pytest.approx([0.8794, 0.8016, 0.8492], abs=5e-5)


@pytest.mark.parametrize("share", [0.0, 0.2, 0.6])
def test_every_fit_is_a_fixed_point_of_plain_em(gaps, share):
    """One step of (U1) and (U2), written as loops, moves nothing."""
    fit = fit_unreadable(gaps.codes, gaps.counts, n_labels=3)
    model = fit.models[fit.at(share)]
    codes, counts = gaps.codes, gaps.counts
    frequency = np.array(
        [[counts[codes[:, j] == v].sum() for v in range(3)] for j in range(3)], dtype=float
    )
    frequency /= frequency.sum(axis=1, keepdims=True)

    q = np.empty((len(counts), 3))
    r, total = np.empty(len(counts)), 0.0
    for i, pattern in enumerate(codes):
        given = [(j, v) for j, v in enumerate(pattern) if v >= 0]
        top = (1 - share) * model.balance
        for j, v in given:
            top = top * model.confusion[j, :, v]
        noise = share * np.prod([frequency[j, v] for j, v in given])
        q[i], r[i] = top / (top.sum() + noise), noise / (top.sum() + noise)
        total += counts[i] * np.log(top.sum() + noise)

    assert total == pytest.approx(fit.log_likelihood[fit.at(share)], abs=1e-8)
    mass = counts @ q
    assert mass / mass.sum() == pytest.approx(model.balance, abs=1e-6)
    known = q + r[:, None] * mass / mass.sum()
    assert fit.posterior[fit.at(share)] == pytest.approx(known, abs=1e-6)
    for j in range(3):
        table = np.array(
            [
                frequency[j, v] + (counts[:, None] * q)[codes[:, j] == v].sum(axis=0)
                for v in range(3)
            ]
        ).T
        table /= table.sum(axis=1, keepdims=True)
        assert table == pytest.approx(model.confusion[j], abs=1e-6)


def test_shared_difficulty_moves_weight_to_a_positive_share():
    """A third of the items is a coin for every judge: h = 0 loses, and A^.4 is nearer the truth."""
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 3000)
    chance = np.where(rng.random(3000) < 1 / 3, 0.5, 0.95)[:, None]
    codes = np.where(rng.random((3000, 6)) < chance, truth[:, None], 1 - truth[:, None])
    patterns, counts = np.unique(codes, axis=0, return_counts=True)
    fit = fit_unreadable(patterns, counts, n_labels=2)
    assert fit.weight[fit.at(0.0)] < 1e-6
    assert SHARES[int(fit.weight.argmax())] == pytest.approx(0.3, abs=0.11)
    known = (codes == truth[:, None]).mean(axis=0)
    mixed = fit.weight @ fit.accuracy
    assert np.abs(mixed - known).mean() < np.abs(fit.accuracy[0] - known).mean()


def test_two_judges_are_refused(four):
    with pytest.raises(NotIdentifiable, match="three are needed"):
        fit_unreadable(four.codes[:, :2], four.counts, n_labels=2)
