from __future__ import annotations

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.results import Interval
from tallystick.stats.intervals import Intervals, as_counts


def some() -> Intervals:
    return Intervals(
        np.array([0.1, 0.4]), np.array([0.3, 0.9]), level=0.9, guarantee="exact", method="m"
    )


def test_an_entry_is_an_interval_with_the_same_promise():
    assert some()[1] == Interval(0.4, 0.9, level=0.9, guarantee="exact", method="m")


def test_covering_is_closed_at_both_ends():
    assert some().covers(0.3).tolist() == [True, False]
    assert some().covers([0.1, 0.9]).tolist() == [True, True]


@pytest.mark.parametrize(
    ("low", "high", "message"),
    [
        ([0.5], [0.4], r"low <= high, got \[0.5, 0.4\] at \(0,\)"),
        ([np.nan], [0.4], "low <= high"),
        ([0.1, 0.2], [0.4], "one shape"),
        (0.1, 0.2, "one shape"),
    ],
)
def test_ends_that_make_no_intervals_are_refused(low, high, message):
    with pytest.raises(InputError, match=message):
        Intervals(np.array(low), np.array(high))


@pytest.mark.parametrize(
    ("part", "whole", "message"),
    [
        (-1, 5, "between 0 and trials, got -1.0 of 5.0"),
        (6, 5, "between 0 and trials, got 6.0 of 5.0"),
        (1.5, 5, "successes must be whole numbers, got 1.5"),
        (1, 5.5, "trials must be whole numbers, got 5.5"),
        (1, np.inf, "trials must be finite"),
        (np.nan, 4, "successes must be finite"),
    ],
)
def test_counts_that_cannot_be_are_refused_by_name(part, whole, message):
    with pytest.raises(InputError, match=message):
        as_counts(part, whole, names=("successes", "trials"))
