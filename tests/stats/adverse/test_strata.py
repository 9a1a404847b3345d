"""Strata from a consensus: two, three of equal mass, and the two that exact intervals use."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import InputError
from tallystick.stats.adverse_binary import graded_strata, vote_strata


def test_one_half_is_not_a_pass():
    assert vote_strata([0.5, 0.5 + 1e-12, 0.5 + 1e-6, 0.0, 1.0]).tolist() == [1, 1, 2, 0, 2]


def test_three_bins_have_equal_mass():
    rng = np.random.default_rng(0)
    assert np.bincount(graded_strata(rng.random(300))).tolist() == [100, 100, 100]


def test_the_cuts_are_the_third_and_two_third_quantiles():
    grades = np.arange(90) / 89
    low, high = np.quantile(grades, [1 / 3, 2 / 3])
    expected = np.where(grades < low, 0, np.where(grades < high, 1, 2))
    assert graded_strata(grades).tolist() == expected.tolist()


def test_ninety_percent_at_the_top_leave_two_bins():
    codes = graded_strata([5] * 90 + [4] * 4 + [1] * 6)
    assert np.bincount(codes).tolist() == [10, 90]


def test_equal_grades_are_one_bin():
    assert graded_strata([3, 3, 3, 3]).tolist() == [0, 0, 0, 0]


@given(st.lists(st.integers(1, 5), min_size=1, max_size=60))
def test_equal_grades_stay_together_and_bins_follow_the_grades(grades):
    codes = graded_strata(grades)
    assert all(len(set(codes[np.array(grades) == g].tolist())) <= 1 for g in range(1, 6))
    order = np.argsort(grades, kind="stable")
    assert (np.diff(codes[order]) >= 0).all()
    assert set(codes.tolist()) == set(range(codes.max() + 1))  # no empty bin is left


@given(st.lists(st.integers(1, 5), min_size=1, max_size=60).filter(lambda g: len(g) % 3))
def test_turning_the_scale_around_turns_the_bins_around(grades):
    # A middle lies exactly on a cut only if 3 (2F + f) = 2N or 4N, so 3 divides N.
    codes, turned = graded_strata(grades), graded_strata([-g for g in grades])
    assert (codes.max() - codes == turned).all()


def test_counts_stand_for_items():
    every = [0.1] * 5 + [0.4] * 7 + [0.9] * 6
    by_value = graded_strata([0.1, 0.4, 0.9], counts=[5, 7, 6])
    assert np.repeat(by_value, [5, 7, 6]).tolist() == graded_strata(every).tolist()


def test_what_cannot_be_binned_is_refused():
    with pytest.raises(InputError, match="no judge graded"):
        vote_strata([0.5, np.nan])
    with pytest.raises(InputError, match="counts must be"):
        graded_strata([0.5, 0.6], counts=[1])
