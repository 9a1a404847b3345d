from __future__ import annotations

import numpy as np
import pytest

from tallystick.stats.intervals import mover_ratio, mover_sum


def test_symmetric_parts_add_in_quadrature():
    parts, reach = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    _, low, high = mover_sum(parts, parts - reach, parts + reach, weights=np.ones(2))
    assert (float(low), float(high)) == (-2, 8)


def test_a_covariance_that_outweighs_the_ends_leaves_a_point():
    one = np.ones(1)
    est, low, high = mover_sum(one, one - 0.1, one + 0.1, weights=one, covariance=-1.0)
    assert est == low == high


def test_the_ends_of_a_ratio_make_the_difference_zero():
    a, c, la, ua, lc, uc = (np.array(v) for v in (30.0, 12.0, 9.0, 16.0, 4.0, 6.25))
    low, high = mover_ratio(a, c, top_reach=(la, ua), bottom_reach=(lc, uc))
    assert a - low * c == pytest.approx(np.sqrt(la + low**2 * uc))
    assert high * c - a == pytest.approx(np.sqrt(ua + high**2 * lc))


def test_a_bottom_that_may_be_zero_has_no_upper_end():
    zero, one = np.zeros(1), np.ones(1)
    assert np.isinf(
        mover_ratio(one, zero, top_reach=(zero, one), bottom_reach=(zero, one))[1]
    ).all()
    assert np.isinf(mover_ratio(one, one, top_reach=(zero, one), bottom_reach=(one, one))[1]).all()


def test_a_top_that_may_be_zero_has_lower_end_zero():
    one = np.ones(1)
    assert mover_ratio(one, one, top_reach=(one, one), bottom_reach=(0 * one, one))[0] == 0


def test_a_difference_takes_the_far_end_of_what_is_subtracted():
    _, low, high = mover_sum(
        np.array([0.5, 0.5]),
        np.array([0.5, 0.4]),
        np.array([0.5, 0.8]),
        weights=np.array([1.0, -1.0]),
    )
    assert float(low) == pytest.approx(-0.3)
    assert float(high) == pytest.approx(0.1)
