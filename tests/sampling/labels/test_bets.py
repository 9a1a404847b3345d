from __future__ import annotations

import numpy as np
import pytest

from tallystick.sampling.bets import capital, last_refuted, moments_before, sign_bets


def test_moments_are_those_of_the_running_sums():
    z = np.array([0.2, 1.3, 0.7])
    mean, variance = moments_before(z, start=0.5)
    total, scatter = 0.5, 0.25
    for i in range(3):
        assert mean[i] == pytest.approx(total / (i + 1))
        assert variance[i] == pytest.approx(scatter / (i + 1))
        total += z[i]
        scatter += (z[i] - total / (i + 2)) ** 2


def test_the_gambler_against_the_estimate_stakes_a_quarter():
    z, options = np.array([1.0, 1.0]), {"start": 0.5, "least": 0.05, "timid": 0.25}
    up, down = sign_bets(z, 0.5, **options), sign_bets(1 - z, 0.5, **options)
    assert up[0] == down[0]
    assert down[1] == pytest.approx(up[1] / 4)


def test_no_draw_loses_more_than_three_quarters():
    worst = capital(np.array([-1.0]), np.array([-1.0]), np.array([99.0]), 0.5)
    assert worst[0] == pytest.approx(0.25)


def test_bisection_finds_where_the_capital_crosses():
    z, low, bets = np.full(40, 0.8), np.full(40, -0.2), np.full(40, 0.4)
    end = last_refuted(z, low, bets, 40.0, 0.0, 1.0)
    assert capital(z, low, bets, end)[-1] >= 40
    assert capital(z, low, bets, end + 1e-9)[-1] < 40
    assert last_refuted(z[:1], low[:1], bets[:1], 40.0, 0.0, 1.0) == 0.0
    assert np.isinf(last_refuted(z, low + 9, bets, 40.0, 0.0, 1.0))


def test_rounding_does_not_refute_a_mean_that_is_exactly_the_least_possible():
    z = np.array([0.3, 0.3])
    assert capital(z, z + 1e-15, np.ones(2), 0.3).tolist() == pytest.approx([1.0, 1.0])
    assert last_refuted(z, z + 1e-15, np.ones(2), 40.0, 0.3, 1.0) == 0.3
