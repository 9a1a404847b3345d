from __future__ import annotations

import numpy as np
import pytest

from tallystick.sampling.bets import capital, last_refuted


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
