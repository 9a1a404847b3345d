from __future__ import annotations

import pytest
from scipy.stats import beta

from tallystick.stats.intervals import jeffreys


@pytest.mark.parametrize(("x", "n"), [(1, 10), (5, 10), (2.5, 7.5), (3, 100_000)])
def test_each_tail_of_the_posterior_holds_half_of_alpha(x, n):
    found = jeffreys(x, n, alpha=0.2)
    posterior = beta(x + 0.5, n - x + 0.5)
    assert posterior.cdf(found.low) == pytest.approx(0.1, rel=1e-9)
    assert posterior.sf(found.high) == pytest.approx(0.1, rel=1e-9)


def test_the_ends_of_the_scale_stay_inside():
    assert jeffreys(0, 5).low == 0
    assert jeffreys(5, 5).high == 1
    assert tuple(jeffreys(0, 0)) == (0, 1)


def test_one_side_leaves_the_other_end_open():
    assert jeffreys(4, 9, side="lower").high == 1
    assert jeffreys(4, 9, side="upper").low == 0


def test_the_guarantee_is_approximate():
    assert jeffreys([1], 3).guarantee == "approximate"
