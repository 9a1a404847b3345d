from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import binom

from tallystick.stats.bets import LAMBDAS, PSI, bounded_mean_interval, bounded_mean_log_e


def moments(x, axis=-1):
    return x.shape[axis], x.sum(axis=axis), (x**2).sum(axis=axis)


def test_the_e_value_is_the_mean_of_the_parts():
    above, below = bounded_mean_log_e(1000, 80.0, 200.0)
    parts = [np.exp(lam * 40 - psi * 50) for lam, psi in zip(LAMBDAS, PSI, strict=True)]  # y = x/2
    assert above == pytest.approx(np.log(np.mean(parts)))
    parts = [np.exp(-lam * 40 - psi * 50) for lam, psi in zip(LAMBDAS, PSI, strict=True)]
    assert below == pytest.approx(np.log(np.mean(parts)))


@given(low=st.floats(-1, 0.5), rate=st.floats(0.01, 0.99), length=st.integers(1, 6))
def test_the_mean_of_the_e_value_is_at_most_one(low, rate, length):
    # all runs of a two-point variable on the ends of [low, 1], tested at its true mean
    mean = low * (1 - rate) + rate
    hits = np.arange(length + 1)
    weight = binom(length, hits) * rate**hits * (1 - rate) ** (length - hits)
    total = hits + (length - hits) * low
    squares = hits + (length - hits) * low**2
    for side in bounded_mean_log_e(length, total, squares, mean=mean, low=low, high=1.0):
        assert weight @ np.exp(side) <= 1 + 1e-9


@given(st.integers(0, 10**6), st.integers(1, 300))
def test_the_interval_is_what_is_not_refuted(seed, n):
    rng = np.random.default_rng(seed)
    x = rng.beta(0.5, 2, n) * 2 - 1
    low, high = bounded_mean_interval(*moments(x))
    assert -1 <= low <= x.mean() <= high <= 1
    mu = np.linspace(-1, 1, 201)
    above, below = bounded_mean_log_e(*moments(x), mean=mu)
    clear = (np.abs(mu - low) > 1e-9) & (np.abs(mu - high) > 1e-9)
    np.testing.assert_array_equal(
        (np.maximum(above, below) >= np.log(40))[clear], ((mu < low) | (mu > high))[clear]
    )
