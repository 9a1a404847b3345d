import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.papers.dynamic_benchmarks.designs import vote
from tallystick.verbs.dynamic.simulate import early_signals, rank_persistence


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
    for rollouts, early in ((10, 4), (3, 2)):
        with pytest.raises(InputError):
            early_signals(np.ones((rollouts, 4, 5)), np.ones((rollouts, 4)), early=early)
