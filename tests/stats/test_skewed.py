"""The vectors were computed apart from this code, by the formulas of docs/theory/compare.md."""

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from tallystick.stats.skewed import hull_ends

TWELVE = np.array([0.2, 0.4, -0.3, 0.1, 1.5, 0.6, -0.1, 0.3, 4.2, 0.5, -0.4, 0.8])
TWENTY = np.array([3, -1, 2, 5, -2, 1, 0, 4, -6, 2, 1, -3, 7, 1, 2, -1, 0, 3, 2, -9.0])


def rounded(values):
    return [round(float(value), 4) for value in values]


def test_the_page_s_vector_comes_out():
    found = hull_ends(TWELVE)
    assert rounded([found.mean, found.skewness]) == [0.65, 1.9098]
    assert rounded(found.student) == [-0.1312, 1.4312]
    assert rounded(found.hall) == [0.0837, 3.8206]
    assert rounded([found.low, found.high, found.p_value]) == [-0.1312, 3.8206, 0.0943]


def test_the_vector_of_the_corrections_comes_out():
    found = hull_ends(TWENTY)
    assert rounded([found.mean, found.skewness]) == [0.55, -0.8046]
    assert rounded(found.student) == [-1.1577, 2.2577]
    assert rounded(found.hall) == [-1.4662, 2.0595]
    assert rounded([found.p_value]) == [0.5444]


def test_the_p_value_is_the_larger_of_student_s_and_hall_s():
    # The page: t .0943, Hall .0243.
    found = hull_ends(TWELVE)
    assert found.p_value == pytest.approx(ttest_1samp(TWELVE, 0).pvalue)
    mirrored = hull_ends(-TWELVE)
    assert mirrored.p_value == pytest.approx(found.p_value)
    assert (mirrored.low, mirrored.high) == pytest.approx((-found.high, -found.low))


def test_equal_differences_have_no_interval():
    assert np.isnan(hull_ends(np.full((1, 5), 0.1)).low[0])
