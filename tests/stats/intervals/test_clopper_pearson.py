from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from tallystick.errors import InputError
from tallystick.stats.intervals import clopper_pearson


@pytest.mark.parametrize(("x", "n"), [(1, 10), (5, 10), (9, 10), (3, 1000), (1, 1_000_000)])
def test_each_end_leaves_half_of_alpha_in_its_tail(x, n):
    found = clopper_pearson(x, n, alpha=0.1)
    assert binom.sf(x - 1, n, found.low) == pytest.approx(0.05, rel=1e-9)
    assert binom.cdf(x, n, found.high) == pytest.approx(0.05, rel=1e-9)


def test_nothing_seen_says_nothing():
    assert tuple(clopper_pearson(0, 0)) == (0, 1)


def test_no_success_has_a_closed_form():
    assert clopper_pearson(0, 20).high == pytest.approx(1 - 0.025 ** (1 / 20), rel=1e-13)


def test_the_guarantee_is_exact():
    assert clopper_pearson([1, 2], 3).guarantee == "exact"
    assert clopper_pearson(1, 3).guarantee == "exact"


def test_rows_and_columns_broadcast():
    assert clopper_pearson(np.arange(3)[:, None], np.array([5, 6])).shape == (3, 2)


def test_half_a_success_is_refused():
    with pytest.raises(InputError, match="whole numbers"):
        clopper_pearson(0.5, 3)
