"""The inner steps of the rollouts, against the same written out item by item."""

import numpy as np
import pytest

from tallystick.verbs.dynamic import population as kernels
from tallystick.verbs.dynamic.population import add_errors, count_votes, fill


def filled(score, weight, clean, epsilon, luck):
    """Take clean items of highest score until one does not fit; luck decides about that one."""
    errors, reached = np.zeros(len(score), bool), 0.0
    for i in sorted(np.flatnonzero(clean), key=lambda i: -score[i]):
        if reached + weight[i] > epsilon:
            with np.errstate(invalid="ignore"):
                errors[i] = luck * weight[i] < epsilon - reached
            break
        reached += weight[i]
        errors[i] = True
    return errors


@pytest.mark.parametrize("at_once", [1, 1 << 15])
@pytest.mark.parametrize("kind", ["plain", "infinite", "all clean", "none clean", "everything"])
def test_errors_are_filled_from_the_highest_score(kind, at_once, monkeypatch):
    monkeypatch.setattr(kernels, "_AT_ONCE", at_once)
    rng = np.random.default_rng(2)
    scores, weights = rng.random((30, 300)), rng.random((30, 300))
    weights[:, ::11] = 0.0
    weights /= weights.sum(axis=1, keepdims=True)
    clean = rng.random(300) < {"all clean": 2.0, "none clean": -1.0}.get(kind, 0.9)
    if kind == "infinite":  # one of each, so that there is one order only
        scores[:, 5], scores[:, 6] = np.inf, -np.inf
    epsilon = np.full(30, 2.0 if kind == "everything" else 0.1)
    luck = np.concatenate([rng.random(20), np.full(10, np.inf)])
    errors = np.empty(scores.shape, bool)
    fill(scores, weights, clean, epsilon, luck, errors)
    for row in range(30):
        expected = filled(scores[row], weights[row], clean, epsilon[row], luck[row])
        # an item without weight changes nothing, wherever rounding puts it
        assert (errors[row] == expected)[weights[row] > 0].all()


def test_equal_scores_are_filled_up_to_the_same_mass():
    errors = np.empty((1, 10), bool)
    fill(
        np.zeros((1, 10)),
        np.full((1, 10), 0.1),
        np.ones(10, bool),
        np.full(1, 0.35),
        np.full(1, 2.0),
        errors,
    )
    assert errors.sum() == 3


def test_votes_and_error_distributions_are_those_of_each_item():
    rng = np.random.default_rng(3)
    errors, share = rng.random((6, 40)) < 0.3, rng.random(40)
    errors[0] = False
    coin = rng.random(40) < 0.1
    weights, wrong, out = rng.random((6, 40)), rng.integers(0, 3, (6, 40)) * 0.5, np.zeros((6, 3))
    before = wrong.copy()
    count_votes(errors, 0.5, 0.75, 1e-9, share, weights, wrong, out)
    assert np.array_equal(wrong, before + 0.5 * errors)
    lost = np.where(wrong > 0.75, 1.0, np.where(wrong == 0.75, 0.5, 0.0))
    expected = [(lost * share).sum(1), (errors * share).sum(1), (errors * weights).sum(1)]
    assert out == pytest.approx(np.array(expected).T, abs=1e-12)

    for mixed in (coin, np.zeros(40, bool)):
        total, count = np.zeros((6, 40)), np.zeros(6)
        add_errors(errors, mixed, share, total, count)
        for row in range(6):
            part = np.where(mixed, 0.5, errors[row]) * share
            assert total[row] == pytest.approx(part / part.sum() if part.sum() else part)
            assert count[row] == (part.sum() > 0)
