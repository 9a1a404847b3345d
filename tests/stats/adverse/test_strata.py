"""Strata from a consensus: two, three of equal mass, and the two that exact intervals use."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tallystick.stats.adverse_binary import graded_strata


def test_the_cuts_are_the_third_and_two_third_quantiles():
    grades = np.arange(90) / 89
    low, high = np.quantile(grades, [1 / 3, 2 / 3])
    expected = np.where(grades < low, 0, np.where(grades < high, 1, 2))
    assert graded_strata(grades).tolist() == expected.tolist()


@given(st.lists(st.integers(1, 5), min_size=1, max_size=60))
def test_equal_grades_stay_together_and_bins_follow_the_grades(grades):
    codes = graded_strata(grades)
    assert all(len(set(codes[np.array(grades) == g].tolist())) <= 1 for g in range(1, 6))
    order = np.argsort(grades, kind="stable")
    assert (np.diff(codes[order]) >= 0).all()
    assert set(codes.tolist()) == set(range(codes.max() + 1))  # no empty bin is left


def test_counts_stand_for_items():
    every = [0.1] * 5 + [0.4] * 7 + [0.9] * 6
    by_value = graded_strata([0.1, 0.4, 0.9], counts=[5, 7, 6])
    assert np.repeat(by_value, [5, 7, 6]).tolist() == graded_strata(every).tolist()
