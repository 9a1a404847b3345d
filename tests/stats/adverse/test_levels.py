"""One number at many levels is the same number at each of them."""

import numpy as np
import pytest

from tallystick.stats.certified import (
    certified_mean,
    certified_mean_levels,
    certified_share,
    certified_share_levels,
)

ALPHAS = np.array([0.9, 0.3, 0.05, 0.05, 1e-3, 1e-6])
COUNTS = [28, 30, 80], [10, 0, 20], [3, 0, 19]
EVERY = np.arange(60) / 59
CHOSEN = [51, 44, 3, 58, 20, 33, 12, 40]
GRADES = [1, 0.75, 0, 1, 0.25, 0.75, 0.5, 0.5]


def same(levels, at):
    """Compare a function of many levels with what is found at one level at a time."""
    estimate, low, high = levels(ALPHAS)
    for i, alpha in enumerate(ALPHAS):
        value, interval = at(float(alpha))
        assert estimate[i] == pytest.approx(value, abs=1e-12)
        assert low[i] == pytest.approx(interval.low, abs=1e-12)
        assert high[i] == pytest.approx(interval.high, abs=1e-12)


@pytest.mark.parametrize("population", ["these", "new"])
def test_exact_intervals_are_those_of_each_level(population):
    def share(alpha):
        found = certified_share(*COUNTS, population=population, alpha=alpha)
        return (found.low + found.high) / 2, found

    same(certified_share_levels(*COUNTS, population=population), share)

    def mean(alpha):
        found = certified_mean(GRADES, EVERY[CHOSEN], EVERY, population=population, alpha=alpha)
        return (found.low + found.high) / 2, found

    same(certified_mean_levels(GRADES, EVERY[CHOSEN], EVERY, population=population), mean)
