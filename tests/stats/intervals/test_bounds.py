from __future__ import annotations

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.stats.intervals import as_unit, check_bounds, from_unit


def test_values_go_to_the_unit_scale_and_back():
    values = np.array([-3.0, 1.0, 5.0])
    assert as_unit(values, (-3, 5), name="values").tolist() == [0, 0.5, 1]
    assert from_unit(as_unit(values, (-3, 5), name="values"), (-3, 5)).tolist() == values.tolist()


def test_the_upper_bound_is_met_exactly():
    assert from_unit(np.array(1.0), (0.1, 0.7)) == 0.7


@pytest.mark.parametrize("bad", [[1.1], [-0.1], [np.nan]])
def test_values_outside_their_bounds_are_refused_by_name(bad):
    with pytest.raises(InputError, match=r"scores must lie in the bounds \(0, 1\)"):
        as_unit(bad, (0, 1), name="scores")


def test_rounding_is_not_a_value_outside():
    assert as_unit(1 + 1e-12, (0, 1), name="mean") == 1.0


@pytest.mark.parametrize("bounds", [(1, 0), (0, 0), (0, np.inf), (np.nan, 1)])
def test_bounds_that_enclose_nothing_are_refused(bounds):
    with pytest.raises(InputError, match="the lower one first"):
        check_bounds(bounds)
