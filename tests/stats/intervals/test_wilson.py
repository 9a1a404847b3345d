from __future__ import annotations

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.stats.intervals import score_ends, wilson


@pytest.mark.parametrize(
    ("x", "n", "q"), [(3, 10, 1.96), (1, 1000, 2.5), (7.25, 11.5, 4.3), (10, 10, 1.0)]
)
def test_each_end_solves_the_score_equation(x, n, q):
    found = wilson(x, n, quantile=q)
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
    assert wilson(1, 1e12, quantile=1.96).low == pytest.approx(expected, rel=1e-11)


def test_no_labels_say_nothing_and_endless_labels_say_all():
    low, high = score_ends(np.array([0.25, 0.25]), np.array([0.0, np.inf]), np.array(1.96))
    assert (low.tolist(), high.tolist()) == ([0, 0.25], [1, 0.25])


def test_a_quantile_may_differ_from_row_to_row():
    found = wilson([2, 2], 8, quantile=np.array([1.0, 2.0]))
    assert found.width[0] < found.width[1]
    assert tuple(found[0]) == tuple(wilson(2, 8, quantile=1.0))


def test_one_side_leaves_the_other_end_open():
    assert wilson(4, 9, side="lower").high == 1
    assert wilson(4, 9, side="upper").low == 0
    assert wilson(4, 9, side="upper").high == pytest.approx(wilson(4, 9, alpha=0.1).high, rel=1e-14)


def test_a_negative_quantile_is_refused():
    with pytest.raises(InputError, match="quantile must not be negative"):
        wilson(1, 2, quantile=-1.0)
