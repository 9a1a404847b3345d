from __future__ import annotations

import math

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.stats.intervals import empirical_bernstein, hoeffding


def test_one_side_is_the_published_bound():
    log = math.log(2 / 0.05)
    half = math.sqrt(2 * 0.04 * log / 1000) + 7 * log / (3 * 999)
    assert empirical_bernstein(0.3, 0.04, 1000, side="upper").high == pytest.approx(
        0.3 + half, rel=1e-12
    )
    assert empirical_bernstein(0.3, 0.04, 1000, side="lower").low == pytest.approx(
        0.3 - half, rel=1e-12
    )


def test_two_sides_share_one_bound_on_the_variance():
    log = math.log(3 / 0.05)
    half = math.sqrt(2 * 0.04 * log / 1000) + 7 * log / (3 * 999)
    assert empirical_bernstein(0.3, 0.04, 1000).high == pytest.approx(0.3 + half, rel=1e-12)


def test_a_small_variance_beats_hoeffding_and_a_large_one_does_not():
    assert empirical_bernstein(0.02, 0.0196, 5000).width < hoeffding(0.02, 5000).width
    assert empirical_bernstein(0.5, 0.25, 5000).width > hoeffding(0.5, 5000).width


def test_bounds_scale_the_interval():
    unit, wide = (
        empirical_bernstein(0.6, 0.01, 500),
        empirical_bernstein(20.0, 400.0, 500, bounds=(-100, 100)),
    )
    assert wide.low == pytest.approx(-100 + 200 * unit.low)
    assert wide.high == pytest.approx(-100 + 200 * unit.high)


def test_the_variance_of_real_values_is_always_accepted():
    values = np.array([0.0, 1.0])
    found = empirical_bernstein(values.mean(), values.var(ddof=1), 2)
    assert tuple(found) == (0, 1)


@pytest.mark.parametrize("variance", [-0.1, 0.6, math.nan])
def test_a_variance_that_cannot_be_is_refused(variance):
    with pytest.raises(InputError, match=r"a variance of at most 0\.5"):
        empirical_bernstein(0.5, variance, 2)


def test_one_value_has_no_variance():
    with pytest.raises(InputError, match="n must be at least 2"):
        empirical_bernstein(0.5, 0.0, 1)
