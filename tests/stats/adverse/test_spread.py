"""The spread of a consensus: what it keeps, and that equal grades have none."""

from __future__ import annotations

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.stats.adverse_ends import Spread


def test_the_variance_is_divided_by_n():
    found = Spread.of(np.arange(40) / 39)
    assert found.variance == pytest.approx(np.var(np.arange(40) / 39))
    assert (found.n, found.low, found.high) == (40, 0.0, 1.0)


def test_equal_grades_have_no_variance_not_even_by_rounding():
    assert Spread.of([0.1] * 50).variance == 0.0
    assert Spread.of([0.1] * 50).mean == 0.1


def test_values_with_counts_are_the_items_themselves():
    one, two = Spread.of([0.2, 0.7, 0.9], [3, 0, 2]), Spread.of([0.2] * 3 + [0.9] * 2)
    assert (one.n, one.low, one.high) == (two.n, two.low, two.high)
    assert (one.mean, one.variance) == pytest.approx((two.mean, two.variance))


def test_the_reach_is_to_the_farther_end():
    assert Spread.of([0.0, 0.9, 1.0, 1.0]).reach == pytest.approx(0.725)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([],), "one sequence of finite numbers"),
        (([np.nan],), "one sequence of finite numbers"),
        (([0.5], [-1]), "counts must be whole"),
        (([0.5], [0]), "not all 0"),
        (([0.5, 0.6], [1]), "with one count each"),
    ],
)
def test_grades_that_are_no_numbers_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        Spread.of(*arguments)


def test_a_mean_outside_its_range_is_refused():
    with pytest.raises(InputError, match="low <= mean <= high"):
        Spread(n=3, mean=2.0, variance=0.1, low=0.0, high=1.0)
    with pytest.raises(InputError, match="at least 1 item"):
        Spread(n=0, mean=0.0, variance=0.0, low=0.0, high=0.0)
