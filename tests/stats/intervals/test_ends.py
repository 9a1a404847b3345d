from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from tallystick.stats.intervals import as_unit, clopper_pearson, from_unit


def test_a_bound_is_met_exactly_and_rounding_is_no_value_outside():
    assert from_unit(np.array(1.0), (0.3, 0.9)) == 0.9
    assert as_unit(1 + 1e-12, (0, 1), name="mean") == 1.0


@pytest.mark.parametrize(("x", "n"), [(1, 10), (9, 10), (0, 20), (20, 20), (0, 0), (1, 1_000_000)])
def test_each_end_leaves_half_of_alpha_in_its_tail(x, n):
    low, high = clopper_pearson(x, n, alpha=0.1)
    assert low == 0 if x == 0 else binom.sf(x - 1, n, low) == pytest.approx(0.05)
    assert high == 1 if x == n else binom.cdf(x, n, high) == pytest.approx(0.05)
