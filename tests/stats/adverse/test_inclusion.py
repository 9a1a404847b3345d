"""Labels with known inclusion probabilities: Kish's size, and the careful one beyond 4:1."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.stats.adverse_ends import label_weights


def test_up_to_four_to_one_the_size_is_kish_s():
    weights, effective, conservative = label_weights([0.1, 0.1, 0.4])
    v = np.array([10, 10, 2.5])
    assert effective == pytest.approx(v.sum() ** 2 / (v**2).sum())
    assert weights.sum() == pytest.approx(effective)
    assert not conservative


def test_beyond_four_to_one_no_label_counts_for_more_than_one():
    weights, effective, conservative = label_weights([0.02, 0.4, 0.4])
    assert effective == pytest.approx((50 + 2.5 + 2.5) / 50)
    assert weights.max() == pytest.approx(1.0)
    assert conservative


@given(st.lists(st.floats(0.001, 1), min_size=1, max_size=30))
def test_labels_never_count_for_more_than_there_are(chances):
    weights, effective, _ = label_weights(chances)
    assert 1 - 1e-9 <= effective <= len(chances) + 1e-9
    v = 1 / np.array(chances)
    assert weights / weights.sum() == pytest.approx(v / v.sum())
