from __future__ import annotations

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.results import Interval
from tallystick.stats.intervals import Intervals, as_counts, pack


def some() -> Intervals:
    return Intervals(
        np.array([0.1, 0.4]), np.array([0.3, 0.9]), level=0.9, guarantee="exact", method="m"
    )


def test_an_entry_is_an_interval_with_the_same_promise():
    assert some()[1] == Interval(0.4, 0.9, level=0.9, guarantee="exact", method="m")


def test_iteration_gives_every_interval_in_order():
    assert list(some()) == [some()[0], some()[1]]
    assert len(some()) == 2


def test_an_index_past_the_end_is_refused():
    with pytest.raises(IndexError):
        some()[2]


def test_an_index_of_a_table_names_one_cell():
    table = Intervals(np.zeros((2, 3)), np.ones((2, 3)))
    assert table.shape == (2, 3)
    assert table[1, 2] == Interval(0.0, 1.0)
    with pytest.raises(InputError, match="give one number per axis"):
        table[1]


def test_covering_is_closed_at_both_ends():
    assert some().covers(0.3).tolist() == [True, False]
    assert some().covers([0.1, 0.9]).tolist() == [True, True]


def test_the_ends_cannot_be_written_to_and_are_copies():
    low = np.array([0.1])
    found = Intervals(low, np.array([0.2]))
    low[0] = 0.9
    assert found.low[0] == 0.1
    with pytest.raises(ValueError, match="read-only"):
        found.low[0] = 0.5


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


def test_an_assumption_without_its_guarantee_is_refused():
    with pytest.raises(InputError, match="needs an assumption"):
        Intervals(np.zeros(1), np.ones(1), guarantee="under")


def test_scalars_pack_to_an_interval_and_arrays_to_intervals():
    one = pack(np.array(0.1), np.array(0.2), alpha=0.1, guarantee="exact", method="m")
    many = pack(np.array([0.1]), np.array([0.2]), alpha=0.1, guarantee="exact", method="m")
    assert isinstance(one, Interval)
    assert isinstance(many, Intervals)
    assert many[0] == one


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
