"""The adverse likelihood on the strata of a labelling session."""

from __future__ import annotations

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.sampling.planned import planned_shares


@pytest.mark.parametrize(
    ("sizes", "labelled", "ones", "low", "high"),
    [
        ([28, 80], [10, 20], [3, 19], 0.6574, 0.8704),
        ([108], [30], [22], 0.5741, 0.8611),
        ([15], [13], [0], 0.0, 0.0667),
        ([400, 300, 300], [12, 9, 9], [12, 6, 1], 0.5030, 0.7560),
        ([200, 200, 100], [20, 12, 8], [20, 9, 1], 0.6000, 0.8280),
        ([400, 400, 200], [16, 10, 14], [16, 10, 14], 0.8960, 1.0),
        ([30, 10], [10, 10], [9, 4], 0.5750, 0.8250),
    ],
)
def test_the_intervals_are_those_of_the_page(sizes, labelled, ones, low, high):
    found = planned_shares(sizes, labelled, ones)
    assert (found.low[0], found.high[0]) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize(
    ("sizes", "labelled", "ones", "low", "high"),
    [
        ([28, 80], [10, 20], [3, 19], 0.6630, 0.8629),
        # One stratum sees half a label, not the page's .35 (.5807, .8530 and .0326): see (AL1).
        ([108], [30], [22], 0.5782, 0.8535),
        ([15], [13], [0], 0.0, 0.0363),
    ],
)
def test_the_raw_ends_are_those_of_the_page(sizes, labelled, ones, low, high):
    found = planned_shares(sizes, labelled, ones)
    assert (found.raw_low[0], found.raw_high[0]) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize(
    ("sizes", "labelled", "ones", "estimate"),
    [
        ([28, 80], [10, 20], [3, 19], 0.7815),
        ([400, 300, 300], [12, 9, 9], [12, 6, 1], 0.6333),
        ([200, 200, 100], [20, 12, 8], [20, 9, 1], 0.7250),
        ([30, 10], [10, 10], [9, 4], 0.7750),
        ([300, 100, 100], [10, 10, 0], [10, 5, 0], 0.875),  # the third takes (300 + 50)/400
    ],
)
def test_the_estimates_are_those_of_the_page(sizes, labelled, ones, estimate):
    assert planned_shares(sizes, labelled, ones).estimate[0] == pytest.approx(estimate, abs=5e-5)


def test_rows_are_computed_apart_and_empty_strata_skipped():
    both = planned_shares(
        [[28, 80, 0], [108, 0, 0]], [[10, 20, 0], [30, 0, 0]], [[3, 19, 0], [22, 0, 0]]
    )
    for row, alone in enumerate((([28, 80], [10, 20], [3, 19]), ([108], [30], [22]))):
        assert both.low[row] == planned_shares(*alone).low[0]


def test_everything_labelled_is_a_point_and_nothing_labelled_is_open():
    every = planned_shares([10, 5], [10, 5], [4, 5])
    assert (every.low[0], every.high[0], every.estimate[0]) == (0.6, 0.6, 0.6)
    none = planned_shares([10, 5], [0, 0], [0, 0])
    assert (none.low[0], none.high[0]) == (0.0, 1.0)
    assert np.isnan(none.estimate[0])


@pytest.mark.parametrize("wrong", [([5], [6], [1]), ([5], [2], [3]), ([0], [0], [0])])
def test_counts_that_can_not_be_are_refused(wrong):
    with pytest.raises(InputError, match="counts"):
        planned_shares(*wrong)
