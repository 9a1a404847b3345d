"""Raw agreement."""

from __future__ import annotations

import pytest

from tallystick.results import Unknown
from tallystick.stats.agreement import raw_agreement
from tallystick.stats.intervals import clopper_pearson


def test_of_two_raters_it_is_a_share_of_items_with_an_exact_interval():
    found = raw_agreement([[0, 0]] * 17 + [[0, 1]] * 3)
    assert found.estimate == pytest.approx(0.85)
    assert tuple(found.interval) == pytest.approx(tuple(clopper_pearson(17, 20)))
    assert found.interval.guarantee == "exact"


def test_of_several_raters_it_is_the_mean_share_of_agreeing_pairs():
    found = raw_agreement([[0, 0, 0], [0, 0, 1], [-1, 1, 1], [1, -1, -1]])
    assert found.estimate == pytest.approx((1 + 1 / 3 + 1) / 3)
    assert found.n_items == 3
    assert found.interval.guarantee == "approximate"


def test_without_a_pair_it_is_unknown():
    assert isinstance(raw_agreement([[0, -1]]).estimate, Unknown)


def test_its_interval_stays_between_0_and_1():
    found = raw_agreement([[0, 1, 2]] * 10)
    assert found.estimate == 0
    assert found.interval.low == 0
    assert 0.1 < found.interval.high < 0.5
