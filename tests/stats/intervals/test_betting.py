from __future__ import annotations

import numpy as np
import pytest

from tallystick._rng import as_rng
from tallystick.stats.anytime import betting


def plain_capital(x, m, *, alpha):
    """The hedged capital process, once more and from the formulas: its largest value against the
    mean m."""
    up = down = most = 1.0
    total, scatter = 0.5, 0.25
    for i, value in enumerate(x):
        t = i + 1
        bet = np.sqrt(2 * np.log(2 / alpha) / (scatter / t * len(x)))
        up *= 1 + min(bet, 0.5 / m) * (value - m)
        down *= 1 - min(bet, 0.5 / (1 - m)) * (value - m)
        total += value
        scatter += (value - total / (t + 1)) ** 2
        most = max(most, up, down)
    return most / 2


def single(x, **options):
    return betting(x, **options)[0]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_capital_reaches_its_threshold_exactly_at_the_ends(seed):
    x, alpha = as_rng(seed).beta(4, 2, size=100), 0.1
    found = single(x, alpha=alpha)
    for end, outwards in ((found.low, -1e-6), (found.high, 1e-6)):
        assert plain_capital(x, end + outwards, alpha=alpha) > 1 / alpha
        assert plain_capital(x, end - outwards, alpha=alpha) < 1 / alpha


def test_values_that_refute_every_mean_leave_nothing():
    assert tuple(single([1.0] * 200 + [0.0] * 200)) == (0, 1)
