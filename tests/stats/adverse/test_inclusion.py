"""Labels with known inclusion probabilities: Kish's size, and the careful one beyond 4:1."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import InputError
from tallystick.stats.adverse_ends import label_weights, weighted_strata


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


def test_each_stratum_has_its_own_rule():
    found = weighted_strata([1, 0, 1, 0], [0, 0, 1, 1], [0.1, 0.2, 0.02, 0.5], strata=3)
    assert found.conservative.tolist() == [False, True, False]
    assert found.labelled.tolist() == [2, 2, 0]
    assert found.passes.tolist() == [1, 1, 0]
    assert found.share[0] == pytest.approx(10 / 15)
    assert found.effective[2] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1], [0], [0.0]), "probabilities in"),
        (([1], [0], [1.5]), "probabilities in"),
        (([2], [0], [0.5]), "passed must hold 0 or 1"),
        (([1], [3], [0.5]), "stratum must lie in 0 to 1"),
        (([1, 0], [0], [0.5]), "one entry per label"),
    ],
)
def test_impossible_labels_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        weighted_strata(*arguments, strata=2)
