from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import binom, ndtri

from tallystick.errors import InputError
from tallystick.stats.bets import LAMBDAS, PSI, bounded_mean_interval, bounded_mean_log_e


def moments(x, axis=-1):
    return x.shape[axis], x.sum(axis=axis), (x**2).sum(axis=axis)


@given(st.floats(-1, 50), st.floats(0, 0.999))
def test_the_inequality_behind_it_holds(y, lam):
    psi = -np.log1p(-lam) - lam
    assert lam * y - psi * y * y <= np.log1p(lam * y) + 1e-9


def test_every_part_of_the_mixture_falls_as_the_tested_mean_rises():
    assert np.all(LAMBDAS > 2 * PSI)


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


def test_the_interval_shrinks_to_about_twice_that_of_t():
    rng = np.random.default_rng(37)
    x = rng.choice([-1.0, 0.0, 1.0], p=[0.05, 0.85, 0.1], size=10_000)
    low, high = bounded_mean_interval(*moments(x))
    t_width = 2 * -ndtri(0.025) * x.std() / 100
    assert 1.3 < (high - low) / t_width < 2.1


def test_four_thousand_null_runs_hardly_ever_stop():
    rng = np.random.default_rng(41)
    for values, chances in (([-1.0, 0.0, 1.0], [0.05, 0.9, 0.05]), ([-0.1, 0.9], [0.9, 0.1])):
        x = rng.choice(values, p=chances, size=(4000, 500))
        n = np.arange(20, 501, 20)
        s, q = (np.cumsum(y, axis=1)[:, n - 1] for y in (x, x**2))
        above, below = bounded_mean_log_e(n, s, q)
        for side in (above, below):
            assert np.mean(np.max(side, axis=1) >= np.log(20)) <= 0.05


def test_arrays_are_taken_at_once():
    low, high = bounded_mean_interval([10, 1000], [5.0, 500.0], [5.0, 500.0], low=0.0)
    assert np.all(low < 0.5)
    assert np.all(high > 0.5)
    assert high[1] - low[1] < high[0] - low[0]


def test_moments_that_cannot_be_are_refused():
    with pytest.raises(InputError, match="widen the bounds"):
        bounded_mean_log_e(10, 11.0, 20.0)
    with pytest.raises(InputError, match="sum of squared items"):
        bounded_mean_log_e(10, 5.0, 1.0)
    with pytest.raises(InputError, match="low must be below high"):
        bounded_mean_log_e(10, 5.0, 5.0, low=1.0, high=1.0)
