from __future__ import annotations

import math

import pytest

from tallystick.errors import InputError
from tallystick.stats.intervals import hoeffding


def test_the_half_width_is_the_one_of_the_theorem():
    found = hoeffding(0.5, 200, alpha=0.1)
    assert found.high - 0.5 == pytest.approx(math.sqrt(math.log(20) / 400), rel=1e-12)
    assert 0.5 - found.low == pytest.approx(math.sqrt(math.log(20) / 400), rel=1e-12)


def test_bounds_scale_the_interval():
    unit, wide = hoeffding(0.6, 100), hoeffding(20.0, 100, bounds=(-100, 100))
    assert wide.low == pytest.approx(-100 + 200 * unit.low)
    assert wide.high == pytest.approx(-100 + 200 * unit.high)


def test_no_end_leaves_the_bounds():
    assert tuple(hoeffding(0.0, 3, bounds=(-1, 1))) == (-1, 1)


def test_one_side_leaves_the_other_end_open():
    assert hoeffding(0.5, 50, side="lower").high == 1
    assert hoeffding(0.5, 50, side="upper").low == 0


def test_a_mean_outside_its_bounds_is_refused():
    with pytest.raises(InputError, match="mean must lie in the bounds"):
        hoeffding(1.2, 10)


def test_no_values_are_refused():
    with pytest.raises(InputError, match="n must be at least 1"):
        hoeffding(0.5, 0)
