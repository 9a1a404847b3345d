"""Within-one agreement and mean bias of grades."""

from __future__ import annotations

import pytest

from tallystick.errors import InputError
from tallystick.results import Unknown
from tallystick.stats.agreement_ordinal import mean_bias, within_one
from tallystick.stats.intervals import clopper_pearson

GRADES = [[3, 2], [4, 4], [0, 2], [1, 1], [2, 3], [4, -1]]


def test_within_one_counts_grades_at_most_one_step_apart():
    found = within_one(GRADES)
    assert found.estimate == 0.8
    assert found.n_items == 5
    assert tuple(found.interval) == pytest.approx(tuple(clopper_pearson(4, 5)))
    assert found.interval.guarantee == "exact"


def test_mean_bias_is_the_first_less_the_second():
    assert mean_bias(GRADES).estimate == pytest.approx((1 + 0 - 2 + 0 - 1) / 5)


def test_mean_bias_in_the_unit_of_the_values():
    found = mean_bias(GRADES, values=[1, 2, 3, 4, 10])
    assert found.estimate == pytest.approx((1 + 0 - 2 + 0 - 1) / 5)
    assert mean_bias([[4, 3]] * 4, values=[1, 2, 3, 4, 10]).estimate == 6


def test_the_interval_of_the_bias_does_not_collapse_when_the_raters_agree():
    found = mean_bias([[2, 2]] * 30, n_labels=5)
    assert found.estimate == 0
    assert found.interval.low < -0.1 < 0.1 < found.interval.high


def test_without_a_common_item_both_are_unknown():
    for statistic in (within_one, mean_bias):
        assert isinstance(statistic([[0, -1], [-1, 2]]).estimate, Unknown)


def test_one_item_has_a_bias_and_no_interval():
    found = mean_bias([[3, 1]])
    assert found.estimate == 2
    assert isinstance(found.interval, Unknown)


@pytest.mark.parametrize("values", [[1, 2], [1, 1, 1, 1, 1], [1, 2, 3, 4, float("nan")]])
def test_values_that_are_no_scale_are_refused(values):
    with pytest.raises(InputError, match="values must"):
        mean_bias(GRADES, values=values)


def test_two_raters_are_needed():
    with pytest.raises(InputError, match="two columns"):
        within_one([[0, 1, 2]])
