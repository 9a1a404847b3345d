"""How many labels would be enough: the vectors, and that no answer exceeds the table."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.results import Interval
from tallystick.stats.adverse_binary import adverse_share
from tallystick.stats.adverse_forecast import (
    Outlook,
    label_range,
    labels_to_settle,
    settle_at,
    share_outlook,
)

DIGITS = 5.01e-5
PILOTS = [
    ([28, 80], [10, 20], [3, 19], 0.0978, 0.4794, 0.1135, 66.7),
    ([400, 600], [12, 18], [2, 17], 0.0968, 0.4925, 0.1609, 138.0),
    ([500], [20], [20], 0.0120, 0.35, 0.0579, 24.1),
]


@pytest.mark.parametrize(
    ("sizes", "labelled", "passes", "variance", "pull", "width", "labels"), PILOTS
)
def test_the_vectors_of_the_page_are_reached(
    sizes, labelled, passes, variance, pull, width, labels
):
    found = share_outlook(sizes, labelled, passes)
    assert found.variance == pytest.approx(variance, abs=DIGITS)
    assert found.pull == pytest.approx(pull, abs=DIGITS)
    assert found.width(60) == pytest.approx(width, abs=DIGITS)
    assert found.labels_for(0.10) == pytest.approx(labels, abs=0.0501)


@pytest.mark.parametrize(
    ("difference", "variance", "items", "labels"),
    [(0.1, 0.3, 1000, 190.6), (0.05, 0.2, 300, 203.0), (0.02, 0.1, 5000, 1409.2)],
)
def test_the_labels_that_tell_a_value_from_a_claim(difference, variance, items, labels):
    assert settle_at(difference, variance, items) == pytest.approx(labels, abs=0.0501)
    assert settle_at(-difference, variance, items) == pytest.approx(labels, abs=0.0501)


def test_no_difference_takes_every_item():
    assert settle_at(0.0, 0.3, 1000) == pytest.approx(1000)


PAIR = Outlook(variance=0.3, pull=0.0, items=1000)


def test_new_items_may_not_be_settled_by_all_that_there_are():
    pair = Outlook(variance=0.1, pull=0.0, items=100, between=0.2)
    assert pair.settles(0.05) == 100
    assert pair.settles(0.3) > Outlook(variance=0.1, pull=0.0, items=100).settles(0.3)


def test_a_pair_is_settled_between_its_two_ends():
    found = labels_to_settle(0.1, Interval(0.05, 0.15), PAIR)
    assert found.low == 100  # floor of 101.0 to two digits
    assert found.high == 490  # 489.8 upwards
    mirrored = labels_to_settle(-0.1, Interval(-0.15, -0.05), PAIR)
    assert mirrored == found


def test_a_pair_that_may_be_equal_has_no_upper_end():
    found = labels_to_settle(0.05, (-0.05, 0.15), PAIR)
    assert found.high is None
    assert str(found) == "at least 100 of 1,000"


def test_the_width_falls_to_the_pull_when_everything_is_labelled():
    outlook = Outlook(variance=0.1, pull=0.35, items=200)
    assert outlook.width(200) == pytest.approx(0.35 / 200)
    assert outlook.labels_for(0.001) is None


def test_a_range_is_capped_by_the_items_and_reads_in_two_digits():
    outlook = share_outlook([60, 40], [12, 8], [6, 4])
    found = outlook.needed(0.02)
    assert found.high == 100
    assert found.low <= 100
    assert str(label_range(1234, 5678, 10_000)) == "1,200 to 5,700 of 10,000"
    assert str(label_range(0.3, 9.1, 50)) == "1 to 10 of 50"


def test_new_items_cannot_be_known_better_than_the_table_allows():
    these, new = (
        share_outlook([280, 800], [10, 20], [3, 19], population=population)
        for population in ("these", "new")
    )
    assert new.width(60) > these.width(60)
    assert new.labels_for(0.01) is None
    assert new.needed(0.01).high is None
    assert these.needed(0.01).high == 1080


def test_a_subgroup_gets_only_its_share_of_the_labels():
    whole = Outlook(variance=0.1, pull=0.35, items=100)
    part = Outlook(variance=0.1, pull=0.35, items=100, fraction=0.25)
    assert part.width(80) == pytest.approx(whole.width(20))
    assert part.labels_for(0.2) == pytest.approx(4 * whole.labels_for(0.2))
    assert part.most == 400


@given(st.floats(0.001, 0.25), st.floats(0.1, 2), st.integers(10, 5000), st.floats(0.02, 0.5))
def test_the_labels_for_a_width_have_that_width(variance, pull, items, width):
    outlook = Outlook(variance=variance, pull=pull, items=items)
    labels = outlook.labels_for(width)
    if labels is None:
        assert outlook.width(items) > width
    else:
        assert outlook.width(labels) == pytest.approx(width, rel=1e-6)
        assert labels <= items
    found = outlook.needed(width)
    assert 1 <= found.low <= found.high <= items


def test_forecasts_are_about_right():
    # A pilot of 40 labels forecasts the width at 160, within the range that is usual.
    rng = np.random.default_rng(3)
    truth = np.concatenate([rng.random(600) < 0.9, rng.random(400) < 0.3])
    stratum = np.repeat([1, 0], [600, 400])
    ratios = []
    for _ in range(200):
        order = rng.permutation(1000)
        counts = [
            [
                np.bincount(stratum[order[:m]], minlength=2),
                np.bincount(stratum[order[:m]], truth[order[:m]], 2),
            ]
            for m in (40, 160)
        ]
        forecast = share_outlook([400, 600], *counts[0]).width(160)
        ratios.append(forecast / adverse_share([400, 600], *counts[1]).interval.width)
    assert 0.9 <= np.median(ratios) <= 1.1
    assert np.mean((np.array(ratios) > 0.77) & (np.array(ratios) < 1.36)) >= 0.8
