"""Mean bias of grades."""

from __future__ import annotations

import pytest

from tallystick.results import Unknown
from tallystick.stats.agreement import mean_bias

GRADES = [[3, 2], [4, 4], [0, 2], [1, 1], [2, 3], [4, -1]]


def test_mean_bias_in_the_unit_of_the_values():
    found = mean_bias(GRADES, values=[1, 2, 3, 4, 10])
    assert found.estimate == pytest.approx((1 + 0 - 2 + 0 - 1) / 5)
    assert mean_bias([[4, 3]] * 4, values=[1, 2, 3, 4, 10]).estimate == 6


def test_the_interval_of_the_bias_does_not_collapse_when_the_raters_agree():
    found = mean_bias([[2, 2]] * 30, n_labels=5)
    assert found.estimate == 0
    assert found.interval.low < -0.1 < 0.1 < found.interval.high


def test_without_a_common_item_it_is_unknown():
    assert isinstance(mean_bias([[0, -1], [-1, 2]]).estimate, Unknown)


def test_mean_bias_is_the_first_less_the_second():
    assert mean_bias(GRADES).estimate == pytest.approx((1 + 0 - 2 + 0 - 1) / 5)


def test_one_item_has_a_bias_and_no_interval():
    found = mean_bias([[3, 1]])
    assert found.estimate == 2
    assert isinstance(found.interval, Unknown)
