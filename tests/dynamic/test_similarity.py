import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import InputError
from tallystick.verbs.dynamic.papers import path_certificate
from tallystick.verbs.dynamic.population import early_signals, rank_persistence, similarity, vote


def by_hand(errors):
    models = len(errors)
    share = errors.mean(axis=0)
    majority = np.where(share > 0.5, 1.0, np.where(share == 0.5, 0.5, 0.0))
    ratios = [
        majority[errors[s] & errors[t]].mean()
        for s in range(models)
        for t in range(models)
        if s != t and (errors[s] & errors[t]).any()
    ]
    return np.mean(ratios) if ratios else np.nan


@given(st.integers(2, 7), st.integers(3, 40), st.floats(0.05, 0.8), st.integers(0, 2**32 - 1))
def test_z_is_the_mean_over_pairs_with_common_errors(models, items, rate, seed):
    errors = np.random.default_rng(seed).random((models, items)) < rate
    assert similarity(errors) == pytest.approx(by_hand(errors), abs=1e-6, nan_ok=True)


def test_the_bad_sequence_of_theorem_3_5_has_z_one():
    proof = path_certificate(0.1, rounds=20)
    assert all(similarity(proof.errors[:t]) == pytest.approx(1) for t in range(3, 20))


def test_z_of_three_models_is_always_one_and_of_disjoint_ones_unknown():
    rng = np.random.default_rng(0)
    assert similarity(rng.random((50, 3, 30)) < 0.4) == pytest.approx(np.ones(50))
    assert np.isnan(similarity(np.eye(4, dtype=bool)))


def test_weights_and_another_majority_are_used():
    errors = np.array([[1, 1, 0], [1, 1, 0]], dtype=bool)
    assert similarity(
        errors, weights=np.array([0.6, 0.2, 0.2]), majority=np.array([1, 0, 0])
    ) == pytest.approx(0.75)


def test_early_signals_see_what_is_there():
    rng = np.random.default_rng(0)
    final = rng.random(60)
    risk = np.column_stack([rng.random(60), final + 0.1 * rng.random(60), rng.random(60), final])
    seen = early_signals(rng.random((60, 4, 30)) < 0.4, risk, early=2)
    assert seen.risk_correlation > 0.9
    assert seen.risk_correlation in seen.risk_interval
    flat = early_signals(rng.random((60, 4, 30)) < 0.4, np.ones((60, 4)), early=2)
    assert flat.risk_correlation is None


def test_early_signals_take_the_vote_that_the_risk_is_of():
    rng = np.random.default_rng(0)
    errors, risk = rng.random((40, 5, 60)) < 0.4, rng.random((40, 5))
    binary = vote(list(errors[:, :4].swapaxes(0, 1)))
    assert early_signals(errors, risk, early=4, majority=binary) == early_signals(
        errors, risk, early=4
    )
    other = early_signals(errors, risk, early=4, majority=binary * (rng.random(binary.shape) < 0.5))
    assert other.z_correlation != early_signals(errors, risk, early=4).z_correlation


def test_rank_persistence_ends_at_one():
    risk = np.random.default_rng(0).random((20, 5))
    assert rank_persistence(risk)[-1] == pytest.approx(1)
    assert np.isnan(rank_persistence(np.ones((5, 3)))).all()


def test_too_little_is_refused():
    for call in (
        lambda: similarity(np.ones((1, 5))),
        lambda: early_signals(np.ones((10, 4, 5)), np.ones((10, 4)), early=4),
        lambda: early_signals(np.ones((3, 4, 5)), np.ones((3, 4)), early=2),
    ):
        with pytest.raises(InputError):
            call()
