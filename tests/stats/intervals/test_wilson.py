from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr

from tallystick.stats.intervals import score_ends, wilson


@pytest.mark.parametrize(
    ("x", "n", "q"), [(3, 10, 1.96), (1, 1000, 2.5), (7.25, 11.5, 4.3), (10, 10, 1.0)]
)
def test_each_end_solves_the_score_equation(x, n, q):
    found = wilson(x, n, alpha=2 * float(ndtr(-q)))
    for end in found:
        if 0 < end < 1:
            assert abs(x / n - end) == pytest.approx(q * np.sqrt(end * (1 - end) / n), rel=1e-12)


def test_the_ends_of_the_scale_are_met_exactly():
    assert wilson(0, 7).low == 0
    assert wilson(7, 7).high == 1


def test_a_tiny_share_keeps_all_its_digits():
    # At x = 1 of n = 10^12 the lower end is p^2 / (p + r/2 + sqrt(p r + r^2/4)); the textbook form
    # loses 8 digits here.
    p, r = 1e-12, 1.96**2 * 1e-12
    expected = p**2 / (p + r / 2 + np.sqrt(p * r + r**2 / 4))
    assert wilson(1, 1e12, alpha=2 * float(ndtr(-1.96))).low == pytest.approx(expected, rel=1e-11)


def test_no_labels_say_nothing_and_endless_labels_say_all():
    low, high = score_ends(np.array([0.25, 0.25]), np.array([0.0, np.inf]), np.array(1.96))
    assert (low.tolist(), high.tolist()) == ([0, 0.25], [1, 0.25])
